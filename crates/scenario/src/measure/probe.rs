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

/// What has a series of its own.
#[derive(PartialEq)]
enum Each {
    Class,
    Port,
    Flow,
}

/// The only place that names a metric or gives it a unit: `Metric of Each: "name" in "unit" times scale, "meaning";`
macro_rules! metrics {
    ($($metric:ident of $each:ident: $name:literal in $unit:literal times $scale:literal, $meaning:literal;)*) => {
        /// All of them but the variables of schemes, in the order in which they are described.
        pub const METRICS: [Metric; NAMES.len()] = [$(Metric::$metric),*];

        /// Their names, in the same order.
        pub(crate) const NAMES: &[&str] = &[$($name),*];

        /// Name, unit and meaning of a metric.
        pub fn facts(metric: Metric) -> MetricFacts {
            let of = |each, name, unit, scale, meaning| {
                let (per_class, of_flow) = (each == Each::Class, each == Each::Flow);
                MetricFacts { name, unit, scale, per_class, of_flow, meaning }
            };
            match metric {
                $(Metric::$metric => of(Each::$each, $name, $unit, $scale, $meaning),)*
                Metric::Variable(variable) => of(Each::Flow, variable.name, variable.unit, 1.0, variable.meaning),
            }
        }
    };
}

metrics! {
    QueueBytes of Class: "queue" in "bytes" times 1.0, "Egress queue of a port and priority.";
    IngressBytes of Class: "ingress" in "bytes" times 1.0, "Buffered bytes that came in by a port and priority.";
    PortThroughput of Port: "port_throughput" in "Gbps" times 1e-9,
        "Wire bits that left a port; of the frame on its way out those that have.";
    PausedFraction of Class: "paused" in "1" times 1.0, "Part of the interval in which an egress was paused.";
    PauseRate of Port: "pause_rate" in "1/s" times 1.0, "PAUSE frames sent by a port.";
    FlowRate of Flow: "rate" in "Gbps" times 1e-9,
        "Rate that the scheme allowed a flow, in wire bits: its own, or its window per base round trip if less.";
    FlowSendRate of Flow: "send_rate" in "Gbps" times 1e-9, "Rate at which a flow really sent, in wire bits.";
    FlowThroughput of Flow: "throughput" in "Gbps" times 1e-9, "Rate at which a flow's payload was delivered.";
    ShapedBytes of Port: "shaped" in "bytes" times 1.0, "Shaped per-flow queues of a gateway bound for a port.";
    FlowShapedBytes of Flow: "shaped_queue" in "bytes" times 1.0, "Shaped queue of a flow at its far gateway.";
    SwitchBytes of Port: "buffer" in "bytes" times 1.0,
        "Whole buffer of a switch in use, headroom included; named by the switch's first port.";
}
