//! The headers that frames are made of, with their check sums.

use xoff_fabric::packet::Ecn;
pub use xoff_fabric::traffic::ROCE_PORT;

/// `02:PP:PP:NN:NN:NN`, locally administered: node, and for a switch's port its number from one on.
pub type Mac = [u8; 6];

pub const ETHERTYPE_IPV4: u16 = 0x0800;
pub const ETHERTYPE_MAC_CONTROL: u16 = 0x8808;
/// Congestion notification message (IEEE 802.1Qau).
pub const ETHERTYPE_CNM: u16 = 0x22e7;
/// For local experiments (IEEE 802): messages between neighbours.
pub const ETHERTYPE_EXPERIMENT: u16 = 0x88b5;
/// EtherType of the tag that names a flow to its rate limiter (IEEE 802.1Qau).
pub const CN_TAG: u16 = 0x22e9;

/// Destination of PFC frames: the other end of the link.
pub const PAUSE_ADDRESS: Mac = [0x01, 0x80, 0xc2, 0x00, 0x00, 0x01];
pub const PFC_OPCODE: u16 = 0x0101;

pub const UDP: u8 = 17;
pub const TCP: u8 = 6;

pub const ETHERNET_BYTES: usize = 14;
pub const TAG_BYTES: usize = 4;
pub const IPV4_BYTES: usize = 20;
pub const UDP_BYTES: usize = 8;
pub const TCP_BYTES: usize = 20;
pub const BTH_BYTES: usize = 12;
pub const RETH_BYTES: usize = 16;
pub const ICRC_BYTES: usize = 4;

/// The address of a node, or of a port of a switch.
pub fn mac(node: u32, port: u16) -> Mac {
    let ([_, n2, n1, n0], [p1, p0]) = (node.to_be_bytes(), port.to_be_bytes());
    [0x02, p1, p0, n2, n1, n0]
}

/// The node, and the number of the port there, that [`mac`] made an address of.
pub fn node_of_mac(mac: Mac) -> Option<(u32, u16)> {
    let [0x02, p1, p0, n2, n1, n0] = mac else { return None };
    Some((u32::from_be_bytes([0, n2, n1, n0]), u16::from_be_bytes([p1, p0])))
}

/// `11.(node / 256).(node mod 256).1`; beyond 65 535 nodes the first number counts on.
pub fn address(node: u32) -> [u8; 4] {
    xoff_fabric::route::address(node).to_be_bytes()
}

/// The node that [`address`] made an address of.
pub fn node(address: [u8; 4]) -> Option<u32> {
    let beyond_first = u32::from_be_bytes(address).checked_sub(xoff_fabric::route::address(0))?;
    (beyond_first & 0xff == 0).then_some(beyond_first >> 8)
}

/// DSCP is the class selector of the priority, eight times it, and the place of the flow's scheme among those of the
/// run: three bits of it.
pub fn service(priority: u8, scheme: u8, ecn: Ecn) -> u8 {
    priority << 5 | (scheme & 0b111) << 2 | ecn as u8
}

pub fn ethernet(out: &mut Vec<u8>, to: Mac, from: Mac, ethertype: u16) {
    out.extend(to);
    out.extend(from);
    out.extend(ethertype.to_be_bytes());
}

/// What an IPv4 header says.
#[derive(Clone, Copy)]
pub struct Ipv4 {
    pub source: [u8; 4],
    pub destination: [u8; 4],
    pub protocol: u8,
    /// DSCP and ECN.
    pub service: u8,
    /// Bytes behind the header.
    pub payload_bytes: usize,
}

pub fn ipv4(out: &mut Vec<u8>, ip: &Ipv4) {
    let start = out.len();
    let length = (IPV4_BYTES + ip.payload_bytes) as u16;
    out.extend([0x45, ip.service]);
    out.extend(length.to_be_bytes());
    // No identification; not to be fragmented; 64 hops to live.
    out.extend([0, 0, 0x40, 0, 64, ip.protocol, 0, 0]);
    out.extend(ip.source);
    out.extend(ip.destination);
    let sum = fold(sum(&out[start..]));
    out[start + 10..start + 12].copy_from_slice(&sum.to_be_bytes());
}

/// Sets the length of an IPv4 packet to the bytes that there are, and its check sum.
pub fn trim_ipv4(packet: &mut [u8]) {
    let length = packet.len() as u16;
    packet[2..4].copy_from_slice(&length.to_be_bytes());
    packet[10..12].fill(0);
    let sum = fold(sum(&packet[..IPV4_BYTES]));
    packet[10..12].copy_from_slice(&sum.to_be_bytes());
}

/// UDP to the RoCE port; no check sum, as RoCE has its own.
pub fn udp(out: &mut Vec<u8>, from: u16, payload_bytes: usize) {
    out.extend(from.to_be_bytes());
    out.extend(ROCE_PORT.to_be_bytes());
    out.extend(((UDP_BYTES + payload_bytes) as u16).to_be_bytes());
    out.extend([0, 0]);
}

/// InfiniBand's base transport header.
#[derive(Clone, Copy, Default)]
pub struct Bth {
    pub opcode: u8,
    /// Bytes that fill the payload up to a multiple of four.
    pub pad: u8,
    pub fecn: bool,
    pub becn: bool,
    /// A selective acknowledgement follows the AETH: in the first of the six reserved bits.
    pub selective: bool,
    pub queue_pair: u32,
    pub ack_request: bool,
    /// What of a scheme follows: in the seven reserved bits beside the request for an ACK.
    pub extension: u8,
    pub psn: u32,
}

pub fn bth(out: &mut Vec<u8>, bth: &Bth) {
    // The migration bit is set, as on any path that does not migrate; version 0; default partition.
    out.extend([bth.opcode, 0x40 | bth.pad << 4, 0xff, 0xff]);
    let bits = u8::from(bth.fecn) << 7 | u8::from(bth.becn) << 6 | u8::from(bth.selective) << 5;
    out.extend((u32::from(bits) << 24 | bth.queue_pair & 0xff_ffff).to_be_bytes());
    let asks = u8::from(bth.ack_request) << 7 | bth.extension & 0x7f;
    out.extend((u32::from(asks) << 24 | bth.psn & 0xff_ffff).to_be_bytes());
}

/// The invariant check sum of a RoCEv2 packet that begins with its IPv4 header: CRC-32 over eight
/// bytes of ones and the packet, with ones for what routers and marking may change (InfiniBand
/// specification, annex A17).
pub fn icrc(packet: &[u8]) -> [u8; 4] {
    let mut head = [0; IPV4_BYTES + UDP_BYTES + BTH_BYTES];
    let (fixed, rest) = packet.split_at(head.len().min(packet.len()));
    head[..fixed.len()].copy_from_slice(fixed);
    // Service, time to live, header check sum, UDP check sum, the BTH's byte with FECN and BECN.
    for at in [1, 8, 10, 11, 26, 27, 32] {
        head[at] = 0xff;
    }
    let mut crc = crc32fast::Hasher::new();
    crc.update(&[0xff; 8]);
    crc.update(&head[..fixed.len()]);
    crc.update(rest);
    crc.finalize().to_le_bytes()
}

/// What a TCP header says; the ACK flag is always set.
#[derive(Clone, Copy)]
pub struct Tcp {
    pub from: u16,
    pub to: u16,
    pub sequence: u32,
    pub acknowledged: u32,
    /// PSH, ECE.
    pub flags: u8,
}

/// A flag of TCP: the acknowledged byte counts.
pub const TCP_ACK: u8 = 0x10;
/// The flow ends with this segment.
pub const TCP_PUSH: u8 = 0x08;
/// The segment that is answered was marked.
pub const TCP_ECE: u8 = 0x40;

/// The header and as many zero bytes of payload, under this IPv4 header.
pub fn tcp(out: &mut Vec<u8>, ip: &Ipv4, tcp: &Tcp, payload_bytes: usize) {
    let start = out.len();
    out.extend(tcp.from.to_be_bytes());
    out.extend(tcp.to.to_be_bytes());
    out.extend(tcp.sequence.to_be_bytes());
    out.extend(tcp.acknowledged.to_be_bytes());
    out.extend([5 << 4, TCP_ACK | tcp.flags, 0xff, 0xff, 0, 0, 0, 0]);
    let header = sum(&out[start..]);
    // Zero bytes add nothing to a sum.
    out.resize(out.len() + payload_bytes, 0);
    let pseudo = sum(&ip.source) + sum(&ip.destination) + u32::from(ip.protocol) + (TCP_BYTES + payload_bytes) as u32;
    let sum = fold(header + pseudo);
    out[start + 16..start + 18].copy_from_slice(&sum.to_be_bytes());
}

/// Sum of 16-bit words, the last filled up with zeros. It has room for 128 KB.
pub(crate) fn sum(bytes: &[u8]) -> u32 {
    let (words, last) = bytes.as_chunks::<2>();
    let words: u32 = words.iter().map(|word| u32::from(u16::from_be_bytes(*word))).sum();
    words + last.first().map_or(0, |byte| u32::from(*byte) << 8)
}

/// The ones' complement of a sum.
pub(crate) fn fold(mut sum: u32) -> u16 {
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !(sum as u16)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_follow_the_node() {
        assert_eq!(address(0), [11, 0, 0, 1]);
        assert_eq!(address(0x1234), [11, 0x12, 0x34, 1]);
        assert_eq!(address(0x2_0003), [13, 0, 3, 1]);
        assert_eq!(mac(0x01_02_03, 0x0405), [2, 4, 5, 1, 2, 3]);
    }

    #[test]
    fn nodes_follow_from_addresses() {
        for number in [0, 1, 255, 256, 0x1234, 0x2_0003, 0xf4_ffff] {
            assert_eq!(node(address(number)), Some(number));
            assert_eq!(node_of_mac(mac(number, 7)), Some((number, 7)));
        }
        for stranger in [[0, 0, 0, 0], [10, 255, 255, 1], [11, 0, 0, 0], [11, 0, 7, 2], [255, 255, 255, 255]] {
            assert_eq!(node(stranger), None, "{stranger:?}");
        }
        assert_eq!(node_of_mac(PAUSE_ADDRESS), None);
    }

    #[test]
    fn a_header_sums_to_nothing() {
        let mut out = Vec::new();
        let ip =
            Ipv4 { source: [11, 0, 0, 1], destination: [11, 0, 7, 1], protocol: TCP, service: 0x62, payload_bytes: 26 };
        ipv4(&mut out, &ip);
        assert_eq!(fold(sum(&out)), 0);
        let segment = Tcp { from: 50_000, to: 5001, sequence: 1, acknowledged: 1, flags: TCP_PUSH };
        let start = out.len();
        tcp(&mut out, &ip, &segment, 6);
        let pseudo = sum(&ip.source) + sum(&ip.destination) + 6 + 26;
        assert_eq!(fold(sum(&out[start..]) + pseudo), 0);
    }

    /// The example of the InfiniBand specification's annex is worked out by the tests with scapy; here
    /// only that the masked fields do not count and the others do.
    #[test]
    fn what_routers_change_is_not_in_the_invariant_sum() {
        let mut packet = vec![0; 60];
        let plain = icrc(&packet);
        for at in [1, 8, 10, 11, 26, 27, 32] {
            packet[at] = 0x5a;
        }
        assert_eq!(icrc(&packet), plain);
        for at in [0, 12, 20, 29, 33, 39, 40, 59] {
            packet[at] ^= 1;
            assert_ne!(icrc(&packet), plain, "byte {at}");
            packet[at] ^= 1;
        }
    }
}
