//! What a picture says in words.

use super::choice::{Choice, Item};
use super::scene::{Scene, Way};
use xoff_scenario::number::brief_bytes;

/// Names of flows in a line of the legend, and of roots in the caption.
const NAMED: usize = 3;

/// Scheme, instant, how many egresses stand still, and why.
pub fn caption(scene: &Scene) -> String {
    let stopped = match scene.stops.len() {
        0 => "no egress stopped".to_owned(),
        1 => "1 egress stopped".to_owned(),
        count => format!("{count} egresses stopped"),
    };
    let root = |port: &u32| match scene.queue(*port) {
        0 => scene.port_name(*port),
        bytes => format!("{} ({})", scene.port_name(*port), brief_bytes(bytes)),
    };
    let roots: Vec<String> = scene.roots().iter().map(root).collect();
    let because = match roots.len() {
        0 => String::new(),
        1 => format!("; root {}", roots[0]),
        _ => format!("; roots {}", listed(&roots)),
    };
    format!("{}, {}: {stopped}{because}", scene.scheme, instant(scene.at_us))
}

pub fn note(choice: &Choice) -> String {
    match choice.switches {
        (drawn, all) if drawn < all => {
            format!("{drawn} of {all} switches: those of the tree and of the flows drawn, with all their hosts")
        }
        _ => String::new(),
    }
}

/// To the nanosecond at most, without zeros that say nothing.
fn instant(us: f64) -> String {
    let (value, unit) = if us >= 1000.0 { (us / 1000.0, "ms") } else { (us, "us") };
    let text = format!("{value:.3}");
    format!("{} {unit}", text.trim_end_matches('0').trim_end_matches('.'))
}

/// Of hosts that are drawn together.
pub fn stopped_hosts(scene: &Scene, item: &Item) -> String {
    let stopped = |node: &&u32| scene.stops.iter().any(|stop| scene.owner(stop.port) == **node);
    format!("{} of {} stopped", item.nodes.iter().filter(stopped).count(), item.nodes.len())
}

/// Flows that cross the root of the largest tree or do not, with their ends.
pub fn flows(scene: &Scene, crossing: bool) -> Option<String> {
    let name = |way: &Way| {
        let end = |port: Option<&u32>, flip: u32| {
            port.map_or("", |&port| scene.nodes[scene.owner(port ^ flip) as usize].name.as_str())
        };
        format!("{} ({} to {})", way.name, end(way.ports.first(), 0), end(way.ports.last(), 1))
    };
    let own: Vec<String> = scene.flows.iter().filter(|way| scene.crosses_root(way) == crossing).map(name).collect();
    let root = scene.roots().first().map_or_else(|| "a root".to_owned(), |root| scene.port_name(*root));
    let what = match (crossing, own.len()) {
        (_, 0) => return None,
        (true, 1) => format!("crosses {root}"),
        (true, _) => format!("cross {root}"),
        (false, 1) => "does not".to_owned(),
        (false, _) => "do not".to_owned(),
    };
    Some(format!("{what}: {}", listed(&own)))
}

fn listed(names: &[String]) -> String {
    match names.len() {
        count if count > NAMED + 1 => format!("{} and {} more", names[..NAMED].join(", "), count - NAMED),
        _ => names.join(", "),
    }
}

#[cfg(test)]
mod tests {
    use super::super::scene::tests::chain;
    use super::*;

    #[test]
    fn a_caption_says_what_when_and_why() {
        let mut scene = chain(2, 2, 3);
        assert_eq!(caption(&scene), "none, 20.944 ms: 3 egresses stopped; root S1->h4 (2.40 MB)");
        scene.at_us = 12.0;
        scene.stops.clear();
        assert_eq!(caption(&scene), "none, 12 us: no egress stopped");
    }

    #[test]
    fn flows_are_told_by_whether_they_cross_the_root() {
        let mut scene = chain(2, 2, 3);
        assert_eq!(flows(&scene, true).unwrap(), "crosses S1->h4: F1 (h0 to h4)");
        assert_eq!(flows(&scene, false), None);
        scene.flows = vec![Way { name: "F0".into(), ports: vec![4, 0, 7] }; 6];
        let text = flows(&scene, false).unwrap();
        assert!(text.starts_with("do not: F0 (h1 to h2), ") && text.ends_with(" and 3 more"), "{text}");
    }
}
