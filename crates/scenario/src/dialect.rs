//! `[model] dialect`: another simulator's rules as a whole, and what they do not go together with.

use super::reader::{Result, Table};
use super::traffic::TrafficPlan;
use xoff_fabric::plan::{Dialect, NicScheduler, Plan, Random, Recovery, Ties};

/// Refuses settings that such rules were not made for.
pub fn check(root: &Table, plan: &Plan) -> Result<()> {
    let dialect = plan.model.dialect;
    if dialect == Dialect::Own {
        return Ok(());
    }
    let refuse = |key: &str, why: &str| {
        Err(root
            .place_within("model", "dialect")
            .error("this dialect cannot be had here")
            .label(format!("{key}: {why}")))
    };
    if plan.model.ties != Ties::Scheduled {
        return refuse("model.event_order", "its events go by the order of their insertion: \"insertion\"");
    }
    if plan.model.random != Random::Own {
        return refuse("model.random_streams", "it has generators of marks of its own");
    }
    if dialect == Dialect::ConWeave && plan.hosts.iter().any(|host| host.nic.scheduler == NicScheduler::Ready) {
        return refuse("host.scheduler", "its NICs look through their flows: \"scan\"");
    }
    if dialect == Dialect::Htsim {
        if plan.classes.list.iter().any(|class| class.lossless) {
            return refuse("class.lossless", "its queues drop or trim");
        }
        if plan.hosts.iter().any(|host| !matches!(host.recovery, Recovery::Sack(_))) {
            return refuse("host.recovery", "its senders resend packets one by one: \"sack\"");
        }
        if plan.model.forwarding.edge.is_some() {
            return refuse("routing.mode", "its edges choose no paths");
        }
        if plan.run.record_flow_links {
            return refuse("output.flow_links", "its ports do not count flows");
        }
    }
    if !plan.faults.is_empty() {
        return refuse("fault", "its links do not fail");
    }
    if plan.seed == 0 || plan.seed > u64::from(u32::MAX) {
        return refuse("seed", "its generators take seeds of 32 bits");
    }
    Ok(())
}

/// Flows of a run for which a dialect draws before the first begins.
pub fn connections(plan: &Plan, traffic: &[TrafficPlan]) -> u32 {
    match plan.model.dialect {
        Dialect::Htsim => traffic.iter().filter_map(|plan| plan.expected.flows).sum::<f64>() as u32,
        Dialect::Own | Dialect::ConWeave => 0,
    }
}
