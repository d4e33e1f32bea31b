//! Writes packets one after the other: descriptors of tracks, and events on them.

use super::proto::{
    DebugAnnotation, EventType, INCREMENTAL_STATE_CLEARED, Interned, InternedData, NEEDS_INCREMENTAL_STATE, PACKET_TAG,
    TracePacket, TrackDescriptor, TrackEvent,
};
use prost::Message;
use std::collections::HashMap;
use std::io::{self, Write};
use xoff_engine::Time;

/// One writer, one sequence.
const SEQUENCE: u32 = 1;

/// A number or text attached to an event. The name ends with the unit where there is one.
#[derive(Clone, Copy, Debug)]
pub struct Note<'a>(pub &'static str, pub Value<'a>);

#[derive(Clone, Copy, Debug)]
pub enum Value<'a> {
    Whole(u64),
    Real(f64),
    Text(&'a str),
    Flag(bool),
}

/// What an event may carry beside its name.
#[derive(Clone, Copy, Default)]
pub struct Attached<'a> {
    pub notes: &'a [Note<'a>],
    /// Arrows from here, by number.
    pub arrows_out: &'a [u64],
    /// Arrows to here.
    pub arrows_in: &'a [u64],
}

/// Numbers texts in the order in which they are first used.
#[derive(Default)]
struct Names {
    known: HashMap<String, u64>,
}

impl Names {
    fn number(&mut self, text: &str, fresh: &mut Vec<Interned>) -> Option<u64> {
        if let Some(&iid) = self.known.get(text) {
            return Some(iid);
        }
        let iid = self.known.len() as u64 + 1;
        self.known.insert(text.to_owned(), iid);
        fresh.push(Interned { iid: Some(iid), text: Some(text.to_owned()) });
        Some(iid)
    }
}

pub struct Encoder<W> {
    out: W,
    buffer: Vec<u8>,
    events: Names,
    notes: Names,
    texts: Names,
    pub packets: u64,
}

impl<W: Write> Encoder<W> {
    pub fn new(out: W) -> Encoder<W> {
        let (events, notes, texts) = Default::default();
        Encoder { out, buffer: Vec::new(), events, notes, texts, packets: 0 }
    }

    pub fn track(&mut self, track: TrackDescriptor) -> io::Result<()> {
        self.packet(TracePacket { track_descriptor: Some(track), ..TracePacket::default() })
    }

    pub fn begin(&mut self, at: Time, track: u64, name: &str, attached: Attached<'_>) -> io::Result<()> {
        self.named(EventType::SliceBegin, at, track, name, attached)
    }

    /// Ends the innermost slice of the track.
    pub fn end(&mut self, at: Time, track: u64) -> io::Result<()> {
        self.event(at, TrackEvent { track_uuid: Some(track), ..event(EventType::SliceEnd) }, None)
    }

    pub fn instant(&mut self, at: Time, track: u64, name: &str, notes: &[Note<'_>]) -> io::Result<()> {
        self.named(EventType::Instant, at, track, name, Attached { notes, ..Attached::default() })
    }

    pub fn counter(&mut self, at: Time, track: u64, value: f64) -> io::Result<()> {
        let counted =
            TrackEvent { track_uuid: Some(track), double_counter_value: Some(value), ..event(EventType::Counter) };
        self.event(at, counted, None)
    }

    fn named(&mut self, kind: EventType, at: Time, track: u64, name: &str, attached: Attached<'_>) -> io::Result<()> {
        let mut fresh = InternedData::default();
        let mut annotations = Vec::with_capacity(attached.notes.len());
        for &Note(name, value) in attached.notes {
            let name_iid = self.notes.number(name, &mut fresh.debug_annotation_names);
            let mut annotation = DebugAnnotation { name_iid, ..DebugAnnotation::default() };
            match value {
                Value::Whole(value) => annotation.uint_value = Some(value),
                Value::Real(value) => annotation.double_value = Some(value),
                Value::Flag(value) => annotation.bool_value = Some(value),
                Value::Text(text) => {
                    annotation.string_value_iid = self.texts.number(text, &mut fresh.debug_annotation_string_values);
                }
            }
            annotations.push(annotation);
        }
        let named = TrackEvent {
            debug_annotations: annotations,
            name_iid: self.events.number(name, &mut fresh.event_names),
            track_uuid: Some(track),
            flow_ids: attached.arrows_out.to_vec(),
            terminating_flow_ids: attached.arrows_in.to_vec(),
            ..event(kind)
        };
        let new = fresh != InternedData::default();
        self.event(at, named, new.then_some(fresh))
    }

    fn event(&mut self, at: Time, event: TrackEvent, interned_data: Option<InternedData>) -> io::Result<()> {
        // Perfetto counts nanoseconds; what a picosecond clock has beyond them is cut off.
        let timestamp = Some(at.ps() / 1000);
        self.packet(TracePacket { timestamp, track_event: Some(event), interned_data, ..TracePacket::default() })
    }

    fn packet(&mut self, packet: TracePacket) -> io::Result<()> {
        let first = self.packets == 0;
        let packet = TracePacket {
            trusted_packet_sequence_id: SEQUENCE,
            sequence_flags: if first { INCREMENTAL_STATE_CLEARED } else { NEEDS_INCREMENTAL_STATE },
            first_packet_on_sequence: first,
            ..packet
        };
        self.buffer.clear();
        self.buffer.push(PACKET_TAG);
        packet.encode_length_delimited(&mut self.buffer).map_err(io::Error::other)?;
        self.packets += 1;
        self.out.write_all(&self.buffer)
    }

    /// What was written into, flushed.
    pub fn finish(mut self) -> io::Result<W> {
        self.out.flush()?;
        Ok(self.out)
    }
}

fn event(kind: EventType) -> TrackEvent {
    TrackEvent { r#type: kind as i32, ..TrackEvent::default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Takes a trace apart again, packet by packet.
    fn packets(mut bytes: &[u8]) -> Vec<TracePacket> {
        let mut packets = Vec::new();
        while let Some((&tag, rest)) = bytes.split_first() {
            assert_eq!(tag, PACKET_TAG);
            bytes = rest;
            packets.push(TracePacket::decode_length_delimited(&mut bytes).unwrap());
        }
        packets
    }

    #[test]
    fn texts_are_written_once_and_named_by_number() {
        let mut encoder = Encoder::new(Vec::new());
        let notes = [Note("by", Value::Text("leaf0")), Note("size_bytes", Value::Whole(7))];
        for us in [1, 2] {
            let attached = Attached { notes: &notes, arrows_out: &[us], ..Attached::default() };
            encoder.begin(Time::from_us(us), 5, "paused", attached).unwrap();
        }
        encoder.end(Time::from_ps(3_000_999), 5).unwrap();
        encoder.counter(Time::from_us(4), 6, 1.5).unwrap();
        let packets = packets(&encoder.finish().unwrap());
        assert_eq!(packets.len(), 4);
        assert_eq!((packets[0].sequence_flags, packets[0].first_packet_on_sequence), (INCREMENTAL_STATE_CLEARED, true));
        assert!(packets[1..].iter().all(|packet| packet.sequence_flags == NEEDS_INCREMENTAL_STATE));
        let interned = packets[0].interned_data.as_ref().unwrap();
        assert_eq!(interned.event_names[0].text.as_deref(), Some("paused"));
        assert_eq!(interned.debug_annotation_names.len(), 2);
        assert!(packets[1].interned_data.is_none());
        let of = |at: usize| packets[at].track_event.clone().unwrap();
        assert_eq!(of(0).debug_annotations, of(1).debug_annotations);
        assert_eq!((of(0).flow_ids, of(1).flow_ids), (vec![1], vec![2]));
        assert_eq!(packets[2].timestamp, Some(3_000), "cut to whole nanoseconds");
        assert_eq!(of(3).double_counter_value, Some(1.5));
    }

    #[test]
    fn the_wire_format_is_the_one_of_protocol_buffers() {
        let mut encoder = Encoder::new(Vec::new());
        encoder.end(Time::from_ns(300), 5).unwrap();
        // Worked out by hand: packet (tag 1) of 16 bytes; 8: 300; 10: 1; 11: { 9: 2, 11: 5 }; 13: 1; 87: true.
        let by_hand = [10, 16, 64, 172, 2, 80, 1, 90, 4, 72, 2, 88, 5, 104, 1, 184, 5, 1];
        assert_eq!(encoder.finish().unwrap(), by_hand);
    }
}
