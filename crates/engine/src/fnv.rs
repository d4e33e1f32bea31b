//! FNV-1a over 128 bits, eight bytes at a time, for inputs as long as a program. Every step can be undone, so inputs that
//! differ in one place never have the same hash. It is no protection against malice.

/// The hash of no input.
pub const START: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;

/// Adds one input to a hash; where it ends counts too.
pub fn with(hash: u128, bytes: &[u8]) -> u128 {
    let step =
        |hash: u128, word: u64| (hash ^ u128::from(word)).wrapping_mul(0x0000_0000_0100_0000_0000_0000_0000_013b);
    let (words, rest) = bytes.as_chunks::<8>();
    let hash = words.iter().fold(hash, |hash, word| step(hash, u64::from_le_bytes(*word)));
    let hash = rest.iter().fold(hash, |hash, byte| step(hash, u64::from(*byte)));
    step(hash, bytes.len() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The offset basis times the prime, as FNV-1a has them, for an input without a byte.
    #[test]
    fn an_empty_input_is_one_step() {
        assert_eq!(with(START, b""), START.wrapping_mul((1 << 88) + 0x13b));
        assert_ne!(with(with(START, b"ab"), b"c"), with(with(START, b"a"), b"bc"));
        assert_ne!(with(START, &[0; 8]), with(START, &[0; 16]));
    }
}
