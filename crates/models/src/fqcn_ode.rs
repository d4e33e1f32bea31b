//! FQCN as a differential equation, with its choice of culprits in the loop (section V of the paper).

use crate::rate_ode::*;
use crate::{Kind, ModelSpec, Parameter, Values, Yield};

const SELECTION: Parameter = Parameter::new(
    "selection",
    Kind::Choice(&["culprits", "all"]),
    "culprits",
    "which sources are notified: the overrated ones, each its part (equations 7 to 9); or every source, the whole of Psi",
    "section IV; the closed form of section V has one feedback for all",
);

pub const SPEC: ModelSpec = ModelSpec {
    name: "fqcn-ode",
    title: "FQCN without its timer, as a differential equation",
    what: "dR_i/dt = (RT_i - R_i) R_i / (16 BL) (1 - p) - G_d Psi_i C R_i / K p, equation 12; p is a logistic function \
           of the load around C. At each step the sources are sampled (bytes in proportion to rates), and equations 7 \
           to 9 give each source its feedback until the next. The Lyapunov function is J_A, equations 15 to 17, for the \
           feedback of the moment: what it gains in each step is added up.",
    source: "FQCN, IEEE Trans. Communications 2013, sections IV and V",
    parameters: &[CAPACITY, TARGETS, PSI, SELECTION, GD, BYTE_COUNTER, PACKET, WIDTH, STARTS, SEED, STEP, DURATION],
    outputs: OUTPUTS,
    run,
};

fn run(values: &Values) -> Result<Yield, String> {
    crate::rate_ode::run(values, &Fqcn { select: values.text("selection") == "culprits" })
}

pub struct Fqcn {
    select: bool,
}

impl Law for Fqcn {
    fn slope(&self, link: &Link, rate: f64, target: f64, psi: f64, p: f64) -> f64 {
        let increase = (target - rate) * rate / link.cycle_bits;
        let decrease = link.gd * psi * link.capacity * rate / link.packet_bits;
        increase * (1.0 - p) - decrease * p
    }

    /// Equation 16, with alpha_i = K RT_i + 16 BL C G_d Psi_i.
    fn potential(&self, link: &Link, rate: f64, target: f64, psi: f64) -> f64 {
        if psi == 0.0 {
            return rate;
        }
        let k = link.packet_bits;
        let cut = link.cycle_bits * link.capacity * link.gd * psi;
        rate + cut / k * libm::log1p(-k * rate / (k * target + cut))
    }

    fn feedback(&self, link: &Link, rates: &[f64]) -> Vec<f64> {
        if !self.select {
            return vec![link.psi; rates.len()];
        }
        // Equations 7 and 8 with equal weights: at or above the mean, then at or above the mean of those.
        let mean = |above: &[bool]| {
            let chosen = || rates.iter().zip(above).filter(|(_, above)| **above).map(|(rate, _)| rate);
            chosen().sum::<f64>() / chosen().count() as f64
        };
        // Equal rates have a mean that may be rounded above them.
        let reaches = |rate: f64, mean: f64| rate >= mean * (1.0 - 1e-12);
        let all = mean(&vec![true; rates.len()]);
        let high: Vec<bool> = rates.iter().map(|rate| reaches(*rate, all)).collect();
        let fine = mean(&high);
        let overrated: Vec<bool> = rates.iter().zip(&high).map(|(rate, high)| *high && reaches(*rate, fine)).collect();
        // Equation 9.
        let total: f64 = rates.iter().zip(&overrated).filter(|(_, over)| **over).map(|(rate, _)| rate).sum();
        let part = |(rate, over): (&f64, &bool)| if *over { rate / total * link.psi } else { 0.0 };
        rates.iter().zip(&overrated).map(part).collect()
    }

    fn fastest(&self, link: &Link, targets: &[f64]) -> f64 {
        let largest = targets.iter().copied().fold(0.0, f64::max);
        let total = targets.iter().sum::<f64>().min(1.1 * link.capacity);
        // A single culprit receives all of Psi; without selection every source does.
        let notified = if self.select { largest.min(total) } else { total };
        link.gd * link.psi * link.capacity / link.packet_bits * notified + total * largest / link.cycle_bits
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::run_with;

    fn link() -> Link {
        Link { capacity: 10e9, width: 20e6, packet_bits: 12e3, cycle_bits: 2.4e6, gd: 1.0 / 128.0, psi: 18.0 }
    }

    #[test]
    fn culprits_are_those_of_the_worked_examples() {
        let law = Fqcn { select: true };
        assert_eq!(law.feedback(&link(), &[90.0, 20.0, 60.0, 30.0]), [18.0, 0.0, 0.0, 0.0]);
        assert_eq!(law.feedback(&link(), &[100.0, 100.0, 40.0, 10.0]), [9.0, 9.0, 0.0, 0.0]);
        assert_eq!(law.feedback(&link(), &[0.1; 3]), [6.0; 3]);
        assert_eq!(Fqcn { select: false }.feedback(&link(), &[1.0, 9.0]), [18.0; 2]);
    }

    /// Equation 19: dJ/dR + p = K (RT - R) / (alpha - K R); and the slope climbs it (equation 14).
    #[test]
    fn the_potential_is_that_of_the_slope() {
        let (law, link) = (Fqcn { select: true }, link());
        for psi in [0.0, 3.0, 18.0] {
            let (rate, target) = (3e9, 5e9);
            let numeric =
                (law.potential(&link, rate + 1e3, target, psi) - law.potential(&link, rate - 1e3, target, psi)) / 2e3;
            let k = link.packet_bits;
            let alpha = k * target + link.cycle_bits * link.capacity * link.gd * psi;
            let exact = k * (target - rate) / (alpha - k * rate);
            assert!((numeric - exact).abs() < 1e-5, "{psi}: {numeric} {exact}");
            assert!(law.slope(&link, rate, target, psi, exact).abs() < 1e-3 * rate, "at rest where p equals it");
        }
    }

    #[test]
    fn ends_at_max_min_shares() {
        let found = run_with("fqcn-ode", "duration = '20ms'\nstarts = 3").unwrap().numbers;
        for (source, gbps) in [(1, 2.00), (2, 2.65), (3, 2.65), (4, 2.65)] {
            let rate = found[&format!("end_{source}")];
            assert!((rate - gbps).abs() < 0.01, "source {source}: {rate}");
        }
        assert!(found["lyapunov_worst_decrease"] < 1e-6, "{found:?}");
        assert!(found["spread"] < 0.01 && (0.95..=1.02).contains(&found["sum"]), "{found:?}");
        assert!(found["distance_max_min"] < 0.03 && found["distance_proportional"] > 0.1, "{found:?}");
    }

    /// The closed form without selection takes the same from every source, and starves the smallest.
    #[test]
    fn one_feedback_for_all_takes_a_constant() {
        let text = "selection = 'all'\nwidth = 0.01\nstep = '1us'\nduration = '20ms'\nstarts = 2";
        let found = run_with("fqcn-ode", text).unwrap().numbers;
        for (source, target) in [(2, 4.0), (3, 6.0), (4, 8.0)] {
            let rate = found[&format!("end_{source}")];
            assert!((target - rate - 2.78).abs() < 0.01, "source {source}: {rate}");
        }
        assert!(found["end_1"] < 0.01 && found["lyapunov_worst_decrease"] < 1e-6, "{found:?}");
    }

    /// The check can fail: the potential of another feedback falls along the way.
    #[test]
    fn another_potential_does_fall() {
        struct Wrong;
        impl Law for Wrong {
            fn slope(&self, link: &Link, rate: f64, target: f64, psi: f64, p: f64) -> f64 {
                Fqcn { select: false }.slope(link, rate, target, psi, p)
            }
            fn potential(&self, link: &Link, rate: f64, target: f64, psi: f64) -> f64 {
                Fqcn { select: false }.potential(link, rate, target, 4.0 * psi)
            }
            fn feedback(&self, link: &Link, rates: &[f64]) -> Vec<f64> {
                vec![link.psi; rates.len()]
            }
            fn fastest(&self, link: &Link, targets: &[f64]) -> f64 {
                Fqcn { select: false }.fastest(link, targets)
            }
        }
        let given: toml::Table = "width = 0.01\nstep = '1us'\nduration = '2ms'".parse().unwrap();
        let values = Values::read(SPEC.parameters, &given.into_iter().collect()).unwrap();
        let found = crate::rate_ode::run(&values, &Wrong).unwrap();
        assert!(found.0.numbers["lyapunov_worst_decrease"] > 1e-6, "{:?}", found.0.numbers);
    }
}
