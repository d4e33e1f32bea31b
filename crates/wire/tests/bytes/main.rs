//! Frames as bytes, from outside: written and read, damaged, and by what schemes say in them.

mod contents;
mod frames;
mod malformed;
mod roundtrip;
