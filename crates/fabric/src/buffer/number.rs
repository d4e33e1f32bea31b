//! Numbers as thresholds are computed with.

/// A number of bytes or picoseconds as a float; one instruction, since it fits an `i64`.
#[inline(always)]
pub fn real(number: u64) -> f64 {
    debug_assert!(i64::try_from(number).is_ok());
    number as i64 as f64
}
