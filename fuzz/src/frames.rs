//! Bytes from a link.

use xoff_engine::Time;
use xoff_fabric::scheme::Scheme;
use xoff_schemes::{Any, SchemeSet, all, select};
use xoff_wire::{Roce, Seen, Unwrap, content_of, decode, icrc, set_ecn, set_telemetry, stamp_of, telemetry_of};

/// A frame as it is, and with the check sums that its bytes should have: few changes keep those right.
pub fn frame(bytes: &[u8]) -> bool {
    let accepted = read(bytes);
    for ip_at in [14, 18] {
        if let Some(sealed) = seal(bytes, ip_at) {
            read(&sealed);
        }
    }
    accepted
}

fn read(bytes: &[u8]) -> bool {
    let Ok(seen) = decode(bytes) else { return false };
    let content = content_of(bytes, &seen);
    assert!(content.bytes.len() <= bytes.len());
    for scheme in all().iter().filter_map(|spec| Any::configure(&select(spec.name).ok()?)) {
        if let Some(feedback) = scheme.read_content(&content) {
            assert_eq!(scheme.frame_content(&feedback).code, content.code);
        }
    }
    match &seen {
        Seen::Roce(roce) => change(bytes, roce),
        Seen::Neighbour(message) => assert!(message.named(bytes).count() <= usize::from(message.flows)),
        Seen::Tcp(_) | Seen::Cnm(_) | Seen::Pfc(_) => {}
    }
    true
}

/// What switches and ends do with a packet.
fn change(bytes: &[u8], roce: &Roce) {
    let mut changed = bytes.to_vec();
    set_ecn(&mut changed, roce.ip_at, roce.ecn).expect("it has a header");
    assert_eq!(decode(&changed).as_ref(), Ok(&Seen::Roce(roce.clone())));
    stamp_of(bytes, roce);
    if let Some(stack) = telemetry_of(bytes, roce, None) {
        set_telemetry(&mut changed, roce, &stack, None).expect("it has room");
        assert_eq!(decode(&changed).as_ref(), Ok(&Seen::Roce(roce.clone())));
        assert_eq!(telemetry_of(&changed, roce, None).as_ref(), Some(&stack));
        Unwrap::new(None).widen(Time::from_ms(1), &stack);
    }
}

/// The frame with right sums, if it can be one with its IPv4 header there.
fn seal(bytes: &[u8], ip_at: usize) -> Option<Vec<u8>> {
    let mut sealed = bytes.to_vec();
    let length = usize::from(u16::from_be_bytes(*bytes.get(ip_at + 2..)?.first_chunk()?));
    let (covered, sum) = sealed.get_mut(ip_at..)?.get_mut(..length)?.split_last_chunk_mut::<4>()?;
    *sum = icrc(covered);
    set_ecn(&mut sealed, ip_at, xoff_fabric::packet::Ecn::Ect0).ok()?;
    Some(sealed)
}
