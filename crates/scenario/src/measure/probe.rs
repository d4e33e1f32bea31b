//! The quantities that probes sample: their names and units.

use xoff_fabric::record::Metric;

/// How a metric is called, and in what unit it is shown.
#[derive(Clone, Copy, Debug)]
pub struct MetricFacts {
    /// Name in the column `metric` of `series.parquet`.
    pub name: &'static str,
    /// `1` for shares.
    pub unit: &'static str,
    /// From the world's unit to `unit`.
    pub scale: f64,
    /// Whether each class of a port has its own.
    pub per_class: bool,
    /// Whether it is of a flow; otherwise of a port.
    pub of_flow: bool,
    /// A sentence.
    pub meaning: &'static str,
}

/// All of them but the variables of schemes, in the order in which they are described.
pub const METRICS: [Metric; 11] = [
    Metric::QueueBytes,
    Metric::IngressBytes,
    Metric::PortThroughput,
    Metric::PausedFraction,
    Metric::PauseRate,
    Metric::FlowRate,
    Metric::FlowSendRate,
    Metric::FlowThroughput,
    Metric::ShapedBytes,
    Metric::FlowShapedBytes,
    Metric::SwitchBytes,
];

/// The only place that names a metric or gives it a unit.
pub fn facts(metric: Metric) -> MetricFacts {
    let of =
        |name, unit, scale, per_class, of_flow, meaning| MetricFacts { name, unit, scale, per_class, of_flow, meaning };
    match metric {
        Metric::QueueBytes => of("queue", "bytes", 1.0, true, false, "Egress queue of a port and priority."),
        Metric::IngressBytes => {
            of("ingress", "bytes", 1.0, true, false, "Buffered bytes that came in by a port and priority.")
        }
        Metric::PortThroughput => of(
            "port_throughput",
            "Gbps",
            1e-9,
            false,
            false,
            "Wire bits that left a port; of the frame on its way out those that have.",
        ),
        Metric::PausedFraction => {
            of("paused", "1", 1.0, true, false, "Part of the interval in which an egress was paused.")
        }
        Metric::PauseRate => of("pause_rate", "1/s", 1.0, false, false, "PAUSE frames sent by a port."),
        Metric::FlowRate => of(
            "rate",
            "Gbps",
            1e-9,
            false,
            true,
            "Rate that the scheme allowed a flow, in wire bits: its own, or its window per base round trip if less.",
        ),
        Metric::FlowSendRate => {
            of("send_rate", "Gbps", 1e-9, false, true, "Rate at which a flow really sent, in wire bits.")
        }
        Metric::FlowThroughput => {
            of("throughput", "Gbps", 1e-9, false, true, "Rate at which a flow's payload was delivered.")
        }
        Metric::ShapedBytes => {
            of("shaped", "bytes", 1.0, false, false, "Shaped per-flow queues of a gateway bound for a port.")
        }
        Metric::FlowShapedBytes => {
            of("shaped_queue", "bytes", 1.0, false, true, "Shaped queue of a flow at its far gateway.")
        }
        Metric::SwitchBytes => of(
            "buffer",
            "bytes",
            1.0,
            false,
            false,
            "Whole buffer of a switch in use, headroom included; named by the switch's first port.",
        ),
        Metric::Variable(of_scheme) => of(of_scheme.name, of_scheme.unit, 1.0, false, true, of_scheme.meaning),
    }
}
