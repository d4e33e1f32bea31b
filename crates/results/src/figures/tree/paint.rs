//! Puts the shapes of a picture on a backend: SVG for pages, PNG for slides.

use super::super::canvas::{self, Canvas, Failed, ready_font, text_width};
use super::scene::Scene;
use super::shapes::{Anchor, Drawing, Shape, drawing};
use plotters::style::text_anchor::{HPos, Pos, VPos};

/// The picture as an SVG document.
pub fn svg(scene: &Scene) -> Result<String, Failed> {
    ready_font()?;
    let drawing = drawing(scene, text_width);
    Ok(canvas::svg((drawing.width, drawing.height), |canvas| paint(&drawing, canvas))?.0)
}

/// The picture as the bytes of a PNG file.
pub fn png(scene: &Scene) -> Result<Vec<u8>, Failed> {
    ready_font()?;
    let drawing = drawing(scene, text_width);
    canvas::png((drawing.width, drawing.height), |canvas| paint(&drawing, canvas))
}

fn paint(drawing: &Drawing, canvas: &Canvas<'_>) -> Result<(), Failed> {
    let points = |list: &[(f64, f64)]| list.iter().map(|point| canvas.at(point.0, point.1)).collect::<Vec<_>>();
    for shape in &drawing.shapes {
        match shape {
            Shape::Line { points: list, colour, width } => canvas.angular(points(list), *colour, *width)?,
            Shape::Area { points: list, colour } => canvas.fill(points(list), colour)?,
            Shape::Text { text, size, place, anchor: Anchor::Upward, .. } => {
                canvas.upward(text, *size, *place, Pos::new(HPos::Right, VPos::Center))?;
            }
            Shape::Text { text, size, place, anchor, colour } => {
                let side = if *anchor == Anchor::Left { HPos::Left } else { HPos::Center };
                canvas.text(text, *size, *place, Pos::new(side, VPos::Center), *colour)?;
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::scene::tests::chain;
    use super::*;

    #[test]
    fn the_same_scene_is_the_same_file() {
        let scene = chain(3, 2, 10);
        assert_eq!(svg(&scene).unwrap(), svg(&scene).unwrap());
        assert_eq!(png(&scene).unwrap(), png(&scene).unwrap());
    }

    #[test]
    fn a_picture_says_what_stands_still_and_why() {
        let text = svg(&chain(3, 2, 10)).unwrap();
        assert!(text.starts_with("<svg font-family=\"DejaVu Sans, sans-serif\" width=\"600\""), "{}", &text[..90]);
        for part in ["A chain", "4 egresses stopped; root S2-&gt;h11", "2.40 MB", "h11", "crosses S2-&gt;h11: F1"] {
            assert!(text.contains(part), "`{part}` is missing");
        }
        // The heads of four stops and that of the legend.
        let heads = text.lines().filter(|line| line.starts_with("<polygon") && line.contains("#C41230")).count();
        assert_eq!(heads, 5, "{text}");
    }

    #[test]
    fn many_hosts_are_counted() {
        let text = svg(&chain(2, 70, 5)).unwrap();
        assert!(text.contains("70 of 70 stopped") && text.contains("0 of 5 stopped") && text.contains("h0 to h69"));
        assert!(!text.contains(">\nh3\n<"));
    }

    #[test]
    fn nothing_at_all_can_be_drawn() {
        svg(&Scene::default()).unwrap();
        png(&Scene { nodes: chain(2, 1, 1).nodes, ..Scene::default() }).unwrap();
    }
}
