//! Names of nodes and ports, and the selectors with which a scenario picks some of them.
//!
//! A host selector is an exact name, a pattern (`*`, `?`, and `h[0..15]` for numbers, both ends
//! included), `@leaf0` for the hosts on a switch (patterns allowed), the name of a group, or that of a layer
//! (`nic`; of switches `leaf`, `scale-up`), where no node has it. A
//! port selector joins two node selectors: `leaf*->spine0` is every egress port from a leaf to
//! `spine0`, `s0<->s1` both ends of the link, and `s0->s1#1` the second of parallel links.

use super::diagnostic::{Diagnostic, suggestion};
use super::reader::{Result, Text};
use std::collections::{BTreeMap, HashMap};
use xoff_fabric::plan::{Link, Node, NodeKind, peer};
use xoff_fabric::servers::{GPU_LAYER, NIC_LAYER, SCALE_UP_LAYER};

/// Layers are kept up to this many; what is beyond cannot be selected by it.
const LAYERS_LARGEST: usize = 1000;

/// The names of one network.
#[derive(Clone, Debug)]
pub struct Names {
    nodes: Vec<(String, NodeKind)>,
    by_name: HashMap<String, u32>,
    /// The name of each layer, and by node which of them it is in.
    layers: Vec<String>,
    layer_of: Vec<u16>,
    /// The nodes at the two ends of each link.
    ends: Vec<(u32, u32)>,
    groups: BTreeMap<String, Vec<u32>>,
}

impl Names {
    pub(crate) fn new(nodes: &[Node], links: &[Link]) -> Names {
        let mut layers: Vec<String> = Vec::new();
        let layer_of = nodes.iter().map(|node| {
            // Most often the node before is in the same; more layers than a few are switches named without rule.
            let known = layers.iter().rposition(|layer| *layer == node.layer).unwrap_or(layers.len());
            if known == layers.len() && known < LAYERS_LARGEST {
                layers.push(node.layer.clone());
            }
            known as u16
        });
        Names {
            layer_of: layer_of.collect(),
            layers,
            nodes: nodes.iter().map(|node| (node.name.clone(), node.kind)).collect(),
            by_name: nodes.iter().enumerate().map(|(i, node)| (node.name.clone(), i as u32)).collect(),
            ends: links.iter().map(|link| (link.a, link.b)).collect(),
            groups: BTreeMap::new(),
        }
    }

    /// Names a selection of hosts; later selectors may use the name.
    pub fn add_group(&mut self, name: &Text, hosts: Vec<u32>) -> Result<()> {
        if self.by_name.contains_key(&name.value) {
            return Err(name.error(format!("the group `{}` has the name of a node", name.value)));
        }
        let of_servers = [GPU_LAYER, NIC_LAYER, SCALE_UP_LAYER].contains(&name.value.as_str());
        if of_servers && self.layers.contains(&name.value) {
            return Err(name.error(format!("the group `{}` has the name of a layer", name.value)));
        }
        valid_name(name)?;
        self.groups.insert(name.value.clone(), hosts);
        Ok(())
    }

    /// Panics beyond the last node.
    pub fn node_name(&self, node: u32) -> &str {
        &self.nodes[node as usize].0
    }

    /// The hosts that traffic goes between unless it says otherwise, in the order of the topology: all, but of
    /// servers only the ports of their NICs.
    pub fn all_hosts(&self) -> Vec<u32> {
        let inner = |node: u32| self.layer(node) == GPU_LAYER;
        (0..self.nodes.len() as u32).filter(|node| self.kind(*node) == NodeKind::Host && !inner(*node)).collect()
    }

    /// The nodes of a layer, ascending.
    pub(crate) fn in_layer(&self, layer: &str) -> Vec<u32> {
        (0..self.nodes.len() as u32).filter(|node| self.layer(*node) == layer).collect()
    }

    fn layer(&self, node: u32) -> &str {
        self.layers.get(usize::from(self.layer_of[node as usize])).map_or("", String::as_str)
    }

    fn kind(&self, node: u32) -> NodeKind {
        self.nodes[node as usize].1
    }

    /// The one host of that name.
    pub fn host(&self, name: &Text) -> Result<u32> {
        match self.hosts(std::slice::from_ref(name))?[..] {
            [host] => Ok(host),
            ref hosts => Err(name
                .error(format!("`{}` stands for {} hosts", name.value, hosts.len()))
                .label("exactly one is needed")),
        }
    }

    /// The hosts that any of the selectors picks, without repetition, in the order picked.
    pub fn hosts(&self, selectors: &[Text]) -> Result<Vec<u32>> {
        let mut picked = Vec::new();
        let mut seen = vec![false; self.nodes.len()];
        for selector in selectors {
            for host in self.hosts_of(selector)? {
                if !std::mem::replace(&mut seen[host as usize], true) {
                    picked.push(host);
                }
            }
        }
        Ok(picked)
    }

    fn hosts_of(&self, selector: &Text) -> Result<Vec<u32>> {
        let text = selector.value.as_str();
        if let Some(hosts) = self.groups.get(text) {
            return Ok(hosts.clone());
        }
        if let Some(switch) = text.strip_prefix('@') {
            return self.hosts_on(selector, switch);
        }
        let found = self.matching(selector, text, Some(NodeKind::Host))?;
        if !found.is_empty() {
            return Ok(found);
        }
        let error = match self.by_name.get(text) {
            Some(_) => {
                let error = selector.error(format!("`{text}` is a switch, not a host"));
                return Err(error.help(format!("`@{text}` stands for the hosts on it")));
            }
            None => selector.error(format!("no host is called `{text}`")),
        };
        let hosts = self.nodes.iter().filter(|(_, kind)| *kind == NodeKind::Host).map(|(name, _)| name.as_str());
        Err(error.label("not in this topology").nearest(text, hosts.chain(self.groups.keys().map(String::as_str))))
    }

    fn hosts_on(&self, selector: &Text, pattern: &str) -> Result<Vec<u32>> {
        let switches = self.matching(selector, pattern, Some(NodeKind::Switch))?;
        if switches.is_empty() {
            let error = selector.error(format!("no switch is called `{pattern}`"));
            return Err(error.nearest(pattern, self.of_kind(NodeKind::Switch)));
        }
        let mut chosen = vec![false; self.nodes.len()];
        switches.iter().for_each(|switch| chosen[*switch as usize] = true);
        let mut hosts: Vec<u32> = self
            .ends
            .iter()
            .flat_map(|&(a, b)| [(a, b), (b, a)])
            .filter(|(host, switch)| self.kind(*host) == NodeKind::Host && chosen[*switch as usize])
            .map(|(host, _)| host)
            .collect();
        hosts.sort_unstable();
        if hosts.is_empty() {
            return Err(selector.error(format!("no host hangs from `{pattern}`")));
        }
        Ok(hosts)
    }

    fn of_kind(&self, kind: NodeKind) -> impl Iterator<Item = &str> {
        self.nodes.iter().filter(move |(_, of)| *of == kind).map(|(name, _)| name.as_str())
    }

    /// The nodes whose name matches, or else those of the layer of that name, restricted to a kind.
    fn matching(&self, selector: &Text, text: &str, kind: Option<NodeKind>) -> Result<Vec<u32>> {
        let fits = |node: u32| kind.is_none_or(|kind| self.kind(node) == kind);
        if let Some(&node) = self.by_name.get(text) {
            return Ok(if fits(node) { vec![node] } else { Vec::new() });
        }
        let pattern = Pattern::parse(text).map_err(|why| selector.error(why))?;
        let found = (0..self.nodes.len() as u32).filter(|&node| fits(node) && pattern.matches(self.node_name(node)));
        let found: Vec<u32> = found.collect();
        // A star takes what there is; a range names each of its members, and all must be there.
        let known = |name: &String| self.by_name.get(name).is_some_and(|node| fits(*node));
        match pattern.spelled_out().and_then(|mut names| names.find(|name| !known(name))) {
            Some(missing) if !found.is_empty() => {
                let what = match kind {
                    Some(NodeKind::Host) => "host",
                    Some(NodeKind::Switch) => "switch",
                    None => "node",
                };
                Err(selector
                    .error(format!("no {what} is called `{missing}`"))
                    .label(format!("only {} of these are in this topology", found.len())))
            }
            _ if found.is_empty() => {
                Ok((0..self.nodes.len() as u32).filter(|&node| fits(node) && self.layer(node) == text).collect())
            }
            _ => Ok(found),
        }
    }

    /// The switches that any of the selectors picks.
    pub fn switches(&self, selectors: &[Text]) -> Result<Vec<u32>> {
        let mut picked = Vec::new();
        for selector in selectors {
            let found = self.matching(selector, &selector.value, Some(NodeKind::Switch))?;
            if found.is_empty() {
                let error = selector.error(format!("no switch is called `{}`", selector.value));
                return Err(error.nearest(&selector.value, self.of_kind(NodeKind::Switch)));
            }
            picked.extend(found);
        }
        picked.sort_unstable();
        picked.dedup();
        Ok(picked)
    }

    /// The one node of exactly this name, host or switch.
    pub fn node(&self, name: &Text) -> Result<u32> {
        self.by_name.get(&name.value).copied().ok_or_else(|| {
            let error = name.error(format!("no node is called `{}`", name.value)).label("not in this topology");
            error.nearest(&name.value, self.by_name.keys().map(String::as_str))
        })
    }

    /// Nodes of either kind: one side of a port selector.
    pub(super) fn side(&self, selector: &Text, text: &str) -> Result<Vec<bool>> {
        let part = Text { value: text.to_owned(), place: selector.place.clone() };
        let nodes = if self.groups.contains_key(text) || text.starts_with('@') {
            self.hosts_of(&part)?
        } else {
            self.matching(&part, text, None)?
        };
        if nodes.is_empty() {
            let error = selector.error(format!("no node is called `{text}`")).label("not in this topology");
            return Err(error.nearest(text, self.by_name.keys().map(String::as_str)));
        }
        let mut chosen = vec![false; self.nodes.len()];
        nodes.iter().for_each(|node| chosen[*node as usize] = true);
        Ok(chosen)
    }

    /// The egress ports that a selector such as `leaf*->spine0` picks, in ascending order.
    pub fn ports(&self, selector: &Text) -> Result<Vec<u32>> {
        let text = selector.value.as_str();
        let (body, twin) = match text.rsplit_once('#') {
            None => (text, None),
            Some((body, number)) => match number.trim().parse::<usize>() {
                Ok(number) => (body, Some(number)),
                Err(_) => return Err(selector.error(format!("`#{number}` is not the number of a parallel link"))),
            },
        };
        let (from, to, both) = match (body.split_once("<->"), body.split_once("->")) {
            (Some((from, to)), _) => (from, to, true),
            (None, Some((from, to))) => (from, to, false),
            (None, None) => {
                return Err(selector
                    .error(format!("`{text}` is not a port"))
                    .label("such as \"leaf0->spine1\", or \"leaf0<->spine1\" for both directions"));
            }
        };
        let (from, to) = (self.side(selector, from.trim())?, self.side(selector, to.trim())?);
        let goes =
            |a: u32, b: u32| (from[a as usize] && to[b as usize]) || (both && to[a as usize] && from[b as usize]);
        let numbers = twin.map(|_| twin_numbers(&self.ends));
        let ports: Vec<u32> = (0..self.ends.len() as u32 * 2)
            .filter(|&port| goes(self.node_of(port), self.node_of(peer(port))))
            .filter(|&port| match (&numbers, twin) {
                (Some(numbers), Some(wanted)) => numbers[port as usize / 2].0 == wanted,
                _ => true,
            })
            .collect();
        if ports.is_empty() {
            return Err(selector.error(format!("no link fits `{text}`")).label("these nodes are not linked so"));
        }
        Ok(ports)
    }

    /// The ports any of the selectors picks, ascending, without repetition.
    pub fn all_ports(&self, selectors: &[Text]) -> Result<Vec<u32>> {
        let mut ports = Vec::new();
        for selector in selectors {
            ports.extend(self.ports(selector)?);
        }
        ports.sort_unstable();
        ports.dedup();
        Ok(ports)
    }

    pub(crate) fn node_of(&self, port: u32) -> u32 {
        let (a, b) = self.ends[port as usize / 2];
        if port & 1 == 0 { a } else { b }
    }

    /// The name of every port, as [`xoff_fabric::plan::Plan::port_name`] gives them one by one.
    pub fn port_names(&self) -> Vec<String> {
        let numbers = twin_numbers(&self.ends);
        (0..self.ends.len() as u32 * 2)
            .map(|port| {
                let (from, to) = (self.node_name(self.node_of(port)), self.node_name(self.node_of(peer(port))));
                match numbers[port as usize / 2] {
                    (_, 1) => format!("{from}->{to}"),
                    (number, _) => format!("{from}->{to}#{number}"),
                }
            })
            .collect()
    }
}

/// For each link its number among those between the same two nodes, and how many there are.
fn twin_numbers(ends: &[(u32, u32)]) -> Vec<(usize, usize)> {
    let mut counts: HashMap<(u32, u32), usize> = HashMap::new();
    let numbers: Vec<((u32, u32), usize)> = ends
        .iter()
        .map(|&(a, b)| {
            let pair = (a.min(b), a.max(b));
            let count = counts.entry(pair).or_default();
            *count += 1;
            (pair, *count - 1)
        })
        .collect();
    numbers.into_iter().map(|(pair, number)| (number, counts[&pair])).collect()
}

/// A node's or group's name must not read as a selector.
pub fn valid_name(name: &Text) -> Result<()> {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    let starts = !name.value.starts_with('-');
    if name.value.is_empty() || name.value.len() > 64 || !name.value.chars().all(plain) || !starts {
        return Err(name
            .error(format!("`{}` cannot be a name", name.value))
            .label("letters, digits, `_`, `-` (not first) and `.`"));
    }
    Ok(())
}

/// A name that only people read, in any script. It reaches terminals, tables, figures and spreadsheets, so
/// it can be seen, is legal in XML, and does not read as a formula.
pub fn readable_name(name: &Text) -> Result<()> {
    let formula = name.value.starts_with(['=', '+', '-', '@']);
    let blank = name.value.trim().is_empty();
    if blank || formula || name.value.chars().count() > 100 || !name.value.chars().all(visible) {
        let error = name.error(format!("`{}` cannot be a name", name.value));
        return Err(error.label("from 1 to 100 visible characters, of which the first is none of = + - @"));
    }
    Ok(())
}

/// Neither a control character, nor one that turns the direction of text or hides, nor one that XML
/// forbids.
pub fn visible(c: char) -> bool {
    let hidden = matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}');
    !c.is_control() && !hidden && !matches!(c, '\u{fffe}' | '\u{ffff}')
}

/// The names that `H[0..15]` stands for, at most `largest`; a plain name stands for itself.
pub fn expand(name: &Text, largest: usize) -> Result<Vec<Text>> {
    let text = name.value.as_str();
    let Some((head, rest)) = text.split_once('[') else {
        valid_name(name)?;
        return Ok(vec![name.clone()]);
    };
    let range = rest.split_once(']').and_then(|(range, tail)| Some((parse_range(range)?, tail)));
    let Some(((low, high), tail)) = range else {
        return Err(name.error(format!("`{text}` is not a range of names")).label("such as \"H[0..15]\""));
    };
    if (high - low) as usize >= largest {
        return Err(name.error(format!("`{text}` stands for more than {largest} names")));
    }
    let names = (low..=high).map(|number| Text { value: format!("{head}{number}{tail}"), place: name.place.clone() });
    names.map(|name| valid_name(&name).map(|()| name)).collect()
}

fn parse_range(text: &str) -> Option<(u32, u32)> {
    let (low, high) = text.split_once("..")?;
    let (low, high) = (low.trim().parse().ok()?, high.trim().parse().ok()?);
    (low <= high).then_some((low, high))
}

/// A compiled pattern: `*`, `?`, and `[0..15]` for numbers.
#[derive(Clone, Debug)]
pub struct Pattern(Vec<Token>);

#[derive(Clone, Debug)]
enum Token {
    Char(char),
    One,
    Any,
    /// A whole number within bounds, without leading zeros.
    Number(u32, u32),
}

impl Pattern {
    pub(crate) fn parse(text: &str) -> std::result::Result<Pattern, String> {
        let mut tokens = Vec::new();
        let mut rest = text;
        while let Some(c) = rest.chars().next() {
            rest = &rest[c.len_utf8()..];
            tokens.push(match c {
                '*' => Token::Any,
                '?' => Token::One,
                '[' => {
                    let inside = rest.split_once(']').and_then(|(range, tail)| Some((parse_range(range)?, tail)));
                    let Some(((low, high), tail)) = inside else {
                        return Err(format!("`{text}` has a range that is not like [0..15]"));
                    };
                    rest = tail;
                    Token::Number(low, high)
                }
                other => Token::Char(other),
            });
        }
        Ok(Pattern(tokens))
    }

    /// The names that a pattern with one range and no wildcard stands for.
    fn spelled_out(&self) -> Option<impl Iterator<Item = String>> {
        let (mut head, mut tail, mut range) = (String::new(), String::new(), None);
        for token in &self.0 {
            match (token, range.is_some()) {
                (Token::Char(c), false) => head.push(*c),
                (Token::Char(c), true) => tail.push(*c),
                (Token::Number(low, high), false) => range = Some(*low..=*high),
                _ => return None,
            }
        }
        range.map(|range| range.map(move |number| format!("{head}{number}{tail}")))
    }

    /// Walks the name once per star, going back only to the last star.
    pub fn matches(&self, name: &str) -> bool {
        let chars: Vec<char> = name.chars().collect();
        let (mut at, mut token) = (0, 0);
        let mut star: Option<(usize, usize)> = None;
        loop {
            let step = match self.0.get(token) {
                None if at == chars.len() => return true,
                None => None,
                Some(Token::Any) => {
                    star = Some((token + 1, at));
                    token += 1;
                    continue;
                }
                Some(Token::One) => (at < chars.len()).then_some(1),
                Some(Token::Char(c)) => (chars.get(at) == Some(c)).then_some(1),
                Some(Token::Number(low, high)) => number_at(&chars[at..], *low, *high),
            };
            match (step, star) {
                (Some(length), _) => (at, token) = (at + length, token + 1),
                (None, Some((after, from))) if from < chars.len() => {
                    star = Some((after, from + 1));
                    (at, token) = (from + 1, after);
                }
                (None, _) => return false,
            }
        }
    }
}

/// The length of the run of digits at the front if it is a number within bounds.
fn number_at(chars: &[char], low: u32, high: u32) -> Option<usize> {
    let digits: String = chars.iter().take_while(|c| c.is_ascii_digit()).collect();
    let number: u32 = digits.parse().ok()?;
    let plain = digits == number.to_string();
    (plain && (low..=high).contains(&number)).then_some(digits.len())
}

/// Finds a name in a list, or says which is nearest.
pub fn position<'a>(what: &str, name: &Text, names: impl Iterator<Item = &'a str> + Clone) -> Result<usize> {
    let mut all = names.clone();
    all.position(|known| known == name.value).ok_or_else(|| -> Diagnostic {
        let help = suggestion(&name.value, names);
        name.error(format!("no {what} is called `{}`", name.value)).help(help)
    })
}

#[cfg(test)]
mod tests {
    use super::super::diagnostic::{Place, Source};
    use super::*;
    use proptest::prelude::*;
    use xoff_engine::{BitRate, Span};
    use xoff_fabric::topology::{self, LeafSpine, LinkSpec};

    fn text(value: &str) -> Text {
        let source = Source::new("test", value);
        Text { value: value.to_owned(), place: Place { source, span: 0..value.len() } }
    }

    fn names() -> Names {
        let link = LinkSpec { rate: BitRate::from_gbps(100), delay: Span::from_us(1) };
        let shape = LeafSpine { leaves: 3, spines: 2, hosts_per_leaf: 4, host: link, fabric: link, parallel: 2 };
        let graph = topology::leaf_spine(shape);
        let mut names = Names::new(&graph.nodes, &graph.links);
        let hosts = names.hosts(&[text("h[0..2]")]).unwrap();
        names.add_group(&text("few"), hosts).unwrap();
        names
    }

    fn picked(selector: &str) -> Vec<String> {
        let names = names();
        let hosts = names.hosts(&[text(selector)]).unwrap();
        hosts.into_iter().map(|host| names.node_name(host).to_owned()).collect()
    }

    #[test]
    fn a_range_must_be_there_as_a_whole() {
        let refused = |selector: &str| names().hosts(&[text(selector)]).unwrap_err().message;
        assert_eq!(refused("h[9..4000000000]"), "no host is called `h12`");
        assert_eq!(refused("@leaf[2..3]"), "no switch is called `leaf3`");
        assert_eq!(refused("h[20..30]"), "no host is called `h[20..30]`");
    }

    #[test]
    fn selects_hosts() {
        assert_eq!(picked("h3"), ["h3"]);
        assert_eq!(picked("h[9..11]"), ["h9", "h10", "h11"]);
        assert_eq!(picked("*[9..99]"), ["h9", "h10", "h11"]);
        assert_eq!(picked("h1?"), ["h10", "h11"]);
        assert_eq!(picked("@leaf1"), ["h4", "h5", "h6", "h7"]);
        assert_eq!(picked("@leaf[1..2]").len(), 8);
        assert_eq!(picked("few"), ["h0", "h1", "h2"]);
        assert_eq!(picked("*").len(), 12);
        assert_eq!(picked("host").len(), 12, "a layer");
        let both = names().hosts(&[text("h2"), text("few")]).unwrap();
        assert_eq!(both.len(), 3, "no repetition");
    }

    #[test]
    fn layers_stand_behind_names() {
        let names = names();
        let switches = |selector: &str| names.switches(&[text(selector)]).map(|found| found.len());
        assert_eq!((switches("leaf").unwrap(), switches("spine").unwrap()), (3, 2));
        assert_eq!(switches("host").unwrap_err().message, "no switch is called `host`");
        assert_eq!(names.hosts(&[text("leaf")]).unwrap_err().message, "no host is called `leaf`");
        assert_eq!(names.hosts(&[text("@leaf")]).unwrap().len(), 12);
        let mut graph = topology::star(2, LinkSpec { rate: BitRate::from_gbps(100), delay: Span::from_us(1) });
        "host".clone_into(&mut graph.nodes[2].name);
        let names = Names::new(&graph.nodes, &graph.links);
        assert_eq!(names.hosts(&[text("host")]).unwrap(), [2]);
    }

    #[test]
    fn says_what_is_nearest() {
        let names = names();
        let message = |selector: &str| names.hosts(&[text(selector)]).unwrap_err().render(false);
        assert!(message("h12").contains("no host is called `h12`"));
        assert!(message("h12").contains("did you mean `h1"), "{}", message("h12"));
        assert!(message("fiew").contains("did you mean `few`"));
        assert!(message("leaf0").contains("`@leaf0` stands for the hosts on it"));
        assert!(message("@laef0").contains("did you mean `leaf0`"));
        assert!(message("@spine0").contains("no host hangs"));
        assert!(message("h[5..1]").contains("range"));
        assert!(names.host(&text("few")).unwrap_err().message.contains("stands for 3 hosts"));
    }

    #[test]
    fn selects_ports() {
        let names = names();
        let all = names.port_names();
        let ports = |selector: &str| -> Vec<String> {
            names.ports(&text(selector)).unwrap().into_iter().map(|port| all[port as usize].clone()).collect()
        };
        assert_eq!(ports("leaf0->h1"), ["leaf0->h1"]);
        assert_eq!(ports("h1->*"), ["h1->leaf0"]);
        assert_eq!(ports("leaf0->spine1"), ["leaf0->spine1#0", "leaf0->spine1#1"]);
        assert_eq!(ports("leaf0->spine1#1"), ["leaf0->spine1#1"]);
        assert_eq!(ports("leaf0<->spine1#1"), ["leaf0->spine1#1", "spine1->leaf0#1"]);
        assert_eq!(ports("leaf*->few").len(), 3);
        assert_eq!(ports("leaf*->spine*").len(), 12);
        assert_eq!(ports("leaf->spine"), ports("leaf*->spine*"), "layers");
        for (selector, message) in
            [("leaf0", "not a port"), ("leaf0->leaf1", "no link fits"), ("leef0->h0", "no node is called `leef0`")]
        {
            assert!(names.ports(&text(selector)).unwrap_err().message.contains(message), "{selector}");
        }
    }

    #[test]
    fn expands_names() {
        let names: Vec<String> = expand(&text("H[8..10]"), 100).unwrap().into_iter().map(|t| t.value).collect();
        assert_eq!(names, ["H8", "H9", "H10"]);
        assert_eq!(expand(&text("S0"), 100).unwrap().len(), 1);
        for bad in ["H[0..4000000000]", "H[3..1]", "H[", "a*", "", "a->b", "@x", "x#1"] {
            assert!(expand(&text(bad), 100).is_err(), "{bad}");
        }
    }

    proptest! {
        #[test]
        fn patterns_agree_with_a_plain_matcher(pattern in "[ab*?]{0,6}", name in "[ab]{0,8}") {
            fn plain(pattern: &[char], name: &[char]) -> bool {
                match pattern.split_first() {
                    None => name.is_empty(),
                    Some(('*', rest)) => (0..=name.len()).any(|skip| plain(rest, &name[skip..])),
                    Some(('?', rest)) => !name.is_empty() && plain(rest, &name[1..]),
                    Some((c, rest)) => name.first() == Some(c) && plain(rest, &name[1..]),
                }
            }
            let chars = |text: &str| text.chars().collect::<Vec<_>>();
            prop_assert_eq!(Pattern::parse(&pattern).unwrap().matches(&name), plain(&chars(&pattern), &chars(&name)));
        }

        #[test]
        fn nothing_panics(selector in "[@h0-9*?\\[\\]., leaf<>#-]{0,12}") {
            let names = names();
            let _ = names.hosts(&[text(&selector)]);
            let _ = names.ports(&text(&selector));
            let _ = expand(&text(&selector), 50);
        }
    }
}
