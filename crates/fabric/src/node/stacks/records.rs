//! Records of any precision. Five hops, the longest way through a network of three layers, are two cache lines.

use super::{Departure, Form, Head};
use crate::contract::packet::{IntHop, PATH, PATH_BITS};
use crate::contract::precision::{INT_HOPS, Precision};
use crate::network::rates::{RateId, Rates};
use std::sync::Arc;
use xoff_engine::Time;

pub type Records = [Record; INT_HOPS];

#[derive(Clone, Copy, Debug, Default)]
pub struct Record {
    at: Time,
    /// Bytes sent, in 52 bits, and the hop's name, in 12.
    sent: u64,
    /// Bytes in queues, in 40 bits, and the number of the port's rate, in 24.
    waiting: u64,
}

const NAME_BITS: u32 = PATH_BITS;
const RATE_BITS: u32 = 24;
const RATE: u64 = (1 << RATE_BITS) - 1;

const _: () = assert!(size_of::<Head>() + 5 * size_of::<Record>() == 2 * 64, "two cache lines");

#[derive(Debug)]
pub struct Coding {
    precision: Precision,
    most: usize,
    rates: Arc<Rates>,
}

impl Coding {
    pub fn new(precision: Precision, rates: &Arc<Rates>) -> Coding {
        Coding { precision, most: precision.hops_most(), rates: Arc::clone(rates) }
    }

    /// Apart, so that exact records are written without a call.
    #[inline(never)]
    fn fitted(&self, at: Time, tx_bytes: u64, queue_bytes: u64, rate: RateId, name: u16) -> Record {
        let hop = self.precision.fit(&IntHop { rate: self.rates[rate], at, tx_bytes, queue_bytes });
        self.of_hop(&hop, name)
    }

    fn of_hop(&self, hop: &IntHop, name: u16) -> Record {
        let &IntHop { rate, at, tx_bytes, queue_bytes } = hop;
        Record::new(&Departure { at, tx_bytes, queue_bytes }, self.rates.id(rate), name)
    }
}

impl Record {
    #[inline(always)]
    fn new(departure: &Departure, rate: RateId, name: u16) -> Record {
        debug_assert!(departure.tx_bytes >> (64 - NAME_BITS) == 0 && departure.queue_bytes >> (64 - RATE_BITS) == 0);
        Record {
            at: departure.at,
            sent: departure.tx_bytes << NAME_BITS | u64::from(name & PATH),
            waiting: departure.queue_bytes << RATE_BITS | u64::from(rate.get()),
        }
    }
}

impl Form for Records {
    type Coding = Coding;

    #[inline(always)]
    fn most(coding: &Coding) -> usize {
        coding.most
    }

    #[inline(always)]
    fn stamp(&mut self, place: usize, departure: &Departure, rate: RateId, name: u16, coding: &Coding) {
        let record = &mut self[place];
        if coding.precision == Precision::Exact {
            *record = Record::new(departure, rate, name);
        } else {
            let &Departure { at, tx_bytes, queue_bytes } = departure;
            *record = coding.fitted(at, tx_bytes, queue_bytes, rate, name);
        }
    }

    fn keep(&mut self, place: usize, hop: &IntHop, coding: &Coding) {
        self[place] = coding.of_hop(hop, 0);
    }

    #[inline(always)]
    fn hop(&self, place: usize, coding: &Coding) -> IntHop {
        let Record { at, sent, waiting } = self[place];
        IntHop {
            rate: coding.rates[RateId::new((waiting & RATE) as u32)],
            at,
            tx_bytes: sent >> NAME_BITS,
            queue_bytes: waiting >> RATE_BITS,
        }
    }

    #[inline(always)]
    fn name(&self, place: usize) -> u16 {
        self[place].sent as u16 & PATH
    }
}
