//! Random small scenarios, and what must hold of every one of them.
//!
//! A scenario is a function of a 64-bit seed, drawn as the text a person would write: so a failure
//! is a number, and its scenario can be printed, run and made smaller. Reading order: [`mod@scenario`]
//! (a whole one, from the sections beside it), [`trial`] (loaded, checked and run in memory),
//! [`invariants`] (what must hold), [`runner`] (very many, on several threads), [`rewrite`] (the same
//! experiment written otherwise, for tests of what must not change).

pub mod devices;
pub mod draw;
pub mod events;
pub mod invariants;
pub mod network;
pub mod recovery;
pub mod rewrite;
pub mod routing;
pub mod runner;
pub mod scenario;
pub mod schemes;
pub mod traffic;
pub mod trial;

pub use draw::Draw;
pub use network::Network;
pub use scenario::{job_text, scenario, text};
pub use trial::{Trial, Verdict};

/// A number from the environment.
pub fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |text| text.parse().unwrap_or_else(|_| panic!("{name} is not a number")))
}
