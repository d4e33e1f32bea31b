//! What is written down of ports for the watchdog and for reports.

use crate::id::{PortId, QueueId};
use std::collections::{BTreeMap, HashMap, VecDeque};
use xoff_engine::{BitRate, Span, Table, Time};

/// PFC frames a port has sent, the classes it last advertised as paused, and those that its peer did.
#[derive(Clone, Copy, Debug, Default)]
pub struct PfcFrames {
    pub pause: u64,
    pub resume: u64,
    pub refresh: u64,
    pub advertised: u8,
    pub heard: u8,
    /// Classes whose PAUSE has a refresh timer.
    pub refreshing: u8,
}

/// What a PFC frame says of a class, until the port that received it obeys.
#[derive(Clone, Copy, Debug)]
pub struct Order {
    pub due: Time,
    pub pause: bool,
    /// How long a PAUSE lasts, as in the frame.
    pub lasts: Time,
}

/// PFC frames that were received and take effect later.
#[derive(Debug, Default)]
pub struct Responses {
    /// Per port: from the arrival of a frame to its effect. Empty where that is nothing at every port.
    pub delays: Table<PortId, Span>,
    /// In the order of arrival, so that no frame puts off one before it.
    pub orders: HashMap<QueueId, VecDeque<Order>>,
}

/// Links that failed, and what was lost on them: by link and time of the failure.
#[derive(Debug, Default)]
pub struct DeadLinks(BTreeMap<(u32, Time), Losses>);

/// Packets that were on a link or bound for it when it failed or after that.
#[derive(Clone, Copy, Debug, Default)]
pub struct Losses {
    pub packets: u64,
    pub last_at: Option<Time>,
}

impl DeadLinks {
    pub fn begin(&mut self, link: u32, now: Time) {
        self.0.entry((link, now)).or_default();
    }

    /// A link that is down has lost a packet.
    pub fn lost(&mut self, link: u32, now: Time) {
        if let Some((_, losses)) = self.0.range_mut((link, Time::ZERO)..=(link, now)).next_back() {
            losses.packets += 1;
            losses.last_at = losses.last_at.max(Some(now));
        }
    }

    /// By link and time of the failure.
    pub fn iter(&self) -> impl Iterator<Item = (u32, Time, Losses)> {
        self.0.iter().map(|(&(link, from), &losses)| (link, from, losses))
    }
}

/// What is written down of the ports of a part for whoever watches over them.
#[derive(Debug, Default)]
pub struct Watch {
    /// Per port, as far as any has sent or received one.
    frames: Table<PortId, PfcFrames>,
    /// Per (port, class), kept only where a watchdog looks: the last PAUSE received.
    pub(crate) last_pause: Table<QueueId, Time>,
    /// Frames on their way out when the rate of their port changed: when they have left, and the rate they are sent with.
    pub begun: HashMap<PortId, (Time, BitRate)>,
    pub responses: Responses,
    pub dead_links: DeadLinks,
    /// When a link last lost a packet by chance.
    pub bad_luck_at: Time,
}

impl Watch {
    pub fn frames(&self, port: PortId) -> PfcFrames {
        self.frames.get(port).copied().unwrap_or_default()
    }

    pub fn frames_mut(&mut self, port: PortId) -> &mut PfcFrames {
        self.frames.reach(port, PfcFrames::default)
    }

    #[inline]
    pub(crate) fn last_pause_at(&mut self, queue: QueueId, now: Time) {
        if let Some(at) = self.last_pause.get_mut(queue) {
            *at = now;
        }
    }
}
