//! Whether congestion marks come before PAUSE.
//!
//! Marks start when an egress queue passes the scheme's threshold `kmin`; PAUSE starts when an
//! ingress holds too much. If no queue of a switch marks yet, an ingress holds at most the sum of
//! all thresholds. With static thresholds marks always come first if that sum is below XOFF. With
//! dynamic ones an ingress that holds `used` alone is paused at `alpha * (shared - used)`, so the
//! sum must stay below `alpha * shared / (1 + alpha)`, plus the reserve.

use crate::number::bytes;
use crate::{Loaded, budget};
use serde::Serialize;
use xoff_catalogue::param::{BytesByRate, ParamValues, Value};
use xoff_engine::BitRate;
use xoff_fabric::pfc::{alpha_at, paused_alone};
use xoff_fabric::plan::{Plan, Thresholds, peer};

/// Whether a queue is marked before its ingress sends PAUSE.
#[derive(Clone, Copy, Debug, Serialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// However congestion is spread, marks come first.
    Always,
    /// Marks come first while one port is congested; several at once may pause first.
    OnePort,
    /// PAUSE may come first at a single congested port.
    Not,
}

/// Switches of one layer that are alike in this.
#[derive(Clone, Debug, Serialize, PartialEq)]
pub struct Marking {
    /// The name traffic calls it by.
    pub scheme: String,
    /// `leaf`, `spine` and so on.
    pub layer: String,
    pub(crate) switches: usize,
    /// The highest marking threshold of a port.
    pub kmin_bytes: u64,
    /// The least that one ingress holds when it is paused, with nothing else in the buffer.
    pub pause_bytes: u64,
    /// All marking thresholds of the switch together.
    pub(crate) kmin_sum_bytes: u64,
    /// How many queues may be congested at once, however they are fed, so that marks still come first.
    pub(crate) queues_marked_first: u64,
    /// How far that can be relied on.
    pub marks_before_pause: Verdict,
    /// What would let marks come first at a single congested port; empty where they do.
    pub remedy: String,
}

/// One row per scheme with a `kmin` and kind of switch; empty where no class is lossless.
pub fn rows(loaded: &Loaded) -> Vec<Marking> {
    let plan = &loaded.plan;
    let mut rows: Vec<Marking> = Vec::new();
    let lossless = plan.classes.list.iter().filter(|class| class.lossless).count() as u64;
    if lossless == 0 {
        return rows;
    }
    let mut ports_of: Vec<Vec<u32>> = vec![Vec::new(); plan.nodes.len()];
    for port in 0..plan.ports() as u32 {
        ports_of[plan.node_of(port) as usize].push(port);
    }
    let budgets = budget::budgets(plan, loaded.frame_bytes);
    for scheme in &loaded.schemes {
        let marking = scheme.values.base().and_then(threshold).or_else(|| threshold(&scheme.values));
        let Some(kmin) = marking else { continue };
        for budget in &budgets {
            let ports = &ports_of[budget.node as usize];
            let pause = ports.iter().map(|port| pause_bytes(plan, budget, *port)).min().unwrap_or(0);
            let marks: Vec<u64> =
                ports.iter().map(|port| kmin.at_port(plan.direction(*port).rate, Some(pause))).collect();
            let (sum, highest) = (marks.iter().sum::<u64>() * lossless, marks.iter().copied().max().unwrap_or(0));
            let queues_marked_first = marked_first(marks, lossless, pause);
            let verdict = match () {
                () if sum < pause => Verdict::Always,
                () if highest < pause => Verdict::OnePort,
                () => Verdict::Not,
            };
            let layer = plan.nodes[budget.node as usize].layer.clone();
            let remedy =
                if verdict == Verdict::Not { remedy(plan, budget, ports, highest, pause) } else { String::new() };
            let row = Marking {
                scheme: scheme.label.clone(),
                layer,
                switches: 1,
                kmin_bytes: highest,
                pause_bytes: pause,
                kmin_sum_bytes: sum,
                queues_marked_first,
                marks_before_pause: verdict,
                remedy,
            };
            match rows.iter_mut().find(|known| Marking { switches: 1, ..(*known).clone() } == row) {
                Some(known) => known.switches += 1,
                None => rows.push(row),
            }
        }
    }
    rows
}

/// The most queues whose thresholds, the highest first, stay below `pause` together; each port has one per lossless class.
fn marked_first(mut marks: Vec<u64>, lossless: u64, pause: u64) -> u64 {
    marks.sort_unstable_by(|a, b| b.cmp(a));
    let mut held = 0u64;
    let each = marks.into_iter().flat_map(|kmin| (0..lossless).map(move |_| kmin));
    each.take_while(|kmin| {
        held = held.saturating_add(*kmin);
        held < pause
    })
    .count() as u64
}

/// Where the switches of a scheme begin to mark, if they do: `kmin` with a `kmax` is RED's.
fn threshold(values: &ParamValues) -> Option<&BytesByRate> {
    let find = |name: &str| values.iter().find(|(param, _)| param.name == name).map(|(_, value)| value);
    let silent = find("mark_at").is_some_and(|at| *at == Value::Choice("never"));
    find("kmax").filter(|_| !silent && values.no_effect("kmin").is_none())?;
    match find("kmin") {
        Some(Value::BytesByRate(kmin)) => Some(kmin),
        _ => None,
    }
}

/// The least changes that put `highest`, the latest mark, before `pause`, the earliest PAUSE.
fn remedy(plan: &Plan, budget: &budget::Budget, ports: &[u32], highest: u64, pause: u64) -> String {
    let profile = plan.nodes[budget.node as usize].profile;
    let fastest = ports.iter().map(|port| plan.direction(*port).rate).max().unwrap_or(BitRate::from_gbps(1));
    let less = format!("kmin below {} (at ports of {fastest})", bytes(pause));
    let more = match plan.switches[usize::from(profile)].pfc.thresholds {
        Thresholds::Static { .. } => format!("[switch.pfc] xoff above {}", bytes(highest)),
        Thresholds::Dynamic { alpha, reserve_bytes, .. } => {
            let alphas = ports.iter().map(|port| alpha_at(alpha, plan.direction(peer(*port)).rate));
            let alpha = alphas.fold(f64::INFINITY, f64::min);
            let shared = highest.saturating_sub(reserve_bytes) as f64 * (1.0 + alpha) / alpha;
            let set_aside = budget.headroom_bytes + budget.promised_bytes;
            format!("[switch] buffer above {}", bytes(shared.ceil() as u64 + set_aside))
        }
    };
    format!("{less}, or {more}")
}

/// What the ingress of `port` holds when it is paused, alone in the switch.
fn pause_bytes(plan: &Plan, budget: &budget::Budget, port: u32) -> u64 {
    let profile = plan.nodes[budget.node as usize].profile;
    match plan.switches[usize::from(profile)].pfc.thresholds {
        Thresholds::Static { xoff_bytes, .. } => xoff_bytes,
        Thresholds::Dynamic { alpha, reserve_bytes, .. } => {
            let alpha = alpha_at(alpha, plan.direction(peer(port)).rate);
            let shared = budget.buffer_bytes.saturating_sub(budget.headroom_bytes + budget.promised_bytes);
            paused_alone(shared, alpha, reserve_bytes)
        }
    }
}
