//! QCN and its fair descendants but for their congestion points: frames, presets, reaction point.
//!
//! They differ in whom a sampled queue tells and what ([`Member`]); everything around that is the
//! same scheme and stands here once.

use super::qcn_limiter::{self, Limiter, Settings};
use super::qcn_sampler::{self, Cnm};
use crate::param::{ParamSpec, ParamValues, Preset, SchemeSpec, joined};
use crate::{Configured, Overlay};
use std::marker::PhantomData;
use std::sync::Arc;
use xoff_fabric::scheme::*;

/// The parameters of all members: of sampler and limiter.
pub const PARAMS: &[ParamSpec] =
    &joined::<{ qcn_sampler::PARAMS.len() + qcn_limiter::PARAMS.len() }>(&[qcn_sampler::PARAMS, qcn_limiter::PARAMS]);

/// EtherType of the tag that names a flow to its rate limiter (IEEE 802.1Qau).
const CN_TAG: u16 = 0x22e9;

/// The parameter sets of all members.
pub const PRESETS: &[Preset] = &[
    Preset { name: "paper", source: "FQCN paper (IEEE Trans. Communications 2013), sections III and VI", values: &[] },
    Preset {
        name: "standard",
        source: "IEEE 802.1Qau: samples by bytes, six bits of feedback, target kept on back-to-back CNMs",
        values: &[("sampling", "bytes"), ("psi_max", "63"), ("keep_target", "true")],
    },
];

/// A congestion point that makes a scheme of the family. Its parameters are [`PARAMS`] and its own.
pub trait Member: CongestionPoint<Feedback = Cnm> + Send {
    const SPEC: SchemeSpec;

    fn at(values: &ParamValues, facts: &QueueFacts) -> Self;

    /// Why its own parameters make no sense.
    fn objection(_: &ParamValues) -> Option<String> {
        None
    }
}

/// A configured scheme of the family.
pub struct Family<M> {
    values: ParamValues,
    limiter: Arc<Settings>,
    member: PhantomData<fn() -> M>,
}

impl<M: Member> Configured for Family<M> {
    const SPEC: SchemeSpec = M::SPEC;

    fn configure(values: &ParamValues) -> Family<M> {
        Family { values: values.clone(), limiter: Settings::from_params(values), member: PhantomData }
    }

    fn objection(values: &ParamValues) -> Option<String> {
        M::objection(values).or_else(|| qcn_sampler::objection(values)).or_else(|| qcn_limiter::objection(values))
    }
}

/// Below a transport with a window of its own, QCN only shapes: neither knows of the other.
impl<M: Member> Overlay for Family<M> {}

impl<M: Member> Scheme for Family<M> {
    type Feedback = Cnm;
    type Cp = M;
    type Np = Silent<Cnm>;
    type Rp = Limiter;
    type Transit = Absent<Cnm>;
    type Switch = Absent;

    fn congestion_point(&self, at: &QueueFacts) -> M {
        M::at(&self.values, at)
    }
    fn notification_point(&self, _: &FlowFacts) -> Silent<Cnm> {
        Silent::default()
    }
    fn reaction_point(&self, of: &FlowFacts) -> Limiter {
        Limiter::new(&self.limiter, of)
    }
    /// QCN section 2.
    fn format(&self) -> Format {
        let data_bytes = self.values.bytes("cn_tag") as u32;
        Format { data_bytes, tag: (data_bytes == 4).then_some(CN_TAG), ..Format::default() }
    }
    fn notification_bytes(&self, _: &Cnm) -> Option<u32> {
        Some(self.values.bytes("cnm_frame") as u32)
    }
    fn wire(&self, cnm: &Cnm) -> Wire {
        let (feedback, says) = (cnm.psi, format!("feedback {}", cnm.psi));
        let (offset_bytes, delta_bytes) = (i64::from(cnm.offset_bytes), i64::from(cnm.delta_bytes));
        Wire { carrier: Carrier::Cnm { feedback, offset_bytes, delta_bytes }, says, ..Wire::default() }
    }
}
