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
    pub from: Time,
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
    pub port: u32,
    /// From the Ethernet header to the FCS.
    pub frame_bytes: u16,
    pub class: u8,
    pub ecn: Ecn,
    /// Bytes it leaves behind in its queue.
    pub queue_bytes: u64,
    /// The last one this capture may take.
    pub last: bool,
    pub body: Body,
}

#[derive(Clone, Debug)]
pub enum Body {
    Data(Data),
    /// ACK or NAK.
    Reply(Reply),
    /// To a sender, from its receiver or from a switch.
    Notification {
        flow: FlowName,
        content: FrameContent,
        /// The switch's egress that saw the congestion, if a switch sent it.
        origin: Option<Place>,
    },
    Pfc {
        classes: Vec<PfcClass>,
        /// How long a pause lasts; `None`: until resumed.
        lasts: Option<Span>,
        /// Rate of the egress that it stops: what quanta are counted in.
        rate: BitRate,
    },
    /// From a switch's control to its neighbour's.
    Neighbour {
        content: FrameContent,
        flows: Vec<FlowName>,
    },
}

#[derive(Clone, Debug)]
pub struct Data {
    pub flow: FlowName,
    pub psn: u32,
    /// Packets of the flow; `None` is endless.
    pub total: Option<u32>,
    pub size_bytes: Option<u64>,
    /// Payload before it in its flow, and its own.
    pub offset_bytes: u64,
    pub payload_bytes: u32,
    /// Frame bytes of the flow's first packet.
    pub first_frame_bytes: u16,
    /// When it left its sender's NIC.
    pub sent_at: Time,
    pub resent: bool,
    /// It wants an ACK.
    pub asks_ack: bool,
    pub format: Format,
    pub int: Option<Box<IntStack>>,
    pub marked: Marked,
}

#[derive(Clone, Debug)]
pub struct Reply {
    pub flow: FlowName,
    pub nak: bool,
    /// The next packet the receiver expects, and its first byte in the flow.
    pub expected: u32,
    pub expected_byte: u64,
    /// It has them all.
    pub complete: bool,
    /// When the packet it acknowledges left its sender's NIC.
    pub sent_at: Time,
    /// The mark of the packet it acknowledges differs from how that packet was sent.
    pub echoes_mark: bool,
    pub format: Format,
    pub int: Option<Box<IntStack>>,
    pub content: Option<FrameContent>,
}

/// Whether and where a data packet was marked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Marked {
    No,
    At(Place),
    /// So many marks came since that the place is forgotten.
    Somewhere,
}

/// An egress queue at some moment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Place {
    pub port: u32,
    pub queue_bytes: u64,
}

/// Which flow a frame belongs to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FlowName {
    /// [`crate::contract::record::FlowRecord::id`]
    pub id: u32,
    pub label: u32,
    pub src: u32,
    pub dst: u32,
    pub class: u8,
    pub scheme: u8,
    pub transport: Transport,
    /// Its source port, and the other if the scenario names it.
    pub src_port: u16,
    pub dst_port: Option<u16>,
    /// Frame bytes of its full packets.
    pub full_frame_bytes: u16,
}

/// What a PFC frame says about one class.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PfcClass {
    pub class: u8,
    pub pause: bool,
    /// Bytes buffered of what came in by the port, and where they would cause a PAUSE; `None` at hosts.
    pub ingress: Option<(u64, u64)>,
}
