//! Shaped queues at the gateway into a flow's last domain.
//!
//! Data of a flow whose scheme acts on packets in transit waits there in a queue of its own, is let go at the rate that
//! the scheme's machine says, and only then joins the egress queue. The machine is made when the flow's first packet
//! comes in, from what its headers say.

use crate::agenda::Event;
use crate::context::Context;
use crate::egress::{QueuedFrame, frame_bytes};
use crate::forwarding::{data_of, flow_of};
use crate::shaper::Shaped;
use crate::switch::Switch;
use std::collections::VecDeque;
use xoff_engine::Time;
use xoff_fabric::scheme::{Scheme, Transit};
use xoff_wire::{Roce, RoceKind, Seen, content_of, set_telemetry, telemetry_of};

impl<S: Scheme> Switch<S> {
    /// Whether a frame that came in over a long-haul link is of a flow that is shaped here; makes its machine.
    pub(crate) fn shapes(&mut self, held: &QueuedFrame, schemes: &[S], context: &Context<'_>) -> bool {
        let Some(name) = data_of(&held.seen, context.network) else { return false };
        let domain = |node: u32| context.network.plan.nodes[node as usize].domain;
        if domain(name.dst) != domain(self.node) || domain(name.src) == domain(name.dst) {
            return false;
        }
        if self.shapers.flows.contains_key(&name.id) {
            return true;
        }
        let flow = context.network.flow_id(&name);
        let facts = context.network.facts(&flow, u64::from(name.id), context.now);
        let Some(machine) = schemes[usize::from(name.scheme)].transit(&facts) else { return false };
        let shaped = Shaped {
            machine,
            egress: 0,
            class: 0,
            frames: VecDeque::new(),
            bytes: 0,
            last_at: Time::ZERO,
            last_wire_bytes: 0,
            due: Time::NEVER,
            waits: false,
            came_at: context.now,
        };
        self.shapers.tidy(context.now, context.network.forgets_after());
        self.shapers.flows.insert(name.id, shaped);
        true
    }

    /// Takes a data packet into its flow's queue.
    pub(crate) fn shape(
        &mut self,
        egress: usize,
        class: u8,
        held: QueuedFrame,
        schemes: &[S],
        context: &mut Context<'_>,
    ) {
        let Some(name) = data_of(&held.seen, context.network) else { return };
        if !self.admit(egress, class, &held, context) {
            return;
        }
        let Some(shaped) = self.shapers.flows.get_mut(&name.id) else { return };
        (shaped.egress, shaped.class) = (egress, class);
        shaped.machine.on_arrive(context.now, shaped.bytes);
        shaped.came_at = context.now;
        shaped.bytes += held.size();
        shaped.frames.push_back(held);
        if shaped.frames.len() == 1 {
            self.pump(name.id, schemes, context);
        }
    }

    /// An ACK with feedback leaves the domain: the flow's machine hears it.
    pub(crate) fn snoop_ack(&mut self, held: &QueuedFrame, schemes: &[S], context: &mut Context<'_>) {
        let Seen::Roce(roce @ Roce { what: RoceKind::Ack { .. } | RoceKind::Nak { .. }, .. }) = &held.seen else {
            return;
        };
        let flow = flow_of(roce.queue_pair);
        let scheme = schemes.get(usize::from(roce.scheme)).filter(|_| roce.code != 0);
        let (Some(shaped), Some(scheme)) = (self.shapers.flows.get_mut(&flow), scheme) else { return };
        if let Some(feedback) = scheme.read_content(&content_of(&held.bytes, &held.seen)) {
            shaped.machine.on_ack(context.now, &feedback);
            self.pump(flow, schemes, context);
        }
    }

    /// The time that a flow's queue waited for.
    pub fn on_shaper(&mut self, flow: u32, due: Time, schemes: &[S], context: &mut Context<'_>) {
        if let Some(shaped) = self.shapers.flows.get_mut(&flow).filter(|shaped| shaped.due == due) {
            shaped.due = Time::NEVER;
            self.pump(flow, schemes, context);
        }
    }

    /// Lets go what may go of a flow that does not stand in line.
    fn pump(&mut self, flow: u32, schemes: &[S], context: &mut Context<'_>) {
        loop {
            let Some(shaped) = self.shapers.flows.get_mut(&flow) else { return };
            if shaped.waits || shaped.frames.is_empty() {
                return;
            }
            let at = shaped.next_at();
            if at > context.now {
                if at < shaped.due {
                    shaped.due = at;
                    context.agenda.add(at, Event::Shaper(self.node, flow));
                }
                return;
            }
            let place = (shaped.egress, shaped.class);
            let line = self.shapers.lines.get(&place).is_some_and(|line| !line.is_empty());
            if line || self.must_wait(flow) {
                self.shapers.lines.entry(place).or_default().push_back(flow);
                if let Some(shaped) = self.shapers.flows.get_mut(&flow) {
                    shaped.waits = true;
                }
                return;
            }
            self.let_go(flow, schemes, context);
        }
    }

    /// Whether its egress takes nothing from the flow now.
    fn must_wait(&self, flow: u32) -> bool {
        let Some(shaped) = self.shapers.flows.get(&flow) else { return false };
        let egress = &self.egresses[shaped.egress];
        let full = shaped.machine.yields_at(egress.rate.rate()).max(1);
        egress.paused & 1 << shaped.class != 0 || egress.queues[usize::from(shaped.class)].bytes >= full
    }

    /// Flows that stand in line at an egress are served round-robin while it has room.
    pub(crate) fn serve_round_robin(&mut self, egress: usize, schemes: &[S], context: &mut Context<'_>) {
        if self.shapers.lines.is_empty() {
            return;
        }
        for class in 0..self.egresses[egress].queues.len() as u8 {
            while let Some(&flow) = self.shapers.lines.get(&(egress, class)).and_then(VecDeque::front) {
                if self.must_wait(flow) {
                    break;
                }
                self.shapers.lines.get_mut(&(egress, class)).and_then(VecDeque::pop_front);
                if let Some(shaped) = self.shapers.flows.get_mut(&flow) {
                    shaped.waits = false;
                }
                self.let_go(flow, schemes, context);
                self.pump(flow, schemes, context);
            }
        }
    }

    /// The head of a flow's queue joins the egress queue, or leaves at once if that is idle.
    fn let_go(&mut self, flow: u32, schemes: &[S], context: &mut Context<'_>) {
        let Some(shaped) = self.shapers.flows.get_mut(&flow) else { return };
        let Some(mut held) = shaped.frames.pop_front() else { return };
        let (egress, class) = (shaped.egress, shaped.class);
        shaped.bytes -= held.size();
        (shaped.last_at, shaped.last_wire_bytes) = (context.now, frame_bytes(&held.bytes) + context.network.gap_bytes);
        let Seen::Roce(roce) = &held.seen else { return };
        let multiplier = self.multipliers.get(usize::from(roce.scheme)).copied().flatten();
        let mut stack = telemetry_of(&held.bytes, roce, multiplier);
        shaped.machine.on_release(context.now, shaped.bytes, stack.as_mut());
        if let Some(stack) = stack {
            let written = set_telemetry(&mut held.bytes, roce, &stack, multiplier);
            debug_assert!(written.is_ok(), "telemetry was read from there");
        }
        self.before_queue(egress, class, &mut held, schemes, context);
        if self.egresses[egress].is_idle(class) {
            self.release(&held, class, context);
            self.depart(egress, class, held, context.now, schemes, context);
        } else {
            self.egresses[egress].push(class, held, context.now);
        }
    }
}
