//! Verdicts, counted.

use crate::reproduce::report_data::{ClaimResult, Verdict};

#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Totals {
    pub holds: usize,
    pub in_direction: usize,
    pub does_not_hold: usize,
    pub not_run: usize,
    pub not_judged: usize,
    /// Claims that nothing could make fail, whatever their verdict.
    pub apart: usize,
}

impl Totals {
    pub fn of<'a>(claims: impl Iterator<Item = &'a ClaimResult>) -> Totals {
        Totals::count(claims.map(|claim| (claim.verdict, !claim.cannot_fail.is_empty())))
    }

    /// Counts verdicts, each with whether it is not falsifiable.
    pub fn count(verdicts: impl Iterator<Item = (Verdict, bool)>) -> Totals {
        let mut totals = Totals::default();
        for (verdict, apart) in verdicts {
            *match verdict {
                _ if apart => &mut totals.apart,
                Verdict::Holds => &mut totals.holds,
                Verdict::HoldsInDirection => &mut totals.in_direction,
                Verdict::DoesNotHold => &mut totals.does_not_hold,
                Verdict::NotRunAtThisScale => &mut totals.not_run,
                Verdict::NotJudged => &mut totals.not_judged,
            } += 1;
        }
        totals
    }

    /// Claims that could be judged, and could have failed.
    pub fn judged(&self) -> usize {
        self.holds + self.in_direction + self.does_not_hold
    }

    pub fn all(&self) -> usize {
        self.judged() + self.not_run + self.not_judged + self.apart
    }

    pub fn of_verdict(&self, verdict: Verdict) -> usize {
        match verdict {
            Verdict::Holds => self.holds,
            Verdict::HoldsInDirection => self.in_direction,
            Verdict::DoesNotHold => self.does_not_hold,
            Verdict::NotRunAtThisScale => self.not_run,
            Verdict::NotJudged => self.not_judged,
        }
    }

    /// `72 %` of the claims that were judged; `-` if none was.
    pub fn percent(&self, count: usize) -> String {
        match self.judged() {
            0 => "-".to_owned(),
            judged => format!("{:.0} %", 100.0 * count as f64 / judged as f64),
        }
    }

    /// Outright, and at least in direction.
    pub fn percents(&self) -> [String; 2] {
        [self.percent(self.holds), self.percent(self.holds + self.in_direction)]
    }

    /// What was found, in a sentence.
    pub fn finding(&self) -> String {
        let judged = self.judged();
        if judged == 0 {
            return "None of these claims could be judged.".to_owned();
        }
        let [outright, at_least] = self.percents();
        let claims = if judged == 1 { "claim" } else { "claims" };
        format!(
            "Of {judged} {claims} that could be judged {} hold ({outright}), {} at least in direction ({at_least}); {} \
             do not.",
            self.holds,
            self.holds + self.in_direction,
            self.does_not_hold
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_says_what_was_found() {
        let totals = Totals { holds: 11, in_direction: 2, does_not_hold: 4, apart: 2, ..Totals::default() };
        let expected = "Of 17 claims that could be judged 11 hold (65 %), 13 at least in direction (76 %); 4 do not.";
        assert_eq!(totals.finding(), expected);
        assert_eq!(Totals { apart: 3, ..Totals::default() }.finding(), "None of these claims could be judged.");
    }
}
