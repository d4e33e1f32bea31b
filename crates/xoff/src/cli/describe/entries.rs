//! Everything that has a name, where it belongs, and what is said of it.

use crate::{models, models_text, schemes_text};
use xoff_results as results;
use xoff_scenario::dictionary::{self, Key, Kind, Section};
use xoff_scenario::import;
use xoff_scenario::measure::{page, probe, registry};
use xoff_scenario::traffic::workloads;
use xoff_scenario::wrap;
use xoff_schemes::param::{ParamKind, SchemeSpec};

/// How much of an answer something is where several have the same name.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Rank {
    /// A section, scheme, table, metric, model.
    Thing,
    /// A kind of traffic, network, fault or probe.
    Kind,
    /// A key, parameter or column: all of a name are printed together.
    Member,
    /// A value that a key may have, a preset, a workload.
    Value,
    /// A key of another simulator, or a name that a key had.
    Foreign,
}

pub struct Entry {
    pub rank: Rank,
    /// Words by which people say what kind of thing it is: `scheme`, `key`.
    kinds: &'static [&'static str],
    /// Names from the outermost to its own.
    names: Vec<&'static str>,
    pub text: Box<dyn Fn(usize) -> String>,
}

impl Entry {
    fn new(
        rank: Rank,
        kinds: &'static [&'static str],
        names: Vec<&'static str>,
        text: impl Fn(usize) -> String + 'static,
    ) -> Entry {
        Entry { rank, kinds, names, text: Box::new(text) }
    }

    pub fn name(&self) -> &'static str {
        self.names.last().copied().unwrap_or_default()
    }

    /// Words that select it: `switch.pfc.xoff`, `metric size`.
    pub fn address(&self) -> String {
        match (&self.names[..], self.kinds) {
            ([name], [kind, ..]) if self.rank != Rank::Member => format!("{kind} {name}"),
            (names, _) => names.join("."),
        }
    }

    /// Whether it is what a kind is called as a key of the same table: `traffic.flows`.
    pub fn shares_its_name(&self, kind: &Entry) -> bool {
        let [above @ .., _, own] = &kind.names[..] else { return false };
        self.names.split_last().is_some_and(|(name, rest)| rest == above && name == own)
    }

    /// Whether both have the same names all the way.
    pub fn is_at(&self, other: &Entry) -> bool {
        self.names == other.names
    }

    /// Whether the last name of `path` is its own and the others are names above it, in their order, or its kind.
    pub fn is_called(&self, path: &[String]) -> bool {
        let Some((own, above)) = path.split_last() else { return false };
        let Some((name, mut rest)) = self.names.split_last() else { return false };
        same(own, name)
            && above.iter().all(|word| {
                if let Some(at) = rest.iter().position(|name| same(word, name)) {
                    rest = &rest[at + 1..];
                    return true;
                }
                self.kinds.iter().any(|kind| same(word, kind))
            })
    }

    /// Whether it belongs to what the path names, or is of that kind.
    pub fn is_inside(&self, path: &[String]) -> bool {
        let kind = |word: &String| self.kinds.iter().any(|kind| same(word, kind));
        path.iter().all(kind)
            || (1..self.names.len()).any(|end| {
                let owner = Entry::new(self.rank, self.kinds, self.names[..end].to_vec(), |_| String::new());
                owner.is_called(path)
            })
    }
}

/// Case, hyphens and underscores are soon mistaken, and distinguish nothing.
fn same(a: &str, b: &str) -> bool {
    fn letters(text: &str) -> impl Iterator<Item = char> {
        text.chars().filter(|c| !matches!(c, '-' | '_')).flat_map(char::to_lowercase)
    }
    letters(a).eq(letters(b))
}

/// All entries in the order in which they are printed.
pub fn entries() -> Vec<Entry> {
    let mut all = Vec::new();
    sections(&mut all);
    schemes(&mut all);
    tables(&mut all);
    for metric in registry::METRICS {
        let text = move |width| page::text_of(metric, width);
        all.push(Entry::new(Rank::Thing, &["metric", "metrics", "measure"], vec![metric.name], text));
    }
    for model in models::all() {
        let text = move |width| models_text::text_of(model, width);
        all.push(Entry::new(Rank::Thing, &["model", "models"], vec![model.name], text));
        let inside = model.parameters.iter().map(|of| of.name).chain(model.outputs.iter().map(|of| of.name));
        for name in inside {
            let text = move |width| models_text::text_of(model, width);
            all.push(Entry::new(Rank::Value, &["model", "models"], vec![model.name, name], text));
        }
    }
    for workload in workloads::WORKLOADS {
        let text = move |width| {
            let mut text = String::new();
            wrap::item(&mut text, workload.name, workload.title, (2, 23), width);
            format!("a distribution of flow sizes: sizes = \"{}\" in [[traffic]]\n{text}", workload.name)
        };
        let kinds = &["workload", "workloads", "traffic", "sizes"];
        all.push(Entry::new(Rank::Value, kinds, vec![workload.name], text));
    }
    for name in import::page::keys() {
        let text = move |width| import::page::text_of(name, width).unwrap_or_default();
        all.push(Entry::new(Rank::Foreign, &["hpcc", "key", "import"], vec![name], text));
    }
    all
}

/// The names of the path of a section; empty for the top of the file.
fn path_of(section: &Section) -> Vec<&'static str> {
    section.path.split('.').filter(|name| !name.is_empty()).collect()
}

fn sections(all: &mut Vec<Entry>) {
    const KINDS: &[&str] = &["scenario", "section", "key", "table"];
    for section in dictionary::sections().filter(|section| !section.path.is_empty()) {
        all.push(Entry::new(Rank::Thing, KINDS, path_of(section), move |width| with_inner(section, width)));
    }
    for section in dictionary::sections() {
        // A key of several rows, one for each case, is one key.
        let first = |(at, key): &(usize, &'static Key)| section.keys[..*at].iter().all(|other| other.name != key.name);
        for (_, key) in section.keys.iter().enumerate().filter(first) {
            let names = [path_of(section), vec![key.name]].concat();
            // The text of a table is that of its section.
            if matches!(key.kind, Kind::Table | Kind::Tables) && dictionary::section(&names.join(".")).is_some() {
                continue;
            }
            all.push(Entry::new(Rank::Member, KINDS, names, move |width| of_key(section, key.name, width)));
            all.extend(key.former_name().map(|former| of_former_name(section, key, former)));
            let rows = section.keys.iter().filter(|row| row.name == key.name);
            let mut choices: Vec<&'static str> = rows.flat_map(|row| choices(row.kind)).collect();
            choices.dedup();
            for choice in choices {
                let names = [path_of(section), vec![key.name, choice]].concat();
                const KINDS: &[&str] = &["scenario", "value", "kind"];
                let entry = match key.name {
                    "kind" | "what" | "do" => Entry::new(Rank::Kind, KINDS, names, move |width| {
                        dictionary::describe_choice(section, key.name, choice, width)
                    }),
                    _ => Entry::new(Rank::Value, KINDS, names, move |width| of_choice(section, key, choice, width)),
                };
                all.push(entry);
            }
        }
    }
}

/// A section and those below it.
fn with_inner(section: &'static Section, width: usize) -> String {
    let below = format!("{}.", section.path);
    let own = dictionary::sections().filter(|of| of.path == section.path || of.path.starts_with(&below));
    let text: String = own.map(|section| dictionary::describe_section(section, width)).collect();
    let more = if section.path == "scheme" { "What each scheme is and takes: xoff schemes\n" } else { "" };
    text + more
}

fn header(section: &Section) -> String {
    match (section.path, section.repeated) {
        ("", _) => "top of the file".to_owned(),
        (path, true) => format!("[[{path}]]"),
        (path, false) => format!("[{path}]"),
    }
}

fn of_key(section: &Section, name: &str, width: usize) -> String {
    let rows = section.keys.iter().filter(|key| key.name == name);
    let rows: String = rows.map(|key| dictionary::describe_key(key, width)).collect();
    format!("{}\n{rows}", header(section))
}

/// A key by a name that it had.
fn of_former_name(section: &'static Section, key: &'static Key, former: &'static str) -> Entry {
    let names = [path_of(section), vec![former]].concat();
    Entry::new(Rank::Foreign, &["scenario", "section", "key"], names, move |width| {
        let note = format!("`{former}` is called `{}` now; the former name is accepted until 2.0.", key.name);
        format!("{}\n{}", wrap::folded(&note, width), of_key(section, key.name, width))
    })
}

fn choices(kind: Kind) -> Vec<&'static str> {
    match kind {
        Kind::Choice(choices) => choices.to_vec(),
        Kind::Either(kinds) => kinds.iter().flat_map(|kind| choices(*kind)).collect(),
        _ => Vec::new(),
    }
}

/// A value of a key, and the keys that matter with it.
fn of_choice(section: &'static Section, key: &Key, choice: &str, width: usize) -> String {
    let mut text = format!("{}\n{}", header(section), dictionary::describe_key(key, width));
    let told = format!("{} = ", key.name);
    let quoted = format!("\"{choice}\"");
    let with = |row: &&Key| row.applies.contains(&told) && row.applies.contains(&quoted);
    let rows: String = section.keys.iter().filter(with).map(|row| dictionary::describe_key(row, width)).collect();
    if !rows.is_empty() {
        let head = format!("With {} = {quoted}, beside the keys that always apply:", key.name);
        wrap::paragraph(&mut text, &head, 0, width);
        text.push_str(&rows);
    }
    text
}

fn schemes(all: &mut Vec<Entry>) {
    const KINDS: &[&str] = &["scheme", "schemes", "parameter", "param", "preset"];
    for &spec in xoff_schemes::all() {
        let whole = move |width| schemes_text::text(&[spec], width);
        all.push(Entry::new(Rank::Thing, KINDS, vec![spec.name], whole));
        for preset in spec.presets {
            let text = move |width| of_preset(spec, preset.name, width);
            all.push(Entry::new(Rank::Value, KINDS, vec![spec.name, preset.name], text));
        }
        for of in spec.variables {
            let text = move |width| {
                let mut text = format!("variable of {}, a metric of series.parquet, in {}\n", spec.name, of.unit);
                wrap::item(&mut text, of.name, of.meaning, (2, 23), width);
                text
            };
            all.push(Entry::new(Rank::Member, &["scheme", "variable", "metric"], vec![spec.name, of.name], text));
        }
        for param in spec.params {
            let text =
                move |width| format!("parameter of {}\n{}", spec.name, schemes_text::of_param(spec, param, width));
            all.push(Entry::new(Rank::Member, KINDS, vec![spec.name, param.name], text));
            let ParamKind::Choice(choices) = param.kind else { continue };
            for choice in choices {
                all.push(Entry::new(Rank::Value, KINDS, vec![spec.name, param.name, choice], text));
            }
        }
    }
}

fn of_preset(spec: &'static SchemeSpec, name: &str, width: usize) -> String {
    let Some(preset) = spec.presets.iter().find(|preset| preset.name == name) else { return String::new() };
    let mut text = String::new();
    wrap::paragraph(&mut text, &format!("{}:{name}, a preset of {0}: {}", spec.name, preset.source), 0, width);
    wrap::paragraph(&mut text, spec.citation, 2, width);
    for (param, value) in spec.values(Some(preset)).iter() {
        wrap::paragraph(&mut text, &format!("{} = {value}", param.name), 4, width);
    }
    text
}

fn tables(all: &mut Vec<Entry>) {
    for table in results::tables::ALL {
        let text = move |width| results::describe_table(table.name, width).unwrap_or_default();
        all.push(Entry::new(Rank::Thing, &["results", "table"], vec![table.name], text));
        for column in table.columns {
            let text = move |width| results::describe_column(table, column, width);
            all.push(Entry::new(Rank::Member, &["results", "table", "column"], vec![table.name, column.name], text));
        }
    }
    for metric in probe::METRICS {
        let facts = probe::facts(metric);
        let text = move |width| {
            let mut text = format!("metric of series.parquet, in {}\n", facts.unit);
            wrap::item(&mut text, facts.name, facts.meaning, (2, 23), width);
            text
        };
        let kinds = &["results", "metric", "probe", "what"];
        all.push(Entry::new(Rank::Member, kinds, vec![results::tables::SERIES.name, facts.name], text));
    }
    for (name, meaning) in results::NUMBERS {
        // Files among them are asked for as a whole.
        for one in name.split(", ").filter(|one| !one.contains('.')) {
            let text = move |width| {
                let mut text = "number of run.json, comparison.json and seeds.json\n".to_owned();
                wrap::item(&mut text, name, meaning, (2, 23), width);
                text
            };
            all.push(Entry::new(Rank::Member, &["results", "number", "run"], vec![one], text));
        }
    }
}

/// The distributions of flow sizes that ship with the program.
pub fn workloads(width: usize) -> String {
    let mut text = String::from("Distributions of flow sizes, for `sizes` of [[traffic]]\n");
    for workload in workloads::WORKLOADS {
        wrap::item(&mut text, workload.name, workload.title, (2, 23), width);
    }
    text
}
