//! What a figure is drawn on: strokes, shapes and texts, on any backend.

use super::bitmap;
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

pub struct Canvas<'a> {
    pub surface: &'a dyn Surface,
    /// Pixels of the backend in one of the figure's.
    pub scale: f64,
    pub strokes: Strokes,
    pub curves: RefCell<Vec<Stroke>>,
}

/// Draws on a backend with so many of its pixels in one of the figure's. Returns the curves.
pub fn draw(
    surface: &dyn Surface,
    (strokes, scale): (Strokes, f64),
    paint: impl FnOnce(&Canvas<'_>) -> Result<(), Failed>,
) -> Result<Vec<Stroke>, Failed> {
    surface.clear()?;
    let canvas = Canvas { surface, scale, strokes, curves: RefCell::default() };
    paint(&canvas)?;
    surface.present()?;
    Ok(canvas.curves.take())
}

/// A drawing of some width and height as an SVG document, and its curves.
pub fn svg(
    size: (f64, f64),
    paint: impl FnOnce(&Canvas<'_>) -> Result<(), Failed>,
) -> Result<(String, Vec<Stroke>), Failed> {
    let (width, height) = pixels(size);
    let mut text = String::new();
    let area = SVGBackend::with_string(&mut text, (width, height)).into_drawing_area();
    let curves = draw(&area, (Strokes::Whole, SCALE), paint)?;
    drop(area);
    // Drawn at twice its size; shown at its own.
    let (from, to) = (format!("width=\"{width}\" height=\"{height}\""), (width / 2, height / 2));
    let text = text.replacen(&from, &format!("width=\"{}\" height=\"{}\"", to.0, to.1), 1);
    // Says once what the backend says in every element.
    let family = format!(" font-family=\"{FONT}\"");
    let text = text.replace(" opacity=\"1\"", "").replace(&family, "").replacen("<svg", &format!("<svg{family}"), 1);
    Ok((text, curves))
}

/// A drawing of some width and height as the bytes of a PNG file.
pub fn png(size: (f64, f64), paint: impl FnOnce(&Canvas<'_>) -> Result<(), Failed>) -> Result<Vec<u8>, Failed> {
    let (width, height) = pixels(size);
    let mut buffer = vec![0; width as usize * height as usize * 3];
    let area = BitMapBackend::with_buffer(&mut buffer, (width, height)).into_drawing_area();
    draw(&area, (Strokes::Pieces, SCALE), paint)?;
    drop(area);
    Ok(bitmap::encode(&buffer, (width, height))?)
}

fn pixels((width, height): (f64, f64)) -> (u32, u32) {
    ((width * SCALE) as u32, (height * SCALE) as u32)
}

/// What every backend can draw.
pub trait Surface {
    fn clear(&self) -> Result<(), Failed>;
    fn path(&self, points: Vec<(i32, i32)>, style: ShapeStyle) -> Result<(), Failed>;
    fn polygon(&self, points: Vec<(i32, i32)>, style: ShapeStyle) -> Result<(), Failed>;
    fn circle(&self, centre: (i32, i32), radius: i32, style: ShapeStyle) -> Result<(), Failed>;
    fn text(&self, text: &str, style: &TextStyle<'_>, place: (i32, i32)) -> Result<(), Failed>;
    /// Completes the drawing.
    fn present(&self) -> Result<(), Failed>;
}

impl<DB: DrawingBackend<ErrorType: 'static>> Surface for DrawingArea<DB, Shift> {
    fn clear(&self) -> Result<(), Failed> {
        said(self.fill(&WHITE))
    }

    fn path(&self, points: Vec<(i32, i32)>, style: ShapeStyle) -> Result<(), Failed> {
        said(self.draw(&PathElement::new(points, style)))
    }

    fn polygon(&self, points: Vec<(i32, i32)>, style: ShapeStyle) -> Result<(), Failed> {
        said(self.draw(&Polygon::new(points, style)))
    }

    fn circle(&self, centre: (i32, i32), radius: i32, style: ShapeStyle) -> Result<(), Failed> {
        said(self.draw(&Circle::new(centre, radius, style)))
    }

    fn text(&self, text: &str, style: &TextStyle<'_>, place: (i32, i32)) -> Result<(), Failed> {
        said(self.draw_text(text, style, place))
    }

    fn present(&self) -> Result<(), Failed> {
        said(DrawingArea::present(self))
    }
}

fn said(drawn: Result<(), impl std::error::Error>) -> Result<(), Failed> {
    drawn.map_err(|error| error.to_string().into())
}

impl Canvas<'_> {
    pub fn at(&self, x: f64, y: f64) -> (i32, i32) {
        ((x * self.scale).round() as i32, (y * self.scale).round() as i32)
    }

    pub fn stroke(&self, points: Vec<(i32, i32)>, colour: RGBColor, width: f64) -> Result<(), Failed> {
        let style = colour.stroke_width((width * self.scale).round() as u32);
        self.surface.path(points, style)
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
        self.surface.polygon(points, colour.filled())
    }

    pub fn text(&self, text: &str, size: f64, place: (f64, f64), anchor: Pos, colour: RGBColor) -> Result<(), Failed> {
        let style = font(size, self.scale).color(&colour).pos(anchor);
        self.surface.text(text, &style, self.at(place.0, place.1))
    }

    /// A text that reads upward.
    pub fn upward(&self, text: &str, size: f64, place: (f64, f64), anchor: Pos) -> Result<(), Failed> {
        let style = font(size, self.scale).transform(FontTransform::Rotate270).color(&INK).pos(anchor);
        self.surface.text(text, &style, self.at(place.0, place.1))
    }

    pub fn dot(&self, centre: (i32, i32), radius: f64, colour: RGBColor) -> Result<(), Failed> {
        self.surface.circle(centre, (radius * self.scale) as i32, colour.filled())
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
