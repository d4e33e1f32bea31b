//! Shared buffer of ConWeave's simulator, which it calls Broadcom's (switch-mmu.cc): separate ingress and egress limits
//! on one pool, headroom taken only once the ingress limit is exceeded, and PAUSE frames that run out.
//!
//! A pure state machine that serves comparisons with that simulator ([`crate::network::plan::Dialect`]). Its class of
//! control packets bypasses it. Ports are numbered from 0 here and from 1 there, where port 0 is a loopback device.

use xoff_engine::{BitRate, Span, Time};

/// What that simulator calls an MTU of its buffer, header included.
const MTU_BYTES: u64 = 1048;
/// Bytes that each ingress (port, class) and each port has before headroom and PAUSE are looked at.
const INGRESS_MIN_BYTES: u64 = MTU_BYTES;
/// Bytes of an egress queue that its limit does not count.
pub const EGRESS_MIN_BYTES: u64 = MTU_BYTES + 1;
/// Classes for which bytes are set aside, used or not.
const CLASSES: u64 = 8;
/// Headroom of the loopback device, which no one sets.
const LOOPBACK_HEADROOM_BYTES: u64 = 14_596;
/// Share of the free ingress pool beyond which an ingress pauses its upstream.
const ALPHA: f64 = 1.0 / 16.0;
/// RESUME so far below that limit.
const RESUME_OFFSET_BYTES: f64 = 16.0;
/// How long a PAUSE lasts, at the one who gets it and at the one who sends it.
pub const PAUSE: Span = Span::from_us(5);

/// Why a packet was not stored.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Full {
    /// The egress limit.
    Egress,
    /// Headroom of the ingress.
    Ingress,
}

/// What one ingress (port, class) holds.
#[derive(Clone, Copy, Debug, Default)]
struct Ingress {
    bytes: u64,
    in_headroom: u64,
    /// Until when its upstream counts as paused.
    paused_until: Time,
}

/// Buffer of one switch.
#[derive(Clone, Debug)]
pub struct Broadcom {
    classes: usize,
    ingress_limit: u64,
    egress_limit: u64,
    /// Headroom of each port.
    headroom: Box<[u64]>,
    port_bytes: Box<[u64]>,
    /// State of each class of each port, port by port.
    ingresses: Box<[Ingress]>,
    egress_bytes: Box<[u64]>,
    /// Bytes of all ingresses.
    pool_bytes: u64,
    /// Bytes of all egress queues beyond the first ones of each.
    egress_shared: u64,
    /// Packets refused by the ingress and by the egress.
    refused: [u64; 2],
}

/// Returns the headroom of an ingress behind a link: what it holds both ways, and two packets.
fn headroom(rate: BitRate, delay: Span) -> u64 {
    2 * rate.bytes_in(delay) + 2 * MTU_BYTES
}

/// Bytes of a queue that its egress limit counts.
fn shared(bytes: u64) -> u64 {
    bytes.saturating_sub(EGRESS_MIN_BYTES)
}

impl Broadcom {
    /// An empty buffer of so many bytes; `ports` are rate and delay of each link, in the order of ports.
    pub fn new(buffer_bytes: u64, classes: usize, ports: &[(BitRate, Span)]) -> Broadcom {
        let headroom: Box<[u64]> = ports.iter().map(|&(rate, delay)| headroom(rate, delay)).collect();
        // There the sum begins with the loopback device, so that the last port is left out.
        let summed = headroom.len().saturating_sub(1);
        let set_aside = ports.len() as u64 * CLASSES * MTU_BYTES;
        let all_headroom = LOOPBACK_HEADROOM_BYTES + headroom[..summed].iter().sum::<u64>();
        Broadcom {
            classes,
            ingress_limit: buffer_bytes.saturating_sub(all_headroom + set_aside),
            egress_limit: buffer_bytes.saturating_sub(set_aside),
            headroom,
            port_bytes: vec![0; ports.len()].into(),
            ingresses: vec![Ingress::default(); ports.len() * classes].into(),
            egress_bytes: vec![0; ports.len() * classes].into(),
            pool_bytes: 0,
            egress_shared: 0,
            refused: [0; 2],
        }
    }

    fn place(&self, port: usize, class: u8) -> usize {
        port * self.classes + usize::from(class)
    }

    /// Stores a packet that came in by `from` and is bound for `to`, or says why not.
    pub fn admit(&mut self, from: usize, to: usize, class: u8, size: u64) -> Result<(), Full> {
        let (ingress, egress) = (self.place(from, class), self.place(to, class));
        let queued = self.egress_bytes[egress];
        // Alpha of the egress is 1, under PFC too.
        if shared(queued) + size > self.egress_limit.saturating_sub(self.egress_shared) {
            self.refused[1] += 1;
            return Err(Full::Egress);
        }
        let of = &mut self.ingresses[ingress];
        let beyond_min = of.bytes + size > INGRESS_MIN_BYTES && self.port_bytes[from] + size > INGRESS_MIN_BYTES;
        if beyond_min && self.pool_bytes > self.ingress_limit && of.in_headroom + size > self.headroom[from] {
            self.refused[0] += 1;
            return Err(Full::Ingress);
        }
        self.pool_bytes += size;
        self.port_bytes[from] += size;
        of.bytes += size;
        if self.pool_bytes > self.ingress_limit {
            of.in_headroom += size;
        }
        self.egress_shared += shared(queued + size) - shared(queued);
        self.egress_bytes[egress] = queued + size;
        Ok(())
    }

    /// Frees a packet that leaves.
    pub fn release(&mut self, from: usize, to: usize, class: u8, size: u64) {
        let (ingress, egress) = (self.place(from, class), self.place(to, class));
        let queued = self.egress_bytes[egress];
        self.egress_shared -= shared(queued) - shared(queued - size);
        self.egress_bytes[egress] = queued - size;
        self.pool_bytes -= size;
        self.port_bytes[from] -= size;
        let of = &mut self.ingresses[ingress];
        of.bytes -= size;
        of.in_headroom = of.in_headroom.saturating_sub(size);
    }

    /// Bytes of an ingress beyond its own, and of the share that it may take.
    fn against(&self, of: &Ingress, offset: f64) -> (f64, f64) {
        let beyond = of.bytes as f64 - 2.0 * INGRESS_MIN_BYTES as f64;
        (beyond, ALPHA * (self.ingress_limit as f64 - self.pool_bytes as f64 - offset))
    }

    /// Returns whether an ingress pauses its upstream in `class`, when a packet of class `arrived` was stored.
    pub fn must_pause(&self, from: usize, class: u8, arrived: u8) -> bool {
        let of = &self.ingresses[self.place(from, class)];
        let (beyond, share) = self.against(of, 0.0);
        beyond > 0.0 && (beyond > share || self.ingresses[self.place(from, arrived)].in_headroom != 0)
    }

    /// Records that an ingress pauses its upstream now.
    pub fn pause(&mut self, now: Time, from: usize, class: u8) {
        self.ingresses[self.place(from, class)].paused_until = now + PAUSE;
    }

    /// Returns whether an ingress whose upstream is paused is resumed now; it then counts as not paused.
    pub fn resumes(&mut self, now: Time, from: usize, class: u8) -> bool {
        let place = self.place(from, class);
        let of = self.ingresses[place];
        let (beyond, share) = self.against(&of, RESUME_OFFSET_BYTES);
        let resumes = now < of.paused_until && beyond < share && of.in_headroom == 0;
        if resumes {
            self.ingresses[place].paused_until = Time::ZERO;
        }
        resumes
    }

    /// Bytes of an ingress.
    pub fn ingress_bytes(&self, from: usize, class: u8) -> u64 {
        self.ingresses[self.place(from, class)].bytes
    }

    /// Bytes stored.
    pub fn used_bytes(&self) -> u64 {
        self.pool_bytes
    }

    /// Packets refused by the ingress and by the egress.
    pub fn refused(&self) -> [u64; 2] {
        self.refused
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A leaf with 8 links of 100 Gb/s and 1 us, and 1 MiB.
    fn leaf() -> Broadcom {
        Broadcom::new(1 << 20, 2, &[(BitRate::from_gbps(100), Span::from_us(1)); 8])
    }

    #[test]
    fn limits_of_a_leaf() {
        let leaf = leaf();
        assert_eq!(leaf.headroom[0], 27_096);
        // 1,048,576 - (14,596 + 7 x 27,096) - 8 x 8,384
        assert_eq!((leaf.ingress_limit, leaf.egress_limit), (777_236, 981_504));
    }

    #[test]
    fn an_ingress_pauses_at_a_sixteenth_of_what_is_free() {
        let mut leaf = leaf();
        // n packets of 1048 B: 1048 n - 2096 > (777236 - 1048 n)/16, so n = 46.
        let paused = (1..=60u64).find(|_| {
            leaf.admit(0, 5, 1, 1048).unwrap();
            leaf.must_pause(0, 1, 1)
        });
        assert_eq!(paused, Some(46));
        assert!(!leaf.must_pause(1, 1, 1));
        leaf.pause(Time::from_us(1), 0, 1);
        assert!(!leaf.resumes(Time::from_us(2), 0, 1));
        // One packet less: 45064 < (777236 - 47160 - 16)/16 = 45628.
        leaf.release(0, 5, 1, 1048);
        assert!(leaf.resumes(Time::from_us(2), 0, 1));
        assert!(!leaf.resumes(Time::from_us(2), 0, 1), "once");
        leaf.pause(Time::from_us(2), 0, 1);
        assert!(!leaf.resumes(Time::from_us(7), 0, 1), "it has run out");
    }

    #[test]
    fn headroom_is_taken_once_the_pool_is_full() {
        let mut leaf = leaf();
        // Seven ingresses fill the pool, bound for different egress queues.
        let mut stored = 0;
        while leaf.pool_bytes <= leaf.ingress_limit {
            leaf.admit(stored % 4, 4 + stored % 4, 1, 1048).unwrap();
            stored += 1;
        }
        assert_eq!(stored, 742);
        assert_eq!(leaf.ingresses.iter().map(|of| of.in_headroom).sum::<u64>(), 1048, "the last packet");
        assert!(leaf.admit(4, 0, 1, 1048).is_ok(), "within the minimum, and charged to headroom all the same");
        assert_eq!(leaf.ingresses[9].in_headroom, 1048);
        // 25 packets more fit the 27,096 B.
        assert_eq!((0..40).take_while(|_| leaf.admit(4, 0, 1, 1048).is_ok()).count(), 24);
        assert_eq!(leaf.refused(), [1, 0]);
        leaf.release(4, 0, 1, 1048);
        assert_eq!(leaf.ingresses[9].in_headroom, 24 * 1048);
    }

    #[test]
    fn an_egress_queue_may_take_half_of_its_pool() {
        let mut leaf = leaf();
        let stored = (0..).take_while(|n| leaf.admit(n % 4, 7, 1, 1048).is_ok()).count();
        // Shared bytes 1048 n - 1049 and 1048 more, within 981504 - (1048 n - 1049).
        assert_eq!(stored, 469);
        assert_eq!(leaf.refused(), [0, 1]);
        assert!(leaf.admit(0, 6, 1, 1048).is_ok(), "another queue");
        (0..469).for_each(|n| leaf.release(n % 4, 7, 1, 1048));
        assert_eq!((leaf.pool_bytes, leaf.egress_shared), (1048, 0));
    }
}
