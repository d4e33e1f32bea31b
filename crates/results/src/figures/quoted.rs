//! Numbers that others gave: open marks on top of what was measured, white inside so that they show on any ground.

use super::canvas::{Canvas, Failed, INK};
use super::chart::{Panel, QuotedPlace, Shape};
use super::layout::{Frame, Layout};
use super::path::Bounds;
use plotters::prelude::*;

/// From the middle of a mark to its corners.
const REACH: f64 = 5.5;
/// Stroke and gap of levels and instants, which no curve has.
const DASH: (f64, f64) = (7.0, 5.0);

/// All that is quoted in a panel.
pub fn draw(panel: &Panel, layout: &Layout, frame: &Frame, canvas: &Canvas<'_>) -> Result<(), Failed> {
    let of = &frame.bounds;
    for quoted in &panel.quoted {
        let colour = quoted.colour.unwrap_or(INK);
        let (ends, line) = match quoted.place {
            QuotedPlace::Point(x, y) => (vec![layout.place(frame, (x, y))], false),
            QuotedPlace::Level { y, from, until } => {
                let (_, y) = layout.place(frame, (layout.x.low, y));
                let end = |x: Option<f64>, edge: f64| x.map_or(edge, |x| layout.place(frame, (x, layout.y.low)).0);
                let (left, right) = (end(from, of.left + 2.0 * REACH), end(until, of.right - 2.0 * REACH));
                (vec![(left.max(of.left), y), (right.min(of.right), y)], true)
            }
            QuotedPlace::Instant(x) => {
                let (x, _) = layout.place(frame, (x, layout.y.low));
                (vec![(x, of.top + 2.0 * REACH), (x, of.bottom - 2.0 * REACH)], true)
            }
            QuotedPlace::Bar { group, slot, value } => {
                let (left, right) = layout.bar(frame, group, slot);
                // Beside the whisker, where the bar is wide enough for both.
                let aside = if right - left >= 5.0 * REACH { 2.0 * REACH } else { 0.0 };
                (vec![(f64::midpoint(left, right) + aside, layout.place(frame, (0.0, value)).1)], false)
            }
        };
        if !ends.iter().all(|end| inside(*end, of)) {
            continue;
        }
        if line {
            canvas.curve(&ends, colour, (Some(DASH), 1.0))?;
        }
        for end in ends {
            mark(quoted.shape, end, colour, canvas)?;
        }
    }
    Ok(())
}

/// Not a number is outside.
fn inside((x, y): (f64, f64), of: &Bounds) -> bool {
    (of.left..=of.right).contains(&x) && (of.top..=of.bottom).contains(&y)
}

fn mark(shape: Shape, (x, y): (f64, f64), colour: RGBColor, canvas: &Canvas<'_>) -> Result<(), Failed> {
    let corners = |reach: f64| match shape {
        Shape::Number => {
            vec![canvas.at(x - reach, y), canvas.at(x, y - reach), canvas.at(x + reach, y), canvas.at(x, y + reach)]
        }
        Shape::AtMost => {
            vec![canvas.at(x - reach, y - reach), canvas.at(x + reach, y - reach), canvas.at(x, y + 0.8 * reach)]
        }
        Shape::AtLeast => {
            vec![canvas.at(x - reach, y + reach), canvas.at(x + reach, y + reach), canvas.at(x, y - 0.8 * reach)]
        }
    };
    canvas.fill(corners(REACH + 3.0), &WHITE)?;
    let mut outline = corners(REACH);
    outline.push(outline[0]);
    canvas.angular(outline, colour, 2.0)
}

pub fn sample(shape: Shape, line: bool, (x, y): (f64, f64), canvas: &Canvas<'_>) -> Result<(), Failed> {
    if line {
        canvas.curve(&[(x, y), (x + 30.0, y)], INK, (Some(DASH), 1.0))?;
    }
    mark(shape, (x + 15.0, y), INK, canvas)
}
