//! How PCN's weight and rate grow without congestion (figure 10 of the paper).

use crate::{Kind, ModelSpec, Parameter, Values, Yield, curve, number};

pub const SPEC: ModelSpec = ModelSpec {
    name: "pcn-recurrence",
    title: "growth of PCN's weight and rate over unmarked notifications",
    what: "Algorithm 1, lines 8 to 11: rate = rate (1 - w) + line w, then w = w (1 - w) + w_max w, from w = w_min.",
    source: "PCN, NSDI 2020, section 5.3 and figure 10",
    parameters: &[
        Parameter::new(
            "w_min",
            Kind::Number { min: 0.000001, max: 0.5 },
            "1/128",
            "first weight",
            "section 5.3, worked example",
        ),
        Parameter::new(
            "w_max",
            Kind::Number { min: 0.000001, max: 1.0 },
            "0.5",
            "weight that the increases tend to",
            "section 6.2",
        ),
        Parameter::new(
            "start",
            Kind::Number { min: 0.0, max: 1.0 },
            "0",
            "rate before the first notification, of line rate",
            "section 5.3: from zero",
        ),
        Parameter::new(
            "cnps",
            Kind::Count { min: 15, max: 100_000 },
            "25",
            "notifications in the curves",
            "figure 10 (its axis could not be read)",
        ),
    ],
    outputs: &[
        curve("w", "1", "weight after each notification"),
        curve("rate", "of line rate", "sending rate after each notification"),
        number("rate_after_5", "of line rate", "sending rate after 5 notifications"),
        number("rate_after_10", "of line rate", "after 10"),
        number("rate_after_15", "of line rate", "after 15"),
        number("w_after_15", "1", "weight after 15 notifications"),
        number("cnps_to_95", "", "notifications until 95 % of line rate; infinity if more than in the curves"),
    ],
    run,
};

fn run(values: &Values) -> Result<Yield, String> {
    let (w_min, w_max) = (values.number("w_min"), values.number("w_max"));
    let (mut w, mut rate) = (w_min, values.number("start"));
    let mut steps = vec![(w, rate)];
    for _ in 0..values.count("cnps") {
        (w, rate) = grow(w, rate, 1.0, w_max);
        steps.push((w, rate));
    }
    let mut found = Yield::default();
    found.curve("w", steps.iter().enumerate().map(|(k, step)| (k as f64, step.0)));
    found.curve("rate", steps.iter().enumerate().map(|(k, step)| (k as f64, step.1)));
    for k in [5, 10, 15] {
        found.number(format!("rate_after_{k}"), steps[k].1);
    }
    found.number("w_after_15", steps[15].0);
    let reached = steps.iter().position(|step| step.1 >= 0.95);
    found.number("cnps_to_95", reached.map_or(f64::INFINITY, |k| k as f64));
    Ok(found)
}

/// One increase: the rate moves by the old weight, then the weight grows.
pub fn grow(w: f64, rate: f64, line: f64, w_max: f64) -> (f64, f64) {
    (w * (1.0 - w) + w_max * w, rate * (1.0 - w) + line * w)
}

#[cfg(test)]
mod tests {
    use crate::tests::run_with;
    use xoff_engine::{BitRate, Span, Time};
    use xoff_fabric::scheme::{FlowFacts, ReactionPoint, Scheme};
    use xoff_schemes::Configured;
    use xoff_schemes::param::SchemeSpec;
    use xoff_schemes::pcn::{Cnp, Pcn};

    #[test]
    fn gentle_first_and_aggressive_then() {
        let found = run_with("pcn-recurrence", "").unwrap();
        for (name, expected, slack) in [
            ("rate_after_5", 0.0968, 5e-5),
            ("rate_after_10", 0.53812, 5e-6),
            ("rate_after_15", 0.9584, 5e-5),
            ("w_after_15", 0.4795, 5e-5),
        ] {
            assert!((found.numbers[name] - expected).abs() < slack, "{name}: {}", found.numbers[name]);
        }
        assert_eq!(found.numbers["cnps_to_95"], 15.0);
        let rate = &found.curves["rate"];
        assert_eq!((rate.x.len(), rate.x[25], rate.y[1]), (26, 25.0, 1.0 / 128.0));
        assert!((rate.y[20] - 0.99859).abs() < 5e-6);
    }

    /// The scheme's own reaction point, from its floor.
    #[test]
    fn the_scheme_follows_the_recurrence() {
        static SPEC: SchemeSpec = Pcn::SPEC;
        let line = BitRate::from_gbps(40);
        let facts = FlowFacts { initial_rate: BitRate::from_mbps(4), ..FlowFacts::at(line, Span::from_us(30)) };
        let mut rp = Pcn::configure(&SPEC.values(None)).reaction_point(&facts);
        let found = run_with("pcn-recurrence", "start = 0.0001").unwrap();
        for (k, rate) in found.curves["rate"].y.iter().enumerate().take(16) {
            let scheme = rp.limits().rate_bps / 40e9;
            assert!((scheme - rate).abs() < 1e-12, "after {k}: {scheme} against {rate}");
            rp.on_feedback(Time::ZERO, &Cnp { congested: false, rec_rate_mbps: 0 });
        }
    }
}
