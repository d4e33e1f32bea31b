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

/// A message among many. It begins where the one before it ends.
#[derive(Clone, Copy, Debug)]
struct Stored {
    /// Packets and bytes of the flow until its end.
    packets: u32,
    name: u32,
    bytes: u64,
}

const _: () = assert!(size_of::<Stored>() == 16, "a queue pair may have thousands");

/// A message among few: its payload, and its name.
#[derive(Clone, Copy, Debug, Default)]
struct Small {
    bytes: u32,
    name: u32,
}

/// Messages that are stored without memory of their own.
const FEW: usize = 8;

/// Messages that are not complete, in order.
///
/// Both ends of a queue pair have one, and of thousands of queue pairs none is in the nearest caches: so the few messages
/// that most have under way lie in one cache line, beside that of the rest.
#[derive(Debug)]
#[repr(C, align(128))]
pub struct Messages {
    /// Where the first of the list begins.
    begin: Mark,
    /// End of the last message.
    end: Mark,
    cut: Cut,
    /// Complete messages at the front of the list, stored on for captures.
    over: u32,
    /// Place in `few` of the first message, and how many there are.
    first: u8,
    len: u8,
    /// All messages, where there are many, or one that is very long.
    many: Option<Box<Many>>,
    few: [Small; FEW],
}

const _: () = assert!(size_of::<Messages>() == 2 * 64, "two cache lines");

#[derive(Debug, Default)]
struct Many {
    list: VecDeque<Stored>,
    /// Place of the message asked for last: the next is near.
    cursor: Cell<u32>,
}

impl Messages {
    /// No message yet.
    pub fn new(cut: Cut) -> Messages {
        Messages::beginning_at(cut, Mark::default())
    }

    /// No message yet; the first begins at a position in the flow.
    pub fn beginning_at(cut: Cut, begin: Mark) -> Messages {
        let few = [Small::default(); FEW];
        Messages { begin, end: begin, cut, over: 0, first: 0, len: 0, many: None, few }
    }

    /// Adds a message.
    pub fn add(&mut self, bytes: u64, name: u32) {
        debug_assert!(bytes > 0, "a message has at least one byte");
        let small = u32::try_from(bytes).ok().filter(|_| self.many.is_none() && usize::from(self.len) < FEW);
        self.end = match small {
            Some(bytes) => self.after(self.end, bytes),
            None => {
                let packets = bytes.div_ceil(u64::from(self.cut.mtu_bytes)) + u64::from(self.end.packets);
                Mark { packets: packets.min(u64::from(u32::MAX)) as u32, bytes: self.end.bytes + bytes }
            }
        };
        assert!(self.end.packets < u32::MAX, "the packets of a queue pair are numbered by 32 bits");
        match small {
            Some(bytes) => {
                self.few[(usize::from(self.first) + usize::from(self.len)) % FEW] = Small { bytes, name };
                self.len += 1;
            }
            None => self.add_to_many(name),
        }
    }

    /// The message that ends where all do becomes one of many.
    #[cold]
    fn add_to_many(&mut self, name: u32) {
        let stored = |end: Mark, name| Stored { packets: end.packets, bytes: end.bytes, name };
        if self.many.is_none() {
            let list = self.few().map(|message| stored(message.end, message.name)).collect();
            self.many = Some(Box::new(Many { list, cursor: Cell::default() }));
        }
        let last = stored(self.end, name);
        self.many.iter_mut().for_each(|many| many.list.push_back(last));
    }

    /// The end of a message that begins at a position in the flow.
    #[inline]
    fn after(&self, begin: Mark, bytes: u32) -> Mark {
        let packets = begin.packets.saturating_add(bytes.div_ceil(self.cut.mtu_bytes));
        Mark { packets, bytes: begin.bytes + u64::from(bytes) }
    }

    /// The first message, where they are few.
    #[inline(always)]
    fn first(&self) -> Option<Message> {
        let Small { bytes, name } = self.few[usize::from(self.first) % FEW];
        (self.len > 0).then(|| Message { begin: self.begin, end: self.after(self.begin, bytes), name })
    }

    /// Messages where they are few.
    #[inline]
    fn few(&self) -> impl Iterator<Item = Message> {
        let mut begin = self.begin;
        (0..usize::from(self.len)).map(move |place| {
            let Small { bytes, name } = self.few[(usize::from(self.first) + place) % FEW];
            let message = Message { begin, end: self.after(begin, bytes), name };
            begin = message.end;
            message
        })
    }

    /// End and name of the message at a place of the list.
    #[inline]
    fn at(&self, place: usize) -> Option<(Mark, u32)> {
        match &self.many {
            None => self.few().nth(place).map(|message| (message.end, message.name)),
            Some(many) => many.list.get(place).map(|&Stored { packets, bytes, name }| (Mark { packets, bytes }, name)),
        }
    }

    /// Packets of all messages so far.
    pub fn packets(&self) -> u32 {
        self.end.packets
    }

    /// PSN after the first message that is not complete, and its name; `u32::MAX` if there is none.
    #[inline]
    pub fn next_end(&self) -> (u32, u32) {
        if self.many.is_none() && self.over == 0 {
            return self.first().map_or((u32::MAX, 0), |first| (first.end.packets, first.name));
        }
        self.at(self.over as usize).map_or((u32::MAX, 0), |(end, name)| (end.packets, name))
    }

    /// Returns the name of the first message that is not complete, if it lies within the first `packets` packets: it is
    /// complete from now on. With `keep` its place is stored on.
    pub fn pass(&mut self, packets: u32, keep: bool) -> Option<u32> {
        if keep || self.over > 0 || self.many.is_some() {
            return self.pass_any(packets, keep);
        }
        let Message { end, name, .. } = self.first().filter(|first| first.end.packets <= packets)?;
        self.begin = end;
        (self.first, self.len) = ((self.first + 1) % FEW as u8, self.len - 1);
        Some(name)
    }

    /// [`Messages::pass`] where messages are stored on, or are many.
    #[cold]
    #[inline(never)]
    fn pass_any(&mut self, packets: u32, keep: bool) -> Option<u32> {
        let (end, name) = self.at(self.over as usize).filter(|(end, _)| end.packets <= packets)?;
        if keep {
            self.over += 1;
            return Some(name);
        }
        self.begin = end;
        match &mut self.many {
            None => (self.first, self.len) = ((self.first + 1) % FEW as u8, self.len - 1),
            Some(many) => {
                many.list.pop_front();
                many.cursor.set(many.cursor.get().saturating_sub(1));
                if many.list.is_empty() {
                    (self.first, self.len, self.many) = (0, 0, None);
                }
            }
        }
        Some(name)
    }

    /// Returns the name of the `nth` message that is not complete, if it lies within the first `packets` packets.
    pub fn complete_after(&self, packets: u32, nth: usize) -> Option<u32> {
        self.at(self.over as usize + nth).filter(|(end, _)| end.packets <= packets).map(|(_, name)| name)
    }

    /// Message of a packet.
    pub fn of(&self, psn: u32) -> Option<Message> {
        if psn < self.begin.packets {
            return None;
        }
        match &self.many {
            // Most often it is of the first message.
            None => match self.first() {
                Some(first) if psn < first.end.packets => Some(first),
                _ => self.few().find(|message| psn < message.end.packets),
            },
            Some(many) => self.of_many(many, psn),
        }
    }

    fn of_many(&self, many: &Many, psn: u32) -> Option<Message> {
        let within = |place: usize| {
            let (before, Stored { packets, name, bytes }) = (place.checked_sub(1), *many.list.get(place)?);
            let before = before.and_then(|before| many.list.get(before));
            let begin = before.map_or(self.begin, |before| Mark { packets: before.packets, bytes: before.bytes });
            let message = Message { begin, end: Mark { packets, bytes }, name };
            (begin.packets <= psn && psn < packets).then_some(message)
        };
        let near = many.cursor.get() as usize;
        let found = [near, near + 1].into_iter().find_map(|place| Some((place, within(place)?)));
        let (place, message) = found.or_else(|| {
            let place = many.list.partition_point(|message| message.packets <= psn);
            Some((place, within(place)?))
        })?;
        many.cursor.set(place as u32);
        Some(message)
    }

    /// Payload of the first `packets` packets. Requires that they end in a message that is stored, or at its beginning.
    pub fn payload_until(&self, packets: u32) -> u64 {
        // Most often all that is complete, or all that may be sent.
        for mark in [&self.begin, &self.end] {
            if packets == mark.packets {
                return mark.bytes;
            }
        }
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
    fn many_messages_are_as_few() {
        let sizes: Vec<u64> = (1..100).map(|size| size * 700).collect();
        let (mut messages, mut few) = (of(&sizes), of(&sizes[..5]));
        assert!(messages.many.is_some() && few.many.is_none());
        let of_few: Vec<Option<Message>> = (0..few.packets()).map(|psn| few.of(psn)).collect();
        let of_many: Vec<Option<Message>> = (0..few.packets()).map(|psn| messages.of(psn)).collect();
        assert_eq!(of_few, of_many);
        let names: Vec<u32> = std::iter::from_fn(|| messages.pass(u32::MAX - 1, false)).collect();
        assert!(names.iter().copied().eq(10..109), "{names:?}");
        assert_eq!((messages.next_end().0, messages.of(messages.packets() - 1)), (u32::MAX, None));
        // The places of few are used again and again, also where there were many.
        for round in 0..20 {
            for messages in [&mut messages, &mut few] {
                messages.add(1500, round);
                let (end, (next, _)) = (messages.packets(), messages.next_end());
                assert_eq!(messages.of(end - 1).map(|message| message.name), Some(round));
                assert!(next <= end && messages.pass(next, false).is_some() && messages.of(next - 1).is_none());
            }
        }
        assert!(messages.many.is_none());
        // One that 32 bits do not count lies among many.
        few.add(5 << 30, 7);
        few.add(1, 8);
        assert_eq!(
            few.of(few.packets() - 2).map(|message| (message.name, message.end.packets)),
            Some((7, few.packets() - 1))
        );
        assert_eq!(few.frame_of(few.packets() - 1), 84);
    }

    #[test]
    fn every_message_has_packets_of_its_own() {
        let messages = of(&[1, 1000, 1001, 2500]);
        assert_eq!((messages.packets(), messages.next_end().0), (1 + 1 + 2 + 3, 1));
        let frames: Vec<u16> = (0..7).map(|psn| messages.frame_of(psn)).collect();
        assert_eq!(frames, [84, 1062, 1062, 84, 1062, 1062, 562]);
        let until: Vec<u64> = (0..=7).map(|packets| messages.payload_until(packets)).collect();
        assert_eq!(until, [0, 1, 1001, 2001, 2002, 3002, 4002, 4502]);
        let last: Vec<u32> =
            (0..7).filter(|psn| messages.of(*psn).is_some_and(|of| psn + 1 == of.end.packets)).collect();
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
            assert_eq!((messages.next_end().0, messages.payload_until(2), messages.payload_until(3)), (4, 1001, 2001));
            assert_eq!((messages.pass(4, keep), messages.next_end()), (Some(12), (u32::MAX, 0)));
            assert_eq!(messages.payload_until(4), 2002, "also when all are complete");
            assert_eq!(messages.of(0).is_some(), keep);
            messages.add(5, 20);
            assert_eq!((messages.next_end().0, messages.payload_until(5), messages.frame_of(4)), (5, 2007, 84));
        }
    }
}
