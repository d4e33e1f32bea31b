//! The triad: congestion point, notification point, reaction point.
//!
//! A scheme is three state machines. They are told what happens and the time at which it does;
//! they return what should happen; the world does it. No clock, no I/O, no view of the topology
//! or of another flow, so each is tested without a network. Hooks a scheme does not need keep
//! their empty defaults, and a congestion point says in [`CongestionPoint::hooks`] which ones the
//! world must call at all.

pub use crate::contract::control::{Lane, Lanes, Occupancy, Passing, PortFacts, SwitchControl, SwitchFacts};
use crate::contract::delegate::delegable;
pub use crate::contract::facts::{FlowFacts, InterDomain, QueueFacts};
pub use crate::contract::frame_content::{Carrier, FrameContent};
use crate::contract::packet::{Ecn, IntStack};
use crate::contract::precision::Precision;
pub use crate::contract::record::Variable;
use xoff_engine::rng::mix;
use xoff_engine::{BitRate, Span, Time};

delegable! { $ delegate_scheme
/// A configured scheme: makes the state machines of ports and flows.
///
/// One value of an implementing type stands for one scheme of one run. A run may hold several
/// (different flows under different schemes); an enum over schemes is itself a scheme.
pub trait Scheme: Send + Sync {
    /// What a notification carries from where congestion is seen to the sender.
    type Feedback: Copy + Send;
    /// [`Silent`] unless switches act.
    type Cp: CongestionPoint<Feedback = Self::Feedback> + Send;
    /// [`Silent`] unless receivers do more than acknowledge.
    type Np: NotificationPoint<Feedback = Self::Feedback> + Send;
    /// What a sender obeys.
    type Rp: ReactionPoint<Feedback = Self::Feedback> + Send;
    /// [`Absent`] unless the scheme acts on packets in transit.
    type Transit: Transit<Feedback = Self::Feedback> + Send;
    /// [`Absent`] unless the scheme controls whole switches.
    type Switch: SwitchControl + Send;

    /// Makes the congestion point of an egress queue, when the world is built.
    fn congestion_point(&self, at: &QueueFacts) -> Self::Cp;
    /// Makes the notification point of a flow, when it starts.
    fn notification_point(&self, of: &FlowFacts) -> Self::Np;
    /// Makes the reaction point of a flow, when it starts.
    fn reaction_point(&self, of: &FlowFacts) -> Self::Rp;

    /// Whether it controls switches: at most one scheme of a run may.
    fn controls_switches(&self) -> bool {
        false
    }
    /// The control of one switch, if it has one there. Asked only if it controls switches at all.
    fn switch_control(&self, at: &SwitchFacts<'_>) -> Option<Self::Switch> {
        None
    }

    /// What acts on a flow's packets where they enter their last domain, if anything does. Asked only
    /// for flows that cross domains.
    fn transit(&self, of: &FlowFacts) -> Option<Self::Transit> {
        None
    }

    /// What its packets look like.
    fn format(&self) -> Format {
        Format::default()
    }

    /// What the packets of its flows between domains look like.
    fn format_inter_domain(&self) -> Format {
        self.format()
    }

    /// Frame bytes of a notification with this content; `None` is the host's plain one.
    fn notification_bytes(&self, feedback: &Self::Feedback) -> Option<u32> {
        None
    }

    /// How the content of a notification, or of feedback in an ACK, looks in its frame. Only who makes
    /// bytes of frames asks.
    fn frame_content(&self, feedback: &Self::Feedback) -> FrameContent {
        FrameContent::default()
    }

    /// The inverse, as exact as the frame is, without regard to the words; `None` if it is not a content
    /// of this scheme.
    fn read_content(&self, content: &FrameContent) -> Option<Self::Feedback> {
        None
    }
}
}

/// What a scheme makes of its packets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Format {
    /// Header bytes it adds to data packets.
    pub data_bytes: u32,
    /// Header bytes it adds to ACKs and NAKs.
    pub ack_bytes: u32,
    /// EtherType of a tag before the IP header of data packets, four of `data_bytes`.
    pub tag: Option<u16>,
    /// Data packets collect telemetry hop by hop, and ACKs carry it back.
    pub int: bool,
    /// How exact the records are that the world writes itself ([`Hooks::STAMP`]).
    pub precision: Precision,
    /// The ECN field with which data packets leave their sender.
    pub ecn: Ecn,
    /// Which headers packets have, and who recovers losses.
    pub transport: Transport,
    /// Receivers keep packets that come out of order, acknowledge every packet and never NAK.
    /// Always so under [`Transport::Tcp`].
    pub reorder: bool,
    /// Where packets may come out of order: one ACK per this many packets in order (or per
    /// [`HostSettings::ack_every`](crate::network::plan::HostSettings::ack_every), if that is more).
    pub ack_every: u32,
    /// How long an ACK may wait for more packets, where packets may come out of order.
    pub ack_timeout: Span,
}

impl Default for Format {
    fn default() -> Format {
        Format {
            data_bytes: 0,
            ack_bytes: 0,
            tag: None,
            int: false,
            precision: Precision::Exact,
            ecn: Ecn::Ect0,
            transport: Transport::Roce,
            reorder: false,
            ack_every: 1,
            ack_timeout: Span::from_ms(40),
        }
    }
}

/// Who recovers what is lost, and how.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Transport {
    /// The fabric goes back N, on a NAK or after the host's time-out.
    #[default]
    Roce,
    /// The reaction point decides, by [`ReactionPoint::resend`], with timers of its own.
    Tcp,
}

/// Which hooks of a congestion point the world must call.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Hooks(u16);

const _: () = assert!(Hooks::STAMP.0 == 1 << 7, "8 of 16 hooks are used: 1 << 8 is the next");

impl Hooks {
    /// Never called.
    pub const NONE: Hooks = Hooks(0);
    /// [`CongestionPoint::on_enqueue`]
    pub const ENQUEUE: Hooks = Hooks(1);
    /// [`CongestionPoint::on_dequeue`]
    pub const DEQUEUE: Hooks = Hooks(2);
    /// [`CongestionPoint::on_pause_change`]
    pub const PAUSE: Hooks = Hooks(4);
    /// [`CongestionPoint::on_timer`]; without it [`CongestionPoint::timer`] is not read.
    pub const TIMER: Hooks = Hooks(8);
    /// Packets of other schemes in the queue count too: its enqueue and dequeue hooks see them, with
    /// [`PacketFacts::own`] false. What it writes into them is void, and they hear no notice of it.
    pub const EVERY: Hooks = Hooks(16);
    /// Like [`Hooks::DEQUEUE`], for congestion points that do nothing with a packet that leaves its
    /// queue empty: most packets, in a network that is not overloaded.
    pub const DEQUEUE_BUSY: Hooks = Hooks(32);
    /// With one of the two for packets that leave: ACKs and NAKs count too
    /// ([`CongestionPoint::on_ack_dequeue`]).
    pub const ACKS: Hooks = Hooks(64);
    /// Instead of [`Hooks::DEQUEUE`], for congestion points that do nothing but write a record of their port into the
    /// telemetry of each data packet: bytes sent before it, and what waits in all classes of the port without it. The
    /// world does it itself, in the precision of the [`Format`] and without a call.
    pub const STAMP: Hooks = Hooks(128);

    /// The hooks of either.
    pub const fn with(self, other: Hooks) -> Hooks {
        Hooks(self.0 | other.0)
    }
    /// With a call in place of [`Hooks::STAMP`]: where packets of several schemes meet, or a congestion point is one
    /// of two, only it can tell which packets are its own.
    pub const fn calling(self) -> Hooks {
        if self.has(Hooks::STAMP) { Hooks(self.0 & !Hooks::STAMP.0).with(Hooks::DEQUEUE) } else { self }
    }
    /// Whether any of `other` is among these.
    #[inline]
    pub const fn has(self, other: Hooks) -> bool {
        self.0 & other.0 != 0
    }
}

/// What a congestion point knows its queue by ([`QueueFacts::queue`]): port of the network, class, and place of its
/// scheme among those of the run.
#[inline]
pub fn queue_number(port: u32, class: u8, slot: usize) -> u64 {
    (u64::from(port) * 8 + u64::from(class)) * 16 + slot as u64
}

/// The part that a queue, by [`QueueFacts::queue`], has in the identifier of a path.
#[inline]
pub fn name_in_path(queue: u64) -> u16 {
    mix(queue.wrapping_add(1)) as u16
}

/// The egress queue as its congestion point sees it.
#[derive(Clone, Copy, Debug)]
pub struct QueueView {
    /// When the hook is called.
    pub now: Time,
    /// Bytes waiting in this queue, the packet at hand not included.
    pub queue_bytes: u64,
    /// Packets waiting in this queue, the one at hand not included.
    pub queue_packets: u32,
    /// Bytes waiting in all classes of the port, the packet at hand not included.
    pub port_bytes: u64,
    /// Bytes sent by the port before the packet at hand.
    pub tx_bytes: u64,
    /// Line rate of the port.
    pub rate: BitRate,
    /// Whether PFC stops this queue.
    pub paused: bool,
}

impl QueueView {
    /// A queue of this length, with plain values for the rest: for tests and calculations.
    pub fn at(rate: BitRate, now: Time, queue_bytes: u64) -> QueueView {
        QueueView {
            now,
            queue_bytes,
            queue_packets: queue_bytes.div_ceil(1000) as u32,
            port_bytes: queue_bytes,
            tx_bytes: 0,
            rate,
            paused: false,
        }
    }
}

/// The packet at hand: what a congestion point may read of it.
#[derive(Clone, Copy, Debug)]
pub struct PacketFacts {
    /// The number of its flow: unique in the run, never used again. It tells flows apart and says
    /// nothing else; what it is depends on what else has started.
    pub flow: u32,
    /// A hash of what the flow is, the same whatever else runs: for tables that hash.
    pub name: u32,
    /// A hash of the addresses of its flow's two ends: for tables that know flows by these.
    pub ends: u16,
    /// From the Ethernet header to the FCS: what queues count.
    pub frame_bytes: u32,
    /// The packet belongs to the congestion point's own scheme; always, without [`Hooks::EVERY`].
    pub own: bool,
}

impl PacketFacts {
    /// A packet of its own scheme and in mid-flow: for tests and calculations.
    pub fn of(flow: u32, frame_bytes: u32) -> PacketFacts {
        PacketFacts { flow, name: flow, ends: flow as u16, frame_bytes, own: true }
    }
}

/// What a congestion point may write into the packet at hand.
pub struct Mark<'a> {
    /// The packet's ECN field, as it came.
    pub ecn: &'a mut Ecn,
    /// The telemetry stack of schemes that ask for one.
    pub int: Option<&'a mut IntStack>,
}

/// A message of a switch to the source of a flow.
#[derive(Clone, Copy, Debug)]
pub struct Notice<F> {
    /// [`PacketFacts::flow`] of the flow.
    pub flow: u32,
    /// For [`ReactionPoint::on_feedback`].
    pub feedback: F,
}

delegable! { $ delegate_congestion_point
/// Watches one egress queue of a switch: marks, measures or notifies.
pub trait CongestionPoint {
    /// Feedback of its [`Scheme`].
    type Feedback: Copy;

    /// Which of the others to call; the same as long as the run goes on.
    fn hooks(&self) -> Hooks {
        Hooks::NONE
    }
    /// Lengths of the queue between which packets are marked at random, if there are such: none below, all above.
    fn thresholds(&self) -> Option<[u64; 2]> {
        None
    }
    /// A packet of the scheme arrives at the queue (it is not in it yet); `weight` is its flow's.
    /// `notify` sends feedback to the source of a flow.
    fn on_enqueue(
        &mut self,
        view: &QueueView,
        packet: &PacketFacts,
        weight: u16,
        mark: Mark<'_>,
        notify: impl FnMut(u32, Self::Feedback),
    ) {
    }
    /// A packet of the scheme has left the queue and goes onto the wire.
    #[inline]
    fn on_dequeue(
        &mut self,
        view: &QueueView,
        packet: &PacketFacts,
        mark: Mark<'_>,
        notify: impl FnMut(u32, Self::Feedback),
    ) {
    }
    /// An ACK or NAK of the scheme has left the queue; with [`Hooks::ACKS`] only.
    fn on_ack_dequeue(&mut self, view: &QueueView) {}
    /// The queue was paused (`view.paused`) or resumed by its downstream.
    fn on_pause_change(&mut self, view: &QueueView) {}
    /// A RESUME has come to a queue that is not paused: the time of a timed PAUSE had run out before. With
    /// [`Hooks::PAUSE`] only.
    fn on_resume_again(&mut self, view: &QueueView) {}
    /// The time named by [`CongestionPoint::timer`] has come.
    fn on_timer(&mut self, view: &QueueView, notify: impl FnMut(u32, Self::Feedback)) {}
    /// When it next wants [`CongestionPoint::on_timer`]; read after every hook, if
    /// [`Hooks::TIMER`] is set.
    fn timer(&self) -> Option<Time> {
        None
    }
}
}

/// A large congestion point behind a pointer, so that queues of other schemes in the same array do
/// not pay for its size.
impl<C: CongestionPoint> CongestionPoint for Box<C> {
    type Feedback = C::Feedback;

    delegate_congestion_point! { #[inline] self { cp => **cp; } }
}

/// A data packet as its receiver sees it.
#[derive(Clone, Copy, Debug)]
pub struct Received {
    /// When its last bit has come.
    pub now: Time,
    /// With headers and gap.
    pub wire_bytes: u32,
    /// Without headers.
    pub payload_bytes: u32,
    /// ECN field, as the switches left it.
    pub ecn: Ecn,
}

delegable! { $ delegate_notification_point
/// At the receiver, one per flow: turns what packets carry into feedback.
pub trait NotificationPoint {
    /// Feedback of its [`Scheme`].
    type Feedback: Copy;

    /// A data packet arrived that the receiver keeps (in order, unless [`Format::reorder`]); the
    /// feedback travels as a notification of its own. (ACKs
    /// echo the packet's mark, time stamp and telemetry without being asked.)
    #[inline]
    fn on_data(&mut self, packet: &Received) -> Option<Self::Feedback> {
        None
    }
    /// The time named by [`NotificationPoint::timer`] has come; the feedback travels as a notification of its own.
    fn on_timer(&mut self, now: Time) -> Option<Self::Feedback> {
        None
    }
    /// When it next wants [`NotificationPoint::on_timer`]; read after every hook.
    #[inline]
    fn timer(&self) -> Option<Time> {
        None
    }
    /// Whether it feeds back in ACKs: asked once, when the flow starts. The next two hooks are for
    /// those that do; their ACKs carry feedback in the place of telemetry.
    fn feeds_back_in_acks(&self) -> bool {
        false
    }
    /// The telemetry of a data packet, before [`NotificationPoint::on_data`].
    fn on_telemetry(&mut self, now: Time, int: &IntStack) {}
    /// What the ACK or NAK about to be sent carries to the sender, past the flow's [`Transit`].
    fn ack_feedback(&mut self, now: Time) -> Option<Self::Feedback> {
        None
    }
}
}

/// How fast and how far ahead a flow may send.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Limits {
    /// Paced at this many bits per second of wire bytes; at or above line rate means unpaced.
    pub rate_bps: f64,
    /// Payload bytes in flight; `u64::MAX` is no window.
    pub window_bytes: u64,
}

/// An acknowledgement as the sender sees it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Acked<'a> {
    /// When its last bit has come.
    pub now: Time,
    /// Payload bytes newly acknowledged, in order or selectively.
    pub bytes: u64,
    /// Payload bytes acknowledged so far, from the flow's first byte.
    pub acked_bytes: u64,
    /// Payload bytes sent so far, from the flow's first byte.
    pub sent_bytes: u64,
    /// From the departure of the packet that caused the ACK to now.
    pub rtt: Span,
    /// The mark of that packet.
    pub ecn: Ecn,
    /// The telemetry of that packet, with [`Format::int`].
    pub int: Option<&'a IntStack>,
    /// The ACK repeats the one before it while data is outstanding ([`Transport::Tcp`] only).
    pub duplicate: bool,
    /// That packet had been sent more than once.
    pub resent: bool,
    /// Number of the path that packet took, if its sender chose one; else zero.
    pub path: u16,
    /// A NAK; [`ReactionPoint::on_loss`] follows.
    pub nak: bool,
}

/// What a sender tells that counts in bytes on the wire.
#[derive(Clone, Copy, Debug)]
pub enum OnWire {
    /// So many bytes were sent.
    Sent(u64),
    /// The receiver has so many more; the round trip is that of the packet that caused the ACK, if that can be known.
    Acked {
        /// Increase of the receiver's count.
        bytes: u64,
        /// From the departure of that packet to now.
        rtt: RoundTrip,
        /// Its mark.
        marked: bool,
    },
    /// A packet of so many bytes was trimmed.
    Trimmed {
        /// Before that.
        bytes: u64,
        /// From its departure to now.
        rtt: Span,
    },
    /// The timer of a packet of so many bytes ran out.
    TimedOut(u64),
    /// So many bytes are held for lost by the count of what came after them.
    HeldLost(u64),
}

/// What is known of the round trip of a packet that an ACK answers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RoundTrip {
    /// Nothing: it may have been answered for another copy.
    Unknown,
    /// Round trip of a packet of data.
    OfData(Span),
    /// Round trip of a request to send, or so it seems: no other is taken to be shorter for it.
    OfRequest(Span),
    /// Round trip of a probe.
    OfProbe(Span),
}

impl RoundTrip {
    /// The time, or none.
    pub fn span(self) -> Span {
        match self {
            RoundTrip::Unknown => Span::ZERO,
            RoundTrip::OfData(span) | RoundTrip::OfRequest(span) | RoundTrip::OfProbe(span) => span,
        }
    }
}

/// What a sender may have in flight that counts in bytes on the wire.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WireWindow {
    /// At most.
    pub bytes: u64,
    /// The most that this may become.
    pub most_bytes: u64,
    /// Round trip of the network's longest path.
    pub network_rtt: Span,
    /// Shortest round trip of the flow, at most the network's.
    pub base_rtt: Span,
    /// Queueing delay that is aimed at.
    pub target: Span,
    /// Mean queueing delay.
    pub mean_delay: Span,
}

/// What a TCP sender has under way, in payload bytes from the flow's first byte.
#[derive(Clone, Copy, Debug)]
pub struct Outstanding {
    /// When the sender asks.
    pub now: Time,
    /// All before is acknowledged.
    pub acked_bytes: u64,
    /// Where it goes on sending.
    pub sent_bytes: u64,
    /// The most it has ever sent; more than `sent_bytes` after going back.
    pub highest_bytes: u64,
}

/// What a TCP sender must send again.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Resend {
    /// What is new goes on, within the window.
    Nothing,
    /// The oldest unacknowledged packet, before anything new and whatever the window.
    Oldest,
    /// Its timer ran out: it goes back to the oldest unacknowledged packet, within its window.
    All,
}

/// How a sender learned of a loss.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Loss {
    /// Its receiver said so.
    Nak,
    /// A switch has cut off the payload of a packet, and its receiver said so.
    Trimmed,
    /// [`HostSettings::retransmit_timeout`](crate::network::plan::HostSettings::retransmit_timeout) ran out.
    Timeout,
}

/// Timers that a reaction point may tell apart: three, and one of what works above it.
pub const TIMERS: usize = 4;

delegable! { $ delegate_reaction_point
/// At the sender, one per flow: turns feedback into a rate and a window.
pub trait ReactionPoint {
    /// Feedback of its [`Scheme`].
    type Feedback: Copy;

    /// Read after every hook.
    #[inline]
    fn limits(&self) -> Limits;

    /// A data packet goes onto the wire, new or sent again; `wire_bytes` with headers and gap.
    #[inline]
    fn on_sent(&mut self, now: Time, wire_bytes: u32) {}
    /// An ACK or NAK arrived; a NAK is followed by [`ReactionPoint::on_loss`].
    #[inline]
    fn on_ack(&mut self, ack: &Acked<'_>) {}
    /// Whether neither [`ReactionPoint::on_sent`] nor [`ReactionPoint::on_ack`] of an ACK without mark and feedback
    /// changes anything until another hook is called. They are left out then: a flow without congestion costs nothing.
    #[inline]
    fn rests(&self) -> bool {
        false
    }
    /// A notification arrived, or an ACK that carries feedback ([`ReactionPoint::on_ack`] follows).
    fn on_feedback(&mut self, now: Time, feedback: &Self::Feedback) {}
    /// Packets are held for lost, under [`Transport::Roce`] only: the sender goes back, or resends `bytes` of payload
    /// one packet after the other.
    fn on_loss(&mut self, now: Time, loss: Loss, bytes: u64) {}
    /// What must be sent again; asked after every hook, under [`Transport::Tcp`] only.
    fn resend(&mut self, outstanding: &Outstanding) -> Resend {
        Resend::Nothing
    }
    /// Another mechanism found the flow congested, without saying how much: for reaction points that
    /// act on a bare notification.
    fn on_congested(&mut self, now: Time) {}
    /// Another mechanism asks it to keep its rate for now: neither cut nor raise.
    fn on_hold(&mut self, now: Time) {}
    /// How often it has raised its rate on its own so far.
    fn increases(&self) -> u32 {
        0
    }
    /// Whether the last ACK led to a decision on its rate, be it the same as before; asked by NICs that
    /// look through their flows ([`NicScheduler::Scan`](crate::network::plan::NicScheduler::Scan)).
    fn has_decided(&self) -> bool {
        true
    }
    /// Publishes the scheme's variables at this instant. Only probes (`what = "scheme"`) call it. A variable that is
    /// updated lazily is computed here without being stored, so that a probe changes nothing.
    fn variables(&self, now: Time, out: &mut dyn FnMut(&'static Variable, f64)) {}
    /// What happens to packets of a sender that counts in bytes on the wire, in place of the other hooks: see
    /// [`Dialect::Htsim`](crate::network::plan::Dialect::Htsim).
    fn on_wire(&mut self, now: Time, what: &OnWire) {}
    /// What such a sender may have in flight, if the reaction point says so.
    fn wire_window(&self) -> Option<WireWindow> {
        None
    }
    /// The time named by [`ReactionPoint::timer`] has come.
    fn on_timer(&mut self, now: Time) {}
    /// When it next wants [`ReactionPoint::on_timer`]; read after every hook. A flow that is not
    /// limited should have none, so that it costs nothing.
    #[inline]
    fn timer(&self) -> Option<Time> {
        None
    }
    /// Its timers one by one: where the order of scheduling counts, every timer is an event that was
    /// scheduled when it was set.
    fn timers(&self) -> [Option<Time>; TIMERS] {
        [self.timer(), None, None, None]
    }
}
}

delegable! { $ delegate_transit
/// Acts on the packets of one flow between domains at the gateway into the receiver's. There the
/// flow has a queue of its own, before the egress queue, and leaves it at the rate said here.
pub trait Transit {
    /// Feedback of its [`Scheme`].
    type Feedback: Copy;

    /// A data packet comes in; `queue_bytes` wait in the flow's queue already.
    fn on_arrive(&mut self, now: Time, queue_bytes: u64) {}
    /// A data packet leaves the flow's queue, where `queue_bytes` remain.
    fn on_release(&mut self, now: Time, queue_bytes: u64, int: Option<&mut IntStack>) {}
    /// An ACK that carries feedback leaves the domain.
    fn on_ack(&mut self, now: Time, feedback: &Self::Feedback) {}
    /// The rate of the flow's queue, in bits per second of wire bytes; read after every hook.
    fn rate_bps(&self) -> f64;
    /// Bytes in the egress queue, of this rate, from which on flows wait and are served round-robin.
    fn yields_at(&self, egress: BitRate) -> u64 {
        u64::MAX
    }
}
}

/// Where a scheme has nothing: a type without values.
#[derive(Debug)]
pub enum Absent<F = ()> {
    #[doc(hidden)]
    Never(std::convert::Infallible, std::marker::PhantomData<F>),
}

impl<F: Copy> Transit for Absent<F> {
    type Feedback = F;
    fn rate_bps(&self) -> f64 {
        let Absent::Never(never, _) = self;
        match *never {}
    }
}

impl<F> SwitchControl for Absent<F> {
    type Message = ();
    fn output_queue_bytes(&self) -> u64 {
        let Absent::Never(never, _) = self;
        match *never {}
    }
}

/// PFC alone: no detection, no notification, line rate. Also the plainest example of a scheme,
/// and what the fabric's own tests run.
#[derive(Clone, Copy, Debug, Default)]
pub struct Uncontrolled;

/// The empty congestion and notification point.
#[derive(Clone, Copy, Debug)]
pub struct Silent<F = ()>(std::marker::PhantomData<F>);

impl<F> Default for Silent<F> {
    fn default() -> Self {
        Silent(std::marker::PhantomData)
    }
}

/// Sends at the rate it started with, line rate as a rule, whatever happens.
#[derive(Clone, Copy, Debug)]
pub struct LineRate(f64);

impl<F: Copy> CongestionPoint for Silent<F> {
    type Feedback = F;
}
impl<F: Copy> NotificationPoint for Silent<F> {
    type Feedback = F;
}
impl ReactionPoint for LineRate {
    type Feedback = ();
    fn limits(&self) -> Limits {
        Limits { rate_bps: self.0, window_bytes: u64::MAX }
    }
    fn rests(&self) -> bool {
        true
    }
}
impl Scheme for Uncontrolled {
    type Feedback = ();
    type Cp = Silent;
    type Np = Silent;
    type Rp = LineRate;
    type Transit = Absent;
    type Switch = Absent;
    fn congestion_point(&self, _: &QueueFacts) -> Silent {
        Silent::default()
    }
    fn notification_point(&self, _: &FlowFacts) -> Silent {
        Silent::default()
    }
    fn reaction_point(&self, of: &FlowFacts) -> LineRate {
        LineRate(of.initial_rate.bps() as f64)
    }
}
