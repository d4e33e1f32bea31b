//! Frames at captured ports, as records: what each is at the instant its first bit leaves.

use crate::contract::frame_content::FrameContent;
use crate::contract::packet::{Ecn, IntStack};
use crate::contract::scheme::{Format, Transport};
use xoff_engine::{BitRate, Span, Time};

/// Frames to be recorded.
#[derive(Clone, Debug)]
pub struct Capture {
    /// Whose frames: what these ports send.
    pub ports: Vec<u32>,
    /// Frames whose first bit leaves then or later.
    pub from: Time,
    /// And not after this.
    pub until: Time,
    /// At most so many; the rest is only counted.
    pub frames: u64,
}

/// A frame at a captured port.
#[derive(Clone, Debug)]
pub struct Frame {
    /// Number of the capture.
    pub capture: u32,
    /// Its first bit leaves.
    pub at: Time,
    /// The one that sends it.
    pub port: u32,
    /// From the Ethernet header to the FCS.
    pub frame_bytes: u16,
    /// Index into [`crate::network::plan::Classes::list`].
    pub class: u8,
    /// ECN field as the frame leaves, marked by this queue or before.
    pub ecn: Ecn,
    /// Bytes it leaves behind in its queue.
    pub queue_bytes: u64,
    /// The last one this capture may take.
    pub last: bool,
    /// What is behind the headers that all frames have.
    pub body: Body,
}

/// A frame at a captured port of a network that sends real bytes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RawFrame {
    /// Index of the capture: [`Frame::capture`].
    pub capture: u32,
    /// Time of the event: [`Frame::at`].
    pub at: Time,
    /// Port of the plan: [`Frame::port`].
    pub port: u32,
    /// From the Ethernet header on, without the FCS; all of them, or only the first.
    pub bytes: Vec<u8>,
    /// Size of the frame: [`Frame::frame_bytes`].
    pub frame_bytes: u16,
    /// What is known of it beside its bytes; may be empty.
    pub comment: String,
}

/// What a frame carries, by its kind.
#[derive(Clone, Debug)]
pub enum Body {
    /// Payload of a flow, new or sent again.
    Data(Data),
    /// ACK or NAK.
    Reply(Reply),
    /// To a sender, from its receiver or from a switch.
    Notification {
        /// The flow whose sender it is for.
        flow: FlowName,
        /// What the scheme says in it.
        content: FrameContent,
        /// The switch's egress that saw the congestion, if a switch sent it.
        origin: Option<Place>,
    },
    /// IEEE 802.1Qbb, to the other end of the link.
    Pfc {
        /// Only those whose bit in the class-enable vector is set.
        classes: Vec<PfcClass>,
        /// How long a pause lasts; `None`: until resumed.
        lasts: Option<Span>,
        /// Rate of the egress that it stops: what quanta are counted in.
        rate: BitRate,
    },
    /// From a switch's control to its neighbour's.
    Neighbour {
        /// What the scheme says in it.
        content: FrameContent,
        /// Those that the content is about.
        flows: Vec<FlowName>,
    },
}

/// A data packet.
#[derive(Clone, Debug)]
pub struct Data {
    /// The flow that it is a packet of.
    pub flow: FlowName,
    /// Its number in the flow, from 0; the same when it is sent again.
    pub psn: u32,
    /// The first packet of its message; zero in a flow that is one.
    pub begin: u32,
    /// One past the last packet of the flow, or of its message; `None` is endless.
    pub total: Option<u32>,
    /// Payload of the whole flow, or of its message; `None` is endless.
    pub size_bytes: Option<u64>,
    /// Payload before it in its flow.
    pub offset_bytes: u64,
    /// Its own payload, without headers and padding.
    pub payload_bytes: u32,
    /// Frame bytes of the first packet of the flow, or of its message.
    pub first_frame_bytes: u16,
    /// When it left its sender's NIC.
    pub sent_at: Time,
    /// Whether it was sent before.
    pub resent: bool,
    /// Frame bytes before a switch cut off its payload; `None` if none did.
    pub whole_frame_bytes: Option<u16>,
    /// AckReq is set.
    pub asks_ack: bool,
    /// Header bytes and ECN field of its scheme.
    pub format: Format,
    /// Telemetry so far, where the format has it.
    pub int: Option<Box<IntStack>>,
    /// Where its mark is from.
    pub marked: Marked,
}

/// What a receiver sends back for a data packet.
#[derive(Clone, Debug)]
pub struct Reply {
    /// The flow that is acknowledged; the reply travels against it.
    pub flow: FlowName,
    /// A packet is missing: go back to `expected`.
    pub nak: bool,
    /// The next packet the receiver expects.
    pub expected: u32,
    /// First payload byte of that packet.
    pub expected_byte: u64,
    /// The receiver has all packets.
    pub complete: bool,
    /// When the packet it acknowledges left its sender's NIC.
    pub sent_at: Time,
    /// The mark of the packet it acknowledges differs from how that packet was sent.
    pub echoes_mark: bool,
    /// Header bytes of its scheme.
    pub format: Format,
    /// The telemetry of the packet it acknowledges.
    pub int: Option<Box<IntStack>>,
    /// Feedback in the place of telemetry, where the notification point feeds back in ACKs.
    pub content: Option<FrameContent>,
    /// What it says of single packets, where the transport acknowledges selectively.
    pub selective: Option<SelectiveReply>,
}

/// What a selective acknowledgement says of single packets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SelectiveReply {
    /// Packet that caused the reply.
    pub psn: u32,
    /// Packets that have arrived: bit `i` is the packet `i` after the first one beyond the next expected, or after the
    /// 63rd below `psn` if that is further.
    pub received: u64,
}

/// Whether and where a data packet was marked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Marked {
    /// The frame is as it was sent.
    No,
    /// At this egress, with what waited there when it was marked.
    At(Place),
    /// So many marks came since that the place is forgotten.
    Somewhere,
}

/// An egress queue at some moment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Place {
    /// Port of the plan.
    pub port: u32,
    /// What waited there.
    pub queue_bytes: u64,
}

/// Which flow a frame belongs to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FlowName {
    /// [`crate::contract::record::FlowRecord::id`]
    pub id: u32,
    /// [`crate::contract::record::FlowRecord::label`]
    pub label: u32,
    /// The sending host, by node.
    pub src: u32,
    /// The receiving host, by node.
    pub dst: u32,
    /// Class of its data packets.
    pub class: u8,
    /// Index of the scheme that controls it.
    pub scheme: u8,
    /// Whether its packets are RoCEv2 or TCP.
    pub transport: Transport,
    /// UDP or TCP source port.
    pub src_port: u16,
    /// Only if the scenario names it.
    pub dst_port: Option<u16>,
    /// Frame bytes of its full packets.
    pub full_frame_bytes: u16,
}

/// What a PFC frame says about one class.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PfcClass {
    /// Index into [`crate::network::plan::Classes::list`].
    pub class: u8,
    /// PAUSE, else RESUME.
    pub pause: bool,
    /// Bytes buffered of what came in by the port, and where they would cause a PAUSE; `None` at hosts.
    pub ingress: Option<(u64, u64)>,
}
