//! The classical Runge-Kutta method of order 4 with a fixed step, for autonomous systems.
//!
//! A fixed step, because adaptive methods choose theirs with a power function, and because the
//! equations here change at every sampling event, which is a step.

/// Room for the intermediate slopes of systems of one size.
pub struct RungeKutta {
    step: f64,
    k: [Vec<f64>; 4],
    /// Where the next slopes are taken.
    point: Vec<f64>,
}

impl RungeKutta {
    pub fn new(size: usize, step: f64) -> RungeKutta {
        RungeKutta { step, k: std::array::from_fn(|_| vec![0.0; size]), point: vec![0.0; size] }
    }

    /// Takes `y` a step further along `slopes(y, dy)`.
    pub fn advance(&mut self, y: &mut [f64], mut slopes: impl FnMut(&[f64], &mut [f64])) {
        let half = self.step / 2.0;
        slopes(y, &mut self.k[0]);
        for (stage, part) in [half, half, self.step].into_iter().enumerate() {
            for ((point, y), k) in self.point.iter_mut().zip(&*y).zip(&self.k[stage]) {
                *point = y + k * part;
            }
            slopes(&self.point, &mut self.k[stage + 1]);
        }
        let [a, b, c, d] = &self.k;
        for (i, y) in y.iter_mut().enumerate() {
            *y += (a[i] + b[i] * 2.0 + c[i] * 2.0 + d[i]) * (self.step / 6.0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The largest distance of a turn of the unit circle from where it began.
    fn error_of_a_turn(steps: usize) -> f64 {
        let mut method = RungeKutta::new(2, std::f64::consts::TAU / steps as f64);
        let mut y = [1.0, 0.0];
        for _ in 0..steps {
            method.advance(&mut y, |y, slope| slope.copy_from_slice(&[-y[1], y[0]]));
        }
        (y[0] - 1.0).abs().max(y[1].abs())
    }

    #[test]
    fn half_the_step_has_a_sixteenth_of_the_error() {
        let order = (error_of_a_turn(100) / error_of_a_turn(200)).log2();
        assert!((order - 4.0).abs() < 0.02, "of order {order}");
        assert!(error_of_a_turn(200) < 1e-7);
    }

    /// For y' = -y a step multiplies by the first five terms of the exponential series.
    #[test]
    fn a_step_of_decay_is_the_series_to_the_fourth_power() {
        let (mut y, h) = ([3.0], 0.5);
        RungeKutta::new(1, h).advance(&mut y, |y, slope| slope[0] = -y[0]);
        let series = 1.0 - h + h * h / 2.0 - h * h * h / 6.0 + h * h * h * h / 24.0;
        assert!((y[0] - 3.0 * series).abs() < 1e-15, "{} instead of {}", y[0], 3.0 * series);
    }
}
