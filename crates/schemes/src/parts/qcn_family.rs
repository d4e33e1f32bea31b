//! QCN and its fair descendants but for their congestion points: frames, presets, reaction point.
//!
//! They differ in whom a sampled queue tells and what ([`Member`]); everything around that is the
//! same scheme and is declared here once.

use super::qcn_limiter::{self, Limiter};
use super::qcn_sampler::{self, Cnm};
use super::silent_receiver;
use crate::param::{ParamValues, Preset, SchemeSpec, params, presets};
use crate::{Configured, Overlay};
use std::sync::Arc;
use xoff_fabric::scheme::*;

params! {
    /// Parameters of all members.
    pub struct Params {
        ..sampler: qcn_sampler::Params;
        ..limiter: qcn_limiter::Params;
    }
}

/// EtherType of the tag that names a flow to its rate limiter (IEEE 802.1Qau).
const CN_TAG: u16 = 0x22e9;

/// The parameter sets of all members.
pub const PRESETS: &[Preset] = presets! {
    "paper" from "FQCN paper (IEEE Trans. Communications 2013), sections III and VI" {}
    "standard" from "IEEE 802.1Qau, rules of its state machines and defaults of its managed objects" {
        qeq = "26KB", sampling = "bytes", psi_max = "63", keep_target = "true", keep_bytes = "true",
        target_decay = "true", stage_order = "increment-first",
        rate_ai = "5Mbps", rate_hai = "50Mbps", rate_min = "5Mbps",
    }
    "open-sim" from "rate limiter of the DCQCN authors' open simulator with the defaults of its class, which begins as \
                     QCN's; packets are sampled as they leave, where that simulator marks" {
        sample_at = "dequeue", keep_target = "true", keep_bytes = "true", target_decay = "true",
        stage_order = "increment-first", increase_timer = "1500us", byte_counter = "150KB",
        rate_ai = "5Mbps", rate_hai = "50Mbps", rate_min = "100Mbps",
    }
};

/// A congestion point that makes a scheme of the family.
pub trait Member: CongestionPoint<Feedback = Cnm> + Send {
    /// Specification of the whole scheme, [`PRESETS`] included.
    const SPEC: SchemeSpec;
    /// Those of the family, and its own.
    type Params: Send + Sync;

    /// From values of [`Member::SPEC`].
    fn read(values: &ParamValues) -> Self::Params;

    /// Those of the family.
    fn shared(params: &Self::Params) -> &Params;

    /// The congestion point of one queue.
    fn at(params: &Self::Params, facts: &QueueFacts) -> Self;

    /// Why its own parameters make no sense.
    fn validation_error(_: &Self::Params) -> Option<String> {
        None
    }
}

/// A configured scheme of the family.
pub struct Family<M: Member> {
    params: M::Params,
    limiter: Arc<qcn_limiter::Params>,
}

impl<M: Member> Configured for Family<M> {
    const SPEC: SchemeSpec = M::SPEC;

    fn configure(values: &ParamValues) -> Family<M> {
        let params = M::read(values);
        Family { limiter: Arc::new(M::shared(&params).limiter.clone()), params }
    }

    fn validation_error(values: &ParamValues) -> Option<String> {
        let params = M::read(values);
        let Params { sampler, limiter } = M::shared(&params);
        M::validation_error(&params).or_else(|| sampler.validation_error()).or_else(|| limiter.validation_error())
    }
}

/// Below a transport with a window of its own, QCN only shapes: neither knows of the other.
impl<M: Member> Overlay for Family<M> {}

impl<M: Member> Scheme for Family<M> {
    silent_receiver!(Cnm);
    type Cp = M;
    type Rp = Limiter;

    fn congestion_point(&self, at: &QueueFacts) -> M {
        M::at(&self.params, at)
    }
    fn reaction_point(&self, of: &FlowFacts) -> Limiter {
        Limiter::new(&self.limiter, of)
    }
    /// QCN section 2.
    fn format(&self) -> Format {
        let data_bytes = M::shared(&self.params).sampler.cn_tag as u32;
        Format { data_bytes, tag: (data_bytes == 4).then_some(CN_TAG), ..Format::default() }
    }
    fn notification_bytes(&self, _: &Cnm) -> Option<u32> {
        Some(M::shared(&self.params).sampler.cnm_frame as u32)
    }
    fn frame_content(&self, cnm: &Cnm) -> FrameContent {
        let (feedback, says) = (cnm.psi, format!("feedback {}", cnm.psi));
        let (offset_bytes, delta_bytes) = (i64::from(cnm.offset_bytes), i64::from(cnm.delta_bytes));
        FrameContent { carrier: Carrier::Cnm { feedback, offset_bytes, delta_bytes }, says, ..FrameContent::default() }
    }
    fn read_content(&self, content: &FrameContent) -> Option<Cnm> {
        let Carrier::Cnm { feedback: psi, offset_bytes, delta_bytes } = content.carrier else { return None };
        let bytes = |bytes: i64| i32::try_from(bytes).ok();
        Some(Cnm { psi, offset_bytes: bytes(offset_bytes)?, delta_bytes: bytes(delta_bytes)? })
    }
}
