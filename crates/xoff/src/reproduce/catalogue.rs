//! All papers, experiments, claims and deviations of a folder, read and checked against each other.

use super::claims::{self, Claim};
use super::experiment::{Experiment, RunGroup, What};
use super::reading::Readings;
use super::report_data::{Deviation, Paper};
use super::scale::Scale;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use xoff_scenario::diagnostic::{Diagnostic, Place, Source, suggestion};
use xoff_scenario::library::{self, Entry};
use xoff_scenario::reader::{Table, Text};
use xoff_scenario::tree;

/// Files of more than this are no data of ours.
const LARGEST_BYTES: u64 = 16_000_000;

/// What can be reproduced.
#[derive(Clone)]
pub struct Catalogue {
    pub papers: Vec<Paper>,
    /// One of each paper, in the same order.
    pub readings: Vec<Readings>,
    /// Experiments by paper, then in the order of the figures.
    pub experiments: Vec<Experiment>,
    pub claims: Vec<Claim>,
    pub deviations: Vec<Deviation>,
    /// What to tell of files that have former names, accepted until 2.0.
    pub notes: Vec<String>,
}

/// The file of a paper's interpretations, without its ending, and its former name.
const INTERPRETATIONS: [&str; 2] = ["interpretations", "reading"];

pub(super) type Problems = Vec<Diagnostic>;

impl Catalogue {
    /// Reads `experiments/`, `claims/` and `deviations/` of `folder`.
    pub fn open(folder: &Path) -> Result<Catalogue, Problems> {
        let root = folder.join("experiments");
        let papers = folders(&root).map_err(|why| {
            let error = Diagnostic::new(format!("there are no experiments in `{}`", folder.display())).label(why);
            vec![error.help("run it where `experiments/` and `claims/` are, or name that folder with --from")]
        })?;
        let mut problems = Vec::new();
        let mut catalogue = Catalogue {
            papers: Vec::new(),
            readings: Vec::new(),
            experiments: Vec::new(),
            claims: Vec::new(),
            deviations: Vec::new(),
            notes: Vec::new(),
        };
        for (id, path) in papers {
            let files = toml_files(&path).unwrap_or_default();
            let mut add = || -> Result<(), Diagnostic> {
                catalogue.papers.push(read_paper(&path.join("paper.toml"), &id)?);
                catalogue.readings.push(
                    match files.iter().find(|(stem, _)| INTERPRETATIONS.contains(&stem.as_str())) {
                        Some((stem, file)) => {
                            if stem != INTERPRETATIONS[0] {
                                let new = format!("{}.toml", INTERPRETATIONS[0]);
                                catalogue.notes.push(format!("`{}` is now called `{new}`", file.display()));
                            }
                            Readings::read(open(file, "reading")?, &id)?
                        }
                        None => Readings::plain(&id),
                    },
                );
                Ok(())
            };
            if let Err(problem) = add() {
                problems.push(problem);
            }
            for (stem, file) in files {
                if stem == "paper" || INTERPRETATIONS.contains(&stem.as_str()) {
                    continue;
                }
                match open(&file, "experiment")
                    .and_then(|table| Experiment::read(table, &format!("{id}-{stem}"), &id, &path))
                {
                    Ok(experiment) => catalogue.experiments.push(experiment),
                    Err(problem) => problems.push(problem),
                }
            }
        }
        for readings in &catalogue.readings {
            problems.extend(readings.check(&catalogue.of_paper(&readings.paper)).err());
        }
        catalogue.read_claims(&folder.join("claims"), &mut problems);
        catalogue.read_deviations(&folder.join("deviations"), &mut problems);
        for experiment in &catalogue.experiments {
            for group in &experiment.groups {
                if let What::From(other) = &group.what
                    && let Err(problem) = catalogue.source_of(other)
                {
                    problems.push(problem);
                }
            }
        }
        if problems.is_empty() { Ok(catalogue) } else { Err(problems) }
    }

    /// The experiment that a group takes its runs from.
    fn source_of(&self, name: &Text) -> Result<&Experiment, Diagnostic> {
        let other = self.known(name)?;
        if other.groups.iter().any(|group| matches!(group.what, What::From(_))) {
            return Err(name.error(format!("`{}` takes its own runs from elsewhere", name.value)));
        }
        Ok(other)
    }

    /// The catalogue with these choices in every experiment; a paper that is not named keeps its own.
    pub fn under(&self, chosen: &BTreeMap<String, Vec<usize>>) -> Catalogue {
        let mut changed = self.clone();
        for experiment in &mut changed.experiments {
            let readings = self.readings.iter().find(|readings| readings.paper == experiment.paper);
            if let Some((readings, choices)) = readings.zip(chosen.get(&experiment.paper)) {
                *experiment = readings.apply(choices, experiment);
            }
        }
        changed
    }

    /// The catalogue with some experiments, and those that share runs with them, at full scale where others are run at
    /// `scale`.
    pub fn with_full(mut self, names: &[String], scale: Scale) -> Result<Catalogue, Problems> {
        // An experiment that takes its runs from another is named by that one: both have the same runs.
        let origin = |of: &Experiment| -> Vec<String> {
            let sources: Vec<String> = of.groups.iter().filter_map(RunGroup::source).map(str::to_owned).collect();
            if sources.is_empty() { vec![of.id.clone()] } else { sources }
        };
        let origins: Vec<String> = self.select(names)?.into_iter().flat_map(origin).collect();
        let shares = |of: &&mut Experiment| origin(of).iter().any(|id| origins.contains(id));
        self.experiments.iter_mut().filter(shares).for_each(|of| of.take_full(scale));
        let at_full: Vec<&str> = self.experiments.iter().filter(|of| of.at_full).map(|of| of.id.as_str()).collect();
        for claim in self.claims.iter_mut().filter(|claim| at_full.contains(&claim.experiment.value.as_str())) {
            claim.from_scale = Scale::Quick;
        }
        Ok(self)
    }

    fn of_paper(&self, paper: &str) -> Vec<&Experiment> {
        self.experiments.iter().filter(|experiment| experiment.paper == paper).collect()
    }

    pub fn experiment(&self, id: &str) -> Option<&Experiment> {
        self.experiments.iter().find(|experiment| experiment.id == id)
    }

    pub(super) fn known(&self, name: &Text) -> Result<&Experiment, Diagnostic> {
        self.experiment(&name.value).ok_or_else(|| {
            let ids = self.experiments.iter().map(|experiment| experiment.id.as_str());
            name.error(format!("there is no experiment `{}`", name.value)).nearest(&name.value, ids)
        })
    }

    fn read_claims(&mut self, folder: &Path, problems: &mut Problems) {
        let mut seen: BTreeMap<String, Text> = BTreeMap::new();
        for table in tables_of(folder, "claim", problems) {
            let checked = Claim::read(table).and_then(|claim| {
                self.known(&claim.experiment)?;
                if seen.insert(claim.id.value.clone(), claim.id.clone()).is_some() {
                    return Err(claim.id.error(format!("duplicate claim `{}`", claim.id.value)));
                }
                Ok(claim)
            });
            match checked {
                Ok(claim) => self.claims.push(claim),
                Err(problem) => problems.push(problem),
            }
        }
        self.claims.sort_by_key(|claim| natural(&claim.id.value));
    }

    fn read_deviations(&mut self, folder: &Path, problems: &mut Problems) {
        let mut seen: Vec<String> = Vec::new();
        for table in tables_of(folder, "deviation", problems) {
            let checked = claims::read_deviation(table).and_then(|(id, experiments, deviation)| {
                for name in &experiments {
                    self.known(name)?;
                }
                if seen.contains(&id.value) {
                    return Err(id.error(format!("duplicate deviation `{}`", id.value)));
                }
                seen.push(id.value);
                Ok(deviation)
            });
            match checked {
                Ok(deviation) => self.deviations.push(deviation),
                Err(problem) => problems.push(problem),
            }
        }
        self.deviations.sort_by_key(|deviation| natural(&deviation.id));
    }

    /// The experiments that names select: a paper, an experiment, or `all`.
    pub fn select(&self, names: &[String]) -> Result<Vec<&Experiment>, Problems> {
        let mut problems = Vec::new();
        for name in names {
            let known =
                name == "all" || self.papers.iter().any(|paper| paper.id == *name) || self.experiment(name).is_some();
            if !known {
                let ids = self.experiments.iter().map(|experiment| experiment.id.as_str());
                let ids = ids.chain(self.papers.iter().map(|paper| paper.id.as_str())).chain(["all"]);
                let error = Diagnostic::new(format!("there is no paper or experiment `{name}`"));
                let hint = suggestion(name, ids);
                problems.push(error.help(if hint.is_empty() {
                    "`xoff reproduce` lists them".to_owned()
                } else {
                    hint
                }));
            }
        }
        if !problems.is_empty() {
            return Err(problems);
        }
        let wanted = |experiment: &&Experiment| {
            names.iter().any(|name| name == "all" || *name == experiment.paper || *name == experiment.id)
        };
        Ok(self.experiments.iter().filter(wanted).collect())
    }
}

/// The document of a file, as a table of some `kind`.
pub(super) fn open(path: &Path, kind: &str) -> Result<Table, Diagnostic> {
    let text = library::text(path, LARGEST_BYTES)
        .map_err(|why| Diagnostic::new(format!("cannot read `{}`", path.display())).label(why))?;
    let source = Source::new(path.display().to_string(), text);
    let entries = tree::parse(&source)?;
    Ok(Table::of(kind, Place { source, span: 0..0 }, entries))
}

/// Every `[[key]]` of every file of a folder.
fn tables_of(folder: &Path, key: &str, problems: &mut Problems) -> Vec<Table> {
    let mut all = Vec::new();
    for (_, file) in toml_files(folder).unwrap_or_default() {
        let read = open(&file, "file").and_then(|mut root| {
            let tables = root.tables(key)?;
            root.finish()?;
            Ok(tables)
        });
        match read {
            Ok(tables) => all.extend(tables),
            Err(problem) => problems.push(problem),
        }
    }
    all
}

fn read_paper(path: &Path, id: &str) -> Result<Paper, Diagnostic> {
    let mut root = open(path, "paper")?;
    let text = |root: &mut Table, key: &str| Ok::<_, Diagnostic>(root.text(key)?.value);
    let paper = Paper {
        id: id.to_owned(),
        title: text(&mut root, "title")?,
        authors: text(&mut root, "authors")?,
        venue: text(&mut root, "venue")?,
        year: root.count("year", 1990..=2100)?,
        what: text(&mut root, "what")?,
    };
    root.finish()?;
    Ok(paper)
}

fn folders(path: &Path) -> Result<Vec<(String, PathBuf)>, String> {
    let name = |entry: &Entry| Some(entry.path.file_name()?.to_string_lossy().into_owned());
    named(path, |entry| entry.is_folder.then(|| name(entry)).flatten())
}

fn toml_files(path: &Path) -> Result<Vec<(String, PathBuf)>, String> {
    named(path, |entry| {
        let is_toml = !entry.is_folder && entry.path.extension().is_some_and(|end| end == "toml");
        Some(entry.path.file_stem().filter(|_| is_toml)?.to_string_lossy().into_owned())
    })
}

/// The entries of a folder that `name` gives a name, in natural order: `fig2` before `fig10`.
fn named(path: &Path, name: impl Fn(&Entry) -> Option<String>) -> Result<Vec<(String, PathBuf)>, String> {
    let entries = library::entries(path)?.into_iter();
    let named = entries.filter_map(|entry| Some((name(&entry).filter(|name| !name.starts_with('.'))?, entry.path)));
    let mut found: Vec<(String, PathBuf)> = named.collect();
    found.sort_by_key(|(name, _)| natural(name));
    Ok(found)
}

/// A key that sorts numbers in a text by their size.
pub fn natural(text: &str) -> Vec<(String, u64)> {
    let mut parts = vec![(String::new(), 0u64)];
    for c in text.chars() {
        let last = parts.len() - 1;
        match c.to_digit(10) {
            Some(digit) => parts[last].1 = parts[last].1.saturating_mul(10).saturating_add(u64::from(digit)),
            None if parts[last].1 == 0 => parts[last].0.push(c),
            None => parts.push((c.to_string(), 0)),
        }
    }
    parts
}
