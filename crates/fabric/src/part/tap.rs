//! Taps on ports: what a frame is at the instant its first bit leaves, for whoever writes captures.
//!
//! A port that nobody captures pays one test of a flag per frame. What a frame holds besides the
//! packet's own 32 bytes (its flow, telemetry, the words of a scheme, why it was marked) is looked up
//! here, once, and copied into a record; the records are drained like all others.

use crate::contract::capture::{Body, Capture, Data, FlowName, Frame, Marked, PfcClass, Place, Reply, SelectiveReply};
use crate::contract::packet::{ASKS_ACK, IntStack, Kind, NO_EXTRA, Packet, RESENT};
use crate::contract::scheme::{Format, Scheme};
use crate::flow::transport::Selective;
use crate::id::{FlowEntryId, PortId};
use crate::node::port::{AT_HOST, CAPTURED};
use crate::node::tap::{MARKS, PacketName, Tap};
use crate::part::{Part, port_named};
use xoff_engine::Time;

impl<S: Scheme> Part<S> {
    /// Records frames from now on. Captures are numbered in order.
    pub(crate) fn capture(&mut self, captures: Vec<Capture>) {
        for mut capture in captures {
            capture.ports.sort_unstable();
            for &name in &capture.ports {
                let port = port_named(&self.links.ports, name);
                self.links.ports[port].flags |= CAPTURED;
            }
            self.records.taps.list.push(Tap { capture, taken: 0, missed: 0 });
        }
        if !self.records.taps.is_empty() {
            self.records.taps.marks = vec![None; MARKS];
        }
    }

    /// A frame leaves a captured port now.
    #[cold]
    #[inline(never)]
    pub(crate) fn tap(&mut self, port: PortId, packet: &Packet) {
        if packet.kind == Kind::Edge {
            return; // No format of such a frame is public.
        }
        let name = self.links.ports[port].name;
        for index in 0..self.records.taps.list.len() {
            let tap = &mut self.records.taps.list[index];
            let within = tap.capture.from <= self.now && self.now <= tap.capture.until;
            if !within || tap.capture.ports.binary_search(&name).is_err() {
                continue;
            }
            if tap.taken == tap.capture.frames {
                tap.missed += 1;
                continue;
            }
            tap.taken += 1;
            let last = tap.taken == tap.capture.frames;
            let link_local = packet.kind.is_link_local();
            let queue = self.queue(port, packet.class);
            let frame = Frame {
                capture: index as u32,
                at: self.now,
                port: name,
                frame_bytes: packet.frame_bytes,
                class: packet.class,
                ecn: packet.ecn,
                queue_bytes: if link_local { 0 } else { queue.bytes },
                last,
                body: self.frame_body(port, packet),
            };
            self.records.taps.frames.push(frame);
        }
    }

    fn place(&self, port: PortId, class: u8) -> Place {
        Place { port: self.links.ports[port].name, queue_bytes: self.queue(port, class).bytes }
    }

    fn frame_body(&self, port: PortId, packet: &Packet) -> Body {
        match packet.kind {
            Kind::Data | Kind::Trimmed => Body::Data(self.data_of(packet)),
            Kind::Edge => unreachable!("messages of edges are not captured"),
            Kind::Ack | Kind::Nak => Body::Reply(self.reply_of(packet)),
            Kind::Notification => {
                let flow = self.flow_name(packet.flow);
                let content = self.schemes[usize::from(flow.scheme)].frame_content(&self.flows.feedback[packet.extra]);
                let origin = self.records.taps.origins.get(packet.extra as usize).copied().flatten();
                Body::Notification { flow, content, origin }
            }
            Kind::Pfc => self.pfc_of(port, packet),
            Kind::Neighbour => {
                let content = self.message_content(self.links.ports[port].switch(), packet.extra);
                // A flow that has ended since it was named is left out.
                let alive = content.flows.iter().filter_map(|id| self.flows.flows_by_id.get(id));
                Body::Neighbour { flows: alive.map(|&entry| self.flow_name(entry)).collect(), content }
            }
        }
    }

    fn data_of(&self, packet: &Packet) -> Data {
        let flow = self.flow_name(packet.flow);
        let sender = &self.flows.senders[self.flows.entries[packet.flow].sender];
        let (stream, packets) = (&sender.requester.seq.stream, sender.requester.seq.total);
        let offset_bytes = stream.payload_until(packet.psn);
        let message = stream.messages.as_ref().and_then(|messages| messages.of(packet.psn));
        let begin = message.map_or(0, |message| message.begin.packets);
        let total = message.map(|message| message.end.packets).or((packets != u32::MAX).then_some(packets));
        let marked = if packet.ecn == sender.ecn {
            Marked::No
        } else {
            let name = PacketName { flow: flow.id, psn: packet.psn, sent_at: packet.stamp };
            let found = self.records.taps.marks[name.slot()].filter(|(of, _)| *of == name);
            found.map_or(Marked::Somewhere, |(_, place)| Marked::At(place))
        };
        Data {
            flow,
            psn: packet.psn,
            begin,
            total,
            size_bytes: match message {
                Some(message) => Some(message.end.bytes - message.begin.bytes),
                None => self.flows.details[self.flows.entries[packet.flow].sender].spec.size_bytes,
            },
            offset_bytes,
            payload_bytes: (stream.payload_until(packet.psn + 1) - offset_bytes) as u32,
            first_frame_bytes: match &stream.messages {
                Some(messages) => messages.frame_of(begin),
                None if packets == 1 => sender.last_frame,
                None => sender.full_frame,
            },
            sent_at: packet.stamp,
            resent: packet.flags & RESENT != 0,
            whole_frame_bytes: (packet.kind == Kind::Trimmed).then(|| sender.frame_bytes(packet.psn)),
            asks_ack: packet.kind == Kind::Data && packet.flags & ASKS_ACK != 0,
            format: self.format_of(&flow),
            int: self.stack_of(packet),
            marked,
        }
    }

    fn reply_of(&self, packet: &Packet) -> Reply {
        let (selective, packet) = self.look_selective(packet);
        let flow = self.flow_name(packet.flow);
        let sender = &self.flows.senders[self.flows.entries[packet.flow].sender];
        let scheme = &self.schemes[usize::from(flow.scheme)];
        let carries = packet.carries_feedback() && packet.extra != NO_EXTRA;
        Reply {
            flow,
            nak: packet.kind == Kind::Nak,
            expected: packet.psn,
            expected_byte: sender.requester.seq.stream.payload_until(packet.psn),
            complete: packet.psn == sender.requester.seq.total,
            sent_at: packet.stamp,
            echoes_mark: packet.ecn != sender.ecn,
            format: self.format_of(&flow),
            int: self.stack_of(&packet),
            content: carries.then(|| scheme.frame_content(&self.flows.feedback[packet.extra])),
            selective: selective.map(|Selective { psn, received }| SelectiveReply { psn, received }),
        }
    }

    fn pfc_of(&self, port_id: PortId, packet: &Packet) -> Body {
        let port = &self.links.ports[port_id];
        let (due, on) = packet.pfc_classes();
        let of_class = |class: u8| {
            let ingress = (!port.has(AT_HOST)).then(|| {
                let buffer = &self.switches[port.switch()].buffer;
                let local = usize::from(self.local(port_id));
                (buffer.ingress(local, class).bytes, buffer.xoff(local, class))
            });
            PfcClass { class, pause: on & (1 << class) != 0, ingress }
        };
        Body::Pfc {
            classes: (0..self.classes as u8).filter(|class| due & (1 << class) != 0).map(of_class).collect(),
            lasts: (packet.stamp != Time::NEVER).then(|| packet.stamp - Time::ZERO),
            rate: self.links.link_types.of(&self.links.ports[port_id.peer()]).rate.rate(),
        }
    }

    fn flow_name(&self, flow: FlowEntryId) -> FlowName {
        let flow = self.flows.entries[flow].sender;
        let (details, sender) = (&self.flows.details[flow], &self.flows.senders[flow]);
        let spec = &details.spec;
        FlowName {
            id: details.id,
            label: spec.label,
            src: spec.src,
            dst: spec.dst,
            class: spec.class,
            scheme: spec.scheme,
            transport: sender.requester.headers(),
            src_port: spec.ports_or(details.ephemeral).0,
            dst_port: spec.ports.map(|(_, to)| to),
            full_frame_bytes: sender.full_frame,
        }
    }

    fn format_of(&self, flow: &FlowName) -> Format {
        let domain = |node: u32| self.plan.nodes[node as usize].domain;
        self.formats[usize::from(flow.scheme)][usize::from(domain(flow.src) != domain(flow.dst))]
    }

    fn stack_of(&self, packet: &Packet) -> Option<Box<IntStack>> {
        packet.carries_int().then(|| self.flows.int.copy(packet)).flatten().map(Box::new)
    }

    /// A congestion point has marked a packet.
    #[cold]
    #[inline(never)]
    pub(crate) fn note_mark(&mut self, port: PortId, packet: &Packet) {
        let place = self.place(port, packet.class);
        let name = PacketName { flow: self.flows.entries[packet.flow].id, psn: packet.psn, sent_at: packet.stamp };
        self.records.taps.marks[name.slot()] = Some((name, place));
    }

    /// A notification is about to leave a switch, or (`None`) a receiver.
    #[cold]
    #[inline(never)]
    pub(crate) fn note_origin(&mut self, packet: &Packet, egress: Option<(PortId, u8)>) {
        let place = egress.map(|(port, class)| self.place(port, class));
        let index = packet.extra as usize;
        if self.records.taps.origins.len() <= index {
            self.records.taps.origins.resize(index + 1, None);
        }
        self.records.taps.origins[index] = place;
    }
}
