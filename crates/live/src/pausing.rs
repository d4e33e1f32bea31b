//! PFC signalling of a switch: PAUSE and RESUME frames, their refresh and timers. The buffer decides when
//! ([`xoff_fabric::buffer`]).

use crate::agenda::Event;
use crate::context::Context;
use crate::switch::Switch;
use xoff_engine::Time;
use xoff_fabric::capture::{Body, PfcClass};
use xoff_fabric::packet::Ecn;
use xoff_fabric::plan::{Signalling, peer};
use xoff_fabric::record::PauseRecord;
use xoff_fabric::scheme::{CongestionPoint, Hooks, Scheme};
use xoff_wire::Pfc;

impl<S: Scheme> Switch<S> {
    /// An ingress is above XOFF.
    pub(crate) fn ask_pause(&mut self, local: usize, class: u8, rises: bool, context: &mut Context<'_>) {
        if !self.buffer.set_pausing(local, class, true) {
            self.note(local, class, true, false, context);
            self.request(local, class, context);
            self.arm_refresh(local, class, context);
        } else if let Signalling::Timed { per_arrival, .. } = self.signalling
            && (per_arrival || rises)
        {
            // Between XON and XOFF the pause was not repeated, and may have run out.
            self.request(local, class, context);
        }
    }

    /// An ingress is at or below XON.
    pub(crate) fn resume(&mut self, local: usize, class: u8, context: &mut Context<'_>) {
        self.buffer.set_pausing(local, class, false);
        self.note(local, class, false, false, context);
        self.request(local, class, context);
    }

    fn note(&self, local: usize, class: u8, pause: bool, refresh: bool, context: &mut Context<'_>) {
        let run = &context.network.plan.run;
        if if refresh { run.record_refreshes } else { run.record_pauses } {
            let ingress_bytes = self.buffer.ingress(local, class).bytes;
            context.log.pauses.push(PauseRecord {
                at: context.now,
                port: self.ports[local],
                class,
                pause,
                refresh,
                ingress_bytes,
            });
        }
    }

    /// A PFC frame leaves as soon as the wire is free: before all queues.
    fn request(&mut self, local: usize, class: u8, context: &mut Context<'_>) {
        self.egresses[local].said.due |= 1 << class;
        if !self.egresses[local].is_busy() {
            self.send_pfc(local, context.now, context);
        }
    }

    /// Begins a PFC frame with the state of every class that is due; `false` if there is nothing new to say.
    pub(crate) fn send_pfc(&mut self, local: usize, start: Time, context: &mut Context<'_>) -> bool {
        let said = &mut self.egresses[local].said;
        let due = std::mem::take(&mut said.due);
        let classes = self.egresses[local].queues.len() as u8;
        let on = (0..classes).filter(|class| due & 1 << class != 0 && self.buffer.ingress(local, *class).pausing);
        let on = on.fold(0u8, |mask, class| mask | 1 << class);
        let said = &mut self.egresses[local].said;
        // A PAUSE taken back before it left need not be followed by a RESUME.
        let due = due & (on | said.advertised);
        if due == 0 {
            return false;
        }
        let again = on & said.advertised;
        said.advertised = said.advertised & !due | on;
        let (first, repeated, off) = ((on & !again).count_ones(), again.count_ones(), (due & !on).count_ones());
        said.pause += u64::from(first);
        said.refresh += u64::from(repeated);
        said.resume += u64::from(off);
        context.log.counters.pause_frames += u64::from(first);
        context.log.counters.refresh_frames += u64::from(repeated);
        context.log.counters.resume_frames += u64::from(off);
        for class in (0..classes).filter(|class| again & 1 << class != 0) {
            self.note(local, class, true, true, context);
        }
        let bytes = self.pfc_bytes(local, (due, on), context);
        self.egresses[local].begin(None, bytes, start, context);
        true
    }

    fn pfc_bytes(&self, local: usize, (due, on): (u8, u8), context: &Context<'_>) -> Vec<u8> {
        let plan = &context.network.plan;
        let of_class = |class: u8| PfcClass {
            class,
            pause: on & 1 << class != 0,
            ingress: Some((self.buffer.ingress(local, class).bytes, self.buffer.xoff(local, class))),
        };
        let port = self.ports[local];
        let classes = (0..self.egresses[local].queues.len() as u8).filter(|class| due & 1 << class != 0);
        let body = Body::Pfc {
            classes: classes.map(of_class).collect(),
            lasts: match self.signalling {
                Signalling::OnOff => None,
                Signalling::Timed { pause, .. } => Some(pause),
            },
            rate: plan.direction(peer(port)).rate,
        };
        let frame_bytes = plan.hosts.first().map_or(64, |host| host.sizes.pfc_bytes);
        context.bytes_of(port, frame_bytes, 0, Ecn::NotCapable, body)
    }

    fn arm_refresh(&mut self, local: usize, class: u8, context: &mut Context<'_>) {
        let place = self.place(local, class);
        if let Signalling::Timed { refresh, .. } = self.signalling
            && !std::mem::replace(&mut self.refreshing[place], true)
        {
            context.agenda.add(context.now + refresh, Event::Refresh(self.ports[local], class));
        }
    }

    /// Timed signalling: the PAUSE is repeated while its ingress is above XOFF.
    pub fn on_refresh(&mut self, port: u32, class: u8, context: &mut Context<'_>) {
        let local = self.local(port);
        let place = self.place(local, class);
        self.refreshing[place] = false;
        if !self.buffer.ingress(local, class).pausing {
            return;
        }
        if self.buffer.is_above_xoff(local, class) {
            self.request(local, class, context);
        }
        self.arm_refresh(local, class, context);
    }

    /// A PFC frame has come: the egress of its port stops or goes on.
    pub(crate) fn on_pfc(&mut self, local: usize, pfc: &Pfc, schemes: &[S], context: &mut Context<'_>) {
        for (priority, quanta) in pfc.priorities() {
            if let Some(class) = self.egresses[local].hear_pfc(priority, quanta, context) {
                self.obey(local, class, quanta, schemes, context);
            }
        }
    }

    pub fn obey(&mut self, local: usize, class: u8, quanta: u16, schemes: &[S], context: &mut Context<'_>) {
        let pause = self.egresses[local].obey(class, quanta, context);
        let timed = matches!(self.signalling, Signalling::Timed { .. });
        if !pause && timed && self.egresses[local].paused & 1 << class == 0 && self.hooks.has(Hooks::PAUSE) {
            let view = self.view(local, class, context.now);
            self.tell_points(local, class, |cp| cp.on_resume_again(&view));
            self.after_points(local, class, schemes, context);
        }
        self.set_paused(local, class, pause, schemes, context);
    }

    /// A PAUSE that was to end at `due` runs out, unless it was prolonged.
    pub fn on_pause_over(&mut self, port: u32, class: u8, due: Time, schemes: &[S], context: &mut Context<'_>) {
        let local = self.local(port);
        if self.egresses[local].queues[usize::from(class)].paused_until == due {
            self.set_paused(local, class, false, schemes, context);
        }
    }

    fn set_paused(&mut self, local: usize, class: u8, pause: bool, schemes: &[S], context: &mut Context<'_>) {
        if !self.egresses[local].set_paused(class, pause, context.now) {
            return;
        }
        if self.hooks.has(Hooks::PAUSE) {
            let view = self.view(local, class, context.now);
            self.tell_points(local, class, |cp| cp.on_pause_change(&view));
            self.after_points(local, class, schemes, context);
        }
        if !pause {
            self.serve(local, context.now, schemes, context);
            self.serve_round_robin(local, schemes, context);
        }
    }

    /// Tells those congestion points of a port and class that listen to pauses.
    fn tell_points(&mut self, local: usize, class: u8, tell: impl Fn(&mut S::Cp)) {
        for slot in 0..self.multipliers.len() as u8 {
            let place = self.point_at(local, class, slot);
            if self.points[place].hooks().has(Hooks::PAUSE) {
                tell(&mut self.points[place].cp);
            }
        }
    }
}
