//! An incremental proportional-integral controller with clamp, on a queue length.

/// Its output and what it remembers.
#[derive(Clone, Debug)]
pub struct Pi {
    value: f64,
    old: f64,
    min: f64,
    max: f64,
}

impl Pi {
    /// From output `value`, as if the input had been `old`; the output stays between `min` and `max`.
    pub fn new(value: f64, old: f64, min: f64, max: f64) -> Pi {
        Pi { value, old, min, max }
    }

    /// The output after the last step.
    #[inline]
    pub fn value(&self) -> f64 {
        self.value
    }

    /// The input at the last step.
    #[inline]
    pub fn old(&self) -> f64 {
        self.old
    }

    /// `value += integral (q - reference) + proportional (q - q_old)`, clamped; then q_old = q.
    pub fn step(&mut self, q: f64, reference: f64, integral: f64, proportional: f64) {
        let value = self.value + integral * (q - reference) + proportional * (q - self.old);
        self.set(value, q);
    }

    /// Moves the output past the law; the input is remembered as in a step.
    pub fn set(&mut self, value: f64, q: f64) {
        self.value = value.clamp(self.min, self.max);
        self.old = q;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_clamps_and_does_not_wind_up() {
        let mut pi = Pi::new(0.0, 10.0, 0.0, 1.0);
        for _ in 0..100 {
            pi.step(0.0, 10.0, 0.1, 0.1);
            assert_eq!((pi.value(), pi.old()), (0.0, 0.0));
        }
        // At once back from the clamp: 0.1 (11 - 10) + 0.05 (11 - 0).
        pi.step(11.0, 10.0, 0.1, 0.05);
        assert!((pi.value() - 0.65).abs() < 1e-12);
        pi.step(1000.0, 10.0, 0.1, 0.1);
        assert_eq!(pi.value(), 1.0);
    }
}
