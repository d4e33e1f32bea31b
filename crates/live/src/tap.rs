//! Captures of a live run: the bytes themselves, as they were handed to the kernel.

use crate::egress::{SentFrame, frame_bytes};
use xoff_fabric::capture::{Capture, RawFrame};
use xoff_scenario::number::brief_bytes;

#[derive(Debug, Default)]
pub struct Taps {
    captures: Vec<Tap>,
    /// Frames that nobody has taken yet.
    pub frames: Vec<RawFrame>,
}

#[derive(Debug)]
struct Tap {
    capture: Capture,
    taken: u64,
    missed: u64,
}

impl Taps {
    pub fn new(captures: impl Iterator<Item = Capture>) -> Taps {
        let tap = |capture| Tap { capture, taken: 0, missed: 0 };
        Taps { captures: captures.map(tap).collect(), frames: Vec::new() }
    }

    pub fn see(&mut self, port: u32, frame: &SentFrame) {
        for (number, tap) in (0..).zip(&mut self.captures) {
            let capture = &tap.capture;
            let within = capture.from <= frame.began && frame.began <= capture.until;
            if !within || !capture.ports.contains(&port) {
                continue;
            }
            if tap.taken == capture.frames {
                tap.missed += 1;
                continue;
            }
            tap.taken += 1;
            let mut said = Vec::new();
            if frame.left_bytes > 0 {
                said.push(format!("leaves {} in its queue", brief_bytes(frame.left_bytes)));
            }
            if tap.taken == capture.frames {
                said.push("the capture's limit is reached: frames after this one are not in it".to_owned());
            }
            self.frames.push(RawFrame {
                capture: number,
                at: frame.began,
                port,
                bytes: frame.bytes.clone(),
                frame_bytes: frame_bytes(&frame.bytes) as u16,
                comment: said.join("; "),
            });
        }
    }

    /// Per capture: frames that came after its limit.
    pub fn missed(&self) -> Vec<u64> {
        self.captures.iter().map(|tap| tap.missed).collect()
    }
}
