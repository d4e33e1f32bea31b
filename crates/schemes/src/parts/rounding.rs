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

/// The whole number that simulators in C++ make of a quotient (x86-64): truncated, but 2^63
/// for what is not a number, so that it ends at line rate, and zero for what is too large.
pub fn cut_off(quotient: f64) -> u64 {
    const TOO_LARGE: f64 = u64::MAX as f64;
    if quotient.is_nan() {
        1 << 63
    } else if quotient >= TOO_LARGE {
        0
    } else {
        quotient as u64
    }
}

/// A count as a real number. Counts stay below 2^63, where processors have an instruction for it.
#[inline]
pub fn real(count: u64) -> f64 {
    debug_assert!(count < 1 << 63, "{count}");
    count as i64 as f64
}
