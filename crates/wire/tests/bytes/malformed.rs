//! Bytes that are not a frame of ours are recognised, and nothing makes the reader panic.

use crate::frames::*;
use xoff_engine::BitRate;
use xoff_fabric::capture::{Body, PfcClass};
use xoff_fabric::frame_content::{Carrier, FrameContent};
use xoff_fabric::packet::Ecn;
use xoff_fabric::scheme::{Format, Transport};
use xoff_wire::*;

/// Where an untagged frame has its IPv4 header, and what is behind it.
const IP: usize = 14;
const UDP: usize = IP + 20;
const BTH: usize = UDP + 8;
const AETH: usize = BTH + 12;
const ICRC_BYTES: usize = 4;

fn plain() -> Vec<u8> {
    bytes(&frame(DATA, Ecn::Ect0, 1062, Body::Data(data(Format::default()))))
}

fn ack() -> Vec<u8> {
    bytes(&frame(CONTROL, Ecn::NotCapable, 66, Body::Reply(reply(Format::default()))))
}

fn segment() -> Vec<u8> {
    bytes(&frame(DATA, Ecn::Ect0, 1062, Body::Data(data(formats()[6]))))
}

fn cnp() -> Vec<u8> {
    bytes(&notification(FrameContent { code: 6, bytes: vec![1; 8], ..FrameContent::default() }))
}

fn cnm() -> Vec<u8> {
    let carrier = Carrier::Cnm { feedback: 9, offset_bytes: 640, delta_bytes: -64 };
    bytes(&notification(FrameContent { carrier, ..FrameContent::default() }))
}

fn pause() -> Vec<u8> {
    let classes = vec![PfcClass { class: DATA, pause: true, ingress: None }];
    let body = Body::Pfc { classes, lasts: None, rate: BitRate::from_gbps(100) };
    bytes(&frame(CONTROL, Ecn::NotCapable, 64, body))
}

fn message() -> Vec<u8> {
    let content = FrameContent { code: 10, bytes: vec![2, 0, 0, 1, 0, 10], ..FrameContent::default() };
    let body = Body::Neighbour { content, flows: vec![flow(7, Transport::Roce)] };
    bytes(&frame(CONTROL, Ecn::NotCapable, 64, body))
}

fn all() -> Vec<Vec<u8>> {
    let data = formats().into_iter().map(|format| bytes(&frame(DATA, Ecn::Ect0, 200, Body::Data(data(format)))));
    let replies = formats().into_iter().map(|format| bytes(&frame(CONTROL, Ecn::Ce, 66, Body::Reply(reply(format)))));
    data.chain(replies).chain([cnp(), cnm(), pause(), message()]).collect()
}

/// With the check sums that the changed bytes would have.
fn sealed(mut bytes: Vec<u8>) -> Vec<u8> {
    let ecn = [Ecn::NotCapable, Ecn::Ect1, Ecn::Ect0, Ecn::Ce][usize::from(bytes[IP + 1] & 3)];
    set_ecn(&mut bytes, IP, ecn).unwrap();
    let end = IP + usize::from(u16::from_be_bytes([bytes[IP + 2], bytes[IP + 3]]));
    let sum = icrc(&bytes[IP..end - ICRC_BYTES]);
    bytes[end - ICRC_BYTES..end].copy_from_slice(&sum);
    bytes
}

fn with(mut bytes: Vec<u8>, at: usize, new: &[u8]) -> Vec<u8> {
    bytes[at..at + new.len()].copy_from_slice(new);
    bytes
}

#[test]
fn every_reason_has_a_frame() {
    let known = [
        (Malformed::Short, Vec::new()),
        (Malformed::Short, plain()[..200].to_vec()),
        // More than there is, and less than the header itself.
        (Malformed::Short, sealed_ip(with(plain(), IP + 2, &[0xff, 0xff]))),
        (Malformed::Short, sealed_ip(with(plain(), IP + 2, &[0, 19]))),
        (Malformed::Short, message()[..19].to_vec()),
        (Malformed::Short, with(cnm(), 40, &[0xff, 0xff])),
        (Malformed::EtherType, with(plain(), 12, &[0x86, 0xdd])),
        // A tag within a tag; a pause with one.
        (Malformed::EtherType, with(cnm(), 16, &[0x22, 0xe9])),
        (Malformed::EtherType, with(cnm(), 16, &[0x88, 0x08])),
        (Malformed::Stranger, sealed_ip(with(plain(), IP + 12, &[10]))),
        (Malformed::Stranger, sealed_ip(with(plain(), IP + 19, &[2]))),
        (Malformed::Stranger, with(message(), 6, &[4])),
        (Malformed::Stranger, with(cnm(), 0, &[4])),
        (Malformed::IpHeader, sealed_ip(with(plain(), IP, &[0x46]))),
        (Malformed::IpHeader, sealed_ip(with(plain(), IP, &[0x65]))),
        (Malformed::IpHeader, sealed_ip(with(plain(), IP + 6, &[0x60]))),
        (Malformed::IpHeader, sealed_ip(with(plain(), IP + 7, &[1]))),
        (Malformed::IpSum, with(plain(), IP + 8, &[63])),
        (Malformed::Protocol, sealed_ip(with(plain(), IP + 9, &[1]))),
        (Malformed::UdpLength, with(plain(), UDP + 4, &[0])),
        (Malformed::UdpLength, with(ack(), UDP + 4, &[9])),
        (Malformed::Trimmed, with(plain(), UDP + 4, &[0x40])),
        (Malformed::UdpPort, with(plain(), UDP + 3, &[0])),
        (Malformed::BthVersion, with(plain(), BTH + 1, &[0x41])),
        (Malformed::Opcode, sealed(with(plain(), BTH, &[3]))),
        (Malformed::Opcode, with(pause(), 15, &[2])),
        (Malformed::Syndrome, sealed(with(ack(), AETH, &[0x61]))),
        // Of a data packet, without room, and of a CNP.
        (Malformed::Content, sealed(with(plain(), BTH + 8, &[9]))),
        (Malformed::Content, sealed(with(ack(), BTH + 8, &[1]))),
        (Malformed::Content, sealed(with(cnp(), BTH + 8, &[8]))),
        (Malformed::Content, with(message(), 19, &[11])),
        (Malformed::Icrc, with(plain(), BTH + 11, &[9])),
        (Malformed::TcpHeader, with(segment(), UDP + 12, &[0x60])),
        (Malformed::TcpSum, with(segment(), UDP + 30, &[1])),
        (Malformed::Pfc, with(pause(), 16, &[1])),
        (Malformed::Pfc, with(pause(), 5, &[2])),
        (Malformed::Cnm, with(cnm(), 18, &[0x10])),
        (Malformed::Cnm, [&cnm()[..12], &cnm()[16..]].concat()),
    ];
    for (number, (reason, bytes)) in known.iter().enumerate() {
        assert_eq!(decode(bytes), Err(*reason), "frame {number}");
    }
    let missing: Vec<_> = Malformed::ALL.iter().filter(|reason| known.iter().all(|(of, _)| of != *reason)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

/// Only with the header's own check sum.
fn sealed_ip(mut bytes: Vec<u8>) -> Vec<u8> {
    let ecn = [Ecn::NotCapable, Ecn::Ect1, Ecn::Ect0, Ecn::Ce][usize::from(bytes[IP + 1] & 3)];
    set_ecn(&mut bytes, IP, ecn).unwrap();
    bytes
}

#[test]
fn a_frame_that_was_cut_is_read_whole_or_not_at_all() {
    for bytes in all() {
        let whole = decode(&bytes).unwrap();
        let mut read = 0;
        for length in 0..bytes.len() {
            match decode(&bytes[..length]) {
                Ok(seen) => {
                    assert_eq!(seen, whole, "only padding was cut");
                    read += 1;
                }
                Err(reason) => assert_eq!((reason, read), (Malformed::Short, 0), "{length} of {}", bytes.len()),
            }
        }
    }
}

/// Every bit of a packet is under a check sum, but the UDP check sum itself and, in RoCE's, what switches may write.
#[test]
fn a_flipped_bit_is_noticed_or_harmless() {
    for bytes in all() {
        let whole = decode(&bytes).unwrap();
        let (ip_at, tcp) = match &whole {
            Seen::Roce(roce) => (roce.ip_at, false),
            Seen::Tcp(tcp) => (tcp.ip_at, true),
            _ => (bytes.len(), false),
        };
        let end = bytes
            .get(ip_at + 2..ip_at + 4)
            .map_or(0, |pair| ip_at + usize::from(u16::from_be_bytes([pair[0], pair[1]])));
        for bit in 0..bytes.len() * 8 {
            let (at, mut flipped) = (bit / 8, bytes.clone());
            flipped[at] ^= 1 << (bit % 8);
            let seen = decode(&flipped);
            let spared = !tcp && [ip_at + 26, ip_at + 27, ip_at + 32].contains(&at);
            if (ip_at..end).contains(&at) && !spared {
                assert!(seen.is_err(), "bit {bit}: {seen:?}");
            } else if let Ok(seen) = &seen {
                content_of(&flipped, seen);
            }
        }
    }
}
