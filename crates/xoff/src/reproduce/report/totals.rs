//! Verdicts, counted.

use crate::reproduce::judged::{Judged, Verdict};

#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Totals {
    pub holds: usize,
    pub in_direction: usize,
    pub does_not_hold: usize,
    pub not_run: usize,
    /// Of those that do not hold: they do, at least in direction, under another reasonable assumption.
    pub otherwise: usize,
}

impl Totals {
    pub fn of<'a>(claims: impl Iterator<Item = &'a Judged>) -> Totals {
        let mut totals = Totals::default();
        for claim in claims {
            *match claim.verdict {
                Verdict::Holds => &mut totals.holds,
                Verdict::HoldsInDirection => &mut totals.in_direction,
                Verdict::DoesNotHold => &mut totals.does_not_hold,
                Verdict::NotRunAtThisScale => &mut totals.not_run,
            } += 1;
            let holds = |verdict| matches!(verdict, Verdict::Holds | Verdict::HoldsInDirection);
            if claim.verdict == Verdict::DoesNotHold && claim.variants.iter().any(|of| holds(of.verdict)) {
                totals.otherwise += 1;
            }
        }
        totals
    }

    /// Claims that could be judged.
    pub fn judged(&self) -> usize {
        self.holds + self.in_direction + self.does_not_hold
    }

    pub fn all(&self) -> usize {
        self.judged() + self.not_run
    }

    pub fn of_verdict(&self, verdict: Verdict) -> usize {
        match verdict {
            Verdict::Holds => self.holds,
            Verdict::HoldsInDirection => self.in_direction,
            Verdict::DoesNotHold => self.does_not_hold,
            Verdict::NotRunAtThisScale => self.not_run,
        }
    }

    /// `72 %` of the claims that could be judged; `-` if none could.
    pub fn percent(&self, count: usize) -> String {
        match self.judged() {
            0 => "-".to_owned(),
            judged => format!("{:.0} %", 100.0 * count as f64 / judged as f64),
        }
    }
}
