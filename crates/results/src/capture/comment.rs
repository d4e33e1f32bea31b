//! What the simulator knows of a frame and the frame does not say, in words.

use crate::names::Names;
use xoff_fabric::capture::{Body, Data, FlowName, Frame, Marked, PfcClass, Place};
use xoff_fabric::frame_content::Carrier;
use xoff_fabric::packet::IntStack;
use xoff_scenario::number::{brief_bytes, thousands};

pub struct FrameComments {
    names: Names,
    /// By [`FlowName::label`].
    labels: Vec<String>,
}

impl FrameComments {
    pub fn new(names: Names, labels: Vec<String>) -> FrameComments {
        FrameComments { names, labels }
    }

    pub fn names(&self) -> &Names {
        &self.names
    }

    /// The comment on a frame of which so many bytes were written.
    pub fn comment(&self, frame: &Frame, written_bytes: usize) -> String {
        let mut said = Vec::new();
        match &frame.body {
            Body::Data(data) => self.data(data, frame, &mut said),
            Body::Reply(reply) => {
                said.push(self.flow(&reply.flow));
                let kind = if reply.nak { "NAK" } else { "ACK" };
                said.push(format!("{kind}, expects packet {}", reply.expected));
                if reply.echoes_mark {
                    said.push("of a marked packet".to_owned());
                }
                if let Some(stack) = &reply.int {
                    said.extend(telemetry(stack));
                }
                said.extend(reply.content.iter().map(|content| content.says.clone()));
            }
            Body::Notification { flow, content, origin } => {
                said.push(self.flow(flow));
                match origin {
                    Some(place) => said.push(format!("sent by the switch at {}", self.place(place))),
                    None => said.push("sent by the receiver".to_owned()),
                }
                if !content.says.is_empty() {
                    said.push(content.says.clone());
                }
                if let Carrier::Cnm { feedback: 64.., .. } = content.carrier {
                    said.push("six bits hold at most 63".to_owned());
                }
            }
            Body::Pfc { classes, .. } => said.extend(classes.iter().map(|class| self.pfc(frame.port, class))),
            Body::Neighbour { content, flows } => {
                said.push(content.says.clone());
                said.extend(flows.iter().map(|flow| self.flow(flow)));
            }
        }
        if frame.queue_bytes > 0 {
            said.push(format!("leaves {} in its queue", brief_bytes(frame.queue_bytes)));
        }
        if written_bytes + 4 != usize::from(frame.frame_bytes) {
            said.push(format!("the scenario counts {} B for this frame", frame.frame_bytes));
        }
        if frame.last {
            said.push("the capture's limit is reached: frames after this one are not in it".to_owned());
        }
        said.join("; ")
    }

    fn flow(&self, flow: &FlowName) -> String {
        let label = self.labels.get(flow.label as usize).map_or("", String::as_str);
        let (src, dst) = (self.names.node(flow.src), self.names.node(flow.dst));
        if label.is_empty() || label == format!("{src}->{dst}") {
            return format!("flow {} {src}->{dst}", flow.id);
        }
        format!("flow {} {src}->{dst} ({label})", flow.id)
    }

    fn place(&self, place: &Place) -> String {
        format!("{}, queue {}", self.names.port(place.port), brief_bytes(place.queue_bytes))
    }

    fn data(&self, data: &Data, frame: &Frame, said: &mut Vec<String>) {
        said.push(self.flow(&data.flow));
        said.push(match data.total {
            Some(total) => {
                format!("packet {} of {}", data.psn - data.begin, thousands(u64::from(total - data.begin)))
            }
            None => format!("packet {}", data.psn),
        });
        if data.resent {
            said.push("sent again".to_owned());
        }
        match &data.marked {
            Marked::No => {}
            Marked::At(place) if place.port == frame.port => {
                said.push(format!("marked here, at {}", self.place(place)))
            }
            Marked::At(place) => said.push(format!("marked at {}", self.place(place))),
            Marked::Somewhere => said.push("marked at an earlier hop".to_owned()),
        }
        if let Some(stack) = &data.int {
            said.extend(telemetry(stack));
        }
    }

    fn pfc(&self, port: u32, class: &PfcClass) -> String {
        let what = if class.pause { "PAUSE" } else { "RESUME" };
        let frame = format!("{what} of priority {}", self.names.priority(class.class));
        let Some((bytes, xoff)) = class.ingress else { return format!("{frame}: the host wants it so") };
        let from = self.names.ingress(port);
        let buffered = format!("{frame}: {} buffered at {from}", brief_bytes(bytes));
        match bytes.checked_sub(xoff) {
            Some(above) => format!("{buffered}, {} above XOFF", brief_bytes(above)),
            None => format!("{buffered}, {} below XOFF", brief_bytes(xoff - bytes)),
        }
    }
}

/// A line per hop, with the values that the header's narrow fields may have cut.
fn telemetry(stack: &IntStack) -> impl Iterator<Item = String> + '_ {
    (1..).zip(stack.hops()).map(|(number, hop)| {
        let (sent, queued) = (thousands(hop.tx_bytes), thousands(hop.queue_bytes));
        format!("INT {number}: {} Gb/s at {} us, {sent} B sent, {queued} B queued", hop.rate.as_gbps(), hop.at.as_us())
    })
}
