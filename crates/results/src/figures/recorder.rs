//! A backend that keeps what is drawn, for formats that must know all of it before they can be written.

use plotters::style::text_anchor::{HPos, VPos};
use plotters_backend::{
    BackendColor, BackendCoord, BackendStyle, BackendTextStyle, DrawingBackend, DrawingErrorKind, FontTransform,
};
use std::convert::Infallible;

pub type Colour = (u8, u8, u8);

/// Something drawn, in pixels from the top left.
#[derive(Clone, PartialEq, Debug)]
pub enum Shape {
    Path { points: Vec<BackendCoord>, colour: Colour, width: u32 },
    Polygon { points: Vec<BackendCoord>, colour: Colour },
    Disc { centre: BackendCoord, radius: u32, colour: Colour },
    Text(Text),
}

#[derive(Clone, PartialEq, Debug)]
pub struct Text {
    pub text: String,
    pub place: BackendCoord,
    /// Of the em, in pixels.
    pub size: f64,
    /// How much of its width lies left of the place: 0, a half or 1.
    pub before: f64,
    pub vertical: Vertical,
    pub upward: bool,
    pub colour: Colour,
}

/// What of a text is at its place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Vertical {
    Top,
    Middle,
    Bottom,
}

/// Borrows its list, because the drawing area swallows the backend.
pub struct Recorder<'a> {
    shapes: &'a mut Vec<Shape>,
    size: (u32, u32),
}

impl<'a> Recorder<'a> {
    pub fn new(shapes: &'a mut Vec<Shape>, size: (u32, u32)) -> Recorder<'a> {
        Recorder { shapes, size }
    }
}

type Done = Result<(), DrawingErrorKind<Infallible>>;

/// Nothing is drawn half transparent, so that black and white printers have nothing to guess.
fn opaque(colour: BackendColor) -> Colour {
    colour.rgb
}

impl DrawingBackend for Recorder<'_> {
    type ErrorType = Infallible;

    fn get_size(&self) -> (u32, u32) {
        self.size
    }

    fn ensure_prepared(&mut self) -> Done {
        Ok(())
    }

    fn present(&mut self) -> Done {
        Ok(())
    }

    fn draw_pixel(&mut self, (x, y): BackendCoord, colour: BackendColor) -> Done {
        let points = vec![(x, y), (x + 1, y), (x + 1, y + 1), (x, y + 1)];
        self.shapes.push(Shape::Polygon { points, colour: opaque(colour) });
        Ok(())
    }

    fn draw_line<S: BackendStyle>(&mut self, from: BackendCoord, to: BackendCoord, style: &S) -> Done {
        self.draw_path([from, to], style)
    }

    fn draw_rect<S: BackendStyle>(&mut self, from: BackendCoord, to: BackendCoord, style: &S, fill: bool) -> Done {
        let corners = [from, (to.0, from.1), to, (from.0, to.1)];
        if fill { self.fill_polygon(corners, style) } else { self.draw_path(corners.into_iter().chain([from]), style) }
    }

    fn draw_path<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(&mut self, path: I, style: &S) -> Done {
        let (points, width) = (path.into_iter().collect(), style.stroke_width());
        self.shapes.push(Shape::Path { points, colour: opaque(style.color()), width });
        Ok(())
    }

    fn draw_circle<S: BackendStyle>(&mut self, centre: BackendCoord, radius: u32, style: &S, _fill: bool) -> Done {
        self.shapes.push(Shape::Disc { centre, radius, colour: opaque(style.color()) });
        Ok(())
    }

    fn fill_polygon<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(&mut self, path: I, style: &S) -> Done {
        self.shapes.push(Shape::Polygon { points: path.into_iter().collect(), colour: opaque(style.color()) });
        Ok(())
    }

    fn draw_text<S: BackendTextStyle>(&mut self, text: &str, style: &S, place: BackendCoord) -> Done {
        let before = match style.anchor().h_pos {
            HPos::Left => 0.0,
            HPos::Center => 0.5,
            HPos::Right => 1.0,
        };
        let vertical = match style.anchor().v_pos {
            VPos::Top => Vertical::Top,
            VPos::Center => Vertical::Middle,
            VPos::Bottom => Vertical::Bottom,
        };
        self.shapes.push(Shape::Text(Text {
            text: text.to_owned(),
            place,
            // As the SVG backend has it: what it calls size is that of a line.
            size: style.size() / 1.24,
            before,
            vertical,
            upward: matches!(style.transform(), FontTransform::Rotate270),
            colour: opaque(style.color()),
        }));
        Ok(())
    }
}
