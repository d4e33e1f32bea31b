//! CRD, congestion region detection (section 2): a QCN-like measure of one queue.

use super::Params;
use xoff_engine::{Span, Time};

/// The largest quantised degree: six bits.
pub const LEVELS: u8 = 63;

/// The law of all detectors.
impl Params {
    /// Eq 1: F_b = Q_off + w_q Q_delta; positive is congested (the opposite of QCN's sign).
    pub(super) fn measure(&self, queue_bytes: u64, last_bytes: u64) -> f64 {
        let (queue, last) = (queue_bytes as f64, last_bytes as f64);
        (queue - self.q_eq as f64) + self.w_q * (queue - last)
    }

    /// Section 2: `round(63 F_b / F_bmax)` in 0..=63, F_bmax = Q_eq (1 + 2 w_q).
    pub(super) fn quantise(&self, measure: f64) -> u8 {
        let most = self.q_eq as f64 * (1.0 + 2.0 * self.w_q);
        (measure * f64::from(LEVELS) / most).round().clamp(0.0, f64::from(LEVELS)) as u8
    }

    /// Eq 2: F_b' = (1 - w) F_b + w F_br, where a valid notification has been received.
    pub(super) fn regional(&self, own: u8, received: Option<u8>) -> u8 {
        let Some(received) = received else { return own };
        let (own, received) = (f64::from(own), f64::from(received));
        ((1.0 - self.w) * own + self.w * received).round() as u8
    }

    /// Section 2: from one sample per `sample_max` at degree 0 to one per `sample_min`. By so much the
    /// interval is shorter.
    fn sooner_bytes(&self, degree: u8) -> u64 {
        let span = self.sample_max.saturating_sub(self.sample_min);
        span * u64::from(degree) / u64::from(LEVELS)
    }
}

/// The detector of one queue.
#[derive(Clone, Copy, Debug, Default)]
pub struct Crd {
    /// Bytes that arrived since the last sample, and those by which the next is to come sooner.
    counted_bytes: u64,
    /// Q'_len
    last_bytes: u64,
    pub sampled_at: Time,
    /// Quantised F_b of the last sample.
    pub degree: u8,
    /// The last sample had F_b > 0: the local flag.
    pub congested: bool,
}

impl Crd {
    /// A packet arrives; `true` if it is one to sample.
    #[inline]
    pub fn on_arrival(&mut self, params: &Params, frame_bytes: u32) -> bool {
        self.counted_bytes += u64::from(frame_bytes);
        self.counted_bytes >= params.sample_max
    }

    pub fn sample(&mut self, params: &Params, now: Time, queue_bytes: u64) {
        let measure = params.measure(queue_bytes, self.last_bytes);
        self.last_bytes = queue_bytes;
        self.sampled_at = now;
        self.congested = measure > 0.0;
        self.degree = params.quantise(measure);
        self.counted_bytes = params.sooner_bytes(self.degree);
    }

    /// A flag that no sample has renewed for `span` is looked at again; when that is next due.
    pub fn expire(&mut self, params: &Params, now: Time, span: Span, queue_bytes: impl Fn() -> u64) -> Time {
        if self.congested && self.sampled_at + span <= now {
            self.look_again(params, now, queue_bytes());
        }
        if self.congested { self.sampled_at + span } else { Time::NEVER }
    }

    /// Nothing arrived for long: the queue as it is now says whether the flag still holds.
    fn look_again(&mut self, params: &Params, now: Time, queue_bytes: u64) {
        if params.measure(queue_bytes, self.last_bytes) <= 0.0 {
            self.sample(params, now, queue_bytes);
        } else {
            self.last_bytes = queue_bytes;
            self.sampled_at = now;
        }
    }
}
