//! PFC signalling at the ports of switches and hosts: PAUSE and RESUME frames, their refresh and timers. The buffer of a
//! switch decides when ([`crate::buffer`]).

use crate::contract::packet::Packet;
use crate::contract::record::{PauseRecord, PfcRecord};
use crate::contract::scheme::{Hooks, Scheme};
use crate::id::{PortId, QueueId};
use crate::network::plan::{ResumeAt, Signalling};
use crate::node::port::{AT_HOST, CHECKS, DOWN, HAS_SHAPED_WAITERS, MARKED_OR_RESUMED, SCANS, Storm};
use crate::node::switch::PfcCheck;
use crate::node::watch::Order;
use crate::part::{Part, kind};
use std::collections::VecDeque;
use xoff_engine::{Span, Time};

impl<S: Scheme> Part<S> {
    /// An ingress is above XOFF: its upstream is paused, or paused again.
    #[inline]
    pub(crate) fn ask_pause(&mut self, port_id: PortId, class: u8, rises: bool) {
        let switch = &self.switches[self.links.ports[port_id].switch()];
        if !self.ingress(port_id, class).pausing {
            if switch.has_checks() {
                return;
            }
            self.set_pausing(port_id, class, true);
            self.note_pause(port_id, class, true);
            self.request_pfc(port_id, class);
            self.arm_refresh(port_id, class);
        } else if let Signalling::Timed { per_arrival, resume: ResumeAt::Departures, .. } = switch.signalling
            && (per_arrival || rises)
        {
            // Between XON and XOFF the pause was not refreshed and may have run out.
            self.request_pfc(port_id, class);
        }
    }

    /// An ingress that has paused its upstream is at XON.
    #[cold]
    #[inline(never)]
    pub(crate) fn ask_resume(&mut self, port_id: PortId, class: u8) {
        if !self.switches[self.links.ports[port_id].switch()].has_checks() {
            self.resume_upstream(port_id, class);
        }
    }

    fn resume_upstream(&mut self, port_id: PortId, class: u8) {
        self.set_pausing(port_id, class, false);
        self.note_pause(port_id, class, false);
        self.request_pfc(port_id, class);
    }

    /// Records whether an ingress keeps its upstream paused; returns whether it did.
    pub(crate) fn set_pausing(&mut self, port_id: PortId, class: u8, pausing: bool) -> bool {
        let local = usize::from(self.local(port_id));
        self.switches[self.links.ports[port_id].switch()].buffer.set_pausing(local, class, pausing)
    }

    pub(crate) fn note_pause(&mut self, port_id: PortId, class: u8, pause: bool) {
        if self.plan.run.record_pauses {
            let ingress_bytes = self.ingress(port_id, class).bytes;
            let (at, port) = (self.now, self.links.ports[port_id].name);
            self.records.pause_ranks.extend(self.records.rank);
            self.records.pauses.push(PauseRecord { at, port, class, pause, refresh: false, ingress_bytes });
        }
    }

    /// Records that the PAUSE of the classes of a bit mask is repeated.
    #[cold]
    #[inline(never)]
    fn note_refreshes(&mut self, port_id: PortId, classes: u8) {
        let port = &self.links.ports[port_id];
        if port.has(AT_HOST) {
            return;
        }
        let (at, port) = (self.now, port.name);
        for class in (0..self.classes as u8).filter(|class| classes & (1 << class) != 0) {
            let ingress_bytes = self.ingress(port_id, class).bytes;
            self.records.pause_ranks.extend(self.records.rank);
            self.records.pauses.push(PauseRecord { at, port, class, pause: true, refresh: true, ingress_bytes });
        }
    }

    /// A PFC frame about this class leaves as soon as its port is free: before all queues.
    fn request_pfc(&mut self, port_id: PortId, class: u8) {
        if let Some(shared_random) = &self.compat.shared_random {
            shared_random.skip();
        }
        let on_off = self.switches[self.links.ports[port_id].switch()].signalling == Signalling::OnOff;
        if self.compat.eager && on_off {
            let pause = self.ingress(port_id, class).pausing;
            self.compat.pfc_frames.entry(port_id).or_default().push_back((class, pause));
        }
        self.links.ports[port_id].pfc_due |= 1 << class;
        self.expect_free(port_id);
    }

    /// Sends one PFC frame with the state of every class that is due.
    pub(crate) fn send_pfc(&mut self, port_id: PortId) {
        if let Some(frame) = self.make_pfc(port_id) {
            self.transmit_link_local(port_id, &frame);
        }
    }

    /// The PFC frame that is due at a port, if there is anything new to say. Counts it as advertised.
    pub(crate) fn make_pfc(&mut self, port_id: PortId) -> Option<Packet> {
        // A host in a storm signals as its switch does.
        let switch_port = if self.links.ports[port_id].has(AT_HOST) { port_id.peer() } else { port_id };
        let signalling = match self.links.ports[switch_port].has(AT_HOST) {
            true => Signalling::OnOff,
            false => self.switches[self.links.ports[switch_port].switch()].signalling,
        };
        let waiting = self.compat.pfc_frames.get_mut(&port_id);
        let next = waiting.and_then(VecDeque::pop_front);
        let more = self.compat.pfc_frames.get(&port_id).is_some_and(|frames| !frames.is_empty());
        let port = &mut self.links.ports[port_id];
        let mut due = std::mem::take(&mut port.pfc_due);
        let mut on = 0u8;
        if let Some((class, pause)) = next {
            (due, on) = (1 << class, u8::from(pause) << class);
            // What else waits has frames of its own.
            port.pfc_due = if more { due } else { 0 };
        } else if port.has(AT_HOST) {
            on = self.hosts[port.host()].storm & due;
        } else {
            for class in 0..self.classes as u8 {
                if due & (1 << class) != 0 && self.ingress(port_id, class).pausing {
                    on |= 1 << class;
                }
            }
        }
        let frames = self.watch.frames_mut(port_id);
        // A PAUSE taken back before it left need not be followed by a RESUME.
        due &= on | frames.advertised;
        if due == 0 {
            return None;
        }
        // A repetition of what was already advertised is a refresh.
        let repeated = on & frames.advertised;
        frames.advertised = (frames.advertised & !due) | on;
        let (first, again, off) = ((on & !repeated).count_ones(), repeated.count_ones(), (due & !on).count_ones());
        frames.pause += u64::from(first);
        frames.refresh += u64::from(again);
        frames.resume += u64::from(off);
        self.counters.pause_frames += u64::from(first);
        self.counters.refresh_frames += u64::from(again);
        self.counters.resume_frames += u64::from(off);
        if again > 0 && self.plan.run.record_refreshes {
            self.note_refreshes(port_id, repeated);
        }
        let lasts = match signalling {
            Signalling::OnOff => Time::NEVER,
            Signalling::Timed { pause, .. } => Time::from_ps(pause.ps()),
        };
        Some(Packet::pfc(due, on, lasts, self.links.pfc_frame))
    }

    /// A PFC frame has reached `port_id`: its egress stops or goes on.
    pub(crate) fn on_pfc(&mut self, port_id: PortId, frame: &Packet) {
        let (due, on) = frame.pfc_classes();
        for class in 0..self.classes as u8 {
            if due & (1 << class) == 0 {
                continue;
            }
            let pause = on & (1 << class) != 0;
            let heard = &mut self.watch.frames_mut(port_id).heard;
            *heard = (*heard & !(1 << class)) | u8::from(pause) << class;
            if self.plan.run.record_pfc_frames {
                self.records.frame_ranks.extend(self.records.rank);
                self.records.pfc_frames.push(PfcRecord {
                    at: self.now,
                    port: self.links.ports[port_id].name,
                    class,
                    pause,
                });
            }
            match self.watch.responses.delays.get(port_id) {
                Some(&delay) if delay > Span::ZERO => {
                    let order = Order { due: self.now + delay, pause, lasts: frame.stamp };
                    let queue_id = QueueId::of(port_id, class, self.classes);
                    self.watch.responses.orders.entry(queue_id).or_default().push_back(order);
                    self.push_pause_timer(order.due, port_id, class);
                }
                _ => self.obey(port_id, class, pause, frame.stamp),
            }
        }
    }

    /// What a PFC frame said of a class takes effect.
    fn obey(&mut self, port_id: PortId, class: u8, pause: bool, lasts: Time) {
        if lasts != Time::NEVER {
            // After a RESUME nothing is left to run out.
            let until = if pause { self.now + (lasts - Time::ZERO) } else { Time::NEVER };
            self.egress.history_mut(QueueId::of(port_id, class, self.classes)).paused_until = until;
            if pause {
                self.push_pause_timer(until, port_id, class);
            }
        }
        let port = &self.links.ports[port_id];
        // Frames without a time never let a PAUSE run out: there is nothing to say again.
        if !pause && lasts != Time::NEVER && port.paused & (1 << class) == 0 && port.hooks.has(Hooks::PAUSE) {
            self.cp_resume_again(port_id, class);
        }
        self.set_paused(port_id, class, pause);
    }

    fn push_pause_timer(&mut self, at: Time, port_id: PortId, class: u8) {
        let queue_id = QueueId::of(port_id, class, self.classes);
        let name = self.links.ports[port_id].name * self.classes as u32 + u32::from(class);
        self.queue.push_named(at, kind::PAUSE_TIMER, name, queue_id.get());
    }

    /// A PFC frame that was received takes effect now, or a PAUSE runs out.
    pub(crate) fn on_pause_timer(&mut self, queue_id: QueueId) {
        while let Some(orders) = self.watch.responses.orders.get_mut(&queue_id)
            && let Some(order) = orders.pop_front_if(|order| order.due <= self.now)
        {
            let (port, class) = queue_id.port_and_class(self.classes);
            self.obey(port, class, order.pause, order.lasts);
        }
        if self.egress.history(queue_id).paused_until == self.now {
            let (port, class) = queue_id.port_and_class(self.classes);
            self.set_paused(port, class, false);
        }
    }

    /// Stops or releases one class of an egress.
    pub(crate) fn set_paused(&mut self, port_id: PortId, class: u8, pause: bool) {
        let bit = 1 << class;
        let queue_id = QueueId::of(port_id, class, self.classes);
        let port = &mut self.links.ports[port_id];
        if pause {
            self.watch.last_pause_at(queue_id, self.now);
            if self.egress.history(queue_id).storm == Storm::Forwarding {
                return;
            }
        }
        if (port.paused & bit != 0) == pause {
            if !pause {
                self.hear_resume_again(port_id);
            }
            return;
        }
        port.paused ^= bit;
        let history = self.egress.history_mut(queue_id);
        if pause {
            history.paused_since = self.now;
        } else {
            history.paused_total += self.now - history.paused_since;
            port.flags |= MARKED_OR_RESUMED;
        }
        if port.hooks.has(Hooks::PAUSE) {
            self.cp_pause_change(port_id, class);
        }
        if !pause {
            self.expect_free_if_waiting(port_id);
            if self.links.ports[port_id].has(HAS_SHAPED_WAITERS) {
                self.serve_round_robin(port_id);
            }
        }
    }

    pub(crate) fn expect_free_if_waiting(&mut self, port_id: PortId) {
        let port = &self.links.ports[port_id];
        if port.has(SCANS) {
            self.serve_scan(port_id);
        } else if port.waiting & !port.paused != 0 && !port.has(DOWN) {
            self.expect_free(port_id);
        }
    }

    /// Timed signalling: schedules the next refresh of a PAUSE, unless one is scheduled.
    pub(crate) fn arm_refresh(&mut self, port_id: PortId, class: u8) {
        let refreshing = &mut self.watch.frames_mut(port_id).refreshing;
        if let Signalling::Timed { refresh, .. } = self.switches[self.links.ports[port_id].switch()].signalling
            && *refreshing & (1 << class) == 0
        {
            *refreshing |= 1 << class;
            self.push_refresh(self.now + refresh, port_id, class);
        }
    }

    fn push_refresh(&mut self, at: Time, port_id: PortId, class: u8) {
        let name = self.switches[self.links.ports[port_id].switch()].ingress_name(self.local(port_id), class);
        let ingress = QueueId::of(port_id, class, self.classes);
        self.queue.push_named(at, kind::PFC_REFRESH, name, ingress.get());
    }

    /// Timed signalling: repeats the PAUSE of an ingress (port, class) that is above XOFF.
    pub(crate) fn on_pfc_refresh(&mut self, ingress: QueueId) {
        let (port_id, class) = ingress.port_and_class(self.classes);
        let switch = &mut self.switches[self.links.ports[port_id].switch()];
        if switch.has_checks() {
            let due = |check: &PfcCheck| check.ingress == ingress && check.at == self.now;
            // A check that was put off since has another time now.
            if let Some(place) = switch.checks.iter().position(due) {
                let check = switch.checks.remove(place);
                self.check_ingress(port_id, class, check.egress);
            }
            return;
        }
        self.watch.frames_mut(port_id).refreshing &= !(1 << class);
        if !self.ingress(port_id, class).pausing {
            return;
        }
        if self.buffer_of(port_id).is_above_xoff(usize::from(self.local(port_id)), class) {
            self.request_pfc(port_id, class);
        }
        self.arm_refresh(port_id, class);
    }

    /// A packet bound for `egress` has been stored, and may have left again.
    #[inline]
    pub(crate) fn check_arrival(&mut self, egress: PortId, packet: &Packet) {
        if self.links.ports[egress].has(CHECKS) {
            let switch = &self.switches[self.links.ports[egress].switch()];
            let local = usize::from(packet.ingress);
            if switch.buffer.ingress(local, packet.class).lossless {
                self.check_ingress(switch.ports[local], packet.class, egress);
            }
        }
    }

    /// Checks an ingress for an egress: above XOFF its upstream is paused, once more if it was before, and another
    /// check is scheduled; at or below XON it is resumed.
    #[cold]
    #[inline(never)]
    fn check_ingress(&mut self, port_id: PortId, class: u8, egress: PortId) {
        let ingress = QueueId::of(port_id, class, self.classes);
        let local = usize::from(self.local(port_id));
        let switch = &mut self.switches[self.links.ports[port_id].switch()];
        let Signalling::Timed { refresh, .. } = switch.signalling else { return };
        let resume = switch.buffer.may_resume(local, class);
        if !resume && !switch.buffer.is_above_xoff(local, class) {
            return;
        }
        switch.checks.retain(|check| (check.ingress, check.egress) != (ingress, egress));
        if resume {
            self.resume_upstream(port_id, class);
            return;
        }
        let first = !switch.buffer.set_pausing(local, class, true);
        let at = self.now + refresh;
        switch.checks.push(PfcCheck { ingress, egress, at });
        self.push_refresh(at, port_id, class);
        if first {
            self.note_pause(port_id, class, true);
        }
        self.request_pfc(port_id, class);
    }
}
