//! What frames travel over.

use crate::testbed::Testbed;
use std::io;
use std::time::Duration;

/// Links between the ports of a plan.
pub trait Wires {
    /// Sends a frame by a port; `false` if it was not taken.
    fn send(&mut self, port: u32, frame: &[u8]) -> io::Result<bool>;
    /// The length of the next frame that came to a port, if there is one. Does not wait.
    fn receive(&mut self, port: u32, buffer: &mut [u8]) -> io::Result<Option<usize>>;
    /// Sleeps until a frame comes to a port, or for as long as told; `ready` then holds the ports that have frames.
    fn wait(&mut self, at_most: Duration, ready: &mut Vec<u32>) -> io::Result<()>;
    /// Frames that were sent and will not come.
    fn lost(&mut self) -> io::Result<u64>;
}

impl Wires for Testbed {
    fn send(&mut self, port: u32, frame: &[u8]) -> io::Result<bool> {
        Testbed::send(self, port, frame)
    }
    fn receive(&mut self, port: u32, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        Testbed::receive(self, port, buffer)
    }
    fn wait(&mut self, at_most: Duration, ready: &mut Vec<u32>) -> io::Result<()> {
        Testbed::wait(self, at_most, ready)
    }
    fn lost(&mut self) -> io::Result<u64> {
        Ok(Testbed::lost(self)? + self.refused())
    }
}

impl<W: Wires> Wires for &mut W {
    fn send(&mut self, port: u32, frame: &[u8]) -> io::Result<bool> {
        W::send(self, port, frame)
    }
    fn receive(&mut self, port: u32, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        W::receive(self, port, buffer)
    }
    fn wait(&mut self, at_most: Duration, ready: &mut Vec<u32>) -> io::Result<()> {
        W::wait(self, at_most, ready)
    }
    fn lost(&mut self) -> io::Result<u64> {
        W::lost(self)
    }
}
