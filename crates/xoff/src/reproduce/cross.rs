//! All schemes on scenarios of all papers: `experiments/cross.toml` names experiments, what is compared in each, and
//! sentences that are judged as claims are.

use super::catalogue::{Catalogue, Problems, open};
use super::change::{Set, read_sets};
use super::claims::Claim;
use super::experiment::{Axis, Choice, Experiment};
use super::reading::Readings;
use super::report_data::Paper;
use super::results::{Cell, Estimate, Results};
use std::collections::BTreeMap;
use std::path::Path;
use xoff_scenario::reader::{Result as Read, Table, Text};
use xoff_schemes::param::{Base, SchemeSpec};

/// The file, beside the folders of the papers.
const FILE: &str = "experiments/cross.toml";

/// The axis that is replaced.
const AXIS: &str = "scheme";

/// What is run, and what is compared.
pub struct Cross {
    /// The cases as experiments, the sentences as claims.
    pub catalogue: Catalogue,
    pub cases: Vec<Case>,
}

/// One scenario of a paper under every scheme.
pub struct Case {
    /// That of its experiment here.
    pub id: String,
    pub title: String,
    /// The experiment of the paper whose set-up it is.
    pub of: String,
    pub compared: Vec<Compared>,
    /// Schemes that cannot be run here, with the reason.
    pub without: BTreeMap<String, String>,
}

/// A number in which schemes are compared.
pub struct Compared {
    pub measure: String,
    pub title: String,
    pub unit: String,
    pub better: Better,
    /// Measure that counts the flows which have not ended, and so are not in this number.
    pub unfinished: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Better {
    Lower,
    Higher,
}

const BETTER: [(&str, Better); 2] = [("lower", Better::Lower), ("higher", Better::Higher)];

/// A scheme that is run beside those of the registry, each with its default preset.
struct Variant {
    name: String,
    scheme: String,
    sets: Vec<Set>,
}

impl Cross {
    /// Reads the file against the experiments of the papers, under their main readings.
    pub fn open(folder: &Path, papers: &Catalogue) -> Result<Cross, Problems> {
        Cross::read(open(&folder.join(FILE), "file").map_err(|problem| vec![problem])?, papers)
            .map_err(|problem| vec![problem])
    }

    fn read(mut root: Table, papers: &Catalogue) -> Read<Cross> {
        let paper = Paper { id: "cross".to_owned(), title: root.text("title")?.value, ..Paper::default() };
        let mut variants: Vec<Variant> = xoff_schemes::all()
            .iter()
            .map(|spec| Variant { name: spec.name.to_owned(), scheme: with_one_base(spec), sets: Vec::new() })
            .collect();
        for mut table in root.tables("variant")? {
            variants.push(Variant {
                name: table.text("name")?.value,
                scheme: table.text("scheme")?.value,
                sets: read_sets(&mut table)?,
            });
            table.finish()?;
        }
        let mut cross = Cross {
            catalogue: Catalogue {
                papers: vec![paper],
                readings: vec![Readings::plain("cross")],
                experiments: Vec::new(),
                claims: Vec::new(),
                deviations: Vec::new(),
                notes: Vec::new(),
            },
            cases: Vec::new(),
        };
        for table in root.tables("case")? {
            let (case, experiment) = read_case(table, papers, &variants)?;
            cross.cases.push(case);
            cross.catalogue.experiments.push(experiment);
        }
        for table in root.tables("sentence")? {
            let claim = Claim::read(table)?;
            cross.catalogue.known(&claim.experiment)?;
            cross.catalogue.claims.push(claim);
        }
        root.finish()?;
        Ok(cross)
    }
}

/// A scheme that works with a DCQCN has the same one as all others: that of the default preset.
fn with_one_base(spec: &SchemeSpec) -> String {
    match spec.base {
        Base::Default(base) if base.split(':').next() == Some("dcqcn") => format!("{}+dcqcn", spec.name),
        _ => spec.name.to_owned(),
    }
}

fn read_case(mut table: Table, papers: &Catalogue, variants: &[Variant]) -> Read<(Case, Experiment)> {
    let name = table.text("name")?;
    let id = format!("cross-{}", name.value);
    let of = table.text("experiment")?;
    let source = papers.known(&of)?;
    let runs = table.text_or("runs", "main")?;
    let mut without = BTreeMap::new();
    for (scheme, reason) in table.table("without")?.into_items() {
        if !variants.iter().any(|known| known.name == scheme.value) {
            let names = variants.iter().map(|known| known.name.as_str());
            return Err(scheme.error(format!("there is no scheme `{}`", scheme.value)).nearest(&scheme.value, names));
        }
        without.insert(scheme.value, super::change::value_name(&reason.value));
    }
    let mut experiment = source.clone();
    experiment.id.clone_from(&id);
    experiment.paper = "cross".to_owned();
    experiment.title = table.text("title")?.value;
    experiment.readings.clear();
    experiment.figures.clear();
    experiment.trees.clear();
    experiment.keep_group(&runs)?;
    experiment.measures.extend(table.items("measure")?.unwrap_or_default());
    let fixed: Vec<(Text, String)> = table
        .table("at")?
        .into_items()
        .into_iter()
        .map(|(axis, item)| (axis, super::change::value_name(&item.value)))
        .collect();
    let group = &mut experiment.groups[0];
    for (axis, value) in &fixed {
        let own = group.axes.iter_mut().find(|own| own.name == axis.value);
        own.ok_or_else(|| axis.error(format!("`{}` has no axis `{}`", of.value, axis.value)))?.fix(axis, value)?;
    }
    let schemes = variants.iter().filter(|variant| !without.contains_key(&variant.name));
    let choices = schemes.map(|variant| Choice::new(&variant.name, &variant.scheme, variant.sets.clone())).collect();
    let place = group.axes.iter().position(|axis| axis.name == AXIS);
    let place = place.ok_or_else(|| of.error(format!("the runs `{}` have no axis `{AXIS}`", runs.value)))?;
    group.axes[place] = Axis::of(AXIS, choices);
    let mut compared = Vec::new();
    for mut table in table.tables("compare")? {
        compared.push(Compared {
            measure: table.text("measure")?.value,
            title: table.text("title")?.value,
            unit: table.text_or("unit", "")?.value,
            better: table.choice("better", &BETTER)?,
            unfinished: table.take_text("unfinished")?.map(|text| text.value),
        });
        table.finish()?;
    }
    let title = experiment.title.clone();
    table.finish()?;
    Ok((Case { id, title, of: of.value, compared, without }, experiment))
}

/// One number under all schemes.
pub struct Column<'a> {
    pub case: &'a Case,
    pub compared: &'a Compared,
    /// One for each scheme, in the order in which they are listed.
    pub rows: Vec<Row>,
}

/// One scheme in a column.
pub struct Row {
    pub scheme: String,
    pub value: Option<Estimate>,
    pub place: Place,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Place {
    Best,
    /// Seed by seed, the interval of its difference to the best reaches zero.
    Tie,
    Worse,
    /// Flows that have not ended are missing from its number, so it is not compared.
    Partial,
    /// No number: it was not run, or no flow of it ended.
    Unknown,
}

impl Cross {
    /// What the runs come to.
    pub fn columns(&self, results: &BTreeMap<String, Results>) -> Vec<Column<'_>> {
        let mut columns = Vec::new();
        for case in &self.cases {
            let group = results.get(&case.id).and_then(|results| results.groups.first());
            let Some((group, (axis, schemes))) = group.and_then(|group| Some((group, group.axis(AXIS)?))) else {
                continue;
            };
            for compared in &case.compared {
                let of = |at: usize, measure: &str| {
                    group.matching(&[(axis, at)]).next().map(|cell| numbers(cell, measure)).unwrap_or_default()
                };
                let missing = |at: usize| {
                    compared.unfinished.as_ref().is_some_and(|count| of(at, count).iter().any(|&flows| flows > 0.0))
                };
                let values = schemes.values.iter().enumerate();
                let schemes: Vec<Scheme<'_>> = values
                    .map(|(at, value)| Scheme {
                        name: &value.name,
                        each: of(at, &compared.measure),
                        partial: missing(at),
                    })
                    .collect();
                columns.push(Column { case, compared, rows: ranked(&schemes, compared.better) });
            }
        }
        columns
    }
}

/// A number seed by seed; empty if any seed has none.
fn numbers(cell: &Cell, measure: &str) -> Vec<f64> {
    let of = |run: &super::results::Run| run.measured.numbers.get(measure).copied().filter(|value| value.is_finite());
    cell.seeds.iter().map(of).collect::<Option<Vec<f64>>>().unwrap_or_default()
}

/// A scheme's number, seed by seed.
struct Scheme<'a> {
    name: &'a str,
    each: Vec<f64>,
    /// Flows that have not ended are missing from it.
    partial: bool,
}

/// Which scheme is best, and which tie with it.
fn ranked(schemes: &[Scheme<'_>], better: Better) -> Vec<Row> {
    let estimates: Vec<Option<Estimate>> = schemes.iter().map(|of| Estimate::of(&of.each)).collect();
    let sign = if better == Better::Lower { 1.0 } else { -1.0 };
    let known = schemes.iter().zip(&estimates).enumerate().filter(|(_, (of, _))| !of.partial);
    let means = known.filter_map(|(at, (_, of))| Some((at, sign * of.as_ref()?.mean)));
    let best = means.min_by(|a, b| a.1.total_cmp(&b.1)).map(|(at, _)| at);
    let place = |at: usize| match best {
        _ if estimates[at].is_none() => Place::Unknown,
        _ if schemes[at].partial => Place::Partial,
        Some(best) if at == best => Place::Best,
        Some(best) if schemes[at].each.len() == schemes[best].each.len() => {
            let pairs = schemes[at].each.iter().zip(&schemes[best].each);
            let apart: Vec<f64> = pairs.map(|(own, of_best)| own - of_best).collect();
            match Estimate::of(&apart) {
                Some(of) if of.mean.abs() <= of.half_width.unwrap_or(0.0) => Place::Tie,
                _ => Place::Worse,
            }
        }
        _ => Place::Worse,
    };
    let rows = schemes.iter().zip(&estimates).enumerate();
    rows.map(|(at, (of, value))| Row { scheme: of.name.to_owned(), value: *value, place: place(at) }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(each: &[(&[f64], bool)], better: Better) -> Vec<Place> {
        let scheme = |&(each, partial): &(&[f64], bool)| Scheme { name: "any", each: each.to_vec(), partial };
        let rows = ranked(&each.iter().map(scheme).collect::<Vec<_>>(), better);
        rows.iter().map(|row| row.place).collect()
    }

    #[test]
    fn who_cannot_be_told_from_the_best_ties_with_it() {
        let each: [(&[f64], bool); 4] =
            [(&[10.0, 12.0, 11.0], false), (&[10.5, 11.5, 11.2], false), (&[20.0, 22.0, 21.0], false), (&[], false)];
        assert_eq!(places(&each, Better::Lower), [Place::Best, Place::Tie, Place::Worse, Place::Unknown]);
        assert_eq!(places(&each, Better::Higher), [Place::Worse, Place::Worse, Place::Best, Place::Unknown]);
    }

    #[test]
    fn one_seed_ties_with_the_best_only_if_it_is_the_same() {
        let each: [(&[f64], bool); 3] = [(&[1.0], false), (&[1.0], false), (&[1.1], false)];
        assert_eq!(places(&each, Better::Lower), [Place::Best, Place::Tie, Place::Worse]);
    }

    #[test]
    fn a_mean_without_the_flows_that_have_not_ended_is_not_the_best() {
        let each: [(&[f64], bool); 2] = [(&[1.0], true), (&[2.0], false)];
        assert_eq!(places(&each, Better::Lower), [Place::Partial, Place::Best]);
    }
}
