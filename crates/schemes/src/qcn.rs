//! QCN: quantised congestion notification in layer 2 (IEEE 802.1Qau).
//!
//! As the FQCN paper describes it (Zhang and Ansari, *Fair Quantized Congestion Notification in
//! Data Center Networks*, IEEE Transactions on Communications 2013, section III), with the
//! quantiser of the 802.1Qau working group's pseudo-code. The switch samples packets and sends
//! a CNM with the quantised feedback to the source of the sampled frame; a rate limiter in the
//! source's NIC cuts and recovers by itself. The two machines are shared with QCN's fair
//! descendants: [`qcn_sampler`](crate::parts::qcn_sampler) and
//! [`qcn_limiter`](crate::parts::qcn_limiter) hold the rules and their numbers.
//!
//! The parameters without a symbol name the points where the standard and the paper differ.

use crate::param::{Base, ParamValues, SchemeSpec};
use crate::parts::qcn_family::{Family, Member, PRESETS, Params};
use crate::parts::qcn_sampler::{Cnm, Sample, Sampler};
use xoff_fabric::scheme::*;

pub type Qcn = Family<Cp>;

/// Section 3: the source of the sampled packet receives a CNM.
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

impl Cp {
    /// Section 3: notifies the source of a sampled packet, if there is congestion.
    fn tell(&self, sample: Sample, packet: &PacketFacts, mut notify: impl FnMut(u32, Cnm)) {
        if sample.congested && self.sampler.sends(sample.psi) && packet.own {
            notify(packet.flow, self.sampler.cnm(sample.psi));
        }
    }
}

impl CongestionPoint for Cp {
    type Feedback = Cnm;

    fn hooks(&self) -> Hooks {
        // A queue is sampled as it is, whatever the flows' schemes.
        self.sampler.hook().with(Hooks::EVERY)
    }

    #[inline]
    fn on_enqueue(
        &mut self,
        view: &QueueView,
        packet: &PacketFacts,
        _: u16,
        _: Mark<'_>,
        notify: impl FnMut(u32, Cnm),
    ) {
        if let Some(sample) = self.sampler.arrives(view, packet.frame_bytes) {
            self.tell(sample, packet, notify);
        }
    }

    #[inline]
    fn on_dequeue(&mut self, view: &QueueView, packet: &PacketFacts, _: Mark<'_>, notify: impl FnMut(u32, Cnm)) {
        if let Some(sample) = self.sampler.departs(view, packet.frame_bytes) {
            self.tell(sample, packet, notify);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{configured, dequeue, enqueue, flow, queue};
    use crate::{Configured, select};
    use xoff_engine::{BitRate, Time};
    use xoff_fabric::packet::Ecn;

    /// Notices of `packets` arrivals of one flow at a queue of this length.
    fn notices(cp: &mut Cp, queue_bytes: u64, own: bool, packets: u32) -> Vec<(u32, Cnm)> {
        let view = QueueView::at(BitRate::from_gbps(10), Time::ZERO, queue_bytes);
        let mut notified = Vec::new();
        for _ in 0..packets {
            let (ecn, notices) = enqueue(cp, &view, &PacketFacts { own, ..PacketFacts::of(7, 1066) });
            assert_eq!(ecn, Ecn::Ect0, "QCN marks nothing");
            notified.extend(notices);
        }
        notified
    }

    fn cp() -> Cp {
        configured::<Qcn>("qcn", &[]).congestion_point(&queue(10))
    }

    #[test]
    fn qcn_3_the_sampled_source_hears_of_congestion() {
        assert!(notices(&mut cp(), 33_000, true, 10_000).len() <= 1, "at the equilibrium there is none");
        let notified = notices(&mut cp(), 60_000, true, 10_000);
        // The queue is constant but for the first sample: Psi = round(64 * 27 / 165) = 10, p = 2.4 %.
        assert!((160..=330).contains(&notified.len()), "{} CNMs", notified.len());
        let cnm = Cnm { psi: 10, offset_bytes: -27_000, delta_bytes: 0 };
        assert!(notified[1..].iter().all(|notice| *notice == (7, cnm)));
        assert!(notices(&mut cp(), 60_000, false, 10_000).is_empty(), "other schemes do not understand");
    }

    #[test]
    fn qcn_3_a_clock_of_departures_tells_the_source_of_the_packet_that_leaves() {
        let texts = [("sample_at", "dequeue"), ("sampling", "every")];
        let mut cp = configured::<Qcn>("qcn", &texts).congestion_point(&queue(10));
        assert_eq!(cp.hooks(), Hooks::DEQUEUE.with(Hooks::EVERY));
        assert!(notices(&mut cp, 60_000, true, 1000).is_empty(), "arrivals count for nothing");
        let view = QueueView::at(BitRate::from_gbps(10), Time::ZERO, 60_000);
        let leave = |flow| dequeue(&mut cp, &view, &PacketFacts::of(flow, 1066)).1;
        let notified: Vec<_> = (1..=300).flat_map(leave).map(|(flow, cnm)| (flow, cnm.psi)).collect();
        // The first sample finds a queue that grew from nothing, the others a constant one.
        assert_eq!(notified, [(100, 57), (200, 10), (300, 10)]);
    }

    #[test]
    fn qcn_5_the_standard_has_its_own_rules_and_values() {
        let Params { sampler, limiter } = Params::read(&select("qcn:standard").unwrap());
        for gbps in [1, 10, 40, 100] {
            let rate = BitRate::from_gbps(gbps);
            assert_eq!(sampler.qeq.at(rate), 26_000);
            let rates = [limiter.rate_ai, limiter.rate_hai, limiter.rate_min].map(|value| value.at(rate) / 1e6);
            assert_eq!(rates, [5.0, 50.0, 5.0], "at {gbps}G");
        }
        // Three CNMs in a row, 150 KB later a first cycle: the target of 10 Gb/s, above ten times the rate
        // of 1.25 Gb/s less another half, falls to an eighth. Fast recovery has four cycles, the fifth adds 5 Mb/s.
        let mut rp = configured::<Qcn>("qcn:standard", &[("jitter", "0")]).reaction_point(&flow(10, 50));
        let cnm = Cnm { psi: 63, ..Cnm::default() };
        for _ in 0..4 {
            rp.on_feedback(Time::ZERO, &cnm);
            rp.on_sent(Time::ZERO, 30_000);
        }
        let mut rate = 10e9 * (1.0 - 63.0 / 128.0f64).powi(4);
        assert!((rp.limits().rate_bps - rate).abs() < 1.0);
        rp.on_sent(Time::ZERO, 30_000);
        let mut target = 1.25e9;
        for cycle in 1..=6 {
            target += if cycle < 5 { 0.0 } else { 5e6 };
            rate = (rate + target) / 2.0;
            assert!((rp.limits().rate_bps - rate).abs() < 1.0, "cycle {cycle}: {}", rp.limits().rate_bps);
            rp.on_sent(Time::ZERO, if cycle < 5 { 150_000 } else { 75_000 });
        }
    }

    #[test]
    fn qcn_2_sizes_on_the_wire() {
        let qcn: Qcn = configured("qcn", &[]);
        assert_eq!((qcn.format().data_bytes, qcn.notification_bytes(&Cnm::default())), (4, Some(64)));
    }

    #[test]
    fn qcn_odd_parameters_are_refused() {
        let usual = select("qcn").unwrap();
        for (name, text) in [("sample_min", "0.2"), ("sample_bytes", "0B"), ("byte_counter", "0B"), ("cnm_frame", "9B")]
        {
            assert!(Qcn::validation_error(&usual.clone().with(&[(name, text)])).is_some(), "{name} = {text}");
        }
    }
}
