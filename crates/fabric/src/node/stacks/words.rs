//! Records as the header has them, a word each: a whole stack is one cache line.

use super::{Departure, Form, Stack};
use crate::contract::packet::IntHop;
use crate::contract::precision::{CODED_GBPS, Fields, HEADER_HOPS, QUEUE_MOST, code_of};
use crate::network::rates::{RateId, Rates};
use xoff_engine::{BitRate, Table};

#[derive(Clone, Copy, Debug, Default)]
pub struct Words {
    names: [u16; HEADER_HOPS],
    /// Code of the rate (3 bits), nanoseconds (24), bytes sent (20), queue (17).
    list: [u64; HEADER_HOPS],
}

const QUEUE_BITS: u32 = 17;
const TX_BITS: u32 = 20;
const TIME_BITS: u32 = 24;

const _: () = assert!(size_of::<Stack<Words>>() == 64, "one cache line");

#[derive(Debug)]
pub struct Coding {
    m: u64,
    /// What stands for a port's rate.
    codes: Table<RateId, u8>,
    rates: [BitRate; 8],
}

impl Coding {
    pub fn new(m: u8, rates: &Rates) -> Coding {
        // Three bits: three codes stand for none.
        let mut decoded = [BitRate::from_gbps(CODED_GBPS[0]); 8];
        for (rate, gbps) in decoded.iter_mut().zip(CODED_GBPS) {
            *rate = BitRate::from_gbps(gbps);
        }
        Coding { m: u64::from(m), codes: rates.iter().map(|&rate| code_of(rate)).collect(), rates: decoded }
    }

    #[inline(always)]
    fn word(&self, code: u8, fields: &Fields) -> u64 {
        let Fields { nanoseconds, tx_units, queue_units } = *fields;
        (u64::from(code) << TIME_BITS | nanoseconds) << (TX_BITS + QUEUE_BITS)
            | tx_units << QUEUE_BITS
            | queue_units & QUEUE_MOST
    }
}

impl Form for Words {
    type Coding = Coding;

    #[inline(always)]
    fn most(_: &Coding) -> usize {
        HEADER_HOPS
    }

    // Apart, so that the other form is written without a call.
    #[inline(never)]
    fn stamp(&mut self, place: usize, departure: &Departure, rate: RateId, name: u16, coding: &Coding) {
        let fields = Fields::new(departure.at, departure.tx_bytes, departure.queue_bytes, coding.m);
        self.list[place] = coding.word(coding.codes[rate], &fields);
        self.names[place] = name;
    }

    fn keep(&mut self, place: usize, hop: &IntHop, coding: &Coding) {
        let fields = Fields::new(hop.at, hop.tx_bytes, hop.queue_bytes, coding.m);
        self.list[place] = coding.word(code_of(hop.rate), &fields);
        self.names[place] = 0;
        debug_assert_eq!(self.hop(place, coding), *hop, "a congestion point writes in another precision");
    }

    #[inline(always)]
    fn hop(&self, place: usize, coding: &Coding) -> IntHop {
        let word = self.list[place];
        let fields = Fields {
            nanoseconds: word >> (TX_BITS + QUEUE_BITS) & ((1 << TIME_BITS) - 1),
            tx_units: word >> QUEUE_BITS & ((1 << TX_BITS) - 1),
            queue_units: word & QUEUE_MOST,
        };
        fields.hop(coding.rates[(word >> (64 - 3)) as usize], coding.m)
    }

    #[inline(always)]
    fn name(&self, place: usize) -> u16 {
        self.names[place]
    }
}
