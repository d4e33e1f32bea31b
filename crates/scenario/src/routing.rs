//! `[routing]`: which way packets take among equal-cost paths, and who chooses it.

use super::diagnostic::Diagnostic;
use super::dictionary::words::{self, Mode};
use super::reader::{Result, Table, Text, list};
use super::schemes::NamedScheme;
use xoff_catalogue::param::PathSupport;
use xoff_engine::Span;
use xoff_fabric::edge_routing::HOPS_MOST;
use xoff_fabric::network::extent::longest_path;
use xoff_fabric::plan::{
    AckPath, AdaptiveSettings, ConWeaveSettings, CongaSettings, Dialect, DrillSettings, EdgeRouting, Forwarding, Hash,
    HashFields, NextHopRule, PathMap, PathRule, Plan, PlbSettings, Recovery,
};
use xoff_fabric::scheme::{Format, Transport};

/// What a path is chosen for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Spreading {
    /// A flow, which keeps its path or changes it now and then.
    Flow,
    /// Packets between two pauses of a flow.
    Flowlet,
    /// Packet by packet.
    Packet,
}

/// What `[routing]` says.
pub(crate) struct Routing {
    pub(crate) mode: Mode,
    pub(crate) forwarding: Forwarding,
    pub(crate) hash: Hash,
    pub(crate) spreading: Spreading,
}

pub(crate) fn read(table: &mut Table) -> Result<Routing> {
    let mode = table.choice("mode", words::ROUTING)?;
    match mode {
        Mode::Ecmp => {
            let hash = read_hash(table)?;
            Ok(Routing { mode, forwarding: Forwarding::default(), hash, spreading: Spreading::Flow })
        }
        Mode::Spray if table.is("spray_at", "switch")? => Ok(by_switches(mode, NextHopRule::Spray, None)),
        Mode::Spray => by_sender(table, mode, PathRule::Spray),
        Mode::Oblivious => by_sender(table, mode, PathRule::Oblivious),
        Mode::Bitmap => by_sender(table, mode, PathRule::Bitmap),
        Mode::Reps => by_sender(table, mode, PathRule::Reps),
        Mode::Mixed => by_sender(table, mode, PathRule::Mixed),
        Mode::Mrc => by_sender(table, mode, PathRule::Mrc),
        Mode::Plb => {
            let settings = read_plb(table)?;
            by_sender(table, mode, PathRule::Plb(settings))
        }
        Mode::Adaptive => {
            let settings = read_adaptive(table)?;
            Ok(by_switches(mode, NextHopRule::Adaptive(settings), settings.flowlet_gap))
        }
        Mode::RoundRobin => Ok(by_switches(mode, NextHopRule::RoundRobin, None)),
        Mode::Drill => {
            let samples = table.count("samples", 1..=64)? as u8;
            let settings = DrillSettings { samples, memory: table.count("memory", 0..=64)? as u8 };
            Ok(by_switches(mode, NextHopRule::Drill(settings), None))
        }
        Mode::LetFlow => {
            let gap = table.interval("flowlet_gap")?;
            Ok(by_switches(mode, NextHopRule::LetFlow(gap), Some(gap)))
        }
        Mode::Conga => {
            let settings = read_conga(table)?;
            Ok(by_edges(mode, EdgeRouting::Conga(settings), Spreading::Flowlet))
        }
        // Its receivers' switches put packets in order, as far as they have queues for it.
        Mode::ConWeave => {
            let settings = read_conweave(table)?;
            Ok(by_edges(mode, EdgeRouting::ConWeave(settings), Spreading::Flowlet))
        }
    }
}

fn by_edges(mode: Mode, rule: EdgeRouting, spreading: Spreading) -> Routing {
    Routing { mode, forwarding: Forwarding::by_edges(rule), hash: Hash::default(), spreading }
}

/// The rules of a mode as another simulator has them.
pub(crate) fn in_dialect(forwarding: Forwarding, dialect: Dialect) -> Forwarding {
    if dialect != Dialect::ConWeave {
        return forwarding;
    }
    let (next_hop, edge) = match (forwarding.next_hop, forwarding.edge) {
        (Some(NextHopRule::Drill(_)), _) => (Some(NextHopRule::DrillShuffled), None),
        (Some(NextHopRule::LetFlow(gap)), _) => (Some(NextHopRule::Ecmp), Some(EdgeRouting::LetFlow(gap))),
        (next_hop, Some(EdgeRouting::Conga(settings))) => {
            // Four neighbouring paths, and metrics that show overload.
            (next_hop, Some(EdgeRouting::Conga(CongaSettings { capped: false, compared: 4, ..settings })))
        }
        (next_hop, Some(EdgeRouting::ConWeave(settings))) => {
            // As many queues as it takes, beside the buffer.
            (next_hop, Some(EdgeRouting::ConWeave(ConWeaveSettings { queues: None, counted: false, ..settings })))
        }
        other => other,
    };
    Forwarding { next_hop, edge, ..forwarding }
}

fn read_conga(table: &mut Table) -> Result<CongaSettings> {
    Ok(CongaSettings {
        gap: table.interval("flowlet_gap")?,
        period: table.interval("dre_period")?,
        alpha: table.number("dre_alpha", 0.001..=0.999)?,
        bits: CONGA_BITS,
        capped: true,
        age: table.interval("metric_age")?,
        compared: table.count("compared_paths", 1..=PATHS_MOST)? as usize,
    })
}

/// As many paths as an edge can have, or more.
const PATHS_MOST: u64 = 1 << 20;

/// Bits of CONGA's metric (section 3.6 of its paper).
const CONGA_BITS: u32 = 3;

fn read_conweave(table: &mut Table) -> Result<ConWeaveSettings> {
    Ok(ConWeaveSettings {
        idle: table.interval("idle")?,
        reply_extra: table.interval("reply_extra")?,
        path_pause: table.interval("path_pause")?,
        flush_extra: table.interval("flush_extra")?,
        default_wait: table.interval("default_wait")?,
        queues: Some(table.count("reorder_queues", 0..=10_000)? as u16),
        counted: true,
    })
}

fn by_switches(mode: Mode, rule: NextHopRule, flowlet_gap: Option<Span>) -> Routing {
    let spreading = if flowlet_gap.is_some() { Spreading::Flowlet } else { Spreading::Packet };
    let forwarding = Forwarding { next_hop: Some(rule), ..Forwarding::default() };
    Routing { mode, forwarding, hash: Hash::default(), spreading }
}

/// Most paths of a flow. Each takes memory from the start of the flow to its end.
const ENTROPIES_MOST: u64 = 4096;

fn by_sender(table: &mut Table, mode: Mode, choice: PathRule) -> Result<Routing> {
    let paths = table.count("entropies", 2..=ENTROPIES_MOST)? as u16;
    let rounds = matches!(mode, Mode::Oblivious | Mode::Bitmap | Mode::Mixed | Mode::Mrc);
    if rounds && !paths.is_power_of_two() {
        let error = table.error("entropies", "rounds over entropies need a power of two of them");
        return Err(error.label(format!("{} or {}", paths.next_power_of_two() / 2, paths.next_power_of_two())));
    }
    let path_map = table.choice("entropy_map", words::ENTROPY_MAP)?;
    let hash = match path_map {
        PathMap::Hash => read_hash(table)?,
        PathMap::Path => Hash::default(),
    };
    if !hash.fields.has(HashFields::SOURCE_PORT) {
        let error = table.error("hash_fields", "switches do not see the entropy of packets");
        return Err(error.label("\"source-port\" carries it; or entropy_map = \"path\""));
    }
    let spreading = if mode == Mode::Plb { Spreading::Flow } else { Spreading::Packet };
    let forwarding = Forwarding { paths, path_map, choice, ..Forwarding::default() };
    Ok(Routing { mode, forwarding, hash, spreading })
}

fn read_hash(table: &mut Table) -> Result<Hash> {
    let fields = match table.take_texts("hash_fields")? {
        None => HashFields::default(),
        Some(names) => names.iter().try_fold(HashFields::NONE, |all, name| Ok(all.with(hash_field(name)?)))?,
    };
    Ok(Hash { fields, seeds: table.choice("hash_seed", words::HASH_SEED)? })
}

fn hash_field(name: &Text) -> Result<HashFields> {
    let names = || words::HASH_FIELDS.iter().map(|(name, _)| *name);
    let known = words::HASH_FIELDS.iter().find(|(known, _)| *known == name.value);
    known.map(|(_, field)| *field).ok_or_else(|| {
        let error = name.error(format!("no field is called `{}`", name.value));
        error.label(format!("some of {}", list(names()))).nearest(&name.value, names())
    })
}

fn read_adaptive(table: &mut Table) -> Result<AdaptiveSettings> {
    let flowlets = table.is("per", "flowlet")?;
    Ok(AdaptiveSettings {
        quantum_bytes: table.bytes("quantum", 0..=1 << 30)?,
        skip_paused: table.flag("skip_paused")?,
        tie: table.choice("tie", words::TIE)?,
        flowlet_gap: if flowlets { Some(table.interval("flowlet_gap")?) } else { None },
    })
}

fn read_plb(table: &mut Table) -> Result<PlbSettings> {
    let marked = table.number("marked", 0.004..=1.0)?;
    Ok(PlbSettings {
        rounds: table.count("rounds", 1..=1000)? as u16,
        idle_rounds: table.count("idle_rounds", 1..=1000)? as u16,
        marked_of_256: (marked * 256.0).round() as u16,
    })
}

/// What does not go together with the rest of a scenario, and what is allowed and rarely meant.
pub(crate) fn check(
    root: &Table,
    plan: &Plan,
    (mode, spreading): (Mode, Spreading),
    schemes: &[NamedScheme],
    formats: &[[Format; 2]],
    warnings: &mut Vec<Diagnostic>,
) -> Result<()> {
    let of_mode = || root.place_within("routing", "mode");
    let word = words::ROUTING.iter().find(|(_, known)| *known == mode).map_or("", |(word, _)| *word);
    for scheme in schemes {
        for values in std::iter::once(&scheme.values).chain(scheme.values.base()) {
            let name = values.spec().name;
            let why = match values.path_support() {
                PathSupport::OnePath(why) if spreading == Spreading::Packet => why,
                PathSupport::Ecmp(why) if mode != Mode::Ecmp => why,
                _ => continue,
            };
            return Err(of_mode().error(format!("`{name}` does not run over `{word}`")).label(why));
        }
    }
    check_acks(root, plan, word)?;
    if plan.model.forwarding.edge.is_some() && longest_path(plan) > HOPS_MOST {
        let error =
            of_mode().error(format!("`{word}` needs shorter paths")).label("up to 4 links between two switches");
        return Err(error.help("packets name every switch of their path: two or three tiers"));
    }
    let goes_back = |formats: &[Format; 2]| formats[0].transport == Transport::Roce && !formats[0].reorder;
    let named = |wanted: &dyn Fn(&[Format; 2]) -> bool| -> Vec<&str> {
        let of = schemes.iter().zip(formats).filter(|(_, formats)| wanted(formats));
        of.map(|(scheme, _)| scheme.label.as_str()).collect()
    };
    let (roce, tcp) = (named(&goes_back), named(&|formats| formats[0].transport == Transport::Tcp));
    let impatient = match plan.hosts.first().map(|host| host.recovery) {
        Some(Recovery::Sack(_)) => None,
        Some(Recovery::Irn(_) | Recovery::IrnRewind(_)) => Some("IRN"),
        Some(Recovery::GoBackN) | None => Some("go-back-N"),
    };
    if let Some(rules) = impatient.filter(|_| spreading == Spreading::Packet && !roce.is_empty()) {
        let what = format!("`{word}` reorders packets, and {rules} takes each gap for a loss ({})", roce.join(", "));
        let warning = of_mode().error(what).label("expect many retransmissions");
        warnings.push(warning.help("host.recovery = \"sack\" bears reordering; the columns packets_reordered and packets_retransmitted say how many"));
    }
    if spreading == Spreading::Packet && !tcp.is_empty() {
        let what = format!("`{word}` reorders packets, and three duplicate ACKs are a loss ({})", tcp.join(", "));
        warnings.push(of_mode().error(what).label("expect spurious retransmissions"));
    }
    Ok(())
}

/// ACKs take a way that exists.
fn check_acks(root: &Table, plan: &Plan, word: &str) -> Result<()> {
    let of_acks = || root.place_within("host", "ack_path");
    let forwarding = &plan.model.forwarding;
    match plan.ack_path {
        AckPath::Symmetric if forwarding.next_hop.is_some() => {
            let error = of_acks().error("ACKs cannot retrace the path of their data here");
            Err(error.label(format!("switches choose it, by routing.mode = \"{word}\"")))
        }
        AckPath::Entropy if forwarding.paths == 1 => {
            let error = of_acks().error("packets carry no entropy here");
            Err(error.label("only with a routing.mode in which the sender chooses paths"))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
#[path = "routing_tests.rs"]
mod tests;
