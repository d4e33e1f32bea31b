//! State of a buffer: its pools, and what each ingress has stored.

use super::active::Active;
use super::number::real;

/// Sizes and use of the pools of a buffer, and the settings that all ingresses share.
#[derive(Clone, Debug, Default)]
pub struct Pools {
    /// Whole buffer, headroom included.
    pub bytes: u64,
    /// Bytes stored.
    pub used_bytes: u64,
    /// Bytes that no ingress was promised.
    pub shared_bytes: u64,
    /// Bytes of the shared pool in use; counted by rules that charge to it.
    pub shared_used: u64,
    /// Limit of all lossy classes together.
    pub lossy_bytes: u64,
    /// Bytes of lossy classes stored.
    pub lossy_used: u64,
    /// Bytes that an ingress has before it takes of the shared pool.
    pub reserve_bytes: u64,
    /// Distance of XON below XOFF.
    pub xon_offset_bytes: u64,
    /// Bytes beyond the reserve below which an ingress is at XON in any case.
    pub xon_floor_bytes: u64,
    /// What rules count that divide the pool among busy queues.
    pub active: Option<Box<Active>>,
}

impl Pools {
    /// Returns the bytes of the shared pool that are free.
    #[inline]
    pub fn free_bytes(&self) -> u64 {
        self.shared_bytes.saturating_sub(self.shared_used)
    }

    /// Returns `alpha` times the free shared pool: the dynamic threshold of Choudhury and Hahne (1998).
    #[inline]
    pub fn share(&self, alpha: f64) -> u64 {
        // Below 2^63, so that the short conversions do.
        (alpha * real(self.free_bytes())) as i64 as u64
    }

    /// Takes a packet that leaves off its ingress, headroom first, and off the shared pool.
    #[inline(always)]
    pub(super) fn take_off(&mut self, ingress: &mut Ingress, size_bytes: u64) {
        let before = self.shared_by(ingress);
        ingress.bytes -= size_bytes;
        ingress.in_headroom = ingress.in_headroom.saturating_sub(size_bytes);
        self.shared_used = self.shared_used + self.shared_by(ingress) - before;
    }

    /// Returns what is counted for a rule that divides the pool among busy queues.
    #[inline]
    pub(super) fn active(&self) -> &Active {
        self.active.as_deref().expect("a rule that counts has something to count in")
    }

    /// Returns the same to change it.
    #[inline]
    pub(super) fn active_mut(&mut self) -> &mut Active {
        self.active.as_deref_mut().expect("a rule that counts has something to count in")
    }

    /// Returns the bytes of an ingress beyond headroom and reserve: its use of the shared pool.
    #[inline]
    pub fn shared_by(&self, ingress: &Ingress) -> u64 {
        (ingress.bytes - ingress.in_headroom).saturating_sub(self.reserve_bytes)
    }
}

/// One ingress (port, class), the priority group of SAI: thresholds, and what is stored of it.
#[derive(Clone, Debug)]
pub struct Ingress {
    /// Bytes stored.
    pub bytes: u64,
    /// Most bytes stored.
    pub peak_bytes: u64,
    /// Static threshold; 0 where thresholds are dynamic.
    pub xoff_bytes: u64,
    /// Static XON; 0 where thresholds are dynamic.
    pub xon_bytes: u64,
    /// Bytes that may be stored above XOFF.
    pub headroom_bytes: u64,
    /// Bytes charged to headroom, by rules that charge to the shared pool.
    pub in_headroom: u64,
    /// Most bytes charged to headroom.
    pub headroom_peak: u64,
    /// Share of the free shared pool; 0 where thresholds are static.
    pub alpha: f64,
    /// Smallest dynamic threshold, reserve included, that a packet was compared with.
    pub lowest_xoff: u64,
    /// Under PFC.
    pub lossless: bool,
    /// The upstream is kept paused.
    pub pausing: bool,
    /// Its place among those of the switch, which [`Buffer::new`](super::Buffer::new) sets.
    pub place: u32,
}

impl Default for Ingress {
    fn default() -> Self {
        Ingress {
            bytes: 0,
            peak_bytes: 0,
            xoff_bytes: 0,
            xon_bytes: 0,
            headroom_bytes: 0,
            in_headroom: 0,
            headroom_peak: 0,
            alpha: 0.0,
            lowest_xoff: u64::MAX,
            lossless: true,
            pausing: false,
            place: 0,
        }
    }
}

impl Ingress {
    #[inline(always)]
    pub(super) fn store(&mut self, size_bytes: u64) {
        self.bytes += size_bytes;
        self.peak_bytes = self.peak_bytes.max(self.bytes);
    }

    /// Returns whether headroom is in use and has no room for a packet of this size.
    #[inline(always)]
    pub(super) fn lacks_headroom(&self, size_bytes: u64) -> bool {
        self.in_headroom > 0 && self.in_headroom + size_bytes > self.headroom_bytes
    }

    /// Charges a packet to headroom, whatever its limit.
    #[inline]
    pub(super) fn charge_headroom(&mut self, size_bytes: u64) {
        self.in_headroom += size_bytes;
        self.headroom_peak = self.headroom_peak.max(self.in_headroom);
    }
}
