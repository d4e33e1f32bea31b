//! Links as queues in memory, and a stranger who may write to them.

use std::collections::VecDeque;
use std::io;
use std::time::Duration;
use xoff_fabric::plan::{Plan, peer};
use xoff_live::Wires;

/// What somebody who hears a frame arrive at a port sends to that port after it.
pub type Stranger<'a> = dyn FnMut(u32, &[u8]) -> Vec<Vec<u8>> + 'a;

/// A queue for each end of each link.
pub struct Memory<'a> {
    queues: Vec<VecDeque<Vec<u8>>>,
    stranger: &'a mut Stranger<'a>,
}

impl<'a> Memory<'a> {
    pub fn new(plan: &Plan, stranger: &'a mut Stranger<'a>) -> Memory<'a> {
        Memory { queues: vec![VecDeque::new(); plan.ports()], stranger }
    }
}

impl Wires for Memory<'_> {
    fn send(&mut self, port: u32, frame: &[u8]) -> io::Result<bool> {
        let (to, queue) = (peer(port), &mut self.queues[peer(port) as usize]);
        queue.push_back(frame.to_vec());
        queue.extend((self.stranger)(to, frame));
        Ok(true)
    }
    fn receive(&mut self, port: u32, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        Ok(self.queues[port as usize].pop_front().map(|frame| {
            buffer[..frame.len()].copy_from_slice(&frame);
            frame.len()
        }))
    }
    fn wait(&mut self, _: Duration, ready: &mut Vec<u32>) -> io::Result<()> {
        ready.clear();
        Ok(())
    }
    fn lost(&mut self) -> io::Result<u64> {
        Ok(0)
    }
}
