//! The shared buffer of a switch: what each ingress holds of it, and when that pauses or resumes its upstream.
//!
//! Rules and names are those of the plan ([`Thresholds`]); the simulator has its own code for them.

use crate::network::Network;
use xoff_fabric::pfc;
use xoff_fabric::plan::{SwitchSettings, Thresholds};

/// What came in by one port in one class and is still here.
#[derive(Clone, Debug)]
pub struct Ingress {
    /// Bytes of frames.
    pub bytes: u64,
    /// The most they were.
    pub peak_bytes: u64,
    in_headroom: u64,
    /// The most that was in headroom.
    pub headroom_peak: u64,
    rules: pfc::Ingress,
    /// The smallest threshold it was held against.
    pub lowest_xoff: u64,
    /// Under PFC.
    pub lossless: bool,
    /// Its upstream was told to stop.
    pub pausing: bool,
}

impl Ingress {
    /// What it may take beyond its threshold.
    pub fn headroom_bytes(&self) -> u64 {
        if self.lossless { self.rules.headroom_bytes } else { 0 }
    }
}

/// How thresholds follow what is free.
#[derive(Clone, Copy, Debug)]
struct Dynamic {
    reserve_bytes: u64,
    resume_offset_bytes: u64,
    resume_below_bytes: u64,
}

/// A switch's buffer.
#[derive(Debug)]
pub struct Buffer {
    /// All of it.
    pub bytes: u64,
    /// In use.
    pub used_bytes: u64,
    dynamic: Option<Dynamic>,
    shared_bytes: u64,
    shared_used: u64,
    lossy_bytes: u64,
    lossy_used: u64,
    classes: usize,
    /// By local port, then class.
    ingresses: Vec<Ingress>,
}

/// What becomes of a frame that asks for room.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Admission {
    /// It is in.
    Taken {
        /// Its ingress is above XOFF.
        above: bool,
        /// It has just risen above it.
        rises: bool,
    },
    /// No room in a lossy class.
    Dropped,
    /// No room in a lossless class, at this threshold.
    Refused(u64),
}

impl Buffer {
    /// Empty.
    pub fn new(network: &Network, settings: &SwitchSettings, ports: &[u32]) -> Buffer {
        let plan = &network.plan;
        let mut reserved = 0;
        let mut ingresses = Vec::new();
        for &port in ports {
            let rules = pfc::ingress(plan, &settings.pfc, port, network.mtu_wire_bytes);
            reserved += pfc::set_aside(plan, &settings.pfc, &rules);
            ingresses.extend(plan.classes.list.iter().map(|class| Ingress {
                bytes: 0,
                peak_bytes: 0,
                in_headroom: 0,
                headroom_peak: 0,
                rules,
                lowest_xoff: u64::MAX,
                lossless: class.lossless,
                pausing: false,
            }));
        }
        let shared_bytes = settings.buffer_bytes.saturating_sub(reserved);
        Buffer {
            bytes: settings.buffer_bytes,
            used_bytes: 0,
            dynamic: match settings.pfc.thresholds {
                Thresholds::Static { .. } => None,
                Thresholds::Dynamic { reserve_bytes, resume_offset_bytes, resume_below_bytes, .. } => {
                    Some(Dynamic { reserve_bytes, resume_offset_bytes, resume_below_bytes })
                }
            },
            shared_bytes,
            shared_used: 0,
            lossy_bytes: pfc::lossy_bytes(shared_bytes, settings.buffer_bytes),
            lossy_used: 0,
            classes: plan.classes.list.len(),
            ingresses,
        }
    }

    /// An ingress, by local port and class.
    pub fn ingress(&self, local: usize, class: u8) -> &Ingress {
        &self.ingresses[local * self.classes + usize::from(class)]
    }

    /// The same, to be changed.
    pub fn ingress_mut(&mut self, local: usize, class: u8) -> &mut Ingress {
        &mut self.ingresses[local * self.classes + usize::from(class)]
    }

    /// The bytes above which an ingress would pause its upstream now.
    pub fn xoff_now(&self, local: usize, class: u8) -> u64 {
        let ingress = self.ingress(local, class);
        match &self.dynamic {
            None => ingress.rules.xoff_bytes,
            Some(dynamic) => dynamic.reserve_bytes + self.threshold(ingress),
        }
    }

    /// Whether an ingress is above XOFF, so that its PAUSE must be repeated.
    pub fn is_above(&self, local: usize, class: u8) -> bool {
        let ingress = self.ingress(local, class);
        if self.dynamic.is_some() { ingress.in_headroom > 0 } else { ingress.bytes > ingress.rules.xoff_bytes }
    }

    /// The least that a lossless ingress holds when it is paused, alone in the buffer.
    pub fn paused_from(&self) -> Option<u64> {
        let lossless = self.ingresses.iter().filter(|ingress| ingress.lossless);
        lossless
            .map(|ingress| match &self.dynamic {
                Some(dynamic) => pfc::paused_alone(self.shared_bytes, ingress.rules.alpha, dynamic.reserve_bytes),
                None => ingress.rules.xoff_bytes,
            })
            .min()
    }

    fn threshold(&self, ingress: &Ingress) -> u64 {
        (ingress.rules.alpha * self.shared_bytes.saturating_sub(self.shared_used) as f64) as u64
    }

    /// A frame of `size` bytes wants in; its egress queue holds `queue_bytes` of at most `queue_limit`.
    pub fn admit(&mut self, local: usize, class: u8, size: u64, queue_bytes: u64, queue_limit: u64) -> Admission {
        let index = local * self.classes + usize::from(class);
        if !self.ingresses[index].lossless {
            return self.admit_lossy(index, size, queue_bytes + size > queue_limit);
        }
        if self.used_bytes + size > self.bytes {
            return Admission::Refused(self.xoff_now(local, class));
        }
        let admission =
            if self.dynamic.is_some() { self.charge_dynamic(index, size) } else { self.charge(index, size) };
        if let Admission::Taken { .. } = admission {
            let ingress = &mut self.ingresses[index];
            ingress.bytes += size;
            ingress.peak_bytes = ingress.peak_bytes.max(ingress.bytes);
            self.used_bytes += size;
        }
        admission
    }

    fn admit_lossy(&mut self, index: usize, size: u64, queue_is_full: bool) -> Admission {
        let pool_is_full = self.dynamic.is_some() && self.shared_used + size > self.shared_bytes;
        let full = self.lossy_used + size > self.lossy_bytes || self.used_bytes + size > self.bytes;
        if queue_is_full || pool_is_full || full {
            return Admission::Dropped;
        }
        let ingress = &mut self.ingresses[index];
        ingress.bytes += size;
        ingress.peak_bytes = ingress.peak_bytes.max(ingress.bytes);
        self.lossy_used += size;
        self.used_bytes += size;
        if self.dynamic.is_some() {
            self.shared_used += size;
        }
        Admission::Taken { above: false, rises: false }
    }

    /// Static thresholds.
    fn charge(&mut self, index: usize, size: u64) -> Admission {
        let ingress = &mut self.ingresses[index];
        let (xoff, bytes) = (ingress.rules.xoff_bytes, ingress.bytes + size);
        ingress.lowest_xoff = xoff;
        if bytes > xoff + ingress.rules.headroom_bytes {
            return Admission::Refused(xoff);
        }
        ingress.headroom_peak = ingress.headroom_peak.max(bytes.saturating_sub(xoff));
        Admission::Taken { above: bytes > xoff, rises: ingress.bytes <= xoff }
    }

    /// Thresholds that follow the free pool: what finds no room within goes to headroom.
    fn charge_dynamic(&mut self, index: usize, size: u64) -> Admission {
        let reserve = self.dynamic.map_or(0, |dynamic| dynamic.reserve_bytes);
        let threshold = self.threshold(&self.ingresses[index]);
        let ingress = &mut self.ingresses[index];
        ingress.lowest_xoff = ingress.lowest_xoff.min(threshold + reserve);
        let pooled = ingress.bytes - ingress.in_headroom;
        let (before, mut after) = (pooled.saturating_sub(reserve), (pooled + size).saturating_sub(reserve));
        let within = ingress.in_headroom == 0;
        if after <= threshold && self.shared_used + (after - before) <= self.shared_bytes {
            self.shared_used += after - before;
        } else if ingress.in_headroom + size <= ingress.rules.headroom_bytes {
            ingress.in_headroom += size;
            ingress.headroom_peak = ingress.headroom_peak.max(ingress.in_headroom);
            after = before;
        } else {
            return Admission::Refused(threshold + reserve);
        }
        let spills = ingress.in_headroom > 0;
        let threshold = self.threshold(&self.ingresses[index]);
        Admission::Taken { above: spills || after >= threshold, rises: within && spills }
    }

    /// A frame has left; whether its ingress may resume its upstream.
    pub fn release(&mut self, local: usize, class: u8, size: u64) -> bool {
        let index = local * self.classes + usize::from(class);
        let ingress = &mut self.ingresses[index];
        self.used_bytes -= size;
        if !ingress.lossless {
            ingress.bytes -= size;
            self.lossy_used -= size;
            if self.dynamic.is_some() {
                self.shared_used -= size;
            }
            return false;
        }
        let Some(dynamic) = self.dynamic else {
            ingress.bytes -= size;
            return ingress.pausing && ingress.bytes <= ingress.rules.xon_bytes;
        };
        let pooled = |ingress: &Ingress| (ingress.bytes - ingress.in_headroom).saturating_sub(dynamic.reserve_bytes);
        let before = pooled(ingress);
        ingress.bytes -= size;
        ingress.in_headroom = ingress.in_headroom.saturating_sub(size);
        let after = pooled(ingress);
        self.shared_used = self.shared_used + after - before;
        let ingress = &self.ingresses[index];
        let low = after < dynamic.resume_below_bytes || after + dynamic.resume_offset_bytes <= self.threshold(ingress);
        ingress.pausing && ingress.in_headroom == 0 && low
    }
}
