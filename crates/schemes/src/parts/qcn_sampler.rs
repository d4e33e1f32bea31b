//! QCN's congestion point: sampling of packets, the feedback value, its quantiser.
//!
//! Section numbers are those of QCN (IEEE 802.1Qau; FQCN paper, section III, equations 1 and 2).
//! QCN and its fair descendants differ only in whom they tell and what; when they look, and how
//! bad it is, is decided here.

use crate::param::params;
use xoff_engine::{Rng, stream};
use xoff_fabric::scheme::{Hooks, QueueFacts, QueueView};

/// A congestion notification message: QCN section 2. Of its fields only the quantised feedback is
/// read by any reaction point; the others count in its size.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Cnm {
    /// Quantised feedback, 1 to `psi_max` (0 only with `send_zero`).
    pub psi: u8,
    /// Qeq less the queue.
    pub offset_bytes: i32,
    /// The queue less that of the sample before.
    pub delta_bytes: i32,
}

/// Equation 2 scales the sampling probability by this, whatever `psi_max` is.
const FULL_SCALE: f64 = 64.0;

/// Section 3, form (b): bytes between samples by eighths of the feedback, relative to the first.
const BYTES_BY_EIGHTH: [f64; 8] =
    [1.0, 75.0 / 150.0, 50.0 / 150.0, 37.5 / 150.0, 30.0 / 150.0, 25.0 / 150.0, 21.5 / 150.0, 18.75 / 150.0];

params! {
    /// Symbols are the FQCN paper's.
    pub struct Params {
        /// queue length of equilibrium
        qeq "Qeq": BytesByRate = "14KB@1Gbps, 33KB@10Gbps, 33KB@25Gbps, 33KB@40Gbps, 66KB@100Gbps",
            from "FQCN paper, section VI, at 1 and 10 Gb/s; others an assumption: 22 % of 150 KB, doubled at 100 Gb/s";
        /// weight of the queue's change in the feedback
        w "w": Number(0.0..=100.0) = "2", from "FQCN paper, section VI";
        /// largest quantised feedback
        psi_max "Psi_max": Count(1..=64) = "64",
            from "FQCN paper: 64, so that Gd * 64 = 1/2 and p reaches 10 %; the six bits of the standard hold 63";
        /// send a CNM even if the feedback rounds to zero
        send_zero: Flag = "false", from "assumption: a zero feedback would only reset the rate limiter";
        /// sample packets as they arrive, or as they are transmitted
        sample_at: SampleAt { Enqueue = "enqueue", Dequeue = "dequeue" } = "enqueue",
            from "FQCN paper, section III.A, and IEEE 802.1Qau; \
                  PCN (NSDI 2020), section 3.2, has the time of transmitting 100 packets for QCN's period";
        /// sample each packet with probability p, one in a number of packets, or once per interval of bytes; of these
        /// only the number stays as it is under congestion
        sampling: Sampling { Packets = "packets", Every = "every", Bytes = "bytes" } = "packets",
            from "FQCN paper, section III.A; IEEE 802.1Qau counts bytes";
        /// sampling probability without congestion
        sample_min "p_min": Number(0.0001..=1.0) = "0.01" if Sampling::Packets, from "FQCN paper, equation 2";
        /// sampling probability at a feedback of 64
        sample_max "p_max": Number(0.0001..=1.0) = "0.1" if Sampling::Packets, from "FQCN paper, equation 2";
        /// one packet in this many is sampled
        sample_every: Count(1..=1_000_000) = "100" if Sampling::Every, from "PCN (NSDI 2020), section 3.2";
        /// bytes between two samples without congestion; down to an eighth with it
        sample_bytes: Bytes = "150KB" if Sampling::Bytes, from "IEEE 802.1Qau, table of sampling intervals";
        /// uniform jitter of the interval, either way
        sample_jitter: Number(0.0..=0.9) = "0.15" if Sampling::Bytes, from "IEEE 802.1Qau";
        /// congestion-notification tag in every data frame
        cn_tag: Bytes = "4B", from "IEEE 802.1Qau: EtherType 0x22E9 and the flow's number";
        /// frame bytes of a CNM
        cnm_frame: Bytes = "64B", from "assumption: the least Ethernet frame; the standard allows about 110 B";
    }
}

impl Params {
    /// Why these values make no sense together.
    pub fn validation_error(&self) -> Option<String> {
        if self.sample_min > self.sample_max {
            return Some("`sample_min` is above `sample_max`".into());
        }
        if self.sample_bytes == 0 {
            return Some("`sample_bytes` is zero".into());
        }
        [("cn_tag", self.cn_tag, 0), ("cnm_frame", self.cnm_frame, 64)].into_iter().find_map(|(name, bytes, least)| {
            (!(least..=1500).contains(&bytes)).then(|| format!("`{name}` is not between {least} and 1500 bytes"))
        })
    }
}

/// What a sampling event found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sample {
    /// Fb < 0.
    pub congested: bool,
    /// The quantised feedback; 0 unless congested.
    pub psi: u8,
}

/// One queue's sampler.
#[derive(Clone, Debug)]
pub struct Sampler {
    qeq_bytes: f64,
    w: f64,
    psi_max: u8,
    send_zero: bool,
    at: SampleAt,
    /// The queue at the last sample.
    q_old_bytes: f64,
    /// And how much longer it was than at the one before.
    q_delta_bytes: f64,
    form: Form,
    rng: Rng,
}

/// Section 3: the two realisations of sampling, and one that knows no congestion.
#[derive(Clone, Debug)]
enum Form {
    /// (a) Each packet, with probability `p`.
    Packets { p: f64, min: f64, max: f64 },
    /// (b) The packet that uses up `left` bytes.
    Bytes { left: f64, base: f64, jitter: f64 },
    /// One packet in `every`.
    Every { left: u32, every: u32 },
}

impl Sampler {
    /// For an empty queue; the stream of its draws is the queue's own.
    pub fn new(params: &Params, facts: &QueueFacts) -> Sampler {
        let form = match params.sampling {
            Sampling::Packets => {
                let (min, max) = (params.sample_min, params.sample_max);
                Form::Packets { p: min, min, max }
            }
            Sampling::Bytes => {
                let base = params.sample_bytes as f64;
                Form::Bytes { left: base, base, jitter: params.sample_jitter }
            }
            Sampling::Every => {
                let every = params.sample_every as u32;
                Form::Every { left: every, every }
            }
        };
        let mut sampler = Sampler {
            qeq_bytes: params.qeq.at_queue(facts).max(1) as f64,
            w: params.w,
            psi_max: params.psi_max as u8,
            send_zero: params.send_zero,
            at: params.sample_at,
            q_old_bytes: 0.0,
            q_delta_bytes: 0.0,
            form,
            rng: stream(facts.seed, "qcn sampling", facts.queue),
        };
        sampler.schedule(0);
        sampler
    }

    /// Largest quantised feedback, from 1 to 64.
    pub fn psi_max(&self) -> u8 {
        self.psi_max
    }

    /// Qeq at this queue, at least a byte.
    pub fn qeq_bytes(&self) -> f64 {
        self.qeq_bytes
    }

    /// p, unless packets or bytes are counted.
    pub fn probability(&self) -> Option<f64> {
        match self.form {
            Form::Packets { p, .. } => Some(p),
            Form::Bytes { .. } | Form::Every { .. } => None,
        }
    }

    /// The hook at which packets are sampled.
    pub fn hook(&self) -> Hooks {
        match self.at {
            SampleAt::Enqueue => Hooks::ENQUEUE,
            SampleAt::Dequeue => Hooks::DEQUEUE,
        }
    }

    /// A packet arrives. If it is sampled, what the queue looks like.
    #[inline]
    pub fn arrives(&mut self, view: &QueueView, frame_bytes: u32) -> Option<Sample> {
        if self.at == SampleAt::Enqueue { self.passes(view, frame_bytes) } else { None }
    }

    /// A packet leaves. If it is sampled, what the queue looks like behind it.
    #[inline]
    pub fn departs(&mut self, view: &QueueView, frame_bytes: u32) -> Option<Sample> {
        if self.at == SampleAt::Dequeue { self.passes(view, frame_bytes) } else { None }
    }

    #[inline]
    fn passes(&mut self, view: &QueueView, frame_bytes: u32) -> Option<Sample> {
        let sampled = match &mut self.form {
            Form::Packets { p, .. } => self.rng.unit() < *p,
            Form::Bytes { left, .. } => {
                *left -= f64::from(frame_bytes);
                *left <= 0.0
            }
            Form::Every { left, .. } => {
                *left -= 1;
                *left == 0
            }
        };
        sampled.then(|| self.sample(view.queue_bytes))
    }

    /// Section 3, equation 1: Fb = -(Qover + w Qdelta), quantised, and how soon to look again.
    fn sample(&mut self, queue_bytes: u64) -> Sample {
        let q = queue_bytes as f64;
        let delta = q - self.q_old_bytes;
        let fb = -((q - self.qeq_bytes) + self.w * delta);
        (self.q_old_bytes, self.q_delta_bytes) = (q, delta);
        let congested = fb < 0.0;
        let psi = if congested { self.quantise(-fb) } else { 0 };
        self.schedule(psi);
        Sample { congested, psi }
    }

    /// Section 3, quantiser: Psi_max at Fb_max = Qeq (1 + 2 w) and beyond, rounded half up.
    fn quantise(&self, fb: f64) -> u8 {
        let fb_max = self.qeq_bytes * (1.0 + 2.0 * self.w);
        let full = f64::from(self.psi_max);
        (full * fb.min(fb_max) / fb_max + 0.5).floor().min(full) as u8
    }

    /// The message about the last sample, with this feedback.
    pub fn cnm(&self, psi: u8) -> Cnm {
        let offset_bytes = (self.qeq_bytes - self.q_old_bytes) as i32;
        Cnm { psi, offset_bytes, delta_bytes: self.q_delta_bytes as i32 }
    }

    /// Section 3: feedback that rounds to nothing is not sent. It would only reset the rate limiter.
    #[inline]
    pub fn sends(&self, psi: u8) -> bool {
        psi > 0 || self.send_zero
    }

    /// Equation 2, or the standard's table: a worse queue is looked at more often.
    fn schedule(&mut self, psi: u8) {
        match &mut self.form {
            Form::Packets { p, min, max } => *p = *min + (*max - *min) * f64::from(psi) / FULL_SCALE,
            Form::Bytes { left, base, jitter } => {
                let eighth = (usize::from(psi) / 8).min(BYTES_BY_EIGHTH.len() - 1);
                let spread = 1.0 + *jitter * (2.0 * self.rng.unit() - 1.0);
                *left = *base * BYTES_BY_EIGHTH[eighth] * spread;
            }
            Form::Every { left, every } => *left = *every,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::param::SchemeSpec;
    use xoff_engine::{BitRate, Time};

    static SPEC: SchemeSpec = SchemeSpec::new("sampler", "", "", Params::TABLE, &[]);

    fn sampler(texts: &[(&str, &str)]) -> Sampler {
        Sampler::new(&Params::read(&SPEC.values(None).with(texts)), &QueueFacts::at(BitRate::from_gbps(10)))
    }

    fn percent(sampler: &Sampler) -> f64 {
        sampler.probability().expect("samples by packets") * 100.0
    }

    fn view(queue_bytes: u64) -> QueueView {
        QueueView::at(BitRate::from_gbps(10), Time::ZERO, queue_bytes)
    }

    #[test]
    fn qcn_7_1_feedback_and_probability() {
        let mut cp = sampler(&[]);
        assert_eq!(cp.qeq_bytes, 33_000.0);
        for (from, to, psi, p) in
            [(20, 40, 18, 3.53125), (40, 36, 0, 1.0), (36, 60, 29, 5.078125), (60, 30, 0, 1.0), (100, 150, 64, 10.0)]
        {
            cp.q_old_bytes = f64::from(from) * 1000.0;
            let sample = cp.sample(to * 1000);
            assert_eq!((sample.psi, sample.congested), (psi, psi > 0), "{from} to {to} KB");
            assert!((percent(&cp) - p).abs() < 1e-9, "{from} to {to} KB: {}", percent(&cp));
            assert_eq!(cp.q_old_bytes, to as f64 * 1000.0);
            let (offset_bytes, delta_bytes) = (33_000 - to as i32 * 1000, (to as i32 - from) * 1000);
            assert_eq!(cp.cnm(psi), Cnm { psi, offset_bytes, delta_bytes });
        }
    }

    #[test]
    fn qcn_3_feedback_that_rounds_to_zero_is_not_sent() {
        // Fb = -1000: 64 * 1000 / 165000 = 0.39.
        for (texts, sends) in [(&[][..], false), (&[("send_zero", "true")][..], true)] {
            let mut cp = sampler(texts);
            cp.q_old_bytes = 34_000.0;
            let sample = cp.sample(34_000);
            assert_eq!(sample, Sample { congested: true, psi: 0 });
            assert_eq!(cp.sends(sample.psi), sends);
            assert_eq!(percent(&cp), 1.0);
        }
    }

    #[test]
    fn qcn_3_six_bits_hold_63() {
        let mut cp = sampler(&[("psi_max", "63")]);
        assert_eq!(cp.sample(1_000_000).psi, 63);
        assert!((percent(&cp) - (1.0 + 9.0 / 64.0 * 63.0)).abs() < 1e-9);
    }

    #[test]
    fn qcn_3_one_packet_in_a_hundred() {
        let mut cp = sampler(&[]);
        let samples = (0..1_000_000).filter(|_| cp.arrives(&view(0), 1500).is_some()).count();
        // Binomial: mean 10 000, deviation 100.
        assert!((9_600..=10_400).contains(&samples), "{samples}");
    }

    #[test]
    fn qcn_3_the_standard_counts_bytes() {
        let mut cp = sampler(&[("sampling", "bytes"), ("sample_jitter", "0")]);
        let bytes_left = |cp: &Sampler| match cp.form {
            Form::Bytes { left, .. } => left,
            Form::Packets { .. } | Form::Every { .. } => panic!("samples by packets"),
        };
        // 150 KB are a hundred packets of 1500 B.
        for i in 1..=300 {
            assert_eq!(cp.arrives(&view(0), 1500).is_some(), i % 100 == 0, "packet {i}");
        }
        let table = [150_000.0, 75_000.0, 50_000.0, 37_500.0, 30_000.0, 25_000.0, 21_500.0, 18_750.0, 18_750.0];
        for (eighth, bytes) in table.into_iter().enumerate() {
            cp.schedule(eighth as u8 * 8);
            assert!((bytes_left(&cp) - bytes).abs() < 1e-6, "{eighth}");
        }
        let mut cp = sampler(&[("sampling", "bytes")]);
        let spread: Vec<f64> = (0..1000)
            .map(|_| {
                cp.schedule(0);
                bytes_left(&cp)
            })
            .collect();
        assert!(spread.iter().all(|bytes| (127_500.0..=172_500.0).contains(bytes)));
        assert!(spread.iter().any(|bytes| *bytes < 130_000.0) && spread.iter().any(|bytes| *bytes > 170_000.0));
    }

    #[test]
    fn pcn_3_2_one_packet_in_a_hundred_however_congested() {
        let mut cp = sampler(&[("sampling", "every")]);
        for i in 1..=1000 {
            let sample = cp.arrives(&view(1_000_000), 1500);
            assert_eq!(sample, (i % 100 == 0).then_some(Sample { congested: true, psi: 64 }), "packet {i}");
        }
        let mut cp = sampler(&[("sampling", "every"), ("sample_every", "1")]);
        assert!((0..5).all(|_| cp.arrives(&view(0), 1500).is_some()));
    }

    #[test]
    fn qcn_3_packets_are_sampled_as_they_come_or_as_they_go() {
        for (at, hook, comes, goes) in
            [("enqueue", Hooks::ENQUEUE, true, false), ("dequeue", Hooks::DEQUEUE, false, true)]
        {
            let mut cp = sampler(&[("sample_at", at), ("sampling", "every"), ("sample_every", "1")]);
            assert_eq!(cp.hook(), hook);
            assert_eq!((cp.arrives(&view(0), 1500).is_some(), cp.departs(&view(0), 1500).is_some()), (comes, goes));
        }
    }

    #[test]
    fn qcn_5_equilibrium_follows_the_port() {
        let params = Params::read(&SPEC.values(None));
        let at = |gbps| params.qeq.at(BitRate::from_gbps(gbps));
        assert_eq!([1, 10, 25, 40, 100].map(at), [14_000, 33_000, 33_000, 33_000, 66_000]);
    }
}
