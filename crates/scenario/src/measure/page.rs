//! The metrics as text, as JSON and as `docs/metrics.md`.

use super::keys::SECTIONS;
use super::registry::{Family, METRICS, MetricSpec};
use crate::wrap;
use serde_json::{Value, json};
use std::fmt::Write;

/// The list for the terminal.
pub fn text(width: usize) -> String {
    let mut out = String::new();
    for family in Family::ALL {
        let _ = writeln!(out, "{}", family.title());
        wrap::paragraph(&mut out, family.meaning(), 2, width);
        out.push('\n');
        for metric in METRICS.iter().filter(|metric| metric.family == family) {
            out.push_str(&text_of(metric, width));
        }
        out.push('\n');
    }
    wrap::paragraph(&mut out, "What each key means: xoff describe measure", 0, width);
    out
}

/// One metric.
pub fn text_of(metric: &MetricSpec, width: usize) -> String {
    let mut out = String::new();
    wrap::item(&mut out, &format!("{}:", metric.name), metric.gives, (2, 6), width);
    wrap::paragraph(&mut out, metric.meaning, 6, width);
    let needs = if metric.needs.is_empty() { "nothing".to_owned() } else { metric.needs.join(", ") };
    wrap::paragraph(&mut out, &format!("needs {needs}; may take {}", optional(metric)), 6, width);
    out
}

fn optional(metric: &MetricSpec) -> String {
    let keys: Vec<&str> = metric.keys().into_iter().filter(|key| !metric.needs.contains(key)).collect();
    if keys.is_empty() { "nothing else".to_owned() } else { keys.join(", ") }
}

/// The list for programs.
pub fn json() -> Value {
    let metric = |metric: &MetricSpec| {
        json!({
            "name": metric.name,
            "family": metric.family.title(),
            "gives": metric.gives,
            "needs": metric.needs,
            "takes": metric.keys().into_iter().filter(|key| !metric.needs.contains(key)).collect::<Vec<_>>(),
            "meaning": metric.meaning,
            "example": metric.example,
        })
    };
    Value::Array(METRICS.iter().map(metric).collect())
}

/// `docs/metrics.md`.
pub fn markdown() -> String {
    let mut out = String::from(
        "# Metrics\n\n\
         <!-- Made from crates/scenario/src/measure/registry.rs: XOFF_UPDATE=1 cargo test -p xoff --test house pages -->\n\n\
         A `[[measure]]` of a scenario or an experiment takes a number or a curve from a run. `xoff run` and\n\
         `xoff compare` show the measures of a scenario; `run.json` has them under `measures`.\n\n\
         ```toml\n[[measure]]\nname = \"short\"\nmetric = \"fct\"\nstat = [\"mean\", \"p99\"]\nup_to = \"100KB\"\nunit = \"us\"\n```\n\n\
         A list of statistics gives a number each, here `short.mean` and `short.p99`. A unit is needed where the\n\
         result has one: `ns`, `us`, `ms`, `s` for times, `B`, `KB`, `MB`, `GB` (thousands) for sizes, `bps`, `Kbps`,\n\
         `Mbps`, `Gbps` for rates. A time that never came within the run is infinite and shown as *never*; what is\n\
         unknown, such as the mean of no flows, is shown as `-`.\n",
    );
    for family in Family::ALL {
        let _ = write!(out, "\n## {}\n\n{}\n\n", family.title(), family.meaning());
        out.push_str("| metric | gives | needs | may take | meaning |\n|---|---|---|---|---|\n");
        let quoted = |keys: &[&str]| keys.iter().map(|key| format!("`{key}`")).collect::<Vec<_>>().join(", ");
        for metric in METRICS.iter().filter(|metric| metric.family == family) {
            let (needs, own) = (quoted(metric.needs), quoted(metric.takes));
            let _ = writeln!(out, "| `{}` | {} | {needs} | {own} | {} |", metric.name, metric.gives, metric.meaning);
        }
        if !family.keys().is_empty() {
            let _ = write!(out, "\nAll of them may take {}.\n", quoted(family.keys()));
        }
    }
    out.push_str("\n## Keys\n\n| key | takes | default | meaning |\n|---|---|---|---|\n");
    for key in SECTIONS[0].keys {
        let default = match key.default.text() {
            "" => String::new(),
            text => format!("`{text}`"),
        };
        let only = if key.applies.is_empty() { String::new() } else { format!("; only {}", key.applies) };
        let _ = writeln!(out, "| `{}` | {} | {default} | {}{only} |", key.name, key.kind.expects(), key.meaning);
    }
    out.push_str("\n## Examples\n\n```toml\n");
    for metric in METRICS {
        let _ = write!(out, "[[measure]]\nname = \"{}\"\nmetric = \"{0}\"\n", metric.name);
        if !metric.example.is_empty() {
            let _ = writeln!(out, "{}", metric.example);
        }
        out.push('\n');
    }
    out.truncate(out.trim_end().len());
    out.push_str("\n```\n");
    out
}
