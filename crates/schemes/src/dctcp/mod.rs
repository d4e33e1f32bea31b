//! DCTCP: data center TCP (SIGCOMM 2010, RFC 8257).
//!
//! The switch marks above a step, the receiver echoes each mark, the sender cuts in proportion to
//! the fraction of bytes that were marked. Two forms: `window` over TCP, and `rate` over RoCE
//! as HPCC's authors coded it to compare with.

mod rate;
mod window;

use crate::Configured;
use crate::param::{ParamValues, Preset, SchemeSpec, params, presets};
use crate::parts::newreno;
use crate::parts::red::Red;
use crate::parts::rounding;
use crate::parts::silent_receiver;
use crate::tcp_newreno::tcp_format;
use std::sync::Arc;
use xoff_engine::{BitRate, Time};
use xoff_fabric::delegate_reaction_point;
use xoff_fabric::scheme::*;

params! {
    /// DCTCP's, and NewReno's beneath the form over TCP.
    pub struct Params {
        /// a window over TCP, or a rate over RoCE
        form: Form { Tcp = "tcp", Rate = "rate" } = "tcp", from "paper; HPCC's simulator has the rate";
        /// every packet above one threshold, or by chance between two
        marking: Marking { Step = "step", Red = "red" } = "step",
            from "paper, section 3.1; HPCC's simulator marks all schemes with RED, DCTCP's thresholds being equal";
        /// queue above which every packet is marked
        k "K": BytesByRate = "30KB@1Gbps, 97500B@10Gbps" if Marking::Step,
            from "paper, section 3.5: 20 packets of 1.5 KB at 1G, 65 at 10G; in proportion elsewhere";
        /// queue above which packets may be marked
        kmin "Kmin": BytesByRate = "3KB/Gbps" if Marking::Red, from "HPCC's simulator";
        /// queue above which every packet is marked
        kmax "Kmax": BytesByRate = "3KB/Gbps" if Marking::Red, from "HPCC's simulator";
        /// marking probability at kmax
        pmax "Pmax": NumberByRate(0.0..=1.0) = "1" if Marking::Red, from "HPCC's simulator";
        /// which queue length decides; never: switches do not mark
        mark_at: MarkAt { Enqueue = "enqueue", Dequeue = "dequeue", Never = "never" } = "enqueue",
            from "paper, section 3.1: upon arrival; HPCC's simulator marks at dequeue";
        /// gain of alpha
        g "g": Number(0.0..=1.0) = "1/16", from "paper, section 3.4";
        /// alpha before the first window of data
        alpha_initial "alpha_0": Number(0.0..=1.0) = "1",
            from "RFC 8257, section 3.3; some implementations start at 0";
        /// segments below which a mark does not cut
        window_min: Count(1..=100) = "2" if Form::Tcp, from "assumption: 2, as after a loss; RFC 8257 has 1";
        /// least retransmission time-out
        rto_min "RTO_min": Time = "10ms" if Form::Tcp, from "paper, section 4";
        /// one packet per longest base round trip, or `rate_ai`
        increase "R_AI": Increase { MtuPerRtt = "mtu-per-rtt", Fixed = "fixed" } = "mtu-per-rtt" if Form::Rate,
            from "HPCC's simulator: 1000 bytes per 13 us";
        /// additive increase of the rate, once per window without a mark
        rate_ai "R_AI": Rate = "615Mbps" if Form::Rate & Increase::Fixed,
            from "HPCC's simulator: 1000 bytes per 13 us";
        /// floor of the sending rate
        rate_min "R_min": Rate = "100Mbps" if Form::Rate, from "HPCC's simulator";
        /// the BDP scaled by rate / line rate, or none
        window: RateWindow { Variable = "variable", None = "none" } = "variable" if Form::Rate,
            from "HPCC's simulator, whose hosts cap what is in flight for every scheme";
        ..rounding: rounding::Params if Form::Rate;
        ..machine: newreno::Machine if Form::Tcp;
    }
}

const PRESETS: &[Preset] = presets! {
    "paper" from "SIGCOMM 2010, 1G and 10G" {}
    "rfc8257" from "RFC 8257: floor of one segment, delayed ACKs with the exact echo" {
        window_min = "1", delayed_ack = "true", initial_window = "10",
    }
    "rate" from "HPCC authors' simulator: rate form over RoCE, 3 KB of threshold per Gb/s" {
        form = "rate", k = "3KB/Gbps", mark_at = "dequeue",
    }
    "hpcc-ns3" from "HPCC authors' simulator to the last bit, values of its run script" {
        form = "rate", marking = "red", mark_at = "dequeue", increase = "fixed", rate_min = "1Gbps", window = "none",
        rounding = "bps",
    }
};

impl Params {
    /// NewReno's.
    fn tcp(&self) -> newreno::Params {
        newreno::Params { rto_min: self.rto_min, machine: self.machine.clone() }
    }
}

#[derive(Clone, Debug)]
pub struct Dctcp {
    params: Arc<Params>,
    tcp: Arc<newreno::Params>,
}

impl Configured for Dctcp {
    const SPEC: SchemeSpec = SchemeSpec::new(
        "dctcp",
        "step marking, cuts by the fraction of marked bytes; over TCP, or as a rate over RoCE",
        "Alizadeh et al., Data Center TCP (DCTCP), SIGCOMM 2010; Bensley et al., RFC 8257",
        Params::TABLE,
        PRESETS,
    )
    .drawing_lots();

    fn configure(values: &ParamValues) -> Dctcp {
        let params = Params::read(values);
        Dctcp { tcp: Arc::new(params.tcp()), params: Arc::new(params) }
    }

    fn validation_error(values: &ParamValues) -> Option<String> {
        let params = Params::read(values);
        // Ports of some rate may not exist: only what is wrong at all of them is.
        let mut rates = [10, 25, 40, 100].map(BitRate::from_gbps).into_iter();
        let inverted = rates.all(|rate| params.kmax.at(rate) < params.kmin.at(rate));
        match params.marking {
            Marking::Red if inverted => {
                return Some("`kmax` is below `kmin`: there is nothing between them".into());
            }
            Marking::Red | Marking::Step => {}
        }
        match params.form {
            Form::Tcp => params.tcp().validation_error(),
            Form::Rate => None,
        }
    }
}

impl Scheme for Dctcp {
    silent_receiver!(());
    type Cp = Cp;
    type Rp = Rp;

    fn congestion_point(&self, at: &QueueFacts) -> Cp {
        let params = &*self.params;
        let red = match params.marking {
            Marking::Step => {
                let k = params.k.at_queue(at);
                Red::new(k, k, 1.0, at)
            }
            Marking::Red => Red::new(params.kmin.at_queue(at), params.kmax.at_queue(at), params.pmax.at(at.rate), at),
        };
        let hooks = match params.mark_at {
            MarkAt::Enqueue => Hooks::ENQUEUE,
            MarkAt::Dequeue if at.shared_random.is_some() => Hooks::DEQUEUE_BUSY.with(Hooks::ACKS),
            MarkAt::Dequeue => Hooks::DEQUEUE_BUSY,
            MarkAt::Never => Hooks::NONE,
        };
        Cp { red, hooks }
    }
    fn reaction_point(&self, of: &FlowFacts) -> Rp {
        match self.params.form {
            Form::Tcp => Rp::Window(window::Rp::new(&self.params, &self.tcp, of)),
            Form::Rate => Rp::Rate(rate::Rp::new(&self.params, of)),
        }
    }
    fn format(&self) -> Format {
        match self.params.form {
            Form::Tcp => tcp_format(&self.tcp),
            Form::Rate => Format::default(),
        }
    }
}

/// Section 1: marks every packet that meets (or leaves) a queue above K.
#[derive(Clone, Debug)]
pub struct Cp {
    red: Red,
    hooks: Hooks,
}

impl CongestionPoint for Cp {
    type Feedback = ();

    fn hooks(&self) -> Hooks {
        self.hooks
    }
    #[inline]
    fn on_enqueue(&mut self, view: &QueueView, _: &PacketFacts, _: u16, mark: Mark<'_>, _: impl FnMut(u32, ())) {
        if self.hooks.has(Hooks::ENQUEUE) && self.red.decide(view.queue_bytes) {
            mark.ecn.mark();
        }
    }
    #[inline]
    fn on_dequeue(&mut self, view: &QueueView, _: &PacketFacts, mark: Mark<'_>, _: impl FnMut(u32, ())) {
        if self.hooks.has(Hooks::DEQUEUE_BUSY) && self.red.decide(view.queue_bytes) {
            mark.ecn.mark();
        }
    }
    /// Where all draws come from one generator, ACKs take theirs too; a mark means nothing to them.
    fn on_ack_dequeue(&mut self, view: &QueueView) {
        self.red.decide(view.queue_bytes);
    }
}

/// Either form of the sender.
#[derive(Clone, Debug)]
pub enum Rp {
    /// Over TCP: NewReno's window, cut by the fraction of marked bytes (section 3).
    Window(window::Rp),
    /// Over RoCE: a rate (section 4).
    Rate(rate::Rp),
}

impl ReactionPoint for Rp {
    type Feedback = ();

    delegate_reaction_point! { #[inline] self { Rp::Window(rp) => *rp; Rp::Rate(rp) => *rp; } }
}

#[cfg(test)]
mod tests;
