//! PFC frames, read (IEEE 802.1Qbb).

use crate::cursor::Cursor;
use crate::headers::{Mac, PAUSE_ADDRESS, PFC_OPCODE};
use crate::malformed::Malformed;
use xoff_engine::{BitRate, Span};

/// Bits that pass while one quantum does.
pub(crate) const QUANTUM_BITS: u64 = 512;

/// What a PFC frame says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pfc {
    /// The class-enable vector: a bit per priority.
    pub enabled: u8,
    /// Pause quanta by priority; zero is RESUME, 65 535 a pause until then.
    pub quanta: [u16; 8],
}

impl Pfc {
    /// The priorities it is about, and for how many quanta each must stop.
    pub fn priorities(&self) -> impl Iterator<Item = (u8, u16)> + '_ {
        (0..8).zip(self.quanta).filter(|(priority, _)| self.enabled & 1 << priority != 0)
    }
}

/// How long so many quanta are at a link of this rate, rounded down; without end for 65 535, a pause
/// until RESUME.
pub fn pause_span(quanta: u16, rate: BitRate) -> Option<Span> {
    let bits = u128::from(quanta) * u128::from(QUANTUM_BITS);
    let ps = bits * 1_000_000_000_000 / u128::from(rate.bps().max(1));
    (quanta != u16::MAX).then(|| Span::from_ps(ps as u64))
}

/// Behind the Ethernet header.
pub(crate) fn read(to: Mac, cursor: &mut Cursor<'_>) -> Result<Pfc, Malformed> {
    let (opcode, enabled) = (cursor.u16()?, cursor.u16()?);
    if opcode != PFC_OPCODE {
        return Err(Malformed::Opcode);
    }
    let mut quanta = [0; 8];
    for quantum in &mut quanta {
        *quantum = cursor.u16()?;
    }
    let enabled = u8::try_from(enabled).ok().filter(|_| to == PAUSE_ADDRESS).ok_or(Malformed::Pfc)?;
    Ok(Pfc { enabled, quanta })
}
