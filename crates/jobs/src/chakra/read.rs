//! From the bytes of a file to a [`Trace`]: messages of protobuf one after the other, or JSON; either may be packed by
//! gzip.

use super::error::{Fault, TraceError};
use super::json;
use super::node::{ATTRIBUTES, Node, NodeKind, Trace, shortened};
use super::protobuf::{Fields, Malformed, Value};
use flate2::read::MultiGzDecoder;
use std::borrow::Cow;
use std::io::Read;

/// Files that are larger once unpacked are refused.
pub const LARGEST_UNPACKED: u64 = 1_000_000_000;

type Result<T> = std::result::Result<T, Malformed>;

pub fn read(rank: u32, bytes: &[u8]) -> std::result::Result<Trace, TraceError> {
    let refuse = |why: String| TraceError::of_rank(Fault::Malformed, rank, why);
    let bytes = unpacked(bytes, LARGEST_UNPACKED).map_err(refuse)?;
    let mut trace = if is_json(&bytes) {
        json::trace(rank, &bytes).map_err(refuse)?
    } else {
        messages(rank, &bytes).map_err(|malformed| {
            let Malformed { at, why } = malformed;
            refuse(format!("byte {at}: {why}"))
                .help("a trace is a GlobalMetadata and then a Node after the other, each after its length")
        })?
    };
    trace.nodes.sort_by_key(|node| node.id);
    Ok(trace)
}

fn unpacked(bytes: &[u8], largest: u64) -> std::result::Result<Cow<'_, [u8]>, String> {
    if !bytes.starts_with(&[0x1f, 0x8b]) {
        return Ok(bytes.into());
    }
    let mut unpacked = Vec::new();
    let read = MultiGzDecoder::new(bytes).take(largest + 1).read_to_end(&mut unpacked);
    read.map_err(|error| format!("packed by gzip, and damaged: {error}"))?;
    if unpacked.len() as u64 > largest {
        return Err(format!("packed by gzip, and larger than {largest} bytes without it"));
    }
    Ok(unpacked.into())
}

/// A brace and a quotation mark: no length of a first message is followed by one.
fn is_json(bytes: &[u8]) -> bool {
    let mut visible = bytes.iter().filter(|byte| !byte.is_ascii_whitespace());
    visible.next() == Some(&b'{') && matches!(visible.next(), Some(b'"' | b'}') | None)
}

fn messages(rank: u32, bytes: &[u8]) -> Result<Trace> {
    let mut file = Fields::new(bytes);
    if file.is_empty() {
        return file.malformed("the file is empty");
    }
    let version = version(file.counted()?)?;
    let mut nodes = Vec::new();
    while !file.is_empty() {
        nodes.push(node(file.counted()?)?);
    }
    Ok(Trace { rank, version, nodes })
}

/// The first message. A node in its place would be lost in silence, as some fields have the same numbers.
fn version(mut message: Fields<'_>) -> Result<String> {
    let begin = message;
    let mut version = String::new();
    while let Some((number, value)) = message.next()? {
        match (number, value) {
            (1, Value::Bytes(text)) => version = shortened(&String::from_utf8_lossy(text.bytes())).into(),
            (2, Value::Bytes(_)) => {}
            _ => return begin.malformed("the first message is no GlobalMetadata"),
        }
    }
    Ok(version)
}

fn node(mut message: Fields<'_>) -> Result<Node> {
    let mut node = Node::default();
    let mut inputs = None;
    while let Some((number, value)) = message.next()? {
        match (number, value) {
            (1, Value::Number(id)) => node.id = id,
            (2, Value::Bytes(name)) => node.name = shortened(&String::from_utf8_lossy(name.bytes())),
            (3, Value::Number(kind)) => node.kind = NodeKind::of(kind),
            (4, value) => numbers(value, &message, &mut node.control)?,
            (5, value) => numbers(value, &message, &mut node.data)?,
            (7, Value::Number(micros)) => node.micros = micros,
            (8, Value::Bytes(found)) => inputs = Some(found),
            (10, Value::Bytes(found)) => attribute(found, &mut node)?,
            (1 | 2 | 3 | 7 | 8 | 10, _) => {
                return message.malformed("a field of a node is of another kind than it should be");
            }
            _ => {}
        }
    }
    if let Some(inputs) = inputs.filter(|_| node.kind == NodeKind::Metadata) {
        node.more_mut().inputs = values(inputs)?;
    }
    Ok(node.without_empty())
}

/// A list of numbers comes in one piece, or one by one.
fn numbers(value: Value<'_>, message: &Fields<'_>, list: &mut Vec<u64>) -> Result<()> {
    match value {
        Value::Number(number) => list.push(number),
        Value::Bytes(mut packed) => {
            while !packed.is_empty() {
                list.push(packed.varint()?);
            }
        }
        Value::Eight(_) | Value::Four(_) => {
            return message.malformed("a list of ids is of another kind than it should be");
        }
    }
    Ok(())
}

/// `values` of an `IOInfo`.
fn values(mut message: Fields<'_>) -> Result<String> {
    let mut found = String::new();
    while let Some((number, value)) = message.next()? {
        if let (1, Value::Bytes(text)) = (number, value) {
            found = String::from_utf8_lossy(text.bytes()).into_owned();
        }
    }
    Ok(found)
}

/// What an attribute may be here. Writers disagree about the width and the sign of integers.
enum Attribute<'a> {
    Whole(i64),
    Text(&'a [u8]),
    Flags(Vec<bool>),
}

/// Wider numbers than fit are the largest that do; nothing here is ever as large.
fn whole(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

fn zigzag(number: u64) -> i64 {
    (number >> 1).cast_signed() ^ -((number & 1).cast_signed())
}

/// The value of the schema's `AttributeProto` by the number of its field; of kinds that nothing here needs, none.
fn value_of<'a>(number: u64, value: Value<'a>) -> Result<Option<Attribute<'a>>> {
    let whole = match (number, value) {
        // int32, int64
        (7 | 9, Value::Number(number)) => number.cast_signed(),
        // uint32, uint64, bool
        (11 | 13 | 27, Value::Number(number)) => whole(number),
        // sint32, sint64
        (15 | 17, Value::Number(number)) => zigzag(number),
        // fixed32, fixed64, sfixed32, sfixed64
        (19, Value::Four(bytes)) => i64::from(u32::from_le_bytes(bytes)),
        (21, Value::Eight(bytes)) => whole(u64::from_le_bytes(bytes)),
        (23, Value::Four(bytes)) => i64::from(i32::from_le_bytes(bytes)),
        (25, Value::Eight(bytes)) => i64::from_le_bytes(bytes),
        (29, Value::Bytes(text)) => return Ok(Some(Attribute::Text(text.bytes()))),
        (28, Value::Bytes(list)) => return flags(list).map(|flags| Some(Attribute::Flags(flags))),
        _ => return Ok(None),
    };
    Ok(Some(Attribute::Whole(whole)))
}

/// A `BoolList`.
fn flags(mut message: Fields<'_>) -> Result<Vec<bool>> {
    let mut list = Vec::new();
    while let Some((number, value)) = message.next()? {
        if number == 1 {
            numbers(value, &message, &mut list)?;
        }
    }
    Ok(list.into_iter().map(|number| number != 0).collect())
}

/// Keeps an attribute if it is one that matters.
fn attribute(mut message: Fields<'_>, node: &mut Node) -> Result<()> {
    let (mut name, mut found) = (&[][..], None);
    let begin = message;
    while let Some((number, value)) = message.next()? {
        match (number, value) {
            (1, Value::Bytes(text)) => name = text.bytes(),
            (1, _) => return begin.malformed("the name of an attribute is no text"),
            // What is not understood comes in place of what stood before, too.
            (3.., value) => found = value_of(number, value)?,
            _ => {}
        }
    }
    match (name, found) {
        (b"is_cpu_op", Some(Attribute::Whole(value))) => node.on_cpu = Some(value != 0),
        (b"pg_name", Some(Attribute::Text(text))) => {
            node.more_mut().group = Some(shortened(&String::from_utf8_lossy(text)));
        }
        // A group's number, where a writer kept it as one.
        (b"pg_name", Some(Attribute::Whole(value))) => node.more_mut().group = Some(value.to_string().into()),
        (b"involved_dim", Some(Attribute::Flags(flags))) => node.more_mut().dimensions = flags,
        (name, Some(Attribute::Whole(value))) => whole_attribute(name, value, node),
        _ => {}
    }
    Ok(())
}

fn whole_attribute(name: &[u8], value: i64, node: &mut Node) {
    if let Some((_, slot)) = ATTRIBUTES.iter().find(|(known, _)| known.as_bytes() == name) {
        *slot(node.more_mut()) = Some(value);
    }
}
