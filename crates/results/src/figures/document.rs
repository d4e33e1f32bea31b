//! What was drawn as a PDF file at the width of a column: vectors, and text that can be searched.
//!
//! The bytes depend on the drawing alone: no date, no random name.

use super::canvas::{CURVE, Failed, Stroke};
use super::chart::Chart;
use super::glyphs::Glyphs;
use super::recorder::{Colour, Shape, Text, Vertical};
use flate2::{Compression, write::ZlibEncoder};
use pdf_writer::types::{CidFontType, FontFlags, LineCapStyle, LineJoinStyle, SystemInfo, UnicodeCmap};
use pdf_writer::{Content, Filter, Finish, Name, Pdf, Rect, Ref, Str, TextStr};
use std::io::Write;

/// Pixels of the drawing in one of the figure's: two hundredths of a millimetre each, finer than print.
pub const SCALE: f64 = 10.0;
/// Width of a column: 84 mm, as most two-column styles have it.
const WIDTH_POINTS: f64 = 84.0 / 25.4 * 72.0;
const FONT: Name<'static> = Name(b"F");
/// Six letters and a plus stand before the name of a font that is not whole.
const FONT_NAME: Name<'static> = Name(b"XOFFIG+DejaVuSans");
const IDENTITY: SystemInfo<'static> = SystemInfo { registry: Str(b"Adobe"), ordering: Str(b"Identity"), supplement: 0 };

const CATALOGUE: Ref = Ref::new(1);
const PAGES: Ref = Ref::new(2);
const PAGE: Ref = Ref::new(3);
const CONTENT: Ref = Ref::new(4);
const TYPE0: Ref = Ref::new(5);
const CID: Ref = Ref::new(6);
const DESCRIPTOR: Ref = Ref::new(7);
const FONT_FILE: Ref = Ref::new(8);
const LETTERS: Ref = Ref::new(9);
const INFO: Ref = Ref::new(10);

/// The file. `curves` are the strokes of all paths that have the width of curves, in the order drawn.
pub fn write(chart: &Chart, size: (u32, u32), shapes: &[Shape], curves: &[Stroke]) -> Result<Vec<u8>, Failed> {
    let mut glyphs = Glyphs::new()?;
    let content = content(size, shapes, curves, &mut glyphs);
    let mut pdf = Pdf::new();
    pdf.catalog(CATALOGUE).pages(PAGES);
    pdf.pages(PAGES).kids([PAGE]).count(1);
    let unit = WIDTH_POINTS / f64::from(size.0);
    let mut page = pdf.page(PAGE);
    page.parent(PAGES).media_box(Rect::new(0.0, 0.0, WIDTH_POINTS as f32, (f64::from(size.1) * unit) as f32));
    page.contents(CONTENT).resources().fonts().pair(FONT, TYPE0);
    page.finish();
    pdf.stream(CONTENT, &deflate(&content)?).filter(Filter::FlateDecode);
    font(&mut pdf, &glyphs)?;
    let mut info = pdf.document_info(INFO);
    info.title(TextStr(&chart.title)).producer(TextStr("Xoff"));
    if !chart.note.is_empty() {
        info.subject(TextStr(&chart.note));
    }
    info.finish();
    Ok(pdf.finish())
}

fn deflate(bytes: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut out = ZlibEncoder::new(Vec::new(), Compression::best());
    out.write_all(bytes)?;
    out.finish()
}

/// A font by glyph numbers, with a table of the letters for those who search or copy.
fn font(pdf: &mut Pdf, glyphs: &Glyphs) -> Result<(), Failed> {
    pdf.type0_font(TYPE0)
        .base_font(FONT_NAME)
        .encoding_predefined(Name(b"Identity-H"))
        .descendant_font(CID)
        .to_unicode(LETTERS);
    let mut cid = pdf.cid_font(CID);
    cid.subtype(CidFontType::Type2).base_font(FONT_NAME).system_info(IDENTITY).font_descriptor(DESCRIPTOR);
    cid.cid_to_gid_map_predefined(Name(b"Identity"));
    let mut widths = cid.widths();
    glyphs.used().for_each(|(id, _, width)| {
        widths.consecutive(id, [width.round()]);
    });
    widths.finish();
    cid.finish();
    let numbers = glyphs.numbers();
    let [left, bottom, right, top] = numbers.bounds;
    pdf.font_descriptor(DESCRIPTOR)
        .name(FONT_NAME)
        .flags(FontFlags::SYMBOLIC)
        .bbox(Rect::new(left, bottom, right, top))
        .italic_angle(0.0)
        .ascent(numbers.ascent)
        .descent(numbers.descent)
        .cap_height(numbers.cap_height)
        .stem_v(80.0)
        .font_file2(FONT_FILE);
    let file = glyphs.file()?;
    let packed = deflate(&file)?;
    let mut stream = pdf.stream(FONT_FILE, &packed);
    stream.filter(Filter::FlateDecode).pair(Name(b"Length1"), file.len() as i32);
    stream.finish();
    let mut letters = UnicodeCmap::new(Name(b"Xoff"), IDENTITY);
    glyphs.used().filter(|(id, ..)| *id > 0).for_each(|(id, letter, _)| letters.pair(id, letter));
    pdf.stream(LETTERS, &deflate(&letters.finish())?).filter(Filter::FlateDecode);
    Ok(())
}

fn content(size: (u32, u32), shapes: &[Shape], curves: &[Stroke], glyphs: &mut Glyphs) -> Vec<u8> {
    let unit = (WIDTH_POINTS / f64::from(size.0)) as f32;
    let mut out = Content::new();
    // Pixels from the top left, as they were drawn.
    out.transform([unit, 0.0, 0.0, -unit, 0.0, unit * size.1 as f32]);
    out.set_line_join(LineJoinStyle::RoundJoin).set_line_cap(LineCapStyle::ButtCap);
    let mut curves = curves.iter();
    for shape in shapes {
        match shape {
            Shape::Path { points, colour, width } => {
                let is_curve = *width == (CURVE * SCALE).round() as u32;
                let curve = if is_curve { curves.next() } else { None };
                path(&mut out, points, *colour, curve.copied().unwrap_or((None, f64::from(*width) / SCALE)));
            }
            Shape::Polygon { points, colour } => {
                fill(&mut out, *colour);
                trace(&mut out, points);
                out.fill_nonzero();
            }
            Shape::Disc { centre, radius, colour } => disc(&mut out, *centre, *radius, *colour),
            Shape::Text(of) => text(&mut out, of, glyphs),
        }
    }
    out.finish().into_vec()
}

fn parts((red, green, blue): Colour) -> [f32; 3] {
    [red, green, blue].map(|part| (f32::from(part) / 255.0 * 1000.0).round() / 1000.0)
}

fn fill(out: &mut Content, colour: Colour) {
    let [red, green, blue] = parts(colour);
    out.set_fill_rgb(red, green, blue);
}

fn trace(out: &mut Content, points: &[(i32, i32)]) {
    for (index, (x, y)) in points.iter().enumerate() {
        let (x, y) = (*x as f32, *y as f32);
        if index == 0 {
            out.move_to(x, y)
        } else {
            out.line_to(x, y)
        };
    }
}

fn path(out: &mut Content, points: &[(i32, i32)], colour: Colour, (dash, width): Stroke) {
    if points.len() < 2 {
        return;
    }
    let [red, green, blue] = parts(colour);
    out.set_stroke_rgb(red, green, blue).set_line_width((width * SCALE) as f32);
    let pattern = dash.map(|(stroke, gap)| [(stroke * SCALE) as f32, (gap * SCALE) as f32]);
    out.set_dash_pattern(pattern.into_iter().flatten(), 0.0);
    trace(out, points);
    out.stroke();
}

/// Four cubics, as near to a circle as print can tell.
fn disc(out: &mut Content, (x, y): (i32, i32), radius: u32, colour: Colour) {
    const KAPPA: f32 = 0.552_284_8;
    let (x, y, r) = (x as f32, y as f32, radius as f32);
    let k = r * KAPPA;
    fill(out, colour);
    out.move_to(x + r, y);
    out.cubic_to(x + r, y + k, x + k, y + r, x, y + r).cubic_to(x - k, y + r, x - r, y + k, x - r, y);
    out.cubic_to(x - r, y - k, x - k, y - r, x, y - r).cubic_to(x + k, y - r, x + r, y - k, x + r, y);
    out.fill_nonzero();
}

fn text(out: &mut Content, of: &Text, glyphs: &mut Glyphs) {
    let (ids, width) = glyphs.of(&of.text);
    let along = -of.before * width * of.size;
    // From the place down to the line that letters stand on.
    let down = of.size
        * match of.vertical {
            Vertical::Top => 0.76,
            Vertical::Middle => 0.5 * glyphs.x_height(),
            Vertical::Bottom => -0.5 * glyphs.x_height(),
        };
    let (x, y) = (f64::from(of.place.0), f64::from(of.place.1));
    let (size, tidy) = (of.size as f32, |value: f64| (value * 10.0).round() as f32 / 10.0);
    // The page is upside down for letters, so each text turns it back.
    let matrix = match of.upward {
        true => [0.0, -1.0, -1.0, 0.0, tidy(x + down), tidy(y - along)],
        false => [1.0, 0.0, 0.0, -1.0, tidy(x + along), tidy(y + down)],
    };
    fill(out, of.colour);
    let bytes: Vec<u8> = ids.iter().flat_map(|id| id.to_be_bytes()).collect();
    out.begin_text().set_font(FONT, size).set_text_matrix(matrix).show(Str(&bytes)).end_text();
}

#[cfg(test)]
mod tests {
    use super::super::chart::{Axis, AxisUnit, Chart, Line};
    use super::super::colour::by_index;
    use super::super::draw::pdf;

    fn chart() -> Chart {
        let (x, y) = (Axis::new("time", AxisUnit::Time, false, true), Axis::new("queue", AxisUnit::Bytes, false, true));
        let line = Line::new("s0->s1".into(), by_index(1), vec![(0.0, 1.0), (50.0, 9e5), (99.0, 0.0)]).dotted();
        Chart::of_lines("test".into(), "Queue (and \u{202e}more)".into(), x, y, vec![line])
    }

    #[test]
    fn the_same_figure_gives_the_same_small_file() {
        let file = pdf(&chart()).unwrap();
        assert_eq!(file, pdf(&chart()).unwrap());
        assert!(file.starts_with(b"%PDF-1.7") && file.len() < 20_000, "{} bytes", file.len());
        let text = String::from_utf8_lossy(&file);
        // 84 mm are 238.11 points.
        assert!(text.contains("/MediaBox [0 0 238.11"), "{text}");
        assert_eq!(text.matches("/Length1").count(), 1);
    }
}
