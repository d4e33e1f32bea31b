//! Orders events of one instant. They may come by the thousand, where many hosts do the same at the same time.
//!
//! What orders them is a hash, so it is known where in the order each must be, nearly: they are dealt out by kind and by
//! the first bits of the hash, and what is left is a short way.

use crate::event::{Event, HASH_BITS, KIND_BITS, KINDS};
use std::cmp::Reverse;

/// So many are sorted by insertion.
const FEW: usize = 24;

/// Room to sort in.
#[derive(Default)]
pub(crate) struct Ties {
    /// What orders each, and the event.
    keyed: Vec<Keyed>,
    dealt: Vec<Keyed>,
    /// Where the next of each group goes.
    places: Vec<u32>,
}

type Keyed = (u64, u64);

impl Ties {
    /// Puts events of one instant in order, the last first.
    pub(crate) fn order(&mut self, alike: &mut [Event]) {
        let Some(first) = alike.first().copied() else { return };
        if alike.len() <= FEW {
            order_few(alike);
        } else if first.is_sequenced() {
            alike.sort_unstable_by_key(|event| Reverse(event.order()));
        } else {
            self.keyed.clear();
            self.keyed.extend(alike.iter().map(|event| (event.order(), event.what)));
            self.deal();
            alike.iter_mut().zip(&self.dealt).for_each(|(event, (_, what))| event.what = *what);
        }
    }

    /// Sorts by kind and hash.
    fn deal(&mut self) {
        let Ties { keyed, dealt, places } = self;
        let mut of_kind = [0u32; KINDS as usize];
        for (order, _) in &*keyed {
            of_kind[kind(*order)] += 1;
        }
        // Groups of a kind: as many as it has events, or a few more.
        let (mut first, mut shifts, mut groups) = ([0; KINDS as usize], [0; KINDS as usize], 0);
        for (kind, events) in of_kind.iter().enumerate().filter(|(_, events)| **events > 0) {
            let bits = events.next_power_of_two().trailing_zeros().min(HASH_BITS);
            (first[kind], shifts[kind]) = (groups, u64::BITS - KIND_BITS - bits);
            groups += 1 << bits;
        }
        let group = |order: u64| {
            let kind = kind(order);
            // The first bits of what follows the kind.
            first[kind] + (order << KIND_BITS >> KIND_BITS >> shifts[kind]) as usize
        };
        places.clear();
        places.resize(groups, 0);
        keyed.iter().for_each(|(order, _)| places[group(*order)] += 1);
        // The last group comes first.
        let mut before = 0;
        for place in places.iter_mut().rev() {
            before += std::mem::replace(place, before);
        }
        dealt.clear();
        dealt.resize(keyed.len(), (0, 0));
        for &keyed in &*keyed {
            let place = &mut places[group(keyed.0)];
            dealt[*place as usize] = keyed;
            *place += 1;
        }
        for at in 1..dealt.len() {
            let (keyed, mut to) = (dealt[at], at);
            while to > 0 && dealt[to - 1] < keyed {
                dealt[to] = dealt[to - 1];
                to -= 1;
            }
            dealt[to] = keyed;
        }
    }
}

/// Puts a few events of one instant in order, the last first.
#[inline(always)]
fn order_few(alike: &mut [Event]) {
    let mut orders = [0u64; FEW];
    let orders = &mut orders[..alike.len().min(FEW)];
    for i in 0..orders.len() {
        let (order, what) = (alike[i].order(), alike[i].what);
        let mut at = i;
        while at > 0 && (orders[at - 1], alike[at - 1].what) < (order, what) {
            orders[at] = orders[at - 1];
            alike[at].what = alike[at - 1].what;
            at -= 1;
        }
        (orders[at], alike[at].what) = (order, what);
    }
}

fn kind(order: u64) -> usize {
    (order >> (u64::BITS - KIND_BITS)) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Time;

    #[test]
    fn many_are_ordered_as_few_are() {
        let mut rng = crate::rng::stream(1, "ties", 0);
        let mut ties = Ties::default();
        for round in 0..200 {
            let time = Time::from_ps(1 + rng.below(1 << 40));
            let kinds = [1, 2, u64::from(KINDS)][round % 3];
            let names = 1 << (1 + rng.below(15));
            let events = 2 + rng.below(3000);
            let event = |_| Event::named(time, rng.below(kinds) as u8, rng.below(names) as u32, rng.below(4) as u32);
            let mut events: Vec<Event> = (0..events).map(event).collect();
            let mut sorted = events.clone();
            sorted.sort_by(|a, b| b.cmp(a));
            ties.order(&mut events);
            assert_eq!(events, sorted, "round {round}");
        }
    }
}
