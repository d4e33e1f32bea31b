//! CRD, congestion region detection (section 2): a QCN-like measure of one queue.

use xoff_engine::Time;

/// The largest quantised degree: six bits.
pub const LEVELS: u8 = 63;

/// What all detectors of a run share.
#[derive(Clone, Copy, Debug)]
pub struct Law {
    /// Q_eq
    pub equilibrium_bytes: u64,
    /// w_q
    pub slope_weight: f64,
    /// w of eq 2
    pub remote_weight: f64,
    /// Bytes between samples at degree 0 and at the largest.
    pub sample_max_bytes: u64,
    pub sample_min_bytes: u64,
}

impl Law {
    /// Eq 1: F_b = Q_off + w_q Q_delta; positive is congested (the opposite of QCN's sign).
    pub fn measure(&self, queue_bytes: u64, last_bytes: u64) -> f64 {
        let (queue, last) = (queue_bytes as f64, last_bytes as f64);
        (queue - self.equilibrium_bytes as f64) + self.slope_weight * (queue - last)
    }

    /// Section 2: `round(63 F_b / F_bmax)` in 0..=63, F_bmax = Q_eq (1 + 2 w_q).
    pub fn quantise(&self, measure: f64) -> u8 {
        let most = self.equilibrium_bytes as f64 * (1.0 + 2.0 * self.slope_weight);
        (measure * f64::from(LEVELS) / most).round().clamp(0.0, f64::from(LEVELS)) as u8
    }

    /// Eq 2: F_b' = (1 - w) F_b + w F_br, where a valid notification has been received.
    pub fn regional(&self, own: u8, received: Option<u8>) -> u8 {
        let Some(received) = received else { return own };
        let (own, received) = (f64::from(own), f64::from(received));
        ((1.0 - self.remote_weight) * own + self.remote_weight * received).round() as u8
    }

    /// Section 2: from one sample per `sample_max_bytes` at degree 0 to one per `sample_min_bytes`.
    fn interval_bytes(&self, degree: u8) -> u64 {
        let span = self.sample_max_bytes.saturating_sub(self.sample_min_bytes);
        self.sample_max_bytes - span * u64::from(degree) / u64::from(LEVELS)
    }
}

/// The detector of one queue.
#[derive(Clone, Copy, Debug, Default)]
pub struct Crd {
    /// Bytes that arrived since the last sample.
    arrived_bytes: u64,
    /// Q'_len
    last_bytes: u64,
    pub sampled_at: Time,
    /// Quantised F_b of the last sample.
    pub degree: u8,
    /// The last sample had F_b > 0: the local flag.
    pub congested: bool,
}

impl Crd {
    /// A packet arrives at a queue of `queue_bytes`; `true` if it was sampled.
    #[inline]
    pub fn on_arrival(&mut self, law: &Law, now: Time, frame_bytes: u32, queue_bytes: u64) -> bool {
        self.arrived_bytes += u64::from(frame_bytes);
        if self.arrived_bytes < law.interval_bytes(self.degree) {
            return false;
        }
        self.sample(law, now, queue_bytes);
        true
    }

    pub fn sample(&mut self, law: &Law, now: Time, queue_bytes: u64) {
        let measure = law.measure(queue_bytes, self.last_bytes);
        self.arrived_bytes = 0;
        self.last_bytes = queue_bytes;
        self.sampled_at = now;
        self.congested = measure > 0.0;
        self.degree = law.quantise(measure);
    }

    /// Nothing arrived for long: the queue as it is now says whether the flag still holds.
    pub fn look_again(&mut self, law: &Law, now: Time, queue_bytes: u64) {
        if law.measure(queue_bytes, self.last_bytes) <= 0.0 {
            self.sample(law, now, queue_bytes);
        } else {
            self.last_bytes = queue_bytes;
            self.sampled_at = now;
        }
    }
}
