//! The forms in JSON: a trace as the Chakra feeder takes it, the traces of all ranks in one text, and groups.

use super::error::{Fault, TraceError};
use super::node::{ATTRIBUTES, Node, NodeKind, Trace, shortened};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::fmt::Write;

/// Groups by name, each with its ranks in ascending order; none at all means all ranks.
pub type Groups = BTreeMap<String, Vec<u32>>;

/// `{"workload_graph": [{"Id": 0, "Name": "...", "NodeType": 4, ...}]}`.
pub(super) fn trace(rank: u32, bytes: &[u8]) -> Result<Trace, String> {
    let document: Value = serde_json::from_slice(bytes).map_err(|error| format!("not readable as JSON: {error}"))?;
    graph(rank, &document)
}

fn graph(rank: u32, document: &Value) -> Result<Trace, String> {
    let Some(graph) = document.get("workload_graph").and_then(Value::as_array) else {
        return Err("the JSON has no list `workload_graph`".to_owned());
    };
    let mut nodes = Vec::with_capacity(graph.len());
    for (index, entry) in graph.iter().enumerate() {
        let entry = entry.as_object().ok_or_else(|| format!("entry {index} of `workload_graph` is no node"))?;
        nodes.push(node(entry).map_err(|key| format!("`{key}` of entry {index} is missing or of another kind"))?);
    }
    let version = document.get("version").and_then(Value::as_str).unwrap_or_default();
    Ok(Trace { rank, version: shortened(version).into(), nodes })
}

/// The traces of all ranks as one text, from which [`unbundle`] has them again.
pub fn bundle(traces: &[Trace]) -> String {
    let mut text = String::from("{\"chakra\": [");
    for (trace, comma) in traces.iter().zip(commas()) {
        let version = Value::from(trace.version.as_str());
        let _ = write!(text, "{comma}{{\"rank\": {}, \"version\": {version}, \"workload_graph\": [", trace.rank);
        for (node, comma) in trace.nodes.iter().zip(commas()) {
            let _ = write!(text, "{comma}{}", Value::Object(entry(node)));
        }
        text.push_str("]}");
    }
    text.push_str("]}\n");
    text
}

/// What comes before each entry of a list.
fn commas() -> impl Iterator<Item = &'static str> {
    std::iter::once("\n").chain(std::iter::repeat(",\n"))
}

pub fn unbundle(text: &str) -> Result<Vec<Trace>, TraceError> {
    let refuse = |why: String| TraceError::new(Fault::Malformed, why);
    let document: Value =
        serde_json::from_str(text).map_err(|error| refuse(format!("not readable as JSON: {error}")))?;
    let list = document.get("chakra").and_then(Value::as_array);
    let list = list.ok_or_else(|| refuse("the JSON has no list `chakra` of traces".to_owned()))?;
    let mut traces = Vec::with_capacity(list.len());
    for (index, one) in list.iter().enumerate() {
        let rank = one.get("rank").and_then(Value::as_u64).and_then(|rank| u32::try_from(rank).ok());
        let rank = rank.ok_or_else(|| refuse(format!("entry {index} of `chakra` has no `rank`")))?;
        let mut trace = graph(rank, one).map_err(|why| TraceError::of_rank(Fault::Malformed, rank, why))?;
        trace.nodes.sort_by_key(|node| node.id);
        traces.push(trace);
    }
    traces.sort_by_key(|trace| trace.rank);
    Ok(traces)
}

/// A node with all that matters of it.
fn entry(node: &Node) -> Map<String, Value> {
    let mut entry = Map::new();
    let mut put = |key: &str, value: Value| drop(entry.insert(key.to_owned(), value));
    put("Id", node.id.into());
    put("Name", (*node.name).into());
    put("NodeType", node.kind.number().into());
    if let Some(flag) = node.on_cpu {
        put("is_cpu_op", flag.into());
    }
    if node.micros != 0 {
        put("runtime", node.micros.into());
    }
    for (key, list) in [("data_deps", &node.data), ("ctrl_deps", &node.control)] {
        if !list.is_empty() {
            put(key, list.clone().into());
        }
    }
    let mut more = node.more().clone();
    for (key, slot) in ATTRIBUTES {
        if let Some(value) = *slot(&mut more) {
            put(key, value.into());
        }
    }
    if let Some(group) = &more.group {
        put("pg_name", (**group).into());
    }
    if !more.dimensions.is_empty() {
        put("involved_dim", more.dimensions.clone().into());
    }
    if !more.inputs.is_empty() {
        put("inputs", more.inputs.as_str().into());
    }
    entry
}

/// The name of what is wrong, if anything is.
fn node(entry: &Map<String, Value>) -> Result<Node, &'static str> {
    let mut node = Node {
        id: entry.get("Id").and_then(Value::as_u64).ok_or("Id")?,
        name: shortened(entry.get("Name").and_then(Value::as_str).unwrap_or_default()),
        kind: NodeKind::of(entry.get("NodeType").and_then(Value::as_u64).ok_or("NodeType")?),
        data: ids(entry, "data_deps")?,
        control: ids(entry, "ctrl_deps")?,
        micros: entry.get("runtime").map_or(Some(0), Value::as_u64).ok_or("runtime")?,
        on_cpu: None,
        more: None,
    };
    node.on_cpu = match entry.get("is_cpu_op") {
        None => None,
        Some(Value::Bool(flag)) => Some(*flag),
        Some(number) => Some(number.as_i64().ok_or("is_cpu_op")? != 0),
    };
    for (key, at) in ATTRIBUTES {
        if let Some(value) = entry.get(key) {
            *at(node.more_mut()) = Some(value.as_i64().ok_or(key)?);
        }
    }
    match entry.get("pg_name") {
        None => {}
        Some(Value::String(name)) => node.more_mut().group = Some(shortened(name)),
        Some(number) => {
            node.more_mut().group = Some(number.as_i64().ok_or("pg_name")?.to_string().into());
        }
    }
    if let Some(list) = entry.get("involved_dim") {
        let flags: Option<Vec<bool>> = list.as_array().and_then(|list| list.iter().map(Value::as_bool).collect());
        node.more_mut().dimensions = flags.ok_or("involved_dim")?;
    }
    if let Some(inputs) = entry.get("inputs").filter(|_| node.kind == NodeKind::Metadata) {
        node.more_mut().inputs = inputs.as_str().ok_or("inputs")?.to_owned();
    }
    Ok(node.without_empty())
}

fn ids(entry: &Map<String, Value>, key: &'static str) -> Result<Vec<u64>, &'static str> {
    let Some(list) = entry.get(key) else { return Ok(Vec::new()) };
    list.as_array().ok_or(key)?.iter().map(|id| id.as_u64().ok_or(key)).collect()
}

/// Reads a file of groups: `{"1": [0, 1], "2": [2, 3]}`.
pub fn groups(text: &str) -> Result<Groups, String> {
    let document: Value = serde_json::from_str(text).map_err(|error| format!("not readable as JSON: {error}"))?;
    let entries = document.as_object().ok_or("groups are written as {\"1\": [0, 1], \"2\": [2, 3]}")?;
    let mut groups = Groups::new();
    for (name, members) in entries {
        let members = ranks(members).ok_or_else(|| format!("group `{name}` is not a list of ranks"))?;
        if groups.insert(plain(name), members).is_some() {
            return Err(format!("group `{name}` is given twice"));
        }
    }
    Ok(groups)
}

/// Groups in the inputs of a METADATA node: a JSON list of `{"pg_name": "1", "ranks": [0, 1]}` within a text of
/// Python's. Nothing, if it is about something else.
pub(super) fn groups_within(inputs: &str) -> Result<Groups, String> {
    let mut groups = Groups::new();
    if !inputs.contains("\"pg_name\"") {
        return Ok(groups);
    }
    let from = inputs.find("[{").map(|begin| &inputs[begin..]);
    let list = from.and_then(|from| Some(&from[..from.rfind("}]")? + 2]));
    let list = list.ok_or("its list of groups is cut short")?;
    let list: Vec<Value> =
        serde_json::from_str(list).map_err(|error| format!("its list of groups is not readable as JSON: {error}"))?;
    for group in list {
        let name = group.get("pg_name").and_then(Value::as_str).ok_or("a group without a name `pg_name`")?;
        let members = group.get("ranks").and_then(ranks);
        let members = members.ok_or_else(|| format!("group `{name}` has no list `ranks`"))?;
        groups.insert(plain(name), members);
    }
    Ok(groups)
}

/// Names are numbers where they can be: `01` is group 1.
pub(super) fn plain(name: &str) -> String {
    let name = name.trim();
    name.parse::<u64>().map_or_else(|_| shortened(name).into(), |number| number.to_string())
}

fn ranks(list: &Value) -> Option<Vec<u32>> {
    let ranks: Option<Vec<u32>> =
        list.as_array()?.iter().map(|rank| rank.as_u64().and_then(|rank| u32::try_from(rank).ok())).collect();
    let mut ranks = ranks?;
    let count = ranks.len();
    ranks.sort_unstable();
    ranks.dedup();
    (ranks.len() == count).then_some(ranks)
}
