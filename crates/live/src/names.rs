//! Names of interfaces: `to-leaf0` is the one that leads to `leaf0`.

use std::collections::BTreeSet;
use xoff_fabric::plan::{Plan, peer};

/// What Linux allows.
const MOST_BYTES: usize = 15;

/// The interface of every port, unique within its node.
pub fn interfaces(plan: &Plan) -> Vec<String> {
    let leads_to = |port: u32| format!("to-{}", plan.nodes[plan.node_of(peer(port)) as usize].name);
    unique((0..plan.ports() as u32).map(|port| (plan.node_of(port), leads_to(port))))
}

/// Names by node, so that none has two that are the same.
fn unique(wanted: impl Iterator<Item = (u32, String)>) -> Vec<String> {
    let mut taken = BTreeSet::new();
    let mut free = |(node, name): (u32, String)| {
        let mut copy = 0;
        while !taken.insert((node, shortened(&name, copy))) {
            copy += 1;
        }
        shortened(&name, copy)
    };
    wanted.map(&mut free).collect()
}

/// Cut to what Linux allows, with a number where it is not the first of that name. Spaces, slashes, colons and percent
/// signs are not allowed or mean something, and what is not ASCII can hardly be typed.
fn shortened(name: &str, copy: u32) -> String {
    let typed = |c: char| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '-' };
    let ending = if copy == 0 { String::new() } else { format!("-{copy}") };
    let name = name.chars().take(MOST_BYTES - ending.len()).map(typed);
    name.chain(ending.chars()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_the_plan_cut_to_what_linux_allows() {
        assert_eq!(shortened("to-leaf0", 0), "to-leaf0");
        assert_eq!(shortened("to-a-very-long-name", 0), "to-a-very-long-");
        assert_eq!(shortened("to-a-very-long-name", 12), "to-a-very-lo-12");
        assert_eq!(shortened("to-a/b:c%d é", 0), "to-a-b-c-d--");
    }

    #[test]
    fn interfaces_of_a_node_have_different_names() {
        let wanted =
            [(0, "to-b"), (0, "to-b"), (1, "to-b"), (0, "to-b-1"), (0, "to-long-name-of-x"), (0, "to-long-name-of-y")];
        let names = unique(wanted.into_iter().map(|(node, name)| (node, name.to_owned())));
        assert_eq!(names, ["to-b", "to-b-1", "to-b", "to-b-1-1", "to-long-name-of", "to-long-name--1"]);
    }
}
