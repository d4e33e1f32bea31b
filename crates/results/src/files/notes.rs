//! Things about files that whoever started the program should hear, without being errors.

use std::sync::{Mutex, PoisonError};

static NOTES: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Keeps a note until the command line asks for it.
pub fn note(text: String) {
    NOTES.lock().unwrap_or_else(PoisonError::into_inner).push(text);
}

/// All notes since the last call.
pub fn take() -> Vec<String> {
    std::mem::take(&mut *NOTES.lock().unwrap_or_else(PoisonError::into_inner))
}
