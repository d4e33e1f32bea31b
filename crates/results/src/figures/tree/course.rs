//! How links run between the nodes of a picture.

use super::choice::Choice;
use super::place::{Places, Rect};
use std::collections::BTreeMap;

pub type Point = (f64, f64);

/// Of a wire, from its first end to its second.
pub type Course = Vec<Point>;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Side {
    Top,
    Bottom,
    Left,
    Right,
}

/// Where a wire leads to from one of its ends, along x; the wire; the end.
type End = (f64, usize, usize);

/// Height of the lowest line that passes above a layer, and of each further one over the one before.
const ARCH: f64 = 16.0;
const ARCH_STEP: f64 = 7.0;

/// One for each wire. Links between layers are straight, and so are those between neighbours of one layer; others of one
/// layer pass above those between.
pub fn courses(choice: &Choice, places: &Places) -> Vec<Course> {
    let sides: Vec<[Side; 2]> = (0..choice.wires.len()).map(|wire| sides(choice, places, wire)).collect();
    let points = attachments(choice, places, &sides);
    let mut arches: BTreeMap<u32, usize> = BTreeMap::new();
    let mut course = |wire: usize| {
        let [from, to] = [0, 1].map(|end| points[&(wire, end)]);
        let tier = choice.items[choice.wires[wire].ends[0]].tier;
        if sides[wire] != [Side::Top; 2] {
            return vec![from, to];
        }
        let count = arches.entry(tier).or_default();
        *count += 1;
        let y = from.1 - ARCH - ARCH_STEP * (*count - 1) as f64;
        vec![from, (from.0, y), (to.0, y), to]
    };
    (0..choice.wires.len()).map(&mut course).collect()
}

/// Where a wire leaves each of its ends.
fn sides(choice: &Choice, places: &Places, wire: usize) -> [Side; 2] {
    let [a, b] = choice.wires[wire].ends;
    let (one, other) = (&places.boxes[a], &places.boxes[b]);
    if choice.items[a].tier != choice.items[b].tier {
        return if one.top < other.top { [Side::Bottom, Side::Top] } else { [Side::Top, Side::Bottom] };
    }
    let (left, right) = (one.right.min(other.right), one.left.max(other.left));
    let between = |item: &Rect| item.top == one.top && item.left >= left && item.right <= right;
    if a == b || places.boxes.iter().any(between) {
        [Side::Top; 2]
    } else if one.left < other.left {
        [Side::Right, Side::Left]
    } else {
        [Side::Left, Side::Right]
    }
}

/// By wire and end: the wires at one side of a box are spread over it, in the order of where they lead.
fn attachments(choice: &Choice, places: &Places, sides: &[[Side; 2]]) -> BTreeMap<(usize, usize), Point> {
    let mut at_side: BTreeMap<(usize, Side), Vec<End>> = BTreeMap::new();
    for (wire, of) in choice.wires.iter().enumerate() {
        for end in [0, 1] {
            let leads_to = places.boxes[of.ends[1 - end]].centre().0;
            at_side.entry((of.ends[end], sides[wire][end])).or_default().push((leads_to, wire, end));
        }
    }
    let mut points = BTreeMap::new();
    for ((item, side), mut wires) in at_side {
        wires.sort_by(|a, b| a.0.total_cmp(&b.0).then((a.1, a.2).cmp(&(b.1, b.2))));
        for (index, &(_, wire, end)) in wires.iter().enumerate() {
            let part = (index as f64 + 0.5) / wires.len() as f64;
            points.insert((wire, end), on_side(&places.boxes[item], side, part));
        }
    }
    points
}

fn on_side(of: &Rect, side: Side, part: f64) -> Point {
    let (x, y) = (of.left + part * (of.right - of.left), of.top + part * (of.bottom - of.top));
    match side {
        Side::Top => (x, of.top),
        Side::Bottom => (x, of.bottom),
        Side::Left => (of.left, y),
        Side::Right => (of.right, y),
    }
}

pub fn length(course: &[Point]) -> f64 {
    course.windows(2).map(|step| (step[1].0 - step[0].0).hypot(step[1].1 - step[0].1)).sum()
}

/// The point so far along a course, and the direction there.
pub fn along(course: &[Point], distance: f64) -> (Point, Point) {
    let mut left = distance;
    let mut last = ((0.0, 0.0), (0.0, 1.0));
    for step in course.windows(2) {
        let (dx, dy) = (step[1].0 - step[0].0, step[1].1 - step[0].1);
        let size = dx.hypot(dy);
        if size == 0.0 {
            continue;
        }
        let way = (dx / size, dy / size);
        let here = left.min(size);
        last = ((step[0].0 + way.0 * here, step[0].1 + way.1 * here), way);
        if left <= size {
            return last;
        }
        left -= size;
    }
    last
}

/// From one distance to another, moved aside: to the right of what comes down.
pub fn piece(course: &[Point], from: f64, until: f64, aside: f64) -> Course {
    let moved = |distance: f64| {
        let ((x, y), way) = along(course, distance);
        (x + aside * way.1, y - aside * way.0)
    };
    let mut points = vec![moved(from)];
    let mut passed = 0.0;
    for step in course.windows(2) {
        passed += length(step);
        if passed > from && passed < until {
            points.push(moved(passed));
        }
    }
    points.push(moved(until));
    points
}

#[cfg(test)]
mod tests {
    use super::super::scene::tests::chain;
    use super::*;

    fn of(switches: u32, links: &[(u32, u32)]) -> (Choice, Places, Vec<Course>) {
        let mut scene = chain(switches, 2, 2);
        scene.links.extend(links);
        let choice = Choice::of(&scene);
        let places = Places::of(&scene, &choice, 50.0, |text, size| 0.6 * size * text.len() as f64);
        let courses = courses(&choice, &places);
        (choice, places, courses)
    }

    #[test]
    fn neighbours_are_linked_sideways_and_layers_from_bottom_to_top() {
        let (_, places, courses) = of(2, &[]);
        assert_eq!(
            courses[0],
            [on_side(&places.boxes[0], Side::Right, 0.5), on_side(&places.boxes[1], Side::Left, 0.5)]
        );
        // A host's link: from its top to the bottom of its switch.
        assert_eq!((courses[1][0].1, courses[1][1].1), (places.boxes[2].top, places.boxes[0].bottom));
    }

    #[test]
    fn who_is_not_a_neighbour_is_reached_above_those_between() {
        // S1, S2 and S3 are one layer, and S1 and S3 no neighbours.
        let (_, places, courses) = of(5, &[(1, 3)]);
        let arch = courses.last().unwrap();
        assert_eq!(arch.len(), 4);
        assert!(arch[1].1 < places.boxes[2].top && arch[0].0 < arch[3].0);
    }

    #[test]
    fn parallel_links_do_not_meet() {
        let (_, _, courses) = of(2, &[(0, 1)]);
        let twin = courses.last().unwrap();
        assert!(twin[0] != courses[0][0] && twin[1] != courses[0][1]);
    }

    #[test]
    fn distances_are_counted_along_the_course() {
        let course = [(0.0, 0.0), (0.0, 10.0), (5.0, 10.0)];
        assert_eq!(length(&course), 15.0);
        assert_eq!(along(&course, 12.0), ((2.0, 10.0), (1.0, 0.0)));
        assert_eq!(piece(&course, 2.0, 8.0, 3.0), [(3.0, 2.0), (3.0, 8.0)]);
        assert_eq!(piece(&course, 2.0, 12.0, 0.0), [(0.0, 2.0), (0.0, 10.0), (2.0, 10.0)]);
    }
}
