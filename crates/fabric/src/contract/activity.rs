//! What every port and flow did, window by window: enough to replay a run.

pub use super::rows::Rows;
use super::rows::{Row, VALUES};
use xoff_engine::{Span, Time};

/// What a port did in one window. There is none where all of it would be zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PortWindow {
    /// The window's number: it is the time from `window` times [`Activity::every`] on.
    pub window: u32,
    /// The port.
    pub port: u32,
    /// Wire bytes sent.
    pub tx_bytes: u64,
    /// Bytes waiting in all its queues at the end of the window.
    pub queue_bytes: u64,
    /// How long PFC stopped it; of several classes the one that was stopped longest.
    pub paused: Span,
    /// Packets that its queues marked.
    pub marks: u64,
}

/// A port while a run goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PortNow {
    /// Wire bytes sent since the start.
    pub tx_bytes: u64,
    /// Bytes waiting in all its queues.
    pub queue_bytes: u64,
    /// PFC stops one of its classes.
    pub paused: bool,
}

/// A network whose ports can be looked at while it runs.
pub trait PortsNow {
    /// What a port of the plan has done so far, and what it does now.
    fn port_now(&self, port: u32) -> PortNow;
}

/// What a flow did in one window at whose end it was alive.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FlowWindow {
    /// Number of the window: [`PortWindow::window`].
    pub window: u32,
    /// [`crate::contract::record::FlowRecord::id`] of the flow.
    pub flow: u32,
    /// Wire bytes put on the wire by its NIC.
    pub sent_wire_bytes: u64,
    /// Payload delivered to the receiver in order.
    pub delivered_bytes: u64,
    /// What its scheme allows at the end of the window, in wire bits per second.
    pub allowed_bps: f64,
    /// Congestion notifications that reached the sender.
    pub notifications: u64,
    /// Packets that arrived with a congestion mark.
    pub marked: u64,
}

/// A whole run.
#[derive(Clone, Debug, PartialEq)]
pub struct Activity {
    /// Length of a window. The last one may be shorter: the run ends amid it.
    pub every: Span,
    /// The end of the run.
    pub until: Time,
    /// Rows by window, then by port.
    pub ports: Rows<PortWindow>,
    /// Rows by window, then by flow.
    pub flows: Rows<FlowWindow>,
}

impl Row for PortWindow {
    #[inline]
    fn place(&self) -> (u32, u32) {
        (self.window, self.port)
    }

    #[inline]
    fn values(&self) -> [u64; VALUES] {
        [self.tx_bytes, self.queue_bytes, self.paused.ps(), self.marks, 0]
    }

    #[inline]
    fn of((window, port): (u32, u32), [tx_bytes, queue_bytes, paused, marks, _]: [u64; VALUES]) -> PortWindow {
        PortWindow { window, port, tx_bytes, queue_bytes, paused: Span::from_ps(paused), marks }
    }
}

impl Row for FlowWindow {
    #[inline]
    fn place(&self) -> (u32, u32) {
        (self.window, self.flow)
    }

    #[inline]
    fn values(&self) -> [u64; VALUES] {
        // Round numbers such as the rate of a link end with zeros, which are the highest bytes here.
        let allowed = self.allowed_bps.to_bits().swap_bytes();
        [self.sent_wire_bytes, self.delivered_bytes, allowed, self.notifications, self.marked]
    }

    #[inline]
    fn of((window, flow): (u32, u32), values: [u64; VALUES]) -> FlowWindow {
        let [sent_wire_bytes, delivered_bytes, allowed, notifications, marked] = values;
        let allowed_bps = f64::from_bits(allowed.swap_bytes());
        FlowWindow { window, flow, sent_wire_bytes, delivered_bytes, allowed_bps, notifications, marked }
    }
}

impl Activity {
    /// Nothing yet, in windows of so long.
    pub fn new(every: Span) -> Activity {
        Activity { every, until: Time::ZERO, ports: Rows::default(), flows: Rows::default() }
    }

    /// When a window ends, if the run does not before.
    pub fn end_of(&self, window: u32) -> Time {
        Time::from_ps((u64::from(window) + 1).saturating_mul(self.every.ps()))
    }
}
