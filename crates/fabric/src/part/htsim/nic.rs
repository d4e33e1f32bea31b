//! A NIC starts one packet per time that it takes on the wire: flows take turns, and where control waits as well, ten
//! control packets go for one of data.

use super::host_queue::Level;
use super::{Frame, What, happens};
use crate::contract::scheme::Scheme;
use crate::id::HostId;
use crate::part::Part;
use std::collections::VecDeque;

/// Turns after which data has one, while control waits.
const TURNS: u8 = 11;

/// NIC of one host.
#[derive(Default)]
pub(super) struct Nic {
    busy: bool,
    /// Flows that wait for their turn, by their numbers among the senders.
    waiting: VecDeque<u32>,
    control: VecDeque<Frame>,
    turn: u8,
}

impl Nic {
    /// Whether it is the turn of data, where control waits too.
    fn is_turn_of_data(&mut self) -> bool {
        self.turn = (self.turn + 1) % TURNS;
        self.turn == 0
    }
}

impl<S: Scheme> Part<S> {
    /// A flow wants to send. Whether it may at once; else it is called when it may.
    pub(super) fn htsim_request_nic(&mut self, host: HostId, flow: u32) -> bool {
        let nic = &mut self.dialect().nics[host];
        if nic.busy {
            nic.waiting.push_back(flow);
        }
        !nic.busy
    }

    /// A flow has sent so many bytes, in its turn if it has waited.
    pub(super) fn htsim_start_nic(&mut self, host: HostId, bytes: u16) {
        let nic = &mut self.dialect().nics[host];
        nic.waiting.pop_front();
        nic.busy = true;
        let at = self.now + self.htsim_serialise(self.hosts[host].port, bytes);
        self.schedule(at, happens::NIC, host.get());
    }

    /// A flow whose turn it is has nothing to send.
    pub(super) fn htsim_pass_nic(&mut self, host: HostId) {
        let nic = &mut self.dialect().nics[host];
        nic.waiting.pop_front();
        match nic.waiting.front() {
            Some(&flow) => self.htsim_turn(flow),
            None => self.htsim_send_control(host),
        }
    }

    /// A control packet of a host.
    pub(super) fn htsim_control(&mut self, host: HostId, frame: Frame) {
        let nic = &mut self.dialect().nics[host];
        nic.control.push_back(frame);
        if !nic.busy {
            self.htsim_send_control(host);
        }
    }

    fn htsim_send_control(&mut self, host: HostId) {
        let nic = &mut self.dialect().nics[host];
        let Some(frame) = nic.control.pop_front() else { return };
        nic.busy = true;
        let at = self.now + self.htsim_serialise(self.hosts[host].port, frame.bytes);
        self.schedule(at, happens::NIC, host.get());
        let number = self.htsim_number(&frame);
        let level = if frame.what == What::Probe { Level::Data } else { Level::Control };
        self.htsim_host_send(host, level, number, frame);
    }

    pub(super) fn htsim_nic_free(&mut self, host: HostId) {
        let nic = &mut self.dialect().nics[host];
        nic.busy = false;
        let waiting = nic.waiting.front().copied();
        match waiting {
            Some(flow) if nic.control.is_empty() || nic.is_turn_of_data() => self.htsim_turn(flow),
            _ => self.htsim_send_control(host),
        }
    }

    /// What a frame is known by: numbers of senders are odd, and answers have the next.
    pub(super) fn htsim_number(&mut self, frame: &Frame) -> u64 {
        let back = matches!(frame.what, What::Ack | What::Nack);
        self.dialect().senders[frame.flow as usize].number + u64::from(back)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_has_the_last_of_eleven_turns() {
        let mut nic = Nic::default();
        let turns: Vec<bool> = (0..22).map(|_| nic.is_turn_of_data()).collect();
        assert!(turns.iter().enumerate().all(|(turn, data)| *data == (turn % 11 == 10)), "{turns:?}");
    }
}
