//! SAR, switch-level adaptive routing (section 6): when to detour, and the flowlets that keep to it.

use super::Params;
use crate::parts::flow_table::FlowTable;
use xoff_engine::{Span, Time};

/// Notifications that a trigger can ask for at most.
pub const MOST_NOTIFICATIONS: usize = 8;

impl Params {
    /// An output queue longer than this is one of the two triggers.
    pub(super) fn full_bytes(&self) -> u64 {
        (self.sar_fill * self.queue_size as f64) as u64
    }
}

/// The last notifications of one port.
#[derive(Clone, Copy, Debug, Default)]
pub struct Notifications {
    at: [Option<Time>; MOST_NOTIFICATIONS],
    next: u8,
}

impl Notifications {
    pub fn note(&mut self, now: Time) {
        self.at[usize::from(self.next)] = Some(now);
        self.next = (self.next + 1) % MOST_NOTIFICATIONS as u8;
    }

    pub fn within(&self, now: Time, span: Span) -> usize {
        self.at.iter().flatten().filter(|&&at| now.saturating_since(at) <= span).count()
    }
}

/// A flow that was moved, and since when it is silent.
#[derive(Clone, Copy, Debug, Default)]
struct Flowlet {
    port: u16,
    last: Time,
    gap: Span,
}

/// The flows that a switch has moved.
#[derive(Clone, Debug, Default)]
pub struct Flowlets {
    table: FlowTable<Flowlet>,
}

impl Flowlets {
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.table.is_empty()
    }

    /// The port a flow was moved to, if it has not paused since; the packet at hand counts.
    pub fn follow(&mut self, flow: u32, now: Time) -> Option<u16> {
        let flowlet = self.table.get_mut(flow)?;
        if now.saturating_since(flowlet.last) > flowlet.gap {
            self.table.remove(flow);
            return None;
        }
        flowlet.last = now;
        Some(flowlet.port)
    }

    pub fn port(&self, flow: u32) -> Option<u16> {
        self.table.get(flow).map(|flowlet| flowlet.port)
    }

    pub fn forget(&mut self, flow: u32) {
        self.table.remove(flow);
    }

    pub fn move_to(&mut self, flow: u32, port: u16, gap: Span, now: Time) {
        *self.table.entry(flow, || Flowlet { port, last: now, gap }) = Flowlet { port, last: now, gap };
    }

    /// Drops flows silent for longer than their gap; when to look again, if any are left.
    pub fn purge(&mut self, now: Time) -> Option<Time> {
        self.table.retain(|_, flowlet| now.saturating_since(flowlet.last) <= flowlet.gap);
        self.table.iter().map(|(_, flowlet)| flowlet.last + flowlet.gap + Span::from_ps(1)).min()
    }
}
