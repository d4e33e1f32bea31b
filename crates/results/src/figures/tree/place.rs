//! Where the nodes of a picture stand: layers from the core down, hosts below their switch.

use super::choice::{Choice, Item};
use super::scene::Scene;
use super::words;

/// Fits a column of a paper; a larger network takes more.
const WIDTH: f64 = 600.0;
/// Names of hosts stand upright where they would take more than this.
const LEVEL: f64 = 860.0;
const MARGIN: f64 = 18.0;
/// At the right, with room for the label of a queue.
const RIGHT: f64 = 58.0;
const GAP: f64 = 24.0;
/// Between datacentres.
const DOMAIN_GAP: f64 = 60.0;
/// Between switches of one layer that are linked.
const LINK_GAP: f64 = 130.0;
/// From one layer to the next.
const ROW: f64 = 100.0;
pub const SWITCH_SIZE: f64 = 13.0;
pub const HOST_SIZE: f64 = 12.0;
const SWITCH_HEIGHT: f64 = 26.0;
const HOST_HEIGHT: f64 = 22.0;
const GROUP_HEIGHT: f64 = 40.0;
/// A host whose name stands below it.
const BARE: f64 = 11.0;

pub type Measure = fn(&str, f64) -> f64;

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Rect {
    pub left: f64,
    pub top: f64,
    pub right: f64,
    pub bottom: f64,
}

impl Rect {
    pub fn centre(&self) -> (f64, f64) {
        (f64::midpoint(self.left, self.right), f64::midpoint(self.top, self.bottom))
    }

    pub fn touches(&self, other: &Rect) -> bool {
        self.left < other.right && other.left < self.right && self.top < other.bottom && other.top < self.bottom
    }
}

pub struct Places {
    pub boxes: Vec<Rect>,
    /// Names of hosts stand upright, below their boxes.
    pub upright: bool,
    /// Where the hosts of each datacentre are, if there are several.
    pub domains: Vec<(u16, f64, f64)>,
    pub width: f64,
    pub bottom: f64,
}

/// A switch with its hosts, or hosts without one.
struct Block {
    parent: Option<usize>,
    children: Vec<usize>,
    domain: u16,
    width: f64,
    /// Left of the next one.
    gap: f64,
}

impl Places {
    /// Below `top`.
    pub fn of(scene: &Scene, choice: &Choice, top: f64, measure: Measure) -> Places {
        let hosts = || choice.items.iter().filter(|item| item.tier == 0);
        let level = |item: &Item| host_width(scene, item, measure);
        let upright = hosts().map(level).sum::<f64>() > LEVEL && hosts().all(|item| item.nodes.len() == 1);
        let slot = if upright { BARE + 5.0 } else { hosts().map(level).fold(0.0, f64::max) };
        let blocks = blocks(scene, choice, slot, measure);
        let mut places = Places {
            boxes: vec![Rect::default(); choice.items.len()],
            upright,
            domains: Vec::new(),
            width: width(scene, choice, &blocks, measure),
            bottom: 0.0,
        };
        let tiers = tiers(choice);
        let row_of = |tier: u32| top + ROW * tiers.iter().position(|&of| of == tier).unwrap_or(0) as f64;
        places.blocks(scene, choice, &blocks, slot, (row_of(1), row_of(0)), measure);
        for &tier in tiers.iter().rev().filter(|&&tier| tier > 1) {
            places.layer(scene, choice, tier, row_of(tier), measure);
        }
        let lowest = places.boxes.iter().map(|of| of.bottom).fold(top, f64::max);
        let names = hosts().map(|item| measure(&name(scene, item), HOST_SIZE)).fold(0.0, f64::max);
        places.bottom = lowest + if upright { names + 8.0 } else { 0.0 };
        places
    }

    /// Hosts, and the switches that they are below.
    fn blocks(
        &mut self,
        scene: &Scene,
        choice: &Choice,
        blocks: &[Block],
        slot: f64,
        (switch_top, host_top): (f64, f64),
        measure: Measure,
    ) {
        let free = self.width - MARGIN - RIGHT - taken(blocks);
        let share = free / (blocks.len() + 1) as f64;
        let mut x = MARGIN + share;
        for block in blocks {
            let middle = x + block.width / 2.0;
            let mut left = middle - slot * block.children.len() as f64 / 2.0;
            for &child in &block.children {
                let (width, height) = match choice.items[child].nodes.len() {
                    1 if self.upright => (BARE, BARE),
                    1 => (slot - 6.0, HOST_HEIGHT),
                    _ => (slot - 6.0, GROUP_HEIGHT),
                };
                let place = left + (slot - width) / 2.0;
                self.boxes[child] =
                    Rect { left: place, top: host_top, right: place + width, bottom: host_top + height };
                left += slot;
            }
            if let Some(parent) = block.parent {
                let width = (slot * block.children.len() as f64).max(switch_width(scene, choice, parent, measure));
                self.boxes[parent] = around(middle, width, switch_top);
            }
            self.know_domain(block, x);
            x += block.width + block.gap + share;
        }
        if self.domains.len() == 1 {
            self.domains.clear();
        }
    }

    fn know_domain(&mut self, block: &Block, left: f64) {
        let right = left + block.width;
        match self.domains.last_mut() {
            Some((domain, _, end)) if *domain == block.domain => *end = right,
            _ => self.domains.push((block.domain, left, right)),
        }
    }

    /// Switches of a layer without hosts, above what they are linked to, apart from each other.
    fn layer(&mut self, scene: &Scene, choice: &Choice, tier: u32, top: f64, measure: Measure) {
        let own = (0..choice.items.len()).filter(|&item| choice.items[item].tier == tier);
        let mut wanted: Vec<(f64, usize)> = own.map(|item| (self.above(choice, item), item)).collect();
        wanted.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let widths: Vec<f64> = wanted.iter().map(|&(_, item)| switch_width(scene, choice, item, measure)).collect();
        let mut middles: Vec<f64> = wanted.iter().map(|(x, _)| *x).collect();
        let apart = |left: usize| f64::midpoint(widths[left], widths[left + 1]) + GAP;
        for i in 0..middles.len() {
            let least = if i == 0 { MARGIN + widths[0] / 2.0 } else { middles[i - 1] + apart(i - 1) };
            middles[i] = middles[i].max(least);
        }
        for i in (0..middles.len()).rev() {
            let end = self.width - RIGHT;
            let most = if i + 1 == middles.len() { end - widths[i] / 2.0 } else { middles[i + 1] - apart(i) };
            middles[i] = middles[i].min(most);
        }
        for ((&(_, item), width), middle) in wanted.iter().zip(widths).zip(middles) {
            self.boxes[item] = around(middle, width, top);
        }
    }

    /// The middle of what an item is linked to in lower layers.
    fn above(&self, choice: &Choice, item: usize) -> f64 {
        let tier = choice.items[item].tier;
        let ends = choice.wires.iter().filter_map(|wire| match wire.ends {
            [a, b] if a == item => Some(b),
            [a, b] if b == item => Some(a),
            _ => None,
        });
        let below: Vec<f64> =
            ends.filter(|&other| choice.items[other].tier < tier).map(|other| self.boxes[other].centre().0).collect();
        if below.is_empty() { self.width / 2.0 } else { below.iter().sum::<f64>() / below.len() as f64 }
    }
}

fn around(middle: f64, width: f64, top: f64) -> Rect {
    Rect { left: middle - width / 2.0, top, right: middle + width / 2.0, bottom: top + SWITCH_HEIGHT }
}

/// From the core down, the hosts last.
fn tiers(choice: &Choice) -> Vec<u32> {
    let mut tiers: Vec<u32> = choice.items.iter().map(|item| item.tier).chain([0]).collect();
    tiers.sort_unstable_by(|a, b| b.cmp(a));
    tiers.dedup();
    tiers
}

pub fn name(scene: &Scene, item: &Item) -> String {
    let of = |node: u32| scene.nodes[node as usize].name.as_str();
    match item.nodes[..] {
        [node] => of(node).to_owned(),
        [first, .., last] => format!("{} to {}", of(first), of(last)),
        [] => String::new(),
    }
}

fn host_width(scene: &Scene, item: &Item, measure: Measure) -> f64 {
    let stopped = if item.nodes.len() > 1 { words::stopped_hosts(scene, item) } else { String::new() };
    (measure(&name(scene, item), HOST_SIZE).max(measure(&stopped, HOST_SIZE)) + 14.0).max(26.0)
}

/// As wide as its name and its links need.
fn switch_width(scene: &Scene, choice: &Choice, item: usize, measure: Measure) -> f64 {
    let tier = choice.items[item].tier;
    let wires = choice.wires.iter().filter(|wire| wire.ends.contains(&item));
    let others = wires.map(|wire| if wire.ends[0] == item { wire.ends[1] } else { wire.ends[0] });
    let (below, rest): (Vec<usize>, Vec<usize>) = others.partition(|&other| choice.items[other].tier < tier);
    let links = below.len().max(rest.len()) as f64;
    (measure(&name(scene, &choice.items[item]), SWITCH_SIZE) + 20.0).max(12.0 * links).max(44.0)
}

/// In the order of datacentres, then of the network.
fn blocks(scene: &Scene, choice: &Choice, slot: f64, measure: Measure) -> Vec<Block> {
    let hosts = choice.items.iter().filter(|item| item.tier == 0).map(|item| item.parent);
    // A switch whose hosts all stand below another one has a place too.
    let edge = (0..choice.items.len()).filter(|&item| choice.items[item].tier == 1).map(Some);
    let mut parents: Vec<Option<usize>> = hosts.chain(edge).collect();
    parents.sort_unstable();
    parents.dedup();
    let block = |parent: Option<usize>| {
        let child = |item: &usize| choice.items[*item].tier == 0 && choice.items[*item].parent == parent;
        let children: Vec<usize> = (0..choice.items.len()).filter(child).collect();
        let node = choice.items[parent.unwrap_or_else(|| children[0])].nodes[0];
        let own = parent.map_or(0.0, |parent| switch_width(scene, choice, parent, measure));
        let width = (slot * children.len() as f64).max(own);
        Block { parent, children, domain: scene.nodes[node as usize].domain, width, gap: 0.0 }
    };
    let mut blocks: Vec<Block> = parents.into_iter().map(block).collect();
    // Stable: within a datacentre as they were.
    blocks.sort_by_key(|block| block.domain);
    for index in 1..blocks.len() {
        blocks[index - 1].gap = gap(choice, &blocks[index - 1], &blocks[index]);
    }
    blocks
}

fn gap(choice: &Choice, block: &Block, next: &Block) -> f64 {
    let ends = [block.parent, next.parent];
    let linked = choice.wires.iter().any(|wire| wire.ends.iter().all(|&end| ends.contains(&Some(end))));
    match (linked, block.domain == next.domain) {
        (true, _) => LINK_GAP,
        (false, true) => GAP,
        (false, false) => DOMAIN_GAP,
    }
}

/// What blocks and the gaps between them need.
fn taken(blocks: &[Block]) -> f64 {
    blocks.iter().map(|block| block.width + block.gap).sum()
}

/// What the widest layer needs.
fn width(scene: &Scene, choice: &Choice, blocks: &[Block], measure: Measure) -> f64 {
    let layer = |tier: u32| -> f64 {
        let own = (0..choice.items.len()).filter(|&item| choice.items[item].tier == tier);
        own.map(|item| switch_width(scene, choice, item, measure) + GAP).sum()
    };
    let upper = tiers(choice).into_iter().filter(|&tier| tier > 1).map(layer).fold(0.0, f64::max);
    (taken(blocks).max(upper) + MARGIN + RIGHT).max(WIDTH).ceil()
}

#[cfg(test)]
mod tests {
    use super::super::scene::tests::chain;
    use super::*;

    fn places(scene: &Scene) -> Places {
        Places::of(scene, &Choice::of(scene), 50.0, |text, size| 0.6 * size * text.len() as f64)
    }

    #[test]
    fn no_two_boxes_touch_and_all_are_inside() {
        for scene in [chain(2, 2, 16), chain(3, 2, 10), chain(2, 1, 63), chain(2, 100, 100), chain(30, 3, 3)] {
            let places = places(&scene);
            for (index, one) in places.boxes.iter().enumerate() {
                assert!(one.left >= 0.0 && one.right <= places.width && one.bottom <= places.bottom, "{one:?}");
                assert!(places.boxes[..index].iter().all(|other| !other.touches(one)), "{index} of {:?}", places.boxes);
            }
        }
    }

    #[test]
    fn layers_are_rows_and_hosts_stand_below_their_switch() {
        let places = places(&chain(3, 2, 10));
        let [s0, s1, s2] = [0, 1, 2].map(|item| places.boxes[item]);
        assert!(s0.top == s2.top && s1.bottom < s0.top && s0.right < s2.left && s0.centre() < s1.centre());
        assert!(places.boxes[3..].iter().all(|host| host.top > s0.bottom));
        let middle = f64::midpoint(places.boxes[3].centre().0, places.boxes[4].centre().0);
        assert!((middle - s0.centre().0).abs() < 1e-9);
    }

    #[test]
    fn datacentres_stand_side_by_side() {
        let mut scene = chain(2, 3, 3);
        assert!(places(&scene).domains.is_empty());
        for node in [1, 5, 6, 7] {
            scene.nodes[node].domain = 1;
        }
        let domains = places(&scene).domains;
        assert_eq!(domains.iter().map(|(domain, ..)| *domain).collect::<Vec<_>>(), [0, 1]);
        assert!(domains[0].2 < domains[1].1);
    }
}
