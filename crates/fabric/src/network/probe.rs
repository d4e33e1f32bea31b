//! What is sampled while a run goes on.

use xoff_engine::{Span, Time};

/// A quantity sampled at a fixed interval.
#[derive(Clone, Debug)]
pub struct Probe {
    /// Of what.
    pub what: ProbeTarget,
    /// Between two samples.
    pub every: Span,
    /// First sample.
    pub from: Time,
    /// None after this.
    pub until: Time,
}

/// What a probe samples. Ports are the plan's, classes indices into [`Classes::list`](crate::network::plan::Classes::list).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ProbeTarget {
    /// Egress queue of a port and class: [`crate::contract::record::Metric::QueueBytes`].
    Queue {
        /// Whose egress.
        port: u32,
        /// Index into [`Classes::list`](crate::network::plan::Classes::list).
        class: u8,
    },
    /// Bytes buffered that came in by a port and class: `IngressBytes`.
    Ingress {
        /// By which they came in.
        port: u32,
        /// Index into [`Classes::list`](crate::network::plan::Classes::list).
        class: u8,
    },
    /// Bits per second that left a port in the interval: `PortThroughput`.
    Throughput {
        /// The sending end.
        port: u32,
    },
    /// Fraction of the interval in which an egress (port, class) was paused: `PausedFraction`.
    Paused {
        /// Whose egress.
        port: u32,
        /// Index into [`Classes::list`](crate::network::plan::Classes::list).
        class: u8,
    },
    /// PAUSE frames (first and refreshed) per second sent by a port: `PauseRate`.
    PauseRate {
        /// The one that sends them.
        port: u32,
    },
    /// Bytes that wait in shaped per-flow queues to leave by a port: `ShapedBytes`.
    Shaped {
        /// By which they will leave.
        port: u32,
    },
    /// Bytes in the whole buffer of the switch that owns a port: `SwitchBytes`.
    Buffer {
        /// Any port of the switch.
        port: u32,
    },
    /// Every flow whose [`crate::contract::traffic::FlowSpec::probed`] is set: `FlowRate` (allowed by the
    /// scheme), `FlowSendRate` (put on the wire by the NIC), `FlowThroughput` (delivered) and, if it
    /// has a shaped queue on its way, that queue's `FlowShapedBytes`.
    Flows,
    /// Flows with `probe = true`: the variables that their reaction points publish, each a `Variable`.
    Scheme,
}
