//! Polylines before they are drawn: thinned, cut at the edges of a plot, broken into dashes; and
//! the lines that fill a bar.

use super::chart::Hatch;

pub(crate) type Point = (f64, f64);

#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Bounds {
    pub(crate) left: f64,
    pub(crate) right: f64,
    pub(crate) top: f64,
    pub(crate) bottom: f64,
}

/// The most points that stand for a group.
pub const LANDMARKS: usize = 6;

/// What a group of neighbours may shrink to: its ends and its extremes. Of equal extremes the first
/// and the last remain, since a level stretch is told by both of its ends.
pub fn landmarks(group: &[Point]) -> impl Iterator<Item = Point> {
    let by = |a: &usize, b: &usize| group[*a].1.total_cmp(&group[*b].1);
    let all = || 0..group.len();
    let (low, last_low) = (all().min_by(by), all().rev().min_by(by));
    let (high, last_high) = (all().rev().max_by(by), all().max_by(by));
    let mut kept: Vec<usize> =
        [all().next(), low, last_low, high, last_high, all().next_back()].into_iter().flatten().collect();
    kept.sort_unstable();
    kept.dedup();
    kept.into_iter().map(|index| group[index])
}

/// Where many points share a column of `width`, the first, the extremes and the last remain:
/// the picture is the same and the file small.
pub(crate) fn thin(points: &[Point], width: f64) -> Vec<Point> {
    let column = |p: &Point| (p.0 / width).floor();
    let mut out = Vec::with_capacity(points.len().min(8192));
    for group in points.chunk_by(|a, b| column(a) == column(b)) {
        if group.len() <= LANDMARKS {
            out.extend_from_slice(group);
            continue;
        }
        out.extend(landmarks(group));
    }
    out
}

/// The same polyline without the points in the middle of its level and upright stretches.
pub(crate) fn straighten(points: &[(i32, i32)]) -> Vec<(i32, i32)> {
    let mut out: Vec<(i32, i32)> = Vec::with_capacity(points.len());
    for &next in points {
        if out.last() == Some(&next) {
            continue;
        }
        if let [.., before, middle] = out[..] {
            let level = before.1 == middle.1 && middle.1 == next.1 && (middle.0 - before.0) * (next.0 - middle.0) > 0;
            let upright = before.0 == middle.0 && middle.0 == next.0 && (middle.1 - before.1) * (next.1 - middle.1) > 0;
            if level || upright {
                out.pop();
            }
        }
        out.push(next);
    }
    out
}

/// The pieces of a polyline within bounds.
pub(crate) fn clip(points: &[Point], within: &Bounds) -> Vec<Vec<Point>> {
    let mut pieces: Vec<Vec<Point>> = Vec::new();
    if let [only] = points {
        let inside = (within.left..=within.right).contains(&only.0) && (within.top..=within.bottom).contains(&only.1);
        return if inside { vec![vec![*only]] } else { Vec::new() };
    }
    for pair in points.windows(2) {
        let Some((from, to)) = clip_segment(pair[0], pair[1], within) else { continue };
        match pieces.last_mut() {
            Some(piece) if piece.last() == Some(&from) => piece.push(to),
            _ => pieces.push(vec![from, to]),
        }
    }
    pieces
}

/// Liang and Barsky's: how far along the segment each edge is crossed.
fn clip_segment(from: Point, to: Point, within: &Bounds) -> Option<(Point, Point)> {
    let (dx, dy) = (to.0 - from.0, to.1 - from.1);
    let (mut enter, mut leave) = (0.0f64, 1.0f64);
    let edges = [
        (-dx, from.0 - within.left),
        (dx, within.right - from.0),
        (-dy, from.1 - within.top),
        (dy, within.bottom - from.1),
    ];
    for (toward, room) in edges {
        if toward == 0.0 {
            if room < 0.0 {
                return None;
            }
        } else if toward < 0.0 {
            enter = enter.max(room / toward);
        } else {
            leave = leave.min(room / toward);
        }
    }
    let at = |part: f64| match part {
        0.0 => from,
        1.0 => to,
        part => (from.0 + part * dx, from.1 + part * dy),
    };
    (enter <= leave).then(|| (at(enter), at(leave)))
}

/// Cuts a polyline into strokes of a dash pattern that runs on around corners.
pub(crate) fn dashes(points: &[Point], (stroke, gap): (f64, f64)) -> Vec<(Point, Point)> {
    let mut out = Vec::new();
    let (mut on, mut left) = (true, stroke);
    for pair in points.windows(2) {
        let (from, to) = (pair[0], pair[1]);
        let length = (to.0 - from.0).hypot(to.1 - from.1);
        let along = |d: f64| (from.0 + (to.0 - from.0) * d / length, from.1 + (to.1 - from.1) * d / length);
        let mut done = 0.0;
        while length - done > 1e-9 {
            let step = left.min(length - done);
            if on {
                out.push((along(done), along(done + step)));
            }
            done += step;
            left -= step;
            if left <= 1e-9 {
                on = !on || gap <= 0.0;
                left = if on { stroke } else { gap };
            }
        }
    }
    out
}

/// The lines that fill a rectangle, each set as one polyline that goes from line to line along
/// the edges: one element in the document however many lines there are.
pub(crate) fn hatching(hatch: Hatch, within: &Bounds) -> Vec<Vec<Point>> {
    match hatch {
        Hatch::Full | Hatch::Empty | Hatch::Pale => Vec::new(),
        Hatch::Level => vec![level(within, 4.0)],
        Hatch::Rising => vec![slanted(within, 6.0, true)],
        Hatch::Falling => vec![slanted(within, 6.0, false)],
        Hatch::Crossed => vec![slanted(within, 8.0, true), slanted(within, 8.0, false)],
    }
}

fn level(within: &Bounds, step: f64) -> Vec<Point> {
    let mut out = Vec::new();
    let mut y = within.bottom - step;
    while y > within.top && out.len() < 1000 {
        let ends = [(within.left, y), (within.right, y)];
        out.extend(if out.len() % 4 == 0 { ends } else { [ends[1], ends[0]] });
        y -= step;
    }
    out
}

fn slanted(within: &Bounds, step: f64, rising: bool) -> Vec<Point> {
    let (width, height) = (within.right - within.left, within.bottom - within.top);
    let mut out: Vec<Point> = Vec::new();
    let mut reach = step;
    let mut turn = false;
    // Lines a + b = reach, with a from the left (or right) edge and b from the bottom.
    while reach < width + height && out.len() < 2000 {
        let place = |a: f64, b: f64| {
            let x = if rising { within.right - a } else { within.left + a };
            (x, within.bottom - b)
        };
        let first = place((reach - height).max(0.0), reach.min(height));
        let last = place(reach.min(width), (reach - width).max(0.0));
        let (from, to) = if turn { (last, first) } else { (first, last) };
        if let Some(before) = out.last() {
            // Around a corner, not across it.
            if (before.0 - from.0).abs() > 1e-6 && (before.1 - from.1).abs() > 1e-6 {
                let on_side = (before.0 - within.left).abs() < 1e-6 || (before.0 - within.right).abs() < 1e-6;
                out.push(if on_side { (before.0, from.1) } else { (from.0, before.1) });
            }
        }
        out.extend([from, to]);
        turn = !turn;
        reach += step;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::super::chart::Dash;
    use super::*;

    const BOX: Bounds = Bounds { left: 0.0, right: 10.0, top: 0.0, bottom: 10.0 };

    #[test]
    fn thinning_keeps_the_extremes_of_each_column() {
        let points: Vec<Point> = (0..10_000).map(|i| (f64::from(i) / 100.0, f64::from(i % 97))).collect();
        let thinned = thin(&points, 0.5);
        assert!(thinned.len() <= 4 * 201);
        assert!(thinned.iter().any(|p| p.1 == 96.0) && thinned.iter().any(|p| p.1 == 0.0));
        assert!(thinned.windows(2).all(|w| w[0].0 <= w[1].0));
    }

    #[test]
    fn dashes_cover_their_share() {
        let strokes = dashes(&[(0.0, 0.0), (60.0, 0.0), (60.0, 60.0)], Dash::Short.pattern().unwrap());
        let length: f64 = strokes.iter().map(|(a, b)| (b.0 - a.0).hypot(b.1 - a.1)).sum();
        assert!((length - 75.0).abs() < 1e-6, "{length}");
        assert!(dashes(&[(1.0, 1.0), (1.0, 1.0)], (2.0, 2.0)).is_empty());
    }

    #[test]
    fn straight_stretches_need_no_points() {
        assert_eq!(straighten(&[(0, 5), (1, 5), (1, 5), (2, 5), (2, 9), (2, 7)]), [(0, 5), (2, 5), (2, 9), (2, 7)]);
    }

    #[test]
    fn what_leaves_the_plot_is_cut_at_its_edge() {
        let pieces = clip(&[(-5.0, 5.0), (5.0, 5.0), (5.0, -5.0), (9.0, -5.0), (9.0, 5.0)], &BOX);
        assert_eq!(pieces, [vec![(0.0, 5.0), (5.0, 5.0), (5.0, 0.0)], vec![(9.0, 0.0), (9.0, 5.0)]]);
        assert!(clip(&[(-5.0, 5.0), (-1.0, 9.0)], &BOX).is_empty());
        assert!(clip(&[(20.0, 5.0)], &BOX).is_empty());
    }

    #[test]
    fn hatching_stays_within_its_bar() {
        for hatch in Hatch::ALL {
            for line in hatching(hatch, &BOX) {
                assert!(line.len() >= 2, "{hatch:?}");
                assert!(line.iter().all(|p| (0.0..=10.0).contains(&p.0) && (0.0..=10.0).contains(&p.1)), "{line:?}");
            }
        }
        let thin = Bounds { top: 9.999, ..BOX };
        hatching(Hatch::Crossed, &thin);
    }
}
