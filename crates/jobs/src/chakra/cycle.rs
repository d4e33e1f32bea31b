//! Things that wait for each other.

/// Some of `count` things that need each other in a circle, if there are any: each before one that it needs, the first
/// of all first.
/// `needs` are pairs of a thing and one that needs it.
pub(super) fn cycle(count: usize, needs: &[(u32, u32)]) -> Option<Vec<u32>> {
    let mut begin = vec![0_usize; count + 1];
    let mut missing = vec![0_u32; count];
    for &(before, after) in needs {
        begin[before as usize + 1] += 1;
        missing[after as usize] += 1;
    }
    for at in 1..begin.len() {
        begin[at] += begin[at - 1];
    }
    let mut after = vec![0_u32; needs.len()];
    let mut next = begin.clone();
    for &(first, second) in needs {
        after[next[first as usize]] = second;
        next[first as usize] += 1;
    }
    let mut ready: Vec<u32> = (0..count as u32).filter(|thing| missing[*thing as usize] == 0).collect();
    let mut over = 0;
    while let Some(thing) = ready.pop() {
        over += 1;
        for &later in &after[begin[thing as usize]..begin[thing as usize + 1]] {
            missing[later as usize] -= 1;
            if missing[later as usize] == 0 {
                ready.push(later);
            }
        }
    }
    (over < count).then(|| back(count, needs, &missing))
}

/// Whatever is left needs something that is left: going back from one to the next ends in a circle.
fn back(count: usize, needs: &[(u32, u32)], missing: &[u32]) -> Vec<u32> {
    let is_left = |thing: u32| missing[thing as usize] > 0;
    let mut needed = vec![u32::MAX; count];
    for &(before, after) in needs.iter().filter(|(before, after)| is_left(*before) && is_left(*after)) {
        // The least of them, so that the order of `needs` does not matter.
        needed[after as usize] = needed[after as usize].min(before);
    }
    let mut seen = vec![false; count];
    let mut at = (0..count as u32).find(|thing| is_left(*thing)).expect("something is left");
    while !std::mem::replace(&mut seen[at as usize], true) {
        at = needed[at as usize];
    }
    let mut circle = vec![at];
    let mut before = needed[at as usize];
    while before != at {
        circle.push(before);
        before = needed[before as usize];
    }
    let least = circle.iter().enumerate().min_by_key(|(_, thing)| **thing).map_or(0, |(place, _)| place);
    circle.rotate_left(least);
    circle
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn circles_are_found_and_nothing_else() {
        assert_eq!(cycle(0, &[]), None);
        assert_eq!(cycle(3, &[(0, 1), (1, 2), (0, 2)]), None);
        assert_eq!(cycle(1, &[(0, 0)]), Some(vec![0]));
        // 4 only depends on the cycle of 1, 2 and 3.
        assert_eq!(cycle(5, &[(0, 1), (1, 2), (2, 3), (3, 1), (3, 4)]), Some(vec![1, 3, 2]));
    }

    proptest! {
        #[test]
        fn what_goes_upwards_has_none(pairs in proptest::collection::vec((0_u32..50, 0_u32..50), 0..200)) {
            let needs: Vec<(u32, u32)> = pairs.iter().filter(|(a, b)| a < b).copied().collect();
            prop_assert_eq!(cycle(50, &needs), None);
        }

        #[test]
        fn what_is_found_is_one(pairs in proptest::collection::vec((0_u32..20, 0_u32..20), 0..60)) {
            if let Some(found) = cycle(20, &pairs) {
                for (at, thing) in found.iter().enumerate() {
                    prop_assert!(pairs.contains(&(found[(at + 1) % found.len()], *thing)));
                }
            }
        }
    }
}
