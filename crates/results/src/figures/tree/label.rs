//! Where labels go, so that none covers another, a node, or more links than it must.

use super::course::{Course, Point, along, length};
use super::place::Rect;

/// Distance at which lines are looked at.
const STEP: f64 = 4.0;
/// Half the breadth of what may run along a line.
const BREADTH: f64 = 5.0;

pub struct Labels<'a> {
    /// Lines, and how much it costs to cover one.
    courses: Vec<(&'a Course, u32)>,
    taken: Vec<Rect>,
    within: Rect,
}

impl<'a> Labels<'a> {
    pub fn new(courses: Vec<(&'a Course, u32)>, taken: Vec<Rect>, within: Rect) -> Labels<'a> {
        Labels { courses, taken, within }
    }

    /// The centre for a label of this size, of those that are offered: free, and over the cheapest lines; the
    /// first of several. What must be shown takes the first in any case.
    pub fn place(&mut self, (width, height): (f64, f64), centres: &[Point], must: bool) -> Option<Rect> {
        let rect = |&(x, y): &Point| Rect {
            left: x - width / 2.0,
            top: y - height / 2.0,
            right: x + width / 2.0,
            bottom: y + height / 2.0,
        };
        let free = |of: &Rect| self.inside(of) && self.taken.iter().all(|other| !other.touches(of));
        let best = centres.iter().map(rect).filter(free).min_by_key(|of| self.crossed(of));
        let found = best.or_else(|| centres.first().filter(|_| must).map(rect))?;
        self.taken.push(found);
        Some(found)
    }

    fn inside(&self, of: &Rect) -> bool {
        let within = &self.within;
        of.left >= within.left && of.right <= within.right && of.top >= within.top && of.bottom <= within.bottom
    }

    /// What the lines cost that pass below it.
    fn crossed(&self, of: &Rect) -> u32 {
        let passes = |course: &Course| {
            let steps = (length(course) / STEP) as usize;
            (0..=steps).any(|step| {
                let (x, y) = along(course, step as f64 * STEP).0;
                let (across, down) = (x > of.left - BREADTH && x < of.right + BREADTH, y > of.top && y < of.bottom);
                across && down
            })
        };
        self.courses.iter().filter(|(course, _)| passes(course)).map(|(_, cost)| cost).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_avoid_each_other_and_lines() {
        let within = Rect { left: 0.0, top: 0.0, right: 100.0, bottom: 100.0 };
        let courses = [vec![(50.0, 0.0), (50.0, 100.0)], vec![(70.0, 0.0), (70.0, 100.0)]];
        let mut labels = Labels::new(vec![(&courses[0], 3), (&courses[1], 1)], Vec::new(), within);
        let centres = [(50.0, 50.0), (70.0, 50.0), (98.0, 50.0)];
        let mut place = |must| labels.place((20.0, 10.0), &centres, must).map(|of| of.centre());
        assert_eq!(place(false), Some((70.0, 50.0)), "over the cheaper line");
        assert_eq!(place(false), Some((50.0, 50.0)), "the last is not inside");
        assert_eq!(place(false), None);
        assert_eq!(place(true), Some((50.0, 50.0)));
    }
}
