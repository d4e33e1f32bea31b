//! Connection matrices of htsim (`.cm`): who sends how much to whom, and when.
//!
//! A head of `Nodes N`, `Connections M` and, if there are any, `Triggers T` and `Failures F`; then a
//! line for each connection, `SRC->DST [id I] start PICOSECONDS size BYTES`, in any order of the
//! pairs. The network is not in the file: it comes from a scenario, whose traffic is replaced.
//! Node `i` of the matrix is the `i`-th host.

use super::words::{Result, Word, Words, number, shown};
use super::{Fact, Imported, plain_name};
use crate::{Attachment, Diagnostic, Loaded, Options, Place, Scenario, Source, tree};
use std::collections::HashMap;
use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;
use toml_edit::DocumentMut;

/// The largest matrix.
pub const LARGEST_FILE: u64 = 256_000_000;
/// The latest start, in picoseconds: 100 000 s.
const LATEST_PS: u64 = 100_000_000_000_000_000;
const SIZE_LARGEST: u64 = 1_000_000_000_000;

#[derive(Debug)]
pub(super) struct Matrix {
    pub(super) nodes: u64,
    pub(super) nodes_place: Place,
    pub(super) connections: Vec<Connection>,
}

#[derive(Debug)]
pub(super) struct Connection {
    pub(super) src: u32,
    pub(super) dst: u32,
    pub(super) start_ps: u64,
    /// Zero: it sends to the end of the run.
    pub(super) size_bytes: u64,
}

/// A scenario with the network of `topology` and the traffic of a matrix.
pub fn import(
    source: &Arc<Source>,
    topology: &Scenario,
    stem: Option<&str>,
) -> std::result::Result<Imported, Vec<Diagnostic>> {
    let mut warnings = Vec::new();
    let matrix = read(source, &mut warnings).map_err(|problem| vec![problem])?;
    let loaded = network(topology)?;
    let hosts = loaded.names.all_hosts();
    if matrix.nodes > hosts.len() as u64 {
        let error = matrix.nodes_place.error(format!("the matrix has {} nodes", matrix.nodes));
        let error = error.label(format!("`{}` has {} hosts", topology.source().name, hosts.len()));
        return Err(vec![error.help("node i is the i-th host of the scenario; it may have more, not fewer")]);
    }
    let host = |id: u32| loaded.names.node_name(hosts[id as usize]);
    let name = plain_name(
        &Path::new(&source.name).file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default(),
        "htsim",
    );
    let mut text = without_traffic(topology.source(), &name).map_err(|problem| vec![problem])?;
    let _ = write!(text, "\n# Made by `xoff import htsim` from {}.\n", printable(&source.name));
    let (sized, endless): (Vec<&Connection>, Vec<&Connection>) =
        matrix.connections.iter().partition(|connection| connection.size_bytes > 0);
    let mut files = Vec::new();
    if !sized.is_empty() {
        let file = format!("{}.flows.csv", stem.unwrap_or(&name));
        let _ = write!(text, "[[traffic]]\nkind = \"flow-list\"\nfile = \"{file}\"\n");
        let mut list = String::from("src,dst,size_bytes,start_us\n");
        for Connection { src, dst, start_ps, size_bytes } in sized {
            let _ = writeln!(list, "{},{},{size_bytes},{}", host(*src), host(*dst), microseconds(*start_ps));
        }
        files.push(Attachment { name: file.clone(), source: Source::new(file, list) });
    }
    if !endless.is_empty() {
        text.push_str("\n# Connections of size 0 send to the end of the run.\n[[traffic]]\nkind = \"flows\"\n");
        for Connection { src, dst, start_ps, .. } in endless {
            let (src, dst, start) = (host(*src), host(*dst), microseconds(*start_ps));
            let _ = write!(text, "\n[[traffic.flow]]\nsrc = \"{src}\"\ndst = \"{dst}\"\nstart = \"{start}us\"\n");
        }
    }
    let facts = vec![
        Fact::new("hosts", hosts.len()),
        Fact::new("nodes_used", matrix.nodes),
        Fact::new("flows", matrix.connections.len()),
    ];
    Ok(Imported { name, text, files, warnings, facts, origin: None })
}

fn printable(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// Picoseconds as a decimal number of microseconds, exactly.
pub(super) fn microseconds(ps: u64) -> String {
    let (whole, rest) = (ps / 1_000_000, ps % 1_000_000);
    if rest == 0 { whole.to_string() } else { format!("{whole}.{rest:06}").trim_end_matches('0').to_owned() }
}

/// A scenario whose traffic is to be replaced, loaded: it may have none.
pub(super) fn network(topology: &Scenario) -> std::result::Result<Loaded, Vec<Diagnostic>> {
    let has = |entries: Vec<tree::Entry>| entries.iter().any(|entry| entry.key == "traffic");
    let any = match tree::parse(topology.source()).is_ok_and(has) {
        true => Vec::new(),
        false => vec!["traffic=[{kind=\"permutation\",size=\"1KB\"}]".to_owned()],
    };
    topology.load(&Options { sets: any, ..Options::default() })
}

/// The scenario's text without its traffic, under another name.
pub(super) fn without_traffic(source: &Arc<Source>, name: &str) -> Result<String> {
    let mut document: DocumentMut = source.text.parse().map_err(|error: toml_edit::TomlError| {
        let place = Place { source: source.clone(), span: error.span().unwrap_or(0..0) };
        place.error(error.message().to_owned())
    })?;
    document.remove("traffic");
    match document.get_mut("name").and_then(toml_edit::Item::as_value_mut) {
        Some(value) => {
            let decor = value.decor().clone();
            *value = name.into();
            *value.decor_mut() = decor;
            Ok(document.to_string())
        }
        None => Ok(format!("name = \"{name}\"\n{document}")),
    }
}

/// What a line begins with.
enum Line<'a> {
    Head(&'a str),
    Connection(u32, u32),
}

pub(super) fn read(source: &Arc<Source>, warnings: &mut Vec<Diagnostic>) -> Result<Matrix> {
    let mut words = Words::new(source);
    let mut nodes: Option<(u64, Place)> = None;
    let mut announced: Option<(u64, Place)> = None;
    let mut connections = Vec::new();
    let mut ids: HashMap<u64, usize> = HashMap::new();
    let mut with_priority: Option<Place> = None;
    while let Some(first) = words.next() {
        if first.text.starts_with('#') {
            words.skip_line(&first);
            continue;
        }
        match kind(&words, &first)? {
            Line::Head(what @ ("Nodes" | "Connections")) => {
                let (count, word) = on_line(&mut words, &first, &format!("the number after `{what}`"))?;
                let place = words.place(&word);
                let slot = if what == "Nodes" { &mut nodes } else { &mut announced };
                if slot.replace((count, place.clone())).is_some() {
                    return Err(place.error(format!("`{what}` is given twice")));
                }
                end_of_line(&words, &word)?;
            }
            Line::Head(what) => {
                let (count, word) = on_line(&mut words, &first, &format!("the number after `{what}`"))?;
                if count > 0 {
                    return Err(unsupported(&words, &word, what));
                }
            }
            Line::Connection(src, dst) => {
                let Some((limit, _)) = &nodes else {
                    return Err(words.error(&first, "a connection before `Nodes`").label("the head comes first"));
                };
                for id in [src, dst] {
                    if u64::from(id) >= *limit {
                        let error = words.error(&first, format!("there is no node {id}"));
                        return Err(error.label(format!("ids go from 0 to {}", limit.saturating_sub(1))));
                    }
                }
                if src == dst {
                    return Err(words.error(&first, format!("node {src} would send to itself")));
                }
                connections.push(connection(&mut words, &first, (src, dst), &mut ids, &mut with_priority)?);
            }
        }
    }
    let Some((nodes, nodes_place)) = nodes else { return Err(words.ended("`Nodes` is missing")) };
    let Some((announced, place)) = announced else { return Err(words.ended("`Connections` is missing")) };
    if announced != connections.len() as u64 {
        let error = place.error(format!("{announced} connections are announced and {} listed", connections.len()));
        return Err(error.label("the file may be cut short"));
    }
    if connections.is_empty() {
        return Err(place.error("this matrix has no connection").label("a scenario needs traffic"));
    }
    if let Some(place) = with_priority {
        let warning = place.error("`prio` has no effect here");
        warnings.push(warning.label("it ranks the flows of a receiver-driven transport there"));
    }
    Ok(Matrix { nodes, nodes_place, connections })
}

fn kind<'a>(words: &Words<'a>, first: &Word<'a>) -> Result<Line<'a>> {
    if let Some((src, dst)) = first.text.split_once("->") {
        let id = |text: &str| {
            text.parse::<u32>().map_err(|_| {
                words.error(first, format!("`{}` is not a pair of nodes", shown(first.text))).label("SRC->DST")
            })
        };
        return Ok(Line::Connection(id(src)?, id(dst)?));
    }
    match first.text {
        "Nodes" | "Connections" | "Triggers" | "Failures" => Ok(Line::Head(first.text)),
        "trigger" | "failure" => Err(unsupported(words, first, first.text)),
        other => {
            let error = words.error(first, format!("a line cannot begin with `{}`", shown(other)));
            Err(error.nearest(other, ["Nodes", "Connections", "SRC->DST"]))
        }
    }
}

fn unsupported(words: &Words<'_>, word: &Word<'_>, what: &str) -> Diagnostic {
    if what.eq_ignore_ascii_case("failures") || what == "failure" {
        let error = words.error(word, "failed links cannot be imported");
        return error
            .label("they are numbered within htsim's own fat tree")
            .help("leave them out, and give the scenario a [[fault]] that names the link");
    }
    words
        .error(word, "triggers cannot be imported")
        .label("no traffic of a scenario starts when another's flow ends")
        .help("only connections with a start time are; `synchronised-reads` may say what is meant")
}

/// The next word as a whole number, on the line of `first`.
fn on_line<'a>(words: &mut Words<'a>, first: &Word<'a>, what: &str) -> Result<(u64, Word<'a>)> {
    match words.peek() {
        Some(next) if next.line == first.line => words.whole::<u64>(what),
        _ => Err(words.error(first, format!("{what} is missing"))),
    }
}

fn end_of_line(words: &Words<'_>, last: &Word<'_>) -> Result<()> {
    match words.peek() {
        Some(next) if next.line == last.line => Err(words
            .error(&next, format!("`{}` does not belong here", shown(next.text)))
            .label("the line should be over")),
        _ => Ok(()),
    }
}

fn connection(
    words: &mut Words<'_>,
    first: &Word<'_>,
    (src, dst): (u32, u32),
    ids: &mut HashMap<u64, usize>,
    with_priority: &mut Option<Place>,
) -> Result<Connection> {
    let (mut start_ps, mut size_bytes) = (None, None);
    while let Some(key) = words.peek().filter(|word| word.line == first.line) {
        words.next();
        let twice = |known: bool| match known {
            true => Err(words.error(&key, format!("`{}` is given twice", key.text))),
            false => Ok(()),
        };
        match key.text {
            "start" => {
                twice(start_ps.is_some())?;
                start_ps = Some(start(words, &key)?);
            }
            "size" => {
                twice(size_bytes.is_some())?;
                let (bytes, word) = on_line(words, &key, "the size in bytes")?;
                if bytes > SIZE_LARGEST {
                    return Err(words.error(&word, format!("a flow of {bytes} bytes")).label("at most 1TB"));
                }
                size_bytes = Some(bytes);
            }
            "id" => {
                let (id, word) = on_line(words, &key, "the id of a flow")?;
                if id == 0 {
                    return Err(words.error(&word, "a flow cannot have the id 0"));
                }
                if let Some(line) = ids.insert(id, word.line) {
                    return Err(words
                        .error(&word, format!("the id {id} is given twice"))
                        .label(format!("also on line {line}")));
                }
            }
            "prio" => {
                on_line(words, &key, "the priority")?;
                with_priority.get_or_insert_with(|| words.place(&key));
            }
            "trigger" | "send_done_trigger" | "recv_done_trigger" | "addon" => {
                return Err(unsupported(words, &key, "trigger"));
            }
            other => {
                let error = words.error(&key, format!("unknown word `{}`", shown(other)));
                return Err(error.nearest(other, ["id", "start", "size", "prio"]));
            }
        }
    }
    let Some(start_ps) = start_ps else {
        return Err(words.error(first, "this connection has no `start`").label("such as start 0"));
    };
    let Some(size_bytes) = size_bytes else {
        return Err(words
            .error(first, "this connection has no `size`")
            .label("in bytes; 0 sends to the end of the run"));
    };
    Ok(Connection { src, dst, start_ps, size_bytes })
}

/// Whole picoseconds; decimals are cut, as htsim does.
fn start(words: &mut Words<'_>, key: &Word<'_>) -> Result<u64> {
    let Some(word) = words.peek().filter(|word| word.line == key.line) else {
        return Err(words.error(key, "the start in picoseconds is missing"));
    };
    words.next();
    let ps = word.text.parse::<u64>().ok().or_else(|| number(word.text).map(|ps| ps as u64));
    match ps {
        Some(ps) if ps <= LATEST_PS => Ok(ps),
        _ => {
            let error = words.error(&word, format!("`{}` is not a start", shown(word.text)));
            Err(error.label("picoseconds, at least 0 and at most 100000 s"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STAR: &str = "# A star.\nname = \"star\" # old\nseed = 7\n\n[run]\nstop = \"1ms\"\n\n[topology]\nkind = \"star\"\nhosts = 4\n\
        rate = \"100Gbps\"\n\n# Goes.\n[[traffic]]\nkind = \"permutation\"\n\n[[probe]]\nwhat = \"queue\"\nports = \"sw->h0\"\n";

    fn matrix(text: &str) -> std::result::Result<Imported, Vec<Diagnostic>> {
        let topology = Scenario::from_text("star.toml", STAR, Path::new("."));
        import(&Source::new("some/perm.cm", text), &topology, None)
    }

    #[test]
    fn traffic_is_replaced_and_the_rest_kept() {
        let found = matrix(
            "Nodes 3\nConnections 3\n# a comment\n0->1 id 1 start 0 size 5000\n1->2 id 2 start 1234567 size 7 prio 3\n2->0 start 0.000000 size 0\n",
        )
        .unwrap();
        let list = &found.files[0];
        assert_eq!(list.name, "perm.flows.csv");
        assert_eq!(list.source.text, "src,dst,size_bytes,start_us\nh0,h1,5000,0\nh1,h2,7,1.234567\n");
        assert!(found.text.contains("name = \"perm\" # old\nseed = 7\n"), "{}", found.text);
        assert!(found.text.contains("# A star.") && !found.text.contains("permutation"), "{}", found.text);
        assert_eq!(found.warnings.len(), 1);
        assert!(found.warnings[0].message.contains("`prio`"));
        let loaded = found.scenario().load(&Options::default()).unwrap_or_else(|errors| panic!("{}", errors[0]));
        assert_eq!((loaded.name.as_str(), loaded.plan.seed, loaded.plan.probes.len()), ("perm", 7, 1));
        assert_eq!(loaded.traffic.len(), 2);
        assert_eq!(loaded.traffic[0].expected.flows, Some(2.0));
    }

    #[test]
    fn a_network_needs_no_traffic_to_be_replaced() {
        let bare = "[topology]\nkind = \"star\"\nhosts = 3\nrate = \"100Gbps\"\n[scheme]\nname = \"dcqcn\"\n";
        let topology = Scenario::from_text("bare.toml", bare, Path::new("."));
        let source = Source::new("perm.cm", "Nodes 3\nConnections 1\n0->1 start 0 size 5000\n");
        let found = import(&source, &topology, None).unwrap_or_else(|errors| panic!("{}", errors[0]));
        assert!(!found.text.contains("permutation"), "{}", found.text);
        let loaded = found.scenario().load(&Options::default()).unwrap_or_else(|errors| panic!("{}", errors[0]));
        assert_eq!((loaded.traffic.len(), loaded.traffic[0].expected.flows), (1, Some(1.0)));
        // What is wrong with it is still told where it is.
        let wrong = Scenario::from_text("bare.toml", bare.replace("100Gbps", "fast"), Path::new("."));
        assert_eq!(import(&source, &wrong, None).unwrap_err()[0].line(), Some(4));
    }

    #[test]
    fn what_cannot_be_had_is_refused_with_its_line() {
        for (text, line, message) in [
            ("Nodes 5\nConnections 1\n0->1 start 0 size 1\n", 1, "the matrix has 5 nodes"),
            ("Nodes 2\nConnections 2\n0->1 start 0 size 1\n", 2, "2 connections are announced and 1 listed"),
            ("Nodes 2\nConnections 1\n0->2 start 0 size 1\n", 3, "there is no node 2"),
            ("Nodes 2\nConnections 1\n1->1 start 0 size 1\n", 3, "would send to itself"),
            ("Nodes 2\nConnections 1\n0->1 size 1\n", 3, "no `start`"),
            ("Nodes 2\nConnections 1\n0->1 start 0\n", 3, "no `size`"),
            ("Nodes 2\nConnections 1\n0->1 start -1 size 1\n", 3, "not a start"),
            ("Nodes 2\nConnections 1\n0->1 start 0 size 1 colour 3\n", 3, "unknown word `colour`"),
            ("Nodes 2\nConnections 1\n0->x start 0 size 1\n", 3, "not a pair"),
            ("Nodes 2\nConnections 1\n0->1 start 0 size\n", 3, "the size in bytes is missing"),
            ("Nodes 2\nConnections 1\n0->1 id 1 trigger 1 size 1\n", 3, "triggers cannot be imported"),
            ("Nodes 2\nConnections 1\n0->1 start 0 size 1 send_done_trigger 4\n", 3, "triggers cannot"),
            ("Nodes 2\nConnections 1\nTriggers 2\n", 3, "triggers cannot be imported"),
            ("Nodes 2\nConnections 1\nFailures 1\n", 3, "failed links cannot"),
            ("Nodes 2\nConnections 1\ntrigger id 1 oneshot\n", 3, "triggers cannot be imported"),
            (
                "Nodes 2\nConnections 2\n0->1 id 1 start 0 size 1\n1->0 id 1 start 0 size 1\n",
                4,
                "the id 1 is given twice",
            ),
            ("Conections 1\n", 1, "a line cannot begin"),
            ("0->1 start 0 size 1\n", 1, "before `Nodes`"),
            ("", 1, "`Nodes` is missing"),
        ] {
            let errors = matrix(text).expect_err(text);
            assert!(errors[0].message.contains(message), "{text}: {}", errors[0]);
            assert_eq!(errors[0].line(), Some(line), "{text}: {}", errors[0]);
        }
    }
}
