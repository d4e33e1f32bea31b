//! The loop: waits for what is due, lets nodes handle it, hands finished frames to the kernel and takes them back.
//!
//! A frame is handed over when its last bit has left; the other end of the link takes it from the kernel at once, and
//! its node hears of it when the link's delay has passed.

use crate::agenda::{Agenda, Event};
use crate::clock::Clock;
use crate::context::{Context, Log};
use crate::egress::Egress;
use crate::flow::{Flow, SourceState};
use crate::lateness::Lateness;
use crate::network::Network;
use crate::nic::Nic;
use crate::sampler::Sampler;
use crate::switch::Switch;
use crate::tap::Taps;
use crate::wires::Wires;
use crate::word::{ByteCounts, is_word};
use std::collections::{HashMap, VecDeque};
use std::io;
use std::time::Duration;
use xoff_engine::{Rng, Time, stream};
use xoff_fabric::activity::{PortNow, PortsNow};
use xoff_fabric::pacing::SendState;
use xoff_fabric::plan::{NodeKind, peer};
use xoff_fabric::record::{Failure, FlowRecord, PortReport};
use xoff_fabric::scheme::{ReactionPoint, Scheme};
use xoff_fabric::traffic::Source;
use xoff_wire::{Encoder, decode};

/// No frame is longer.
const LONGEST_BYTES: usize = 1 << 16;

/// A node that this process runs.
pub enum Node<S: Scheme> {
    Host(Nic<S>),
    Switch(Switch<S>),
}

/// Frames of one port.
#[derive(Clone, Copy, Default, Debug)]
pub struct PortCounts {
    pub sent: u64,
    /// That came, and were not ignored.
    pub believed: u64,
}

/// What a run is made of, besides its wires.
pub struct Parts<'a, S> {
    pub network: &'a Network,
    /// By the number that flows name them by.
    pub schemes: &'a [S],
    pub encoder: &'a Encoder<'a>,
    /// By scheme: units of telemetry, where it sets them for all ports.
    pub multipliers: &'a [Option<u64>],
    /// Which nodes this process runs; all, if none is named.
    pub own: &'a [u32],
}

/// Frames between the kernel and the ports of this process.
struct Links {
    /// Frames on links, by the port that they are for.
    in_flight: Vec<VecDeque<Vec<u8>>>,
    /// What draws lost frames, by port.
    losses: Vec<Option<Rng>>,
    /// Room for the frame that is received.
    buffer: Vec<u8>,
    /// Ports that have frames.
    ready: Vec<u32>,
}

pub struct Run<'a, S: Scheme, W: Wires> {
    pub(crate) network: &'a Network,
    pub(crate) schemes: &'a [S],
    encoder: &'a Encoder<'a>,
    pub(crate) multipliers: &'a [Option<u64>],
    pub(crate) nodes: Vec<Option<Node<S>>>,
    wires: W,
    /// All nodes are in this process.
    whole: bool,
    pub(crate) clock: Clock,
    pub(crate) now: Time,
    pub(crate) agenda: Agenda,
    pub(crate) log: Log,
    pub(crate) sources: Vec<SourceState>,
    /// By the number in their packets.
    pub(crate) flows: HashMap<u32, Flow>,
    /// How many have been, on all machines.
    pub(crate) started: u32,
    /// Records that nobody has taken yet.
    pub ended: Vec<FlowRecord>,
    links: Links,
    /// Samples, and what ports and flows do over time.
    pub sampler: Sampler,
    pub taps: Taps,
    pub lateness: Lateness,
    /// Frames handed to the kernel, and taken from it.
    pub frames: (u64, u64),
    /// By port: frames sent by it, and frames that came and were taken for those of the run.
    pub counts: Vec<PortCounts>,
    /// Payload of flows that are over or cut off: acknowledged, and sent without an acknowledgement.
    pub(crate) payload: (u64, u64),
    progress: (u64, Time),
    done: bool,
}

impl<'a, S: Scheme, W: Wires> Run<'a, S, W> {
    pub fn new(
        parts: &Parts<'a, S>,
        wires: W,
        sources: Vec<Box<dyn Source>>,
        clock: Clock,
        sampler: Sampler,
        taps: Taps,
        lateness: Lateness,
    ) -> Run<'a, S, W> {
        let (network, schemes, multipliers) = (parts.network, parts.schemes, parts.multipliers);
        let plan = &network.plan;
        let runs = |node: u32| parts.own.is_empty() || parts.own.contains(&node);
        let make = |(node, spec): (u32, &xoff_fabric::plan::Node)| {
            runs(node).then(|| match spec.kind {
                NodeKind::Host => Node::Host(Nic::new(node, network, multipliers)),
                NodeKind::Switch => Node::Switch(Switch::new(node, network, schemes, multipliers)),
            })
        };
        let loss = |port: u32| {
            (plan.direction(peer(port)).loss > 0.0).then(|| stream(plan.seed, "wire loss", u64::from(peer(port))))
        };
        let ports = 0..plan.ports() as u32;
        let mut run = Run {
            nodes: (0..).zip(&plan.nodes).map(make).collect(),
            whole: parts.own.is_empty(),
            encoder: parts.encoder,
            multipliers,
            wires,
            clock,
            now: Time::ZERO,
            agenda: Agenda::default(),
            log: Log::default(),
            sources: sources.into_iter().enumerate().map(|(place, source)| SourceState::new(source, place)).collect(),
            flows: HashMap::new(),
            started: 0,
            ended: Vec::new(),
            links: Links {
                in_flight: ports.clone().map(|_| VecDeque::new()).collect(),
                losses: ports.map(loss).collect(),
                buffer: vec![0; LONGEST_BYTES],
                ready: Vec::new(),
            },
            sampler,
            taps,
            lateness,
            frames: (0, 0),
            counts: vec![PortCounts::default(); plan.ports()],
            payload: (0, 0),
            progress: (0, Time::ZERO),
            done: false,
            network,
            schemes,
        };
        run.begin();
        run
    }

    fn begin(&mut self) {
        self.agenda.add(self.network.plan.run.stop, Event::Stop);
        for index in 0..self.sources.len() {
            self.arm_source(index);
        }
        for (at, event) in self.sampler.first() {
            self.agenda.add(at, event);
        }
    }

    /// Goes on for about so long in real time; `false` once it is over.
    pub fn go_on(&mut self, for_about: Duration) -> io::Result<bool> {
        let until = self.clock.wall() + for_about;
        while !self.done {
            let Some(due) = self.agenda.next() else {
                self.done = true;
                break;
            };
            self.wait(due)?;
            // What waiting brought in may be due earlier.
            let Some((due, event)) = self.agenda.take() else { break };
            let (now, late) = self.clock.handle(due);
            self.now = now;
            self.lateness.note(now, late, &self.clock);
            self.log.counters.events += 1;
            self.handle(due, event)?;
            self.drain_events();
            self.look_for_the_end();
            if self.clock.wall() >= until {
                break;
            }
        }
        Ok(!self.done)
    }

    /// Sleeps, then looks, until something is due. Frames that nobody expected are taken in meanwhile.
    fn wait(&mut self, due: Time) -> io::Result<()> {
        while !self.clock.has_come(due) {
            if let Some(sleep) = self.clock.may_sleep(due) {
                let mut ready = std::mem::take(&mut self.links.ready);
                self.wires.wait(sleep, &mut ready)?;
                for &port in &ready {
                    self.take_from(port)?;
                }
                self.links.ready = ready;
                if self.agenda.next().is_some_and(|next| next < due) {
                    return Ok(());
                }
            } else if self.whole {
                std::hint::spin_loop();
            } else {
                self.take_from_all()?;
                if self.agenda.next().is_some_and(|next| next < due) {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    pub(crate) fn take_from_all(&mut self) -> io::Result<()> {
        for port in 0..self.links.in_flight.len() as u32 {
            if self.nodes[self.network.node_of(port) as usize].is_some() {
                self.take_from(port)?;
            }
        }
        Ok(())
    }

    /// Takes frames from the kernel that came to a port; they travel from now on.
    fn take_from(&mut self, port: u32) -> io::Result<()> {
        while let Some(length) = self.wires.receive(port, &mut self.links.buffer)? {
            // A partner that has begun later, or ended earlier, still speaks.
            if !self.whole && is_word(&self.links.buffer[..length.min(LONGEST_BYTES)]) {
                continue;
            }
            self.frames.1 += 1;
            let link = self.network.plan.direction(peer(port));
            if let Some(rng) = &mut self.links.losses[port as usize]
                && rng.unit() < link.loss
            {
                self.log.counters.drops_fault += 1;
                if let Ok(seen) = decode(&self.links.buffer[..length]) {
                    self.log.lose(&seen, self.network);
                }
                continue;
            }
            self.links.in_flight[port as usize].push_back(self.links.buffer[..length].to_vec());
            let from = if self.whole { self.now } else { self.clock.look() };
            self.agenda.add(from + link.delay, Event::Arrive(port));
        }
        Ok(())
    }

    /// The nodes, and a context for one of them.
    pub(crate) fn split(&mut self) -> (&mut Vec<Option<Node<S>>>, Context<'_>) {
        let context = Context {
            now: self.now,
            agenda: &mut self.agenda,
            network: self.network,
            encoder: self.encoder,
            log: &mut self.log,
        };
        (&mut self.nodes, context)
    }

    fn handle(&mut self, due: Time, event: Event) -> io::Result<()> {
        let schemes = self.schemes;
        match event {
            Event::Sent(port) => return self.on_sent(port, due),
            Event::Arrive(port) => self.on_arrive(port),
            Event::Source(index) => self.on_source(index as usize, due),
            Event::Probe(index) => self.on_probe(index as usize, due)?,
            Event::Look => self.on_look(due)?,
            Event::Stop => self.done = true,
            Event::Emit(host, lane) => self.with_nic(host, |nic, context| nic.on_emit(lane, context)),
            Event::Wake(host) => self.with_nic(host, |nic, context| nic.on_wake(due, context)),
            Event::Sender(host, flow) => self.with_nic(host, |nic, context| nic.on_sender(flow, due, context)),
            Event::Receiver(host, flow) => {
                self.with_nic(host, |nic, context| nic.on_receiver(flow, due, schemes, context))
            }
            Event::Queue(port, class, slot) => {
                self.with_switch(port, |switch, context| switch.on_timer(port, (class, slot), due, schemes, context));
            }
            Event::Refresh(port, class) => {
                self.with_switch(port, |switch, context| switch.on_refresh(port, class, context))
            }
            Event::Obey(port, class, quanta) => {
                let node = self.network.node_of(port);
                self.with_nic(node, |nic, context| nic.obey(class, quanta, context));
                self.with_switch(port, |switch, context| {
                    switch.obey(switch.local(port), class, quanta, schemes, context)
                });
            }
            Event::PauseOver(port, class) => {
                let node = self.network.node_of(port);
                self.with_nic(node, |nic, context| nic.on_pause_over(class, due, context));
                self.with_switch(port, |switch, context| switch.on_pause_over(port, class, due, schemes, context));
            }
            Event::Shaper(node, flow) => {
                let (nodes, mut context) = self.split();
                if let Some(Node::Switch(switch)) = &mut nodes[node as usize] {
                    switch.on_shaper(flow, due, schemes, &mut context);
                }
            }
        }
        Ok(())
    }

    fn with_nic(&mut self, node: u32, act: impl FnOnce(&mut Nic<S>, &mut Context<'_>)) {
        let (nodes, mut context) = self.split();
        if let Some(Node::Host(nic)) = &mut nodes[node as usize] {
            act(nic, &mut context);
        }
    }

    fn with_switch(&mut self, port: u32, act: impl FnOnce(&mut Switch<S>, &mut Context<'_>)) {
        let node = self.network.node_of(port);
        let (nodes, mut context) = self.split();
        if let Some(Node::Switch(switch)) = &mut nodes[node as usize] {
            act(switch, &mut context);
        }
    }

    fn on_arrive(&mut self, port: u32) {
        let Some(bytes) = self.links.in_flight[port as usize].pop_front() else { return };
        let (schemes, node) = (self.schemes, self.network.node_of(port));
        let ignored = self.log.ignored_frames;
        let (nodes, mut context) = self.split();
        match &mut nodes[node as usize] {
            Some(Node::Host(nic)) => nic.receive(&bytes, schemes, &mut context),
            Some(Node::Switch(switch)) => switch.receive(port, bytes, schemes, &mut context),
            None => {}
        }
        self.counts[port as usize].believed += u64::from(self.log.ignored_frames == ignored);
    }

    /// Frames that were believed though no node of this process sent them: known if it runs all nodes.
    pub fn unaccounted(&self) -> u64 {
        let beyond =
            |port: usize| self.counts[port].believed.saturating_sub(self.counts[peer(port as u32) as usize].sent);
        if self.whole { (0..self.counts.len()).map(beyond).sum() } else { 0 }
    }

    pub fn own_byte_counts(&self) -> ByteCounts {
        let (acknowledged_bytes, open_bytes) = self.payload;
        ByteCounts { acknowledged_bytes, open_bytes, delivered_bytes: self.log.counters.delivered_bytes }
    }

    fn on_sent(&mut self, port: u32, due: Time) -> io::Result<()> {
        let (schemes, node) = (self.schemes, self.network.node_of(port));
        let (nodes, mut context) = self.split();
        let gone = match &mut nodes[node as usize] {
            Some(Node::Host(nic)) => nic.sent(due, &mut context),
            Some(Node::Switch(switch)) => switch.sent(port, due, schemes, &mut context),
            None => None,
        };
        let Some(gone) = gone else { return Ok(()) };
        self.frames.0 += 1;
        self.counts[port as usize].sent += 1;
        self.lateness.note_frame();
        self.wires.send(port, &gone.bytes)?;
        self.taps.see(port, &gone);
        if self.whole { self.take_from(peer(port)) } else { Ok(()) }
    }

    fn look_for_the_end(&mut self) {
        let plan = &self.network.plan.run;
        let idle = || self.flows.is_empty() && self.sources.iter().all(SourceState::is_done);
        // Who is not alone does not know what others will send.
        if self.log.failure.is_some() || (plan.stop_when_idle && self.whole && idle()) {
            self.done = true;
        }
        let delivered = self.log.counters.delivered_bytes;
        if delivered != self.progress.0 || self.flows.is_empty() {
            self.progress = (delivered, self.now);
        }
        let since = self.progress.1;
        if plan.stall_after.is_some_and(|span| self.now.saturating_since(since) > span) {
            let unfinished = self.waiting();
            if unfinished == 0 {
                return;
            }
            self.log.failure =
                Some(Failure::Stall { at: self.now, since, unfinished, stranded: 0, blocked: Vec::new() });
            self.done = true;
        }
    }

    /// Flows that have something to deliver, if none of them moves by itself: what is on a link arrives, what is paced
    /// leaves, and TCP's timer may back off for longer than any limit.
    fn waiting(&self) -> u64 {
        let is_pfc = |frame: &Vec<u8>| frame.get(12..14) == Some(&[0x88, 0x08]);
        if self.links.in_flight.iter().flatten().any(|frame| !is_pfc(frame)) {
            return 0;
        }
        let mut waiting = 0;
        for node in self.nodes.iter().flatten() {
            let nic = match node {
                Node::Switch(switch) if switch.egresses.iter().any(Egress::is_busy) => return 0,
                Node::Host(nic) if nic.egress.is_busy() => return 0,
                Node::Switch(_) => continue,
                Node::Host(nic) => nic,
            };
            for sender in nic.senders.values() {
                if sender.pacing.state == SendState::Paced
                    || (sender.requester.asks_reaction_point() && sender.rp.timer().is_some())
                {
                    return 0;
                }
                waiting += u64::from(sender.requester.seq.is_unfinished());
            }
        }
        waiting
    }

    /// The end: records of what is unfinished, and what ports did.
    pub fn finish(&mut self) -> Vec<PortReport> {
        self.cut_off();
        let mut reports = Vec::new();
        for node in self.nodes.iter_mut().flatten() {
            match node {
                Node::Host(nic) => reports.push(nic.report(self.now)),
                Node::Switch(switch) => reports.extend(switch.reports(self.now)),
            }
        }
        let classes = self.network.plan.classes.list.len();
        for port in 0..self.network.plan.ports() as u32 {
            if self.nodes[self.network.node_of(port) as usize].is_none() {
                let classes = vec![Default::default(); classes];
                reports.push(PortReport { port, classes, ..PortReport::default() });
            }
        }
        reports.sort_by_key(|report| report.port);
        reports
    }

    /// Frames that were sent and never came.
    pub fn lost(&mut self) -> io::Result<u64> {
        self.wires.lost()
    }
}

impl<S: Scheme, W: Wires> PortsNow for Run<'_, S, W> {
    fn port_now(&self, port: u32) -> PortNow {
        let egress = match &self.nodes[self.network.node_of(port) as usize] {
            Some(Node::Host(nic)) => &nic.egress,
            Some(Node::Switch(switch)) => &switch.egresses[switch.local(port)],
            None => return PortNow { tx_bytes: 0, queue_bytes: 0, paused: false },
        };
        PortNow { tx_bytes: egress.tx_bytes, queue_bytes: egress.queued_bytes, paused: egress.paused != 0 }
    }
}
