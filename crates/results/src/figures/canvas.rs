//! What a figure is drawn on: strokes, shapes and texts, on any backend.

use super::marker::Marker;
use super::path::{dashes, straighten};
use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::Pos;
use plotters::style::{FontDesc, FontFamily, register_font};
use std::cell::RefCell;
use std::sync::OnceLock;

/// Backends count whole pixels; twice as many give half-pixel lines and sharp slides.
pub const SCALE: f64 = 2.0;
pub const FONT: &str = "DejaVu Sans, sans-serif";
pub const FONT_FILE: &[u8] = include_bytes!("../../assets/fonts/DejaVuSans-subset.ttf");
pub const INK: RGBColor = RGBColor(0x22, 0x22, 0x22);
pub const FAINT: RGBColor = RGBColor(0xE4, 0xE4, 0xE4);
pub const GREY: RGBColor = RGBColor(0x77, 0x77, 0x77);

pub type Failed = Box<dyn std::error::Error + Send + Sync>;

/// How a backend wants curves.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Strokes {
    /// As one path each; dashes are added to the document afterwards.
    Whole,
    /// As straight pieces: the bitmap's own corners overshoot at sharp turns.
    Pieces,
}

/// Width of curves; nothing else is drawn with it, so curves can be found in the document.
pub const CURVE: f64 = 1.5;

/// A line of the document: its dashes and its width.
pub type Stroke = (Option<(f64, f64)>, f64);

/// Text is measured and, in bitmaps, drawn with a font that comes with the program.
pub fn ready_font() -> Result<(), Failed> {
    static READY: OnceLock<bool> = OnceLock::new();
    let ready = READY.get_or_init(|| register_font(FONT, FontStyle::Normal, FONT_FILE).is_ok());
    if *ready { Ok(()) } else { Err("the built-in font cannot be read".into()) }
}

fn font(size: f64, scale: f64) -> FontDesc<'static> {
    FontDesc::new(FontFamily::Name(FONT), size * 1.12 * scale, FontStyle::Normal)
}

pub fn text_width(text: &str, size: f64) -> f64 {
    match font(size, SCALE).box_size(text) {
        Ok((width, _)) => f64::from(width) / SCALE,
        Err(_) => 0.56 * size * text.chars().count() as f64,
    }
}

pub struct Canvas<'a, DB: DrawingBackend> {
    pub area: &'a DrawingArea<DB, Shift>,
    /// Pixels of the backend in one of the figure's.
    pub scale: f64,
    pub strokes: Strokes,
    /// The curves drawn so far.
    pub curves: RefCell<Vec<Stroke>>,
}

impl<DB: DrawingBackend> Canvas<'_, DB>
where
    DB::ErrorType: 'static,
{
    pub fn at(&self, x: f64, y: f64) -> (i32, i32) {
        ((x * self.scale).round() as i32, (y * self.scale).round() as i32)
    }

    pub fn stroke(&self, points: Vec<(i32, i32)>, colour: RGBColor, width: f64) -> Result<(), Failed> {
        let style = colour.stroke_width((width * self.scale).round() as u32);
        self.area.draw(&PathElement::new(points, style)).map_err(|e| e.to_string().into())
    }

    /// A polyline that turns back on itself: the bitmap's corners would blot.
    pub fn angular(&self, points: Vec<(i32, i32)>, colour: RGBColor, width: f64) -> Result<(), Failed> {
        if self.strokes == Strokes::Whole {
            return self.stroke(points, colour, width);
        }
        for pair in points.windows(2) {
            self.stroke(pair.to_vec(), colour, width)?;
        }
        Ok(())
    }

    pub fn fill(&self, points: Vec<(i32, i32)>, colour: &impl Color) -> Result<(), Failed> {
        self.area.draw(&Polygon::new(points, colour.filled())).map_err(|e| e.to_string().into())
    }

    pub fn text(&self, text: &str, size: f64, place: (f64, f64), anchor: Pos, colour: RGBColor) -> Result<(), Failed> {
        let style = font(size, self.scale).color(&colour).pos(anchor);
        self.area.draw_text(text, &style, self.at(place.0, place.1)).map_err(|e| e.to_string().into())
    }

    /// A text that reads upward.
    pub fn upward(&self, text: &str, size: f64, place: (f64, f64), anchor: Pos) -> Result<(), Failed> {
        let style = font(size, self.scale).transform(FontTransform::Rotate270).color(&INK).pos(anchor);
        self.area.draw_text(text, &style, self.at(place.0, place.1)).map_err(|e| e.to_string().into())
    }

    pub fn dot(&self, centre: (i32, i32), radius: f64, colour: RGBColor) -> Result<(), Failed> {
        let dot = Circle::new(centre, (radius * self.scale) as i32, colour.filled());
        self.area.draw(&dot).map_err(|e| e.to_string().into())
    }

    /// A marker around a place; `reach` is about half its width.
    pub fn marker(&self, marker: Marker, (x, y): (f64, f64), reach: f64, colour: RGBColor) -> Result<(), Failed> {
        let Some(corners) = marker.corners() else {
            self.dot(self.at(x, y), reach, colour)?;
            return if marker.is_open() { self.dot(self.at(x, y), reach - 1.2, WHITE) } else { Ok(()) };
        };
        let mut outline: Vec<(i32, i32)> =
            corners.iter().map(|(dx, dy)| self.at(x + dx * reach, y + dy * reach)).collect();
        if !marker.is_open() {
            return self.fill(outline, &colour);
        }
        self.fill(outline.clone(), &WHITE)?;
        outline.push(outline[0]);
        self.angular(outline, colour, 1.0)
    }

    /// "Never": an arrow head that points out of the plot at its top.
    pub fn never(&self, x: f64, top: f64, colour: RGBColor) -> Result<(), Failed> {
        self.fill(vec![self.at(x, top), self.at(x - 5.0, top + 9.0), self.at(x + 5.0, top + 9.0)], &colour)
    }

    pub fn curve(&self, points: &[(f64, f64)], colour: RGBColor, (dash, width): Stroke) -> Result<(), Failed> {
        if self.strokes == Strokes::Whole {
            let points = straighten(&points.iter().map(|p| self.at(p.0, p.1)).collect::<Vec<_>>());
            self.curves.borrow_mut().push((dash, width));
            return self.stroke(points, colour, CURVE);
        }
        for (from, to) in dashes(points, dash.unwrap_or((f64::INFINITY, 0.0))) {
            // The thin line underneath closes the gaps that thick pieces leave at corners.
            for width in [0.5, width] {
                self.stroke(vec![self.at(from.0, from.1), self.at(to.0, to.1)], colour, width)?;
            }
        }
        Ok(())
    }
}
