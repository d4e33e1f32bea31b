//! Bars for the queues of switches, beside the beginnings of their links.

use super::course::{Course, Point, along, length, piece};
use super::place::Rect;
use super::scene::Scene;
use std::cmp::Reverse;

/// From a box to what lies beside its links.
pub const AWAY: f64 = 3.0;
/// The longest bar, and how far bars are from their links.
const LONGEST: f64 = 40.0;
const ASIDE: f64 = 7.0;
/// Half of what a bar takes across, with its diamond if it has one.
const HALF: f64 = 7.0;

/// Queues of switches: those at roots, then the longest.
pub fn queues(scene: &Scene) -> Vec<(u32, u64)> {
    let roots = scene.roots();
    let mut queues = scene.queues.clone();
    queues.retain(|&(port, _)| !scene.is_host(scene.owner(port)));
    queues.sort_by_key(|&(port, bytes)| (!roots.contains(&port), Reverse(bytes), port));
    queues
}

/// Along a link from its egress, for this part of the longest queue.
pub fn points(course: &Course, part: f64) -> Vec<Point> {
    let (_, (dx, dy)) = along(course, 0.0);
    // Beside a link that leaves at a slant the box reaches further.
    let slant = if dy == 0.0 { 0.0 } else { (ASIDE * dx * dy.signum() / dy.abs()).max(0.0) };
    let from = AWAY + slant.min(0.3 * length(course));
    piece(course, from, from + (LONGEST * part).max(3.0).min(0.45 * length(course)), ASIDE)
}

/// What a bar covers.
pub fn extent(bar: &[Point]) -> Rect {
    let start = Rect { left: f64::MAX, top: f64::MAX, right: f64::MIN, bottom: f64::MIN };
    bar.iter().fold(start, |of, &(x, y)| Rect {
        left: of.left.min(x - HALF),
        top: of.top.min(y - HALF),
        right: of.right.max(x + HALF),
        bottom: of.bottom.max(y + HALF),
    })
}

/// Centres for its label: on either side of it, on the other side of its link, then above and below.
pub fn beside(bar: &[Point], (width, height): (f64, f64)) -> Vec<Point> {
    let (of, (_, end)) = (extent(bar), bar[bar.len() - 1]);
    let (x, y) = of.centre();
    let (right, left) = (of.right + width / 2.0 + 1.0, of.left - width / 2.0 - 1.0);
    let mut places = Vec::new();
    for height in [end, y] {
        places.extend([(right, height), (left, height), (left - 2.0 * ASIDE, height), (right + 2.0 * ASIDE, height)]);
    }
    for height in [of.top - height / 2.0 - 1.0, of.bottom + height / 2.0 + 1.0] {
        places.extend([(x, height), (right, height), (left, height)]);
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_is_clear_of_its_box_and_as_long_as_its_queue() {
        // Out of the bottom of a box, straight and to the right.
        for course in [vec![(0.0, 0.0), (0.0, 200.0)], vec![(0.0, 0.0), (150.0, 100.0)]] {
            let bar = points(&course, 0.5);
            assert!(bar.iter().all(|point| point.1 > 0.0), "{bar:?}");
            assert!((length(&bar) - LONGEST / 2.0).abs() < 1e-9);
        }
    }

    #[test]
    fn no_place_for_a_label_is_on_its_bar() {
        let bar = points(&vec![(0.0, 0.0), (90.0, 100.0)], 1.0);
        let covers = |&(x, y): &Point| {
            let label = Rect { left: x - 20.0, top: y - 7.0, right: x + 20.0, bottom: y + 7.0 };
            label.touches(&extent(&bar))
        };
        assert!(!beside(&bar, (40.0, 14.0)).iter().any(covers));
    }
}
