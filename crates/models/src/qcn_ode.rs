//! QCN as a differential equation: which shares it settles at (section V of the FQCN paper).

use crate::rate_ode::*;
use crate::{ModelSpec, Values, Yield};

pub const SPEC: ModelSpec = ModelSpec {
    name: "qcn-ode",
    title: "QCN without its timer, as a differential equation",
    what: "dR_i/dt = (RT_i - R_i) R_i / (16 BL) (1 - p) - G_d Psi R_i^2 / K p: equation 12 with a source's messages in \
           proportion to its own rate, as QCN samples; p is a logistic function of the load around C. Its Lyapunov \
           function is J_B, equation 18.",
    source: "FQCN, IEEE Trans. Communications 2013, section V",
    parameters: &[CAPACITY, TARGETS, PSI, GD, BYTE_COUNTER, PACKET, WIDTH, STARTS, SEED, STEP, DURATION],
    outputs: OUTPUTS,
    run,
};

fn run(values: &Values) -> Result<Yield, String> {
    crate::rate_ode::run(values, &Qcn)
}

pub struct Qcn;

impl Law for Qcn {
    fn slope(&self, link: &Link, rate: f64, target: f64, psi: f64, p: f64) -> f64 {
        let increase = (target - rate) * rate / link.cycle_bits;
        let decrease = link.gd * psi * rate * rate / link.packet_bits;
        increase * (1.0 - p) - decrease * p
    }

    /// Equation 18, with eta = 16 BL G_d Psi. Where eta = K the logarithm turns into a square.
    fn potential(&self, link: &Link, rate: f64, target: f64, psi: f64) -> f64 {
        let k = link.packet_bits;
        let eta = link.cycle_bits * link.gd * psi;
        let rest = k - eta;
        if rest.abs() < 1e-6 * k {
            return rate - rate * rate / (2.0 * target);
        }
        k / rest * (rate + eta * target / rest * libm::log1p(-rest * rate / (k * target)))
    }

    fn feedback(&self, link: &Link, rates: &[f64]) -> Vec<f64> {
        vec![link.psi; rates.len()]
    }

    fn fastest(&self, link: &Link, targets: &[f64]) -> f64 {
        // The largest target may hold the link alone.
        let largest = targets.iter().copied().fold(0.0, f64::max).min(link.capacity);
        let total = targets.iter().sum::<f64>().min(1.1 * link.capacity);
        total * (link.gd * link.psi * largest / link.packet_bits + largest / link.cycle_bits)
    }
}

#[cfg(test)]
mod tests {
    use crate::tests::run_with;

    #[test]
    fn ends_in_proportion_to_the_targets() {
        let found = run_with("qcn-ode", "width = 0.01\nstep = '1us'\nduration = '20ms'\nstarts = 3").unwrap().numbers;
        for (source, gbps) in [(1, 0.98), (2, 1.96), (3, 2.94), (4, 3.92)] {
            let rate = found[&format!("end_{source}")];
            assert!((rate - gbps).abs() < 0.005, "source {source}: {rate}");
        }
        assert!(found["lyapunov_worst_decrease"] < 1e-6, "{found:?}");
        assert!(found["spread"] < 0.01 && (0.95..=1.02).contains(&found["sum"]), "{found:?}");
        assert!(found["distance_proportional"] < found["distance_max_min"], "{found:?}");
    }

    #[test]
    fn a_step_that_is_too_long_is_refused() {
        let why = run_with("qcn-ode", "step = '20us'").unwrap_err();
        assert!(why.contains("`step` is too long for this `width`"), "{why}");
    }
}
