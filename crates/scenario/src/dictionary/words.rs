//! Words that keys of choices take, each with its value.

use xoff_engine::TimeResolution;
use xoff_fabric::plan::{
    AckClass, AckPath, BaseRtt, Collectives, Counting, Dialect, Ecmp, Fidelity, HashFields, HashSeeds, Irn, NextHops,
    PathMap, Recovery, ResumeAt, Rule, Sack, Service, SetAside, Tie, Ties, Unscheduled, WatchdogAction,
};
use xoff_fabric::topology::CoreWiring;
use xoff_jobs::Collective;
use xoff_jobs::collective::{Algorithm, PipelineOrder};

/// Choices of one key, in the order in which they are listed.
pub(crate) type Words<T> = &'static [(&'static str, T)];

/// Names of stacks; their text is in [`crate::stacks`].
pub(crate) const STACK: Words<&str> = crate::stacks::STACKS;

// [model]
pub(crate) const TIME_RESOLUTION: Words<TimeResolution> = &[
    ("1ps", TimeResolution::Exact),
    ("1ns", TimeResolution::Nanosecond),
    ("1ns-binary", TimeResolution::BinaryNanosecond),
];
pub(crate) const EVENT_ORDER: Words<Ties> = &[("hash", Ties::Hash), ("insertion", Ties::Scheduled)];
pub(crate) const ECMP: Words<Ecmp> = &[("mix", Ecmp::Mix), ("murmur3", Ecmp::Murmur3)];
pub(crate) const NEXT_HOPS: Words<NextHops> = &[("by-link", NextHops::ByLink), ("descending", NextHops::Descending)];
pub(crate) const DIALECT: Words<Dialect> =
    &[("none", Dialect::Own), ("conweave", Dialect::ConWeave), ("htsim", Dialect::Htsim)];
pub(crate) const BASE_RTT: Words<BaseRtt> = &[("wire", BaseRtt::Wire), ("payload", BaseRtt::Payload)];

// [run]
pub(crate) const FIDELITY: Words<Fidelity> = &[("packet", Fidelity::Packet), ("flow", Fidelity::Flow)];
pub(crate) const COLLECTIVES: Words<Collectives> =
    &[("auto", Collectives::Auto), ("macro", Collectives::Macro), ("messages", Collectives::Messages)];

// [routing]
/// Rule of a mode, without the parameters that have keys of their own.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Mode {
    Ecmp,
    Spray,
    Oblivious,
    Bitmap,
    Reps,
    Mixed,
    Plb,
    Adaptive,
    Drill,
    RoundRobin,
    Mrc,
    LetFlow,
    Conga,
    ConWeave,
}
pub(crate) const ROUTING: Words<Mode> = &[
    ("ecmp", Mode::Ecmp),
    ("spray", Mode::Spray),
    ("oblivious", Mode::Oblivious),
    ("reps", Mode::Reps),
    ("bitmap", Mode::Bitmap),
    ("mixed", Mode::Mixed),
    ("plb", Mode::Plb),
    ("adaptive", Mode::Adaptive),
    ("drill", Mode::Drill),
    ("round-robin", Mode::RoundRobin),
    ("mrc", Mode::Mrc),
    ("letflow", Mode::LetFlow),
    ("conga", Mode::Conga),
    ("conweave", Mode::ConWeave),
];
pub(crate) const HASH_FIELDS: Words<HashFields> = &[
    ("source", HashFields::SOURCE),
    ("destination", HashFields::DESTINATION),
    ("source-port", HashFields::SOURCE_PORT),
    ("destination-port", HashFields::DESTINATION_PORT),
    ("qp", HashFields::QP),
];
pub(crate) const HASH_SEED: Words<HashSeeds> =
    &[("per-switch", HashSeeds::PerSwitch), ("per-layer", HashSeeds::PerLayer), ("equal", HashSeeds::Equal)];
pub(crate) const ENTROPY_MAP: Words<PathMap> = &[("hash", PathMap::Hash), ("path", PathMap::Path)];
pub(crate) const TIE: Words<Tie> = &[("random", Tie::Random), ("lowest", Tie::Lowest), ("hash", Tie::Hash)];

// [[class]]; the number of a weighted class is read from its own key.
pub(crate) const SERVICE: Words<Service> =
    &[("strict", Service::Strict), ("weighted", Service::Weighted(1)), ("round-robin", Service::RoundRobin)];

// [switch]
pub(crate) const HEADROOM_RULE: Words<Rule> = &[("each", Rule::Dynamic), ("latched", Rule::Latched)];
pub(crate) const ACTIVE_QUEUES: Words<Counting> = &[("current", Counting::Current), ("evaluated", Counting::Evaluated)];
pub(crate) const UNSCHEDULED: Words<Unscheduled> =
    &[("none", Unscheduled::None), ("longest-bdp", Unscheduled::LongestBdp)];
pub(crate) const HEADROOM_RESERVED_PER: Words<SetAside> =
    &[("class", SetAside::Class), ("port", SetAside::Port), ("none", SetAside::Nothing), ("beside", SetAside::Beside)];
pub(crate) const RESUME_AT: Words<ResumeAt> = &[("departures", ResumeAt::Departures), ("checks", ResumeAt::Checks)];
pub(crate) const WATCHDOG_ACTION: Words<WatchdogAction> =
    &[("drop", WatchdogAction::Drop), ("forward", WatchdogAction::Forward)];

// [host]; a cap is that of the longest path, or of the flow's own.
pub(crate) const ACK_CLASS: Words<AckClass> = &[("control", AckClass::Control), ("data", AckClass::WithData)];
pub(crate) const ACK_PATH: Words<AckPath> =
    &[("ecmp", AckPath::Ecmp), ("entropy", AckPath::Entropy), ("symmetric", AckPath::Symmetric)];
pub(crate) const INFLIGHT_CAP: Words<Option<bool>> =
    &[("none", None), ("longest-bdp", Some(true)), ("path-bdp", Some(false))];
/// Settings of a recovery are read from keys of their own.
pub(crate) const RECOVERY: Words<Recovery> = &[
    ("go-back-n", Recovery::GoBackN),
    ("irn", Recovery::Irn(Irn::PAPER)),
    ("irn-rewind", Recovery::IrnRewind(Irn::PAPER)),
    ("sack", Recovery::Sack(Sack::UEC)),
];

// [topology]
pub(crate) const CORE_WIRING: Words<CoreWiring> = &[("grouped", CoreWiring::Grouped), ("full", CoreWiring::Full)];
/// Kinds of topology that are made of servers.
pub(crate) const SERVER_KINDS: &[&str] = &["rail", "dual-plane", "server-clos"];
/// All kinds of topology, those of servers last.
pub(crate) const TOPOLOGY_KINDS: &[&str] = &[
    "star",
    "dumbbell",
    "parking-lot",
    "chain",
    "leaf-spine",
    "fat-tree",
    "clos",
    "two-dc",
    "custom",
    SERVER_KINDS[0],
    SERVER_KINDS[1],
    SERVER_KINDS[2],
];
/// Fabrics as they were published.
pub(crate) const PRESETS: &[&str] = &["hpn-7", "meta-roce", "spectrum-x", "dcn-plus"];

// [[traffic]]
pub(crate) const ALGORITHM: Words<Algorithm> = &[
    ("ring", Algorithm::Ring),
    ("tree", Algorithm::Tree),
    ("halving-doubling", Algorithm::HalvingDoubling),
    ("hierarchical", Algorithm::Hierarchical),
];
pub(crate) const SCHEDULE: Words<PipelineOrder> =
    &[("gpipe", PipelineOrder::GPipe), ("1f1b", PipelineOrder::OneForwardOneBackward)];
/// What a step of a job does; a collective is a kind of traffic by itself, too.
pub(crate) const STEP: Words<Option<Collective>> = &[
    ("compute", None),
    ("all-reduce", Some(Collective::AllReduce)),
    ("reduce-scatter", Some(Collective::ReduceScatter)),
    ("all-gather", Some(Collective::AllGather)),
    ("all-to-all", Some(Collective::AllToAll)),
    ("broadcast", Some(Collective::Broadcast)),
    ("reduce", Some(Collective::Reduce)),
    ("barrier", Some(Collective::Barrier)),
];
