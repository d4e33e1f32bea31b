//! Packets of a flow and the payload they carry: one stream of bytes, or messages one after another.

use super::messages::{Cut, Messages};

/// Sizes of a flow's packets, as one of its ends remembers them.
#[derive(Debug)]
pub struct Stream {
    /// PSN after the last packet of the flow, or of the oldest message that is not complete; `u32::MAX` if there is
    /// none. Packets below it and not yet acknowledged (received) are full.
    pub message_end: u32,
    /// Packets below this PSN carry a full MTU; 0 with messages.
    pub full_packets_until: u32,
    /// Payload of a full packet.
    pub mtu_bytes: u32,
    /// Payload bytes by which the last packet is short.
    pub short_bytes: u32,
    /// Name of the oldest message that is not complete; 0 if there is none.
    name: u32,
    /// Messages that are not complete; `None` for one stream of bytes.
    pub messages: Option<Box<Messages>>,
}

impl Stream {
    /// Stream of so many packets, the last of them short; `u32::MAX` packets: endless, or messages.
    pub fn new(packets: u32, mtu_bytes: u32, short_bytes: u32) -> Stream {
        Stream { message_end: packets, full_packets_until: packets, mtu_bytes, short_bytes, name: 0, messages: None }
    }

    /// Starts the stream again from its first packet.
    pub fn renewed(&self) -> Stream {
        Stream::new(self.full_packets_until, self.mtu_bytes, self.short_bytes)
    }

    /// Packets of `size_bytes` of payload, and the bytes by which the last is short; `None` is endless.
    pub fn packets(size_bytes: Option<u64>, mtu_bytes: u32) -> (u32, u32) {
        let Some(size) = size_bytes else { return (u32::MAX, 0) };
        let mtu = u64::from(mtu_bytes);
        let packets = size.div_ceil(mtu).max(1);
        (packets as u32, (packets * mtu - size) as u32)
    }

    /// Payload of the first `packets` packets.
    #[inline]
    pub fn payload_until(&self, packets: u32) -> u64 {
        if packets < self.full_packets_until {
            return u64::from(packets) * u64::from(self.mtu_bytes);
        }
        self.payload_with_short(packets)
    }

    #[cold]
    fn payload_with_short(&self, packets: u32) -> u64 {
        match &self.messages {
            Some(messages) => messages.payload_until(packets),
            None => u64::from(packets) * u64::from(self.mtu_bytes) - u64::from(self.short_bytes),
        }
    }

    /// Adds a message after those before it. Returns the packets of all messages so far.
    pub fn add_message(&mut self, bytes: u64, name: u32, cut: Cut) -> u32 {
        let messages = self.messages.get_or_insert_with(|| Box::new(Messages::new(cut)));
        messages.add(bytes, name);
        self.full_packets_until = 0;
        let packets = messages.packets();
        if self.message_end == u32::MAX {
            (self.message_end, self.name) = messages.next_end();
        }
        packets
    }

    /// Returns the name of the oldest message if it lies within the first `packets` packets; it is complete from now
    /// on, and stored on if `keep`. A flow without messages is one, named 0.
    pub fn complete_message(&mut self, packets: u32, keep: bool) -> Option<u32> {
        if packets < self.message_end {
            return None;
        }
        let name = match &mut self.messages {
            Some(messages) => messages.pass(packets, keep),
            None => Some(0),
        };
        (self.message_end, self.name) = self.messages.as_ref().map_or((u32::MAX, 0), |messages| messages.next_end());
        name
    }

    /// Returns the name of the `nth` message that the first `packets` packets would complete.
    #[inline]
    pub fn complete_after(&self, packets: u32, nth: usize) -> Option<u32> {
        match &self.messages {
            // Most often this is answered without a look at the messages.
            _ if nth == 0 => (packets >= self.message_end).then_some(self.name),
            Some(messages) if packets > self.message_end => messages.complete_after(packets, nth),
            _ => None,
        }
    }

    /// PSN after the last packet of a packet's message; 0 without messages.
    #[cold]
    pub(super) fn end_of(&self, psn: u32) -> u32 {
        self.messages.as_ref().and_then(|messages| messages.of(psn)).map_or(0, |message| message.end.packets)
    }
}
