//! QCN: quantised congestion notification in layer 2 (IEEE 802.1Qau).
//!
//! As the FQCN paper describes it (Zhang and Ansari, *Fair Quantized Congestion Notification in
//! Data Center Networks*, IEEE Transactions on Communications 2013, section III), with the
//! quantiser of the 802.1Qau working group's pseudo-code. The switch samples arrivals and sends
//! a CNM with the quantised feedback to the source of the sampled frame; a rate limiter in the
//! source's NIC cuts and recovers by itself. The two machines are shared with QCN's fair
//! descendants: [`qcn_sampler`](crate::parts::qcn_sampler) and
//! [`qcn_limiter`](crate::parts::qcn_limiter) hold the rules and their numbers.
//!
//! The parameters without a symbol name the points where the standard and the paper differ.

use crate::param::{Base, ParamValues, SchemeSpec};
use crate::parts::qcn_family::{Family, Member, PRESETS, Params};
use crate::parts::qcn_sampler::{Cnm, Sampler};
use xoff_fabric::scheme::*;

/// A configured QCN.
pub type Qcn = Family<Cp>;

/// Section 3: the source of the sampled packet hears of congestion.
#[derive(Clone, Debug)]
pub struct Cp {
    sampler: Sampler,
}

impl Member for Cp {
    const SPEC: SchemeSpec = SchemeSpec::new(
        "qcn",
        "switches sample, quantise and notify the sampled source; its NIC's limiter reacts",
        "IEEE 802.1Qau-2010; as described by Zhang and Ansari, Fair Quantized Congestion Notification \
         in Data Center Networks, IEEE Trans. Communications 2013, section III",
        Params::TABLE,
        PRESETS,
    )
    .with_base(Base::Optional);

    type Params = Params;

    fn read(values: &ParamValues) -> Params {
        Params::read(values)
    }

    fn shared(params: &Params) -> &Params {
        params
    }

    fn at(params: &Params, facts: &QueueFacts) -> Cp {
        Cp { sampler: Sampler::new(&params.sampler, facts) }
    }
}

impl CongestionPoint for Cp {
    type Feedback = Cnm;

    fn hooks(&self) -> Hooks {
        // A queue is sampled as it is, whoever fills it.
        Hooks::ENQUEUE.with(Hooks::EVERY)
    }

    #[inline]
    fn on_enqueue(
        &mut self,
        view: &QueueView,
        packet: &PacketFacts,
        _: u16,
        _: Mark<'_>,
        mut notify: impl FnMut(u32, Cnm),
    ) {
        if let Some(sample) = self.sampler.arrives(view, packet.frame_bytes)
            && sample.congested
            && self.sampler.sends(sample.psi)
            && packet.own
        {
            notify(packet.flow, self.sampler.cnm(sample.psi));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Configured;
    use xoff_engine::{BitRate, Time};
    use xoff_fabric::packet::Ecn;

    static SPEC: SchemeSpec = <Qcn as Configured>::SPEC;

    /// Notices of `packets` arrivals of one flow at a queue of this length.
    fn notices(cp: &mut Cp, queue_bytes: u64, own: bool, packets: u32) -> Vec<(u32, Cnm)> {
        let view = QueueView::at(BitRate::from_gbps(10), Time::ZERO, queue_bytes);
        let mut heard = Vec::new();
        for _ in 0..packets {
            let mut ecn = Ecn::Ect0;
            let packet = PacketFacts { own, ..PacketFacts::of(7, 1066) };
            let mark = Mark { ecn: &mut ecn, int: None };
            cp.on_enqueue(&view, &packet, 1, mark, |flow, cnm| heard.push((flow, cnm)));
            assert_eq!(ecn, Ecn::Ect0, "QCN marks nothing");
        }
        heard
    }

    fn cp() -> Cp {
        Qcn::configure(&SPEC.values(None)).congestion_point(&QueueFacts::at(BitRate::from_gbps(10)))
    }

    #[test]
    fn qcn_3_the_sampled_source_hears_of_congestion() {
        assert!(notices(&mut cp(), 33_000, true, 10_000).len() <= 1, "at the equilibrium there is none");
        let heard = notices(&mut cp(), 60_000, true, 10_000);
        // The queue is constant but for the first sample: Psi = round(64 * 27 / 165) = 10, p = 2.4 %.
        assert!((160..=330).contains(&heard.len()), "{} CNMs", heard.len());
        let cnm = Cnm { psi: 10, offset_bytes: -27_000, delta_bytes: 0 };
        assert!(heard[1..].iter().all(|notice| *notice == (7, cnm)));
        assert!(notices(&mut cp(), 60_000, false, 10_000).is_empty(), "other schemes do not understand");
    }

    #[test]
    fn qcn_2_sizes_on_the_wire() {
        let qcn = Qcn::configure(&SPEC.values(None));
        assert_eq!((qcn.format().data_bytes, qcn.notification_bytes(&Cnm::default())), (4, Some(64)));
    }

    #[test]
    fn qcn_odd_parameters_are_refused() {
        for (name, text) in [("sample_min", "0.2"), ("sample_bytes", "0B"), ("byte_counter", "0B"), ("cnm_frame", "9B")]
        {
            assert!(Qcn::objection(&SPEC.values_with(None, &[(name, text)])).is_some(), "{name} = {text}");
        }
        for preset in SPEC.presets {
            assert_eq!(Qcn::objection(&SPEC.values(Some(preset))), None);
        }
    }
}
