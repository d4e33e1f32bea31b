//! Small models, apart from the simulator, of claims that the papers' own numbers exclude (`contradicted` in claims/).

use std::collections::VecDeque;

/// Mercury, Fig. 4: nine flows have filled a FIFO queue in front of a link of 40 Gb/s, 960 KB in equal parts; then the
/// long flow sends at `rate_gbps`, and the others nothing. Returns the lowest rate at which the long flow arrives in
/// any 20 us until the burst has gone.
fn lowest_after_the_burst(rate_gbps: f64) -> f64 {
    const PACKET_BITS: f64 = 1000.0 * 8.0;
    const LINK_GBPS: f64 = 40.0;
    const WINDOW_NS: f64 = 20_000.0;
    let mut queue: VecDeque<bool> = (0..960).map(|packet| packet % 9 == 0).collect();
    let (mut now_ns, mut credit_bits) = (0.0, 0.0);
    let mut arrivals = Vec::new();
    let mut burst = queue.iter().filter(|own| !**own).count();
    while burst > 0 {
        let serialisation_ns = PACKET_BITS / LINK_GBPS;
        now_ns += serialisation_ns;
        credit_bits += rate_gbps * serialisation_ns;
        while credit_bits >= PACKET_BITS {
            credit_bits -= PACKET_BITS;
            queue.push_back(true);
        }
        match queue.pop_front().expect("the burst is not gone") {
            true => arrivals.push(now_ns),
            false => burst -= 1,
        }
    }
    let in_window = |from: f64| arrivals.iter().filter(|at| (from..from + WINDOW_NS).contains(at)).count();
    let windows = (0..).map(|step| f64::from(step) * 1000.0).take_while(|from| from + WINDOW_NS <= now_ns);
    windows.map(|from| in_window(from) as f64 * PACKET_BITS / WINDOW_NS).fold(f64::INFINITY, f64::min)
}

/// mercury-c009 ("almost zero" under HPCC) and c010 (above 6 Gb/s under Mercury): whatever the sender does, a ninth of
/// the link arrives, to a packet.
#[test]
fn a_fifo_queue_gives_each_of_nine_flows_a_ninth_of_the_link() {
    let a_packet_gbps = 1000.0 * 8.0 / 20_000.0;
    for rate_gbps in [0.0, 0.1, 4.0, 20.0, 40.0] {
        let lowest = lowest_after_the_burst(rate_gbps);
        assert!((lowest - 40.0 / 9.0).abs() <= a_packet_gbps, "{lowest} Gb/s at {rate_gbps} Gb/s");
        assert!(lowest > 1.5 && lowest < 6.0);
    }
}

/// pcn-c125, c127, c128 (25 to 30 Gb/s from S1 to R1): bursts of 64 KB from fourteen hosts, drained at 40 Gb/s beside
/// F1, which has half of the link from S0 at most.
#[test]
fn bursts_of_64_kb_do_not_fill_the_link_of_fig_18() {
    let carried_gbps = |interval_us: f64| {
        // Microsecond by microsecond, over 100 intervals.
        let (mut backlog_bits, mut sent_bits) = (0.0, 0.0);
        let steps = (100.0 * interval_us) as usize;
        for step in 0..steps {
            if (step as f64 % interval_us) < 1.0 {
                backlog_bits += 14.0 * 64e3 * 8.0;
            }
            let f1_bits = 20e3;
            let now = f64::min(backlog_bits + f1_bits, 40e3);
            backlog_bits -= f64::min(now - f1_bits, backlog_bits);
            sent_bits += now;
        }
        sent_bits / (100.0 * interval_us) / 1e3
    };
    let mean = [1000.0, 2000.0, 5000.0].map(carried_gbps).iter().sum::<f64>() / 3.0;
    assert!((mean - 24.06).abs() < 0.1, "{mean} Gb/s");
    assert!(mean < 25.0);
}

/// fqcn-c046 (FQCN clears congestion sooner than QCN): equation 9 divides the feedback of one sample among the
/// culprits in proportion to their rates, so that they lose together what QCN takes from one flow of that rate.
#[test]
fn equation_9_takes_no_more_than_one_cut_of_qcn() {
    let mut state = 7_u64;
    let mut random = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as f64 / (1_u64 << 31) as f64
    };
    for flows in 2..40 {
        let feedback = 1.0 + 63.0 * random();
        let excess: Vec<f64> = (0..flows).map(|_| 0.1 + random()).collect();
        let sum: f64 = excess.iter().sum();
        let parts: Vec<f64> = excess.iter().map(|own| own / sum * feedback).collect();
        assert!((parts.iter().sum::<f64>() - feedback).abs() < 1e-9);
        // With equal rates R and G_d = 1/128: all parts together take R feedback/128, as one cut of QCN does.
        let taken: f64 = parts.iter().map(|part| part / 128.0).sum();
        assert!((taken - feedback / 128.0).abs() < 1e-12);
    }
}
