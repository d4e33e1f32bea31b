//! Rules of the Ultra Ethernet Consortium's htsim ([`Dialect::Htsim`](crate::network::plan::Dialect::Htsim)): its
//! queues, NICs, transport, and the order of its events and draws.
//!
//! Ports, NICs and both ends of flows have state of their own here, in place of that of other runs; what they share with
//! those is the event queue, links, schemes, path choices, flows and their records. All events are of one kind, so that
//! other runs do not meet them. Not here: credit of receivers, PFC, faults.
//!
//! Events of one instant happen in the order of their scheduling. A wire, and the way through a switch that takes no time,
//! have one event each, for their oldest packet: that of the next is scheduled once the oldest has gone on.

mod answers;
mod build;
mod egress;
mod host_queue;
mod nic;
mod receiver;
mod sender;
mod sleek;
mod switch;
mod timers;

use crate::contract::scheme::Scheme;
use crate::id::{HostId, PortId, SwitchId};
use crate::part::{Part, kind};
pub(crate) use build::Connections;
use egress::Egress;
use host_queue::HostQueue;
use nic::Nic;
use receiver::Receiver;
use sender::Sender;
use std::collections::{HashMap, VecDeque};
use switch::Crossing;
use xoff_engine::{Id, SharedTwister, Table, Time};

/// Bytes of ACKs, NACKs, requests to send, and of what is left of a trimmed packet.
const HEADER: u16 = 64;

/// What a frame is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum What {
    Data,
    /// Asks what has arrived, in the queues of data.
    Probe,
    /// Data or a probe that was trimmed.
    Trimmed,
    /// Request to send, of a sender whose window has no room.
    Request,
    Ack,
    Nack,
}

/// A packet of this dialect.
#[derive(Clone, Copy, Debug)]
struct Frame {
    /// Number of the flow among [`Htsim::senders`].
    flow: u32,
    what: What,
    bytes: u16,
    entropy: u16,
    /// Number of the packet, or of the one that an answer is to.
    psn: u32,
    marked: bool,
    /// Requires an ACK.
    asks: bool,
    /// The packet, or the one that an answer is to, was sent before.
    resent: bool,
    /// Trimmed on the last hop.
    last_hop: bool,
    /// Where it leaves the switch that it is in.
    egress: PortId,
    report: Report,
}

impl Frame {
    /// A frame as its sender makes it.
    fn new(flow: u32, what: What, (psn, bytes): (u32, u16), entropy: u16) -> Frame {
        Frame {
            flow,
            what,
            bytes,
            entropy,
            psn,
            marked: false,
            asks: false,
            resent: false,
            last_hop: false,
            egress: PortId::NONE,
            report: Report::default(),
        }
    }
}

/// What an ACK says.
#[derive(Clone, Copy, Default, Debug)]
struct Report {
    /// All below has arrived.
    expected: u32,
    /// The packet that the first bit is of.
    first: u32,
    bits: u64,
    /// Bytes that have arrived.
    received: u64,
    /// Packets beyond the first that is missing.
    ahead: u32,
    /// Whether it answers a probe.
    of_probe: bool,
    /// Whether it answers a request, or is thought to ([`Slips`]).
    of_request: bool,
}

/// Whether ACKs are thought to answer a request.
///
/// Memory of an ACK that has been read or lost is used for the next that is made, the latest first, and what it says of
/// requests is never taken back: each answer to a request leaves one that later ACKs inherit.
#[derive(Default)]
struct Slips(Vec<bool>);

impl Slips {
    /// What an ACK that is made now inherits.
    fn take(&mut self) -> bool {
        self.0.pop().unwrap_or(false)
    }

    /// An ACK is no more.
    fn put_back(&mut self, frame: &Frame) {
        if frame.what == What::Ack {
            self.0.push(frame.report.of_request);
        }
    }
}

/// State of a run under this dialect.
pub(crate) struct Htsim {
    random: SharedTwister,
    /// Draws of connections before the first of them begins: the upper bits of their entropies, and the order of their
    /// first round.
    drawn: Vec<[u32; 2]>,
    /// Ports of switches and of hosts: what is under way behind them.
    wires: Table<PortId, VecDeque<(Time, Frame)>>,
    egresses: Table<PortId, Egress>,
    host_queues: Table<HostId, HostQueue>,
    nics: Table<HostId, Nic>,
    crossings: Table<SwitchId, Crossing>,
    /// Flows in the order of their beginning.
    senders: Vec<Sender>,
    receivers: Vec<Receiver>,
    slips: Slips,
    /// Data that finds no room is trimmed, else dropped.
    trims: bool,
    next_hops: NextHops,
    /// Number of the edge of each host.
    edges: Table<HostId, u32>,
}

impl Htsim {
    /// Data packets with their payload that are under way.
    pub(crate) fn data_packets(&self) -> u64 {
        let on_wires = self.wires.iter().flatten().map(|(_, frame)| frame);
        let in_hosts = self.host_queues.iter().flat_map(HostQueue::frames);
        let in_switches = self.crossings.iter().flat_map(|switch| &switch.crossing);
        let in_queues = self.egresses.iter().flat_map(|egress| &egress.data);
        let all = on_wires.chain(in_hosts).chain(in_switches).chain(in_queues);
        all.filter(|frame| frame.what == What::Data).count() as u64
    }
}

/// What happens, in the upper bits of the index of an event.
mod happens {
    /// A frame has left its queue.
    pub const SENT: u32 = 0;
    /// The oldest frame on a wire arrives.
    pub const ARRIVES: u32 = 1;
    /// The oldest frame in a switch is at its egress.
    pub const CROSSED: u32 = 2;
    /// A NIC is free.
    pub const NIC: u32 = 3;
    /// A timer of a sender.
    pub const TIMER: u32 = 4;
}

const HAPPENS_SHIFT: u32 = 21;

impl<S: Scheme> Part<S> {
    fn dialect(&mut self) -> &mut Htsim {
        self.compat.htsim.as_mut().expect("only such runs have these events")
    }

    fn schedule(&mut self, at: Time, what: u32, index: u32) {
        debug_assert!(index < 1 << HAPPENS_SHIFT, "more ports than an event can name");
        self.queue.push(at, kind::HTSIM, what << HAPPENS_SHIFT | index);
    }

    /// An event of this dialect.
    #[cold]
    #[inline(never)]
    pub(crate) fn on_htsim(&mut self, index: u32) {
        let of = index & ((1 << HAPPENS_SHIFT) - 1);
        match index >> HAPPENS_SHIFT {
            happens::SENT => self.htsim_sent(PortId::new(of)),
            happens::ARRIVES => self.htsim_arrives(PortId::new(of)),
            happens::CROSSED => self.htsim_crossed(SwitchId::new(of)),
            happens::NIC => self.htsim_nic_free(HostId::at(of as usize)),
            _ => self.htsim_timer(of),
        }
    }

    /// How long a port needs for so many bytes.
    fn htsim_serialise(&mut self, port: PortId, bytes: u16) -> xoff_engine::Span {
        self.links.link_types.times(&self.links.ports[port], bytes.into()).0
    }

    /// A frame enters the wire of a port.
    fn htsim_enter_wire(&mut self, port: PortId, frame: Frame) {
        let delay = self.links.link_types.times(&self.links.ports[port], frame.bytes.into()).1;
        let out = &mut self.links.ports[port];
        out.tx_bytes += u64::from(frame.bytes);
        out.tx_packets = out.tx_packets.wrapping_add(1);
        self.counters.packet_hops += 1;
        let arrives = self.now + delay;
        let wire = &mut self.dialect().wires[port];
        wire.push_back((arrives, frame));
        if wire.len() == 1 {
            self.schedule(arrives, happens::ARRIVES, port.get());
        }
    }

    fn htsim_arrives(&mut self, port: PortId) {
        let Some((_, frame)) = self.dialect().wires[port].pop_front() else { return };
        if self.links.ports[port].has(crate::node::port::TO_HOST) {
            self.htsim_deliver(frame);
        } else {
            let switch = self.links.ports[port.peer()].switch();
            self.htsim_route(switch, frame);
        }
        if let Some(&(at, _)) = self.dialect().wires[port].front() {
            self.schedule(at, happens::ARRIVES, port.get());
        }
    }

    /// A frame is at the host where it ends.
    fn htsim_deliver(&mut self, frame: Frame) {
        match frame.what {
            What::Data => self.htsim_data(&frame),
            What::Probe => self.htsim_probe(&frame),
            What::Trimmed => self.htsim_trimmed(&frame),
            What::Request => self.htsim_request(&frame),
            What::Ack => {
                self.htsim_ack(&frame);
                self.dialect().slips.put_back(&frame);
            }
            What::Nack => self.htsim_nack(&frame),
        }
    }
}

/// State that most runs do not have.
pub(crate) type MaybeHtsim = Option<Box<Htsim>>;

/// The next hops of switches, by switch and edge.
type NextHops = HashMap<(SwitchId, u32), Vec<PortId>>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn acks_inherit_what_the_latest_that_was_read_said_of_requests() {
        let mut slips = Slips::default();
        let ack = |of_request| {
            let report = Report { of_request, ..Report::default() };
            Frame { report, ..Frame::new(0, What::Ack, (0, HEADER), 0) }
        };
        assert!(!slips.take(), "new");
        slips.put_back(&ack(true));
        slips.put_back(&ack(false));
        slips.put_back(&Frame::new(0, What::Nack, (0, HEADER), 0));
        assert_eq!([slips.take(), slips.take(), slips.take()], [false, true, false]);
    }
}
