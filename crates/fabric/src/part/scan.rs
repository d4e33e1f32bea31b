//! A NIC that looks through its flows ([`NicScheduler::Scan`](crate::network::plan::NicScheduler::Scan)).
//!
//! No flow stands in line: whenever the link is free and something has happened, the NIC goes through
//! its flows in the order in which they were opened, beginning after the one it served last, and
//! takes the first that has data, is not paused, has room in its window and whose time has come. When
//! there is none it sets one wake-up, at the earliest next-send time of the flows with data, and sets
//! no other while that is pending; if the earliest has passed (a flow waits for its window), it sets
//! none and waits for the next ACK. ACKs have one queue ahead of all flows.
//!
//! A well-known simulator works so, with what follows from it: a flow may be late because another
//! one's wake-up was set first.

use crate::contract::packet::Packet;
use crate::contract::scheme::{Limits, ReactionPoint, Scheme};
use crate::flow::pacing::inflight_cap;
use crate::id::{HostId, PortId, SenderId};
use crate::node::port::{FREE_PENDING, SCANS};
use crate::part::{Part, kind};
use xoff_engine::Time;

impl<S: Scheme> Part<S> {
    /// Whether the NIC at a port looks through its flows.
    #[inline]
    pub(crate) fn scans(&self, port_id: PortId) -> bool {
        self.links.ports[port_id].has(SCANS)
    }

    /// Something has happened: the next packet goes, if the link is free and one may.
    #[cold]
    #[inline(never)]
    pub(crate) fn serve_scan(&mut self, port_id: PortId) {
        let port = &self.links.ports[port_id];
        if port.has(FREE_PENDING) || port.busy_until > self.now || !self.is_up(port_id) {
            return;
        }
        if port.pfc_due != 0 {
            self.send_pfc(port_id);
            if self.links.ports[port_id].busy_until > self.now || self.links.ports[port_id].has(FREE_PENDING) {
                self.expect_free(port_id);
                return;
            }
        }
        let host_id = self.links.ports[port_id].host();
        let paused = self.links.ports[port_id].paused;
        if let Some(ack) = self.next_ack(host_id, paused) {
            self.transmit(port_id, &ack);
            self.expect_free(port_id);
            return;
        }
        match self.look(host_id, paused) {
            Some(flow) => {
                let sent = self.send_data(port_id, host_id, flow);
                debug_assert!(sent, "a flow that was found may send");
                self.expect_free(port_id);
            }
            None => self.set_wake_up(host_id),
        }
    }

    fn next_ack(&mut self, host_id: HostId, paused: u8) -> Option<Packet> {
        let scan = self.hosts[host_id].scan.as_mut()?;
        if scan.acks.is_empty() || scan.ack_gate & paused != 0 {
            return None;
        }
        self.egress.queued.pop(&mut scan.acks)
    }

    /// The first flow that may send now. Ended flows that were passed are removed.
    fn look(&mut self, host_id: HostId, paused: u8) -> Option<SenderId> {
        let scan = self.hosts[host_id].scan.as_mut()?;
        if scan.late {
            return self.look_late(host_id, paused);
        }
        let (mut found, mut first_ended) = (None, usize::MAX);
        for place in scan.order() {
            let flow = scan.flows[place];
            if flow == SenderId::NONE {
                first_ended = first_ended.min(place);
                continue;
            }
            let sender = &self.flows.senders[flow];
            if paused & (1 << sender.class) == 0 && sender.may_send() && sender.pacing.next_avail <= self.now {
                found = Some(place);
                break;
            }
        }
        if first_ended != usize::MAX {
            found = scan.clear_from(first_ended, found);
        }
        let place = found?;
        scan.last = place;
        Some(scan.flows[place])
    }

    /// One wake-up for all flows.
    fn set_wake_up(&mut self, host_id: HostId) {
        let host = &mut self.hosts[host_id];
        if host.wake_at != Time::NEVER {
            return;
        }
        let Some(scan) = &host.scan else { return };
        if scan.late {
            return self.set_late_wake_up(host_id);
        }
        let senders = scan.flows.iter().filter(|flow| **flow != SenderId::NONE).map(|&flow| &self.flows.senders[flow]);
        let earliest =
            senders.filter(|sender| sender.requester.has_data()).map(|sender| sender.pacing.next_avail).min();
        if let Some(at) = earliest.filter(|at| *at > self.now) {
            host.wake_at = at;
            self.queue.push_named(at, kind::WAKE, host.name, host_id.get());
        }
    }

    /// A new flow takes its place after all others.
    pub(crate) fn open_scanned(&mut self, flow: SenderId) {
        if let Some(scan) = &mut self.hosts[self.flows.senders[flow].host].scan {
            scan.flows.push(flow);
        }
    }

    /// An ended flow leaves a gap behind.
    pub(crate) fn close_scanned(&mut self, flow: SenderId) {
        if let Some(scan) = &mut self.hosts[self.flows.senders[flow].host].scan
            && let Some(place) = scan.flows.iter().position(|other| *other == flow)
        {
            scan.flows[place] = SenderId::NONE;
        }
    }

    /// The link is cut: what waited for it is lost.
    pub(crate) fn flush_scanned(&mut self, host_id: HostId) {
        while let Some(scan) = &mut self.hosts[host_id].scan
            && let Some(packet) = self.egress.queued.pop(&mut scan.acks)
        {
            self.counters.drops_fault += 1;
            self.lose(&packet);
        }
    }

    /// An ACK or notification joins the queue ahead of all flows.
    pub(crate) fn emit_scanned(&mut self, host_id: HostId, packet: &Packet) {
        let host = &mut self.hosts[host_id];
        let port_id = host.port;
        if let Some(scan) = &mut host.scan {
            self.egress.queued.push(&mut scan.acks, packet);
        }
        self.serve_scan(port_id);
    }

    /// A flow has new limits. Its next-send time moves by the difference of the gaps, if the NIC
    /// follows rates.
    pub(crate) fn limit_scanned(&mut self, flow: SenderId, limits: Limits) {
        let sender = &mut self.flows.senders[flow];
        let host = &self.hosts[sender.host];
        let line = self.links.link_types.of(&self.links.ports[host.port]).rate.rate().bps() as f64;
        let pacing = &mut sender.pacing;
        pacing.asked_window = limits.window_bytes;
        let within = |bps: f64| pacing.cap.map_or(bps, |cap| bps.min(cap.bps() as f64)).min(line);
        let (old, new) = (within(pacing.asked_bps), within(limits.rate_bps));
        pacing.asked_bps = limits.rate_bps;
        let nic = &self.plan.hosts[host.profile as usize].nic;
        let cap = nic.inflight_cap.map_or(u64::MAX, |cap| inflight_cap(pacing.bdp_bytes, cap.scales, new, line));
        sender.requester.seq.set_exact_window(limits.window_bytes.min(cap));
        pacing.gap_bps = if nic.pace { new } else { line };
        if new == old || !nic.follow_rate {
            return;
        }
        let gap = |bps: f64| self.plan.model.resolution.duration(pacing.last_wire_bytes, bps);
        let (before, after) = (gap(old).ps(), gap(new).ps());
        pacing.next_avail = Time::from_ps((pacing.next_avail.ps() + after).saturating_sub(before));
    }

    /// An ACK has led to a rate: a NIC that follows rates lets a pending wake-up come sooner, if this flow may
    /// send before it.
    pub(crate) fn wake_sooner(&mut self, flow: SenderId) {
        let sender = &self.flows.senders[flow];
        let host = &mut self.hosts[sender.host];
        let follows = self.plan.hosts[host.profile as usize].nic.follow_rate;
        if follows && sender.rp.has_decided() && host.wake_at != Time::NEVER && sender.pacing.next_avail < host.wake_at
        {
            if let Some(scan) = &mut host.scan {
                scan.moved.push(host.wake_at);
            }
            host.wake_at = sender.pacing.next_avail.max(self.now);
            self.queue.push_named(host.wake_at, kind::WAKE, host.name, sender.host.get());
        }
    }
}
