//! IRN as ConWeave's simulator has it: a sender goes back after a NACK and skips what is acknowledged selectively.
//!
//! This is not the paper's recovery: packets that were merely in flight when the NACK came are sent twice. It serves
//! comparisons with that simulator (rdma-hw.cc, rdma-queue-pair.cc). The timer is set by every packet and every answer,
//! for a time by how much was outstanding then. In a lossless class, where its timer does nothing, that of go-back-N
//! runs. That a NACK asks for a rate cut is a rule of its receivers
//! ([`Dialect`](crate::network::plan::Dialect)), and so is when a sender passes over what was acknowledged
//! selectively: wherever its NIC looks at the flow; here at once.

use super::received_bitmap::KEPT_MOST;
use super::{
    Ack, Answer, Arrival, Conditions, Outgoing, Progress, ReceiveSequence, ReceivedBitmap, RequesterRules,
    ResponderRules, Selective, SendSequence, Taken, TimedOut,
};
use crate::contract::scheme::{Format, Loss, Transport};
use crate::network::plan::{HostSettings, Recovery};
use std::ops::Range;
use xoff_engine::{Span, Time};

/// With more packets outstanding, the long time-out is set.
const FEW_PACKETS: u32 = 3;
/// A packet that is held already is answered again no sooner than this.
const REPEAT_INTERVAL: Span = Span::from_us(4);

#[derive(Debug)]
pub(super) struct Requester {
    /// Packets beyond `una` that the receiver has and that were not passed over yet, in order.
    blocks: Vec<Range<u32>>,
    recovering: bool,
    /// PSN after what was sent when the recovery began.
    recovery_end: u32,
    cap_bytes: u64,
    /// Largest cumulative acknowledgement; `una` may be beyond it.
    highest_ack: u32,
    /// The NIC says when it looks at the flow.
    looked_at: bool,
    /// Time-outs, the short one first.
    rto: [Span; 2],
}

/// Out of line: go-back-N, which most flows have, does not pay for them.
impl RequesterRules for Requester {
    fn new(conditions: &Conditions<'_>) -> Option<Requester> {
        let Recovery::IrnRewind(settings) = conditions.recovery() else { return None };
        let most = u64::from(KEPT_MOST) * u64::from(conditions.sender.mtu_bytes);
        Some(Requester {
            blocks: Vec::new(),
            recovering: false,
            recovery_end: 0,
            cap_bytes: settings.window_bytes.unwrap_or(conditions.max_bdp_bytes).min(most),
            highest_ack: 0,
            looked_at: false,
            rto: conditions.irn_timeouts(&settings),
        })
    }

    #[inline(never)]
    fn may_send(&self, seq: &SendSequence) -> bool {
        let payload_until = |psn| seq.stream.payload_until(psn);
        let acked = payload_until(self.highest_ack);
        let highest = payload_until(seq.highest.saturating_sub(1).max(self.highest_ack));
        let size = if seq.next < seq.limit() { payload_until(seq.next + 1) - payload_until(seq.next) } else { 0 };
        let within_cap = highest - acked + size < self.cap_bytes || acked + self.cap_bytes > payload_until(seq.next);
        within_cap && seq.window_is_open()
    }

    #[inline(never)]
    fn next(&mut self, seq: &mut SendSequence, now: Time) -> Outgoing {
        let psn = seq.next;
        seq.next += 1;
        let outgoing = seq.send(psn, |_| true);
        self.set_timer(seq, now);
        self.skip_at_once(seq);
        // Every packet is answered.
        Outgoing { requests_ack: true, ..outgoing }
    }

    #[inline(never)]
    fn on_ack(&mut self, seq: &mut SendSequence, now: Time, ack: &Ack) -> Progress {
        let before = seq.stream.payload_until(seq.una);
        seq.acknowledge(ack.expected);
        self.highest_ack = self.highest_ack.max(ack.expected);
        if let Some(Selective { psn, .. }) = ack.selective.filter(|selective| selective.psn < seq.highest) {
            self.insert(psn);
        }
        if let Some(block) = self.blocks.first().filter(|block| block.start == seq.una) {
            seq.acknowledge(block.end);
        }
        self.blocks.retain(|block| block.end > seq.una);
        if let Some(block) = self.blocks.first_mut() {
            block.start = block.start.max(seq.una);
        }
        self.recovering &= seq.una < self.recovery_end;
        if self.looked_at {
            self.skip(seq);
        }
        if seq.una < seq.next {
            self.set_timer(seq, now);
        } else if !self.looked_at {
            seq.deadline = Time::NEVER;
        }
        let begins = ack.selective.is_some() && !self.recovering;
        let rewinds = begins && seq.una < seq.next;
        if begins {
            self.recovery_end = seq.next;
            seq.next = seq.una;
        }
        self.recovering = ack.selective.is_some();
        self.skip_at_once(seq);
        Progress { lost: rewinds.then_some(Loss::Nak), ..seq.progress(before, false) }
    }

    #[inline(never)]
    fn on_timeout(&mut self, seq: &mut SendSequence, _now: Time) -> Option<TimedOut> {
        self.recovering = true;
        seq.next = seq.una;
        seq.deadline = Time::NEVER;
        self.skip_at_once(seq);
        Some(TimedOut { psn: seq.una, bytes: 0 })
    }

    #[inline(never)]
    fn look(&mut self, seq: &mut SendSequence) {
        self.looked_at = true;
        self.skip(seq);
    }
}

impl Requester {
    fn set_timer(&mut self, seq: &mut SendSequence, now: Time) {
        let many = seq.highest > self.highest_ack + FEW_PACKETS + 1;
        seq.deadline = now + self.rto[usize::from(many)];
    }

    /// Adds a packet to the blocks and joins what touches.
    fn insert(&mut self, psn: u32) {
        let at = self.blocks.partition_point(|block| block.end < psn);
        match self.blocks.get_mut(at) {
            Some(block) if block.start <= psn + 1 => {
                (block.start, block.end) = (block.start.min(psn), block.end.max(psn + 1));
                if self.blocks.get(at + 1).is_some_and(|after| after.start == self.blocks[at].end) {
                    self.blocks[at].end = self.blocks.remove(at + 1).end;
                }
            }
            _ => self.blocks.insert(at, psn..psn + 1),
        }
    }

    /// [`Requester::skip`], if the NIC does not say when it looks.
    fn skip_at_once(&mut self, seq: &mut SendSequence) {
        if !self.looked_at {
            self.skip(seq);
        }
    }

    /// Passes over the first block if it is next, and forgets it.
    fn skip(&mut self, seq: &mut SendSequence) {
        if let Some(block) = self.blocks.first().filter(|block| block.start == seq.next) {
            seq.next = block.end;
            self.blocks.remove(0);
        }
    }
}

/// Boxed: few flows have one, and every receiver has room for it.
#[derive(Debug)]
pub(super) struct Responder(Box<Held>);

#[derive(Debug, Default)]
struct Held {
    kept: ReceivedBitmap,
    /// When a packet that is held is answered again.
    repeat_at: Time,
}

impl ResponderRules for Responder {
    fn new(format: &Format, host: &HostSettings) -> Option<Responder> {
        let rewinds = matches!(host.recovery, Recovery::IrnRewind(_)) && format.transport == Transport::Roce;
        rewinds.then(|| Responder(Box::default()))
    }

    fn needs_slow_path(&self) -> bool {
        !self.0.kept.is_empty()
    }

    fn on_data(&mut self, seq: &mut ReceiveSequence, now: Time, data: &Arrival) -> Taken {
        let Responder(state) = self;
        let taken = seq.take(&mut state.kept, data.psn);
        let ahead = data.psn > seq.expected;
        if ahead && !taken.kept && now < state.repeat_at {
            return taken;
        }
        if ahead {
            state.repeat_at = now + REPEAT_INTERVAL;
        }
        let gap = !state.kept.is_empty();
        let mut answer = Answer::new(seq.expected, gap, data.echo);
        answer.ack.selective = gap.then_some(Selective { psn: data.psn, received: 0 });
        Taken { answer: Some(answer), ..taken }
    }

    fn kept(&self) -> Option<u32> {
        Some(self.0.kept.count())
    }
}
