//! RCC, regional congestion control (section 5): a window at one output queue.
//!
//! In every period of W bytes the harmful flows may send W_c; the rest of the period belongs to the
//! others. W and W_c start as what was sent until every harmful flow had sent once, and W_c only
//! shrinks: there is no increase, the limit is lifted when the port leaves the region.

use super::cfr::Ids;
use xoff_engine::{BitRate, LinkRate, Span, Time};
use xoff_fabric::scheme::{Lane, Lanes};

/// Sizes and gain of one port.
#[derive(Clone, Copy, Debug)]
pub struct WindowLaw {
    /// G_d
    pub gain: f64,
    /// The shortest and the longest W that a measurement may give.
    pub min_bytes: u64,
    pub max_bytes: u64,
    /// Floor of W_c.
    pub mtu_bytes: u64,
    pub rate: BitRate,
    /// Measured again when the list grows, not once.
    pub again: bool,
    /// One cut per period at most.
    pub one_cut: bool,
    /// Others go before harmful packets until they have sent W_nc.
    pub others_first: bool,
}

/// A window at work.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Window {
    /// W
    pub bytes: u64,
    /// W_c
    pub harmful_bytes: u64,
    sent_harmful: u64,
    sent_other: u64,
    start: Time,
    /// W 8/C
    length: Span,
    /// W_c has been cut in this period.
    was_cut: bool,
}

impl Window {
    pub(super) fn new(law: &WindowLaw, bytes: u64, harmful_bytes: u64, now: Time) -> Window {
        let length = LinkRate::new(law.rate).serialise(bytes.min(u64::from(u32::MAX)) as u32);
        let harmful_bytes = harmful_bytes.max(law.mtu_bytes);
        Window { bytes, harmful_bytes, sent_harmful: 0, sent_other: 0, start: now, length, was_cut: false }
    }

    /// Eq 5: W_c <- (1 - F_b G_d) W_c, not below one MTU.
    pub(super) fn cut(&mut self, law: &WindowLaw, degree: u8) {
        if law.one_cut && self.was_cut {
            return;
        }
        self.was_cut = true;
        let factor = (1.0 - f64::from(degree) * law.gain).max(0.0);
        self.harmful_bytes = ((self.harmful_bytes as f64 * factor).round() as u64).max(law.mtu_bytes);
    }

    /// Eq 6: W_nc = W - W_c.
    pub fn other_bytes(&self) -> u64 {
        self.bytes.saturating_sub(self.harmful_bytes)
    }

    /// The next period. A last packet that went beyond W_c is charged to it.
    fn restart(&mut self, law: &WindowLaw, now: Time) {
        let beyond = self.sent_harmful.saturating_sub(self.harmful_bytes);
        self.sent_harmful = beyond.min(law.mtu_bytes - 1);
        self.sent_other = 0;
        self.start = now;
        self.was_cut = false;
    }
}

/// Bytes sent since congestion was seen.
#[derive(Clone, Copy, Debug)]
struct Measure {
    bytes: u64,
    harmful_bytes: u64,
    /// Listed flows that have sent, and those that must.
    seen: u64,
    wanted: u64,
    /// The degree to apply once W is known.
    degree: Option<u8>,
}

/// The control of one output queue.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rcc {
    window: Option<Window>,
    measure: Option<Measure>,
}

impl Rcc {
    #[inline]
    pub fn window(&self) -> Option<&Window> {
        self.window.as_ref()
    }

    /// Local output congestion or a notification of this degree: eq 5, or first the measurement that
    /// it needs. `wanted` are the listed flows (by place in the list) that pass here.
    pub fn on_congestion(&mut self, law: &WindowLaw, degree: u8, wanted: u64) {
        match (&mut self.window, &mut self.measure) {
            (Some(window), _) => window.cut(law, degree),
            (None, Some(measure)) => measure.degree = Some(degree),
            (None, None) => self.begin(wanted, Some(degree)),
        }
    }

    /// The list of harmful flows is another. A measurement continues with the flows that are listed
    /// now, and W stays what it was. With `again` both begin anew, under the limits in force: with
    /// flows that were not in the list before, W_c no longer says what the listed ones send.
    pub fn on_list(&mut self, law: &WindowLaw, before: &Ids, now: &Ids, wanted: u64) {
        match &mut self.measure {
            Some(measure) if law.again => {
                let degree = measure.degree;
                self.begin(wanted, degree);
            }
            Some(measure) => {
                let had = |flow: &u32| before.position(*flow).is_some_and(|place| measure.seen & 1 << place != 0);
                let places = now.as_slice().iter().enumerate().filter(|(_, flow)| had(flow));
                measure.seen = places.fold(0, |mask, (place, _)| mask | 1 << place);
                measure.wanted = wanted;
            }
            None if law.again && self.window.is_some() && !before.covers(now) => self.begin(wanted, None),
            None => {}
        }
    }

    fn begin(&mut self, wanted: u64, degree: Option<u8>) {
        self.measure = Some(Measure { bytes: 0, harmful_bytes: 0, seen: 0, wanted, degree });
    }

    /// Both flags are clear.
    pub fn quit(&mut self) {
        *self = Rcc::default();
    }

    /// A packet was sent; `harmful` is its flow's place in the list.
    pub fn on_sent(&mut self, law: &WindowLaw, now: Time, frame_bytes: u32, harmful: Option<usize>) {
        let bytes = u64::from(frame_bytes);
        if let Some(window) = &mut self.window {
            match harmful {
                Some(_) => window.sent_harmful += bytes,
                None => window.sent_other += bytes,
            }
        }
        let Some(measure) = &mut self.measure else { return };
        measure.bytes += bytes;
        if let Some(place) = harmful {
            measure.harmful_bytes += bytes;
            measure.seen |= 1 << place;
        }
        let all = measure.seen & measure.wanted == measure.wanted && measure.bytes >= law.min_bytes;
        if all || measure.bytes >= law.max_bytes {
            let mut window = Window::new(law, measure.bytes, measure.harmful_bytes, now);
            if let Some(degree) = measure.degree {
                window.cut(law, degree);
            }
            self.window = Some(window);
            self.measure = None;
        }
    }

    /// Which lanes may send, and when that changes if nothing may. Harmful packets go until W_c is
    /// used; others go first, up to W_nc while harmful packets wait that still may.
    pub fn gate(&mut self, law: &WindowLaw, now: Time, waiting: Lanes) -> (Lanes, Option<Time>) {
        let Some(window) = &mut self.window else { return (Lanes::BOTH, None) };
        let only_harmful = !waiting.has(Lane::Free);
        let until = window.start + window.length;
        if window.sent_harmful + window.sent_other >= window.bytes || (only_harmful && now >= until) {
            window.restart(law, now);
        }
        if window.sent_harmful >= window.harmful_bytes {
            (Lanes::FREE, only_harmful.then(|| window.start + window.length))
        } else if !law.others_first || waiting != Lanes::BOTH {
            (Lanes::BOTH, None)
        } else if window.sent_other + law.mtu_bytes <= window.other_bytes() {
            // What another packet would take beyond W_nc would be missing in W_c.
            (Lanes::FREE, None)
        } else {
            (Lanes::HELD, None)
        }
    }
}
