//! Small numbers as Parquet packs them ("RLE/bit-packing hybrid"): a number that comes often in a row as its count, others
//! eight at a time in as few bits as the largest needs.

/// Numbers that are packed together.
const GROUP: usize = 8;

/// Adds `numbers`, none of which needs more than `width` bits.
pub(crate) fn write(numbers: &[u32], width: u32, out: &mut Vec<u8>) {
    let (mut at, mut unwritten) = (0, 0);
    while let Some(&first) = numbers.get(at) {
        let mut end = at;
        while numbers.get(end..end + GROUP).is_some_and(|group| is_all(group, first)) {
            end += GROUP;
        }
        if end == at {
            at += GROUP;
            continue;
        }
        end += numbers[end..].iter().take_while(|&&number| number == first).count();
        pack(&numbers[unwritten..at], width, out);
        count((end - at) as u64 * 2, out);
        out.extend_from_slice(&first.to_le_bytes()[..width.div_ceil(8) as usize]);
        (at, unwritten) = (end, end);
    }
    pack(&numbers[unwritten..], width, out);
}

/// Compares all at once, without a branch for each.
#[inline]
fn is_all(group: &[u32], first: u32) -> bool {
    group.iter().fold(0, |differs, number| differs | (number ^ first)) == 0
}

/// Whole groups; zeros fill the last one, which only the last of all numbers may need.
fn pack(numbers: &[u32], width: u32, out: &mut Vec<u8>) {
    if numbers.is_empty() {
        return;
    }
    let groups = numbers.len().div_ceil(GROUP);
    count(groups as u64 * 2 + 1, out);
    let end = out.len() + groups * width as usize;
    let (mut word, mut bits) = (0_u64, 0);
    for &number in numbers {
        word |= u64::from(number) << bits;
        bits += width;
        if bits >= 32 {
            out.extend_from_slice(&(word as u32).to_le_bytes());
            word >>= 32;
            bits -= 32;
        }
    }
    out.extend_from_slice(&(word as u32).to_le_bytes()[..bits.div_ceil(8) as usize]);
    out.resize(end, 0);
}

/// Seven bits to a byte, the lowest first.
fn count(mut value: u64, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(numbers: &[u32], width: u32) -> Vec<u8> {
        let mut out = Vec::new();
        write(numbers, width, &mut out);
        out
    }

    /// The examples of the format's description.
    #[test]
    fn numbers_are_packed_as_the_format_says() {
        assert_eq!(written(&[0, 1, 2, 3, 4, 5, 6, 7], 3), [3, 0b1000_1000, 0b1100_0110, 0b1111_1010]);
        assert_eq!(written(&[4; 100], 3), [200, 1, 4]);
        assert_eq!(written(&[1; 9], 0), [18]);
        assert_eq!(written(&[], 5), []);
    }

    #[test]
    fn runs_begin_with_a_group() {
        let mut numbers = vec![1, 0, 1];
        numbers.extend([1; 20]);
        // One group of eight, fifteen ones left, then the last group with zeros behind it.
        numbers.extend([0, 1]);
        assert_eq!(written(&numbers, 1), [3, 0b1111_1101, 30, 1, 3, 0b10]);
        // Too few to be worth a run of their own.
        assert_eq!(written(&[2, 3, 3, 3, 3, 3, 3, 3, 3], 2), [5, 0b1111_1110, 0xff, 0b11, 0]);
    }
}
