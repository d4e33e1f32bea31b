//! Bars: filled so that print without colours tells them apart, with intervals and names.

use super::canvas::{Canvas, Failed, INK, text_width};
use super::chart::{Bar, Hatch, Panel, Part};
use super::layout::{Frame, Layout};
use super::path::{Bounds, hatching};
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use xoff_scenario::number::brief;

pub fn draw(panel: &Panel, layout: &Layout, frame: &Frame, canvas: &Canvas<'_>) -> Result<(), Failed> {
    for bar in &panel.bars {
        draw_one(bar, layout, frame, canvas)?;
    }
    Ok(())
}

fn draw_one(bar: &Bar, layout: &Layout, frame: &Frame, canvas: &Canvas<'_>) -> Result<(), Failed> {
    let of = &frame.bounds;
    let (left, right) = layout.bar(frame, bar.group, bar.slot);
    let gap = if right - left > 8.0 { 1.0 } else { 0.5 };
    let (left, right) = (left + gap, right - gap);
    let middle = f64::midpoint(left, right);
    let height = |value: f64| layout.place(frame, (0.0, value)).1.clamp(of.top, of.bottom);
    let mut sum = 0.0;
    for part in bar.parts.iter().filter(|part| !part.value.is_nan()) {
        if part.value.is_infinite() {
            // A shaft from the foot to the top, so that it is not taken for a low bar's absence.
            canvas.stroke(vec![canvas.at(middle, of.bottom), canvas.at(middle, of.top + 6.0)], part.colour, 1.0)?;
            canvas.never(middle, of.top, part.colour)?;
            return Ok(());
        }
        let (from, to) = (height(sum), height(sum + part.value));
        sum += part.value;
        fill(part, Bounds { left, right, top: from.min(to), bottom: from.max(to) }, canvas)?;
    }
    let whole: f64 = bar.parts.iter().map(|part| part.value).filter(|value| value.is_finite()).sum();
    let mut sum = 0.0;
    for part in bar.parts.iter().filter(|part| part.value.is_finite()) {
        sum += part.value;
        if let Some(half) = part.interval.filter(|half| half.is_finite() && *half > 0.0) {
            let place = |value: f64| layout.place(frame, (0.0, value)).1;
            if part.hatch == Hatch::Full {
                // Ink does not show on a dark bar.
                let (low, high) = (place(sum - half).clamp(of.top, of.bottom), place(sum + half).max(of.top));
                canvas.stroke(vec![canvas.at(middle, low), canvas.at(middle, high.min(low))], WHITE, 3.0)?;
            }
            whisker(middle, (place(sum - half), place(sum + half)), (right - left).min(10.0) / 2.0, of, INK, canvas)?;
        }
    }
    // What is cut off says how high it is.
    if whole > layout.y.high {
        let text = brief(whole);
        let width = text_width(&text, 11.0) / 2.0 + 2.0;
        let ground = vec![
            canvas.at(middle - 8.0, of.top + 2.0),
            canvas.at(middle + 8.0, of.top + 2.0),
            canvas.at(middle + 8.0, of.top + 4.0 + 2.0 * width),
            canvas.at(middle - 8.0, of.top + 4.0 + 2.0 * width),
        ];
        canvas.fill(ground, &WHITE)?;
        canvas.upward(&text, 11.0, (middle, of.top + 3.0 + width), Pos::new(HPos::Center, VPos::Center))?;
    }
    Ok(())
}

fn fill(part: &Part, within: Bounds, canvas: &Canvas<'_>) -> Result<(), Failed> {
    filled(part.colour, part.hatch, within, canvas)
}

fn filled(colour: RGBColor, hatch: Hatch, within: Bounds, canvas: &Canvas<'_>) -> Result<(), Failed> {
    let corners = [
        canvas.at(within.left, within.bottom),
        canvas.at(within.left, within.top),
        canvas.at(within.right, within.top),
        canvas.at(within.right, within.bottom),
    ];
    let tint = |share: f64| {
        let mix = |part: u8| (255.0 - (255.0 - f64::from(part)) * share).round() as u8;
        RGBColor(mix(colour.0), mix(colour.1), mix(colour.2))
    };
    let ground = match hatch {
        Hatch::Full => colour,
        Hatch::Pale => tint(0.45),
        Hatch::Empty => WHITE,
        Hatch::Rising | Hatch::Falling | Hatch::Level | Hatch::Crossed => tint(0.15),
    };
    canvas.fill(corners.to_vec(), &ground)?;
    // Where lines would run together anyway, the tint alone must do.
    let lines = if within.right - within.left < 7.0 { Vec::new() } else { hatching(hatch, &within) };
    for line in lines.into_iter().filter(|line| line.len() > 1) {
        canvas.stroke(line.into_iter().map(|p| canvas.at(p.0, p.1)).collect(), colour, 1.0)?;
    }
    let mut outline = corners.to_vec();
    outline.push(corners[0]);
    canvas.stroke(outline, colour, 1.0)
}

/// An interval: an upright stroke with caps. Where it leaves the plot an arrow at the edge says that it goes
/// on; on a logarithmic axis one that reaches zero always does.
pub fn whisker(
    x: f64,
    ends: (f64, f64),
    cap: f64,
    of: &Bounds,
    colour: RGBColor,
    canvas: &Canvas<'_>,
) -> Result<(), Failed> {
    let (low, high) = (ends.0.max(ends.1), ends.0.min(ends.1));
    // One that is lower than its own stroke is wide is noise of the arithmetic.
    if low - high < 0.5
        || x < of.left
        || x > of.right
        || low < of.top
        || high > of.bottom
        || low.is_nan()
        || high.is_nan()
    {
        return Ok(());
    }
    let ends = [(low, of.bottom, -cap), (high, of.top, cap)];
    canvas.angular(capped(ends, of.top..=of.bottom, cap, |along, across| canvas.at(x + across, along)), colour, 1.0)
}

/// One polyline with its caps. Each end has its place, the edge of the plot on its side, and how far the tips of an arrow
/// stand back from that edge; `at` takes a place along the stroke and one across it, from its middle.
fn capped(
    ends: [(f64, f64, f64); 2],
    plot: std::ops::RangeInclusive<f64>,
    cap: f64,
    at: impl Fn(f64, f64) -> (i32, i32),
) -> Vec<(i32, i32)> {
    let mut points = Vec::new();
    for (end, edge, back) in ends {
        if plot.contains(&end) {
            points.extend([at(end, 0.0), at(end, -cap), at(end, cap), at(end, 0.0)]);
        } else {
            points.extend([at(edge, 0.0), at(edge + back, -cap), at(edge, 0.0), at(edge + back, cap), at(edge, 0.0)]);
        }
    }
    points
}

/// A horizontal interval, as [`whisker`] draws a vertical one.
pub fn lying_whisker(
    y: f64,
    (left, right): (f64, f64),
    cap: f64,
    of: &Bounds,
    colour: RGBColor,
    canvas: &Canvas<'_>,
) -> Result<(), Failed> {
    if right - left < 0.5 || y < of.top || y > of.bottom || right < of.left || left > of.right {
        return Ok(());
    }
    let ends = [(left, of.left, cap), (right, of.right, -cap)];
    canvas.angular(capped(ends, of.left..=of.right, cap, |along, across| canvas.at(along, y + across)), colour, 1.0)
}

/// A small bar for the legend.
pub fn swatch(colour: RGBColor, hatch: Hatch, (x, y): (f64, f64), canvas: &Canvas<'_>) -> Result<(), Failed> {
    filled(colour, hatch, Bounds { left: x + 4.0, right: x + 30.0, top: y - 6.0, bottom: y + 6.0 }, canvas)
}

/// The names below the axis: of single bars, and of groups.
pub fn names(panel: &Panel, layout: &Layout, frame: &Frame, canvas: &Canvas<'_>) -> Result<(), Failed> {
    if !frame.x_numbers {
        return Ok(());
    }
    let (names, of) = (&layout.names, &frame.bounds);
    let (centred, hanging) = (Pos::new(HPos::Center, VPos::Top), Pos::new(HPos::Right, VPos::Center));
    for bar in panel.bars.iter().filter(|bar| !bar.name.is_empty()) {
        let (left, right) = layout.bar(frame, bar.group, bar.slot);
        let place = (f64::midpoint(left, right), of.bottom + 6.0);
        if names.bars_upright {
            canvas.upward(&bar.name, 12.0, place, hanging)?;
        } else {
            canvas.text(&bar.name, 12.0, place, centred, INK)?;
        }
    }
    for (group, lines) in names.groups.iter().enumerate().step_by(names.every.max(1)) {
        let (x, _) = layout.place(frame, (group as f64, layout.y.low));
        let top = of.bottom + 7.0 + names.bar_height;
        for (index, line) in lines.iter().enumerate() {
            if names.upright {
                canvas.upward(line, 13.0, (x, top), hanging)?;
            } else {
                canvas.text(line, 13.0, (x, top + 17.0 * index as f64), centred, INK)?;
            }
        }
    }
    Ok(())
}
