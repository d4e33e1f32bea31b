//! Mercury: accurate and fast congestion feedback.
//!
//! He, Liang, Fan, Wang, Han, Xiao, Dou: *Accurate and fast congestion feedback in MEC-enabled RDMA
//! datacenters*, Journal of Cloud Computing 13:72, 2024. The switch tells a port that is congested
//! from one that was only paused, and sends the sources of a congested port CNPs of its own with a
//! window for each flow. The sender obeys its window beside whatever congestion control it has (DCQCN
//! by default).
//!
//! Variant: Algorithms 1 and 2 as rebuilt from the paper's prose (their listings are not legible),
//! with the details that the paper leaves open chosen as in section 7 of the specification, whose
//! section numbers are used here. See `docs/schemes/mercury.md`, Interpretation.
//!
//! Last_State, rxByte, T_pause and Q_Length are state; C is the port's rate, at the sender the line's.

use crate::param::{Base, ParamValues, PathSupport, Preset, SchemeSpec, params, presets};
use crate::parts::flow_table::FlowTable;
use crate::parts::frame_content;
use crate::parts::silent_receiver;
use crate::{Configured, Overlay, SchemeSet, base};
use std::sync::Arc;
use xoff_engine::{Span, Time};
use xoff_fabric::scheme::*;

params! {
    /// Symbols are the paper's.
    pub struct Params {
        /// queue above which a port may be congested
        kmin "threshold": BytesByRate = "40KB@10Gbps, 100KB@25Gbps, 160KB@40Gbps, 400KB@100Gbps",
            from "assumption: Kmin by port rate of the code that the paper builds on, whatever the base marks at; \
                  the paper gives no value";
        /// the threshold is at most this part of PFC's XOFF, where that is static
        xoff_part: Number(0.01..=1.0) = "0.5", from "assumption: congestion must be seen before PFC acts";
        /// time between two looks at the queue of an undetermined port
        check_period "T": Time = "10us", from "paper, parameter settings";
        /// the base round trip is the network's longest, or given
        base_rtt_from "baseRTT": BaseRttFrom { Network = "network", Fixed = "fixed" } = "network",
            from "paper: known in advance from the topology";
        /// the one base round trip of all flows
        base_rtt "baseRTT": Time = "12us" if BaseRttFrom::Fixed, from "paper, large-scale settings";
        /// a congested port notifies the flow of each arriving packet, or all flows that it holds
        notify_flows: Notified { Arriving = "arriving", All = "all" } = "arriving",
            from "assumption: the same information without a storm of CNPs";
        /// least time between two CNPs of a port to a flow
        cnp_interval: Time = "50us", from "assumption: DCQCN's notification interval, moved into the switch";
        /// a flow is a queue pair, or all that one host sends to another
        flow_id "FID": FlowId { QueuePair = "queue-pair", Addresses = "addresses" } = "queue-pair",
            from "paper: source and destination address; the same, while a pair of hosts has one queue pair";
        /// bytes are counted per flow, or per hash of the flow
        table "flowTable": Table { Exact = "exact", Hashed = "hashed" } = "exact",
            from "paper: hashed; the exact form shows the scheme without collisions";
        /// the hashed table has two to the power of this many slots
        table_bits: Count(1..=20) = "10" if Table::Hashed, from "assumption: the paper gives no size";
        /// a window replaces the one before, or the smallest of one CNP interval and round trip counts
        window_rule "cwnd": WindowRule { Latest = "latest", Minimum = "minimum" } = "latest",
            from "paper: one register, overwritten";
        /// smallest window, in full packets
        window_floor: Count(1..=1000) = "1", from "assumption: no window would stop the flow for good";
        /// the window opens again at the base's first increase after the last CNP, or by time alone
        reset: Reset { Increase = "increase", Silence = "silence" } = "increase",
            from "paper: when the sender recovers its rate";
        /// an increase counts only this long after the last CNP
        reset_quiet: Time = "50us" if Reset::Increase, from "assumption: sooner, the next CNP may be on its way";
        /// the window opens again at the latest after this long without CNP
        reset_after: Time = "1ms", from "assumption: for bases that do not increase by themselves";
    }
}

const PRESETS: &[Preset] = presets! {
    "paper" from "J. Cloud Computing 2024, small-scale settings" {}
    "large" from "J. Cloud Computing 2024, large-scale settings" { base_rtt_from = "fixed", base_rtt = "12us" }
};

#[derive(Clone, Debug)]
pub struct Mercury {
    params: Arc<Params>,
}

impl Configured for Mercury {
    const SPEC: SchemeSpec = SchemeSpec::new(
        "mercury",
        "switches tell paused ports from congested ones and send windows to the sources",
        "He et al., Accurate and fast congestion feedback in MEC-enabled RDMA datacenters, \
         Journal of Cloud Computing 13:72, 2024",
        Params::TABLE,
        PRESETS,
    )
    .with_base(Base::Default("dcqcn:nic"))
    .with_paths(PathSupport::OnePath("its window is that of the port which computed it, and holds for one path"));

    fn configure(values: &ParamValues) -> Mercury {
        Mercury { params: Arc::new(Params::read(values)) }
    }

    fn validation_error(values: &ParamValues) -> Option<String> {
        let params = Params::read(values);
        match (params.notify_flows, params.table, params.flow_id) {
            (Notified::Arriving, ..) | (_, Table::Exact, FlowId::QueuePair) => None,
            (_, Table::Hashed, _) => Some(
                "a hashed table does not know its flows, so `notify_flows = \"all\"` needs `table = \"exact\"`"
                    .to_owned(),
            ),
            (_, _, FlowId::Addresses) => Some(
                "a table of addresses does not know queue pairs, so `notify_flows = \"all\"` needs \
                 `flow_id = \"queue-pair\"`"
                    .to_owned(),
            ),
        }
    }
}

impl Overlay for Mercury {
    /// TCP recovers losses by itself, with a congestion window of its own and a queue made of drops: a
    /// window from the switch for the same bytes has no meaning there.
    fn refuses(base: &ParamValues) -> Option<String> {
        if base::Any::validation_error(base).is_some() {
            return None;
        }
        let tcp = base::Any::configure(base).is_some_and(|base| base.format().transport == Transport::Tcp);
        let name = base.spec().name;
        tcp.then(|| format!("`mercury` bounds RDMA flows in flight; TCP, as `{name}` runs it, has a window of its own"))
    }

    /// Section 6: the switch is congestion and notification point of a base that acts on bare CNPs;
    /// marks and CNPs of both would cut twice. Other bases keep the signals they live on.
    fn replaces_signals(base: &ParamValues) -> bool {
        base.spec().hears_notices
    }

    /// Algorithm 2, lines 15 to 17: the base's normal decrease.
    fn pass_on(_: &Cnp, now: Time, base: &mut impl ReactionPoint) {
        base.on_congested(now);
    }

    /// Lines 18 to 20.
    fn on_base_increase(own: &mut Rp, now: Time) {
        let quiet = |last: Time| now.saturating_since(last) >= own.params.reset_quiet;
        match own.params.reset {
            Reset::Increase if own.last_cnp.is_some_and(quiet) => own.open(),
            Reset::Increase | Reset::Silence => {}
        }
    }
}

impl Mercury {
    fn base_rtt(&self, longest: Span) -> Span {
        match self.params.base_rtt_from {
            BaseRttFrom::Network => longest,
            BaseRttFrom::Fixed => self.params.base_rtt,
        }
    }
}

impl Scheme for Mercury {
    silent_receiver!(Cnp);
    type Cp = Cp;
    type Rp = Rp;

    fn congestion_point(&self, at: &QueueFacts) -> Cp {
        let kmin = self.params.kmin.at_queue(at);
        let cap = at.xoff_bytes.map_or(u64::MAX, |xoff| (xoff as f64 * self.params.xoff_part) as u64);
        Cp(Box::new(Egress {
            threshold_bytes: kmin.min(cap),
            full_bytes: at.rate.bytes_in(self.base_rtt(at.max_base_rtt)),
            period: self.params.check_period,
            interval: self.params.cnp_interval,
            notified: self.params.notify_flows,
            flow_id: self.params.flow_id,
            bits: match self.params.table {
                Table::Exact => 0,
                Table::Hashed => self.params.table_bits as u32,
            },
            state: State::Determined,
            paused_at: Time::ZERO,
            received_bytes: 0,
            check_at: Time::ZERO,
            check_bytes: 0,
            table: FlowTable::new(),
            total_bytes: 0,
            last_cnp: FlowTable::new(),
            prune_at: 64,
            all_at: Time::ZERO,
        }))
    }

    fn frame_content(&self, cnp: &Cnp) -> FrameContent {
        frame_content::cnp(
            frame_content::code::WINDOW,
            &cnp.window_bytes.to_be_bytes(),
            format!("window {} B", cnp.window_bytes),
        )
    }

    fn read_content(&self, content: &FrameContent) -> Option<Cnp> {
        let window_bytes = frame_content::number(&content.bytes, 0)?;
        (content.code == frame_content::code::WINDOW).then_some(Cnp { window_bytes })
    }

    fn reaction_point(&self, of: &FlowFacts) -> Rp {
        let base_rtt = self.base_rtt(of.max_base_rtt);
        let floor_bytes = self.params.window_floor * u64::from(of.mtu_bytes);
        // Section 5: cwnd = C baseRTT to begin with.
        let full_bytes = of.line_rate.bytes_in(base_rtt).max(floor_bytes);
        Rp {
            params: self.params.clone(),
            full_bytes,
            floor_bytes,
            window_bytes: full_bytes,
            // A congested port repeats itself after an interval, or a little later if the flow sends that seldom.
            memory: self.params.cnp_interval + base_rtt,
            last_cnp: None,
            smallest_at: Time::ZERO,
        }
    }
}

/// Section 6: a CNP of the switch; its first four reserved bytes are the window in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Cnp {
    /// What the flow may have in flight from now on.
    pub window_bytes: u32,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    /// Input and capacity compare clearly, so that flows may be judged.
    Determined,
    /// There is a queue, but PAUSE may be all its reason.
    Undetermined,
}

/// One egress queue; boxed, since most queues of a network are never congested.
#[derive(Clone, Debug)]
pub struct Cp(Box<Egress>);

#[derive(Clone, Debug)]
struct Egress {
    threshold_bytes: u64,
    /// C baseRTT of this port.
    full_bytes: u64,
    period: Span,
    interval: Span,
    notified: Notified,
    flow_id: FlowId,
    /// Zero: exact.
    bits: u32,
    state: State,
    /// t0 and rxByte of Algorithm 1.
    paused_at: Time,
    received_bytes: u64,
    check_at: Time,
    check_bytes: u64,
    /// flowTable: bytes of each flow in the queue now, of whatever scheme.
    table: FlowTable<Entry>,
    total_bytes: u64,
    /// When flows were last notified; entries older than the interval mean nothing.
    last_cnp: FlowTable<Time>,
    /// At this size `last_cnp` is cleared of old entries.
    prune_at: usize,
    /// With [`Notified::All`]: when the table is next walked.
    all_at: Time,
}

#[derive(Clone, Copy, Debug, Default)]
struct Entry {
    bytes: u64,
    /// Its flow may be notified.
    own: bool,
}

impl Egress {
    /// FID. Queue pairs of one FID share an entry, and each receives the window of all; CNPs go to queue pairs, and
    /// are spaced by these.
    #[inline]
    fn key(&self, packet: &PacketFacts) -> u32 {
        let hash = |name: u32| name.wrapping_mul(0x9e37_79b9) >> (32 - self.bits);
        match (self.flow_id, self.bits) {
            (FlowId::QueuePair, 0) => packet.flow,
            (FlowId::QueuePair, _) => hash(packet.name),
            (FlowId::Addresses, 0) => u32::from(packet.ends),
            (FlowId::Addresses, _) => hash(u32::from(packet.ends)),
        }
    }

    /// Algorithm 2, lines 1 to 3.
    #[inline]
    fn add(&mut self, view: &QueueView, packet: &PacketFacts) {
        if view.queue_packets == 0 {
            self.forget();
        }
        let key = self.key(packet);
        let entry = self.table.entry(key, Entry::default);
        entry.bytes += u64::from(packet.frame_bytes);
        entry.own = packet.own;
        self.total_bytes += u64::from(packet.frame_bytes);
    }

    /// Lines 4 to 8.
    #[inline]
    fn remove(&mut self, view: &QueueView, packet: &PacketFacts) {
        if view.queue_packets == 0 {
            self.forget();
            return;
        }
        let key = self.key(packet);
        let Some(entry) = self.table.get_mut(key) else { return };
        let bytes = u64::from(packet.frame_bytes).min(entry.bytes);
        entry.bytes -= bytes;
        self.total_bytes -= bytes;
        if entry.bytes == 0 {
            self.table.remove(key);
        }
    }

    /// An empty queue has an empty table. That is so by itself, unless packets that had been counted
    /// were refused by the buffer or flushed by a watchdog.
    #[inline]
    fn forget(&mut self) {
        if self.total_bytes > 0 {
            self.table.clear();
            self.total_bytes = 0;
        }
    }

    /// flow_identification for one flow; window_calculation (lines 9 to 13) if its CNP is due.
    fn tell(&mut self, now: Time, flow: u32, bytes: u64, notify: &mut impl FnMut(u32, Cnp)) {
        if self.last_cnp.len() >= self.prune_at {
            let interval = self.interval;
            self.last_cnp.retain(|_, last| now.saturating_since(*last) < interval);
            self.prune_at = 64.max(2 * self.last_cnp.len());
        }
        let mut first = false;
        let last = self.last_cnp.entry(flow, || {
            first = true;
            now
        });
        if !first && now.saturating_since(*last) < self.interval {
            return;
        }
        *last = now;
        // Rate = C data / Sum(data), Win = Rate baseRTT.
        let window = self.full_bytes * bytes / self.total_bytes.max(1);
        notify(flow, Cnp { window_bytes: window.min(u64::from(u32::MAX)) as u32 });
    }

    #[cold]
    fn congested(&mut self, now: Time, packet: &PacketFacts, notify: &mut impl FnMut(u32, Cnp)) {
        if packet.own {
            let bytes = self.table.get(self.key(packet)).map_or(0, |entry| entry.bytes);
            self.tell(now, packet.flow, bytes, notify);
        }
        match self.notified {
            Notified::All if now >= self.all_at => self.tell_all(now, notify),
            Notified::All | Notified::Arriving => {}
        }
    }

    fn tell_all(&mut self, now: Time, notify: &mut impl FnMut(u32, Cnp)) {
        self.all_at = now + self.interval;
        let table = std::mem::take(&mut self.table);
        for (flow, entry) in table.iter().filter(|(_, entry)| entry.own) {
            self.tell(now, flow, entry.bytes, notify);
        }
        self.table = table;
    }
}

impl CongestionPoint for Cp {
    type Feedback = Cnp;

    fn hooks(&self) -> Hooks {
        Hooks::ENQUEUE.with(Hooks::DEQUEUE).with(Hooks::PAUSE).with(Hooks::EVERY)
    }

    #[inline]
    fn on_enqueue(
        &mut self,
        view: &QueueView,
        packet: &PacketFacts,
        _: u16,
        _: Mark<'_>,
        mut notify: impl FnMut(u32, Cnp),
    ) {
        let port = &mut *self.0;
        port.add(view, packet);
        if view.paused {
            // Algorithm 1, lines 4 and 5.
            port.received_bytes += u64::from(packet.frame_bytes);
        }
        // The queue as it is once the packet is in it.
        let queue = view.queue_bytes + u64::from(packet.frame_bytes);
        if queue > port.threshold_bytes && port.state == State::Determined {
            port.congested(view.now, packet, &mut notify);
        }
    }

    #[inline]
    fn on_dequeue(&mut self, view: &QueueView, packet: &PacketFacts, _: Mark<'_>, _: impl FnMut(u32, Cnp)) {
        let port = &mut *self.0;
        port.remove(view, packet);
        // Lines 15 to 20: a queue above the threshold that shrinks is what PFC left behind.
        if port.state == State::Undetermined && !view.paused && view.now >= port.check_at {
            let queue = view.queue_bytes;
            if !(queue > port.threshold_bytes && queue < port.check_bytes) {
                port.state = State::Determined;
            }
            port.check_bytes = queue;
            port.check_at = view.now + port.period;
        }
    }

    fn on_pause_change(&mut self, view: &QueueView) {
        let port = &mut *self.0;
        if view.paused {
            // Lines 2 and 3.
            port.paused_at = view.now;
            port.received_bytes = 0;
            port.state = State::Undetermined;
            return;
        }
        // Lines 6 to 14; rxRate <= C without the division.
        let drained = view.rate.bytes_in(view.now.saturating_since(port.paused_at));
        let backlog = view.queue_bytes > port.threshold_bytes && port.received_bytes <= drained;
        port.state = if backlog { State::Undetermined } else { State::Determined };
        port.check_bytes = view.queue_bytes;
        port.check_at = view.now + port.period;
    }
}

/// The extra register of the sender: how much may be in flight.
#[derive(Clone, Debug)]
pub struct Rp {
    params: Arc<Params>,
    full_bytes: u64,
    floor_bytes: u64,
    window_bytes: u64,
    /// For the rule of the smallest: how long a window counts.
    memory: Span,
    /// Time of the last CNP since the window was last open.
    last_cnp: Option<Time>,
    /// When the window became what it is; for the rule of the smallest.
    smallest_at: Time,
}

impl Rp {
    fn open(&mut self) {
        self.window_bytes = self.full_bytes;
        self.last_cnp = None;
    }
}

impl ReactionPoint for Rp {
    type Feedback = Cnp;

    #[inline]
    fn limits(&self) -> Limits {
        Limits { rate_bps: f64::INFINITY, window_bytes: self.window_bytes }
    }

    /// Lines 15 to 17. A port faster than the line may allow more than the line can carry.
    fn on_feedback(&mut self, now: Time, cnp: &Cnp) {
        let window = u64::from(cnp.window_bytes).clamp(self.floor_bytes, self.full_bytes);
        let stale = self.last_cnp.is_none() || now.saturating_since(self.smallest_at) > self.memory;
        let counts = match self.params.window_rule {
            WindowRule::Latest => true,
            WindowRule::Minimum => stale || window <= self.window_bytes,
        };
        if counts {
            self.window_bytes = window;
            self.smallest_at = now;
        }
        self.last_cnp = Some(now);
    }

    fn on_timer(&mut self, now: Time) {
        if self.timer().is_some_and(|at| at <= now) {
            self.open();
        }
    }

    #[inline]
    fn timer(&self) -> Option<Time> {
        self.last_cnp.map(|last| last + self.params.reset_after)
    }
}

#[cfg(test)]
mod tests;
