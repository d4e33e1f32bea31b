//! An experiment as its file states it: runs over axes, measures, figures, trees.

use super::change::{Change, Set, read_sets, value_name};
use super::figure::{self, FigureSpec};
use super::results;
use super::scale::Scale;
use super::tree::spec::TreeSpec;
use std::path::Path;
use std::sync::Arc;
use xoff_scenario::diagnostic::{Diagnostic, Place};
use xoff_scenario::measure;
use xoff_scenario::reader::{Result, Table, Text, list};
use xoff_scenario::tree::{Item, Value};
use xoff_scenario::{Options, Scenario};
use xoff_sweep::plan::combinations;

/// One figure or table of a paper.
#[derive(Clone)]
pub struct Experiment {
    /// `pcn-fig2`: the folder and the file.
    pub id: String,
    /// `pcn`.
    pub paper: String,
    pub title: String,
    /// Where in the paper.
    pub place: String,
    /// `simulation`, `testbed`, `theory`, `workload` or `design`.
    pub setting: &'static str,
    pub shows: String,
    pub reads: String,
    pub checked_by: String,
    /// The readings under which it is run; empty for all. Something long leaves some out.
    pub readings: Vec<Text>,
    /// CPU seconds of all runs, by scale.
    pub cost: [f64; 3],
    /// What is smaller than in the paper, by scale.
    pub scaled: [String; 3],
    pub groups: Vec<RunGroup>,
    /// Every `[[measure]]` as written: it is read again against each run's own scenario.
    pub measures: Vec<Item>,
    pub figures: Vec<FigureSpec>,
    pub trees: Vec<TreeSpec>,
    /// Whether it is run at full scale, whatever the scale of the others.
    pub at_full: bool,
}

/// One `[[runs]]`: everything that is run over the same axes.
#[derive(Clone)]
pub struct RunGroup {
    pub name: String,
    pub what: What,
    pub seeds: [u64; 3],
    pub first_seed: u64,
    /// Assignments for every run, then those of each scale.
    sets: Vec<Set>,
    scale_sets: [Vec<Set>; 3],
    pub skipped: [bool; 3],
    pub axes: Vec<Axis>,
    /// What the reading of the paper changes, in order.
    pub changes: Vec<Change>,
    pub at: Place,
}

#[derive(Clone)]
pub enum What {
    Scenario(Arc<Scenario>),
    Model(Text),
    /// The runs and measures of another experiment.
    From(Text),
}

/// An axis with every value that any scale uses.
#[derive(Clone)]
pub struct Axis {
    pub name: String,
    pub values: Vec<Choice>,
    /// Which values a scale uses, in order.
    pub at: [Vec<usize>; 3],
}

/// A value of an axis, and what it changes.
#[derive(Clone)]
pub struct Choice {
    pub name: String,
    pub number: Option<f64>,
    /// `NAME[:PRESET][+BASE[:PRESET]]`.
    pub scheme: Option<String>,
    sets: Vec<Set>,
}

const SETTINGS: [(&str, &str); 5] = [
    ("simulation", "simulation"),
    ("testbed", "testbed"),
    ("theory", "theory"),
    ("workload", "workload"),
    ("design", "design"),
];

/// More seeds or values than this are a mistake.
const MOST: u64 = 100_000;

impl Experiment {
    /// Whether it is run under the reading of this name.
    pub fn runs_under(&self, reading: &str) -> bool {
        self.readings.is_empty() || self.readings.iter().any(|name| name.value == reading)
    }

    /// Runs it at full scale where others are run at this one.
    pub(super) fn take_full(&mut self, scale: Scale) {
        let (full, at) = (Scale::Full.index(), scale.index());
        self.at_full = true;
        self.cost[at] = self.cost[full];
        self.scaled[at] = self.scaled[full].clone();
        for group in &mut self.groups {
            group.seeds[at] = group.seeds[full];
            group.scale_sets[at] = group.scale_sets[full].clone();
            group.skipped[at] = group.skipped[full];
            for axis in &mut group.axes {
                axis.at[at] = axis.at[full].clone();
            }
        }
    }

    /// What is smaller than in the paper at this scale, and which readings are run.
    pub fn scaled_text(&self, scale: Scale) -> String {
        let mut parts = vec![self.scaled[scale.index()].clone()];
        if !self.readings.is_empty() {
            let names: Vec<&str> = self.readings.iter().map(|name| name.value.as_str()).collect();
            parts.push(format!("run under these readings only: {}", names.join(", ")));
        }
        parts.retain(|part| !part.is_empty());
        parts.join("; ")
    }

    /// Reads the file of the experiment `id`. Files it names are looked up from `folder`.
    pub fn read(mut root: Table, id: &str, paper: &str, folder: &Path) -> Result<Experiment> {
        let title = root.text("title")?.value;
        let setting = root.choice("setting", &SETTINGS)?;
        let text = |root: &mut Table, key: &str| Ok::<_, Diagnostic>(root.text_or(key, "")?.value);
        let mut experiment = Experiment {
            id: id.to_owned(),
            paper: paper.to_owned(),
            title,
            place: text(&mut root, "where")?,
            setting,
            shows: root.text("shows")?.value,
            reads: text(&mut root, "reads")?,
            checked_by: text(&mut root, "checked_by")?,
            readings: root.take_texts("readings")?.unwrap_or_default(),
            cost: [0.0; 3],
            scaled: [const { String::new() }; 3],
            groups: Vec::new(),
            measures: Vec::new(),
            figures: Vec::new(),
            trees: Vec::new(),
            at_full: false,
        };
        let mut cost = root.table("cost")?;
        let mut scaled = root.table("scaled")?;
        for scale in Scale::ALL {
            experiment.cost[scale.index()] = cost.number_or(scale.name(), 0.0..=1e9, 0.0)?;
            experiment.scaled[scale.index()] = scaled.text_or(scale.name(), "")?.value;
        }
        cost.finish()?;
        scaled.finish()?;
        for (index, table) in root.tables("runs")?.into_iter().enumerate() {
            let group = RunGroup::read(table, index, folder)?;
            if experiment.groups.iter().any(|known| known.name == group.name) {
                return Err(group.at.error(format!("two groups of runs are called `{}`", group.name)));
            }
            experiment.groups.push(group);
        }
        match (setting, experiment.groups.is_empty()) {
            ("design", false) => return Err(root.error("setting", "an experiment of setting `design` has no runs")),
            ("design", true) if experiment.checked_by.is_empty() => {
                let error = root.error("setting", "an experiment of setting `design` is not run");
                return Err(error.label("so `checked_by` must say which tests hold it"));
            }
            ("design", true) | (_, false) => {}
            (_, true) => return Err(root.error("setting", "this experiment has no [[runs]]")),
        }
        experiment.measures = root.items("measure")?.unwrap_or_default();
        for item in &experiment.measures {
            for runs in groups_of(item)? {
                if experiment.group(&runs.value).is_none() {
                    return Err(unknown_group(&runs, &experiment));
                }
            }
        }
        for mut table in root.tables("figure")? {
            experiment.figures.push(figure::read(&mut table)?);
            table.finish()?;
        }
        for table in root.tables("tree")? {
            let at = table.place().clone();
            let tree = TreeSpec::read(table)?;
            let mut names =
                experiment.figures.iter().map(|of| &of.name).chain(experiment.trees.iter().map(|of| &of.name));
            if names.any(|name| *name == tree.name) {
                return Err(at.error(format!("a figure or a tree is called `{}` already", tree.name)));
            }
            experiment.trees.push(tree);
        }
        root.finish()?;
        Ok(experiment)
    }

    /// Drops all groups of runs but one, with the measures that are for others.
    pub(super) fn keep_group(&mut self, name: &Text) -> Result<()> {
        if self.group(&name.value).is_none() {
            return Err(unknown_group(name, self));
        }
        self.groups.retain(|group| group.name == name.value);
        let mine = |item: &Item| groups_of(item).is_ok_and(|groups| measure::is_for(&groups, &name.value));
        self.measures.retain(mine);
        Ok(())
    }

    pub fn group(&self, name: &str) -> Option<&RunGroup> {
        self.groups.iter().find(|group| group.name == name)
    }

    /// The measures of a group of runs.
    pub fn measures_of<'a>(&'a self, group: &'a RunGroup) -> impl Iterator<Item = &'a Item> {
        let mine = |item: &&Item| groups_of(item).is_ok_and(|groups| measure::is_for(&groups, &group.name));
        self.measures.iter().filter(mine)
    }
}

/// The groups that a `[[measure]]` is for; none means all.
fn groups_of(item: &Item) -> Result<Vec<Text>> {
    measure::groups(&mut Table::from_item("measure", item, Path::new("."))?)
}

fn unknown_group(name: &Text, experiment: &Experiment) -> Diagnostic {
    let names = || experiment.groups.iter().map(|group| group.name.as_str());
    name.error(format!("there are no runs `{}`", name.value))
        .label(format!("this experiment has {}", list(names())))
        .nearest(&name.value, names())
}

impl RunGroup {
    fn read(mut table: Table, index: usize, folder: &Path) -> Result<RunGroup> {
        let at = table.place().clone();
        let default_name = if index == 0 { "main".to_owned() } else { format!("runs-{}", index + 1) };
        let name = table.text_or("name", &default_name)?.value;
        let what = match (table.take_text("scenario")?, table.take_text("model")?, table.take_text("from")?) {
            (Some(file), None, None) => {
                let scenario = Scenario::open(&folder.join(&file.value)).map_err(|error| {
                    file.error(format!("cannot read the scenario `{}`", file.value)).label(error.label)
                })?;
                What::Scenario(Arc::new(scenario))
            }
            (None, Some(model), None) => What::Model(model),
            (None, None, Some(other)) => What::From(other),
            _ => {
                let error = at.error(format!("the runs `{name}` must name one of `scenario`, `model` or `from`"));
                return Err(error);
            }
        };
        let mut group = RunGroup {
            name,
            what,
            seeds: [1; 3],
            first_seed: 1,
            sets: Vec::new(),
            scale_sets: [const { Vec::new() }; 3],
            skipped: [false; 3],
            axes: Vec::new(),
            changes: Vec::new(),
            at,
        };
        if matches!(group.what, What::From(_)) {
            table.finish()?;
            return Ok(group);
        }
        if table.is_table("seeds") {
            let mut seeds = table.table("seeds")?;
            for scale in Scale::ALL {
                group.seeds[scale.index()] = seeds.count_or(scale.name(), 1..=MOST, 1)?;
            }
            seeds.finish()?;
        } else {
            group.seeds = [table.count_or("seeds", 1..=MOST, 1)?; 3];
        }
        group.first_seed = table.count_or("first_seed", 0..=i64::MAX as u64 / 2, 1)?;
        group.sets = read_sets(&mut table)?;
        for scale in Scale::ALL {
            let mut own = table.table(scale.name())?;
            group.scale_sets[scale.index()] = read_sets(&mut own)?;
            group.skipped[scale.index()] = own.flag_or("skip", false)?;
            own.finish()?;
        }
        for table in table.tables("axis")? {
            group.axes.push(Axis::read(table)?);
        }
        table.finish()?;
        Ok(group)
    }

    /// The experiment it takes its runs from, if it does.
    pub fn source(&self) -> Option<&str> {
        match &self.what {
            What::From(other) => Some(&other.value),
            _ => None,
        }
    }

    /// The combinations a scale runs: an index on each axis, the last axis fastest.
    pub fn cells(&self, scale: Scale) -> Vec<Vec<usize>> {
        match self.skipped[scale.index()] {
            true => Vec::new(),
            false => combinations(self.axes.iter().map(|axis| axis.at[scale.index()].clone())),
        }
    }

    /// What a cell changes, in order: what the files say, then what the reading does.
    pub fn sets(&self, scale: Scale, cell: &[usize]) -> Vec<Set> {
        let changes: Vec<&Change> = self.changes_at(cell).collect();
        let replaced = changes.iter().any(|change| change.scheme.is_some());
        let mut sets = self.sets.clone();
        sets.extend(self.scale_sets[scale.index()].iter().cloned());
        for (axis, &value) in self.axes.iter().zip(cell) {
            let own = axis.values[value].sets.iter();
            // Settings of a scheme that is not run any more.
            sets.extend(own.filter(|set| !(replaced && set.key.starts_with("scheme."))).cloned());
        }
        sets.extend(changes.into_iter().flat_map(|change| change.sets.iter().cloned()));
        sets
    }

    fn changes_at(&self, cell: &[usize]) -> impl Iterator<Item = &Change> {
        let axes = self.axes.iter().zip(cell);
        let values: Vec<(&str, &str)> =
            axes.map(|(axis, &at)| (axis.name.as_str(), axis.values[at].name.as_str())).collect();
        self.changes.iter().filter(move |change| change.applies(values.iter().copied()))
    }

    /// Options of a scenario.
    pub fn options(&self, scale: Scale, cell: &[usize], seed: u64) -> Options {
        let mut sets: Vec<String> = self.sets(scale, cell).iter().map(Set::text).collect();
        let mut own = self.axes.iter().zip(cell).rev().filter_map(|(axis, &value)| axis.values[value].scheme.as_ref());
        let changed = self.changes_at(cell).filter_map(|change| change.scheme.as_ref()).last();
        // Takes the place of the whole [scheme]; the other assignments come after it.
        sets.extend(changed.or_else(|| own.next()).map(|scheme| format!("scheme.name=\"{scheme}\"")));
        Options { sets, seed: Some(seed), ..Options::default() }
    }

    /// `PCN, 0.6`: the values of a cell, for people; also the name of its files.
    pub fn cell_name(&self, cell: &[usize]) -> String {
        let values = self.axes.iter().zip(cell).map(|(axis, &value)| axis.values[value].name.as_str());
        values.collect::<Vec<_>>().join(", ")
    }
}

impl Axis {
    /// An axis whose values every scale uses.
    pub(super) fn of(name: &str, values: Vec<Choice>) -> Axis {
        let all: Vec<usize> = (0..values.len()).collect();
        Axis { name: name.to_owned(), values, at: std::array::from_fn(|_| all.clone()) }
    }

    /// Keeps one value, at every scale.
    pub(super) fn fix(&mut self, at: &Text, value: &str) -> Result<()> {
        let known = self.values.iter().position(|known| results::same_value(&known.name, value));
        let names = || self.values.iter().map(|known| known.name.as_str());
        let index = known.ok_or_else(|| {
            at.error(format!("the axis `{}` has no value `{value}`", self.name))
                .label(list(names()))
                .nearest(value, names())
        })?;
        self.at = std::array::from_fn(|_| vec![index]);
        Ok(())
    }

    fn read(mut table: Table) -> Result<Axis> {
        let name = table.text("name")?.value;
        let mut keys: Vec<String> =
            table.take_texts("keys")?.unwrap_or_default().into_iter().map(|k| k.value).collect();
        keys.extend(table.take_text("key")?.map(|key| key.value));
        let mut axis = Axis { name, values: Vec::new(), at: [const { Vec::new() }; 3] };
        let at = table.place().clone();
        let items =
            table.items("values")?.ok_or_else(|| at.error(format!("the axis `{}` lacks `values`", axis.name)))?;
        for item in items {
            let choice = Choice::read(item, &keys)?;
            axis.values.push(choice);
        }
        if axis.values.is_empty() {
            return Err(at.error(format!("the axis `{}` has no values", axis.name)));
        }
        let all: Vec<usize> = (0..axis.values.len()).collect();
        for scale in Scale::ALL {
            axis.at[scale.index()] = match table.items(scale.name())? {
                None => all.clone(),
                Some(items) => {
                    let mut chosen = Vec::new();
                    for item in items {
                        let place = item.place.clone();
                        let choice = Choice::read(item, &keys)?;
                        let known = axis.values.iter().position(|known| known.name == choice.name);
                        chosen.push(match known {
                            Some(index) => index,
                            None if choice.sets.is_empty() && choice.scheme.is_none() => {
                                let names = || axis.values.iter().map(|value| value.name.as_str());
                                return Err(place
                                    .error(format!("the axis `{}` has no value `{}`", axis.name, choice.name))
                                    .label(list(names()))
                                    .nearest(&choice.name, names()));
                            }
                            None => {
                                axis.values.push(choice);
                                axis.values.len() - 1
                            }
                        });
                    }
                    chosen
                }
            };
        }
        table.finish()?;
        Ok(axis)
    }
}

impl Choice {
    pub(super) fn new(name: &str, scheme: &str, sets: Vec<Set>) -> Choice {
        Choice { name: name.to_owned(), number: None, scheme: Some(scheme.to_owned()), sets }
    }

    /// A plain value of the axis's keys, or a table that says what it changes.
    fn read(item: Item, keys: &[String]) -> Result<Choice> {
        let assign = |value: &Value| keys.iter().map(|key| Set { key: key.clone(), value: value.clone() }).collect();
        match item.value {
            Value::Table(entries) => {
                let mut table = Table::of("value", item.place, entries);
                let name = table.text("name")?;
                let scheme = table.take_text("scheme")?.map(|scheme| scheme.value);
                let number = table.take_number("number", f64::MIN..=f64::MAX)?.or_else(|| leading_number(&name.value));
                let mut sets: Vec<Set> = match table.items("value")? {
                    Some(mut values) if values.len() == 1 => assign(&values.remove(0).value),
                    Some(_) => return Err(table.error("value", "`value` is one value")),
                    None => Vec::new(),
                };
                sets.extend(read_sets(&mut table)?);
                table.finish()?;
                Ok(Choice { name: name.value, number, scheme, sets })
            }
            value => {
                let name = value_name(&value);
                let number = match &value {
                    Value::Float(number) => Some(*number),
                    Value::Integer(Ok(number)) => Some(*number as f64),
                    _ => leading_number(&name),
                };
                Ok(Choice { name, number, scheme: None, sets: assign(&value) })
            }
        }
    }
}

/// 18 of `18ms`.
fn leading_number(text: &str) -> Option<f64> {
    let end = text.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(text.len());
    text[..end].parse().ok()
}
