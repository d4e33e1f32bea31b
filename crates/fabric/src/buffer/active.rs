//! Active queues: how many ingresses of a class are busy, how fast each drains, and how long each has been on average.
//!
//! What rules count that divide the shared pool among busy queues ([`super::abm`], [`super::reverie`]). Other rules
//! have none of it.

use super::number::real;
use xoff_engine::{Span, Time};

/// Settings of what is counted. Defaults are those of the authors' simulator (ns3-datacenter).
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ActiveSettings {
    /// An ingress with so many bytes is one busy queue, one with fewer a part of one.
    pub saturation_bytes: u64,
    /// Drain rates are measured over this.
    pub interval: Span,
    /// Packets at the start of a flow to which `unscheduled_alpha` applies.
    pub unscheduled: Unscheduled,
    /// Share of the free pool for these packets.
    pub unscheduled_alpha: f64,
    /// Weight of the past in the average of a queue, from 0 to below 1.
    pub gamma: f64,
    /// When the part of an ingress is counted anew.
    pub counting: Counting,
}

impl Default for ActiveSettings {
    fn default() -> Self {
        ActiveSettings {
            saturation_bytes: 20 * 1024,
            interval: Span::from_us(25),
            unscheduled: Unscheduled::None,
            unscheduled_alpha: 1024.0,
            gamma: 0.99,
            counting: Counting::Current,
        }
    }
}

/// How much of a flow is sent before its first ACK can be there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unscheduled {
    /// All packets count alike.
    None,
    /// A bandwidth-delay product of the longest path.
    LongestBdp,
    /// Payload.
    Bytes(u64),
}

/// When the part of an ingress in the number of busy queues is counted anew.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Counting {
    /// With every packet that comes or leaves.
    Current,
    /// Only when its own threshold is computed: the authors' simulator. An ingress that drains without having been
    /// paused counts as it did at its last arrival. The last port drains at 1 for ever, since their loop ends before it.
    Evaluated,
}

/// What is counted of all ingresses of a switch.
#[derive(Clone, Debug)]
pub struct Active {
    settings: ActiveSettings,
    /// Largest number of a packet that counts as unscheduled.
    unscheduled_psn: Option<u32>,
    slots: Box<[Slot]>,
    classes: usize,
    /// Sum of the levels of the ingresses of a class.
    levels: [u64; 8],
    /// When drain rates are next renewed; zero before the first packet.
    renewal: Time,
}

/// What is counted of one ingress.
#[derive(Clone, Copy, Debug)]
struct Slot {
    bytes: u64,
    /// Bytes towards saturation that count.
    level_bytes: u64,
    /// Bytes that have left in this interval.
    left_bytes: u64,
    /// F: the average of the queue.
    average_bytes: u64,
    /// mu: drain rate of the last interval over the rate of the port.
    drain: f64,
    line_bps: f64,
}

/// A queue that has sent no more than this in an interval has no drain rate.
const LEAST_DRAINED_BYTES: u64 = 2 * 1024;

impl Active {
    /// Nothing counted yet, for ports of these rates, each with so many classes; the first `unscheduled_packets` of a
    /// flow have an alpha of their own.
    pub fn new(
        settings: ActiveSettings,
        port_bps: impl Iterator<Item = u64>,
        classes: usize,
        unscheduled_packets: u32,
    ) -> Active {
        let slot =
            |bps| Slot { bytes: 0, level_bytes: 0, left_bytes: 0, average_bytes: 0, drain: 1.0, line_bps: real(bps) };
        Active {
            settings,
            unscheduled_psn: unscheduled_packets.checked_sub(1),
            slots: port_bps.flat_map(|bps| std::iter::repeat_n(slot(bps), classes)).collect(),
            classes,
            levels: [0; 8],
            renewal: Time::ZERO,
        }
    }

    /// Alpha of a packet by its number in its flow: its own at the start of a flow, else that of the ingress.
    pub(super) fn alpha(&self, psn: impl FnOnce() -> Option<u32>, alpha: f64) -> f64 {
        match self.unscheduled_psn {
            Some(last) if psn().is_some_and(|psn| psn <= last) => self.settings.unscheduled_alpha,
            _ => alpha,
        }
    }

    /// Number of busy queues of the class of an ingress, at least one.
    pub(super) fn queues(&self, place: usize) -> f64 {
        (real(self.levels[place % self.classes]) / real(self.settings.saturation_bytes)).max(1.0)
    }

    /// mu of an ingress.
    pub(super) fn drain(&self, place: usize) -> f64 {
        self.slots[place].drain
    }

    /// F of an ingress.
    pub(super) fn average_bytes(&self, place: usize) -> u64 {
        self.slots[place].average_bytes
    }

    /// Bytes have come to an ingress.
    pub(super) fn add(&mut self, place: usize, bytes: u64) {
        self.slots[place].bytes += bytes;
    }

    /// Bytes have left an ingress.
    pub(super) fn take(&mut self, place: usize, bytes: u64) {
        let slot = &mut self.slots[place];
        slot.bytes -= bytes;
        slot.left_bytes += bytes;
    }

    /// F = gamma F + (1 - gamma) q in whole bytes, and never more than q.
    pub(super) fn smooth(&mut self, place: usize) {
        let (gamma, slot) = (self.settings.gamma, &mut self.slots[place]);
        let average = (gamma * real(slot.average_bytes) + (1.0 - gamma) * real(slot.bytes)) as u64;
        slot.average_bytes = average.min(slot.bytes);
    }

    /// Counts the part of an ingress anew, by its queue.
    pub(super) fn count(&mut self, place: usize) {
        self.set_level(place, self.slots[place].bytes);
    }

    /// Counts the part of an ingress anew, by the average of its queue.
    pub(super) fn count_average(&mut self, place: usize) {
        self.set_level(place, self.slots[place].average_bytes);
    }

    fn set_level(&mut self, place: usize, bytes: u64) {
        let (level, slot) = (bytes.min(self.settings.saturation_bytes), &mut self.slots[place]);
        let sum = &mut self.levels[place % self.classes];
        *sum = *sum + level - slot.level_bytes;
        slot.level_bytes = level;
    }

    /// Whether the part of an ingress is counted with every packet.
    pub(super) fn counts_always(&self) -> bool {
        self.settings.counting == Counting::Current
    }

    /// Renews the drain rates at the end of an interval. Intervals follow each other from the first packet on.
    #[inline]
    pub(super) fn advance(&mut self, now: Time) {
        if now >= self.renewal {
            self.renew(now);
        }
    }

    #[cold]
    fn renew(&mut self, now: Time) {
        let interval = self.settings.interval;
        if self.renewal == Time::ZERO {
            self.renewal = now + interval;
            return;
        }
        let intervals = now.saturating_since(self.renewal).ps() / interval.ps() + 1;
        let last = match self.settings.counting {
            Counting::Current => self.slots.len(),
            Counting::Evaluated => self.slots.len() - self.classes,
        };
        let saturation_bytes = self.settings.saturation_bytes;
        for slot in &mut self.slots[..last] {
            let left_bytes = std::mem::take(&mut slot.left_bytes);
            // Nothing has left in any interval but the first of several.
            let measured = intervals == 1 && slot.bytes > saturation_bytes && left_bytes > LEAST_DRAINED_BYTES;
            slot.drain = if measured { real(left_bytes) * 8.0 / interval.as_s() / slot.line_bps } else { 1.0 };
        }
        self.renewal += interval * intervals;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three ports of 100 Gb/s with one class.
    fn active(counting: Counting) -> Active {
        let settings = ActiveSettings { counting, ..ActiveSettings::default() };
        Active::new(settings, [100_000_000_000; 3].into_iter(), 1, 3)
    }

    fn fill(active: &mut Active, place: usize, bytes: u64) {
        active.add(place, bytes);
        active.count(place);
    }

    #[test]
    fn busy_queues_are_counted_by_their_saturation() {
        let mut active = active(Counting::Current);
        assert_eq!(active.queues(0), 1.0, "never less than one");
        fill(&mut active, 0, 5_120);
        assert_eq!(active.queues(0), 1.0);
        fill(&mut active, 1, 40_960);
        fill(&mut active, 2, 10_240);
        assert_eq!(active.queues(0), 0.25 + 1.0 + 0.5);
        active.take(1, 40_000);
        active.count(1);
        assert_eq!(active.queues(0), 1.0, "0.25, 0.046875 and 0.5");
    }

    #[test]
    fn drain_rates_are_those_of_the_last_interval() {
        let mut active = active(Counting::Evaluated);
        active.advance(Time::from_us(1));
        for place in 0..3 {
            active.add(place, 300_000);
            active.take(place, 78_125);
        }
        active.advance(Time::from_us(25));
        assert_eq!(active.drain(0), 1.0, "the interval ends at 26 us");
        active.advance(Time::from_us(26));
        // 78,125 B in 25 us are 25 Gb/s of 100; the loop ends before the last port.
        assert_eq!([0, 1, 2].map(|place| active.drain(place)), [0.25, 0.25, 1.0]);
        // Less than 2 KiB, or a queue that is not saturated, is no rate.
        active.take(0, 2_048);
        active.take(1, 221_875 - 20_480);
        active.advance(Time::from_us(51));
        assert_eq!([0, 1].map(|place| active.drain(place)), [1.0, 1.0]);
        // Whatever left in the first of several intervals.
        active.add(0, 300_000);
        active.take(0, 50_000);
        active.advance(Time::from_us(126));
        assert_eq!(active.drain(0), 1.0);
        active.take(0, 50_000);
        active.advance(Time::from_us(150));
        assert_eq!(active.drain(0), 1.0);
        active.advance(Time::from_us(151));
        assert!((active.drain(0) - 0.16).abs() < 1e-15);
    }

    #[test]
    fn average_follows_departures_and_never_exceeds_the_queue() {
        let mut active = active(Counting::Current);
        active.add(0, 100_000);
        let mut after = |bytes: u64| {
            active.take(0, bytes);
            active.smooth(0);
            active.average_bytes(0)
        };
        // 1048 B leave each time: the average remembers about a hundred departures.
        assert_eq!([0; 5].map(|_| after(1_048)), [989, 1_958, 2_906, 3_835, 4_744]);
        active.slots[0].average_bytes = 90_000;
        active.slots[0].bytes = 30_000;
        active.take(0, 1_048);
        active.smooth(0);
        assert_eq!(active.average_bytes(0), 28_952);
    }

    #[test]
    fn packets_at_the_start_of_a_flow_have_an_alpha_of_their_own() {
        let active = active(Counting::Current);
        let alpha = |psn| active.alpha(|| psn, 0.125);
        assert_eq!([Some(0), Some(2), Some(3), None].map(alpha), [1024.0, 1024.0, 0.125, 0.125]);
    }
}
