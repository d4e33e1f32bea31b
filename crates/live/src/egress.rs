//! An egress of a NIC or switch: queues by class, PFC state, and the frame that is on the wire.

use crate::agenda::Event;
use crate::context::Context;
use std::collections::VecDeque;
use xoff_engine::{LinkRate, Span, Time};
use xoff_fabric::pfc;
use xoff_fabric::plan::{Classes, Service};
use xoff_fabric::record::{ClassReport, PfcRecord, PortReport};
use xoff_wire::{FCS_BYTES, Seen, pause_span};

/// A frame that waits.
#[derive(Debug)]
pub struct QueuedFrame {
    /// From its Ethernet header on, without FCS.
    pub bytes: Vec<u8>,
    /// What its headers say.
    pub seen: Seen,
    /// Local number of the port it came in by.
    pub ingress: usize,
}

/// Bytes of a frame as buffers count them: with the FCS, which the kernel neither takes nor shows.
pub fn frame_bytes(bytes: &[u8]) -> u32 {
    (bytes.len() + FCS_BYTES) as u32
}

impl QueuedFrame {
    pub fn size(&self) -> u64 {
        u64::from(frame_bytes(&self.bytes))
    }
}

/// One class of an egress.
#[derive(Debug, Default)]
pub struct Queue {
    frames: VecDeque<QueuedFrame>,
    pub bytes: u64,
    peak_bytes: u64,
    /// Bytes times picoseconds until `since`.
    integral: u128,
    since: Time,
    paused_since: Time,
    paused_total: Span,
    pub paused_until: Time,
    /// Packets whose ECN field was changed here.
    pub marks: u64,
    pub drops: u64,
}

impl Queue {
    fn settle(&mut self, now: Time) {
        self.integral += u128::from(self.bytes) * u128::from(now.saturating_since(self.since).ps());
        self.since = self.since.max(now);
    }

    fn push(&mut self, now: Time, held: QueuedFrame) {
        self.settle(now);
        self.bytes += held.size();
        self.peak_bytes = self.peak_bytes.max(self.bytes);
        self.frames.push_back(held);
    }

    fn pop(&mut self, now: Time) -> Option<QueuedFrame> {
        self.settle(now);
        let held = self.frames.pop_front()?;
        self.bytes -= held.size();
        Some(held)
    }

    pub fn len(&self) -> usize {
        self.frames.len()
    }

    pub fn paused(&self, is_paused: bool, now: Time) -> Span {
        self.paused_total + if is_paused { now.saturating_since(self.paused_since) } else { Span::ZERO }
    }
}

/// What a port has said about what it receives.
#[derive(Clone, Copy, Debug, Default)]
pub struct Said {
    /// Classes about which a PFC frame is due.
    pub due: u8,
    /// Classes whose upstream was last told to stop.
    pub advertised: u8,
    /// First PAUSEs, by class that a frame stops.
    pub pause: u64,
    pub refresh: u64,
    pub resume: u64,
}

/// A frame on its way out.
#[derive(Debug)]
pub struct SentFrame {
    /// As it will be handed to the kernel once its last bit has left.
    pub bytes: Vec<u8>,
    pub began: Time,
    /// Bytes it left behind in its queue.
    pub left_bytes: u64,
}

#[derive(Debug)]
pub struct Egress {
    pub port: u32,
    pub rate: LinkRate,
    /// By class.
    pub queues: Vec<Queue>,
    /// Classes that PFC stops.
    pub paused: u8,
    /// PFC frames that it sends.
    pub said: Said,
    wire: Option<SentFrame>,
    pub queued_bytes: u64,
    /// Wire bytes of all frames so far.
    pub tx_bytes: u64,
    tx_packets: u64,
    turns: Drr,
}

impl Egress {
    pub fn new(port: u32, rate: LinkRate, classes: &Classes) -> Egress {
        Egress {
            port,
            rate,
            queues: classes.list.iter().map(|_| Queue::default()).collect(),
            paused: 0,
            said: Said::default(),
            wire: None,
            queued_bytes: 0,
            tx_bytes: 0,
            tx_packets: 0,
            turns: Drr::new(classes),
        }
    }

    pub fn is_busy(&self) -> bool {
        self.wire.is_some()
    }

    /// Whether a frame of this class could leave at once.
    pub fn is_idle(&self, class: u8) -> bool {
        !self.is_busy()
            && self.said.due == 0
            && self.paused & (1 << class) == 0
            && self.queues[usize::from(class)].len() == 0
    }

    /// Classes with frames that wait and may go.
    pub fn eligible(&self) -> u8 {
        self.waiting() & !self.paused
    }

    /// Classes with frames, a bit each.
    pub fn waiting(&self) -> u8 {
        (0..).zip(&self.queues).filter(|(_, queue)| queue.len() > 0).fold(0, |mask, (c, _)| mask | 1 << c)
    }

    pub fn push(&mut self, class: u8, held: QueuedFrame, now: Time) {
        self.queued_bytes += held.size();
        self.queues[usize::from(class)].push(now, held);
    }

    pub fn pop(&mut self, class: u8, now: Time) -> Option<QueuedFrame> {
        let held = self.queues[usize::from(class)].pop(now)?;
        self.queued_bytes -= held.size();
        Some(held)
    }

    /// Whose turn it is among `eligible` classes, of which there is at least one.
    pub fn pick(&mut self, eligible: u8) -> u8 {
        self.turns.pick(eligible)
    }

    /// The first bit of a frame, of a class or of the link's own, leaves at `start`; the last one later, as the link's rate has it.
    pub fn begin(&mut self, class: Option<u8>, bytes: Vec<u8>, start: Time, context: &mut Context<'_>) {
        debug_assert!(self.wire.is_none(), "one frame at a time");
        let frame = frame_bytes(&bytes);
        if let Some(class) = class {
            self.turns.charge(class, frame);
        }
        let wire_bytes = frame + context.network.gap_bytes;
        self.tx_bytes += u64::from(wire_bytes);
        self.tx_packets += 1;
        context.agenda.add(start + self.rate.serialise(wire_bytes), Event::Sent(self.port));
        let left_bytes = class.map_or(0, |class| self.queues[usize::from(class)].bytes);
        self.wire = Some(SentFrame { bytes, began: start, left_bytes });
    }

    /// The last bit of the frame on the wire has left.
    pub fn finish(&mut self) -> Option<SentFrame> {
        self.wire.take()
    }

    /// What a PFC frame says of one priority is written down; the class that obeys it now, unless it does so later.
    pub fn hear_pfc(&mut self, priority: u8, quanta: u16, context: &mut Context<'_>) -> Option<u8> {
        let Some(class) = context.network.class_of(priority) else {
            context.log.ignore("PAUSE of a priority without a class");
            return None;
        };
        let (port, pause) = (self.port, quanta > 0);
        if context.network.plan.run.record_pfc_frames {
            context.log.pfc_frames.push(PfcRecord { at: context.now, port, class, pause });
        }
        let response = pfc::response(&context.network.plan, port);
        if response > Span::ZERO {
            context.agenda.add(context.now + response, Event::Obey(port, class, quanta));
            return None;
        }
        Some(class)
    }

    /// What a PFC frame says of a class takes effect: how long a PAUSE lasts is written down; whether it is one.
    pub fn obey(&mut self, class: u8, quanta: u16, context: &mut Context<'_>) -> bool {
        let pause = quanta > 0;
        if let Some(span) = pause_span(quanta, self.rate.rate()).filter(|_| pause) {
            let until = context.now + span;
            self.queues[usize::from(class)].paused_until = until;
            context.agenda.add(until, Event::PauseOver(self.port, class));
        }
        pause
    }

    /// Stops or releases a class; whether that is a change.
    pub fn set_paused(&mut self, class: u8, pause: bool, now: Time) -> bool {
        if (self.paused & 1 << class != 0) == pause {
            return false;
        }
        self.paused ^= 1 << class;
        let queue = &mut self.queues[usize::from(class)];
        if pause {
            queue.paused_since = now;
        } else {
            queue.paused_total += now.saturating_since(queue.paused_since);
        }
        true
    }

    /// What it did, when the run ends at `end`; ingresses are the owner's to tell.
    pub fn report(&mut self, end: Time, ingress: impl Fn(u8) -> ClassReport) -> PortReport {
        let length = end.ps().max(1) as f64;
        let mut classes = Vec::new();
        for (class, queue) in (0..).zip(&mut self.queues) {
            queue.settle(end);
            classes.push(ClassReport {
                queue_bytes_peak: queue.peak_bytes,
                queue_bytes_mean: queue.integral as f64 / length,
                paused: queue.paused(self.paused & 1 << class != 0, end),
                marks: queue.marks,
                drops: queue.drops,
                ..ingress(class)
            });
        }
        PortReport {
            port: self.port,
            tx_packets: self.tx_packets,
            tx_wire_bytes: self.tx_bytes,
            pause_frames: self.said.pause,
            resume_frames: self.said.resume,
            refresh_frames: self.said.refresh,
            classes,
        }
    }
}

/// Which class sends next: strict ones by priority, then deficit round-robin or plain round-robin.
#[derive(Debug)]
struct Drr {
    services: Vec<Service>,
    deficits: Vec<i64>,
    next: usize,
}

impl Drr {
    fn new(classes: &Classes) -> Drr {
        let services: Vec<Service> = classes.list.iter().map(|class| class.service).collect();
        Drr { deficits: vec![0; services.len()], services, next: 0 }
    }

    fn pick(&mut self, eligible: u8) -> u8 {
        let strict = (0..self.services.len())
            .rev()
            .find(|&class| self.services[class] == Service::Strict && eligible & 1 << class != 0);
        if let Some(class) = strict {
            return class as u8;
        }
        loop {
            let class = self.next;
            let waits = eligible & 1 << class != 0;
            match self.services[class] {
                Service::RoundRobin if waits => return class as u8,
                Service::Weighted(quantum) if waits => {
                    if self.deficits[class] <= 0 {
                        self.deficits[class] += i64::from(quantum);
                    }
                    if self.deficits[class] > 0 {
                        return class as u8;
                    }
                }
                // Nothing to send, nothing saved up; a debt stays.
                _ => self.deficits[class] = self.deficits[class].min(0),
            }
            self.next = (class + 1) % self.services.len();
        }
    }

    fn charge(&mut self, class: u8, bytes: u32) {
        let class = usize::from(class);
        match self.services[class] {
            Service::Strict => return,
            Service::RoundRobin => {}
            Service::Weighted(_) => {
                self.deficits[class] -= i64::from(bytes);
                if self.deficits[class] > 0 {
                    return;
                }
            }
        }
        self.next = (class + 1) % self.services.len();
    }
}
