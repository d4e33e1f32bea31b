//! From a recorded frame to its bytes, as they would be on the link, without the FCS.
//!
//! The length is that of the model's frame. Headers come first, payload (zeros) takes what is left of
//! the frame up to what the model says it carries, and padding the rest. A frame that the scenario
//! counts as smaller than its headers is written with them all the same.

use crate::cnm::UNIT_BYTES;
use crate::headers::*;
use crate::opcode::{self, ACKNOWLEDGE, CNP, SELECTIVE_BITMAP, SYNDROME_ACK, SYNDROME_NAK};
use crate::pfc::QUANTUM_BITS;
use xoff_catalogue::frame_content::{CNP_BYTES, DIGEST_BYTES, code};
use xoff_catalogue::int_header::{CREDITED_BYTES, TELEMETRY_BYTES, credited_in, telemetry_in};
use xoff_engine::{BitRate, Span, Time};
use xoff_fabric::capture::{Body, Data, FlowName, Frame, PfcClass, Place, Reply, SelectiveReply};
use xoff_fabric::frame_content::{Carrier, FrameContent};
use xoff_fabric::packet::Ecn;
use xoff_fabric::plan::{NodeKind, Plan, peer};
use xoff_fabric::scheme::Transport;

/// Every frame ends with it on the link; the model counts it.
pub const FCS_BYTES: usize = 4;
/// The smallest frame without its FCS.
const LEAST_BYTES: usize = 60;
/// Port of a TCP flow that names none; no dissector claims it.
const TCP_PORT: u16 = 5001;
/// Length that a write of unknown length announces: the most a message may have.
pub const ENDLESS_BYTES: u32 = 1 << 31;

/// Knows what of a plan frames show.
pub struct Encoder<'a> {
    plan: &'a Plan,
    /// Per port: its number at its switch, from one on; zero at hosts.
    local: Vec<u16>,
    /// Per scheme: the unit of its telemetry, if it is not that of the port's speed.
    multipliers: Vec<Option<u64>>,
}

impl<'a> Encoder<'a> {
    /// For the frames of a plan; `multipliers` has a scheme's `int_multiplier` in its slot, if that is set.
    pub fn new(plan: &'a Plan, multipliers: Vec<Option<u64>>) -> Encoder<'a> {
        let mut seen = vec![0u16; plan.nodes.len()];
        let number = |port| {
            let node = plan.node_of(port) as usize;
            if plan.nodes[node].kind == NodeKind::Host {
                return 0;
            }
            seen[node] = seen[node].wrapping_add(1);
            seen[node]
        };
        Encoder { plan, local: (0..plan.ports() as u32).map(number).collect(), multipliers }
    }

    /// Replaces `out` by the frame's bytes.
    pub fn encode(&self, frame: &Frame, out: &mut Vec<u8>) {
        out.clear();
        let length = usize::from(frame.frame_bytes).saturating_sub(FCS_BYTES).max(LEAST_BYTES);
        match &frame.body {
            Body::Data(data) => match data.whole_frame_bytes {
                Some(whole) => self.trimmed(frame, data, usize::from(whole), length, out),
                None => self.data(frame, data, length, out),
            },
            Body::Reply(reply) => self.reply(frame, reply, out),
            Body::Notification { flow, content, origin } => match content.carrier {
                Carrier::Cnp => self.cnp(frame, flow, content, Ecn::NotCapable, out),
                Carrier::MarkedCnp => self.cnp(frame, flow, content, Ecn::Ce, out),
                Carrier::Cnm { feedback, offset_bytes, delta_bytes } => {
                    let queue = (feedback, offset_bytes, delta_bytes);
                    self.cnm(frame, flow, queue, origin.as_ref(), length, out);
                }
            },
            Body::Pfc { classes, lasts, rate } => self.pfc(frame.port, classes, *lasts, *rate, out),
            Body::Neighbour { content, flows } => self.neighbour(frame.port, content, flows, out),
        }
        out.resize(out.len().max(length), 0);
    }

    fn priority(&self, class: u8) -> u8 {
        self.plan.classes.list[usize::from(class)].priority
    }

    fn port_mac(&self, port: u32) -> Mac {
        mac(self.plan.node_of(port), self.local[port as usize])
    }

    /// Frames of a flow go from end to end: switches are bridges here, so that addresses stay.
    fn ip(&self, class: u8, flow: &FlowName, protocol: u8, ecn: Ecn, payload_bytes: usize) -> Ipv4 {
        Ipv4 {
            source: address(flow.src),
            destination: address(flow.dst),
            protocol,
            service: service(self.priority(class), flow.scheme, ecn),
            payload_bytes,
        }
    }

    /// IP header of a packet from the receiver to the sender.
    fn ip_back(&self, class: u8, flow: &FlowName, protocol: u8, ecn: Ecn, payload_bytes: usize) -> Ipv4 {
        let ip = self.ip(class, flow, protocol, ecn, payload_bytes);
        Ipv4 { source: ip.destination, destination: ip.source, ..ip }
    }

    fn data(&self, frame: &Frame, data: &Data, length: usize, out: &mut Vec<u8>) {
        let FlowName { src, dst, .. } = data.flow;
        let tag = data.format.tag.map(|ethertype| (ethertype, data.flow.id as u16));
        start(out, mac(dst, 0), mac(src, 0), tag, ETHERTYPE_IPV4);
        if data.flow.transport == Transport::Tcp {
            let room = length.saturating_sub(out.len() + IPV4_BYTES + TCP_BYTES);
            let payload = (data.payload_bytes as usize).min(room);
            let ip = self.ip(frame.class, &data.flow, TCP, frame.ecn, TCP_BYTES + payload);
            let last = data.total == Some(data.psn + 1);
            let flags = if last { TCP_PUSH } else { 0 };
            let sequence = sequence(data.offset_bytes);
            ipv4(out, &ip);
            tcp(
                out,
                &ip,
                &Tcp { from: data.flow.src_port, to: destination_port(&data.flow), sequence, acknowledged: 1, flags },
                payload,
            );
            return;
        }
        let (extension, own) = data_extension(data, self.multiplier(&data.flow));
        let fixed = out.len() + IPV4_BYTES + UDP_BYTES + BTH_BYTES + own.len() + ICRC_BYTES;
        let first_length = usize::from(data.first_frame_bytes).saturating_sub(FCS_BYTES);
        // The whole flow is a SEND where even its first packet has no room for what a WRITE begins with.
        let write = first_length >= fixed + RETH_BYTES;
        let begins = write && data.psn == data.begin;
        let mut headers = Vec::new();
        if begins {
            // Address zero of a region that is the flow's own.
            headers.extend([0; 8]);
            headers.extend(data.flow.id.to_be_bytes());
            let size = data.size_bytes.map_or(ENDLESS_BYTES, |size| size.min(u64::from(u32::MAX)) as u32);
            headers.extend(size.to_be_bytes());
        }
        headers.extend(own);
        let room = length.saturating_sub(fixed + if begins { RETH_BYTES } else { 0 });
        // Nothing but its payload says how long a SEND is, so it keeps it, and grows by its padding.
        let payload = (data.payload_bytes as usize).min(if write { room & !3 } else { room });
        let padded = payload.next_multiple_of(4);
        headers.resize(headers.len() + padded, 0);
        let bth = Bth {
            opcode: opcode(write, data),
            pad: (padded - payload) as u8,
            queue_pair: queue_pair(&data.flow),
            ack_request: data.asks_ack,
            extension,
            psn: data.psn,
            ..Bth::default()
        };
        let payload_bytes = UDP_BYTES + BTH_BYTES + headers.len() + ICRC_BYTES;
        let ip = self.ip(frame.class, &data.flow, UDP, frame.ecn, payload_bytes);
        roce(out, &ip, data.flow.src_port, &bth, &headers);
    }

    /// Writes a data packet whose payload a switch has cut off: IP says what is left, UDP what there was.
    fn trimmed(&self, frame: &Frame, data: &Data, whole_bytes: usize, length: usize, out: &mut Vec<u8>) {
        self.data(frame, data, whole_bytes.saturating_sub(FCS_BYTES).max(LEAST_BYTES), out);
        out.truncate(length);
        let tag = if data.format.tag.is_some() { TAG_BYTES } else { 0 };
        trim_ipv4(&mut out[ETHERNET_BYTES + tag..]);
    }

    fn reply(&self, frame: &Frame, reply: &Reply, out: &mut Vec<u8>) {
        let FlowName { src, dst, .. } = reply.flow;
        start(out, mac(src, 0), mac(dst, 0), None, ETHERTYPE_IPV4);
        let marked = reply.echoes_mark && frame.ecn == Ecn::Ce;
        if reply.flow.transport == Transport::Tcp {
            let ip = self.ip_back(frame.class, &reply.flow, TCP, Ecn::NotCapable, TCP_BYTES);
            let flags = if marked { TCP_ECE } else { 0 };
            let acknowledged = sequence(reply.expected_byte);
            ipv4(out, &ip);
            tcp(
                out,
                &ip,
                &Tcp { from: destination_port(&reply.flow), to: reply.flow.src_port, sequence: 1, acknowledged, flags },
                0,
            );
            return;
        }
        let syndrome = if reply.nak { SYNDROME_NAK } else { SYNDROME_ACK };
        // The flow is the queue pair's first message.
        let messages = u32::from(reply.complete);
        let mut headers = (u32::from(syndrome) << 24 | messages).to_be_bytes().to_vec();
        if let Some(selective) = &reply.selective {
            selective_header(selective, &mut headers);
        }
        let (extension, own) = reply_extension(reply, self.multiplier(&reply.flow));
        headers.extend(own);
        let bth = Bth {
            opcode: ACKNOWLEDGE,
            fecn: reply.echoes_mark && !marked,
            becn: marked,
            selective: reply.selective.is_some(),
            queue_pair: queue_pair(&reply.flow),
            extension,
            // An ACK names the last packet that came, a NAK the one that did not.
            psn: if reply.nak { reply.expected } else { reply.expected.wrapping_sub(1) },
            ..Bth::default()
        };
        let payload_bytes = UDP_BYTES + BTH_BYTES + headers.len() + ICRC_BYTES;
        let ip = self.ip_back(frame.class, &reply.flow, UDP, Ecn::NotCapable, payload_bytes);
        roce(out, &ip, reply.flow.src_port, &bth, &headers);
    }

    fn multiplier(&self, flow: &FlowName) -> Option<u64> {
        self.multipliers.get(usize::from(flow.scheme)).copied().flatten()
    }

    /// Writes a CNP, from the receiver's address also where a switch sends it.
    fn cnp(&self, frame: &Frame, flow: &FlowName, content: &FrameContent, ecn: Ecn, out: &mut Vec<u8>) {
        start(out, mac(flow.src, 0), mac(flow.dst, 0), None, ETHERTYPE_IPV4);
        // In the reserved bytes, and behind them if it is longer.
        let mut payload = content.bytes.clone();
        payload.resize(payload.len().max(CNP_BYTES), 0);
        let bth =
            Bth { opcode: CNP, becn: true, queue_pair: queue_pair(flow), extension: content.code, ..Bth::default() };
        let payload_bytes = UDP_BYTES + BTH_BYTES + payload.len() + ICRC_BYTES;
        let ip = self.ip_back(frame.class, flow, UDP, ecn, payload_bytes);
        roce(out, &ip, flow.src_port, &bth, &payload);
    }

    /// IEEE 802.1Q, clause 33.4: back to the source, with its own tag and the beginning of what it sent.
    fn cnm(
        &self,
        frame: &Frame,
        flow: &FlowName,
        (feedback, offset_bytes, delta_bytes): (u8, i64, i64),
        origin: Option<&Place>,
        length: usize,
        out: &mut Vec<u8>,
    ) {
        let from = origin.map_or(frame.port, |place| place.port);
        let priority = self.priority(flow.class);
        start(out, mac(flow.src, 0), self.port_mac(from), Some((CN_TAG, flow.id as u16)), ETHERTYPE_CNM);
        // Version 0, six bits reserved, six bits of feedback.
        out.extend(u16::from(feedback.min(63)).to_be_bytes());
        // The congestion point: its switch, port and priority.
        out.extend(mac(self.plan.node_of(from), 0));
        out.extend((self.local[from as usize] << 3 | u16::from(priority)).to_be_bytes());
        for bytes in [offset_bytes, delta_bytes] {
            let units = (bytes / UNIT_BYTES).clamp(i64::from(i16::MIN), i64::from(i16::MAX)) as i16;
            out.extend(units.to_be_bytes());
        }
        out.extend((u16::from(priority) << 13).to_be_bytes());
        out.extend(mac(flow.dst, 0));
        // What the MAC client of the source handed down: EtherType and IP header of a full packet.
        let mut sent = ETHERTYPE_IPV4.to_be_bytes().to_vec();
        let protocol = if flow.transport == Transport::Tcp { TCP } else { UDP };
        let behind =
            usize::from(flow.full_frame_bytes).saturating_sub(ETHERNET_BYTES + TAG_BYTES + FCS_BYTES + IPV4_BYTES);
        let service = service(priority, flow.scheme, Ecn::Ect0);
        let (source, destination) = (address(flow.src), address(flow.dst));
        ipv4(&mut sent, &Ipv4 { source, destination, protocol, service, payload_bytes: behind });
        sent.truncate(length.saturating_sub(out.len() + 2).min(64));
        out.extend((sent.len() as u16).to_be_bytes());
        out.extend(sent);
    }

    fn pfc(&self, port: u32, classes: &[PfcClass], lasts: Option<Span>, rate: BitRate, out: &mut Vec<u8>) {
        ethernet(out, PAUSE_ADDRESS, self.port_mac(port), ETHERTYPE_MAC_CONTROL);
        let mut enabled = 0u16;
        let mut times = [0u16; 8];
        for class in classes {
            let priority = self.priority(class.class);
            enabled |= 1 << priority;
            times[usize::from(priority)] =
                if class.pause { lasts.map_or(u16::MAX, |span| quanta(span, rate)) } else { 0 };
        }
        out.extend(PFC_OPCODE.to_be_bytes());
        out.extend(enabled.to_be_bytes());
        out.extend(times.into_iter().flat_map(u16::to_be_bytes));
    }

    fn neighbour(&self, port: u32, content: &FrameContent, flows: &[FlowName], out: &mut Vec<u8>) {
        ethernet(out, self.port_mac(peer(port)), self.port_mac(port), ETHERTYPE_EXPERIMENT);
        out.extend(&content.bytes);
        for flow in flows {
            out.extend(address(flow.src));
            out.extend(address(flow.dst));
            out.push(if flow.transport == Transport::Tcp { TCP } else { UDP });
            out.extend(flow.src_port.to_be_bytes());
            out.extend(destination_port(flow).to_be_bytes());
        }
    }
}

fn start(out: &mut Vec<u8>, to: Mac, from: Mac, tag: Option<(u16, u16)>, ethertype: u16) {
    match tag {
        Some((tag, number)) => {
            ethernet(out, to, from, tag);
            out.extend(number.to_be_bytes());
            out.extend(ethertype.to_be_bytes());
        }
        None => ethernet(out, to, from, ethertype),
    }
}

/// IPv4, UDP, BTH, what follows, and the check sum over all of it.
fn roce(out: &mut Vec<u8>, ip: &Ipv4, from: u16, header: &Bth, content: &[u8]) {
    let begin = out.len();
    ipv4(out, ip);
    udp(out, from, ip.payload_bytes - UDP_BYTES);
    bth(out, header);
    out.extend_from_slice(content);
    let sum = icrc(&out[begin..]);
    out.extend(sum);
}

/// First, middle, last or only packet of a message.
fn opcode(write: bool, data: &Data) -> u8 {
    opcode::of(opcode::Part { write, first: data.psn == data.begin, last: data.total == Some(data.psn + 1) })
}

/// Queue pair numbers 0 to 15 are left alone; both ends of a flow have the same.
pub fn queue_pair(flow: &FlowName) -> u32 {
    flow.id.wrapping_add(16) & 0xff_ffff
}

/// RoCE has one port; TCP the flow's, or one that no dissector claims.
fn destination_port(flow: &FlowName) -> u16 {
    match flow.transport {
        Transport::Roce => ROCE_PORT,
        Transport::Tcp => flow.dst_port.unwrap_or(TCP_PORT),
    }
}

/// The first byte of a flow is number one, as after a handshake that began at zero.
fn sequence(offset_bytes: u64) -> u32 {
    offset_bytes.wrapping_add(1) as u32
}

/// What a scheme adds to a data packet, besides a tag: telemetry, or the time it was sent.
fn data_extension(data: &Data, multiplier: Option<u64>) -> (u8, Vec<u8>) {
    let tag = if data.format.tag.is_some() { TAG_BYTES } else { 0 };
    let bytes = (data.format.data_bytes as usize).saturating_sub(tag);
    match &data.int {
        // Telemetry that ACKs do not bring back has the gateway's word and credit with it.
        Some(stack) if bytes >= CREDITED_BYTES && (data.format.ack_bytes as usize) < TELEMETRY_BYTES => {
            (code::TELEMETRY_CREDIT, credited_in(stack, multiplier).to_vec())
        }
        Some(stack) if bytes >= TELEMETRY_BYTES => (code::TELEMETRY, telemetry_in(stack, multiplier).to_vec()),
        Some(stack) if bytes >= DIGEST_BYTES => (code::DIGEST, stack.tag.to_be_bytes().to_vec()),
        None if !data.format.int && bytes >= 8 => (code::STAMP, stamp(data.sent_at)),
        _ => (0, Vec::new()),
    }
}

fn reply_extension(reply: &Reply, multiplier: Option<u64>) -> (u8, Vec<u8>) {
    let bytes = reply.format.ack_bytes as usize;
    match (&reply.int, &reply.content) {
        (_, Some(content)) => (content.code, content.bytes.clone()),
        (Some(stack), None) if bytes >= TELEMETRY_BYTES => (code::TELEMETRY, telemetry_in(stack, multiplier).to_vec()),
        // Data packets of such a scheme have room for no more than a digest either.
        (Some(stack), None) if bytes >= DIGEST_BYTES && (reply.format.data_bytes as usize) < TELEMETRY_BYTES => {
            (code::DIGEST, stack.tag.to_be_bytes().to_vec())
        }
        (None, None) if !reply.format.int && bytes >= 8 => (code::STAMP, stamp(reply.sent_at)),
        _ => (0, Vec::new()),
    }
}

/// Selective acknowledgement: a byte of flags and 24 bits of PSN, then the bitmap if there is one. No standard has it in
/// RoCEv2; this layout is an assumption.
fn selective_header(selective: &SelectiveReply, out: &mut Vec<u8>) {
    let flags = if selective.received == 0 { 0 } else { SELECTIVE_BITMAP };
    out.extend((u32::from(flags) << 24 | selective.psn & 0xff_ffff).to_be_bytes());
    if selective.received != 0 {
        out.extend(selective.received.to_be_bytes());
    }
}

fn stamp(at: Time) -> Vec<u8> {
    (at.ps() / 1000).to_be_bytes().to_vec()
}

/// Pause time in units of 512 bit times, rounded up: never shorter than meant.
fn quanta(span: Span, rate: BitRate) -> u16 {
    let quanta =
        (u128::from(span.ps()) * u128::from(rate.bps())).div_ceil(u128::from(QUANTUM_BITS) * 1_000_000_000_000);
    quanta.clamp(1, u128::from(u16::MAX)) as u16
}
