//! What is drawn of a scene: lines, areas and texts, from the bottom up.

use super::super::canvas::{GREY, INK};
use super::super::layout::wrap;
use super::bar::{self, AWAY};
use super::choice::{Choice, Item};
use super::course::{Course, Point, along, courses, length, piece};
use super::label::Labels;
use super::place::{HOST_SIZE, Measure, Places, Rect, SWITCH_SIZE, name};
use super::scene::{Scene, Way};
use super::words;
use plotters::style::RGBColor;
use xoff_scenario::number::brief_bytes;

pub enum Shape {
    Line { points: Vec<Point>, colour: RGBColor, width: f64 },
    Area { points: Vec<Point>, colour: RGBColor },
    Text { text: String, size: f64, place: Point, anchor: Anchor, colour: RGBColor },
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Anchor {
    /// Begins here, in the middle of its height.
    Left,
    Middle,
    /// Reads upward and ends here.
    Upward,
}

pub struct Drawing {
    pub shapes: Vec<Shape>,
    pub width: f64,
    pub height: f64,
}

const RED: RGBColor = RGBColor(0xC4, 0x12, 0x30);
const PINK: RGBColor = RGBColor(0xFB, 0xE3, 0xE4);
const WHITE: RGBColor = RGBColor(0xFF, 0xFF, 0xFF);
const LINK: RGBColor = RGBColor(0xB0, 0xB0, 0xB0);
const QUEUE: RGBColor = RGBColor(0x5A, 0x6B, 0x7B);
/// Ways of flows, in tints of blue and orange: told apart by eyes of any kind.
const INNOCENT: RGBColor = RGBColor(0x8C, 0xC8, 0xEF);
const CROSSING: RGBColor = RGBColor(0xF3, 0xC1, 0x5A);
const LEFT: f64 = 18.0;
const TITLE_SIZE: f64 = 16.0;
const TEXT_SIZE: f64 = 12.5;
/// Queues below this part of the longest are not written out.
const TELLING: f64 = 0.02;

pub fn drawing(scene: &Scene, measure: Measure) -> Drawing {
    let choice = Choice::of(scene);
    let mut pen = Pen { shapes: Vec::new(), measure };
    // The heading is as wide as the picture, which is known when the picture is.
    let width = Places::of(scene, &choice, 0.0, measure).width;
    let top = pen.heading(scene, &choice, width) + 16.0;
    let places = Places::of(scene, &choice, top, measure);
    let courses = courses(&choice, &places);
    let picture = Picture { scene, choice: &choice, places: &places, courses: &courses };
    pen.ways(&picture);
    pen.links(&picture);
    let labels = pen.queues(&picture);
    pen.boxes(&picture);
    for Label { text, place, colour } in labels {
        pen.area(corners(&place), WHITE);
        pen.text(&text, HOST_SIZE, place.centre(), (Anchor::Middle, colour));
    }
    let bottom = pen.domains(&places);
    let height = pen.legend(scene, bottom + 26.0, width);
    Drawing { shapes: pen.shapes, width, height: height.ceil() }
}

struct Picture<'a> {
    scene: &'a Scene,
    choice: &'a Choice,
    places: &'a Places,
    courses: &'a [Course],
}

impl Picture<'_> {
    /// How the link of a port runs, from its egress on.
    fn egress_course(&self, wire: usize, end: usize) -> Course {
        let mut course = self.courses[wire].clone();
        if end == 1 {
            course.reverse();
        }
        course
    }

    /// Those at roots first, which have the first choice of places for their labels, then the longest.
    fn bars(&self) -> Vec<Bar> {
        let Picture { scene, choice, .. } = *self;
        let queues = bar::queues(scene);
        let longest = queues.iter().map(|(_, bytes)| *bytes).max().unwrap_or(0).max(1) as f64;
        let bar = |&(port, bytes): &(u32, u64)| {
            let &(wire, end) = choice.wire_of.get(&port)?;
            let (root, part) = (scene.roots().contains(&port), bytes as f64 / longest);
            let text = match brief_bytes(bytes) {
                bytes if choice.wires[wire].ports[end].len() > 1 => format!("{}: {bytes}", scene.port_name(port)),
                bytes => bytes,
            };
            Some(Bar {
                points: bar::points(&self.egress_course(wire, end), part),
                text,
                root,
                told: root || part >= TELLING,
                colour: if root { INK } else { QUEUE },
            })
        };
        queues.iter().filter_map(bar).collect()
    }

    /// A label rather covers an idle link than one on which something is shown.
    fn costs(&self) -> Vec<(&Course, u32)> {
        let Picture { scene, choice, .. } = *self;
        let shows = |wire: usize| {
            let mut ports = choice.wires[wire].ports.iter().flatten();
            ports.any(|port| scene.is_stopped(*port) || scene.flows.iter().any(|way| way.ports.contains(port)))
        };
        self.courses.iter().enumerate().map(|(wire, course)| (course, if shows(wire) { 3 } else { 1 })).collect()
    }

    fn is_stopped(&self, item: &Item) -> bool {
        self.scene.stops.iter().any(|stop| item.nodes.contains(&self.scene.owner(stop.port)))
    }
}

struct Bar {
    points: Vec<Point>,
    text: String,
    root: bool,
    /// Long enough for its bytes to be written out.
    told: bool,
    colour: RGBColor,
}

struct Label {
    text: String,
    place: Rect,
    colour: RGBColor,
}

struct Pen {
    shapes: Vec<Shape>,
    measure: Measure,
}

impl Pen {
    fn line(&mut self, points: Vec<Point>, colour: RGBColor, width: f64) {
        self.shapes.push(Shape::Line { points, colour, width });
    }

    fn area(&mut self, points: Vec<Point>, colour: RGBColor) {
        self.shapes.push(Shape::Area { points, colour });
    }

    fn text(&mut self, text: &str, size: f64, place: Point, (anchor, colour): (Anchor, RGBColor)) {
        self.shapes.push(Shape::Text { text: text.to_owned(), size, place, anchor, colour });
    }

    /// Title, caption and note; the height that they take.
    fn heading(&mut self, scene: &Scene, choice: &Choice, width: f64) -> f64 {
        let mut y = 8.0;
        let parts = [
            (scene.title.clone(), TITLE_SIZE, INK),
            (words::caption(scene), TEXT_SIZE, INK),
            (words::note(choice), TEXT_SIZE, GREY),
        ];
        for (text, size, colour) in parts.iter().filter(|(text, ..)| !text.is_empty()) {
            for line in wrap(text, width - 2.0 * LEFT, |text| (self.measure)(text, *size)) {
                y += size / 2.0 + 4.0;
                self.text(&line, *size, (LEFT, y), (Anchor::Left, *colour));
                y += size / 2.0 + 3.0;
            }
        }
        y
    }

    /// Below everything: broad lines where the flows go, those of one link side by side.
    fn ways(&mut self, picture: &Picture<'_>) {
        let Picture { scene, choice, .. } = *picture;
        for (wire, ends) in (0..choice.wires.len()).flat_map(|wire| [(wire, 0), (wire, 1)]) {
            let crosses = |way: &&Way| way.ports.iter().any(|port| choice.wire_of.get(port) == Some(&(wire, ends)));
            let own: Vec<&Way> = scene.flows.iter().filter(crosses).collect();
            let broad = (14.0 / own.len().max(1) as f64).min(6.0);
            let course = picture.egress_course(wire, ends);
            for (index, way) in own.iter().enumerate() {
                let colour = if scene.crosses_root(way) { CROSSING } else { INNOCENT };
                let aside = broad * (index as f64 - (own.len() - 1) as f64 / 2.0);
                self.line(piece(&course, 0.0, length(&course), aside), colour, broad);
            }
        }
    }

    /// Links, and in red those of stopped egresses, with a head at who was told to stop.
    fn links(&mut self, picture: &Picture<'_>) {
        let scene = picture.scene;
        for (wire, of) in picture.choice.wires.iter().enumerate() {
            let stopped = [0, 1].map(|end| of.ports[end].iter().any(|&port| scene.is_stopped(port)));
            if stopped == [false; 2] {
                self.line(picture.courses[wire].clone(), LINK, 1.0);
            }
            let aside = if stopped == [true; 2] { 3.0 } else { 0.0 };
            for end in [0, 1].into_iter().filter(|&end| stopped[end]) {
                self.told_to_stop(&picture.egress_course(wire, end), aside);
            }
        }
    }

    fn told_to_stop(&mut self, course: &[Point], aside: f64) {
        const HEAD: f64 = 10.0;
        self.line(piece(course, AWAY + HEAD - 1.0, length(course), aside), RED, 2.0);
        let tip = piece(course, AWAY, AWAY + HEAD, aside);
        let (_, (dx, dy)) = along(course, AWAY);
        let side = |by: f64| (tip[1].0 + by * dy, tip[1].1 - by * dx);
        self.area(vec![tip[0], side(4.5), side(-4.5)], RED);
    }

    fn boxes(&mut self, picture: &Picture<'_>) {
        let Picture { scene, choice, places, .. } = *picture;
        for (item, of) in choice.items.iter().zip(&places.boxes) {
            let stopped = picture.is_stopped(item);
            let (fill, edge) = if stopped { (PINK, RED) } else { (WHITE, GREY) };
            self.area(corners(of), fill);
            self.line([corners(of), vec![(of.left, of.top)]].concat(), edge, 1.0);
            let (x, y) = of.centre();
            let size = if item.tier == 0 { HOST_SIZE } else { SWITCH_SIZE };
            match item.nodes.len() {
                1 if item.tier == 0 && places.upright => {
                    self.text(&name(scene, item), size, (x, of.bottom + 4.0), (Anchor::Upward, INK));
                }
                1 => self.text(&name(scene, item), size, (x, y), (Anchor::Middle, INK)),
                _ => {
                    self.text(&name(scene, item), size, (x, y - 8.0), (Anchor::Middle, INK));
                    let colour = if stopped { RED } else { GREY };
                    self.text(&words::stopped_hosts(scene, item), size, (x, y + 8.0), (Anchor::Middle, colour));
                }
            }
        }
    }

    /// A bar beside the beginning of a link for each egress queue, with a diamond at roots; their labels.
    fn queues(&mut self, picture: &Picture<'_>) -> Vec<Label> {
        let bars = picture.bars();
        let mut taken = picture.places.boxes.clone();
        for bar in &bars {
            self.line(bar.points.clone(), bar.colour, 5.0);
            if bar.root {
                self.diamond(bar.points[bar.points.len() - 1]);
            }
            taken.push(bar::extent(&bar.points));
        }
        let within = Rect { left: 2.0, top: 0.0, right: picture.places.width - 2.0, bottom: f64::INFINITY };
        let mut labels = Labels::new(picture.costs(), taken, within);
        let mut written = Vec::new();
        for bar in bars.into_iter().filter(|bar| bar.told) {
            let size = ((self.measure)(&bar.text, HOST_SIZE) + 4.0, HOST_SIZE + 3.0);
            let place = labels.place(size, &bar::beside(&bar.points, size), bar.root);
            written.extend(place.map(|place| Label { text: bar.text, place, colour: bar.colour }));
        }
        written
    }

    fn diamond(&mut self, (x, y): Point) {
        const SIZE: f64 = 6.5;
        self.area(vec![(x - SIZE, y), (x, y - SIZE), (x + SIZE, y), (x, y + SIZE)], INK);
    }

    /// A bracket below the hosts of each datacentre; how far down it all reaches.
    fn domains(&mut self, places: &Places) -> f64 {
        let y = places.bottom + 9.0;
        for (domain, left, right) in &places.domains {
            self.line(vec![(*left, y - 4.0), (*left, y), (*right, y), (*right, y - 4.0)], GREY, 1.0);
            let middle = f64::midpoint(*left, *right);
            self.text(&format!("datacentre {domain}"), HOST_SIZE, (middle, y + 11.0), (Anchor::Middle, GREY));
        }
        if places.domains.is_empty() { places.bottom } else { y + 18.0 }
    }

    /// What lines and marks mean, as many to a row as fit, flows in rows of their own; the height of the picture.
    fn legend(&mut self, scene: &Scene, top: f64, width: f64) -> f64 {
        let mut entries: Vec<(Sample, String)> = Vec::new();
        if !scene.stops.is_empty() {
            entries.push((Sample::Stop, "PAUSE: points at the egress it stops".to_owned()));
        }
        if !scene.roots().is_empty() {
            entries.push((Sample::Root, "queue at the root".to_owned()));
        }
        entries.push((Sample::Queue, "egress queue".to_owned()));
        entries.extend(words::flows(scene, true).map(|text| (Sample::Way(CROSSING), text)));
        entries.extend(words::flows(scene, false).map(|text| (Sample::Way(INNOCENT), text)));
        let (mut x, mut y, mut ways) = (LEFT, top, false);
        for (sample, text) in entries {
            let wide = 34.0 + (self.measure)(&text, TEXT_SIZE);
            let first_way = matches!(sample, Sample::Way(_)) && !std::mem::replace(&mut ways, true);
            if x > LEFT && (first_way || x + wide > width - LEFT) {
                (x, y) = (LEFT, y + 19.0);
            }
            self.sample(sample, (x, y));
            self.text(&text, TEXT_SIZE, (x + 34.0, y), (Anchor::Left, INK));
            x += wide + 22.0;
        }
        y + 16.0
    }

    fn sample(&mut self, sample: Sample, (x, y): Point) {
        match sample {
            Sample::Stop => self.told_to_stop(&[(x, y), (x + 27.0, y)], 0.0),
            Sample::Root => {
                self.line(vec![(x + 2.0, y), (x + 20.0, y)], INK, 5.0);
                self.diamond((x + 20.0, y));
            }
            Sample::Queue => self.line(vec![(x + 2.0, y), (x + 24.0, y)], QUEUE, 5.0),
            Sample::Way(colour) => self.line(vec![(x + 2.0, y), (x + 26.0, y)], colour, 6.0),
        }
    }
}

enum Sample {
    Stop,
    Root,
    Queue,
    Way(RGBColor),
}

fn corners(of: &Rect) -> Vec<Point> {
    vec![(of.left, of.top), (of.right, of.top), (of.right, of.bottom), (of.left, of.bottom)]
}
