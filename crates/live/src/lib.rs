//! Scenarios on real packets: links are pairs of virtual Ethernet interfaces, nodes are network namespaces, and
//! software NICs and switches run the schemes of the registry on the bytes that go over them.
//!
//! Reading order: [`drive`] (a run from its check to its end), [`unsupported`] (what is refused), `run` (the loop) over
//! [`clock`] and `agenda`; `network` (what every node knows), `context` (what it has at hand); `switch` with `buffer`,
//! `forwarding`, `point` and `marking`, `pausing`, `shaper` and `shaping`; `nic` with `arrival` and `receiver`, `answer` and `sender`; `egress` (both have);
//! `flow` and `flows`, `sampler` and `sample`, `tap`, [`lateness`] (what is written down); [`calibrate`];
//! [`partners`] over [`word`], and [`gather`] (runs of several processes).
//!
//! Below that, the machine: [`testbed`] (what is built, and how frames go in and out), `names`, `namespace`, `links` over
//! `netlink` and `port` (what it is built of), `os` (what needs the C library), `rights` and [`refusal`] (why nothing
//! is built), [`priority`] (of the thread that runs it).

#![deny(clippy::print_stdout, clippy::print_stderr)]

// Tests within share networks with those outside, which know this crate by its name.
#[cfg(test)]
extern crate self as xoff_live;

mod agenda;
mod answer;
mod arrival;
pub mod calibrate;
pub mod clock;
mod context;
pub mod drive;
mod egress;
mod flow;
mod flows;
mod forwarding;
pub mod gather;
pub mod lateness;
#[cfg(target_os = "linux")]
mod links;
mod marking;
#[cfg(target_os = "linux")]
mod names;
#[cfg(target_os = "linux")]
mod namespace;
#[cfg(target_os = "linux")]
mod netlink;
mod network;
mod nic;
#[cfg(target_os = "linux")]
mod os;
pub mod partners;
mod pausing;
mod point;
#[cfg(target_os = "linux")]
mod port;
pub mod priority;
mod receiver;
pub mod refusal;
#[cfg(target_os = "linux")]
mod rights;
mod run;
mod sample;
mod sampler;
mod sender;
mod shaper;
mod shaping;
mod switch;
mod tap;
#[cfg(target_os = "linux")]
pub mod testbed;
#[cfg(not(target_os = "linux"))]
#[path = "no_testbed.rs"]
pub mod testbed;
pub mod unsupported;
mod wires;
pub mod word;

pub use refusal::Refusal;
pub use testbed::Testbed;
pub use wires::Wires;
