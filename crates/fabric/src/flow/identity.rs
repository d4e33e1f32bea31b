//! What a flow is: the source that made it, its number there, and its two ends.
//!
//! Paths, random streams and the order of events at one instant hang on this alone. What other
//! sources do, and when, does not enter it, so traffic elsewhere cannot move a flow.

use crate::contract::traffic::FlowSpec;
use crate::id::{FlowStateId, ReceiverId, SenderId};
use xoff_engine::rng::mix;

/// A source as flows know it: a hash of its name, or of its place where it has none.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SourceName(u64);

impl SourceName {
    /// By [`Source::name`](crate::contract::traffic::Source::name), or by its place among the sources.
    pub fn new(name: Option<u64>, place: usize) -> SourceName {
        SourceName(mix(name.unwrap_or(place as u64)))
    }

    /// What orders its events among those of other sources at the same instant.
    pub fn tie(self) -> u32 {
        self.0 as u32
    }

    /// The identity of its flow `number`.
    pub fn flow(self, number: u64, spec: &FlowSpec) -> u64 {
        let ends = (u64::from(spec.src) << 32) | u64::from(spec.dst);
        mix(mix(self.0 ^ mix(number)) ^ mix(ends))
    }

    /// The ephemeral port of its flow `number`: one after the other, so that living flows differ.
    pub fn port(self, number: u64) -> u16 {
        49_152 + (self.0.wrapping_add(number) % 16_384) as u16
    }
}

/// A hash of the two ends of a flow, in this order: what all flows from one host to another have in common.
pub fn ends(src: u32, dst: u32) -> u16 {
    mix((u64::from(src) << 32) | u64::from(dst)) as u16
}

/// What a part knows of a flow whose packets it may hold: what is read at every hop, and where its ends are
/// if they are here. Packets name their flow by its entry.
#[derive(Clone, Copy, Debug)]
pub struct FlowEntry {
    /// Its number in the run: unique, and never used again.
    pub id: u32,
    /// A hash of what it is.
    pub name: u32,
    /// A hash of its two ends.
    pub ends: u16,
    pub weight: u16,
    pub scheme: u8,
    /// What the run knows it by.
    pub flow_state: FlowStateId,
    /// Its sender and its receiver, or none if that end is in another part.
    pub sender: SenderId,
    pub receiver: ReceiverId,
    /// Its packets (of any kind) that were made here less those that ended here.
    pub live: i32,
    /// Frame bytes of a notification to its sender.
    pub notification_frame: u16,
}

const _: () = assert!(size_of::<FlowEntry>() == 32, "one is read at every hop");

#[cfg(test)]
mod tests {
    use super::*;

    fn spec(src: u32, dst: u32) -> FlowSpec {
        FlowSpec::new(0, src, dst)
    }

    #[test]
    fn a_flow_is_its_source_its_number_and_its_ends() {
        let (one, other) = (SourceName::new(Some(7), 0), SourceName::new(Some(8), 0));
        let identity = one.flow(3, &spec(1, 2));
        assert_eq!(
            identity,
            SourceName::new(Some(7), 5).flow(3, &spec(1, 2)),
            "its place is nothing to a named source"
        );
        let others = [other.flow(3, &spec(1, 2)), one.flow(4, &spec(1, 2)), one.flow(3, &spec(2, 1))];
        assert!(others.iter().all(|other| *other != identity));
        assert_ne!(SourceName::new(None, 0).flow(3, &spec(1, 2)), SourceName::new(None, 1).flow(3, &spec(1, 2)));
    }

    #[test]
    fn flows_between_the_same_ends_have_them_in_common() {
        let another = FlowSpec { handle: 5, class: 3, ..spec(1, 2) };
        assert_eq!(ends(1, 2), ends(another.src, another.dst));
        assert_ne!(ends(1, 2), ends(2, 1));
        assert_ne!(ends(1, 2), ends(1, 3));
    }

    #[test]
    fn the_ports_of_a_sources_flows_differ_for_as_long_as_there_are_ports() {
        let source = SourceName::new(Some(7), 0);
        let mut ports: Vec<u16> = (0..16_384).map(|number| source.port(number)).collect();
        ports.sort_unstable();
        assert!(ports.iter().copied().eq(49_152..=65_535));
    }
}
