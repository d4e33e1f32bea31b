//! `[model] dialect`: another simulator's rules as a whole, and what they do not go together with.

use super::reader::{Result, Table};
use xoff_fabric::plan::{Dialect, NicScheduler, Plan, Random, Ties};

/// Refuses settings that such rules were not made for.
pub fn check(root: &Table, plan: &Plan) -> Result<()> {
    if plan.model.dialect == Dialect::Own {
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
        return refuse("model.random_streams", "its switches have generators of marks of their own");
    }
    if plan.hosts.iter().any(|host| host.nic.scheduler == NicScheduler::Ready) {
        return refuse("host.scheduler", "its NICs look through their flows: \"scan\"");
    }
    if !plan.faults.is_empty() {
        return refuse("fault", "its links do not fail");
    }
    if plan.seed == 0 || plan.seed > u64::from(u32::MAX) {
        return refuse("seed", "its generators take seeds of 32 bits");
    }
    Ok(())
}
