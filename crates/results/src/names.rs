//! What nodes, ports and priorities are called in results, worked out once per run.

use xoff_engine::BitRate;
use xoff_fabric::plan::{NodeKind, Plan, peer};
use xoff_fabric::record::Paths;

/// Names and a few facts of a plan, without the plan.
#[derive(Clone, Debug)]
pub struct Names {
    nodes: Vec<NodeName>,
    ports: Vec<PortName>,
    /// The names of all ports, one after the other.
    text: String,
    /// IEEE priority by class index.
    priorities: Vec<u8>,
}

#[derive(Clone, Debug)]
struct NodeName {
    name: String,
    layer: String,
    host: bool,
}

#[derive(Clone, Debug)]
struct PortName {
    /// Where its name ends in the text; it begins where that of the port before ends.
    end: u32,
    node: u32,
    /// 1, 2, ... among the ports of its node, in the order of the links.
    number: u32,
    rate: BitRate,
    /// Bytes at the end of its name that say which of several links between the same nodes it is.
    twin: u8,
}

impl Names {
    /// Looks at every link once; [`Plan::port_name`] looks at all of them for each name.
    pub fn of(plan: &Plan) -> Names {
        let nodes = plan
            .nodes
            .iter()
            .map(|node| NodeName {
                name: node.name.clone(),
                layer: node.layer.clone(),
                host: node.kind == NodeKind::Host,
            })
            .collect();
        let twins = twins(plan);
        let mut counts = vec![0; plan.nodes.len()];
        let mut text = String::new();
        let ports = (0..plan.ports() as u32)
            .map(|port| {
                let (from, to) = (plan.node_of(port), plan.node_of(peer(port)));
                let twin = twins[port as usize / 2].map_or_else(String::new, |which| format!("#{which}"));
                text.extend([&plan.nodes[from as usize].name, "->", &plan.nodes[to as usize].name, &twin]);
                let end = u32::try_from(text.len()).expect("names of ports fit four gigabytes");
                counts[from as usize] += 1;
                let number = counts[from as usize];
                PortName { end, node: from, number, rate: plan.direction(port).rate, twin: twin.len() as u8 }
            })
            .collect();
        text.shrink_to_fit();
        Names { nodes, ports, text, priorities: plan.classes.list.iter().map(|class| class.priority).collect() }
    }

    pub(crate) fn node(&self, node: u32) -> &str {
        &self.nodes[node as usize].name
    }
    /// `from->to`, as [`Plan::port_name`] writes it.
    pub fn port(&self, port: u32) -> &str {
        let end = |port: usize| self.ports[port].end as usize;
        let begin = (port as usize).checked_sub(1).map_or(0, end);
        &self.text[begin..end(port as usize)]
    }
    /// Which of several links between the same nodes it is; empty if there is only one.
    fn twin(&self, port: u32) -> &str {
        let name = self.port(port);
        &name[name.len() - usize::from(self.ports[port as usize].twin)..]
    }
    /// The node that owns a port.
    pub fn node_of(&self, port: u32) -> u32 {
        self.ports[port as usize].node
    }
    pub(crate) fn node_name_of(&self, port: u32) -> &str {
        self.node(self.node_of(port))
    }
    /// 1, 2, ... among the ports of its node, in the order of the links.
    pub fn number_of(&self, port: u32) -> u32 {
        self.ports[port as usize].number
    }
    /// Otherwise it is a switch.
    pub fn is_host(&self, node: u32) -> bool {
        self.nodes[node as usize].host
    }
    pub(crate) fn layer_of(&self, port: u32) -> &str {
        &self.nodes[self.node_of(port) as usize].layer
    }
    /// Whether the node at the other end of the link is a host.
    pub fn faces_host(&self, port: u32) -> bool {
        self.nodes[self.node_of(peer(port)) as usize].host
    }
    pub(crate) fn rate(&self, port: u32) -> BitRate {
        self.ports[port as usize].rate
    }
    pub(crate) fn priority(&self, class: u8) -> u8 {
        self.priorities[usize::from(class)]
    }
    /// The receiving side of a port in words: `leaf0 from h3`.
    pub fn ingress(&self, port: u32) -> String {
        format!("{} from {}{}", self.node_name_of(port), self.node_name_of(peer(port)), self.twin(port))
    }

    /// Paths of a flow, joined by `|` if it has several.
    pub fn paths(&self, paths: &Paths) -> String {
        let texts: Vec<String> = paths.iter().map(|path| self.path(path)).collect();
        texts.join("|")
    }

    /// Nodes from sender to receiver: `h0>leaf0>spine1>leaf2>h9`, parallel links told apart by `#n`.
    fn path(&self, path: &[u32]) -> String {
        let mut text = match path.first() {
            Some(&port) => self.node_name_of(port).to_owned(),
            None => String::new(),
        };
        for &port in path {
            text.push('>');
            text.push_str(self.node_name_of(peer(port)));
            text.push_str(self.twin(port));
        }
        text
    }
}

/// Per link: which of several between the same nodes it is, if there are several.
fn twins(plan: &Plan) -> Vec<Option<u32>> {
    let ends = |link: u32| {
        let link = &plan.links[link as usize];
        (link.a.min(link.b), link.a.max(link.b))
    };
    let mut links: Vec<u32> = (0..plan.links.len() as u32).collect();
    links.sort_by_key(|&link| ends(link));
    let mut twins = vec![None; links.len()];
    for side_by_side in links.chunk_by(|&one, &other| ends(one) == ends(other)).filter(|links| links.len() > 1) {
        for (which, &link) in (0..).zip(side_by_side) {
            twins[link as usize] = Some(which);
        }
    }
    twins
}

/// What results call a label, even one that the context does not know.
pub fn label_name(labels: &[String], label: u32) -> String {
    labels.get(label as usize).cloned().unwrap_or_else(|| format!("label {label}"))
}

/// A scheme as sentences, tables and legends call it: `none`, which files and options keep, reads "PFC only".
pub fn scheme_label(scheme: &str) -> &str {
    if scheme == "none" { "PFC only" } else { scheme }
}

#[cfg(test)]
mod tests {
    use super::super::fixture;
    use super::*;

    #[test]
    fn ports_are_named_as_the_plan_names_them() {
        let plan = fixture::plan();
        let names = Names::of(&plan);
        for port in 0..plan.ports() as u32 {
            assert_eq!(names.port(port), plan.port_name(port));
        }
    }

    #[test]
    fn pfc_alone_has_a_name_in_prose() {
        assert_eq!(
            ["none", "dcqcn:paper", "mercury+none"].map(scheme_label),
            ["PFC only", "dcqcn:paper", "mercury+none"]
        );
    }

    #[test]
    fn paths_read_from_sender_to_receiver() {
        let plan = fixture::plan();
        let names = Names::of(&plan);
        // h0 -> s0 by link 0, s0 -> s1 by the second of two parallel links, s1 -> r0.
        assert_eq!(names.path(&[0, 6, 8]), "h0>s0>s1#1>r0");
        let several = Paths::Many(Box::new([Box::new([0, 6, 8]), Box::new([0, 4, 8])]));
        assert_eq!(names.paths(&several), "h0>s0>s1#1>r0|h0>s0>s1#0>r0");
        assert!(names.faces_host(1) && !names.faces_host(6));
        assert_eq!(names.ingress(7), "s1 from s0#1");
        assert!(names.is_host(0) && !names.is_host(2));
        // Of s0: to h0, to h1, and twice to s1.
        assert_eq!([1, 3, 4, 6].map(|port| names.number_of(port)), [1, 2, 3, 4]);
        assert_eq!([5, 7, 8, 10, 0].map(|port| names.number_of(port)), [1, 2, 3, 4, 1]);
    }
}
