//! What every port and flow did, window by window: enough to replay a run.

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
    pub ports: Vec<PortWindow>,
    /// Rows by window, then by flow.
    pub flows: Vec<FlowWindow>,
}

impl Activity {
    /// When a window ends, if the run does not before.
    pub fn end_of(&self, window: u32) -> Time {
        Time::from_ps((u64::from(window) + 1).saturating_mul(self.every.ps()))
    }
}
