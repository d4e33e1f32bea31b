//! A picture as a PNG file (ISO/IEC 15948): eight bits of red, green and blue, one chunk of data.
//!
//! The bytes depend on the pixels alone, so figures can be compared. `png` would bring a second
//! version of the compressor that is here anyway.

use flate2::{Compression, write::ZlibEncoder};
use std::io::{self, Write};

const SIGNATURE: [u8; 8] = *b"\x89PNG\r\n\x1a\n";
const PIXEL: usize = 3;
/// Eight bits per channel, red-green-blue, the only compression and filters there are, no interlacing.
const LOOK: [u8; 5] = [8, 2, 0, 0, 0];
/// Filter type 2: each byte less the one above it. Figures are white or vertical for the most part.
const UP: u8 = 2;
/// Bytes compared at once.
const BLOCK: usize = 64;

/// `pixels` by rows from the top, three bytes each.
pub fn encode(pixels: &[u8], (width, height): (u32, u32)) -> io::Result<Vec<u8>> {
    let row_bytes = width as usize * PIXEL;
    assert_eq!(pixels.len(), row_bytes * height as usize, "a picture of {width} x {height} pixels");
    let mut file = SIGNATURE.to_vec();
    chunk(&mut file, *b"IHDR", &[&width.to_be_bytes()[..], &height.to_be_bytes(), &LOOK].concat());
    chunk(&mut file, *b"IDAT", &compress(pixels, row_bytes)?);
    chunk(&mut file, *b"IEND", &[]);
    Ok(file)
}

fn compress(pixels: &[u8], row_bytes: usize) -> io::Result<Vec<u8>> {
    let mut out = ZlibEncoder::new(Vec::new(), Compression::fast());
    // Above the first row are zeros.
    let mut above = &vec![0; row_bytes][..];
    let mut line = vec![UP; 1 + row_bytes];
    for row in pixels.chunks_exact(row_bytes) {
        // Most of a figure is as the row above it; comparing many bytes at once is much faster than subtracting them.
        let blocks = row.chunks(BLOCK).zip(above.chunks(BLOCK));
        for (out, (here, up)) in line[1..].chunks_mut(BLOCK).zip(blocks) {
            if here == up {
                out.fill(0);
            } else {
                for (i, out) in out.iter_mut().enumerate() {
                    *out = here[i].wrapping_sub(up[i]);
                }
            }
        }
        out.write_all(&line)?;
        above = row;
    }
    out.finish()
}

/// Length, name, content, and a checksum over the last two.
fn chunk(file: &mut Vec<u8>, name: [u8; 4], content: &[u8]) {
    file.extend((content.len() as u32).to_be_bytes());
    let start = file.len();
    file.extend(name);
    file.extend(content);
    file.extend(crc32fast::hash(&file[start..]).to_be_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;

    /// The chunks of a file, their checksums verified.
    fn chunks(file: &[u8]) -> Vec<(String, Vec<u8>)> {
        let mut rest = file.strip_prefix(&SIGNATURE).expect("a PNG signature");
        let mut found = Vec::new();
        while !rest.is_empty() {
            let length = u32::from_be_bytes(rest[..4].try_into().unwrap()) as usize;
            let (named, after) = rest[4..].split_at(4 + length);
            assert_eq!(crc32fast::hash(named).to_be_bytes(), after[..4]);
            found.push((String::from_utf8(named[..4].to_vec()).unwrap(), named[4..].to_vec()));
            rest = &after[4..];
        }
        found
    }

    #[test]
    fn the_pixels_come_back() {
        let (width, height) = (5u32, 4u32);
        let pixels: Vec<u8> = (0..width * height * 3).map(|i| (i * i * 7 % 251) as u8).collect();
        let file = chunks(&encode(&pixels, (width, height)).unwrap());
        let names: Vec<&str> = file.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["IHDR", "IDAT", "IEND"]);
        assert_eq!(file[0].1, [0, 0, 0, 5, 0, 0, 0, 4, 8, 2, 0, 0, 0]);
        let mut lines = Vec::new();
        flate2::read::ZlibDecoder::new(&file[1].1[..]).read_to_end(&mut lines).unwrap();
        let mut above = vec![0u8; 15];
        let mut seen: Vec<u8> = Vec::new();
        for line in lines.chunks(16) {
            assert_eq!(line[0], UP);
            above.iter_mut().zip(&line[1..]).for_each(|(above, less)| *above = less.wrapping_add(*above));
            seen.extend(&above);
        }
        assert_eq!(seen, pixels);
    }

    /// Its checksum as the standard prints it.
    #[test]
    fn the_last_chunk_is_the_one_of_every_png_file() {
        let file = encode(&[0, 0, 0], (1, 1)).unwrap();
        assert_eq!(file[file.len() - 12..], *b"\0\0\0\0IEND\xae\x42\x60\x82");
    }
}
