//! Rules of ConWeave's simulator ([`Dialect::ConWeave`]) at switches, NICs and receivers.
//!
//! They hold only where events go by the order of their scheduling, so that other runs do not meet them.

use crate::buffer::broadcom::{Broadcom, PAUSE};
use crate::contract::packet::{Ecn, Kind, Packet};
use crate::contract::record::RecoveryRecord;
use crate::contract::scheme::Scheme;
use crate::flow::transport::{Arrival, Responder, Taken};
use crate::id::{HostId, PortId, QueueId, ReceiverId, SenderId};
use crate::network::plan::Dialect;
use crate::node::port::{FREE_RESERVED, SCANS};
use crate::node::switch::Switch;
use crate::part::switch::Admitted;
use crate::part::{Part, kind};
use xoff_engine::Time;

/// Ended flows at a NIC from which on their places are given up.
const ENDED_MOST: usize = 64;

impl<S: Scheme> Part<S> {
    /// Takes a packet into the buffer of such a switch, or not. Control packets are never counted.
    #[cold]
    #[inline(never)]
    pub(crate) fn admit_foreign(&mut self, egress: PortId, packet: &Packet) -> Admitted {
        let (class, from, to) = (packet.class, usize::from(packet.ingress), usize::from(self.local(egress)));
        self.note_at_edge(self.links.ports[egress].switch(), packet.kind == Kind::Data);
        if class == self.plan.classes.control {
            return Admitted::Stored;
        }
        let switch = &mut self.switches[self.links.ports[egress].switch()];
        let Some(buffer) = &mut switch.foreign else { return Admitted::Stored };
        let ingress = switch.ports[from];
        if buffer.admit(from, to, class, packet.frame_bytes.into()).is_err() {
            let lossless = self.plan.classes.list[usize::from(class)].lossless;
            *if lossless { &mut self.counters.drops_lossless } else { &mut self.counters.drops_lossy } += 1;
            self.egress.history_mut(QueueId::of(egress, class, self.classes)).drops += 1;
            return Admitted::Lost;
        }
        self.signal_arrival(ingress, class);
        Admitted::Stored
    }

    /// A packet of class `arrived` was stored: every class of its ingress that is above its threshold is paused, again
    /// if it was before; a class that is below it by now is resumed.
    fn signal_arrival(&mut self, ingress: PortId, arrived: u8) {
        let from = usize::from(self.local(ingress));
        for class in 0..self.classes as u8 {
            let lossless = self.plan.classes.list[usize::from(class)].lossless;
            let buffer = self.switches[self.links.ports[ingress].switch()].foreign.as_deref_mut();
            let must_pause = |buffer: &Broadcom| buffer.must_pause(from, class, arrived);
            if let Some(buffer) = buffer.filter(|buffer| lossless && must_pause(buffer)) {
                buffer.pause(self.now, from, class);
                self.send_foreign_pfc(ingress, class, true);
            }
        }
        for class in 0..self.classes as u8 {
            self.resume_if_below(ingress, class);
        }
    }

    /// Resumes the upstream of an ingress that is below its threshold, if it counts as paused.
    fn resume_if_below(&mut self, ingress: PortId, class: u8) {
        let from = usize::from(self.local(ingress));
        let buffer = self.switches[self.links.ports[ingress].switch()].foreign.as_deref_mut();
        if buffer.is_some_and(|buffer| buffer.resumes(self.now, from, class)) {
            self.send_foreign_pfc(ingress, class, false);
        }
    }

    /// Frees a packet that leaves such a switch; resumes its upstream.
    #[cold]
    #[inline(never)]
    pub(crate) fn release_foreign(&mut self, egress: PortId, packet: &Packet) {
        let (class, from, to) = (packet.class, usize::from(packet.ingress), usize::from(self.local(egress)));
        if class == self.plan.classes.control {
            return;
        }
        let switch = &mut self.switches[self.links.ports[egress].switch()];
        let ingress = switch.ports[from];
        if let Some(buffer) = &mut switch.foreign {
            buffer.release(from, to, class, packet.frame_bytes.into());
        }
        self.resume_if_below(ingress, class);
    }

    /// Whether every byte in such a buffer is in one queue.
    pub(crate) fn check_foreign(&self, switch: &Switch, buffer: &Broadcom) -> Result<(), String> {
        let control = self.plan.classes.control;
        let counted = (0..self.classes as u8).filter(|class| *class != control);
        let of_class = |class| switch.ports.iter().map(move |&port| self.queue(port, class).bytes).sum::<u64>();
        let (queued, used) = (counted.map(of_class).sum::<u64>(), buffer.used_bytes());
        let name = &self.plan.nodes[switch.node as usize].name;
        if queued == used { Ok(()) } else { Err(format!("{name}: {queued} bytes queued, {used} of the buffer used")) }
    }

    /// A PFC frame joins the queue of control packets: it waits for those ahead of it.
    fn send_foreign_pfc(&mut self, port_id: PortId, class: u8, pause: bool) {
        let was = self.set_pausing(port_id, class, pause);
        if was != pause {
            self.note_pause(port_id, class, pause);
        }
        let bit = 1 << class;
        let frames = self.watch.frames_mut(port_id);
        let (own, all) = match (pause, was) {
            (true, false) => (&mut frames.pause, &mut self.counters.pause_frames),
            (true, true) => (&mut frames.refresh, &mut self.counters.refresh_frames),
            (false, _) => (&mut frames.resume, &mut self.counters.resume_frames),
        };
        *own += 1;
        *all += 1;
        frames.advertised = if pause { frames.advertised | bit } else { frames.advertised & !bit };
        let lasts = if pause { PAUSE.ps() } else { 0 };
        let frame = Packet::pfc(bit, if pause { bit } else { 0 }, Time::from_ps(lasts), self.links.pfc_frame);
        // It belongs to the link: no packet-hop, though it is sent as packets are.
        self.counters.packet_hops = self.counters.packet_hops.wrapping_sub(1);
        self.send_from_switch(port_id, &mut Packet { class: self.plan.classes.control, ..frame });
    }

    /// A packet that a switch has made leaves at once, if it can, or waits in its class.
    pub(crate) fn send_from_switch(&mut self, port_id: PortId, packet: &mut Packet) {
        if self.links.ports[port_id].has(FREE_RESERVED) {
            self.settle_free(port_id);
        }
        self.take_in_order(port_id, packet);
    }

    /// A RESUME has come to a class that is not paused: there a NIC looks for a packet all the same.
    #[inline]
    pub(crate) fn hear_resume_again(&mut self, port_id: PortId) {
        if self.compat.dialect == Dialect::ConWeave && self.links.ports[port_id].has(SCANS) {
            self.serve_scan(port_id);
        }
    }

    /// The first flow that may send now. Recovery passes over what was acknowledged selectively wherever a flow is
    /// looked at, and after it was asked whether it may send.
    #[cold]
    #[inline(never)]
    pub(crate) fn look_late(&mut self, host_id: HostId, paused: u8) -> Option<SenderId> {
        let scan = self.hosts[host_id].scan.as_mut()?;
        let (mut found, mut ended) = (None, 0);
        for place in scan.order() {
            let flow = scan.flows[place];
            if flow == SenderId::NONE {
                ended += 1;
                continue;
            }
            let sender = &mut self.flows.senders[flow];
            let allowed = sender.requester.may_send();
            sender.requester.look();
            let may_send = allowed && sender.requester.has_data();
            if paused & (1 << sender.class) == 0 && may_send && sender.pacing.next_avail <= self.now {
                found = Some(place);
                break;
            }
        }
        if ended > ENDED_MOST {
            found = scan.compact(found);
        }
        let place = found?;
        scan.last = place;
        Some(scan.flows[place])
    }

    /// One wake-up for all flows, at the earliest next-send time after now.
    #[cold]
    #[inline(never)]
    pub(crate) fn set_late_wake_up(&mut self, host_id: HostId) {
        let host = &mut self.hosts[host_id];
        let Some(scan) = &host.scan else { return };
        let mut earliest = Time::NEVER;
        for &flow in scan.flows.iter().filter(|flow| **flow != SenderId::NONE) {
            let sender = &mut self.flows.senders[flow];
            sender.requester.look();
            if sender.requester.has_data() && sender.pacing.next_avail > self.now {
                earliest = earliest.min(sender.pacing.next_avail);
            }
        }
        if host.wake_at == Time::NEVER && earliest != Time::NEVER {
            host.wake_at = earliest;
            self.queue.push_named(earliest, kind::WAKE, host.name, host_id.get());
        }
    }

    /// The receiver of a flow that has ended for its sender keeps nothing of it.
    pub(crate) fn forget_receiver(&mut self, flow: SenderId) {
        let entry = self.flows.senders[flow].entry;
        if let Some(receiver) = self.flows.receivers.get_mut(self.flows.entries[entry].receiver) {
            receiver.responder.close();
        }
    }

    /// What a receiver makes of a data packet there: the answer to one that is ahead carries the mark of a congestion
    /// notification, and a packet of a flow that has ended for its sender begins a state that expects its first packet.
    #[cold]
    #[inline(never)]
    pub(crate) fn receive_foreign(&mut self, flow: ReceiverId, data: &Arrival) -> Taken {
        let receiver = &mut self.flows.receivers[flow];
        if receiver.responder.seq.is_closed() {
            return self.receive_late(flow, data);
        }
        let ahead = data.psn > receiver.responder.seq.expected;
        let mut late = RecoveryRecord::default();
        let counts = if receiver.delivered_at.is_none() { &mut receiver.recovery } else { &mut late };
        marked(ahead, receiver.responder.receive(self.now, data, counts))
    }

    /// A packet of a flow that has ended for its sender.
    fn receive_late(&mut self, flow: ReceiverId, data: &Arrival) -> Taken {
        let receiver = &self.flows.receivers[flow];
        let entry = &self.flows.entries[receiver.entry];
        let format = &self.formats[usize::from(entry.scheme)][0];
        let host = &self.plan.hosts[usize::from(self.hosts[receiver.host].profile)];
        let stream = &receiver.responder.seq.stream;
        let renewed = || Responder::new(format, host, stream.renewed());
        let responder = self.compat.late.entry(entry.id).or_insert_with(renewed);
        let ahead = data.psn > responder.seq.expected;
        let taken = marked(ahead, responder.on_data(self.now, data));
        // The flow has had its packets.
        Taken { kept: false, payload_bytes: 0, delivered_bytes: 0, completes: false, ..taken }
    }
}

/// Puts the mark of a congestion notification into the answer to a packet that is ahead.
fn marked(ahead: bool, mut taken: Taken) -> Taken {
    if ahead && let Some(answer) = &mut taken.answer {
        answer.ecn = Ecn::Ce;
    }
    taken
}
