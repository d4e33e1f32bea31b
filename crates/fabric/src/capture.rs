//! Taps on ports: what a frame is at the instant its first bit leaves, for whoever writes captures.
//!
//! A port that nobody captures pays one test of a flag per frame. What a frame holds besides the
//! packet's own 32 bytes (its flow, telemetry, the words of a scheme, why it was marked) is looked up
//! here, once, and copied into a record; the records are drained like all others.

use crate::packet::{ASKS_ACK, Ecn, IntStack, Kind, NO_EXTRA, Packet, RESENT};
use crate::part::Part;
use crate::plan::peer;
use crate::port::{AT_HOST, CAPTURED};
use crate::scheme::{Format, Scheme, Transport};
use xoff_engine::rng::mix;
use xoff_engine::{BitRate, Span, Time};

/// Frames to be recorded.
#[derive(Clone, Debug)]
pub struct Capture {
    /// Whose frames: what these ports send.
    pub ports: Vec<u32>,
    pub from: Time,
    pub until: Time,
    /// At most so many; the rest is only counted.
    pub frames: u64,
}

/// A frame at a captured port.
#[derive(Clone, Debug)]
pub struct Frame {
    /// Number of the capture.
    pub capture: u32,
    /// Its first bit leaves.
    pub at: Time,
    pub port: u32,
    /// From the Ethernet header to the FCS.
    pub frame_bytes: u16,
    pub class: u8,
    pub ecn: Ecn,
    /// Bytes it leaves behind in its queue.
    pub queue_bytes: u64,
    /// The last one this capture may take.
    pub last: bool,
    pub body: Body,
}

#[derive(Clone, Debug)]
pub enum Body {
    Data(Data),
    /// ACK or NAK.
    Answer(Answer),
    /// To a sender, from its receiver or from a switch.
    Notification {
        flow: FlowName,
        wire: Wire,
        /// The switch's egress that saw the congestion, if a switch sent it.
        origin: Option<Place>,
    },
    Pfc {
        classes: Vec<PfcClass>,
        /// How long a pause lasts; `None`: until resumed.
        lasts: Option<Span>,
        /// Rate of the egress that it stops: what quanta are counted in.
        rate: BitRate,
    },
    /// From a switch's control to its neighbour's.
    Neighbour {
        wire: Wire,
        flows: Vec<FlowName>,
    },
}

#[derive(Clone, Debug)]
pub struct Data {
    pub flow: FlowName,
    pub psn: u32,
    /// Packets of the flow; `None` is endless.
    pub total: Option<u32>,
    pub size_bytes: Option<u64>,
    /// Payload before it in its flow, and its own.
    pub offset_bytes: u64,
    pub payload_bytes: u32,
    /// Frame bytes of the flow's first packet.
    pub first_frame_bytes: u16,
    /// When it left its sender's NIC.
    pub sent_at: Time,
    pub resent: bool,
    /// It wants an answer.
    pub asks_ack: bool,
    pub format: Format,
    pub int: Option<Box<IntStack>>,
    pub marked: Marked,
}

#[derive(Clone, Debug)]
pub struct Answer {
    pub flow: FlowName,
    pub nak: bool,
    /// The next packet the receiver expects, and its first byte in the flow.
    pub expected: u32,
    pub expected_byte: u64,
    /// It has them all.
    pub complete: bool,
    /// When the packet it answers left its sender's NIC.
    pub sent_at: Time,
    /// The mark of the packet it answers differs from how that packet was sent.
    pub echoes_mark: bool,
    pub format: Format,
    pub int: Option<Box<IntStack>>,
    pub wire: Option<Wire>,
}

/// Whether and where a data packet was marked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Marked {
    No,
    At(Place),
    /// So many marks came since that the place is forgotten.
    Somewhere,
}

/// An egress queue at some moment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Place {
    pub port: u32,
    pub queue_bytes: u64,
}

/// Which flow a frame belongs to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FlowName {
    /// [`crate::record::FlowRecord::id`]
    pub id: u32,
    pub label: u32,
    pub src: u32,
    pub dst: u32,
    pub class: u8,
    pub scheme: u8,
    pub transport: Transport,
    /// Its source port, and the other if the scenario names it.
    pub src_port: u16,
    pub dst_port: Option<u16>,
    /// Frame bytes of its full packets.
    pub full_frame_bytes: u16,
}

/// What a PFC frame says about one class.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PfcClass {
    pub class: u8,
    pub pause: bool,
    /// Bytes buffered of what came in by the port, and where they would cause a PAUSE; `None` at hosts.
    pub ingress: Option<(u64, u64)>,
}

/// How the content of a scheme's own message looks in a frame. Only captures ask.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Wire {
    pub carrier: Carrier,
    /// Tells readers of a capture what the bytes are; zero says that there are none.
    pub code: u8,
    pub bytes: Vec<u8>,
    /// Flows it is about, by the numbers that schemes know; their addresses follow the bytes.
    pub flows: Vec<u32>,
    /// The same for people.
    pub says: String,
}

/// In which frame a message travels.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Carrier {
    /// A RoCE congestion notification packet.
    #[default]
    Cnp,
    /// The same with the congestion mark in its own IP header.
    MarkedCnp,
    /// A congestion notification message of IEEE 802.1Qau: quantised feedback, and the queue's offset
    /// from its set point and change, in bytes.
    Cnm { feedback: u8, offset_bytes: i64, delta_bytes: i64 },
}

/// Marks remembered, by a hash of the packet: enough for what is in flight in all but huge networks.
const MARKS: usize = 1 << 16;

/// All taps of a run.
#[derive(Debug, Default)]
pub struct Taps {
    /// Records since they were last taken.
    pub frames: Vec<Frame>,
    list: Vec<Tap>,
    /// Where packets were marked. Empty in runs without captures.
    marks: Vec<Option<(PacketName, Place)>>,
    /// By index of its feedback: which egress sent a notification.
    origins: Vec<Option<Place>>,
}

#[derive(Debug)]
struct Tap {
    capture: Capture,
    taken: u64,
    missed: u64,
}

/// One copy of one packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct PacketName {
    flow: u32,
    psn: u32,
    sent_at: Time,
}

impl PacketName {
    fn slot(&self) -> usize {
        let flow = u64::from(self.flow) << 32 | u64::from(self.psn);
        mix(flow ^ mix(self.sent_at.ps())) as usize % MARKS
    }
}

impl Taps {
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Frames of a capture that were recorded, and those that came after its limit.
    pub fn counts(&self, capture: usize) -> (u64, u64) {
        self.list.get(capture).map_or((0, 0), |tap| (tap.taken, tap.missed))
    }
}

impl<S: Scheme> Part<S> {
    /// Records frames from now on. Captures are numbered in order.
    pub(crate) fn capture(&mut self, captures: Vec<Capture>) {
        for mut capture in captures {
            capture.ports.sort_unstable();
            for &port in &capture.ports {
                self.ports[port as usize].flags |= CAPTURED;
            }
            self.taps.list.push(Tap { capture, taken: 0, missed: 0 });
        }
        if !self.taps.is_empty() {
            self.taps.marks = vec![None; MARKS];
        }
    }

    /// A frame leaves a captured port now.
    #[cold]
    #[inline(never)]
    pub(crate) fn tap(&mut self, port: u32, packet: &Packet) {
        for index in 0..self.taps.list.len() {
            let tap = &mut self.taps.list[index];
            let within = tap.capture.from <= self.now && self.now <= tap.capture.until;
            if !within || tap.capture.ports.binary_search(&port).is_err() {
                continue;
            }
            if tap.taken == tap.capture.frames {
                tap.missed += 1;
                continue;
            }
            tap.taken += 1;
            let last = tap.taken == tap.capture.frames;
            let link_local = packet.kind.is_link_local();
            let queue = &self.queues[port as usize * self.classes + usize::from(packet.class)];
            let frame = Frame {
                capture: index as u32,
                at: self.now,
                port,
                frame_bytes: packet.frame_bytes,
                class: packet.class,
                ecn: packet.ecn,
                queue_bytes: if link_local { 0 } else { queue.bytes },
                last,
                body: self.frame_body(port, packet),
            };
            self.taps.frames.push(frame);
        }
    }

    fn frame_body(&self, port: u32, packet: &Packet) -> Body {
        match packet.kind {
            Kind::Data => Body::Data(self.data_of(packet)),
            Kind::Ack | Kind::Nak => Body::Answer(self.answer_of(packet)),
            Kind::Notification => {
                let flow = self.flow_name(packet.flow);
                let wire = self.schemes[usize::from(flow.scheme)].wire(&self.feedback[packet.extra]);
                let origin = self.taps.origins.get(packet.extra as usize).copied().flatten();
                Body::Notification { flow, wire, origin }
            }
            Kind::Pfc => self.pfc_of(port, packet),
            Kind::Neighbour => {
                let wire = self.message_wire(self.ports[port as usize].owner, packet.extra);
                // A flow that has ended since it was named is left out.
                let alive = wire.flows.iter().filter_map(|id| self.living.get(id));
                Body::Neighbour { flows: alive.map(|&card| self.flow_name(card)).collect(), wire }
            }
        }
    }

    fn data_of(&self, packet: &Packet) -> Data {
        let flow = self.flow_name(packet.flow);
        let sender = &self.senders[self.cards[packet.flow].sender];
        let offset_bytes = sender.payload_until(packet.psn);
        let marked = if packet.ecn == sender.ecn {
            Marked::No
        } else {
            let name = PacketName { flow: flow.id, psn: packet.psn, sent_at: packet.stamp };
            let found = self.taps.marks[name.slot()].filter(|(of, _)| *of == name);
            found.map_or(Marked::Somewhere, |(_, place)| Marked::At(place))
        };
        Data {
            flow,
            psn: packet.psn,
            total: (sender.total != u32::MAX).then_some(sender.total),
            size_bytes: self.ledgers[self.cards[packet.flow].sender].spec.size_bytes,
            offset_bytes,
            payload_bytes: (sender.payload_until(packet.psn + 1) - offset_bytes) as u32,
            first_frame_bytes: if sender.total == 1 { sender.last_frame } else { sender.full_frame },
            sent_at: packet.stamp,
            resent: packet.flags & RESENT != 0,
            asks_ack: packet.flags & ASKS_ACK != 0,
            format: self.format_of(&flow),
            int: self.stack_of(packet),
            marked,
        }
    }

    fn answer_of(&self, packet: &Packet) -> Answer {
        let flow = self.flow_name(packet.flow);
        let sender = &self.senders[self.cards[packet.flow].sender];
        let scheme = &self.schemes[usize::from(flow.scheme)];
        let carries = packet.carries_feedback() && packet.extra != NO_EXTRA;
        Answer {
            flow,
            nak: packet.kind == Kind::Nak,
            expected: packet.psn,
            expected_byte: sender.payload_until(packet.psn),
            complete: packet.psn == sender.total,
            sent_at: packet.stamp,
            echoes_mark: packet.ecn != sender.ecn,
            format: self.format_of(&flow),
            int: self.stack_of(packet),
            wire: carries.then(|| scheme.wire(&self.feedback[packet.extra])),
        }
    }

    fn pfc_of(&self, port_id: u32, packet: &Packet) -> Body {
        let port = &self.ports[port_id as usize];
        let (due, on) = (packet.flow as u8, packet.psn as u8);
        let of_class = |class: u8| {
            let ingress = (!port.has(AT_HOST)).then(|| {
                let switch = &self.switches[port.owner as usize];
                let account = &self.accounts[self.first_account(port_id) + usize::from(class)];
                (account.bytes, crate::switch::xoff_now(switch, account))
            });
            PfcClass { class, pause: on & (1 << class) != 0, ingress }
        };
        Body::Pfc {
            classes: (0..self.classes as u8).filter(|class| due & (1 << class) != 0).map(of_class).collect(),
            lasts: (packet.stamp != Time::NEVER).then(|| packet.stamp - Time::ZERO),
            rate: self.media.of(&self.ports[peer(port_id) as usize]).rate.rate(),
        }
    }

    fn flow_name(&self, flow: u32) -> FlowName {
        let flow = self.cards[flow].sender;
        let (ledger, sender) = (&self.ledgers[flow], &self.senders[flow]);
        let spec = &ledger.spec;
        FlowName {
            id: ledger.id,
            label: spec.label,
            src: spec.src,
            dst: spec.dst,
            class: spec.class,
            scheme: spec.scheme,
            transport: if sender.tcp { Transport::Tcp } else { Transport::Roce },
            src_port: spec.ports_or(ledger.ephemeral).0,
            dst_port: spec.ports.map(|(_, to)| to),
            full_frame_bytes: sender.full_frame,
        }
    }

    fn format_of(&self, flow: &FlowName) -> Format {
        let domain = |node: u32| self.plan.nodes[node as usize].domain;
        self.formats[usize::from(flow.scheme)][usize::from(domain(flow.src) != domain(flow.dst))]
    }

    fn stack_of(&self, packet: &Packet) -> Option<Box<IntStack>> {
        let stack = packet.carries_int().then(|| self.int.get(packet.extra)).flatten();
        stack.map(|stack| Box::new(*stack))
    }

    /// A congestion point has marked a packet.
    #[cold]
    #[inline(never)]
    pub(crate) fn note_mark(&mut self, port: u32, packet: &Packet) {
        let queue_bytes = self.queues[port as usize * self.classes + usize::from(packet.class)].bytes;
        let name = PacketName { flow: self.cards[packet.flow].id, psn: packet.psn, sent_at: packet.stamp };
        self.taps.marks[name.slot()] = Some((name, Place { port, queue_bytes }));
    }

    /// A notification is about to leave a switch, or (`None`) a receiver.
    #[cold]
    #[inline(never)]
    pub(crate) fn note_origin(&mut self, packet: &Packet, egress: Option<(u32, u8)>) {
        let place = egress.map(|(port, class)| {
            let queue_bytes = self.queues[port as usize * self.classes + usize::from(class)].bytes;
            Place { port, queue_bytes }
        });
        let index = packet.extra as usize;
        if self.taps.origins.len() <= index {
            self.taps.origins.resize(index + 1, None);
        }
        self.taps.origins[index] = place;
    }
}
