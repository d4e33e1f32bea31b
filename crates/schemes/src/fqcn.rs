//! FQCN: fair quantised congestion notification (IEEE Transactions on Communications 2013).
//!
//! Zhang and Ansari, *Fair Quantized Congestion Notification in Data Center Networks*. QCN with
//! another congestion point: at each sampling event the switch finds the flows above their
//! (weighted) share of what arrived since the last one, and sends each of them its own part of the
//! feedback. Flows below their share receive nothing. Sampling, quantiser and rate limiter are
//! QCN's: [`crate::qcn`].
//!
//! W_i is the flow's weight, 1 unless it is set (paper, section IV); `min_feedback` bounds Psi_Fb(i).
//! QCN's parameters have the same values as in QCN (paper, section VI).

use crate::param::{Base, ParamValues, SchemeSpec, params};
use crate::parts::flow_table::FlowTable;
use crate::parts::qcn_family::{self, Family, Member, PRESETS};
use crate::parts::qcn_sampler::{Cnm, Sample, Sampler};
use xoff_fabric::scheme::*;

params! {
    /// QCN's, and one of FQCN's own.
    pub struct Params {
        /// least feedback to a culprit, whatever its part rounds to
        min_feedback: Count(0..=64) = "1", from "assumption: a rounded zero would exempt a culprit";
        ..qcn: qcn_family::Params;
    }
}

pub type Fqcn = Family<Box<Cp>>;

impl Member for Box<Cp> {
    const SPEC: SchemeSpec = SchemeSpec::new(
        "fqcn",
        "QCN that notifies every flow above its share, each in proportion",
        "Zhang and Ansari, Fair Quantized Congestion Notification in Data Center Networks, \
         IEEE Trans. Communications 2013",
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
        Box::new(Cp {
            sampler: Sampler::new(&params.qcn.sampler, facts),
            flows: FlowTable::new(),
            min_feedback: params.min_feedback as u8,
        })
    }
}

/// What a flow sent since the last sampling event.
#[derive(Clone, Copy, Debug)]
struct Arrived {
    /// B_i and W_i.
    bytes: u64,
    weight: u16,
}

/// The sums over a set of flows against which its members are compared.
#[derive(Clone, Copy, Default)]
struct Sums {
    bytes: u128,
    weight: u128,
}

impl Sums {
    fn over<'a>(flows: impl Iterator<Item = &'a Arrived>) -> Sums {
        flows.fold(Sums::default(), |sums, flow| Sums {
            bytes: sums.bytes + u128::from(flow.bytes),
            weight: sums.weight + u128::from(flow.weight),
        })
    }

    /// Equations 7 and 8, exactly: B_i >= (W_i / sum W) sum B.
    fn at_or_above_share(self, flow: &Arrived) -> bool {
        u128::from(flow.bytes) * self.weight >= u128::from(flow.weight) * self.bytes
    }
}

/// Section 2: one queue, and the flows that sent through it since the last sampling event.
#[derive(Clone, Debug)]
pub struct Cp {
    sampler: Sampler,
    /// Emptied at each sampling event, so it holds about a hundred packets' flows.
    flows: FlowTable<Arrived>,
    min_feedback: u8,
}

impl Cp {
    /// Section 2, step 2: notifies each flow above its share, with its part of the feedback.
    fn blame(&self, psi: u8, mut notify: impl FnMut(u32, Cnm)) {
        // Step a: the high-rate flows.
        let all = Sums::over(self.flows.iter().map(|(_, flow)| flow));
        let high = |flow: &Arrived| all.at_or_above_share(flow);
        // Step b: the culprits among them.
        let among_high = Sums::over(self.flows.iter().map(|(_, flow)| flow).filter(|flow| high(flow)));
        let culprits = || self.flows.iter().filter(|(_, flow)| high(flow) && among_high.at_or_above_share(flow));
        // Step c, equation 9: the feedback is split by bytes per weight.
        let per_weight = |flow: &Arrived| flow.bytes as f64 / f64::from(flow.weight);
        let total: f64 = culprits().map(|(_, flow)| per_weight(flow)).sum();
        for (id, flow) in culprits() {
            let part = (per_weight(flow) / total * f64::from(psi) + 0.5).floor() as u8;
            let part = part.max(self.min_feedback.min(psi)).min(self.sampler.psi_max());
            // Step d: to every culprit, at the same instant.
            if self.sampler.sends(part) {
                notify(id, self.sampler.cnm(part));
            }
        }
    }
}

impl Cp {
    /// Section 2: a sampling event.
    fn judge(&mut self, sample: Sample, notify: impl FnMut(u32, Cnm)) {
        if sample.congested && self.sampler.sends(sample.psi) {
            self.blame(sample.psi, notify);
        }
        // Step 4.
        self.flows.clear();
    }
}

impl CongestionPoint for Cp {
    type Feedback = Cnm;

    fn hooks(&self) -> Hooks {
        // Shares are of the whole queue, whatever the flows' schemes, and of arrivals, whenever they are sampled.
        Hooks::ENQUEUE.with(self.sampler.hook()).with(Hooks::EVERY)
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
        let nothing = Arrived { bytes: 0, weight: weight.max(1) };
        let flow = self.flows.entry(packet.flow, || nothing);
        flow.bytes += u64::from(packet.frame_bytes);
        if let Some(sample) = self.sampler.arrives(view, packet.frame_bytes) {
            self.judge(sample, notify);
        }
    }

    #[inline]
    fn on_dequeue(&mut self, view: &QueueView, packet: &PacketFacts, _: Mark<'_>, notify: impl FnMut(u32, Cnm)) {
        if let Some(sample) = self.sampler.departs(view, packet.frame_bytes) {
            self.judge(sample, notify);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{configured, dequeue, enqueue, flow, queue};
    use xoff_engine::{BitRate, Time};

    fn cp(texts: &[(&str, &str)]) -> Box<Cp> {
        configured::<Fqcn>("fqcn", texts).congestion_point(&queue(10))
    }

    fn view(queue_bytes: u64) -> QueueView {
        QueueView::at(BitRate::from_gbps(10), Time::ZERO, queue_bytes)
    }

    /// Notified flows with their feedback, if flows 1, 2, ... sent `bytes` since the last sampling event.
    fn blamed(bytes: &[u64], weights: &[u16], psi: u8) -> Vec<(u32, u8)> {
        blamed_by(&mut cp(&[]), bytes, weights, psi)
    }

    fn blamed_by(cp: &mut Cp, bytes: &[u64], weights: &[u16], psi: u8) -> Vec<(u32, u8)> {
        for (i, (&bytes, &weight)) in bytes.iter().zip(weights).enumerate() {
            cp.flows.entry(i as u32 + 1, || Arrived { bytes, weight });
        }
        let mut notified = Vec::new();
        cp.blame(psi, |flow, cnm| notified.push((flow, cnm.psi)));
        notified
    }

    #[test]
    fn fqcn_8_1_one_culprit() {
        assert_eq!(blamed(&[90, 20, 60, 30], &[1; 4], 18), [(1, 18)]);
        let mut rp = configured::<Fqcn>("fqcn", &[]).reaction_point(&flow(10, 50));
        rp.on_feedback(Time::ZERO, &Cnm { psi: 18, ..Cnm::default() });
        assert_eq!(rp.limits().rate_bps, 8.59375e9);
    }

    #[test]
    fn fqcn_8_2_equality_counts() {
        assert_eq!(blamed(&[100, 100, 40, 10], &[1; 4], 40), [(1, 20), (2, 20)]);
    }

    #[test]
    fn fqcn_8_3_weights() {
        assert_eq!(blamed(&[100, 100, 60, 40], &[4, 3, 2, 1], 40), [(2, 18), (4, 22)]);
    }

    #[test]
    fn fqcn_8_4_weighted_fair_flows_are_cut_alike() {
        assert_eq!(blamed(&[120, 90, 60, 30], &[4, 3, 2, 1], 40), [(1, 10), (2, 10), (3, 10), (4, 10)]);
    }

    #[test]
    fn fqcn_7_a_single_flow_gets_all_of_it() {
        assert_eq!(blamed(&[1066], &[1], 40), [(1, 40)]);
        assert_eq!(blamed(&[1066], &[9], 40), [(1, 40)]);
    }

    #[test]
    fn fqcn_2_nobody_is_exempted_by_rounding() {
        // Forty equal flows share 10: a quarter each, which rounds to nothing.
        assert!(blamed(&[1000; 40], &[1; 40], 10).iter().all(|&(_, psi)| psi == 1));
        assert_eq!(blamed(&[1000; 40], &[1; 40], 10).len(), 40);
        // A larger least, but never more than the whole feedback.
        let least = |text| cp(&[("min_feedback", text)]);
        assert!(blamed_by(&mut least("3"), &[1000; 40], &[1; 40], 10).iter().all(|&(_, psi)| psi == 3));
        assert!(blamed_by(&mut least("30"), &[1000; 40], &[1; 40], 10).iter().all(|&(_, psi)| psi == 10));
        // With none, a part that rounds to zero is not sent, unless zeros are asked for.
        assert_eq!(blamed_by(&mut least("0"), &[1000; 40], &[1; 40], 10), []);
        let mut zeros = cp(&[("min_feedback", "0"), ("send_zero", "true")]);
        assert_eq!(blamed_by(&mut zeros, &[1000; 40], &[1; 40], 10).len(), 40);
    }

    #[test]
    fn fqcn_2_the_largest_flow_is_always_a_culprit() {
        let mut rng = xoff_engine::stream(1, "fqcn test", 0);
        for _ in 0..2000 {
            let n = 1 + rng.below(12) as usize;
            let bytes: Vec<u64> = (0..n).map(|_| 1 + rng.below(100_000)).collect();
            let weights: Vec<u16> = (0..n).map(|_| 1 + rng.below(9) as u16).collect();
            let psi = 1 + rng.below(64) as u8;
            let notified = blamed(&bytes, &weights, psi);
            let largest = (0..n)
                .max_by(|&a, &b| {
                    let (a, b) = (bytes[a] * u64::from(weights[b]), bytes[b] * u64::from(weights[a]));
                    a.cmp(&b)
                })
                .unwrap();
            assert!(notified.iter().any(|&(flow, _)| flow == largest as u32 + 1), "{bytes:?} {weights:?} {notified:?}");
            // The parts sum to the whole, but for rounding and the least feedback.
            let sum: i32 = notified.iter().map(|&(_, psi)| i32::from(psi)).sum();
            assert!((sum - i32::from(psi)).abs() <= notified.len() as i32, "{notified:?} of {psi}");
        }
    }

    /// Arrivals, one after another, of these flows; notified flows with their feedback.
    fn arrivals(cp: &mut Cp, queue_bytes: u64, flows: &[u32]) -> Vec<(u32, u8)> {
        let arrive = |&flow| enqueue(cp, &view(queue_bytes), &PacketFacts::of(flow, 1000)).1;
        flows.iter().flat_map(arrive).map(|(flow, cnm)| (flow, cnm.psi)).collect()
    }

    #[test]
    fn fqcn_2_no_congestion_no_message_and_counts_begin_anew() {
        let mut cp = cp(&[("sampling", "every"), ("sample_every", "4")]);
        assert_eq!(arrivals(&mut cp, 10_000, &[1, 1, 1, 2]), [], "Fb >= 0");
        assert!(cp.flows.is_empty());
        // Fb = -(27 + 2 x 50) KB of 165: 49, for the flow with most of these four.
        assert_eq!(arrivals(&mut cp, 60_000, &[2, 1, 2, 2]), [(2, 49)]);
    }

    #[test]
    fn fqcn_2_the_next_sample_follows_the_whole_feedback() {
        // Step e: p = (1 + 9/64 Psi) %, Psi being the queue's and not the part of a culprit. The first packet is
        // sampled for sure, the next more rarely: upside down, so that nothing is left to chance.
        let mut cp = cp(&[("sample_min", "1"), ("sample_max", "0.5")]);
        for (flow, bytes) in [(1, 9_000), (2, 10_000), (3, 10_000), (4, 10_000)] {
            cp.flows.entry(flow, || Arrived { bytes, weight: 1 });
        }
        assert_eq!(arrivals(&mut cp, 60_000, &[1]), [(1, 14), (2, 14), (3, 14), (4, 14)]);
        assert_eq!(cp.sampler.probability(), Some(1.0 - 0.5 * 57.0 / 64.0));
    }

    #[test]
    fn fqcn_2_shares_are_of_arrivals_whenever_they_are_sampled() {
        let mut cp = cp(&[("sample_at", "dequeue"), ("sampling", "every"), ("sample_every", "2")]);
        assert_eq!(cp.hooks(), Hooks::ENQUEUE.with(Hooks::DEQUEUE).with(Hooks::EVERY));
        assert_eq!(arrivals(&mut cp, 60_000, &[1, 1, 1, 2, 3, 3]), []);
        let [none, notified] = [2, 3].map(|flow| dequeue(&mut cp, &view(60_000), &PacketFacts::of(flow, 1000)).1);
        assert_eq!((none.len(), notified.len()), (0, 1));
        assert_eq!((notified[0].0, notified[0].1.psi), (1, 57), "whichever flow leaves: flow 1 brought most");
        assert!(cp.flows.is_empty());
    }

    #[test]
    fn fqcn_2_counts_begin_anew_at_each_sampling_event() {
        let mut cp = cp(&[]);
        let view = view(100_000);
        // Flow 1 sends nine packets in ten.
        let (mut notified, mut emptied) = ([0, 0], 0);
        for i in 0..100_000u32 {
            let flow = u32::from(i % 10 == 0);
            for (flow, cnm) in enqueue(&mut *cp, &view, &PacketFacts::of(flow, 1066)).1 {
                assert!((1..=64).contains(&cnm.psi));
                notified[flow as usize] += 1;
            }
            emptied += u32::from(cp.flows.is_empty());
        }
        assert!(emptied > 1000 && notified[0] > 1000, "{emptied} {notified:?}");
        assert!(notified[1] * 10 < notified[0], "the small flow is hardly ever blamed: {notified:?}");
    }
}
