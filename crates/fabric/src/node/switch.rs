//! A switch: its shared buffer, and the thresholds of its ingresses.

use crate::id::{AccountId, PortId};
use crate::network::plan::{ResumeAt, Signalling};
use crate::node::port::{Account, real};
use xoff_engine::Time;

/// A switch: its buffer and where its ingress accounts lie.
#[derive(Debug)]
pub struct Switch {
    pub node: u32,
    /// Its number among the switches of the network.
    pub name: u32,
    /// The number that its first ingress account would have if those of the network were counted through.
    pub first_account: u32,
    pub profile: u16,
    pub ports: Vec<PortId>,
    /// First of `ports * classes` accounts, by local port number.
    pub accounts: AccountId,
    pub buffer_bytes: u64,
    pub used_bytes: u64,
    pub dynamic: bool,
    pub reserve_bytes: u64,
    pub resume_offset_bytes: u64,
    pub shared_bytes: u64,
    pub shared_used: u64,
    pub lossy_bytes: u64,
    pub lossy_used: u64,
    pub signalling: Signalling,
    /// Its queues that are in a storm now.
    pub storms: u32,
    /// Looks at ingresses that are to come, where they have clocks of their own.
    pub looks: Vec<Look>,
}

/// An ingress will be looked at on behalf of an egress.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Look {
    pub account: AccountId,
    pub egress: PortId,
    pub at: Time,
}

impl Switch {
    /// Whether it looks at ingresses at arrivals and on clocks, and not when packets leave.
    #[inline]
    pub fn checks(&self) -> bool {
        matches!(self.signalling, Signalling::Timed { resume: ResumeAt::Checks, .. })
    }
}

/// What a congestion point knows its queue by ([`QueueFacts::queue`](crate::contract::scheme::QueueFacts)).
#[inline]
pub(crate) fn queue_number(port_name: u32, class: u8, slot: usize) -> u64 {
    (u64::from(port_name) * 8 + u64::from(class)) * 16 + slot as u64
}

/// The bytes above which an ingress would ask its upstream to stop now.
pub(crate) fn xoff_now(switch: &Switch, account: &Account) -> u64 {
    if !switch.dynamic {
        return account.xoff_bytes;
    }
    switch.reserve_bytes + dynamic_threshold(account.alpha, switch.shared_bytes, switch.shared_used)
}

/// The bytes at or below which an ingress that has paused its upstream would resume it now.
pub(crate) fn xon_now(switch: &Switch, account: &Account) -> u64 {
    if !switch.dynamic {
        return account.xon_bytes;
    }
    let threshold = dynamic_threshold(account.alpha, switch.shared_bytes, switch.shared_used);
    switch.reserve_bytes + threshold.saturating_sub(switch.resume_offset_bytes)
}

/// What one ingress may use of the shared pool now.
#[inline]
pub(crate) fn dynamic_threshold(alpha: f64, pool: u64, used: u64) -> u64 {
    // Below 2^63, so that the short conversions do.
    (alpha * real(pool.saturating_sub(used))) as i64 as u64
}
