//! The hash by which other simulators choose next hops.

/// MurmurHash3 for 32-bit machines, over whole words.
pub(crate) fn murmur3(words: &[u32], seed: u32) -> u32 {
    let mut hash = seed;
    for &word in words {
        let scrambled = word.wrapping_mul(0xcc9e_2d51).rotate_left(15).wrapping_mul(0x1b87_3593);
        hash = (hash ^ scrambled).rotate_left(13).wrapping_mul(5).wrapping_add(0xe654_6b64);
    }
    hash ^= words.len() as u32 * 4;
    hash = (hash ^ hash >> 16).wrapping_mul(0x85eb_ca6b);
    hash = (hash ^ hash >> 13).wrapping_mul(0xc2b2_ae35);
    hash ^ hash >> 16
}
