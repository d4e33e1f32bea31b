//! Files that the tests write themselves, read as that simulator's.
