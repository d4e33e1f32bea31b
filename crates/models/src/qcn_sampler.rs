//! What QCN's congestion point and reaction point do over all feedback there is (figure 1 of the FQCN
//! paper), found by driving the scheme's own code.

use crate::{Kind, ModelSpec, Parameter, Values, Yield, curve, number};
use std::sync::Arc;
use xoff_engine::{BitRate, Span, Time};
use xoff_fabric::scheme::{FlowFacts, QueueFacts, QueueView, ReactionPoint};
use xoff_schemes::parts::qcn_family::Params;
use xoff_schemes::parts::qcn_limiter::Limiter;
use xoff_schemes::parts::qcn_sampler::Sampler;

pub const SPEC: ModelSpec = ModelSpec {
    name: "qcn-sampler",
    title: "QCN's sampling probability and cuts over all values of its feedback",
    what: "Equations 1 and 2 and the rate decrease, in the code of the scheme: a queue is held at lengths from empty to \
           beyond the largest feedback, packets arrive until one is sampled, and each feedback that comes out is given \
           to rate limiters at rates from the least to line rate.",
    source: "FQCN, IEEE Trans. Communications 2013, section III and figure 1",
    parameters: &[
        Parameter::new("rate", Kind::Rate, "10Gbps", "of the port and of the senders", "section VI"),
        Parameter::new(
            "psi_max",
            Kind::Count { min: 1, max: 64 },
            "64",
            "largest feedback",
            "section III; six bits hold 63",
        ),
        Parameter::new("lengths", Kind::Count { min: 100, max: 10_000 }, "1000", "queue lengths to try", "a choice"),
        Parameter::new(
            "packets",
            Kind::Count { min: 0, max: 1_000_000 },
            "20000",
            "arrivals per feedback whose samples are counted",
            "a choice",
        ),
    ],
    outputs: &[
        curve("probability", "%", "sampling probability after a feedback"),
        curve(
            "counted",
            "%",
            "sampled part of the packets at a steady queue, by its feedback; empty without `packets`",
        ),
        curve("cut", "%", "cut of a rate at half of line rate, by feedback"),
        curve("feedback", "1", "Psi over the queue's excess over its equilibrium, in units of that"),
        number("probability_lowest", "%", "lowest sampling probability seen"),
        number("probability_highest", "%", "highest"),
        number("largest_cut", "%", "largest cut of one message, over feedback and rates"),
        number("feedback_largest", "1", "largest Psi seen"),
        number("feedback_values", "", "how many values of Psi were seen, zero included"),
    ],
    run,
};

const FRAME_BYTES: u32 = 1500;

fn run(values: &Values) -> Result<Yield, String> {
    let rate = BitRate::from_bps(values.rate_bps("rate") as u64);
    let spec = xoff_schemes::find("qcn").ok_or("the scheme qcn is missing")?;
    let psi_max = values.count("psi_max").to_string();
    let values_of_qcn = spec.values(None).with(&[("psi_max", &psi_max), ("jitter", "0")]);
    let params = Params::read(&values_of_qcn);
    let sampler = Sampler::new(&params.sampler, &QueueFacts::at(rate));
    let qeq = sampler.qeq_bytes();
    let mut found = Yield::default();

    // Fb = -(Q - Qeq) at a steady queue, and Psi is largest from Fb = Qeq (1 + 2 w) on.
    let lengths = values.count("lengths");
    let largest = qeq * (2.0 + 2.0 * values_of_qcn.value::<f64>("w")) * 1.1;
    let mut by_psi: Vec<Option<(f64, u64)>> = vec![None; 65];
    let mut feedback = Vec::new();
    let (mut lowest, mut highest) = (f64::INFINITY, 0.0f64);
    for i in 0..=lengths {
        let queue_bytes = (largest * i as f64 / lengths as f64) as u64;
        let mut sampler = sampler.clone();
        // The first sample sees the queue jump from empty, the second sees it constant.
        for standing in [false, true] {
            let psi = sampled(&mut sampler, rate, queue_bytes);
            let p = sampler.probability().ok_or("QCN's own default is to sample with a probability")?;
            (lowest, highest) = (lowest.min(p), highest.max(p));
            if standing {
                by_psi[usize::from(psi)].get_or_insert((p, queue_bytes));
                feedback.push((queue_bytes as f64 / qeq - 1.0, f64::from(psi)));
            }
        }
    }
    let seen = || by_psi.iter().enumerate().filter_map(|(psi, at)| at.map(|(p, queue)| (psi as u8, p, queue)));
    found.curve("probability", seen().map(|(psi, p, _)| (f64::from(psi), 100.0 * p)));
    found.curve("feedback", feedback);
    let packets = values.count("packets");
    found.curve(
        "counted",
        seen().filter(|_| packets > 0).map(|(psi, _, queue_bytes)| {
            let mut sampler = sampler.clone();
            let view = QueueView::at(rate, Time::ZERO, queue_bytes);
            // Until the queue is known to be constant.
            (0..2).for_each(|_| {
                sampled(&mut sampler, rate, queue_bytes);
            });
            let samples = (0..packets).filter(|_| sampler.arrives(&view, FRAME_BYTES).is_some()).count();
            (f64::from(psi), 100.0 * samples as f64 / packets as f64)
        }),
    );
    found.number("probability_lowest", 100.0 * lowest);
    found.number("probability_highest", 100.0 * highest);
    found.number("feedback_largest", seen().map(|(psi, ..)| f64::from(psi)).fold(0.0, f64::max));
    found.number("feedback_values", seen().count() as f64);

    // The limiter, from rates between a hundredth and all of line rate.
    let limiter = Arc::new(params.limiter);
    let cut = |psi: u8, percent: u64| {
        let initial_rate = BitRate::from_bps((rate.bps() / 100).max(1) * percent);
        let mut limiter = Limiter::new(&limiter, &FlowFacts { initial_rate, ..FlowFacts::at(rate, Span::from_us(50)) });
        let before = limiter.limits().rate_bps;
        limiter.on_cnm(Time::ZERO, psi);
        100.0 * (1.0 - limiter.limits().rate_bps / before)
    };
    found.curve("cut", seen().map(|(psi, ..)| (f64::from(psi), cut(psi, 50))));
    let cuts = seen().flat_map(|(psi, ..)| (1..=100).map(move |percent| (psi, percent)));
    found.number("largest_cut", cuts.map(|(psi, percent)| cut(psi, percent)).fold(0.0, f64::max));
    Ok(found)
}

/// Lets packets arrive at a queue of this length until one is sampled: its feedback.
fn sampled(sampler: &mut Sampler, rate: BitRate, queue_bytes: u64) -> u8 {
    let view = QueueView::at(rate, Time::ZERO, queue_bytes);
    loop {
        if let Some(sample) = sampler.arrives(&view, FRAME_BYTES) {
            return sample.psi;
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::tests::run_with;

    #[test]
    fn one_to_ten_percent_and_never_more_than_half() {
        let found = run_with("qcn-sampler", "packets = 20000").unwrap();
        let number = |name: &str| found.numbers[name];
        assert_eq!((number("probability_lowest"), number("probability_highest")), (1.0, 10.0));
        assert_eq!((number("feedback_largest"), number("feedback_values")), (64.0, 65.0));
        assert_eq!(number("largest_cut"), 50.0);
        // Equation 2, and what is counted agrees with it: four deviations of 20 000 draws.
        let (exact, counted) = (&found.curves["probability"], &found.curves["counted"]);
        for psi in 0..=64 {
            let p = 1.0 + 9.0 / 64.0 * psi as f64;
            assert!((exact.y[psi] - p).abs() < 1e-9, "Psi = {psi}: {}", exact.y[psi]);
            let deviation = (p * (100.0 - p) / 20_000.0).sqrt();
            assert!((counted.y[psi] - p).abs() < 4.0 * deviation, "Psi = {psi}: counted {}", counted.y[psi]);
            assert!((found.curves["cut"].y[psi] - 100.0 * psi as f64 / 128.0).abs() < 1e-9);
        }
    }

    #[test]
    fn six_bits_hold_63() {
        let found = run_with("qcn-sampler", "psi_max = 63\npackets = 0").unwrap();
        assert_eq!(found.numbers["feedback_largest"], 63.0);
        assert!((found.numbers["probability_highest"] - (1.0 + 9.0 * 63.0 / 64.0)).abs() < 1e-9);
        assert!(found.curves["counted"].x.is_empty());
    }
}
