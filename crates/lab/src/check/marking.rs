//! Whether congestion marks come before PAUSE.
//!
//! Marks start when an egress queue passes the scheme's threshold `kmin`; PAUSE starts when an
//! ingress holds too much. If no queue of a switch marks yet, an ingress holds at most the sum of
//! all thresholds. With static thresholds marks always come first if that sum is below XOFF. With
//! dynamic ones an ingress that holds `used` alone is paused at `alpha * (shared - used)`, so the
//! sum must stay below `alpha * shared / (1 + alpha)`, plus the reserve.

use crate::scenario::{Loaded, budget};
use serde::Serialize;
use xoff_fabric::pfc::{alpha_at, paused_alone};
use xoff_fabric::plan::{Plan, Thresholds, peer};
use xoff_schemes::param::Value;

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
    pub scheme: String,
    pub layer: String,
    pub switches: usize,
    /// The highest marking threshold of a port.
    pub kmin_bytes: u64,
    /// The least that one ingress holds when it is paused, with nothing else in the buffer.
    pub pause_bytes: u64,
    /// All marking thresholds of the switch together.
    pub kmin_sum_bytes: u64,
    pub marks_before_pause: Verdict,
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
        let Some((_, Value::BytesByRate(kmin))) = scheme.values.iter().find(|(param, _)| param.name == "kmin") else {
            continue;
        };
        if scheme.values.no_effect("kmin").is_some() {
            continue;
        }
        for budget in &budgets {
            let ports = &ports_of[budget.node as usize];
            let pause = ports.iter().map(|port| pause_bytes(plan, budget, *port)).min().unwrap_or(0);
            let marks = ports.iter().map(|port| kmin.at_port(plan.direction(*port).rate, Some(pause)));
            let (sum, highest) = (marks.clone().sum::<u64>() * lossless, marks.max().unwrap_or(0));
            let verdict = match () {
                () if sum < pause => Verdict::Always,
                () if highest < pause => Verdict::OnePort,
                () => Verdict::Not,
            };
            let layer = plan.nodes[budget.node as usize].layer.clone();
            let row = Marking {
                scheme: scheme.label.clone(),
                layer,
                switches: 1,
                kmin_bytes: highest,
                pause_bytes: pause,
                kmin_sum_bytes: sum,
                marks_before_pause: verdict,
            };
            match rows.iter_mut().find(|known| Marking { switches: 1, ..(*known).clone() } == row) {
                Some(known) => known.switches += 1,
                None => rows.push(row),
            }
        }
    }
    rows
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
