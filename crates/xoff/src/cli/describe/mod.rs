//! `xoff describe`: what a word means, whatever it is a word of.

use super::{Stop, show};
use crate::{models, schemes_text};
use clap::Args;
use serde_json::Value;
use xoff_results as results;
use xoff_scenario::measure::registry;
use xoff_scenario::{Diagnostic, dictionary};
use xoff_scenario::{import, wrap};
use xoff_schemes::param::SchemeSpec;

#[derive(Args)]
pub struct DescribeArgs {
    /// What to describe [default: results]
    ///
    /// `results` (columns of the tables), `scenario` (all keys), `schemes`, `models` (theory), `metrics` (what
    /// [[measure]] takes), `hpcc` (keys of the HPCC authors' simulator), `schema` (JSON Schema, for editors); or
    /// any one of them by name: a section such as `traffic` or `switch.pfc`, a key, a scheme, a metric, a model,
    /// a table, a column.
    #[arg(value_name = "WORD", num_args = 0..=2)]
    words: Vec<String>,
    /// Print JSON and nothing else
    #[arg(long)]
    json: bool,
}

pub fn describe(args: &DescribeArgs) -> Result<(), Stop> {
    let words: Vec<&str> = args.words.iter().map(|word| bare(word)).collect();
    let words = if words.is_empty() { vec!["results"] } else { words };
    if args.json { show(&json(&words)?.to_string()) } else { show(&text(&words, wrap::columns())?) }
}

/// A word without what marks it in a file: `[[traffic]]`, `flows.parquet`, `--scheme`.
fn bare(word: &str) -> &str {
    let word = word.trim().trim_start_matches('-').trim_matches(['[', ']', '`', '"']);
    word.trim_end_matches(".parquet").trim_end_matches(".csv")
}

/// Several things at once.
fn whole(word: &str, width: usize) -> Option<String> {
    Some(match word {
        "results" | "columns" | "tables" => results::describe_text(width),
        "scenario" | "scenarios" | "keys" => dictionary::describe(width),
        "schemes" => schemes_text::text(xoff_schemes::all(), width),
        "models" => models::text(width),
        "metrics" => registry::text(width),
        "hpcc-keys" | "import" => import::page::text(width),
        "schema" => dictionary::schema::render(),
        _ => return None,
    })
}

/// The text of the first reading of the words that makes sense.
fn text(words: &[&str], width: usize) -> Result<String, Diagnostic> {
    let found = match words {
        [word] => whole(word, width).or_else(|| hpcc(word, width)).or_else(|| one(word, width)),
        ["scheme" | "schemes", name] => scheme(name).map(|spec| schemes_text::text(&[spec], width)),
        ["metric" | "metrics" | "measure", name] => metric(name, width),
        ["model" | "models", name] => model(name, width),
        ["table" | "results", name] => results::describe_table(name, width),
        ["key" | "scenario", name] => section(name, width).or_else(|| mentions(name, width)),
        [first, second] => {
            let path = format!("{first}.{second}");
            section(&path, width).or_else(|| key_of(first, second, width))
        }
        _ => None,
    };
    found.ok_or_else(|| unknown(words))
}

/// `hpcc` is a scheme too; here, as ever, it is the other simulator's keys.
fn hpcc(word: &str, width: usize) -> Option<String> {
    (word == "hpcc").then(|| import::page::text(width) + "\nThe scheme of that name: xoff schemes hpcc\n")
}

/// One thing by its name.
fn one(word: &str, width: usize) -> Option<String> {
    let singular = word.strip_suffix('s').unwrap_or(word);
    section(word, width)
        .or_else(|| scheme(word).map(|spec| schemes_text::text(&[spec], width)))
        .or_else(|| results::describe_table(word, width))
        .or_else(|| metric(word, width))
        .or_else(|| model(word, width))
        .or_else(|| section(singular, width))
        .or_else(|| mentions(word, width))
}

/// A section and those below it, by its whole path or by its last name.
fn section(path: &str, width: usize) -> Option<String> {
    let (below, inner) = (format!("{path}."), format!(".{path}"));
    let named = |section: &&dictionary::Section| {
        let whole = section.path;
        whole == path || whole.starts_with(&below) || whole.ends_with(&inner)
    };
    let own = dictionary::sections().filter(named);
    let text: String = own.map(|section| dictionary::describe_section(section, width)).collect();
    let more = if path == "scheme" { "What each scheme is and takes: xoff schemes\n" } else { "" };
    (!path.is_empty() && !text.is_empty()).then(|| text + more)
}

fn scheme(name: &str) -> Option<&'static SchemeSpec> {
    xoff_schemes::find(name.split([':', '+']).next().unwrap_or(name))
}

fn metric(name: &str, width: usize) -> Option<String> {
    let metric = registry::METRICS.iter().find(|metric| metric.name == name)?;
    Some(registry::text_of(metric, width))
}

fn model(name: &str, width: usize) -> Option<String> {
    models::all().iter().find(|model| model.name == name).map(|model| models::text_of(model, width))
}

/// A key of one section.
fn key_of(path: &str, name: &str, width: usize) -> Option<String> {
    let text: String =
        dictionary::keys(path).filter(|key| key.name == name).map(|key| dictionary::describe_key(key, width)).collect();
    (!text.is_empty()).then(|| format!("[{path}]\n{text}"))
}

/// Everywhere that a key, a parameter of a scheme or a column is called so.
fn mentions(word: &str, width: usize) -> Option<String> {
    let mut text = String::new();
    for section in dictionary::sections().filter(|section| section.keys.iter().any(|key| key.name == word)) {
        let place = if section.path.is_empty() { "top of the file".to_owned() } else { format!("[{}]", section.path) };
        text.push_str(&format!("{place}\n"));
        for key in section.keys.iter().filter(|key| key.name == word) {
            text.push_str(&dictionary::describe_key(key, width));
        }
    }
    for spec in xoff_schemes::all() {
        if let Some(param) = spec.params.iter().find(|param| param.name == word) {
            text.push_str(&format!("parameter of {}\n", spec.name));
            text.push_str(&schemes_text::of_param(spec, param, width));
        }
    }
    for (table, column) in results::tables::ALL.iter().flat_map(|table| table.columns.iter().map(move |c| (table, c))) {
        if column.name == word {
            wrap::item(&mut text, &format!("{}.parquet", table.name), column.meaning, (0, 17), width);
        }
    }
    (!text.is_empty()).then_some(text)
}

/// Every word that can be asked for.
fn vocabulary() -> Vec<&'static str> {
    let mut words = vec!["results", "scenario", "schemes", "models", "metrics", "hpcc", "schema"];
    words.extend(dictionary::sections().map(|section| section.path).filter(|path| !path.is_empty()));
    words.extend(dictionary::sections().flat_map(|section| section.keys).map(|key| key.name));
    words.extend(xoff_schemes::all().iter().map(|spec| spec.name));
    words.extend(xoff_schemes::all().iter().flat_map(|spec| spec.params).map(|param| param.name));
    words.extend(registry::METRICS.iter().map(|metric| metric.name));
    words.extend(models::all().iter().map(|model| model.name));
    words.extend(results::tables::ALL.iter().map(|table| table.name));
    words.extend(results::tables::ALL.iter().flat_map(|table| table.columns).map(|column| column.name));
    words
}

fn unknown(words: &[&str]) -> Diagnostic {
    let said = words.join(" ");
    let last = words.last().copied().unwrap_or_default();
    let whole = "whole topics: results, scenario, schemes, models, metrics, hpcc, schema";
    let near = match words {
        ["scheme" | "schemes", _] => {
            xoff_scenario::diagnostic::suggestion(last, xoff_schemes::all().iter().map(|spec| spec.name))
        }
        _ => xoff_scenario::diagnostic::suggestion(last, vocabulary()),
    };
    // A list of words that are not near helps nobody.
    let near = if near.starts_with("did you mean") { format!("{near} ") } else { String::new() };
    Diagnostic::new(format!("nothing is called `{said}`")).help(format!("{near}({whole})"))
}

fn json(words: &[&str]) -> Result<Value, Diagnostic> {
    Ok(match words {
        ["results"] => results::describe_json(),
        ["scenario"] => dictionary::schema::listing(),
        ["models"] => models::json(),
        ["metrics"] => registry::json(),
        ["hpcc"] => import::page::json(),
        ["schemes"] => schemes_text::json(xoff_schemes::all()),
        ["scheme" | "schemes", name] => schemes_text::json(&[scheme(name).ok_or_else(|| unknown(words))?]),
        ["schema"] => serde_json::from_str(&dictionary::schema::render()).unwrap_or_default(),
        _ => {
            let error = Diagnostic::new(format!("`{}` has no JSON form", words.join(" ")));
            return Err(error.help("with --json: results, scenario, schemes, models, metrics, hpcc, schema"));
        }
    })
}
