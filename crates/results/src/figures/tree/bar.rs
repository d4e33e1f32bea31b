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
    let (from, until) = (bar[0], bar[bar.len() - 1]);
    let middle = (f64::midpoint(from.0, until.0), f64::midpoint(from.1, until.1));
    let (x, y) = (width / 2.0 + HALF + 1.0, height / 2.0 + HALF + 1.0);
    let mut places = Vec::new();
    for (px, py) in [until, middle] {
        places.extend([(px + x, py), (px - x, py), (px - x - 2.0 * ASIDE, py), (px + x + 2.0 * ASIDE, py)]);
        places.extend([
            (px, py - y),
            (px, py + y),
            (px + x, py + y),
            (px - x, py + y),
            (px + x, py - y),
            (px - x, py - y),
        ]);
    }
    places
}
