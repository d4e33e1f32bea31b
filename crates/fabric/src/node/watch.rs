//! What is written down of ports for the watchdog and for reports.

use crate::id::{PortId, QueueId};
use xoff_engine::{Table, Time};

/// PFC frames a port has sent, the classes it last advertised as paused, and those that its peer did.
#[derive(Clone, Copy, Debug, Default)]
pub struct PfcFrames {
    pub pause: u64,
    pub resume: u64,
    pub refresh: u64,
    pub advertised: u8,
    pub heard: u8,
}

/// What is written down of the ports of a part for whoever watches over them.
#[derive(Debug, Default)]
pub struct Watch {
    /// Per port.
    pub frames: Table<PortId, PfcFrames>,
    /// Per (port, class), kept only where a watchdog looks: the last PAUSE received.
    pub(crate) last_pause: Table<QueueId, Time>,
    /// When a link last lost a packet by chance.
    pub bad_luck_at: Time,
}

impl Watch {
    #[inline]
    pub(crate) fn last_pause_at(&mut self, queue: QueueId, now: Time) {
        if let Some(at) = self.last_pause.get_mut(queue) {
            *at = now;
        }
    }
}
