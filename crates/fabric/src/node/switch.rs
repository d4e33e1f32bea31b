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
    pub rule: Rule,
    pub reserve_bytes: u64,
    pub resume_offset_bytes: u64,
    pub resume_below_bytes: u64,
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

/// How its ingresses are charged and paused.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rule {
    Static,
    Dynamic,
    /// Dynamic, and an ingress that uses headroom goes on to until it is empty.
    Latched,
}

impl Switch {
    /// Whether thresholds move with what is free.
    #[inline]
    pub fn is_dynamic(&self) -> bool {
        self.rule != Rule::Static
    }

    /// Whether it looks at ingresses at arrivals and on clocks, and not when packets leave.
    #[inline]
    pub fn checks(&self) -> bool {
        matches!(self.signalling, Signalling::Timed { resume: ResumeAt::Checks, .. })
    }
}

/// The bytes above which an ingress would ask its upstream to stop now.
pub(crate) fn xoff_now(switch: &Switch, account: &Account) -> u64 {
    if !switch.is_dynamic() {
        return account.xoff_bytes;
    }
    switch.reserve_bytes + dynamic_threshold(account.alpha, switch.shared_bytes, switch.shared_used)
}

/// The bytes at or below which an ingress that has paused its upstream would resume it now.
pub(crate) fn xon_now(switch: &Switch, account: &Account) -> u64 {
    if !switch.is_dynamic() {
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

/// Charges a packet of `size` bytes to an ingress under [`Rule::Latched`]: to the shared pool, or to headroom; `false`
/// if there is no room. The threshold is that of the pool with the packet in it, so it is lower by alpha times its
/// size than one that is worked out before.
#[cold]
#[inline(never)]
pub(crate) fn charge_latched(switch: &mut Switch, account: &mut Account, size: u64) -> bool {
    if account.in_headroom > 0 {
        if account.in_headroom + size > account.headroom_bytes {
            return false;
        }
        account.in_headroom += size;
        return true;
    }
    let reserve = switch.reserve_bytes;
    let more = (account.bytes + size).saturating_sub(reserve) - account.bytes.saturating_sub(reserve);
    let threshold = dynamic_threshold(account.alpha, switch.shared_bytes, switch.shared_used + more);
    account.lowest_xoff = account.lowest_xoff.min(threshold + reserve);
    if (account.bytes + size).saturating_sub(reserve) > threshold {
        // The first may be larger than the headroom is.
        account.in_headroom = size;
    } else {
        switch.shared_used += more;
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    fn switch() -> Switch {
        Switch {
            node: 0,
            name: 0,
            first_account: 0,
            profile: 0,
            ports: Vec::new(),
            accounts: AccountId::new(0),
            buffer_bytes: 90_000,
            used_bytes: 0,
            rule: Rule::Latched,
            reserve_bytes: 0,
            resume_offset_bytes: 2_496,
            resume_below_bytes: 1_248,
            shared_bytes: 90_000,
            shared_used: 0,
            lossy_bytes: 0,
            lossy_used: 0,
            signalling: Signalling::OnOff,
            storms: 0,
            looks: Vec::new(),
        }
    }

    fn account() -> Account {
        Account {
            bytes: 0,
            peak_bytes: 0,
            xoff_bytes: 0,
            xon_bytes: 0,
            headroom_bytes: 2_500,
            in_headroom: 0,
            alpha: 0.125,
            lowest_xoff: u64::MAX,
            port: PortId::new(0),
            class: 0,
            lossless: true,
            pausing: false,
            refresh_pending: false,
        }
    }

    #[test]
    fn an_ingress_that_spills_goes_on_until_headroom_is_full() {
        // Alpha 1/8: an ingress of b bytes is above (90000 - b) / 8 from 10001 on.
        let (mut switch, mut account) = (switch(), account());
        for packet in 1..=13 {
            let charged = charge_latched(&mut switch, &mut account, 1_000);
            account.bytes += u64::from(charged) * 1_000;
            let expected = match packet {
                ..=10 => (true, packet * 1_000, 0),
                // 11000 B are above (90000 - 11000) / 8 = 9875.
                11 | 12 => (true, 10_000, (packet - 10) * 1_000),
                _ => (false, 10_000, 2_000),
            };
            assert_eq!((charged, switch.shared_used, account.in_headroom), expected, "packet {packet}");
        }
        assert_eq!(account.lowest_xoff, 9_875);
        assert_eq!(xoff_now(&switch, &account), 10_000);
    }

    #[test]
    fn the_first_that_spills_may_be_larger_than_headroom() {
        let (mut switch, mut account) = (switch(), Account { headroom_bytes: 100, ..account() });
        assert!(charge_latched(&mut switch, &mut account, 10_001));
        assert_eq!((switch.shared_used, account.in_headroom), (0, 10_001));
        assert!(!charge_latched(&mut switch, &mut account, 1));
    }
}
