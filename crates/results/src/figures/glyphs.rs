//! The built-in font, with the glyphs of one figure alone: a TrueType file that PDF can embed.

use super::canvas::{FONT_FILE, Failed};
use std::collections::{BTreeMap, BTreeSet};
use ttf_parser::{Face, GlyphId, RawFace, Tag};

/// What a figure needs of the font.
pub struct Glyphs {
    face: Face<'static>,
    /// Glyphs in use, and the letter that each stands for.
    used: BTreeMap<u16, char>,
}

/// Numbers of the font that readers of PDF ask for, in thousandths of an em.
pub struct Numbers {
    pub bounds: [f32; 4],
    pub ascent: f32,
    pub descent: f32,
    pub cap_height: f32,
}

/// Tables that say how letters look; the others are for those who type with the font.
const TABLES: [&[u8; 4]; 9] = [b"cvt ", b"fpgm", b"glyf", b"head", b"hhea", b"hmtx", b"loca", b"maxp", b"prep"];

impl Glyphs {
    pub fn new() -> Result<Glyphs, Failed> {
        Ok(Glyphs { face: Face::parse(FONT_FILE, 0)?, used: BTreeMap::new() })
    }

    /// The glyphs of a text, and its width in ems.
    pub fn of(&mut self, text: &str) -> (Vec<u16>, f64) {
        let em = f64::from(self.face.units_per_em());
        let (mut ids, mut width) = (Vec::new(), 0.0);
        for letter in text.chars() {
            // Glyph 0 is a box, for letters that the font does not have.
            let id = self.face.glyph_index(letter).unwrap_or(GlyphId(0));
            width += f64::from(self.face.glyph_hor_advance(id).unwrap_or(0)) / em;
            self.used.entry(id.0).or_insert(letter);
            ids.push(id.0);
        }
        (ids, width)
    }

    /// Height of an x, in ems.
    pub fn x_height(&self) -> f64 {
        f64::from(self.face.x_height().unwrap_or(1120)) / f64::from(self.face.units_per_em())
    }

    /// Every glyph in use with its letter and its width in thousandths of an em.
    pub fn used(&self) -> impl Iterator<Item = (u16, char, f32)> {
        let thousandths = 1000.0 / f32::from(self.face.units_per_em());
        let width = move |id: u16| f32::from(self.face.glyph_hor_advance(GlyphId(id)).unwrap_or(0)) * thousandths;
        self.used.iter().map(move |(id, letter)| (*id, *letter, width(*id)))
    }

    pub fn numbers(&self) -> Numbers {
        let thousandths = 1000.0 / f32::from(self.face.units_per_em());
        let of = |value: i16| (f32::from(value) * thousandths).round();
        let bounds = self.face.global_bounding_box();
        Numbers {
            bounds: [bounds.x_min, bounds.y_min, bounds.x_max, bounds.y_max].map(of),
            ascent: of(self.face.ascender()),
            descent: of(self.face.descender()),
            cap_height: of(self.face.capital_height().unwrap_or(1493)),
        }
    }

    /// The font with all other glyphs empty; numbers of glyphs stay.
    pub fn file(&self) -> Result<Vec<u8>, Failed> {
        let raw = RawFace::parse(FONT_FILE, 0)?;
        let table = |name: &[u8; 4]| raw.table(Tag::from_bytes(name)).unwrap_or_default();
        let outlines = Outlines { glyf: table(b"glyf"), loca: table(b"loca") };
        let (glyf, loca) = outlines.keep(&outlines.with_parts(self.used.keys().copied()));
        let mut head = table(b"head").to_vec();
        // Offsets are long, whatever they were.
        head.get_mut(50..52).ok_or("the font has no head")?.copy_from_slice(&[0, 1]);
        let content = |name: &'static [u8; 4]| match name {
            b"glyf" => glyf.clone(),
            b"loca" => loca.clone(),
            b"head" => head.clone(),
            other => table(other).to_vec(),
        };
        let tables: Vec<(&[u8; 4], Vec<u8>)> = TABLES.into_iter().map(|name| (name, content(name))).collect();
        Ok(font_file(&tables))
    }
}

/// The tables of outlines, as they are in our font: with short offsets.
struct Outlines<'a> {
    glyf: &'a [u8],
    loca: &'a [u8],
}

impl Outlines<'_> {
    fn count(&self) -> u16 {
        (self.loca.len() / 2).saturating_sub(1) as u16
    }

    fn outline(&self, id: u16) -> &[u8] {
        let offset = |at: usize| {
            let bytes = self.loca.get(2 * at..2 * at + 2).unwrap_or_default();
            bytes.iter().fold(0, |sum, byte| (sum << 8) | usize::from(*byte)) * 2
        };
        self.glyf.get(offset(id.into())..offset(usize::from(id) + 1)).unwrap_or_default()
    }

    /// Accented letters are made of others, which must be there too.
    fn with_parts(&self, wanted: impl Iterator<Item = u16>) -> BTreeSet<u16> {
        let mut open: Vec<u16> = wanted.chain([0]).collect();
        let mut kept = BTreeSet::new();
        while let Some(id) = open.pop() {
            if kept.insert(id) {
                open.extend(parts(self.outline(id)));
            }
        }
        kept
    }

    fn keep(&self, kept: &BTreeSet<u16>) -> (Vec<u8>, Vec<u8>) {
        let (mut glyf, mut loca) = (Vec::new(), Vec::new());
        for id in 0..self.count() {
            loca.extend((glyf.len() as u32).to_be_bytes());
            if kept.contains(&id) {
                glyf.extend(self.outline(id));
            }
        }
        loca.extend((glyf.len() as u32).to_be_bytes());
        (glyf, loca)
    }
}

/// The glyphs that a composite one refers to (OpenType, table `glyf`).
fn parts(outline: &[u8]) -> Vec<u16> {
    const WORDS: u16 = 1;
    const SCALE: u16 = 8;
    const MORE: u16 = 0x20;
    const TWO_SCALES: u16 = 0x40;
    const MATRIX: u16 = 0x80;
    let word = |at: usize| Some(u16::from_be_bytes(outline.get(at..at + 2)?.try_into().ok()?));
    let mut found = Vec::new();
    // A negative number of contours.
    if word(0).is_none_or(|contours| contours < 0x8000) {
        return found;
    }
    let mut at = 10;
    while let (Some(flags), Some(id)) = (word(at), word(at + 2)) {
        found.push(id);
        at += 4 + if flags & WORDS > 0 { 4 } else { 2 };
        at += match flags {
            of if of & SCALE > 0 => 2,
            of if of & TWO_SCALES > 0 => 4,
            of if of & MATRIX > 0 => 8,
            _ => 0,
        };
        if flags & MORE == 0 {
            break;
        }
    }
    found
}

/// A file of tables, which come in the order of their names.
fn font_file(tables: &[(&[u8; 4], Vec<u8>)]) -> Vec<u8> {
    let count = tables.len() as u16;
    let log = count.ilog2() as u16;
    let range = 16 << log;
    let mut file = 0x0001_0000u32.to_be_bytes().to_vec();
    [count, range, log, count * 16 - range].into_iter().for_each(|number| file.extend(number.to_be_bytes()));
    let mut offset = file.len() + 16 * tables.len();
    for (name, content) in tables {
        file.extend(*name);
        [checksum(content), offset as u32, content.len() as u32].iter().for_each(|n| file.extend(n.to_be_bytes()));
        offset += content.len().next_multiple_of(4);
    }
    for (_, content) in tables {
        file.extend(content);
        file.resize(file.len().next_multiple_of(4), 0);
    }
    file
}

fn checksum(content: &[u8]) -> u32 {
    let word = |bytes: &[u8]| (0..4).fold(0u32, |sum, at| (sum << 8) | u32::from(bytes.get(at).copied().unwrap_or(0)));
    content.chunks(4).map(word).fold(0, u32::wrapping_add)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_used_looks_as_before_and_the_rest_is_gone() {
        let mut glyphs = Glyphs::new().unwrap();
        let (ids, width) = glyphs.of("µs é");
        assert_eq!(ids.len(), 4);
        assert!(width > 1.5 && width < 3.0, "{width}");
        let file = glyphs.file().unwrap();
        assert!(file.len() < FONT_FILE.len() / 4, "{} bytes", file.len());
        let raw = RawFace::parse(&file, 0).unwrap();
        let whole = RawFace::parse(FONT_FILE, 0).unwrap();
        let table = |raw: &RawFace<'_>, name: &[u8; 4]| raw.table(Tag::from_bytes(name)).unwrap().to_vec();
        let (old_glyf, old_loca) = (table(&whole, b"glyf"), table(&whole, b"loca"));
        let old = Outlines { glyf: &old_glyf, loca: &old_loca };
        let (glyf, loca) = (table(&raw, b"glyf"), table(&raw, b"loca"));
        let offset = |at: usize| u32::from_be_bytes(loca[4 * at..4 * at + 4].try_into().unwrap()) as usize;
        let new = |id: u16| &glyf[offset(id.into())..offset(usize::from(id) + 1)];
        for id in old.with_parts(ids.iter().copied()) {
            assert_eq!(new(id), old.outline(id));
        }
        let other = glyphs.face.glyph_index('Q').unwrap().0;
        assert!(new(other).is_empty() && !old.outline(other).is_empty());
    }

    #[test]
    fn letters_that_the_font_lacks_are_boxes() {
        assert_eq!(Glyphs::new().unwrap().of("漢").0, [0]);
    }
}
