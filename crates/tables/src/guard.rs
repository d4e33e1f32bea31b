//! Panics of the library that reads Parquet files, as errors: a damaged file makes it fail assertions.

use parquet::errors::ParquetError;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Once;

thread_local! {
    static READING: Cell<bool> = const { Cell::new(false) };
}

/// Calls `read`. A panic becomes an error and prints nothing.
pub(crate) fn guarded<T>(read: impl FnOnce() -> Result<T, ParquetError>) -> Result<T, ParquetError> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let others = take_hook();
        set_hook(Box::new(move |panic| {
            if !READING.get() {
                others(panic);
            }
        }));
    });
    READING.set(true);
    let done = catch_unwind(AssertUnwindSafe(read));
    READING.set(false);
    done.unwrap_or_else(|_| Err(ParquetError::General("it is damaged".to_owned())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_an_error() {
        let damaged = guarded(|| -> Result<(), ParquetError> { panic!("assertion failed: size <= src.len()") });
        assert!(damaged.unwrap_err().to_string().contains("it is damaged"));
        assert_eq!(guarded(|| Ok(7)).unwrap(), 7);
    }
}
