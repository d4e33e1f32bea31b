//! A probed quantity over time, and how far two of them are apart.

/// Samples in order of time: microseconds and value. Each stands for the time since the one before it; outside of them
/// the quantity is zero.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Curve {
    samples: Vec<(f64, f64)>,
}

/// A constant stretch of a curve.
#[derive(Clone, Copy)]
struct Stretch {
    from: f64,
    until: f64,
    value: f64,
}

impl Curve {
    /// Samples come in order of time.
    pub fn push(&mut self, time_us: f64, value: f64) {
        self.samples.push((time_us, value));
    }

    pub fn samples(&self) -> &[(f64, f64)] {
        &self.samples
    }

    /// The first sample has no forerunner: it is taken to be as long as the second.
    fn stretches(&self) -> impl Iterator<Item = Stretch> {
        let first = match self.samples[..] {
            [a, b, ..] => (a.0 - (b.0 - a.0)).max(0.0),
            _ => 0.0,
        };
        let ends = self.samples.iter().map(|sample| sample.0);
        let starts = std::iter::once(first).chain(ends);
        starts.zip(&self.samples).map(|(from, &(until, value))| Stretch { from, until, value })
    }

    fn integral(&self) -> f64 {
        self.stretches().map(|of| of.value * (of.until - of.from)).sum()
    }

    /// Over the time in which it was sampled.
    pub fn mean(&self) -> Option<f64> {
        let time: f64 = self.stretches().map(|of| of.until - of.from).sum();
        (time > 0.0).then(|| self.integral() / time)
    }

    pub fn peak(&self) -> Option<f64> {
        self.samples.iter().map(|sample| sample.1).max_by(f64::total_cmp)
    }

    /// The area between both over the area below `base`, in per cent: 0 if they are the same at every instant, 200 if
    /// they have the same mean and never meet. None if `base` is zero throughout.
    pub fn apart_percent(&self, base: &Curve) -> Option<f64> {
        let below = base.integral();
        (below > 0.0).then(|| area_between(self, base) / below * 100.0)
    }
}

/// Walks along both from change to change.
fn area_between(a: &Curve, b: &Curve) -> f64 {
    let mut changes: Vec<f64> =
        [a, b].into_iter().flat_map(Curve::stretches).flat_map(|of| [of.from, of.until]).collect();
    changes.sort_by(f64::total_cmp);
    let (mut of_a, mut of_b) = (Walker::along(a), Walker::along(b));
    let piece = |pair: &[f64]| {
        let middle = f64::midpoint(pair[0], pair[1]);
        (of_a.at(middle) - of_b.at(middle)).abs() * (pair[1] - pair[0])
    };
    changes.windows(2).map(piece).sum()
}

/// Reads a curve at instants that only grow.
struct Walker<I: Iterator<Item = Stretch>> {
    rest: std::iter::Peekable<I>,
}

impl Walker<std::vec::IntoIter<Stretch>> {
    fn along(curve: &Curve) -> Self {
        Walker { rest: curve.stretches().collect::<Vec<_>>().into_iter().peekable() }
    }
}

impl<I: Iterator<Item = Stretch>> Walker<I> {
    fn at(&mut self, time: f64) -> f64 {
        while self.rest.next_if(|stretch| stretch.until <= time).is_some() {}
        self.rest.peek().filter(|stretch| stretch.from <= time).map_or(0.0, |stretch| stretch.value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn curve(samples: &[(f64, f64)]) -> Curve {
        Curve { samples: samples.to_vec() }
    }

    #[test]
    fn a_sample_stands_for_the_time_before_it() {
        let of = curve(&[(10.0, 4.0), (20.0, 8.0), (40.0, 3.0)]);
        // 10 us each of 4 and 8, 20 us of 3.
        assert_eq!((of.mean(), of.peak()), (Some(4.5), Some(8.0)));
        assert_eq!(curve(&[]).mean(), None);
    }

    #[test]
    fn distances_are_areas() {
        let base = curve(&[(10.0, 4.0), (20.0, 4.0)]);
        assert_eq!(base.apart_percent(&base), Some(0.0));
        // Half of the time 2 too high.
        assert_eq!(curve(&[(10.0, 6.0), (20.0, 4.0)]).apart_percent(&base), Some(25.0));
        // The same, late by a quarter of an interval, and on a grid of its own.
        let late = curve(&[(2.5, 0.0), (12.5, 4.0), (22.5, 4.0)]);
        assert_eq!(late.apart_percent(&base), Some(25.0));
        // Where one has ended it is zero.
        assert_eq!(curve(&[(10.0, 4.0), (20.0, 4.0), (30.0, 4.0)]).apart_percent(&base), Some(50.0));
        assert_eq!(base.apart_percent(&curve(&[(10.0, 0.0), (20.0, 0.0)])), None);
    }

    proptest! {
        #[test]
        fn the_area_is_the_same_both_ways(
            a in prop::collection::vec((0.1f64..5.0, 0.0f64..9.0), 2..40),
            b in prop::collection::vec((0.1f64..5.0, 0.0f64..9.0), 2..40),
        ) {
            let of = |steps: &[(f64, f64)]| {
                let mut curve = Curve::default();
                steps.iter().fold(0.0, |time, &(step, value)| {
                    curve.push(time + step, value);
                    time + step
                });
                curve
            };
            let (a, b) = (of(&a), of(&b));
            let area = area_between(&a, &b);
            prop_assert!((area - area_between(&b, &a)).abs() < 1e-9);
            prop_assert!(area + 1e-9 >= (a.integral() - b.integral()).abs());
            prop_assert!(area <= a.integral() + b.integral() + 1e-9);
        }
    }
}
