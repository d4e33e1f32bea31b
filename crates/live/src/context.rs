//! What a node has at hand while it works: the time, what is to come, the network, and where it writes things down.

use crate::agenda::Agenda;
use crate::forwarding::{acknowledged_by, data_of};
use crate::network::Network;
use std::collections::{BTreeMap, HashMap};
use xoff_engine::Time;
use xoff_fabric::capture::{Body, Frame};
use xoff_fabric::packet::Ecn;
use xoff_fabric::record::{Counters, Failure, PauseRecord, PfcRecord};
use xoff_wire::{Encoder, Seen};

/// At hand for as long as one event is handled.
pub struct Context<'a> {
    pub now: Time,
    pub agenda: &'a mut Agenda,
    pub network: &'a Network,
    pub encoder: &'a Encoder<'a>,
    pub log: &'a mut Log,
}

impl Context<'_> {
    /// The bytes of a frame that leaves a port now.
    pub fn bytes_of(&self, port: u32, frame_bytes: u32, class: u8, ecn: Ecn, body: Body) -> Vec<u8> {
        let frame_bytes = frame_bytes as u16;
        let (capture, at, queue_bytes, last) = (0, self.now, 0, false);
        let mut bytes = Vec::new();
        self.encoder.encode(&Frame { capture, at, port, frame_bytes, class, ecn, queue_bytes, last, body }, &mut bytes);
        bytes
    }
}

/// What nodes write down.
#[derive(Debug, Default)]
pub struct Log {
    pub counters: Counters,
    pub pauses: Vec<PauseRecord>,
    /// PFC frames as they arrive, if the scenario wants them.
    pub pfc_frames: Vec<PfcRecord>,
    /// What became of flows and is not yet told to their sources.
    pub events: Vec<FlowEvent>,
    /// Frames that nobody here sent, or that are not what they should be, by reason.
    pub ignored: BTreeMap<&'static str, u64>,
    /// All of them.
    pub ignored_frames: u64,
    /// Data packets and ACKs that were dropped, by flow.
    pub lost: HashMap<u32, u64>,
    pub failure: Option<Failure>,
}

impl Log {
    /// A frame was dropped for want of room, or lost on a link.
    pub fn lose(&mut self, seen: &Seen, network: &Network) {
        let data = data_of(seen, network).map(|flow| flow.id);
        self.counters.data_packets_discarded += u64::from(data.is_some());
        if let Some(flow) = data.or_else(|| acknowledged_by(seen)) {
            *self.lost.entry(flow).or_default() += 1;
        }
    }

    pub fn ignore(&mut self, reason: &'static str) {
        *self.ignored.entry(reason).or_default() += 1;
        self.ignored_frames += 1;
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FlowEvent {
    /// Its sender has every acknowledgement, or was stopped.
    Ended(u32),
    /// All that was offered to it is acknowledged.
    Drained(u32),
    /// Its oldest message, or all of it, has reached its receiver.
    Delivered(u32),
    /// Its sender received the ACK of the last packet of a message.
    Acknowledged(u32, u32),
}
