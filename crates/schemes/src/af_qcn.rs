//! AF-QCN: approximate-fairness QCN (Hot Interconnects 2010).
//!
//! Kabbani, Alizadeh, Yasuda, Pan and Prabhakar, *AF-QCN: Approximate Fairness with Quantized
//! Congestion Notification for Multi-tenanted Data Centers*. QCN with a feedback that also depends
//! on how far the sampled flow is above its share. Congestion decides when a CNM is sent, fairness
//! how much it says. The paper's text was not at hand: the formulas are those of public summaries,
//! with assumptions where those are silent. Sampling, quantiser and rate limiter are QCN's:
//! [`crate::qcn`].
//!
//! W_i is the flow's weight, 1 unless it is set (public summary). QCN's parameters have the values of
//! the FQCN paper, section VI.

use crate::param::{Base, ParamValues, SchemeSpec, params};
use crate::parts::clock::Clock;
use crate::parts::flow_table::FlowTable;
use crate::parts::qcn_family::{self, Family, Member, PRESETS};
use crate::parts::qcn_sampler::{Cnm, Sample, Sampler};
use xoff_engine::{Span, Time};
use xoff_fabric::scheme::*;

params! {
    /// Symbols are those of public summaries.
    pub struct Params {
        /// part of the feedback that is about fairness
        fairness_weight "a": Number(0.0..=1.0) = "0.5",
            from "assumption: equal trust in both terms; the value is not in public summaries";
        /// interval of the flows' rate measurement
        measure_interval "T_m": TimeByRate = "1ms@10Gbps, 250us@40Gbps, 100us@100Gbps",
            from "assumption: at least 20 packets per active flow, as other AFD estimators";
        /// gain of the average of measured rates
        rate_gain "g_r": Number(0.01..=1.0) = "0.5", from "assumption: summaries only say that rates are measured";
        /// a silent flow is forgotten below this part of the port's rate
        forget_below: Number(0.000_001..=0.1) = "0.0001",
            from "assumption: keeps the table to flows that still count";
        /// fair share: by weight from the measured rates, or one share adapted to the queue
        fair: FairShare { ByWeight = "shares", Adapted = "afd" } = "shares",
            from "public summary of AF-QCN; AFD's recursion is kept for study";
        /// gain on the queue before, in bytes per interval and byte
        afd_c1 "c1": Number(0.0..=100.0) = "1.7" if FairShare::Adapted, from "assumption: AFD's order of magnitude";
        /// gain on the queue now, in bytes per interval and byte; above `afd_c1`
        afd_c2 "c2": Number(0.0..=100.0) = "1.8" if FairShare::Adapted, from "assumption: AFD's order of magnitude";
        ..qcn: qcn_family::Params;
    }
}

pub type AfQcn = Family<Box<Cp>>;

impl Member for Box<Cp> {
    const SPEC: SchemeSpec = SchemeSpec::new(
        "af-qcn",
        "QCN whose feedback also says how far the sampled flow is above its share",
        "Kabbani et al., AF-QCN: Approximate Fairness with Quantized Congestion Notification for \
         Multi-tenanted Data Centers, Hot Interconnects 2010",
        Params::TABLE,
        PRESETS,
    )
    .with_base(Base::Optional);

    type Params = Params;

    fn read(values: &ParamValues) -> Params {
        Params::read(values)
    }

    fn shared(params: &Params) -> &qcn_family::Params {
        &params.qcn
    }

    fn at(params: &Params, facts: &QueueFacts) -> Box<Cp> {
        let line_bps = facts.rate.bps() as f64;
        let afd = match params.fair {
            FairShare::ByWeight => None,
            FairShare::Adapted => {
                let gains = (params.afd_c1, params.afd_c2);
                Some(Box::new(Afd { gains, share_bps: line_bps, q_old_bytes: 0.0 }))
            }
        };
        Box::new(Cp {
            sampler: Sampler::new(&params.qcn.sampler, facts),
            flows: FlowTable::new(),
            clock: Clock::new(params.measure_interval.at(facts.rate)),
            gain: params.rate_gain,
            fairness_weight: params.fairness_weight,
            line_bps,
            forget_bps: params.forget_below * line_bps,
            afd,
        })
    }

    fn validation_error(params: &Params) -> Option<String> {
        let unstable = match params.fair {
            FairShare::ByWeight => false,
            FairShare::Adapted => params.afd_c2 <= params.afd_c1,
        };
        if unstable {
            return Some("`afd_c2` must be above `afd_c1`: the share would fall while the queue is empty".into());
        }
        (params.measure_interval.at(xoff_engine::BitRate::from_gbps(400)) == Span::ZERO)
            .then(|| "`measure_interval` is zero".into())
    }
}

/// One flow at one queue.
#[derive(Clone, Copy, Debug)]
struct Measured {
    /// A_i, of the interval under way.
    bytes: u64,
    /// r_i; none before the end of its first interval.
    rate_bps: f64,
    weight: u16,
}

/// Section 2, option `afd`: one share for all, adapted to the queue.
#[derive(Clone, Debug)]
struct Afd {
    gains: (f64, f64),
    share_bps: f64,
    q_old_bytes: f64,
}

/// Section 2: one queue and the rates of the flows in it.
#[derive(Clone, Debug)]
pub struct Cp {
    sampler: Sampler,
    flows: FlowTable<Measured>,
    /// Timer of T_m; stopped while no flow is known.
    clock: Clock,
    gain: f64,
    fairness_weight: f64,
    line_bps: f64,
    forget_bps: f64,
    afd: Option<Box<Afd>>,
}

impl Cp {
    /// The first flow after silence.
    fn wake(&mut self, now: Time) {
        let slept = self.clock.wake(now) as f64;
        if let Some(afd) = &mut self.afd {
            // The intervals slept through had an empty queue.
            let growth = (afd.gains.1 - afd.gains.0) * self.sampler.qeq_bytes() * 8.0 / self.clock.period().as_s();
            afd.share_bps = (afd.share_bps + slept * growth).min(self.line_bps);
            afd.q_old_bytes = 0.0;
        }
    }

    /// Section 2, every T_m: the average of measured rates; silent flows are forgotten.
    fn tick(&mut self, now: Time, queue_bytes: u64) {
        let (gain, forget_bps) = (self.gain, self.forget_bps);
        let bps_per_byte = 8.0 / self.clock.period().as_s();
        self.flows.retain(|_, flow| {
            flow.rate_bps = (1.0 - gain) * flow.rate_bps + gain * flow.bytes as f64 * bps_per_byte;
            std::mem::take(&mut flow.bytes) > 0 || flow.rate_bps >= forget_bps
        });
        if let Some(afd) = &mut self.afd {
            let (q, qeq) = (queue_bytes as f64, self.sampler.qeq_bytes());
            let change = afd.gains.0 * (afd.q_old_bytes - qeq) - afd.gains.1 * (q - qeq);
            afd.share_bps = (afd.share_bps + change * bps_per_byte).clamp(0.0, self.line_bps);
            afd.q_old_bytes = q;
        }
        self.clock.advance(now, !self.flows.is_empty());
    }

    /// Section 2: the share f_i of a flow, from the flows whose rate is known.
    fn share_bps(&self, weight: u16) -> f64 {
        if let Some(afd) = &self.afd {
            return afd.share_bps * f64::from(weight);
        }
        let known = self.flows.iter().filter(|(_, flow)| flow.rate_bps > 0.0);
        let (rates, weights) =
            known.fold((0.0, 0.0), |(r, w), (_, flow)| (r + flow.rate_bps, w + f64::from(flow.weight)));
        f64::from(weight) / weights * rates
    }

    /// Section 2: 0 at or below the share, up to Psi_max far above; 0 for a flow not measured yet.
    fn psi_af(&self, flow: u32) -> f64 {
        let Some(flow) = self.flows.get(flow).filter(|flow| flow.rate_bps > 0.0) else { return 0.0 };
        let excess = (1.0 - self.share_bps(flow.weight) / flow.rate_bps).max(0.0);
        (f64::from(self.sampler.psi_max()) * excess + 0.5).floor()
    }

    /// Section 2: the feedback to a flow, from congestion and from fairness.
    fn combine(&self, psi_qcn: u8, flow: u32) -> u8 {
        let a = self.fairness_weight;
        ((1.0 - a) * f64::from(psi_qcn) + a * self.psi_af(flow) + 0.5).floor() as u8
    }

    /// Section 2: congestion decides when the source of a sampled packet is notified, fairness with what value.
    fn tell(&self, sample: Sample, packet: &PacketFacts, mut notify: impl FnMut(u32, Cnm)) {
        if sample.congested && packet.own {
            let psi = self.combine(sample.psi, packet.flow);
            if self.sampler.sends(psi) {
                notify(packet.flow, self.sampler.cnm(psi));
            }
        }
    }
}

impl CongestionPoint for Cp {
    type Feedback = Cnm;

    fn hooks(&self) -> Hooks {
        // Shares are of the whole queue, whatever the flows' schemes.
        Hooks::ENQUEUE.with(self.sampler.hook()).with(Hooks::TIMER).with(Hooks::EVERY)
    }

    #[inline]
    fn on_enqueue(
        &mut self,
        view: &QueueView,
        packet: &PacketFacts,
        weight: u16,
        _: Mark<'_>,
        notify: impl FnMut(u32, Cnm),
    ) {
        if self.clock.is_asleep() {
            self.wake(view.now);
        }
        let unknown = Measured { bytes: 0, rate_bps: 0.0, weight: weight.max(1) };
        let flow = self.flows.entry(packet.flow, || unknown);
        flow.bytes += u64::from(packet.frame_bytes);
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

    fn on_timer(&mut self, view: &QueueView, _: impl FnMut(u32, Cnm)) {
        if self.clock.is_due(view.now) {
            self.tick(view.now, view.queue_bytes);
        }
    }

    #[inline]
    fn timer(&self) -> Option<Time> {
        self.clock.next()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{configured, enqueue, queue};
    use xoff_engine::BitRate;

    fn cp(texts: &[(&str, &str)]) -> Box<Cp> {
        configured::<AfQcn>("af-qcn", texts).congestion_point(&queue(10))
    }

    /// Flows 1, 2, ... with these rates.
    fn measured(gbps: &[f64], weights: &[u16]) -> Box<Cp> {
        let mut cp = cp(&[]);
        for (i, (rate, &weight)) in gbps.iter().zip(weights).enumerate() {
            cp.flows.entry(i as u32 + 1, || Measured { bytes: 0, rate_bps: rate * 1e9, weight });
        }
        cp
    }

    fn view(now: Time, queue_bytes: u64) -> QueueView {
        QueueView::at(BitRate::from_gbps(10), now, queue_bytes)
    }

    fn arrive(cp: &mut Cp, now: Time, queue_bytes: u64, flow: u32, bytes: u32) -> Option<u8> {
        let (_, notified) = enqueue(cp, &view(now, queue_bytes), &PacketFacts::of(flow, bytes));
        notified.first().map(|(_, cnm)| cnm.psi)
    }

    #[test]
    fn af_qcn_6_1_feedback_by_flow() {
        let cp = measured(&[6.0, 3.0, 2.0, 1.0], &[1; 4]);
        assert_eq!([1, 2, 3, 4].map(|flow| cp.psi_af(flow)), [32.0, 0.0, 0.0, 0.0]);
        assert_eq!([1, 2, 3, 4].map(|flow| cp.combine(18, flow)), [25, 9, 9, 9]);
    }

    #[test]
    fn af_qcn_6_2_weighted_fair_flows() {
        let cp = measured(&[4.0, 3.0, 2.0, 1.0], &[4, 3, 2, 1]);
        assert_eq!([1, 2, 3, 4].map(|flow| cp.psi_af(flow)), [0.0; 4]);
    }

    #[test]
    fn af_qcn_5_unknown_and_single_flows() {
        let cp = measured(&[6.0, 3.0], &[1; 2]);
        assert_eq!(cp.combine(18, 99), 9, "no estimate yet");
        let cp = measured(&[6.0], &[3]);
        assert_eq!(cp.combine(18, 1), 9, "half as hard as QCN");
    }

    #[test]
    fn af_qcn_2_rates_are_averaged_and_forgotten() {
        let mut cp = cp(&[]);
        assert_eq!(cp.timer(), None);
        arrive(&mut cp, Time::from_us(2300), 0, 5, 125_000);
        assert_eq!(cp.timer(), Some(Time::from_ms(3)), "intervals lie on a grid");
        // 125 KB in 1 ms are 1 Gb/s, of which the average takes half.
        let mut expected = 0.5e9;
        for ms in 3..100 {
            let Some(at) = cp.timer() else {
                assert!(expected < 1e6 && cp.flows.is_empty(), "forgotten at {ms} ms");
                return;
            };
            assert_eq!(at, Time::from_ms(ms));
            cp.on_timer(&view(at, 0), |_, _| ());
            if let Some(flow) = cp.flows.get(5) {
                assert!((flow.rate_bps - expected).abs() < 1.0);
            }
            expected /= 2.0;
        }
        panic!("never forgotten");
    }

    #[test]
    fn af_qcn_2_congestion_decides_when() {
        let mut cp = cp(&[("sample_min", "1"), ("sample_max", "1")]);
        // The first sample sees a jump, the second a short, steady queue.
        assert!(arrive(&mut cp, Time::ZERO, 20_000, 1, 1066).is_some());
        assert_eq!(arrive(&mut cp, Time::ZERO, 20_000, 1, 1066), None);
        // 64 * 30 / 165 = 11.6: Psi = 12, halved.
        arrive(&mut cp, Time::ZERO, 63_000, 1, 1066);
        assert_eq!(arrive(&mut cp, Time::ZERO, 63_000, 1, 1066), Some(6));
    }

    #[test]
    fn af_qcn_2_feedback_that_rounds_to_zero_is_not_sent() {
        // All of the feedback is about fairness, and a single flow is at its share.
        let sampled = [("sample_min", "1"), ("sample_max", "1"), ("fairness_weight", "1")];
        assert_eq!(arrive(&mut cp(&sampled), Time::ZERO, 100_000, 1, 1066), None);
        let texts = [&sampled[..], &[("send_zero", "true")]].concat();
        assert_eq!(arrive(&mut cp(&texts), Time::ZERO, 100_000, 1, 1066), Some(0));
    }

    #[test]
    fn af_qcn_2_option_afd_adapts_one_share() {
        let mut cp = cp(&[("fair", "afd")]);
        arrive(&mut cp, Time::ZERO, 0, 1, 1066);
        let share = |cp: &Cp| cp.afd.as_ref().unwrap().share_bps;
        assert_eq!(share(&cp), 10e9);
        // A queue of 133 KB: 1.7 (0 - 33) - 1.8 (133 - 33) = -236.1 KB per ms.
        cp.on_timer(&view(Time::from_ms(1), 133_000), |_, _| ());
        assert!((share(&cp) - (10e9 - 236.1e3 * 8e3)).abs() < 1.0);
        // It stays: 1.7 * 100 - 1.8 * 100 = -10 KB per ms.
        arrive(&mut cp, Time::from_us(1500), 0, 1, 1066);
        cp.on_timer(&view(Time::from_ms(2), 133_000), |_, _| ());
        assert!((share(&cp) - (10e9 - 246.1e3 * 8e3)).abs() < 1.0);
        // Silence: 0.1 * 33 KB per ms, also for the intervals slept through.
        let mut last = Time::ZERO;
        while let Some(at) = cp.timer() {
            cp.on_timer(&view(at, 0), |_, _| ());
            last = at;
        }
        cp.afd.as_mut().unwrap().share_bps = 1e9;
        arrive(&mut cp, last + Span::from_ms(10), 0, 1, 1066);
        assert!((share(&cp) - (1e9 + 10.0 * 3.3e3 * 8e3)).abs() < 1.0, "{}", share(&cp));
    }

    #[test]
    fn af_qcn_4_intervals_follow_the_port() {
        let params = Params::read(&crate::select("af-qcn").unwrap());
        let at = |gbps| params.measure_interval.at(BitRate::from_gbps(gbps));
        assert_eq!([10, 40, 100].map(at), [Span::from_ms(1), Span::from_us(250), Span::from_us(100)]);
    }
}
