//! HPCC over several paths: records are compared path by path, and the busiest path counts.
//!
//! The paper says only that records of another path are not to be compared with. A flow whose packets take several
//! paths at once would then compare nothing.

use super::limits;
use crate::parts::hpcc_law::{HpccLaw, PathRecords, Settings};
use xoff_fabric::scheme::{Acked, Limits};

/// Window and pacing of one flow.
#[derive(Clone, Debug)]
pub struct Rp {
    pub(super) law: HpccLaw,
    /// lastUpdateSeq
    round_ends_bytes: u64,
    paths: PathRecords,
}

impl Rp {
    pub(super) fn new(settings: &Settings) -> Rp {
        Rp { law: HpccLaw::new(settings), round_ends_bytes: 0, paths: PathRecords::default() }
    }

    pub(super) fn limits(&self) -> Limits {
        limits(&self.law)
    }

    pub(super) fn on_ack(&mut self, ack: &Acked<'_>) {
        let Some(stack) = ack.int else { return };
        let update = ack.acked_bytes > self.round_ends_bytes;
        self.law.on_telemetry_of(&mut self.paths, ack.now, stack, update);
        if update {
            self.round_ends_bytes = ack.sent_bytes;
        }
    }
}
