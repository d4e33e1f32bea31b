//! Opcodes of the base transport header, and syndromes of replies.

/// A flow whose first packet has no room for what a write begins with.
pub const SEND: u8 = 0x00;
/// Any other.
pub const WRITE: u8 = 0x06;
pub const ACKNOWLEDGE: u8 = 0x11;
pub const CNP: u8 = 0x81;

/// An ACK without credits, and the NAK of a PSN out of sequence.
pub const SYNDROME_ACK: u8 = 0x1f;
pub const SYNDROME_NAK: u8 = 0x60;

/// Flag of a selective acknowledgement: a bitmap follows.
pub const SELECTIVE_BITMAP: u8 = 0x80;

/// Which packet of a message it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Part {
    /// Whether the opcode is of a write, else of a send.
    pub write: bool,
    pub first: bool,
    pub last: bool,
}

/// First, middle, last or only packet of a message.
pub fn of(part: Part) -> u8 {
    let family = if part.write { WRITE } else { SEND };
    family
        + match (part.first, part.last) {
            (true, false) => 0,
            (false, false) => 1,
            (false, true) => 2,
            (true, true) => 4,
        }
}

/// The inverse of [`of`].
pub fn part(opcode: u8) -> Option<Part> {
    let write = opcode >= WRITE;
    let (first, last) = match opcode - if write { WRITE } else { SEND } {
        0 => (true, false),
        1 => (false, false),
        2 => (false, true),
        4 => (true, true),
        _ => return None,
    };
    Some(Part { write, first, last })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn eight_opcodes_are_parts_of_messages() {
        let known: Vec<u8> = (0..=u8::MAX).filter(|opcode| part(*opcode).is_some()).collect();
        assert_eq!(known, [0, 1, 2, 4, 6, 7, 8, 10]);
        assert!(known.iter().all(|opcode| part(*opcode).map(of) == Some(*opcode)));
    }
}
