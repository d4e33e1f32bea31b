//! The contract of a machine that controls a whole switch.
//!
//! The triad sees one queue or one flow at a time. A switch control sees every data packet of every
//! scheme that crosses its switch, from both sides: the input it came by and the output it leaves
//! by. It decides which packets may be held back at an output and when they may go, which of several
//! equal-cost outputs a packet takes, and it talks to the controls of neighbouring switches. Like the
//! triad it is told what happens and when, and returns what should happen; the world does it
//! (`part/voq.rs`).

use crate::contract::delegate::delegable;
use crate::contract::frame_content::FrameContent;
use xoff_engine::{BitRate, Span, Time};

/// What a switch control may know of its place.
#[derive(Clone, Copy, Debug)]
pub struct SwitchFacts<'a> {
    /// Seed of the run, for [`xoff_engine::stream`].
    pub seed: u64,
    /// Its number among switches; stable for a given scenario.
    pub switch: u64,
    /// Ports by their number at the switch, which is how all hooks name them.
    pub ports: &'a [PortFacts],
    /// Number of traffic classes, by which hooks name them.
    pub classes: u8,
    /// Wire size of the largest data packet.
    pub mtu_wire_bytes: u32,
}

/// One port of a VOQ switch.
#[derive(Clone, Copy, Debug)]
pub struct PortFacts {
    /// At which it sends.
    pub rate: BitRate,
    /// Propagation to the other end.
    pub delay: Span,
    /// A switch is at the other end, which may understand messages; hosts do not.
    pub to_switch: bool,
}

/// A data packet on its way through the switch.
#[derive(Clone, Copy, Debug)]
pub struct Passing {
    /// When the hook is called.
    pub now: Time,
    /// Port it came in by, as the switch numbers them.
    pub ingress: u16,
    /// Port it leaves by, as the switch numbers them.
    pub egress: u16,
    /// Index into [`crate::network::plan::Classes::list`].
    pub class: u8,
    /// Unique in the run, and never used again.
    pub flow: u32,
    /// From the Ethernet header to the FCS: what buffers count.
    pub frame_bytes: u32,
}

/// How much waits where; the packet at hand is not included. A packet waits in a virtual output
/// queue of its input first, and then in the queue of its output.
pub trait Occupancy {
    /// All virtual output queues of an input: what PFC sees.
    fn input_bytes(&self, ingress: u16, class: u8) -> u64;
    /// The output queue.
    fn output_bytes(&self, egress: u16, class: u8) -> u64;
    /// One virtual output queue.
    fn voq_bytes(&self, ingress: u16, egress: u16, class: u8) -> u64;
}

/// The two sub-queues of a virtual output queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Lane {
    /// What passes as in any switch.
    Free,
    /// What the control may hold back without blocking the rest.
    Held,
}

/// Lanes whose packets may move to the output queue now.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Lanes(u8);

impl Lanes {
    /// Nothing moves.
    pub const NONE: Lanes = Lanes(0);
    /// Only what is not held back.
    pub const FREE: Lanes = Lanes(1);
    /// Only what may be held back.
    pub const HELD: Lanes = Lanes(2);
    /// Whatever waits.
    pub const BOTH: Lanes = Lanes(3);

    /// That lane alone.
    #[inline]
    pub const fn of(lane: Lane) -> Lanes {
        match lane {
            Lane::Free => Lanes::FREE,
            Lane::Held => Lanes::HELD,
        }
    }
    /// Whether that lane is one of these.
    #[inline]
    pub const fn has(self, lane: Lane) -> bool {
        self.0 & Lanes::of(lane).0 != 0
    }
    /// The lanes of either.
    #[inline]
    pub const fn with(self, other: Lanes) -> Lanes {
        Lanes(self.0 | other.0)
    }
    /// The lanes of both.
    #[inline]
    pub const fn and(self, other: Lanes) -> Lanes {
        Lanes(self.0 & other.0)
    }
}

delegable! { $ delegate_switch_control
/// Controls a switch as a whole. Packets that are not data (ACKs, notifications) pass it unseen.
pub trait SwitchControl {
    /// What it says to its neighbours.
    type Message: Copy + Send;

    /// The size of an output queue: once it holds so much, packets wait at their inputs.
    fn output_queue_bytes(&self) -> u64;

    /// A data packet has come in (it is in no queue yet). `send` hands a message to the neighbour on
    /// a port.
    #[inline]
    fn on_arrival(&mut self, packet: &Passing, queues: &impl Occupancy, send: impl FnMut(u16, Self::Message)) {}
    /// A data packet moves into the output queue (it is in no queue at this moment).
    #[inline]
    fn on_transfer(&mut self, packet: &Passing, queues: &impl Occupancy) {}

    /// The lane of a flow at an output. The answer for a flow may change only together with
    /// [`SwitchControl::take_changed`], so that its packets always lie in one lane, in order.
    #[inline]
    fn lane(&self, egress: u16, class: u8, flow: u32) -> Lane {
        Lane::Free
    }
    /// An output whose lanes must be sorted again; asked after every hook until there is none.
    #[inline]
    fn take_changed(&mut self) -> Option<(u16, u8)> {
        None
    }
    /// Which lanes may send a packet to the output queue, now that it has room and `waiting` is what
    /// has packets.
    #[inline]
    fn gate(&mut self, now: Time, egress: u16, class: u8, waiting: Lanes, queues: &impl Occupancy) -> Lanes {
        Lanes::BOTH
    }

    /// Whether it wants to be asked for [`SwitchControl::choose`] at all now.
    #[inline]
    fn detours(&self) -> bool {
        false
    }
    /// The output of a packet routed to `packet.egress`: that one, or another of `candidates`, which
    /// all lead to its destination at equal cost.
    fn choose(&mut self, packet: &Passing, candidates: &[u16], occupancy: &impl Occupancy) -> u16 {
        packet.egress
    }

    /// A message of the neighbour on a port.
    fn on_message(&mut self, now: Time, port: u16, message: &Self::Message) {}
    /// Frame bytes of a message.
    fn message_bytes(&self, message: &Self::Message) -> u32 {
        64
    }
    /// How a message looks in its frame; only who makes bytes of frames asks.
    fn frame_content(&self, message: &Self::Message) -> FrameContent {
        FrameContent::default()
    }
    /// The inverse, as exact as the frame is, without regard to the words; `None` if it is not a message
    /// that may come here.
    fn read_content(&self, content: &FrameContent) -> Option<Self::Message> {
        None
    }

    /// The time named by [`SwitchControl::timer`] has come; gates may have opened.
    fn on_timer(&mut self, now: Time, occupancy: &impl Occupancy) {}
    /// When it next wants [`SwitchControl::on_timer`]; read after every hook.
    #[inline]
    fn timer(&self) -> Option<Time> {
        None
    }
}
}
