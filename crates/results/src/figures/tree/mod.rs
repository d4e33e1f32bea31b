//! The congestion tree of a run at an instant, drawn on its network: who was told to stop, and because of which queue.
//!
//! Reading order: [`scene`] (what is shown), `choice` (which nodes and links of it are drawn), `place` (where they
//! stand), `course` (how links run), `shapes` (what is drawn of it, with `bar`, `label` and `words`), `paint` (how, on
//! any backend).

mod bar;
mod choice;
mod course;
mod label;
mod paint;
mod place;
pub mod scene;
mod shapes;
mod words;

pub use paint::{png, svg};
pub use words::caption;
