//! The few messages of `rtnetlink(7)` that a testbed needs, as bytes: links are made, changed and asked for.
//!
//! A message is a header of 16 bytes, an `ifinfomsg` of 16 bytes, and attributes (length, kind, value, padded to four
//! bytes), some of which hold attributes in turn. Numbers are in the machine's own byte order.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

const NLMSG_ERROR: u16 = 2;
const RTM_NEWLINK: u16 = 16;
const RTM_GETLINK: u16 = 18;
const RTM_SETLINK: u16 = 19;

const NLM_F_REQUEST: u16 = 0x1;
const NLM_F_ACK: u16 = 0x4;
/// In an answer: of the request only its header is repeated.
const NLM_F_CAPPED: u16 = 0x100;
const NLM_F_EXCL: u16 = 0x200;
const NLM_F_CREATE: u16 = 0x400;

const IFLA_ADDRESS: u16 = 1;
const IFLA_IFNAME: u16 = 3;
const IFLA_MTU: u16 = 4;
const IFLA_OPERSTATE: u16 = 16;
const IFLA_LINKINFO: u16 = 18;
const IFLA_AF_SPEC: u16 = 26;
const IFLA_NET_NS_FD: u16 = 28;
const IFLA_INFO_KIND: u16 = 1;
const IFLA_INFO_DATA: u16 = 2;
const VETH_INFO_PEER: u16 = 1;
const IFLA_INET6_ADDR_GEN_MODE: u16 = 8;
const IN6_ADDR_GEN_MODE_NONE: u8 = 1;
const NLMSGERR_ATTR_MSG: u16 = 1;

const NLA_F_NESTED: u16 = 0x8000;
const AF_INET6: u16 = 10;
const IFF_UP: u32 = 0x1;
const IFF_RUNNING: u32 = 0x40;
const IFF_NOARP: u32 = 0x80;
const IFF_MULTICAST: u32 = 0x1000;
const IF_OPER_UP: u8 = 6;

const HEADER_BYTES: usize = 16;
const IFINFOMSG_BYTES: usize = 16;

/// One end of a pair, as it will be.
pub struct End<'a> {
    /// At most 15 bytes.
    pub name: &'a str,
    pub address: [u8; 6],
    pub mtu_bytes: u32,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LinkState {
    pub index: u32,
    pub mtu_bytes: u32,
    /// It was told to go up.
    pub is_up: bool,
    /// It has a carrier, as far as it can tell.
    pub is_running: bool,
    /// The kernel has noticed that it has a carrier: what is sent before is lost in silence.
    pub is_ready: bool,
}

/// A pair of virtual Ethernet interfaces: `here` where the message is sent, `there` in another namespace.
pub fn new_pair(here: &End, there: &End, namespace: BorrowedFd<'_>) -> Vec<u8> {
    let mut message = request(RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL | NLM_F_ACK, 0, 0);
    end(&mut message, here);
    nest(&mut message, IFLA_LINKINFO, |message| {
        attribute(message, IFLA_INFO_KIND, b"veth");
        nest(message, IFLA_INFO_DATA, |message| {
            nest(message, VETH_INFO_PEER, |message| {
                message.extend([0; IFINFOMSG_BYTES]);
                end(message, there);
                attribute(message, IFLA_NET_NS_FD, &namespace.as_raw_fd().to_ne_bytes());
            });
        });
    });
    finished(message)
}

/// IPv6 gives the interface no address when it goes up.
pub fn without_ipv6(name: &str) -> Vec<u8> {
    let mut message = request(RTM_SETLINK, NLM_F_ACK, 0, 0);
    attribute(&mut message, IFLA_IFNAME, &terminated(name));
    nest(&mut message, IFLA_AF_SPEC, |message| {
        nest(message, AF_INET6, |message| attribute(message, IFLA_INET6_ADDR_GEN_MODE, &[IN6_ADDR_GEN_MODE_NONE]));
    });
    finished(message)
}

/// Up, without ARP and multicast.
pub fn up(name: &str) -> Vec<u8> {
    let mut message = request(RTM_SETLINK, NLM_F_ACK, IFF_UP | IFF_NOARP, IFF_UP | IFF_NOARP | IFF_MULTICAST);
    attribute(&mut message, IFLA_IFNAME, &terminated(name));
    finished(message)
}

/// Asks for a link; [`link_state`] reads the answer.
pub fn get_link(name: &str) -> Vec<u8> {
    let mut message = request(RTM_GETLINK, 0, 0, 0);
    attribute(&mut message, IFLA_IFNAME, &terminated(name));
    finished(message)
}

/// The error that an answer reports, with the kernel's words where it has any.
pub fn outcome(answer: &[u8]) -> io::Result<()> {
    let (kind, flags) = (number(answer, 4, u16::from_ne_bytes)?, number(answer, 6, u16::from_ne_bytes)?);
    if kind != NLMSG_ERROR {
        return Ok(());
    }
    let code = number(answer, HEADER_BYTES, i32::from_ne_bytes)?;
    if code == 0 {
        return Ok(());
    }
    let error = io::Error::from_raw_os_error(code.saturating_neg());
    let asked = HEADER_BYTES + 4;
    let repeated =
        if flags & NLM_F_CAPPED != 0 { HEADER_BYTES } else { number(answer, asked, u32::from_ne_bytes)? as usize };
    let words = answer.get(asked + padded(repeated)..).and_then(|rest| find(rest, NLMSGERR_ATTR_MSG));
    Err(match words.map(|words| String::from_utf8_lossy(words).trim_end_matches('\0').to_owned()) {
        Some(words) => io::Error::new(error.kind(), format!("{words} ({error})")),
        None => error,
    })
}

pub fn link_state(answer: &[u8]) -> io::Result<LinkState> {
    outcome(answer)?;
    let index = number(answer, HEADER_BYTES + 4, u32::from_ne_bytes)?;
    let flags = number(answer, HEADER_BYTES + 8, u32::from_ne_bytes)?;
    let attributes = answer.get(HEADER_BYTES + IFINFOMSG_BYTES..).unwrap_or_default();
    let [mtu, state] = [IFLA_MTU, IFLA_OPERSTATE].map(|kind| find(attributes, kind).ok_or_else(cut_short));
    Ok(LinkState {
        index,
        mtu_bytes: number(mtu?, 0, u32::from_ne_bytes)?,
        is_up: flags & IFF_UP != 0,
        is_running: flags & IFF_RUNNING != 0,
        is_ready: state?.first() == Some(&IF_OPER_UP),
    })
}

/// A request about a link: `flags` is what it shall have of `change`.
fn request(kind: u16, modifiers: u16, flags: u32, change: u32) -> Vec<u8> {
    let mut message = vec![0; 4];
    message.extend(kind.to_ne_bytes());
    message.extend((NLM_F_REQUEST | modifiers).to_ne_bytes());
    // Sequence and port numbers stay zero: a socket asks one thing at a time. Family, type and index stay zero, too:
    // links are known by name.
    message.extend([0; HEADER_BYTES - 8]);
    message.extend([0; 8]);
    message.extend(flags.to_ne_bytes());
    message.extend(change.to_ne_bytes());
    message
}

fn finished(mut message: Vec<u8>) -> Vec<u8> {
    let length = message.len() as u32;
    message[..4].copy_from_slice(&length.to_ne_bytes());
    message
}

fn end(message: &mut Vec<u8>, end: &End) {
    attribute(message, IFLA_IFNAME, &terminated(end.name));
    attribute(message, IFLA_ADDRESS, &end.address);
    attribute(message, IFLA_MTU, &end.mtu_bytes.to_ne_bytes());
}

fn terminated(name: &str) -> Vec<u8> {
    [name.as_bytes(), &[0]].concat()
}

fn attribute(message: &mut Vec<u8>, kind: u16, value: &[u8]) {
    message.extend((4 + value.len() as u16).to_ne_bytes());
    message.extend(kind.to_ne_bytes());
    message.extend(value);
    message.resize(padded(message.len()), 0);
}

/// An attribute that holds what `fill` appends.
fn nest(message: &mut Vec<u8>, kind: u16, fill: impl FnOnce(&mut Vec<u8>)) {
    let start = message.len();
    attribute(message, kind | NLA_F_NESTED, &[]);
    fill(message);
    let length = (message.len() - start) as u16;
    message[start..start + 2].copy_from_slice(&length.to_ne_bytes());
}

fn padded(length: usize) -> usize {
    length.next_multiple_of(4)
}

/// The value of the first attribute of that kind.
fn find(mut attributes: &[u8], kind: u16) -> Option<&[u8]> {
    loop {
        let length = usize::from(number(attributes, 0, u16::from_ne_bytes).ok()?);
        let value = attributes.get(4..length)?;
        if number(attributes, 2, u16::from_ne_bytes).ok()? & !NLA_F_NESTED == kind {
            return Some(value);
        }
        attributes = attributes.get(padded(length)..)?;
    }
}

fn number<const N: usize, T>(bytes: &[u8], at: usize, read: impl Fn([u8; N]) -> T) -> io::Result<T> {
    bytes.get(at..).and_then(<[u8]>::first_chunk::<N>).map(|chunk| read(*chunk)).ok_or_else(cut_short)
}

fn cut_short() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "an answer of the kernel is too short")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::AsFd;

    fn hex(bytes: &[u8]) -> String {
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// As `ip link set to-h0 up` sends it, but for the flags. All machines that this is tested on are little-endian.
    #[cfg(target_endian = "little")]
    #[test]
    fn an_interface_goes_up_without_arp_and_multicast() {
        let header = "2c000000 1300 0500 00000000 00000000";
        let link = "00 00 0000 00000000 81000000 81100000";
        let name = "0a00 0300 746f2d683000 0000";
        assert_eq!(hex(&up("to-h0")), [header, link, name].concat().replace(' ', ""));
    }

    #[cfg(target_endian = "little")]
    #[test]
    fn lengths_of_nested_attributes_cover_what_they_hold() {
        let message = without_ipv6("a");
        let attributes = "06000300 6100 0000 | 1000 1a80 | 0c00 0a80 | 0500 0800 01 000000";
        assert_eq!(hex(&message[32..]), attributes.replace([' ', '|'], ""));
        assert_eq!(message.len(), 56);
    }

    #[test]
    fn both_ends_of_a_pair_are_described() {
        let ends = ["to-a", "to-b"].map(|name| End { name, address: [2, 0, 0, 0, 0, 9], mtu_bytes: 9216 });
        let namespace = std::fs::File::open("/dev/null").unwrap();
        let message = new_pair(&ends[0], &ends[1], namespace.as_fd());
        assert_eq!(number(&message, 0, u32::from_ne_bytes).unwrap() as usize, message.len());
        let here = &message[HEADER_BYTES + IFINFOMSG_BYTES..];
        assert_eq!(find(here, IFLA_IFNAME), Some(&b"to-a\0"[..]));
        let info = find(here, IFLA_LINKINFO).unwrap();
        assert_eq!(find(info, IFLA_INFO_KIND), Some(&b"veth"[..]));
        let there = &find(find(info, IFLA_INFO_DATA).unwrap(), VETH_INFO_PEER).unwrap()[IFINFOMSG_BYTES..];
        assert_eq!(find(there, IFLA_IFNAME), Some(&b"to-b\0"[..]));
        assert_eq!(find(there, IFLA_MTU), Some(&9216_u32.to_ne_bytes()[..]));
        assert_eq!(find(there, IFLA_NET_NS_FD), Some(&namespace.as_raw_fd().to_ne_bytes()[..]));
        assert_eq!(find(there, IFLA_LINKINFO), None);
    }

    /// An answer with an error to a request of which only the header is repeated.
    fn refused(code: i32, words: Option<&[u8]>) -> Vec<u8> {
        let mut answer = vec![0; 4];
        answer.extend(NLMSG_ERROR.to_ne_bytes());
        answer.extend(NLM_F_CAPPED.to_ne_bytes());
        answer.extend([0; 8]);
        answer.extend(code.to_ne_bytes());
        answer.extend([0; HEADER_BYTES]);
        if let Some(words) = words {
            attribute(&mut answer, 2, &[7; 4]);
            attribute(&mut answer, NLMSGERR_ATTR_MSG, words);
        }
        answer
    }

    #[test]
    fn errors_come_with_the_words_of_the_kernel() {
        let said = |answer: &[u8]| outcome(answer).unwrap_err().to_string();
        assert!(said(&refused(-17, None)).starts_with("File exists"));
        assert_eq!(said(&refused(-22, Some(b"mtu too small\0"))), "mtu too small (Invalid argument (os error 22))");
        assert!(outcome(&refused(0, None)).is_ok());
    }

    #[test]
    fn errors_after_a_request_repeated_in_full_are_found() {
        let mut answer = refused(-22, None);
        answer[6..8].copy_from_slice(&0_u16.to_ne_bytes());
        let request = up("to-h0");
        answer.truncate(HEADER_BYTES + 4);
        answer.extend(&request);
        attribute(&mut answer, NLMSGERR_ATTR_MSG, b"no\0");
        assert!(outcome(&answer).unwrap_err().to_string().starts_with("no ("));
    }

    #[test]
    fn links_are_read_and_answers_that_are_cut_short_are_errors() {
        let mut answer = request(RTM_NEWLINK, 0, IFF_UP, 0);
        answer[HEADER_BYTES + 4..HEADER_BYTES + 8].copy_from_slice(&3_u32.to_ne_bytes());
        attribute(&mut answer, IFLA_IFNAME, b"eth0\0");
        attribute(&mut answer, IFLA_MTU, &1500_u32.to_ne_bytes());
        attribute(&mut answer, IFLA_OPERSTATE, &[IF_OPER_UP]);
        let expected = LinkState { index: 3, mtu_bytes: 1500, is_up: true, is_running: false, is_ready: true };
        assert_eq!(link_state(&answer).unwrap(), expected);
        for length in 0..answer.len() - 3 {
            assert!(link_state(&answer[..length]).is_err(), "{length} bytes");
        }
    }
}
