//! Keeps the records of a run in memory, for programs that look at each of them.

use crate::drive::Sink;
use std::io;
use xoff_fabric::capture::{Frame, RawFrame};
use xoff_fabric::record::{FlowRecord, PauseRecord, Sample};
use xoff_scenario::traffic::JobInterval;

/// A sink that keeps what it receives, in the order in which it comes.
#[derive(Debug, Default)]
#[expect(missing_docs, reason = "each field is what the method of its name receives")]
pub struct Records {
    pub flows: Vec<FlowRecord>,
    pub pauses: Vec<PauseRecord>,
    pub samples: Vec<Sample>,
    pub frames: Vec<Frame>,
    pub raw_frames: Vec<RawFrame>,
    pub intervals: Vec<JobInterval>,
}

impl Sink for Records {
    fn flows(&mut self, flows: &[FlowRecord]) -> io::Result<()> {
        self.flows.extend_from_slice(flows);
        Ok(())
    }
    fn pauses(&mut self, pauses: &[PauseRecord]) -> io::Result<()> {
        self.pauses.extend_from_slice(pauses);
        Ok(())
    }
    fn samples(&mut self, samples: &[Sample]) -> io::Result<()> {
        self.samples.extend_from_slice(samples);
        Ok(())
    }
    fn frames(&mut self, frames: &[Frame]) -> io::Result<()> {
        self.frames.extend_from_slice(frames);
        Ok(())
    }
    fn raw_frames(&mut self, frames: &[RawFrame]) -> io::Result<()> {
        self.raw_frames.extend_from_slice(frames);
        Ok(())
    }
    fn intervals(&mut self, intervals: &[JobInterval]) -> io::Result<()> {
        self.intervals.extend_from_slice(intervals);
        Ok(())
    }
}
