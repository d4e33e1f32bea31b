//! Rates as real numbers, or in whole bits per second: a parameter that several schemes share.

use crate::param::params;

params! {
    /// How rates are kept.
    pub struct Params {
        /// rates as they are computed, or cut off to whole bits per second after every operation
        rounding: Rounding {
            None = "none",
            /// A rate is a whole number, and so is every intermediate result.
            Bps = "bps",
        } = "none", from "the HPCC authors' simulator has whole bits per second";
    }
}

impl Rounding {
    /// A rate that is the result of one operation.
    #[inline]
    pub fn keep(self, bps: f64) -> f64 {
        match self {
            Rounding::None => bps,
            Rounding::Bps => bps as u64 as f64,
        }
    }

    /// The mean of two rates; whole halves add up to up to one bit less.
    #[inline]
    pub fn mean(self, a_bps: f64, b_bps: f64) -> f64 {
        match self {
            Rounding::None => (a_bps + b_bps) / 2.0,
            Rounding::Bps => self.keep(a_bps / 2.0) + self.keep(b_bps / 2.0),
        }
    }

    /// A rate from a parameter: parts of the line rate are meant as whole numbers, whatever the
    /// division leaves.
    pub fn given(self, bps: f64) -> f64 {
        match self {
            Rounding::None => bps,
            Rounding::Bps => bps.round(),
        }
    }
}
