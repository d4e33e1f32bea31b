//! Verdicts, counted.

use crate::reproduce::report_data::{Answer, ClaimResult, Verdict};
use serde::{Deserialize, Serialize};
use std::iter::Sum;

#[derive(Clone, Copy, Default, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Totals {
    pub holds: usize,
    pub in_direction: usize,
    pub does_not_hold: usize,
    pub undecided: usize,
    /// Undecided claims of which it is only open whether the size is right.
    pub undecided_in_size: usize,
    pub not_run: usize,
    pub not_judged: usize,
    /// Claims that nothing could make fail, whatever their verdict.
    pub apart: usize,
    /// Claims that the paper's own numbers exclude, whatever their verdict.
    pub contradicted: usize,
}

/// What a claim counts as.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Class {
    Verdict(Verdict),
    /// Undecided, but for its direction.
    UndecidedInSize,
    CannotFail,
    Contradicted,
}

impl Class {
    pub fn of(claim: &ClaimResult) -> Class {
        match claim.verdict {
            _ if !claim.cannot_fail.is_empty() => Class::CannotFail,
            _ if !claim.contradicted.is_empty() => Class::Contradicted,
            Verdict::Undecided if claim.direction == Some(Answer::True) => Class::UndecidedInSize,
            verdict => Class::Verdict(verdict),
        }
    }
}

impl Sum for Totals {
    fn sum<I: Iterator<Item = Totals>>(all: I) -> Totals {
        all.fold(Totals::default(), |a, b| Totals {
            holds: a.holds + b.holds,
            in_direction: a.in_direction + b.in_direction,
            does_not_hold: a.does_not_hold + b.does_not_hold,
            undecided: a.undecided + b.undecided,
            undecided_in_size: a.undecided_in_size + b.undecided_in_size,
            not_run: a.not_run + b.not_run,
            not_judged: a.not_judged + b.not_judged,
            apart: a.apart + b.apart,
            contradicted: a.contradicted + b.contradicted,
        })
    }
}

impl Totals {
    pub fn of<'a>(claims: impl Iterator<Item = &'a ClaimResult>) -> Totals {
        Totals::count(claims.map(Class::of))
    }

    pub fn count(classes: impl Iterator<Item = Class>) -> Totals {
        let mut totals = Totals::default();
        for class in classes {
            *match class {
                Class::CannotFail => &mut totals.apart,
                Class::Contradicted => &mut totals.contradicted,
                Class::UndecidedInSize | Class::Verdict(Verdict::Undecided) => &mut totals.undecided,
                Class::Verdict(Verdict::Holds) => &mut totals.holds,
                Class::Verdict(Verdict::HoldsInDirection) => &mut totals.in_direction,
                Class::Verdict(Verdict::DoesNotHold) => &mut totals.does_not_hold,
                Class::Verdict(Verdict::NotRunAtThisScale) => &mut totals.not_run,
                Class::Verdict(Verdict::NotJudged) => &mut totals.not_judged,
            } += 1;
            totals.undecided_in_size += usize::from(class == Class::UndecidedInSize);
        }
        totals
    }

    /// Claims that could be judged, could have failed and could have held; those that are undecided too.
    pub fn judged(&self) -> usize {
        self.holds + self.in_direction + self.does_not_hold + self.undecided
    }

    pub fn all(&self) -> usize {
        self.judged() + self.not_run + self.not_judged + self.apart + self.contradicted
    }

    /// Claims whose direction is right, whatever is known of their size.
    pub fn at_least_in_direction(&self) -> usize {
        self.holds + self.in_direction + self.undecided_in_size
    }

    pub fn of_verdict(&self, verdict: Verdict) -> usize {
        match verdict {
            Verdict::Holds => self.holds,
            Verdict::HoldsInDirection => self.in_direction,
            Verdict::DoesNotHold => self.does_not_hold,
            Verdict::Undecided => self.undecided,
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
        [self.percent(self.holds), self.percent(self.at_least_in_direction())]
    }

    /// What was found, in a sentence.
    pub fn finding(&self) -> String {
        let judged = self.judged();
        if judged == 0 {
            return "None of these claims could be judged.".to_owned();
        }
        let [outright, at_least] = self.percents();
        let claims = if judged == 1 { "claim" } else { "claims" };
        let undecided = match self.undecided {
            0 => String::new(),
            1 => ", 1 is undecided".to_owned(),
            many => format!(", {many} are undecided"),
        };
        format!(
            "Of {judged} {claims} that could be judged {} hold ({outright}), {} at least in direction ({at_least}); {} \
             do not{undecided}.",
            self.holds,
            self.at_least_in_direction(),
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
        let totals = Totals { undecided: 3, undecided_in_size: 2, contradicted: 5, ..totals };
        let expected = "Of 20 claims that could be judged 11 hold (55 %), 15 at least in direction (75 %); 4 do not, 3 \
                        are undecided.";
        assert_eq!((totals.finding().as_str(), totals.all()), (expected, 27));
        assert_eq!(Totals { apart: 3, ..Totals::default() }.finding(), "None of these claims could be judged.");
    }
}
