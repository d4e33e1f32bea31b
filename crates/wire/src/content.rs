//! What schemes put into frames, taken out again and changed in place.

use crate::cursor::Cursor;
use crate::decode::Seen;
use crate::headers::{ICRC_BYTES, icrc};
use crate::malformed::Malformed;
use crate::roce::{Roce, RoceKind};
use xoff_catalogue::frame_content::{bytes_of, code};
use xoff_catalogue::int_header::{credited_from, credited_in, telemetry_from, telemetry_in, time_of};
use xoff_engine::Time;
use xoff_fabric::frame_content::{Carrier, FrameContent};
use xoff_fabric::packet::{Ecn, IntStack};

/// What of a scheme a frame carries, as [`Scheme::read_content`](xoff_fabric::scheme::Scheme::read_content) takes it;
/// `bytes` are those that `seen` was read from. Without words, and without the flows of a message between neighbours,
/// which [`Neighbour::named`](crate::Neighbour::named) tells.
pub fn content_of(bytes: &[u8], seen: &Seen) -> FrameContent {
    let part = |range: &std::ops::Range<usize>| bytes.get(range.clone()).unwrap_or_default();
    match seen {
        Seen::Roce(roce) => {
            let marked = roce.what == RoceKind::Cnp && roce.ecn == Ecn::Ce;
            let carrier = if marked { Carrier::MarkedCnp } else { Carrier::Cnp };
            let held = part(&roce.content);
            // A code that is a scheme's own has all there is.
            let own = held.get(..bytes_of(roce.code).unwrap_or(held.len())).unwrap_or(held);
            FrameContent { carrier, code: roce.code, bytes: own.to_vec(), ..FrameContent::default() }
        }
        Seen::Cnm(cnm) => {
            let carrier =
                Carrier::Cnm { feedback: cnm.feedback, offset_bytes: cnm.offset_bytes, delta_bytes: cnm.delta_bytes };
            FrameContent { carrier, ..FrameContent::default() }
        }
        Seen::Neighbour(message) => {
            FrameContent { code: message.code, bytes: part(&message.content).to_vec(), ..FrameContent::default() }
        }
        Seen::Tcp(_) | Seen::Pfc(_) => FrameContent::default(),
    }
}

/// The telemetry of a data packet or of the ACK that brings it back, as narrow as its fields are
/// ([`Unwrap`](crate::Unwrap) widens them); `multiplier` is the one that its scheme sets for all ports, if it
/// does. `None` if there is none, or if a port has a rate without a code.
pub fn telemetry_of(bytes: &[u8], roce: &Roce, multiplier: Option<u64>) -> Option<IntStack> {
    let content = bytes.get(roce.content.clone())?;
    match roce.code {
        code::TELEMETRY => telemetry_from(content, multiplier),
        code::TELEMETRY_CREDIT => credited_from(content, multiplier),
        code::DIGEST => {
            let mut stack = IntStack::default();
            stack.tag = u16::from_be_bytes(*content.first_chunk()?);
            Some(stack)
        }
        _ => None,
    }
}

/// When the packet, or the one that a reply answers, left its sender, if the frame says so.
pub fn stamp_of(bytes: &[u8], roce: &Roce) -> Option<Time> {
    let content = bytes.get(roce.content.clone())?;
    let nanoseconds = u64::from_be_bytes(*content.first_chunk()?);
    time_of(nanoseconds).filter(|_| roce.code == code::STAMP)
}

/// Writes telemetry into a packet that has room for it, as a switch does, and the invariant check sum that follows
/// from it.
pub fn set_telemetry(
    bytes: &mut [u8],
    roce: &Roce,
    stack: &IntStack,
    multiplier: Option<u64>,
) -> Result<(), Malformed> {
    let content = bytes.get_mut(roce.content.clone()).ok_or(Malformed::Short)?;
    match roce.code {
        code::TELEMETRY => put(content, &telemetry_in(stack, multiplier))?,
        code::TELEMETRY_CREDIT => put(content, &credited_in(stack, multiplier))?,
        code::DIGEST => put(content, &stack.tag.to_be_bytes())?,
        _ => return Err(Malformed::Content),
    }
    let length = usize::from(Cursor::new(bytes, roce.ip_at + 2).u16()?);
    let packet = bytes.get_mut(roce.ip_at..).and_then(|packet| packet.get_mut(..length)).ok_or(Malformed::Short)?;
    let (covered, sum) = packet.split_last_chunk_mut::<ICRC_BYTES>().ok_or(Malformed::Short)?;
    *sum = icrc(covered);
    Ok(())
}

/// Replaces the beginning of a place.
fn put(place: &mut [u8], bytes: &[u8]) -> Result<(), Malformed> {
    place.get_mut(..bytes.len()).ok_or(Malformed::Short)?.copy_from_slice(bytes);
    Ok(())
}
