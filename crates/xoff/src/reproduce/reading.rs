//! How a paper is read where it leaves something open: points, the choices of each, and readings made of them.
//!
//! A reading takes one choice of every point, and all experiments of the paper are run under it. So what one figure
//! assumes, all of them do.

use super::change::Change;
use super::experiment::{Experiment, RunGroup};
use super::report_data::{Choice, Point};
use xoff_scenario::diagnostic::Diagnostic;
use xoff_scenario::reader::{Result, Table, Text};

/// `experiments/PAPER/interpretations.toml`.
#[derive(Clone)]
pub struct Readings {
    /// `pcn`.
    pub paper: String,
    pub points: Vec<Point>,
    /// The points that a search varies if none are named.
    pub searched: Vec<usize>,
    /// The main one first. A paper without the file has one, and no points.
    pub all: Vec<Reading>,
}

/// One choice of every point.
#[derive(Clone)]
pub struct Reading {
    pub name: String,
    pub title: String,
    pub why: String,
    /// Choice of each ambiguity, in order.
    pub choices: Vec<usize>,
}

impl Readings {
    /// What a paper without open points is read as.
    pub fn plain(paper: &str) -> Readings {
        let only = Reading {
            name: "main".to_owned(),
            title: "As the files state it".to_owned(),
            why: String::new(),
            choices: Vec::new(),
        };
        Readings { paper: paper.to_owned(), points: Vec::new(), searched: Vec::new(), all: vec![only] }
    }

    pub fn read(mut root: Table, paper: &str) -> Result<Readings> {
        let (names, mut points) = read_all(root.tables("point")?, Point::read)?;
        distinct(names.iter(), "point")?;
        let mut searched = Vec::new();
        for name in root.take_texts("search")?.unwrap_or_default() {
            searched.push(point_named(&points, &name)?);
        }
        let mut names = Vec::new();
        let mut all = Vec::new();
        for mut table in root.tables("reading")? {
            let name = table.text("name")?;
            all.push(Reading {
                name: name.value.clone(),
                title: table.text("title")?.value,
                why: table.text_or("why", "")?.value,
                choices: read_choices(&mut table, &points)?,
            });
            table.finish()?;
            names.push(name);
        }
        distinct(names.iter(), "reading")?;
        if let Some(all) = names.iter().find(|name| name.value == "all") {
            return Err(all.error("`all` means every interpretation"));
        }
        for reading in &all {
            for (point, &choice) in points.iter_mut().zip(&reading.choices) {
                point.choices[choice].readings.push(reading.name.clone());
            }
        }
        match all.first() {
            None => return Err(root.place().error("there is no [[reading]]")),
            Some(main) if main.choices.iter().any(|&choice| choice != 0) => {
                let error =
                    names[0].error("the first reading is the main one and takes the first choice of every point");
                return Err(error.help("put the choices that it takes first in their points"));
            }
            Some(_) => {}
        }
        root.finish()?;
        Ok(Readings { paper: paper.to_owned(), points, searched, all })
    }

    pub fn find(&self, name: &str) -> Option<usize> {
        self.all.iter().position(|reading| reading.name == name)
    }

    /// An experiment of the paper as some choices have it.
    pub fn apply(&self, choices: &[usize], experiment: &Experiment) -> Experiment {
        let mut changed = experiment.clone();
        for (group, own) in changed.groups.iter_mut().zip(&experiment.groups) {
            let of = |(point, &choice)| self.changes(point, choice, experiment, own);
            group.changes = choices.iter().enumerate().flat_map(of).cloned().collect();
        }
        changed
    }

    /// Whether any choice of a point changes anything in an experiment.
    pub fn matters(&self, point: usize, experiment: &Experiment) -> bool {
        let some = |choice, group| self.changes(point, choice, experiment, group).next().is_some();
        (0..self.points[point].choices.len()).any(|choice| experiment.groups.iter().any(|group| some(choice, group)))
    }

    fn changes(
        &self,
        point: usize,
        choice: usize,
        experiment: &Experiment,
        group: &RunGroup,
    ) -> impl Iterator<Item = &Change> {
        self.points[point].choices[choice].changes.iter().filter(move |change| concerns(change, experiment, group))
    }

    /// Says what a change names and no run has.
    pub fn check(&self, experiments: &[&Experiment]) -> Result<()> {
        for choice in self.points.iter().flat_map(|point| &point.choices) {
            for change in &choice.changes {
                check(change, experiments)?;
            }
        }
        let names = || self.all.iter().map(|reading| reading.name.as_str());
        for experiment in experiments {
            if let Some(name) = experiment.readings.iter().find(|name| self.find(&name.value).is_none()) {
                let error = name.error(format!("`{}` has no reading `{}`", self.paper, name.value));
                return Err(error.nearest(&name.value, names()));
            }
            if let Some(first) = experiment.readings.first().filter(|_| !experiment.runs_under(&self.all[0].name)) {
                let error = first.error("the main reading is not among these");
                return Err(error.label(format!("`{}` is the one that claims are judged by", self.all[0].name)));
            }
        }
        Ok(())
    }
}

fn distinct<'a>(names: impl Iterator<Item = &'a Text>, what: &str) -> Result<()> {
    let mut seen: Vec<&str> = Vec::new();
    for name in names {
        if seen.contains(&name.value.as_str()) {
            return Err(name.error(format!("duplicate {what} `{}`", name.value)));
        }
        seen.push(&name.value);
    }
    Ok(())
}

fn point_named(points: &[Point], name: &Text) -> Result<usize> {
    points.iter().position(|point| point.name == name.value).ok_or_else(|| {
        let names = points.iter().map(|point| point.name.as_str());
        name.error(format!("there is no point `{}`", name.value)).nearest(&name.value, names)
    })
}

/// `choices = { qcn = "standard" }`; a point that is not named takes its first choice.
fn read_choices(table: &mut Table, points: &[Point]) -> Result<Vec<usize>> {
    let mut choices = vec![0; points.len()];
    let mut named = table.table("choices")?;
    for key in named.keys() {
        let index = point_named(points, &key)?;
        let text = named.text(&key.value)?;
        let own = &points[index].choices;
        choices[index] = own.iter().position(|choice| choice.name == text.value).ok_or_else(|| {
            let error = text.error(format!("the point `{}` has no choice `{}`", key.value, text.value));
            error.nearest(&text.value, own.iter().map(|choice| choice.name.as_str()))
        })?;
    }
    named.finish()?;
    Ok(choices)
}

/// Reads tables, each with the place of its name.
fn read_all<T>(tables: Vec<Table>, read: fn(&Text, &mut Table) -> Result<T>) -> Result<(Vec<Text>, Vec<T>)> {
    let named = |mut table: Table| {
        let name = table.text("name")?;
        let found = read(&name, &mut table)?;
        table.finish()?;
        Ok((name, found))
    };
    tables.into_iter().map(named).collect()
}

impl Point {
    fn read(name: &Text, table: &mut Table) -> Result<Point> {
        let (names, choices) = read_all(table.tables("choice")?, Choice::read)?;
        distinct(names.iter(), "choice")?;
        if choices.is_empty() {
            return Err(name.error(format!("the point `{}` has no [[point.choice]]", name.value)));
        }
        let (title, paper) = (table.text("title")?.value, table.text("paper")?.value);
        Ok(Point { name: name.value.clone(), title, paper, choices })
    }
}

impl Choice {
    fn read(name: &Text, table: &mut Table) -> Result<Choice> {
        let lines = |table: &mut Table, key: &str| -> Result<Vec<String>> {
            Ok(table.take_texts(key)?.unwrap_or_default().into_iter().map(|text| text.value).collect())
        };
        Ok(Choice {
            name: name.value.clone(),
            what: table.text("what")?.value,
            evidence: lines(table, "evidence")?,
            against: lines(table, "against")?,
            readings: Vec::new(),
            changes: table.tables("change")?.into_iter().map(Change::read).collect::<Result<_>>()?,
        })
    }
}

/// Whether some run of a group may be meant by a change.
fn concerns(change: &Change, experiment: &Experiment, group: &RunGroup) -> bool {
    let named = |names: &[Text], name: &str| names.is_empty() || names.iter().any(|text| text.value == name);
    let has = |(name, values): &(Text, Vec<String>)| {
        let mut own = group.axes.iter().filter(|axis| axis.name == name.value);
        own.any(|axis| axis.values.iter().any(|value| values.contains(&value.name)))
    };
    named(&change.experiments, &experiment.id)
        && named(&change.runs, &group.name)
        && group.source().is_none()
        && change.at.iter().all(has)
}

fn check(change: &Change, experiments: &[&Experiment]) -> Result<()> {
    for name in &change.experiments {
        if !experiments.iter().any(|experiment| experiment.id == name.value) {
            let ids = experiments.iter().map(|experiment| experiment.id.as_str());
            let error = name.error(format!("the paper has no experiment `{}`", name.value));
            return Err(error.nearest(&name.value, ids));
        }
    }
    let means = |of: &&Experiment| of.groups.iter().any(|group| concerns(change, of, group));
    let nothing = |which: String| Err(change.place.error("this change changes nothing").label(which));
    if !experiments.iter().any(means) && change.experiments.is_empty() {
        return nothing("no run of the paper has these axes and values".to_owned());
    }
    // An experiment that is named and has no such run is a slip, not a filter.
    let named = |of: &&&Experiment| change.experiments.iter().any(|name| name.value == of.id);
    match experiments.iter().filter(named).find(|of| !means(of)) {
        Some(of) => nothing(format!("no run of {} has these axes and values", of.id)),
        None => Ok(()),
    }
}

/// What went wrong with the name of a reading.
pub fn unknown(name: &str, readings: &[&Readings]) -> Diagnostic {
    let names = || readings.iter().flat_map(|of| &of.all).map(|reading| reading.name.as_str()).chain(["all"]);
    let error = Diagnostic::new(format!("no paper of these has a reading `{name}`"));
    let mut known: Vec<&str> = names().collect();
    known.sort_unstable();
    known.dedup();
    error.label(format!("they have {}", known.join(", "))).nearest(name, names())
}
