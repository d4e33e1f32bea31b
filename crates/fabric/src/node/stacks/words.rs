//! Records as the header has them, a word each: a whole stack is one cache line.

use super::{Departure, Form, Stack};
use crate::contract::packet::IntHop;
use crate::contract::precision::{CODED_GBPS, Fields, HEADER_HOPS, code_of};
use crate::network::rates::{RateId, Rates};
use xoff_engine::{BitRate, Table};

#[derive(Clone, Copy, Debug, Default)]
pub struct Words {
    names: [u16; HEADER_HOPS],
    list: [u64; HEADER_HOPS],
}

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
        let fields = Fields::wrapped(departure.at, departure.tx_bytes, departure.queue_bytes, coding.m);
        self.list[place] = fields.word(coding.codes[rate]);
        self.names[place] = name;
    }

    fn keep(&mut self, place: usize, hop: &IntHop, coding: &Coding) {
        let fields = Fields::wrapped(hop.at, hop.tx_bytes, hop.queue_bytes, coding.m);
        self.list[place] = fields.word(code_of(hop.rate));
        self.names[place] = 0;
        debug_assert_eq!(self.hop(place, coding), *hop, "a congestion point writes in another precision");
    }

    #[inline(always)]
    fn hop(&self, place: usize, coding: &Coding) -> IntHop {
        let (code, fields) = Fields::of_word(self.list[place]);
        fields.hop(coding.rates[usize::from(code)], coding.m)
    }

    #[inline(always)]
    fn name(&self, place: usize) -> u16 {
        self.names[place]
    }
}
