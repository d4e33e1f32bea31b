//! Slowdowns as the scripts around the HPCC authors' simulator have them, beside ours, in runs by its rules.
//!
//! Theirs is the time until the sender has the last acknowledgement over a standalone time that counts a round trip and
//! one packet twice; ours is the time until the last byte has arrived over what the flow takes alone. Of short flows
//! theirs is much the smaller number.

use super::export::standalone::{Transfer, standalone_ns};
use super::flows::{SIZE_CLASSES, distribution, size_class};
use super::summary::HpccClass;
use xoff_fabric::plan::{BaseRtt, Plan};
use xoff_fabric::record::FlowRecord;

/// The finished flows of such a run.
pub struct HpccSlowdowns {
    plan: Plan,
    /// With the time until the last acknowledgement.
    flows: Vec<(Transfer, u64)>,
}

impl HpccSlowdowns {
    /// Where base round trips are that simulator's; that is one of its rules, and no other scenario's.
    pub fn of(plan: &Plan) -> Option<HpccSlowdowns> {
        (plan.model.base_rtt == BaseRtt::Payload).then(|| HpccSlowdowns { plan: plan.clone(), flows: Vec::new() })
    }

    pub fn flow(&mut self, flow: &FlowRecord) {
        if let (Some(size_bytes), Some(acked)) = (flow.size_bytes, flow.acked_at) {
            let transfer = Transfer { src: flow.src, dst: flow.dst, size_bytes };
            self.flows.push((transfer, acked.saturating_since(flow.start).ps() / 1000));
        }
    }

    /// By the classes of [`Summary::by_size`](super::summary::Summary::by_size) that have flows, then of all.
    pub fn by_size(&self) -> Vec<HpccClass> {
        let transfers: Vec<Transfer> = self.flows.iter().map(|(transfer, _)| *transfer).collect();
        let alone = standalone_ns(&self.plan, &transfers);
        let slowdowns: Vec<(u64, f64)> = (self.flows.iter().zip(alone))
            .filter_map(|((transfer, ns), alone)| Some((transfer.size_bytes, *ns as f64 / alone? as f64)))
            .collect();
        let of = |name: &str, fits: &dyn Fn(u64) -> bool| {
            let slowdown =
                distribution(slowdowns.iter().filter(|(size, _)| fits(*size)).map(|(_, slowdown)| *slowdown));
            HpccClass { name: name.to_owned(), slowdown }
        };
        let classes =
            SIZE_CLASSES.iter().enumerate().map(|(class, (name, _))| of(name, &|size| size_class(size) == class));
        let mut rows: Vec<HpccClass> = classes.filter(|row| row.slowdown.count > 0).collect();
        if rows.len() > 1 {
            rows.push(of("all", &|_| true));
        }
        rows
    }
}
