//! PCN: photonic congestion notification.
//!
//! Cheng, Qian, Jiang, Zhang, Ren: *Re-architecting Congestion Management in Lossless Ethernet*,
//! NSDI 2020. The switch marks what queues without having been paused, the receiver tells congested
//! flows from victims by the share of marks and measures their rate, the sender jumps to that rate.
//!
//! Variant: Algorithm 1 and Figures 7 and 8 of the paper. Where prose and figures disagree (the
//! receiving rate printed upside down, 95 % reached or exceeded) the choice is a parameter, or
//! `docs/schemes/pcn.md` has it (Interpretation). Section numbers are those of the specification, whose sections 2, 3
//! and 5 are the paper's 5.1, 5.2 and 5.3.
//!
//! PN, recNum, recData, ECNNum, Timer, interArrivalTime and w are state; PFC's XOFF of 512 KB is
//! the switch's. No parameter depends on the speed of a link.

use crate::Configured;
use crate::param::{ParamValues, PathSupport, Preset, SchemeSpec, params, presets};
use crate::parts::frame_content;
use crate::parts::paused_packets::PausedPackets;
use std::sync::Arc;
use xoff_engine::{Span, Time};
use xoff_fabric::packet::Ecn;
use xoff_fabric::scheme::*;

/// RecRate is a whole number of these (section 4).
const RATE_UNIT_BPS: f64 = 1e6;

params! {
    /// Symbols are the paper's.
    pub struct Params {
        /// the period of notifications is given, or the longest base round trip of the network
        period_from "T": PeriodFrom { Fixed = "fixed", MaxRtt = "max-rtt" } = "fixed",
            from "paper, section 5.2 (50 us); section 6.2 recommends the longest RTT";
        /// period of the receiver's notifications of a flow
        period "T": Time = "50us" if PeriodFrom::Fixed, from "paper, section 5.2";
        /// first weight of an increase, and discount on the receiving rate
        w_min "w_min": Number(0.000001..=0.5) = "1/128",
            from "paper, section 5.3; 6.2 recommends 0.1 / flows on a link";
        /// weight that successive increases grow to
        w_max "w_max": Number(0.000001..=1.0) = "0.5", from "paper, section 6.2";
        /// a packet that leaves more than this behind, and was not paused, is marked
        mark_threshold: Bytes = "0B", from "paper, section 5.1";
        /// share of marked packets in a period that makes a flow congested
        congested_share "95 %": Number(0.0..=1.0) = "0.95", from "paper, section 5.2";
        /// whether the share must be reached or exceeded
        congested_rule: CongestedRule { Reached = "reached", Exceeded = "exceeded" } = "reached",
            from "paper, section 5.2 (95 %); Figure 8 has > 0.95";
        /// what of a packet counts as received
        count "pSize": Counted { Wire = "wire", Payload = "payload" } = "wire",
            from "paper, section 4.2: receiving rates sum to the link's capacity and are compared with sending rates; \
                  here senders pace wire bytes";
        /// floor of the sending rate; never below 1 Mb/s
        rate_min: Rate = "line/10000",
            from "assumption: the paper gives none; RecRate has a resolution of 1 Mb/s";
        /// after this long without a packet a flow counts as new to its receiver
        idle_timeout: Time = "10ms",
            from "assumption: one retransmission timeout; the paper does not say when the timer ends";
    }
}

const PRESETS: &[Preset] = presets! {
    "paper" from "NSDI 2020, simulations" {}
    "testbed" from "NSDI 2020, testbed with an RTT of 500 us; that T equals the RTT there is an assumption" {
        period = "500us",
    }
};

/// A configured PCN.
#[derive(Clone, Debug)]
pub struct Pcn {
    params: Arc<Params>,
}

impl Configured for Pcn {
    const SPEC: SchemeSpec = SchemeSpec::new(
        "pcn",
        "marks that spare paused packets, senders jump to the receiving rate",
        "Cheng et al., Re-architecting Congestion Management in Lossless Ethernet, NSDI 2020",
        Params::TABLE,
        PRESETS,
    )
    .with_paths(PathSupport::OnePath("95 % of packets must be marked, and one congested path of n marks 1/n"));

    fn configure(values: &ParamValues) -> Pcn {
        Pcn { params: Arc::new(Params::read(values)) }
    }

    fn validation_error(values: &ParamValues) -> Option<String> {
        let params = Params::read(values);
        if params.period == Span::ZERO {
            return Some("`period` must be longer than nothing".to_owned());
        }
        (params.w_min > params.w_max)
            .then(|| "`w_min` is above `w_max`: increases would become ever gentler".to_owned())
    }
}

impl Scheme for Pcn {
    type Feedback = Cnp;
    type Cp = Cp;
    type Np = Np;
    type Rp = Rp;
    type Transit = Absent<Cnp>;
    type Switch = Absent;

    fn congestion_point(&self, _: &QueueFacts) -> Cp {
        Cp { threshold_bytes: self.params.mark_threshold, paused: PausedPackets::default() }
    }

    fn notification_point(&self, of: &FlowFacts) -> Np {
        let period = match self.params.period_from {
            PeriodFrom::Fixed => self.params.period,
            PeriodFrom::MaxRtt => of.max_base_rtt,
        };
        Np {
            period: period.max(Span::from_ns(1)),
            params: self.params.clone(),
            packets: 0,
            marked: 0,
            bytes: 0,
            last_bytes: 0,
            last_arrival: None,
            gap: Span::ZERO,
            period_start: Time::ZERO,
            timer: None,
        }
    }

    /// Section 4: the flag is the ECN field of the CNP's own IP header.
    fn frame_content(&self, cnp: &Cnp) -> FrameContent {
        let says = match cnp.congested {
            true => format!("congested, receiving at {} Mb/s", cnp.rec_rate_mbps),
            false => "not congested".to_owned(),
        };
        let carrier = if cnp.congested { Carrier::MarkedCnp } else { Carrier::Cnp };
        FrameContent {
            carrier,
            ..frame_content::cnp(frame_content::code::RECEIVING_RATE, &cnp.rec_rate_mbps.to_be_bytes(), says)
        }
    }

    fn read_content(&self, content: &FrameContent) -> Option<Cnp> {
        let rec_rate_mbps = frame_content::number(&content.bytes, 0)?;
        let congested = content.carrier == Carrier::MarkedCnp;
        (content.code == frame_content::code::RECEIVING_RATE).then_some(Cnp { congested, rec_rate_mbps })
    }

    fn reaction_point(&self, of: &FlowFacts) -> Rp {
        let line_bps = of.line_rate.bps() as f64;
        let w_min = self.params.w_min;
        let floor_bps = self.params.rate_min.at(of.line_rate).max(RATE_UNIT_BPS).min(line_bps);
        Rp {
            line_bps,
            floor_bps,
            // Lines 1 and 2.
            rate_bps: (of.initial_rate.bps() as f64).clamp(floor_bps, line_bps),
            w: w_min,
            w_min,
            w_max: self.params.w_max,
            increases: 0,
        }
    }
}

/// Section 4: a RoCEv2 CNP with the ECN bit of its IP header and RecRate in the reserved bytes. Its
/// size stays the plain one, and it travels in the control class, where no switch marks it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Cnp {
    /// The ECN bit: so many packets of the period were marked that the flow counts as congested.
    pub congested: bool,
    /// RecRate in Mb/s: what the receiver got in the period, at least 1 if congested, else 0.
    pub rec_rate_mbps: u32,
}

/// NP-ECN (section 2; the paper's Figure 7): marks what leaves a queue behind it and was not held
/// by a PAUSE. First in, first out, so the paused packets are the next ones to leave.
#[derive(Clone, Debug)]
pub struct Cp {
    threshold_bytes: u64,
    /// PN.
    paused: PausedPackets,
}

impl CongestionPoint for Cp {
    type Feedback = Cnp;

    fn hooks(&self) -> Hooks {
        Hooks::ENQUEUE.with(Hooks::DEQUEUE).with(Hooks::PAUSE).with(Hooks::EVERY)
    }

    #[inline]
    fn on_enqueue(&mut self, view: &QueueView, _: &PacketFacts, _: u16, _: Mark<'_>, _: impl FnMut(u32, Cnp)) {
        self.paused.arrive(view);
    }

    #[inline]
    fn on_dequeue(&mut self, view: &QueueView, packet: &PacketFacts, mark: Mark<'_>, _: impl FnMut(u32, Cnp)) {
        // One of the N paused packets is not marked. (A mark of an earlier hop stays.)
        let held = self.paused.leave(view);
        if !held && view.queue_bytes > self.threshold_bytes && packet.own {
            // Conventional ECN with threshold 0, on what the packet leaves behind.
            mark.ecn.mark();
        }
    }

    fn on_pause_change(&mut self, view: &QueueView) {
        // RESUME, or the end of a timed PAUSE: PN = N. A second PAUSE before PN is used up changes
        // nothing by itself; the next RESUME counts old and new packets alike.
        if !view.paused {
            self.on_resume_again(view);
        }
    }

    fn on_resume_again(&mut self, view: &QueueView) {
        // Figure 7 sets PN at every RESUME, whether or not the time of the PAUSE has run out before.
        self.paused.resume(view);
    }
}

/// Section 3 (the paper's Figure 8): one period after another, from the flow's first packet on.
#[derive(Clone, Debug)]
pub struct Np {
    params: Arc<Params>,
    period: Span,
    /// recNum, ECNNum and recData of the running period.
    packets: u32,
    marked: u32,
    bytes: u64,
    /// pSize.
    last_bytes: u32,
    last_arrival: Option<Time>,
    /// interArrivalTime; zero while unknown.
    gap: Span,
    period_start: Time,
    /// None while a period without packets runs: nothing can come of it.
    timer: Option<Time>,
}

impl NotificationPoint for Np {
    type Feedback = Cnp;

    #[inline]
    fn on_data(&mut self, packet: &Received) -> Option<Cnp> {
        let now = packet.now;
        if self.timer.is_none() {
            self.wake(now);
        }
        if let Some(last) = self.last_arrival {
            self.gap = now.saturating_since(last);
        }
        self.last_arrival = Some(now);
        self.last_bytes = match self.params.count {
            Counted::Wire => packet.wire_bytes,
            Counted::Payload => packet.payload_bytes,
        };
        self.packets += 1;
        self.bytes += u64::from(self.last_bytes);
        self.marked += u32::from(packet.ecn == Ecn::Ce);
        None
    }

    fn on_timer(&mut self, now: Time) -> Option<Cnp> {
        self.period_start = now;
        if self.packets == 0 {
            // No CNP, and the period restarts: on the same grid, but without a timer until a packet
            // comes.
            self.timer = None;
            return None;
        }
        self.timer = Some(now + self.period);
        let (packets, marked) = (std::mem::take(&mut self.packets), std::mem::take(&mut self.marked));
        let bytes = std::mem::take(&mut self.bytes);
        let share = f64::from(marked) / f64::from(packets);
        let limit = self.params.congested_share;
        let congested = match self.params.congested_rule {
            CongestedRule::Reached => share >= limit,
            CongestedRule::Exceeded => share > limit,
        };
        if !congested {
            return Some(Cnp { congested: false, rec_rate_mbps: 0 });
        }
        // A flow whose packets are further apart than the period: their distance replaces it.
        let rate_bps = if packets == 1 && self.gap > self.period {
            8.0 * f64::from(self.last_bytes) / self.gap.as_s()
        } else {
            8.0 * bytes as f64 / self.period.as_s()
        };
        Some(Cnp { congested: true, rec_rate_mbps: (rate_bps / RATE_UNIT_BPS).round().max(1.0) as u32 })
    }

    #[inline]
    fn timer(&self) -> Option<Time> {
        self.timer
    }
}

impl Np {
    /// The first packet of a flow, or the first after periods without one.
    #[cold]
    fn wake(&mut self, now: Time) {
        let idle = self.last_arrival.is_none_or(|last| now.saturating_since(last) > self.params.idle_timeout);
        if idle {
            self.last_arrival = None;
            self.gap = Span::ZERO;
            self.period_start = now;
        } else {
            let periods = now.saturating_since(self.period_start).ps() / self.period.ps();
            self.period_start += self.period * periods;
        }
        self.timer = Some(self.period_start + self.period);
    }
}

/// Section 5: Algorithm 1. No timer and no increase without a CNP.
#[derive(Clone, Debug)]
pub struct Rp {
    line_bps: f64,
    floor_bps: f64,
    rate_bps: f64,
    w: f64,
    w_min: f64,
    w_max: f64,
    increases: u32,
}

impl ReactionPoint for Rp {
    type Feedback = Cnp;

    #[inline]
    fn limits(&self) -> Limits {
        Limits { rate_bps: self.rate_bps, window_bytes: u64::MAX }
    }

    fn on_feedback(&mut self, _: Time, cnp: &Cnp) {
        if cnp.congested {
            // Lines 4 to 7. The discount drains the queue; meanwhile the receiving rate may exceed
            // the sending rate, hence the minimum.
            let rec_bps = f64::from(cnp.rec_rate_mbps) * RATE_UNIT_BPS;
            self.rate_bps = self.rate_bps.min(rec_bps * (1.0 - self.w_min)).max(self.floor_bps);
            self.w = self.w_min;
        } else {
            // Lines 8 to 11: the rate moves by the old weight, then the weight grows.
            self.rate_bps = (self.rate_bps * (1.0 - self.w) + self.line_bps * self.w).min(self.line_bps);
            self.w = self.w * (1.0 - self.w) + self.w_max * self.w;
            self.increases = self.increases.wrapping_add(1);
            if self.line_bps - self.rate_bps < 1.0 {
                // Within a bit per second: at line rate a flow need not be paced.
                self.rate_bps = self.line_bps;
            }
        }
    }

    fn increases(&self) -> u32 {
        self.increases
    }
}

#[cfg(test)]
mod tests;
