//! Rules of other simulators that need machinery of their own.

mod eager;
