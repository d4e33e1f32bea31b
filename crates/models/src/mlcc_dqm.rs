//! MLCC's end-to-end loop on its own: one flow, its queue at the far gateway, a long way back.
//!
//! The arithmetic is the receiver's own, [`xoff_schemes::mlcc::dqm`].

use crate::{Kind, ModelSpec, Parameter, Values, Yield, curve, number};
use xoff_schemes::mlcc::dqm::{Bounds, Dqm, DqmSettings};

pub const SPEC: ModelSpec = ModelSpec {
    name: "mlcc-dqm",
    title: "MLCC's DQM loop of one flow at a constant credit rate",
    what: "Equations 1 to 5, one step per RTT_D: the queue at the receiver-side gateway takes what the sender was \
           allowed one RTT_C ago and gives R_credit; DQM predicts it and issues the next rate. Until the first rate \
           arrives the sender is at line rate. With `smoothing` the tokens of equations 6 to 9 are in between, one ACK \
           per packet that leaves the queue. Runs the code of the scheme's receiver.",
    source: "MLCC, ICPP 2025, sections 3.3 and 3.4, figure 6",
    parameters: &[
        Parameter::new("theta", Kind::Time, "18ms", "time in which the delay is brought to its target", "section 4.1"),
        Parameter::new("target_delay", Kind::Time, "1ms", "D_t", "section 4.1"),
        Parameter::new(
            "credit_rate",
            Kind::Rate,
            "12.5Gbps",
            "R_credit, the rate at which the queue drains",
            "half a server link, figure 8",
        ),
        Parameter::new(
            "line_rate",
            Kind::Rate,
            "25Gbps",
            "rate of the sender before the first feedback, and bound",
            "section 4.1",
        ),
        Parameter::new("rtt_c", Kind::Time, "6.03ms", "RTT_C, end to end", "topology of section 4.1, delays added up"),
        Parameter::new("rtt_d", Kind::Time, "24us", "RTT_D, one step", "topology of section 4.1, delays added up"),
        Parameter::new(
            "credit_mean",
            Kind::Count { min: 1, max: 1000 },
            "5",
            "m, credit rates averaged",
            "section 4.1",
        ),
        Parameter::new(
            "smoothing",
            Kind::Choice(&["none", "rtt", "all"]),
            "none",
            "the sender obeys R_DQM itself; or the smoothed rate, whose window counts the ACKs of one RTT_C or of all time",
            "none: equations 1 to 5 alone; the scheme's own default is rtt",
        ),
        Parameter::new(
            "alpha",
            Kind::Number { min: 0.0, max: 1.0 },
            "0.5",
            "token gain, with smoothing",
            "section 4.1",
        ),
        Parameter::new("mtu", Kind::Bytes, "1000B", "packet of the tokens, with smoothing", "assumption: 1000 B"),
        Parameter::new(
            "missing_history",
            Kind::Choice(&["line", "credit"]),
            "line",
            "what equation 2 counts for rates before the first",
            "assumption: what the sender sends then",
        ),
        Parameter::new(
            "below",
            Kind::Bytes,
            "2MB",
            "the queue counts as drained below this",
            "figure 9: about 1.5 MB at the end",
        ),
        Parameter::new("duration", Kind::Time, "300ms", "length of the run", "long enough for theta = 30 ms"),
    ],
    outputs: &[
        curve("queue", "MB", "queue of the flow over time in ms"),
        curve("delay", "ms", "queue over R_credit"),
        curve("rate", "Gbps", "R_DQM as issued"),
        curve("enqueue", "Gbps", "rate at which packets join the queue"),
        number("queue_peak", "MB", "largest queue"),
        number("queue_end", "MB", "queue at the end"),
        number("queue_formula", "MB", "R_credit D_t, the fixed point"),
        number("delay_end", "ms", "queueing delay at the end"),
        number("below_after", "ms", "when the queue was above `below` for the last time"),
        number("lowest_rate", "Gbps", "lowest R_DQM"),
        number(
            "decay_time",
            "ms",
            "time in which the excess delay falls to 1/e in the second half of its way; NaN if it is not seen",
        ),
        number(
            "prediction_error",
            "1",
            "worst |enqueue rate / R_DQM issued one RTT_C earlier - 1| in the last quarter",
        ),
        number("queue_prediction_error", "1", "worst |queue / the Q_pre of one RTT_C earlier - 1| in the last quarter"),
    ],
    run,
};

fn run(values: &Values) -> Result<Yield, String> {
    let (rtt_c, rtt_d) = (values.time("rtt_c"), values.time("rtt_d"));
    let (credit_bps, line_bps) = (values.rate_bps("credit_rate"), values.rate_bps("line_rate"));
    let mtu_bytes = values.bytes("mtu");
    let (smoothing, sliding) = (values.text("smoothing") != "none", values.text("smoothing") == "rtt");
    if rtt_d > rtt_c || rtt_c.ps() / rtt_d.ps() > 10_000 {
        return Err("`rtt_c` must be between one and 10 000 times `rtt_d`".into());
    }
    if !(64..=65_535).contains(&mtu_bytes) {
        return Err(format!("`mtu` = {mtu_bytes}B is out of range: from 64B to 65535B"));
    }
    if credit_bps > line_bps {
        return Err("`credit_rate` is above `line_rate`: no queue would form".into());
    }
    let settings = DqmSettings {
        target_s: values.time("target_delay").as_s(),
        theta_s: values.time("theta").as_s(),
        credit_mean: values.count("credit_mean") as usize,
        alpha: values.number("alpha"),
        at_least: true,
        advertised: smoothing,
        line_before: values.text("missing_history") == "line",
        floor_queue: true,
        clamp_raw: true,
        clamp_window: true,
        sliding,
    };
    let bounds = Bounds { rtt_c, rtt_d, mtu_bytes: mtu_bytes as u32, line_bps, min_bps: 100e6_f64.min(line_bps) };
    let mut dqm = Dqm::new(settings, bounds);

    // Equation 1: what is issued now is on its way for n steps.
    let n = ((rtt_c.ps() + rtt_d.ps() / 2) / rtt_d.ps()) as usize;
    let (step_s, rtt_c_s) = (rtt_d.as_s(), rtt_c.as_s());
    let steps = (values.time("duration").ps() / rtt_d.ps()) as usize;
    if steps < 8 * n || steps > 10_000_000 {
        return Err(format!("`duration` must hold between {} and 10 000 000 steps of `rtt_d`, not {steps}", 8 * n));
    }
    // What the sender obeys, and R_DQM before it was smoothed.
    let mut obeyed = vec![line_bps; n];
    let mut issued = Vec::with_capacity(steps);
    let mut queues = Vec::with_capacity(steps);
    let (mut queue_bits, mut leaving_packets) = (0.0f64, 0.0f64);
    for step in 0..steps {
        let arrived_bits = obeyed[step] * step_s;
        let held = queue_bits + arrived_bits;
        queue_bits = (held - credit_bps * step_s).max(0.0);
        dqm.on_match(credit_bps, (queue_bits / 8.0) as u64, rtt_d);
        issued.push(dqm.raw_bps());
        obeyed.push(if smoothing {
            leaving_packets += (held - queue_bits) / 8.0 / mtu_bytes as f64;
            let mut rate_bps = *obeyed.last().expect("n is at least one");
            while leaving_packets >= 1.0 {
                rate_bps = dqm.on_ack();
                leaving_packets -= 1.0;
            }
            rate_bps
        } else {
            dqm.raw_bps()
        });
        queues.push(queue_bits);
    }

    let at_ms = |step: usize| step as f64 * step_s * 1e3;
    let delay_ms = |queue_bits: f64| queue_bits / credit_bps * 1e3;
    let mut found = Yield::default();
    // Some thousand points suffice for a curve.
    let every = steps.div_ceil(3000);
    let drawn = || (0..steps).step_by(every);
    found.curve("queue", drawn().map(|step| (at_ms(step), queues[step] / 8e6)));
    found.curve("delay", drawn().map(|step| (at_ms(step), delay_ms(queues[step]))));
    found.curve("rate", drawn().map(|step| (at_ms(step), issued[step] / 1e9)));
    found.curve("enqueue", drawn().map(|step| (at_ms(step), obeyed[step] / 1e9)));
    let end = queues[steps - 1];
    let target_ms = settings.target_s * 1e3;
    found.number("queue_peak", queues.iter().copied().fold(0.0, f64::max) / 8e6);
    found.number("queue_end", end / 8e6);
    found.number("queue_formula", credit_bps * settings.target_s / 8e6);
    found.number("delay_end", delay_ms(end));
    let below = values.bytes("below") as f64 * 8.0;
    let last_above = queues.iter().rposition(|queue| *queue > below);
    let still = last_above == Some(steps - 1);
    found.number("below_after", if still { f64::INFINITY } else { last_above.map_or(0.0, at_ms) });
    found.number("lowest_rate", issued.iter().copied().fold(f64::INFINITY, f64::min) / 1e9);
    let excess: Vec<f64> = queues.iter().map(|queue| delay_ms(*queue) - target_ms).collect();
    found.number("decay_time", decay_steps(&excess).map_or(f64::NAN, at_ms));
    let late = steps - steps / 4..steps;
    let rate_error = |step: usize| (obeyed[step] / issued[step - n] - 1.0).abs();
    found.number("prediction_error", late.clone().map(rate_error).fold(0.0, f64::max));
    let queue_error = |step: usize| {
        let then = step - n;
        let mean_bps = obeyed[then..then + n].iter().sum::<f64>() / n as f64;
        let predicted = ((mean_bps - credit_bps) * rtt_c_s + queues[then]).max(0.0);
        (queues[step] / predicted - 1.0).abs()
    };
    found.number("queue_prediction_error", late.map(queue_error).fold(0.0, f64::max));
    Ok(found)
}

/// Steps from half of the largest excess to 1/e of that.
fn decay_steps(excess: &[f64]) -> Option<usize> {
    let (peak_at, peak) = excess.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1))?;
    let falls_to = |level: f64| excess[peak_at..].iter().position(|value| *value <= level);
    let half = falls_to(peak / 2.0)?;
    falls_to(peak / 2.0 * libm::exp(-1.0)).map(|end| end - half)
}

#[cfg(test)]
mod tests {
    use crate::tests::run_with;

    /// Computed independently of this code; the least rate agrees to a hundredth.
    #[test]
    fn the_queue_settles_at_the_target_delay() {
        for (theta, below_ms, lowest_gbps) in [("6ms", 23.0, 1.96), ("18ms", 58.0, 8.99), ("30ms", 93.0, 10.39)] {
            let found = run_with("mlcc-dqm", &format!("theta = '{theta}'")).unwrap().numbers;
            assert!((found["queue_peak"] - 9.41).abs() < 0.005, "{theta}: peak {}", found["queue_peak"]);
            assert!((found["queue_end"] - 1.5625).abs() < 0.005, "{theta}: end {}", found["queue_end"]);
            assert!((found["delay_end"] - 1.0).abs() < 0.003, "{theta}: {} ms", found["delay_end"]);
            assert!((found["below_after"] - below_ms).abs() < 0.5, "{theta}: {} ms", found["below_after"]);
            assert!((found["lowest_rate"] / lowest_gbps - 1.0).abs() < 0.01, "{theta}: {}", found["lowest_rate"]);
            assert_eq!(found["prediction_error"], 0.0, "without smoothing the sender obeys what was issued");
            assert!(found["queue_prediction_error"] < 0.005, "{theta}: {}", found["queue_prediction_error"]);
            let theta_ms: f64 = theta.trim_end_matches("ms").parse().unwrap();
            // The predicted queue decays with theta, and the queue follows it one RTT_C later.
            assert!((found["decay_time"] / theta_ms - 1.0).abs() < 0.05, "{theta}: {}", found["decay_time"]);
        }
    }

    #[test]
    fn smoothing_over_one_long_round_trip_keeps_the_fixed_point() {
        let found = run_with("mlcc-dqm", "smoothing = 'rtt'").unwrap().numbers;
        assert!((found["delay_end"] - 1.0).abs() < 0.1, "{found:?}");
        assert!(found["prediction_error"] < 0.05, "{found:?}");
        // A window that forgets nothing swings for ever.
        let found = run_with("mlcc-dqm", "smoothing = 'all'").unwrap().numbers;
        assert!(found["prediction_error"] > 0.05, "{found:?}");
    }

    #[test]
    fn senseless_loops_are_refused() {
        for text in ["rtt_d = '7ms'", "mtu = '9B'", "credit_rate = '30Gbps'", "duration = '10ms'"] {
            assert!(run_with("mlcc-dqm", text).is_err(), "{text}");
        }
    }
}
