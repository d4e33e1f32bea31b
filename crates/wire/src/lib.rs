//! Frames as bytes: [`Encoder`] writes the record of a frame as on the link, [`decode()`] reads any bytes.
//!
//! What switches change in passing they change in place: [`set_ecn`], [`set_telemetry`]. What a scheme says in a frame
//! is [`content_of`] it; the telemetry of a packet is [`telemetry_of`] it, and [`Unwrap`] makes its narrow fields whole.
//!
//! Opens nothing and prints nothing. No bytes make it panic, and none make it hold more than they are.

#![warn(missing_docs)]
#![cfg_attr(not(test), deny(clippy::print_stdout, clippy::print_stderr))]

mod cnm;
mod content;
mod cursor;
mod decode;
mod encode;
mod headers;
mod ip;
mod malformed;
mod neighbour;
mod opcode;
mod pfc;
mod roce;
mod tcp;
mod unwrap;

pub use cnm::Cnm;
pub use content::{content_of, set_telemetry, stamp_of, telemetry_of};
pub use decode::{Seen, decode};
pub use encode::{ENDLESS_BYTES, Encoder, FCS_BYTES, queue_pair};
pub use headers::{Mac, TCP_ACK, TCP_ECE, TCP_PUSH, address, icrc, mac, node, node_of_mac};
pub use ip::{Ends, set_ecn};
pub use malformed::Malformed;
pub use neighbour::{NamedFlow, Neighbour};
pub use pfc::{Pfc, pause_span};
pub use roce::{Echo, Roce, RoceKind, SelectiveAck};
pub use tcp::Tcp;
pub use unwrap::{Unwrap, near};
pub use xoff_catalogue::int_header::rate_has_code;
