//! Where there is no Linux there is no testbed: it is refused, and the rest of the program is the same.

use crate::refusal::Refusal;
use std::convert::Infallible;
use std::io;
use std::process::{Child, Command};
use std::time::Duration;
use xoff_fabric::plan::Plan;

/// Never built here.
pub struct Testbed {
    never: Infallible,
}

/// A node, and an interface for each of its ports that has one.
pub type Attachment = (u32, Vec<(u32, String)>);

impl Testbed {
    pub fn build(_: &Plan) -> Result<Testbed, Refusal> {
        Err(Refusal::NotLinux)
    }

    pub fn attach(_: &Plan, _: &[Attachment]) -> Result<Testbed, Refusal> {
        Err(Refusal::NotLinux)
    }

    pub fn send(&mut self, _: u32, _: &[u8]) -> io::Result<bool> {
        match self.never {}
    }

    pub fn receive(&mut self, _: u32, _: &mut [u8]) -> io::Result<Option<usize>> {
        match self.never {}
    }

    pub fn wait(&mut self, _: Duration, _: &mut Vec<u32>) -> io::Result<()> {
        match self.never {}
    }

    pub fn refused(&self) -> u64 {
        match self.never {}
    }

    pub fn lost(&mut self) -> io::Result<u64> {
        match self.never {}
    }

    pub fn receive_buffer_bytes(&self) -> io::Result<usize> {
        match self.never {}
    }

    pub fn interface(&self, _: u32) -> Option<&str> {
        match self.never {}
    }

    pub fn shell_hint(&self, _: u32) -> String {
        match self.never {}
    }

    pub fn enter(&self, _: u32, _: &mut Command) -> io::Result<Child> {
        match self.never {}
    }
}
