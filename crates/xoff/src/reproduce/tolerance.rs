//! What is accepted of a claim's numbers, by how the paper states its own: one rule for all papers.

/// How a paper states a number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stated {
    /// A measured number: a duration, a queue, frames per second.
    Number,
    /// A rate that follows from capacities, such as a fair share.
    Share,
    /// The part of a link that is used.
    Use,
    /// Per cent less than another scheme.
    Saving,
    /// The largest of several savings, in per cent: "up to" so many.
    LargestSaving,
    /// Times as fast, or as many, as another scheme.
    Times,
    AtLeast,
    AtMost,
    /// Jain's index of equal shares.
    Fair,
}

pub const STATED: [(&str, Stated); 9] = [
    ("number", Stated::Number),
    ("share", Stated::Share),
    ("use", Stated::Use),
    ("saving", Stated::Saving),
    ("largest-saving", Stated::LargestSaving),
    ("times", Stated::Times),
    ("at-least", Stated::AtLeast),
    ("at-most", Stated::AtMost),
    ("fair", Stated::Fair),
];

impl Stated {
    /// What is accepted of a number that the paper states as `low` to `high`. `whole` is all that there is of it: 100
    /// for per cent, 1 for parts of something.
    pub fn range(self, low: f64, high: f64, whole: Option<f64>) -> (f64, f64) {
        let saving = (low / 2.0).max(100.0 - 2.0 * (100.0 - low));
        match self {
            Stated::Number => (low / 2.0, 2.0 * high),
            Stated::Share => (0.85 * low, 1.1 * high),
            Stated::Use => (1.0 - 2.0 * (1.0 - low), 1.0 - (1.0 - high) / 2.0),
            Stated::Saving => (saving, (1.5 * high).min(100.0)),
            Stated::LargestSaving => (saving, 100.0),
            Stated::Times => (1.0 + (low - 1.0) / 2.0, 1.0 + 2.0 * (high - 1.0)),
            Stated::AtLeast => {
                let left = whole.map_or(f64::NEG_INFINITY, |whole| whole - 2.0 * (whole - low));
                ((0.9 * low).max(left), f64::INFINITY)
            }
            Stated::AtMost => (f64::NEG_INFINITY, 1.1 * high),
            // No index is above 1, but an interval around its mean may be.
            Stated::Fair => (0.95, f64::INFINITY),
        }
    }

    pub fn words(self) -> &'static str {
        match self {
            Stated::Number => "half to twice the paper's number",
            Stated::Share => "15 % below to 10 % above the share",
            Stated::Use => "half to twice the unused part",
            Stated::Saving => "from half the saving, or twice what is left if that is more, to one and a half times it",
            Stated::LargestSaving => "at least half the largest saving that the paper saw, or twice what is left",
            Stated::Times => "half to twice the advantage, which is the ratio less one",
            Stated::AtLeast => "at least the bound less a tenth, or twice what is left to the whole if that is nearer",
            Stated::AtMost => "at most the bound and a tenth",
            Stated::Fair => "a Jain index of at least 0.95",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_rule_for_each_way_to_state_a_number() {
        let near = |(a, b): (f64, f64), (c, d): (f64, f64)| {
            assert!((a - c).abs() < 1e-9 || a == c, "{a} {c}");
            assert!((b - d).abs() < 1e-9 || b == d, "{b} {d}");
        };
        near(Stated::Number.range(50.0, 100.0, None), (25.0, 200.0));
        near(Stated::Share.range(2.0, 2.0, None), (1.7, 2.2));
        near(Stated::Use.range(0.9, 0.9, Some(1.0)), (0.8, 0.95));
        near(Stated::Saving.range(36.0, 36.0, Some(100.0)), (18.0, 54.0));
        // 11 % are left: 22 % at most.
        near(Stated::Saving.range(89.0, 89.0, Some(100.0)), (78.0, 100.0));
        near(Stated::LargestSaving.range(46.0, 46.0, Some(100.0)), (23.0, 100.0));
        near(Stated::Times.range(3.5, 3.5, None), (2.25, 6.0));
        near(Stated::AtLeast.range(53.0, 53.0, Some(100.0)), (47.7, f64::INFINITY));
        near(Stated::AtLeast.range(92.0, 92.0, Some(100.0)), (84.0, f64::INFINITY));
        near(Stated::AtLeast.range(1000.0, 1000.0, None), (900.0, f64::INFINITY));
        near(Stated::AtMost.range(7.5, 7.5, None), (f64::NEG_INFINITY, 8.25));
        near(Stated::Fair.range(1.0, 1.0, None), (0.95, f64::INFINITY));
    }
}
