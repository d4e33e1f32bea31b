//! `[routing]`: any mode, with any parameters.

use crate::draw::{Draw, US, bytes, set, time};
use crate::{schemes, table};
use toml::{Table, Value};
use xoff_schemes::param::PathSupport;

/// All modes.
pub const MODES: [&str; 14] = [
    "ecmp",
    "spray",
    "oblivious",
    "reps",
    "bitmap",
    "mixed",
    "plb",
    "adaptive",
    "drill",
    "round-robin",
    "mrc",
    "letflow",
    "conga",
    "conweave",
];

/// Traffic that keeps one path where the rest takes several.
pub fn one_path(draw: &mut Draw, root: &mut Table) {
    let routed = root.contains_key("routing");
    let rows = root.get_mut("traffic").and_then(toml::Value::as_array_mut).filter(|_| routed);
    for row in rows.into_iter().flatten().filter_map(toml::Value::as_table_mut) {
        if draw.one_in(5) {
            set(row, "multipath", false);
        }
    }
}

/// `[routing]`, in one scenario of three; a mode that the scenario's schemes run over, as a rule.
pub fn routing(draw: &mut Draw, root: &mut Table) {
    if !draw.one_in(3) {
        return;
    }
    let support = support(root);
    let choice: &[&str] = match support {
        _ if draw.one_in(40) => &MODES,
        PathSupport::Any | PathSupport::OnePathWith { .. } => &MODES,
        PathSupport::OnePath(_) => &["ecmp", "plb", "letflow", "flowlets", "conga", "conweave"],
        PathSupport::Ecmp(_) => &["ecmp"],
    };
    let mode = *draw.pick(choice);
    let mut routing = table! { mode = if mode == "flowlets" { "adaptive" } else { mode } };
    let by_switches = match mode {
        "spray" if draw.one_in(2) => {
            set(&mut routing, "spray_at", "switch");
            true
        }
        "round-robin" => true,
        "adaptive" => {
            adaptive(draw, &mut routing);
            let flowlets = matches!(support, PathSupport::OnePath(_));
            if flowlets || draw.one_in(4) {
                per_flowlet(draw, &mut routing);
            }
            true
        }
        "flowlets" => {
            adaptive(draw, &mut routing);
            per_flowlet(draw, &mut routing);
            true
        }
        "drill" => {
            set(&mut routing, "samples", draw.between(1, 3) as i64);
            set(&mut routing, "memory", draw.between(0, 2) as i64);
            true
        }
        "letflow" => {
            set(&mut routing, "flowlet_gap", time(draw.between(1, 100) * US / 2));
            true
        }
        "conga" => {
            set(&mut routing, "flowlet_gap", time(draw.between(1, 100) * US / 2));
            set(&mut routing, "dre_period", time(draw.between(5, 50) * US));
            set(&mut routing, "metric_age", time(draw.between(50, 500) * US));
            true
        }
        "conweave" => {
            set(&mut routing, "idle", time(draw.between(10, 300) * US));
            set(&mut routing, "reply_extra", time(draw.between(1, 80) * US / 10));
            set(&mut routing, "flush_extra", time(draw.between(1, 32) * US));
            set(&mut routing, "reorder_queues", draw.between(0, 8) as i64);
            true
        }
        "plb" => {
            set(&mut routing, "rounds", draw.between(1, 6) as i64);
            sender(draw, &mut routing);
            false
        }
        "ecmp" => {
            hash(draw, &mut routing);
            false
        }
        _ => {
            sender(draw, &mut routing);
            false
        }
    };
    let host = root.get_mut("host").and_then(Value::as_table_mut);
    if let Some(host) = host {
        let symmetric = host.get("ack_path").is_some_and(|path| path.as_str() == Some("symmetric"));
        if by_switches && symmetric {
            host.remove("ack_path");
        } else if !by_switches && mode != "ecmp" && !symmetric && draw.one_in(3) {
            set(host, "ack_path", "entropy");
        }
    }
    set(root, "routing", routing);
}

fn adaptive(draw: &mut Draw, routing: &mut Table) {
    if draw.one_in(2) {
        set(routing, "quantum", bytes(draw.between(0, 40) * 500));
    }
    set(routing, "tie", *draw.pick(&["random", "lowest", "hash"]));
    set(routing, "skip_paused", draw.one_in(2));
}

fn per_flowlet(draw: &mut Draw, routing: &mut Table) {
    set(routing, "per", "flowlet");
    set(routing, "flowlet_gap", time(draw.between(1, 100) * US / 2));
}

fn sender(draw: &mut Draw, routing: &mut Table) {
    set(routing, "entropies", 1 << draw.between(1, 7));
    if draw.one_in(3) {
        set(routing, "entropy_map", "path");
    } else if draw.one_in(3) {
        hash(draw, routing);
    }
}

fn hash(draw: &mut Draw, routing: &mut Table) {
    let more = ["source", "destination", "destination-port", "qp"].map(str::to_owned);
    let count = draw.between(0, 4) as usize;
    let mut fields = draw.some(&more, count);
    fields.push("source-port".to_owned());
    set(routing, "hash_fields", fields);
    set(routing, "hash_seed", *draw.pick(&["per-switch", "per-layer", "equal"]));
}

/// What all schemes of a scenario run over.
fn support(root: &Table) -> PathSupport {
    let of = |name: &str| xoff_schemes::find(name).map_or(PathSupport::Any, |spec| spec.paths);
    let rank = |support: &PathSupport| match support {
        PathSupport::Any => 0,
        PathSupport::OnePathWith { .. } => 1,
        PathSupport::OnePath(_) => 2,
        PathSupport::Ecmp(_) => 3,
    };
    schemes::names(root).into_iter().map(of).max_by_key(rank).unwrap_or(PathSupport::Any)
}
