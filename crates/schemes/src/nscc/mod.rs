//! NSCC: network-signalled congestion control, the sender's half of Ultra Ethernet's (specification 1.0, 3.6.13).
//!
//! A window follows two signals, the ECN mark and the queueing delay that a round trip shows. Neither: it grows quickly.
//! Delay alone: it grows slowly. Both: it falls by what the mean delay is above its target. A mark alone changes the path,
//! not the window. Where most packets of a round trip are lost, the window falls at once to what arrived (quick adapt).
//!
//! No state is kept by path, so that packets may take any. Not here: penalties of receivers, which receiver credit sets.

mod window;
mod wire;

use crate::Configured;
use crate::param::{ParamValues, Preset, SchemeSpec, params, presets};
use crate::parts::red::Red;
use crate::parts::round_trip;
use crate::parts::silent_receiver;
use std::sync::Arc;
use window::Window;
use xoff_engine::Time;
use xoff_fabric::scheme::*;

params! {
    /// Symbols are the specification's.
    pub struct Params {
        /// constants count with whole packets, or with their payload, and sums have 32 bits
        rules: Rules { Uec = "uec", Htsim = "htsim" } = "uec", from "UEC specification 1.0, 3.6.13; its simulator";
        /// target of the queueing delay where switches trim, in base round trips
        target_trimmed "target_qdelay": Number(0.01..=100.0) = "0.75", from "UEC specification 1.0, 3.6.13.3";
        /// target of the queueing delay where switches drop, in base round trips
        target_dropped "target_qdelay": Number(0.01..=100.0) = "1", from "UEC specification 1.0, 3.6.13.3";
        /// bandwidth-delay product that constants are scaled from
        reference_bdp: Bytes = "150KB", from "UEC specification 1.0, 3.6.13.3: 100 Gb/s and 12 us";
        /// delay that constants are scaled from
        reference_delay: Time = "12us", from "UEC specification 1.0, 3.6.13.3";
        /// proportional increase: packets gained in a window whose delay is zero
        alpha "alpha": Number(0.0..=1000.0) = "4", from "UEC specification 1.0, 3.6.13.3";
        /// fair increase, in packets
        fi "fi": Number(0.0..=1000.0) = "5", from "UEC specification 1.0, 3.6.13.3";
        /// gain per base round trip whatever the delay, in packets
        eta "eta": Number(0.0..=1000.0) = "0.15", from "UEC specification 1.0, 3.6.13.3";
        /// strength of a decrease
        gamma "gamma": Number(0.0..=1.0) = "0.8", from "UEC specification 1.0, 3.6.13.3";
        /// least share of the window that one decrease leaves
        max_md_jump "max_md_jump": Number(0.0..=1.0) = "0.5", from "UEC specification 1.0, 3.6.13.3";
        /// first window and largest, in BDPs at line rate
        max_bdp "max_cwnd": Number(0.01..=1e6) = "1.5", from "UEC specification 1.0, 3.6.13.3";
        /// share of what is acknowledged that the window gains while there is no queue
        fi_scale "fi_scale": Number(0.0..=1000.0) = "0.25", from "UEC specification 1.0, 3.6.13.3";
        /// queueing delay that counts as none
        idle_delay: Time = "1us", from "the simulator of UEC; the specification says about zero";
        /// the window falls to what arrived, where most packets of a round trip were lost
        quick_adapt: Flag = "true", from "UEC specification 1.0, 3.6.13.6; MRC can turn it off";
        /// quick adapt: less than the largest window over this power of two has arrived
        qa_gate "qa_gate": Count(0..=30) = "3" if quick_adapt, from "UEC specification 1.0, 3.6.13.3";
        /// quick adapt: queueing delay that counts as a loss, in targets
        qa_threshold "qa_threshold": Number(0.01..=1e6) = "4" if quick_adapt, from "UEC specification 1.0, 3.6.13.3";
        /// packets acknowledged after which the window takes its gains
        adjust_packets "adjust_bytes": Count(1..=1_000_000) = "8", from "UEC specification 1.0, 3.6.13.3";
        /// weight of the newest sample in the mean delay
        delay_gain: Number(0.0001..=1.0) = "0.0125", from "the simulator of UEC; the specification leaves it open";
        /// switches mark between two lengths of the queue, or never
        marking: Marking { Red = "red", Never = "never" } = "red", from "UEC specification 1.0, 3.6.13";
        /// queue above which packets may be marked, in BDPs of the port
        kmin "Kmin": Number(0.0..=1000.0) = "0.2" if Marking::Red, from "UEC specification 1.0, 3.6.13";
        /// queue above which every packet is marked, in BDPs of the port
        kmax "Kmax": Number(0.0..=1000.0) = "0.8" if Marking::Red, from "UEC specification 1.0, 3.6.13";
        /// ports to hosts mark as well
        mark_last_hop: Flag = "true" if Marking::Red, from "UEC specification 1.0: not with receiver credit; MRC does not";
        ..round_trip: round_trip::Params;
    }
}

const PRESETS: &[Preset] = presets! {
    "uec" from "UEC specification 1.0, 3.6.13" {}
    "htsim" from "the public simulator of UEC: payload in constants, marks in whole packets" { rules = "htsim" }
    "mrc" from "OCP MRC 1.0: marks only move packets to other paths, last hops do not mark" { mark_last_hop = "false" }
};

#[derive(Clone, Debug)]
pub struct Nscc {
    params: Arc<Params>,
}

const CWND: Variable = Variable { name: "cwnd", unit: "KB", meaning: "Window, in wire bytes." };
const MEAN_DELAY: Variable =
    Variable { name: "mean_delay", unit: "us", meaning: "Mean queueing delay, which scales a decrease of the window." };
const BASE_RTT: Variable =
    Variable { name: "base_rtt", unit: "us", meaning: "Shortest round trip so far, at most the network's longest." };

impl Configured for Nscc {
    const SPEC: SchemeSpec = SchemeSpec::new(
        "nscc",
        "a window by marks and queueing delay, for packets on any path",
        "Ultra Ethernet Consortium, Ultra Ethernet Specification 1.0, section 3.6.13",
        Params::TABLE,
        PRESETS,
    )
    .publishing(&[CWND, MEAN_DELAY, BASE_RTT])
    .drawing_lots();

    fn configure(values: &ParamValues) -> Nscc {
        Nscc { params: Arc::new(Params::read(values)) }
    }

    fn validation_error(values: &ParamValues) -> Option<String> {
        let Params { kmin, kmax, .. } = Params::read(values);
        (kmax < kmin).then(|| format!("`kmax` ({kmax}) is below `kmin` ({kmin}): there is nothing between them"))
    }
}

impl Nscc {
    /// Lengths of a queue between which packets are marked (3.6.13): shares of the port's bandwidth-delay product. The
    /// simulator counts both in whole packets.
    fn thresholds(&self, at: &QueueFacts) -> (u64, u64) {
        let bdp = at.rate.bps() as f64 * self.params.round_trip.at_queue(at).ps() as f64 / 8e12;
        let wire = f64::from(at.mtu_wire_bytes.max(1));
        let bytes = |share: f64| match self.params.rules {
            Rules::Uec => (share * bdp) as u64,
            Rules::Htsim => ((share * (bdp / wire).ceil()).ceil() * wire) as u64,
        };
        (bytes(self.params.kmin), bytes(self.params.kmax))
    }
}

impl Scheme for Nscc {
    silent_receiver!(());
    type Cp = Cp;
    type Rp = Rp;

    fn congestion_point(&self, at: &QueueFacts) -> Cp {
        let marks = self.params.marking == Marking::Red && (self.params.mark_last_hop || !at.last_hop);
        let (kmin, kmax) = self.thresholds(at);
        Cp { red: marks.then(|| Red::new(kmin, kmax, 1.0, at)), thresholds: [kmin, kmax] }
    }

    fn reaction_point(&self, of: &FlowFacts) -> Rp {
        Rp {
            window: Window::new(&self.params, of),
            mtu_bytes: u64::from(of.mtu_bytes.max(1)),
            wire_bytes: u64::from(of.mtu_wire_bytes.max(1)),
            line_bps: of.line_rate.bps() as f64,
        }
    }
}

/// Marks packets that leave, by what they leave behind.
#[derive(Debug)]
pub struct Cp {
    red: Option<Red>,
    thresholds: [u64; 2],
}

impl CongestionPoint for Cp {
    type Feedback = ();

    fn hooks(&self) -> Hooks {
        if self.red.is_some() { Hooks::DEQUEUE_BUSY } else { Hooks::NONE }
    }

    fn thresholds(&self) -> Option<[u64; 2]> {
        self.red.as_ref().map(|_| self.thresholds)
    }

    fn on_dequeue(&mut self, view: &QueueView, _: &PacketFacts, mark: Mark<'_>, _: impl FnMut(u32, ())) {
        if self.red.as_mut().is_some_and(|red| red.decide(view.queue_bytes)) {
            mark.ecn.mark();
        }
    }
}

/// Window of one flow. It counts in wire bytes, the NIC in payload.
#[derive(Clone, Debug)]
pub struct Rp {
    window: Window,
    mtu_bytes: u64,
    wire_bytes: u64,
    line_bps: f64,
}

impl Rp {
    /// Wire bytes of packets that have so much payload together: full packets, and at most one that is not.
    #[inline]
    fn wire(&self, payload_bytes: u64) -> u64 {
        payload_bytes + payload_bytes.div_ceil(self.mtu_bytes) * (self.wire_bytes - self.mtu_bytes)
    }
}

impl ReactionPoint for Rp {
    type Feedback = ();

    /// Whole packets: one more may leave if it fits as a whole (3.6.13.1).
    #[inline]
    fn limits(&self) -> Limits {
        let packets = (self.window.bytes() / self.wire_bytes).max(1);
        Limits { rate_bps: self.line_bps, window_bytes: packets * self.mtu_bytes }
    }

    #[inline]
    fn on_sent(&mut self, _: Time, wire_bytes: u32) {
        self.window.on_sent(u64::from(wire_bytes));
    }

    #[inline]
    fn on_ack(&mut self, ack: &Acked<'_>) {
        self.window.on_ack(ack, self.wire(ack.bytes));
    }

    fn on_loss(&mut self, now: Time, loss: Loss, bytes: u64) {
        match bytes {
            // Go-back-N: nothing in flight counts any more.
            0 => self.window.on_going_back(self.wire_bytes),
            _ => self.window.on_loss(now, loss == Loss::Trimmed, self.wire(bytes)),
        }
    }

    fn on_wire(&mut self, now: Time, what: &OnWire) {
        self.window.on_wire(now, what);
    }

    fn wire_window(&self) -> Option<WireWindow> {
        Some(self.window.on_the_wire())
    }

    fn increases(&self) -> u32 {
        self.window.increases()
    }

    fn variables(&self, _: Time, out: &mut dyn FnMut(&'static Variable, f64)) {
        out(&CWND, self.window.bytes() as f64 / 1e3);
        out(&MEAN_DELAY, self.window.mean_delay_ps() / 1e6);
        out(&BASE_RTT, self.window.base_ps() / 1e6);
    }
}

#[cfg(test)]
mod tests;
