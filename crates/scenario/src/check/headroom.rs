//! Headroom of ingresses, term by term, and how slow a peer it bears.

use crate::number::{brief, thousands};
use crate::{Loaded, budget};
use serde::Serialize;
use xoff_engine::{Span, quantity};
use xoff_fabric::pfc::PauseLoop;
use xoff_fabric::response::ieee_response;

/// Headroom of one lossless class at the ingresses that are alike.
#[derive(Clone, Debug, Serialize, PartialEq)]
pub(crate) struct HeadroomRow {
    /// Rate of the link towards the ingress.
    pub(crate) rate: String,
    /// Propagation in both directions.
    pub(crate) round_trip_ns: f64,
    pub(crate) configured_bytes: u64,
    /// With the response that peers have in this scenario.
    pub(crate) required_bytes: u64,
    pub(crate) terms: Terms,
    /// Response time of the peer, in this scenario.
    pub(crate) response_ns: f64,
    /// The longest response that the configured headroom bears; none if not even a peer that stops at once.
    pub(crate) response_allowed_ns: Option<f64>,
    /// The longest response that IEEE 802.3 allows, and the headroom that it takes.
    pub(crate) ieee_response_ns: f64,
    pub(crate) ieee_required_bytes: u64,
    pub(crate) enough: bool,
}

/// What the required headroom is made of, in bytes.
#[derive(Clone, Copy, Debug, Serialize, PartialEq)]
pub(crate) struct Terms {
    /// The packet that crosses XOFF.
    pub(crate) crossing: f64,
    /// What arrives while PAUSE waits for a frame just begun.
    pub(crate) pause_waits: f64,
    /// What arrives while PAUSE is serialised.
    pub(crate) pause_frame: f64,
    /// What arrives in the time of both directions of the cable.
    pub(crate) cable: f64,
    /// What arrives while the peer responds.
    pub(crate) response: f64,
    /// The frame that the peer has just begun.
    pub(crate) last_frame: f64,
}

/// What no term covers.
pub(crate) const LEFT_OUT: &str = "headroom leaves out: the switch's own time from XOFF to PAUSE; delays of MAC, PHY and \
     FEC; cells (a frame takes whole cells of the buffer)";

/// One row per kind of link.
pub(crate) fn rows(loaded: &Loaded) -> Vec<HeadroomRow> {
    budget::headroom_by_loop(&loaded.plan, loaded.frame_bytes).into_iter().map(row).collect()
}

fn row((configured_bytes, of): (u64, PauseLoop)) -> HeadroomRow {
    let (required_bytes, terms) = (of.required(), of.terms());
    let ieee = ieee_response(of.incoming.rate);
    let ns = |span: Span| span.ps() as f64 / 1e3;
    HeadroomRow {
        rate: of.incoming.rate.to_string(),
        round_trip_ns: ns(of.incoming.delay + of.outgoing.delay),
        configured_bytes,
        required_bytes,
        terms: Terms {
            crossing: terms.crossing,
            pause_waits: terms.pause_waits,
            pause_frame: terms.pause_frame,
            cable: terms.cable,
            response: terms.response,
            last_frame: terms.last_frame,
        },
        response_ns: ns(of.response),
        response_allowed_ns: of.bears(configured_bytes).map(ns),
        ieee_response_ns: ns(ieee),
        ieee_required_bytes: PauseLoop { response: ieee, ..of }.required(),
        enough: configured_bytes >= required_bytes,
    }
}

impl HeadroomRow {
    /// What the ingresses are called: speed and propagation.
    pub(crate) fn place(&self) -> String {
        let round_trip = Span::from_ps((self.round_trip_ns * 1e3).round() as u64);
        format!("{}, {} there and back", self.rate, quantity::format_span(round_trip))
    }

    /// How slow a peer it bears, with `bytes` to spell sizes.
    pub(crate) fn verdict(&self, bytes: impl Fn(f64) -> String) -> String {
        // Rounded down: what is said to be enough is.
        let down = |ns: f64| thousands(ns.floor() as u64);
        let (ieee, needed) = (brief(self.ieee_response_ns), bytes(self.ieee_required_bytes as f64));
        match self.response_allowed_ns {
            None => {
                let required = bytes(self.required_bytes as f64);
                format!("NOT enough even if the peer stops at once: {required} required")
            }
            Some(within) if !self.enough => {
                let (response, required) = (brief(self.response_ns), bytes(self.required_bytes as f64));
                format!(
                    "NOT enough: the peer may take {response} ns, and only {} ns are covered: {required} required",
                    down(within)
                )
            }
            Some(within) if within >= self.ieee_response_ns => {
                format!("enough if the peer stops within {} ns; IEEE 802.3 allows {ieee} ns", down(within))
            }
            Some(within) => {
                format!(
                    "enough if the peer stops within {} ns; IEEE 802.3 allows {ieee} ns: then {needed}",
                    down(within)
                )
            }
        }
    }
}
