//! Sorting networks: few keys are sorted without a branch.

/// Most keys that there is a network for.
pub const MOST: usize = 7;

/// Exchanges that sort keys, by their number: as few as there can be.
#[rustfmt::skip]
const NETWORKS: [&[(usize, usize)]; MOST + 1] = [
    &[],
    &[],
    &[(0, 1)],
    &[(0, 2), (0, 1), (1, 2)],
    &[(0, 2), (1, 3), (0, 1), (2, 3), (1, 2)],
    &[(0, 3), (1, 4), (0, 2), (1, 3), (0, 1), (2, 4), (1, 2), (3, 4), (2, 3)],
    &[(0, 5), (1, 3), (2, 4), (1, 2), (3, 4), (0, 3), (2, 5), (0, 1), (2, 3), (4, 5), (1, 2), (3, 4)],
    &[
        (0, 6), (2, 3), (4, 5), (0, 2), (1, 4), (3, 6), (0, 1), (2, 5), (3, 4), (1, 2), (4, 6), (2, 3), (4, 5), (1, 2),
        (3, 4), (5, 6),
    ],
];

/// Sorts keys, the largest first.
#[inline(always)]
pub fn sorted<const N: usize>(mut keys: [u32; N]) -> [u32; N] {
    for &(i, j) in NETWORKS[N] {
        (keys[i], keys[j]) = (keys[i].max(keys[j]), keys[i].min(keys[j]));
    }
    keys
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A network sorts any keys if it sorts all of zeros and ones.
    #[test]
    fn networks_sort() {
        fn of<const N: usize>() {
            for bits in 0..1u32 << N {
                let keys: [u32; N] = std::array::from_fn(|i| bits >> i & 1);
                assert!(sorted(keys).is_sorted_by(|a, b| a >= b), "{keys:?}");
            }
        }
        of::<1>();
        of::<2>();
        of::<3>();
        of::<4>();
        of::<5>();
        of::<6>();
        of::<7>();
    }
}
