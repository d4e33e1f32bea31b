//! Messages of a queue pair, as one of its ends stores them: where each begins and ends among the packets.
//!
//! A message begins with a packet of its own and its last packet is as short as it must be, so packets in the middle
//! of the flow may be short. A flow that carries no messages has none of this.

use std::cell::Cell;
use std::collections::VecDeque;

/// Position in a flow.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Mark {
    /// Packets before it.
    pub packets: u32,
    /// Payload before it.
    pub bytes: u64,
}

/// One message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Message {
    /// Its first byte.
    pub begin: Mark,
    /// The byte after its last.
    pub end: Mark,
    /// Name that its source gave it.
    pub name: u32,
}

/// Sizes of packets.
#[derive(Clone, Copy, Debug)]
pub struct Cut {
    /// Payload of a full packet.
    pub mtu_bytes: u32,
    /// Frame bytes that are not payload.
    pub header_bytes: u32,
    /// Shorter frames are padded to it.
    pub min_frame_bytes: u32,
}

/// A message as it is stored. It begins where the one before it ends.
#[derive(Clone, Copy, Debug)]
struct Stored {
    /// Packets and bytes of the flow until its end.
    packets: u32,
    name: u32,
    bytes: u64,
}

const _: () = assert!(size_of::<Stored>() == 16, "a queue pair may have thousands");

/// Messages that are not complete, in order.
#[derive(Debug)]
pub struct Messages {
    cut: Cut,
    list: VecDeque<Stored>,
    /// Complete messages at the front of the list, stored on for captures.
    over: usize,
    /// Where the first of the list begins.
    begin: Mark,
    /// End of the last message.
    end: Mark,
    /// Place in the list of the packet asked for last that was not in the first message: the next is near.
    cursor: Cell<u32>,
}

impl Messages {
    /// No message yet.
    pub fn new(cut: Cut) -> Messages {
        Messages::beginning_at(cut, Mark::default())
    }

    /// No message yet; the first begins at a position in the flow.
    pub fn beginning_at(cut: Cut, begin: Mark) -> Messages {
        Messages { cut, list: VecDeque::new(), over: 0, begin, end: begin, cursor: Cell::new(0) }
    }

    /// Adds a message.
    pub fn add(&mut self, bytes: u64, name: u32) {
        debug_assert!(bytes > 0, "a message has at least one byte");
        let packets = bytes.div_ceil(u64::from(self.cut.mtu_bytes));
        let packets = u32::try_from(u64::from(self.end.packets) + packets).ok().filter(|end| *end < u32::MAX);
        self.end = Mark {
            packets: packets.expect("the packets of a queue pair are numbered by 32 bits"),
            bytes: self.end.bytes + bytes,
        };
        self.list.push_back(Stored { packets: self.end.packets, name, bytes: self.end.bytes });
    }

    /// Packets of all messages so far.
    pub fn packets(&self) -> u32 {
        self.end.packets
    }

    /// PSN after the first message that is not complete; `u32::MAX` if there is none.
    pub fn next_end(&self) -> u32 {
        self.list.get(self.over).map_or(u32::MAX, |first| first.packets)
    }

    /// Returns the name of the first message that is not complete, if it lies within the first `packets` packets: it is
    /// complete from now on. With `keep` its place is stored on.
    pub fn pass(&mut self, packets: u32, keep: bool) -> Option<u32> {
        let first = *self.list.get(self.over).filter(|first| first.packets <= packets)?;
        if keep {
            self.over += 1;
        } else {
            self.list.pop_front();
            self.begin = Mark { packets: first.packets, bytes: first.bytes };
            self.cursor.set(self.cursor.get().saturating_sub(1));
        }
        Some(first.name)
    }

    /// Returns the name of the `nth` message that is not complete, if it lies within the first `packets` packets.
    pub fn complete_after(&self, packets: u32, nth: usize) -> Option<u32> {
        self.list.get(self.over + nth).filter(|message| message.packets <= packets).map(|message| message.name)
    }

    /// Message of a packet.
    pub fn of(&self, psn: u32) -> Option<Message> {
        let within = |place: usize| self.message(place).filter(|of| of.begin.packets <= psn && psn < of.end.packets);
        // Most often it is the first, or at the cursor; the list may be long.
        let near = self.cursor.get() as usize;
        within(self.over).or_else(|| {
            [near, near + 1]
                .into_iter()
                .find_map(|place| Some((place, within(place)?)))
                .or_else(|| {
                    let place = self.list.partition_point(|message| message.packets <= psn);
                    Some((place, within(place)?))
                })
                .map(|(place, message)| {
                    self.cursor.set(place as u32);
                    message
                })
        })
    }

    /// The message at a place of the list.
    fn message(&self, place: usize) -> Option<Message> {
        let Stored { packets, name, bytes } = *self.list.get(place)?;
        let before = place.checked_sub(1).and_then(|before| self.list.get(before));
        let begin = before.map_or(self.begin, |before| Mark { packets: before.packets, bytes: before.bytes });
        Some(Message { begin, end: Mark { packets, bytes }, name })
    }

    /// Payload of the first `packets` packets. Requires that they end in a message that is stored, or at its beginning.
    pub fn payload_until(&self, packets: u32) -> u64 {
        let Some(message) = packets.checked_sub(1).and_then(|psn| self.of(psn)) else {
            debug_assert_eq!(packets, self.begin.packets, "complete messages are freed");
            return self.begin.bytes;
        };
        if packets == message.end.packets {
            return message.end.bytes;
        }
        self.payload_within(&message, packets)
    }

    /// Payload of the first `packets` packets, which end before the last of a message.
    fn payload_within(&self, message: &Message, packets: u32) -> u64 {
        message.begin.bytes + u64::from(packets - message.begin.packets) * u64::from(self.cut.mtu_bytes)
    }

    /// Frame bytes of a packet: all but the last of a message are full, and a short one is padded to the smallest frame.
    pub fn frame_of(&self, psn: u32) -> u16 {
        let payload = match self.of(psn).filter(|message| psn + 1 == message.end.packets) {
            Some(message) => message.end.bytes - self.payload_within(&message, psn),
            None => u64::from(self.cut.mtu_bytes),
        };
        (self.cut.header_bytes + payload as u32).max(self.cut.min_frame_bytes) as u16
    }

    /// Returns whether a packet is the last of its message.
    pub fn ends_with(&self, psn: u32) -> bool {
        self.of(psn).is_some_and(|message| psn + 1 == message.end.packets)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(sizes: &[u64]) -> Messages {
        let mut messages = Messages::new(Cut { mtu_bytes: 1000, header_bytes: 62, min_frame_bytes: 84 });
        for (name, bytes) in (10..).zip(sizes) {
            messages.add(*bytes, name);
        }
        messages
    }

    #[test]
    fn every_message_has_packets_of_its_own() {
        let messages = of(&[1, 1000, 1001, 2500]);
        assert_eq!((messages.packets(), messages.next_end()), (1 + 1 + 2 + 3, 1));
        let frames: Vec<u16> = (0..7).map(|psn| messages.frame_of(psn)).collect();
        assert_eq!(frames, [84, 1062, 1062, 84, 1062, 1062, 562]);
        let until: Vec<u64> = (0..=7).map(|packets| messages.payload_until(packets)).collect();
        assert_eq!(until, [0, 1, 1001, 2001, 2002, 3002, 4002, 4502]);
        let last: Vec<u32> = (0..7).filter(|psn| messages.ends_with(*psn)).collect();
        assert_eq!(last, [0, 1, 3, 6]);
    }

    #[test]
    fn messages_pass_in_order_and_places_stay() {
        for keep in [false, true] {
            let mut messages = of(&[1, 1000, 1001]);
            assert_eq!(messages.pass(0, keep), None);
            assert_eq!(
                (messages.pass(2, keep), messages.pass(2, keep), messages.pass(2, keep)),
                (Some(10), Some(11), None)
            );
            assert_eq!((messages.next_end(), messages.payload_until(2), messages.payload_until(3)), (4, 1001, 2001));
            assert_eq!((messages.pass(4, keep), messages.next_end()), (Some(12), u32::MAX));
            assert_eq!(messages.payload_until(4), 2002, "also when all are complete");
            assert_eq!(messages.of(0).is_some(), keep);
            messages.add(5, 20);
            assert_eq!((messages.next_end(), messages.payload_until(5), messages.frame_of(4)), (5, 2007, 84));
        }
    }
}
