//! How a scenario spells flow sizes.

use crate::reader::{Result, Text};
use crate::traffic::cdf::{Cdf, LARGEST_BYTES};
use crate::traffic::sizes::Sizes;
use crate::traffic::workloads;
use crate::{Place, Table};
use std::sync::Arc;
use xoff_engine::quantity::parse_bytes;

const LARGEST_FILE: u64 = 16_000_000;

/// A size (`"64KB"`), a shipped workload (`"websearch"`), a file (`"mine.csv"`), or a table such
/// as `{ kind = "pareto", mean = "10KB", shape = 1.1 }`.
pub fn sizes(table: &mut Table, key: &str) -> Result<Sizes> {
    match take_sizes(table, key)? {
        Some(sizes) => Ok(sizes),
        // Asking for a text that is not there words the complaint.
        None => table.text(key).and_then(|text| Err(text.error(format!("`{key}` is not a size")))),
    }
}

pub fn take_sizes(table: &mut Table, key: &str) -> Result<Option<Sizes>> {
    if table.is_table(key) {
        let mut inner = table.table(key)?;
        let sizes = parametric(&mut inner)?;
        inner.finish()?;
        return Ok(Some(sizes));
    }
    let Some(text) = table.take_text(key)? else { return Ok(None) };
    if text.value.starts_with(|c: char| c.is_ascii_digit()) && !is_file(&text.value) {
        return fixed(key, &text).map(Some);
    }
    if is_file(&text.value) {
        let source = table.file(key, &text, LARGEST_FILE)?;
        let cdf = Cdf::parse(&source.text).map_err(|error| {
            Place::line(&source, error.line)
                .error(format!("`{}` is not a distribution of sizes", text.value))
                .label(error.message)
        })?;
        return Ok(Some(Sizes::Cdf(Arc::new(cdf))));
    }
    match workloads::find(&text.value) {
        Some(workload) => Ok(Some(Sizes::Cdf(Arc::new(workload.cdf())))),
        None => Err(text
            .error(format!("no workload is called `{}`", text.value))
            .label("a workload's name, a size such as \"64KB\", or a path that ends in .csv")
            .nearest(&text.value, workloads::names())),
    }
}

fn is_file(text: &str) -> bool {
    [".csv", ".txt"].iter().any(|end| text.ends_with(end))
}

fn fixed(key: &str, text: &Text) -> Result<Sizes> {
    let expected = "a size such as \"64KB\"";
    match parse_bytes(&text.value) {
        Ok(0) => Err(text.error(format!("`{key}` is zero")).label("a flow has at least one byte")),
        Ok(bytes) if bytes > LARGEST_BYTES => Err(text.error(format!("`{key}` is too large")).label("at most 1TB")),
        Ok(bytes) => Ok(Sizes::Fixed(bytes)),
        Err(why) => Err(text.error(format!("`{key}` {why}")).label(expected)),
    }
}

#[derive(Clone, Copy)]
enum Shape {
    Fixed,
    Uniform,
    Pareto,
    Exponential,
}

fn parametric(table: &mut Table) -> Result<Sizes> {
    let any = 1..=LARGEST_BYTES;
    let kinds = [
        ("fixed", Shape::Fixed),
        ("uniform", Shape::Uniform),
        ("pareto", Shape::Pareto),
        ("exponential", Shape::Exponential),
    ];
    Ok(match table.choice("kind", &kinds)? {
        Shape::Fixed => Sizes::Fixed(table.bytes("size", any)?),
        Shape::Uniform => {
            let (min_bytes, max_bytes) = (table.bytes("min", any.clone())?, table.bytes("max", any)?);
            if min_bytes > max_bytes {
                return Err(table.error("max", "`max` is below `min`"));
            }
            Sizes::Uniform { min_bytes, max_bytes }
        }
        Shape::Pareto => {
            let mean_bytes = table.bytes("mean", any)? as f64;
            let shape = table.number("shape", 1.0..=100.0)?;
            if shape < 1.001 {
                return Err(table.error("shape", "a Pareto distribution of this shape has no mean").label("above 1"));
            }
            Sizes::Pareto { mean_bytes, shape }
        }
        Shape::Exponential => Sizes::Exponential { mean_bytes: table.bytes("mean", any)? as f64 },
    })
}
