//! Sending end of a flow: its transport, its pacing and what its record counts.

use crate::network::Spraying;
use std::collections::BTreeSet;
use xoff_engine::{Numbered, Span, Time};
use xoff_fabric::capture::{Body, Data, FlowName, Marked};
use xoff_fabric::forwarding::PathChoice;
use xoff_fabric::pacing::Pacing;
use xoff_fabric::packet::{Ecn, IntStack};
use xoff_fabric::scheme::{Format, Loss};
use xoff_fabric::transport::messages::Cut;
use xoff_fabric::transport::{Outgoing, Requester};
use xoff_wire::Unwrap;

#[derive(Debug)]
pub struct Sender<Rp> {
    /// Decides on rate and window.
    pub rp: Rp,
    pub flow: FlowName,
    pub format: Format,
    pub requester: Requester,
    /// Decides when.
    pub pacing: Pacing,
    /// Departures of packets that are not acknowledged: not every ACK carries one back.
    pub sent: Numbered<SentPacket>,
    /// Where every packet may take another path.
    pub entropies: Option<Entropies>,
    /// Payload of the whole flow; `None` is endless, or messages.
    pub size_bytes: Option<u64>,
    pub offered_bytes: u64,
    /// Frame bytes that are not payload.
    pub header_bytes: u32,
    /// Shorter frames are padded to it.
    pub min_frame_bytes: u32,
    /// The timer event that counts.
    pub due: Time,
    /// Round trip of its path on an idle network.
    pub base_rtt: Span,
    /// Makes telemetry whole.
    pub unwrap: Unwrap,
    /// What the record of the flow will say.
    pub tally: Tally,
}

/// Packet that is not acknowledged.
#[derive(Clone, Copy, Debug)]
pub struct SentPacket {
    /// Time of its last transmission.
    pub sent_at: Time,
    pub resent: bool,
    /// The path that it took, by number.
    pub path: u16,
}

/// Chooses the path of each packet: its number is added to the flow's UDP source port, which switches hash.
pub struct Entropies {
    choice: Box<dyn PathChoice>,
    paths: u16,
    /// ACKs come with the entropy of their data.
    in_acks: bool,
    /// Those that were chosen so far.
    pub used: BTreeSet<u16>,
}

impl std::fmt::Debug for Entropies {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Entropies").field("paths", &self.paths).field("used", &self.used).finish_non_exhaustive()
    }
}

impl Entropies {
    pub fn new(of: &Spraying, choice: Box<dyn PathChoice>) -> Entropies {
        Entropies { choice, paths: of.paths, in_acks: of.ack_has_entropy, used: BTreeSet::new() }
    }

    fn pick(&mut self, now: Time, psn: u32) -> u16 {
        let path = self.choice.pick(now, psn, self.paths);
        self.used.insert(path);
        path
    }
}

/// What a sender counts.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tally {
    pub sent_wire_bytes: u64,
    pub packets_sent: u64,
    pub packets_retransmitted: u64,
    pub timeouts: u32,
    pub notifications: u64,
    pub first_notified: Option<Time>,
}

impl<Rp> Sender<Rp> {
    pub fn next(&mut self, now: Time) -> Outgoing {
        let outgoing = self.requester.next(now);
        let path = self.entropies.as_mut().map_or(0, |entropies| entropies.pick(now, outgoing.psn));
        self.sent.set(outgoing.psn, SentPacket { sent_at: now, resent: outgoing.resent, path });
        outgoing
    }

    /// An ACK or NAK came with this UDP source port.
    pub fn path_answered(&mut self, now: Time, port: u16, ecn: Ecn, rtt: Span) {
        let path = port.wrapping_sub(self.flow.src_port);
        if let Some(entropies) = self.entropies.as_mut().filter(|of| of.in_acks && path < of.paths) {
            entropies.choice.on_ack(now, path, ecn, rtt);
        }
    }

    /// A packet counts as lost.
    pub fn path_lost(&mut self, now: Time, psn: u32, loss: Loss) {
        if let (Some(entropies), Some(sent)) = (&mut self.entropies, self.sent.get(psn)) {
            entropies.choice.on_loss(now, sent.path, loss);
        }
    }

    pub fn payload_until(&self, packets: u32) -> u64 {
        self.requester.seq.stream.payload_until(packets)
    }

    pub fn frame_bytes(&self, psn: u32) -> u32 {
        let payload = self.payload_until(psn + 1) - self.payload_until(psn);
        (self.header_bytes + payload as u32).max(self.min_frame_bytes)
    }

    pub fn send(&mut self, bytes: u64, name: u32) {
        let mtu_bytes = self.requester.seq.stream.mtu_bytes;
        let (header_bytes, min_frame_bytes) = (self.header_bytes, self.min_frame_bytes);
        self.requester.seq.add_message(bytes, name, Cut { mtu_bytes, header_bytes, min_frame_bytes });
    }

    /// Content of a data packet that leaves now.
    pub fn body(&self, packet: Outgoing, now: Time) -> Body {
        let Outgoing { psn, resent, requests_ack } = packet;
        let seq = &self.requester.seq;
        let message = seq.stream.messages.as_ref().and_then(|messages| messages.of(psn));
        let begin = message.map_or(0, |message| message.begin.packets);
        let offset_bytes = self.payload_until(psn);
        let path = self.sent.get(psn).map_or(0, |sent| sent.path);
        Body::Data(Data {
            flow: FlowName { src_port: self.flow.src_port.wrapping_add(path), ..self.flow },
            psn,
            begin,
            total: message.map(|message| message.end.packets).or((seq.total != u32::MAX).then_some(seq.total)),
            size_bytes: message.map(|message| message.end.bytes - message.begin.bytes).or(self.size_bytes),
            offset_bytes,
            payload_bytes: (self.payload_until(psn + 1) - offset_bytes) as u32,
            first_frame_bytes: self.frame_bytes(begin) as u16,
            sent_at: now,
            resent,
            whole_frame_bytes: None,
            asks_ack: requests_ack,
            format: self.format,
            int: self.format.int.then(|| Box::new(IntStack::new(now))),
            marked: Marked::No,
        })
    }

    /// Wire bits per second that the scheme allows.
    pub fn allowed_bps(&self, line_bps: f64) -> f64 {
        let seq = &self.requester.seq;
        let mtu = f64::from(seq.stream.mtu_bytes);
        let wire_per_payload = (f64::from(self.header_bytes) + mtu) / mtu;
        self.pacing.allowed_bps(seq.network_window(), wire_per_payload, self.base_rtt, line_bps)
    }
}
