//! AF-QCN on one bottleneck.

use crate::bench::*;
use crate::qcn::{dumb_bell, fairness, queue, step, utilisation};
use xoff_engine::Time;
use xoff_fabric::record::Metric;

#[test]
fn af_qcn_6_3_equal_shares_where_qcn_has_none() {
    let ms = Time::from_ms;
    let run = |name| dumb_bell(name, 4).run(ms(800));
    let (af, qcn) = (run("af-qcn"), run("qcn"));
    let (_, least) = fairness(&af, 4, 200, 800);
    assert!(least >= 0.99, "{least}");
    let (mean, _) = fairness(&qcn, 4, 200, 800);
    assert!(mean < 0.985, "QCN's is visibly lower: {mean}");
    assert!(utilisation(&af, 10.0, ms(200), ms(800)) > 0.98);
    let queue = queue(&af, ms(200), ms(800));
    assert!((18_000.0..40_000.0).contains(&queue), "{queue} bytes");
}

#[test]
fn af_qcn_2_weights() {
    let ms = Time::from_ms;
    let mut bench = dumb_bell("af-qcn", 4);
    for (i, (_, spec)) in bench.flows.iter_mut().enumerate() {
        spec.weight = 4 - i as u16;
    }
    let outcome = bench.run(ms(800));
    let shares = outcome.means(Metric::FlowSendRate, 4, ms(300), ms(800));
    // The feedback below the share is not zero but half of QCN's, so the smaller flows are cut
    // a little too often.
    assert_near(&shares, &[4e9, 3e9, 2e9, 1e9], 0.12);
}

#[test]
fn af_qcn_6_3_recovers_from_steps_of_the_service_rate() {
    let ms = Time::from_ms;
    let mut bench = dumb_bell("af-qcn", 4);
    step(&mut bench, ms(500), ms(1100));
    let outcome = bench.run(ms(1500));
    // At 1 Gb/s samples are ten times rarer, and additive steps are of a 10G line: a flow that was cut
    // too far takes longer than this to come back (the paper: slower than FQCN).
    for (gbps, from, to, fair) in [(10.0, 200, 500, 0.99), (1.0, 900, 1100, 0.85), (10.0, 1300, 1500, 0.95)] {
        let shares = outcome.means(Metric::FlowSendRate, 4, ms(from), ms(to));
        assert!(jain(&shares) >= fair, "at {gbps} Gb/s: {shares:?}");
        let utilisation = utilisation(&outcome, gbps, ms(from), ms(to));
        assert!(utilisation > 0.93, "at {gbps} Gb/s: {utilisation}");
    }
}

#[test]
fn af_qcn_2_option_afd_fills_the_link() {
    let ms = Time::from_ms;
    let mut bench = Bench::into_one(4, 10, xoff_engine::Span::from_ns(12_500), scheme("af-qcn", &[("fair", "afd")]));
    crate::qcn::quiet(&mut bench);
    let outcome = bench.run(ms(600));
    // The share hovers above what each flow has, so fairness says less than with measured shares.
    let (mean, _) = fairness(&outcome, 4, 300, 600);
    assert!(mean >= 0.93, "{mean}");
    assert!(utilisation(&outcome, 10.0, ms(300), ms(600)) > 0.95);
}
