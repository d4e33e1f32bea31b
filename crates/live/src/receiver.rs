//! Receiving end of a flow. It is made when the first packet of a queue pair arrives, and learns from headers alone where
//! messages begin and end.

use xoff_engine::Time;
use xoff_fabric::capture::FlowName;
use xoff_fabric::packet::IntStack;
use xoff_fabric::record::RecoveryRecord;
use xoff_fabric::scheme::Format;
use xoff_fabric::transport::{Arrival, Responder, Stream};
use xoff_wire::Unwrap;

#[derive(Debug)]
pub struct Receiver<Np> {
    /// Turns what packets carry into feedback.
    pub np: Np,
    pub flow: FlowName,
    pub format: Format,
    pub responder: Responder,
    /// When the last byte of the flow, or of the message received last, arrived; `None` while more is expected.
    pub delivered_at: Option<Time>,
    pub marked: u64,
    /// Without timeouts, which the sender counts.
    pub recovery: RecoveryRecord,
    /// The timer event that counts.
    pub due: Time,
    pub heard_at: Time,
    /// UDP source port of the packet received last.
    pub port: u16,
    /// Makes telemetry whole.
    pub unwrap: Unwrap,
}

/// A data packet as its receiver reads it.
#[derive(Debug)]
pub struct DataPacket {
    /// What its transport reads of it.
    pub arrival: Arrival,
    pub first: bool,
    pub last: bool,
    pub payload_bytes: u64,
    /// Payload of the message, where its first packet has room to say so.
    pub size_bytes: Option<u64>,
    pub int: Option<IntStack>,
}

impl<Np> Receiver<Np> {
    /// Reads from a packet how long the flow, or the message that it belongs to, is.
    pub fn learn(&mut self, packet: &DataPacket) {
        let any_order = self.responder.kept().is_some();
        let (seq, psn) = (&mut self.responder.seq, packet.arrival.psn);
        let is_known = seq.stream.message_end != u32::MAX;
        let size_bytes = packet.size_bytes.filter(|_| packet.first);
        if any_order {
            // One message: the last packet may arrive before others.
            let (mtu, before) = (seq.stream.mtu_bytes, u64::from(psn) * u64::from(seq.stream.mtu_bytes));
            let size_bytes = size_bytes.filter(|_| psn == 0).or(packet.last.then_some(before + packet.payload_bytes));
            if let Some(size) = size_bytes.filter(|_| !is_known && self.delivered_at.is_none() && psn >= seq.expected) {
                let (packets, short_bytes) = Stream::packets(Some(size), mtu);
                seq.stream = Stream::new(packets, mtu, short_bytes);
            }
        } else if let Some(size) = size_bytes.or(packet.last.then_some(packet.payload_bytes))
            && psn == seq.expected
            && !is_known
            && size > 0
        {
            // Messages are numbered by their receiver: nothing on the wire names them.
            seq.begin_message(size, 0);
            self.delivered_at = None;
        }
    }
}
