//! Who sends what, and when: the contract between traffic generators and the world.
//!
//! A [`Source`] says when it next acts; the world calls it at exactly that instant and carries
//! out what it returns. Only one event per source is ever pending, so flows to come cost nothing.

use xoff_engine::{BitRate, Span, Time};

/// A generator of flows. Deterministic: its randomness comes from its own stream.
pub trait Source: Send {
    /// What its flows are known by, unique among sources: their paths, streams and ties hang on it.
    /// `None`: its place among the sources.
    fn name(&self) -> Option<u64> {
        None
    }

    /// Whether what becomes of its flows may change what it does next, or when. Windows of a network in parts are no
    /// longer than the shortest host link if a source reacts.
    fn reacts(&self) -> bool {
        true
    }

    /// The next instant at which it acts; never in the past. `None`: not until a flow of its
    /// own ends, or never again.
    fn next(&self) -> Option<Time>;

    /// Called at exactly that instant; must then move [`Source::next`] on.
    fn act(&mut self, now: Time, out: &mut Vec<Action>);

    /// A flow of this source has ended (its last byte is acknowledged, or it was stopped). A
    /// closed-loop source may move [`Source::next`] here.
    fn on_finished(&mut self, _now: Time, _handle: u32) {}

    /// All that was offered so far to an endless flow of this source is acknowledged. The same
    /// holds for [`Source::next`]. This and the next two only if the source subscribes ([`Source::subscription`]).
    fn on_drained(&mut self, _now: Time, _handle: u32) {}

    /// The last byte of a message ([`Action::Send`]), or of a flow with a size (`message` is 0 then), has reached
    /// its receiver. The same holds for [`Source::next`].
    fn on_delivered(&mut self, _now: Time, _handle: u32, _message: u32) {}

    /// The last byte of a message is acknowledged, at its sender. The same holds for [`Source::next`].
    fn on_acknowledged(&mut self, _now: Time, _handle: u32, _message: u32) {}

    /// Returns which flow events it receives, from the start of the run on.
    fn subscription(&self) -> Subscription {
        Subscription::DRAINED
    }

    /// A flow of it has lost its way (`cut`), or has one again: faults took or gave links. The same holds for
    /// [`Source::next`].
    fn on_stranded(&mut self, _now: Time, _handle: u32, _cut: bool) {}

    /// What it waits for while nothing happens any more, in words for people, one line each; empty if nothing.
    fn waits_for(&self) -> Vec<String> {
        Vec::new()
    }
}

/// Flow events that a source receives, besides the ends of its flows. An event that no source receives costs nothing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Subscription {
    /// [`Source::on_drained`]
    pub drained: bool,
    /// [`Source::on_delivered`]
    pub delivered: bool,
    /// [`Source::on_acknowledged`]
    pub acknowledged: bool,
}

impl Subscription {
    /// Drained flows, and nothing about messages.
    pub const DRAINED: Subscription = Subscription { drained: true, delivered: false, acknowledged: false };
    /// All flow events.
    pub const ALL: Subscription = Subscription { drained: true, delivered: true, acknowledged: true };

    /// Returns whether the source waits for messages to arrive. Such a source also receives the loss and the return of
    /// a flow's route.
    pub fn of_messages(self) -> bool {
        self.delivered || self.acknowledged
    }
}

/// What a source asks the world to do now.
#[derive(Clone, Debug)]
pub enum Action {
    /// Begin a flow now.
    Start(FlowSpec),
    /// Hand more bytes to an endless flow that was started with `offered_bytes`.
    Offer {
        /// [`FlowSpec::handle`]
        handle: u32,
        /// Payload, on top of what was offered before.
        bytes: u64,
    },
    /// Send a message on a flow that was started endless with nothing offered: the queue pair carries its messages
    /// one after another and keeps its rate and window between them. A message begins with a packet of its own and
    /// its last packet is as short as it must be. Not to be mixed with [`Action::Offer`] on one flow.
    Send {
        /// [`FlowSpec::handle`]
        handle: u32,
        /// Payload, at least one byte.
        bytes: u64,
        /// The source's own name for the message: [`Source::on_delivered`] has it.
        message: u32,
    },
    /// Begin a macro-flow, over which [`Action::Send`] sends then. At flow level only.
    StartTogether(Box<MacroFlow>),
    /// Change or lift a flow's application rate limit.
    Cap {
        /// [`FlowSpec::handle`]
        handle: u32,
        /// `None` lifts it.
        rate: Option<BitRate>,
    },
    /// End an endless flow.
    Stop {
        /// [`FlowSpec::handle`]
        handle: u32,
    },
}

impl FlowSpec {
    /// An endless flow of the first class and the first scheme, which starts at line rate.
    pub fn new(handle: u32, src: u32, dst: u32) -> FlowSpec {
        FlowSpec {
            handle,
            src,
            dst,
            size_bytes: None,
            offered_bytes: None,
            class: 0,
            scheme: 0,
            weight: 1,
            initial_rate: None,
            rate_cap: None,
            path: None,
            multipath: true,
            label: 0,
            ports: None,
            probed: false,
        }
    }

    /// Its ports, or those of a flow that names none: an ephemeral one, and that of RoCEv2.
    pub fn ports_or(&self, ephemeral: u16) -> (u16, u16) {
        self.ports.unwrap_or((ephemeral, ROCE_PORT))
    }
}

/// UDP port of RoCEv2.
pub const ROCE_PORT: u16 = 4791;

/// One flow (one queue pair) from a host to another.
#[derive(Clone, Debug)]
pub struct FlowSpec {
    /// The source's own name for the flow; unique among its living flows.
    pub handle: u32,
    /// The sending host, by node.
    pub src: u32,
    /// The receiving host, by node; another than `src`.
    pub dst: u32,
    /// `None`: endless, until stopped or the run ends.
    pub size_bytes: Option<u64>,
    /// An endless flow that may send only what it was offered; `None` has always more to send.
    pub offered_bytes: Option<u64>,
    /// Index into [`crate::network::plan::Classes::list`].
    pub class: u8,
    /// Index of the scheme that controls it.
    pub scheme: u8,
    /// Share it deserves, where a scheme knows weights.
    pub weight: u16,
    /// Rate at which the scheme starts it; `None`: line rate. Without end-to-end control it stays.
    pub initial_rate: Option<BitRate>,
    /// Limit of the application, on top of the scheme's.
    pub rate_cap: Option<BitRate>,
    /// Egress ports from the sender's NIC to the last switch; `None` follows ECMP.
    pub path: Option<Box<[u32]>>,
    /// Its packets may take several paths, where the network's forwarding has them.
    pub multipath: bool,
    /// What the results call it; index into a table kept by whoever made the source.
    pub label: u32,
    /// UDP or TCP ports of its packets, source first, where they matter: hashes over headers, captures.
    /// `None`: an ephemeral port by the flow's number in its source, and that of RoCEv2.
    pub ports: Option<(u16, u16)>,
    /// Sampled by [`crate::network::plan::ProbeTarget::Flows`].
    pub probed: bool,
}

/// Connections that send together at one rate, as those of a ring do: at flow level they are one flow, so that a
/// collective costs as much as its connections and not as its messages.
#[derive(Clone, Debug)]
pub struct MacroFlow {
    /// Settings of every connection. Its handle names the macro-flow; its hosts are not used, since each edge has its own.
    pub spec: FlowSpec,
    /// The connections.
    pub edges: Vec<Edge>,
    /// What each of them sends, by parts that follow each other.
    pub parts: Vec<MacroPart>,
    /// How their messages wait for each other.
    pub pace: Pace,
    /// What software takes before each message.
    pub overhead: Span,
    /// A message counts when it is acknowledged, not when it is delivered.
    pub acknowledged: bool,
}

/// A connection of a macro-flow.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Edge {
    /// The sending host, by node.
    pub src: u32,
    /// The receiving host, by node.
    pub dst: u32,
    /// Its number among the flows of its source: its path is that of a flow with this number.
    pub number: u32,
    /// What it sends, in shares of what the parts say; at most one.
    pub share: f32,
}

/// Messages of a connection that are cut alike.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MacroPart {
    /// How often these chunks are sent; each time waits for the last of the time before.
    pub times: u64,
    /// Chunks.
    pub chunks: u64,
    /// Payload of a chunk.
    pub chunk_bytes: u64,
    /// Payload of a message, but for the last of a chunk.
    pub slice_bytes: u64,
    /// A message goes when the one so many before it has arrived; zero: it waits for none.
    pub depth: u32,
}

/// How messages of the connections of a macro-flow wait for each other.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Pace {
    /// Not at all.
    Free,
    /// A message passes all connections, one after the other, round and round.
    Ring,
    /// A message passes some connections, by their places: the longest way of any.
    Path(Vec<u32>),
}
