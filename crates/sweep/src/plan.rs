//! What a sweep varies, and the runs that follow from it.

use crate::axis::{self, Axis};
use crate::sample::{SOBOL_AXES, Sampler};
use crate::value::{Value, value_text};
use std::path::Path;
use xoff_scenario::diagnostic::{Diagnostic, Source};
use xoff_scenario::reader::{Table, list};
use xoff_scenario::resolved::Recorder;
use xoff_scenario::{Looks, Options, Scenario, import, library, spelled, tree};

/// A scenario, and what is varied of it.
#[derive(Clone, Debug)]
pub struct Sweep {
    pub scenario: Scenario,
    /// Assignments for every run, as `--set` takes them.
    pub sets: Vec<String>,
    /// Schemes as [`spelled`] has them, each once; none means the scenario's own.
    pub schemes: Vec<String>,
    /// In the order of the columns.
    pub axes: Vec<Axis>,
    /// Seeds of every point, at least one.
    pub seeds: u64,
    /// The scenario's own without one.
    pub first_seed: Option<u64>,
    /// Points drawn from the axes in place of every combination.
    pub sample: Option<u64>,
    pub sampler: Sampler,
    /// Numbers that the report is about; none means that it chooses.
    pub measures: Vec<String>,
}

#[derive(Clone, Debug)]
pub struct Point {
    /// Scheme as requested; `None` for the scenario's own.
    pub scheme: Option<String>,
    /// Values by axis; `None` where the axis is not about this scheme.
    pub values: Vec<Option<Vec<Value>>>,
    pub seed: u64,
    /// What makes it of the scenario.
    pub options: Options,
}

/// Columns that every table of a sweep has.
const TAKEN: [&str; 6] = ["scheme", "seed", "status", "failure", "scenario_hash", "version"];

/// More runs than this are a mistake.
pub(crate) const MOST_RUNS: u64 = 1_000_000;

impl Sweep {
    /// Sweep of a scenario, with nothing varied yet.
    pub fn of(scenario: Scenario) -> Sweep {
        Sweep {
            scenario,
            sets: Vec::new(),
            schemes: Vec::new(),
            axes: Vec::new(),
            seeds: 1,
            first_seed: None,
            sample: None,
            sampler: Sampler::default(),
            measures: Vec::new(),
        }
    }

    /// Reads the file at `path`: a sweep, which names its scenario, or a scenario of which nothing is varied yet.
    pub fn open(path: &Path) -> Result<Sweep, Vec<Diagnostic>> {
        let found = library::scenario(path);
        let scenario = import::open(path)?;
        let source = scenario.source().clone();
        let is_sweep = tree::parse(&source).is_ok_and(|entries| entries.iter().any(|entry| entry.key == "scenario"));
        match is_sweep {
            true => Sweep::read(&source, axis::folder(&found)).map_err(|problem| vec![problem]),
            false => Ok(Sweep::of(scenario)),
        }
    }

    /// The sweep in a text; the scenario that it names is looked up from `folder`.
    pub fn read(source: &std::sync::Arc<Source>, folder: &Path) -> Result<Sweep, Diagnostic> {
        let mut root = Table::root(source, tree::parse(source)?, folder, Recorder::default());
        let file = root.text("scenario")?;
        let beside = folder.join(&file.value);
        let scenario = Scenario::open(if beside.is_file() { &beside } else { Path::new(&file.value) });
        let scenario = scenario
            .map_err(|error| file.error(format!("cannot read the scenario `{}`", file.value)).label(error.label))?;
        let mut sweep = Sweep::of(scenario);
        let texts = |root: &mut Table, key: &str| {
            let found = root.take_texts(key)?.unwrap_or_default();
            Ok::<Vec<String>, Diagnostic>(found.into_iter().map(|text| text.value).collect())
        };
        sweep.name_schemes(&texts(&mut root, "schemes")?)?;
        sweep.measures = texts(&mut root, "measures")?;
        sweep.seeds = root.count_or("seeds", 1..=100_000, 1)?;
        sweep.first_seed = root.take_count("first_seed", 0..=i64::MAX as u64 / 2)?;
        sweep.sample = root.take_count("sample", 1..=MOST_RUNS)?;
        sweep.sampler =
            root.choice_or("sampler", &[("sobol", Sampler::Sobol), ("random", Sampler::Random)], "sobol")?;
        let sets = root.table("set")?.into_items();
        sweep.sets =
            sets.iter().map(|(key, item)| format!("{}={}", key.value, Value::of_item(&item.value).text)).collect();
        axis::read_all(&mut root)?.into_iter().for_each(|axis| sweep.add(axis));
        root.finish()?;
        Ok(sweep)
    }

    /// How figures call and draw schemes, as the scenario of a point says.
    pub fn looks(&self, point: &Point) -> Looks {
        let text = &self.scenario.source().text;
        // A network may be large: it is not built for nothing.
        let mentioned = ["labels", "colours"].iter().any(|key| {
            text.contains(key) || point.options.sets.iter().any(|set| set.contains(&format!("output.{key}")))
        });
        let loaded = mentioned.then(|| self.scenario.load(&point.options).ok()).flatten();
        loaded.map_or_else(Looks::default, |loaded| loaded.output.looks)
    }

    /// `load 0.5, kmin 5KB`: what the axes are set to, but for those at `except`.
    pub fn setting(&self, values: &[Option<Vec<Value>>], except: &[usize]) -> String {
        let all = self.axes.iter().zip(values).enumerate().filter(|(at, _)| !except.contains(at));
        let set = all.filter_map(|(_, (axis, value))| Some(format!("{} {}", axis.name, value.as_ref()?[0].name)));
        set.collect::<Vec<_>>().join(", ")
    }

    /// Runs it under these schemes, each a word or several with commas between them.
    pub fn name_schemes(&mut self, lists: &[String]) -> Result<(), Diagnostic> {
        self.schemes = lists.iter().flat_map(|list| spelled::parts(list, ',')).map(spelled::label).collect();
        match (1..self.schemes.len()).find(|&at| self.schemes[..at].contains(&self.schemes[at])) {
            Some(twice) => {
                let error = Diagnostic::new(format!("`{}` is among the schemes twice", self.schemes[twice]));
                Err(error.help(spelled::TWICE))
            }
            None => Ok(()),
        }
    }

    /// Adds an axis, in place of one of the same keys. It is called by the last part of its key, or by the whole of it
    /// where that is taken.
    pub fn add(&mut self, mut axis: Axis) {
        self.axes.retain(|known| known.keys != axis.keys);
        let taken = |name: &str| TAKEN.contains(&name) || self.axes.iter().any(|known| known.name == name);
        if taken(&axis.name) {
            axis.name.clone_from(&axis.keys[0]);
        }
        self.axes.push(axis);
    }

    /// The sweep as a file beside its scenario, with every value spelled out; it has the same runs.
    pub fn text(&self, scenario: &str) -> String {
        let quoted = |text: &str| toml_edit::Value::from(text).to_string();
        let list =
            |texts: &[String]| format!("[{}]", texts.iter().map(|text| quoted(text)).collect::<Vec<_>>().join(", "));
        let mut text = format!("scenario = {}\nseeds = {}\n", quoted(scenario), self.seeds);
        text.extend(self.first_seed.map(|seed| format!("first_seed = {seed}\n")));
        if !self.schemes.is_empty() {
            text.push_str(&format!("schemes = {}\n", list(&self.schemes)));
        }
        if !self.measures.is_empty() {
            text.push_str(&format!("measures = {}\n", list(&self.measures)));
        }
        if let Some(count) = self.sample {
            let sampler = if self.sampler == Sampler::Sobol { "sobol" } else { "random" };
            text.push_str(&format!("sample = {count}\nsampler = \"{sampler}\"\n"));
        }
        if !self.sets.is_empty() {
            text.push_str("\n[set]\n");
            for set in &self.sets {
                let (key, value) = set.split_once('=').unwrap_or((set, "\"\""));
                text.push_str(&format!("{} = {}\n", quoted(key.trim()), value_text(value)));
            }
        }
        self.axes.iter().for_each(|axis| text.push_str(&axis.file_text(self.sample.is_some())));
        text
    }

    /// Every run, in the order of the table: by scheme, then by axis, the last one fastest, then by seed.
    pub fn points(&self) -> Result<Vec<Point>, Vec<Diagnostic>> {
        self.check().map_err(|problem| vec![problem])?;
        let first_seed = match self.first_seed {
            Some(seed) => seed,
            None => self.scenario.load(&self.options(None, &[]))?.plan.seed,
        };
        let schemes: Vec<Option<&str>> = match self.schemes.as_slice() {
            [] => vec![None],
            names => names.iter().map(|name| Some(name.as_str())).collect(),
        };
        let drawn = self.sample.map(|count| self.sampler.points(count, self.axes.len(), first_seed));
        let mut points = Vec::new();
        for scheme in schemes {
            let mut rows = match &drawn {
                Some(drawn) => self.drawn(scheme, drawn),
                None => self.grid(scheme),
            };
            // A scheme that an axis is not about meets the same point again.
            let mut seen: Vec<Vec<Option<Vec<Value>>>> = Vec::new();
            if drawn.is_some() {
                rows.retain(|row| {
                    !seen.contains(row) && {
                        seen.push(row.clone());
                        true
                    }
                });
            }
            for values in rows {
                for seed in first_seed..first_seed + self.seeds {
                    let options = Options { seed: Some(seed), ..self.options(scheme, &values) };
                    points.push(Point { scheme: scheme.map(str::to_owned), values: values.clone(), seed, options });
                }
            }
        }
        Ok(points)
    }

    fn options(&self, scheme: Option<&str>, values: &[Option<Vec<Value>>]) -> Options {
        let mut varied = Vec::new();
        for (axis, value) in self.axes.iter().zip(values) {
            for (key, value) in axis.keys.iter().zip(value.iter().flatten()) {
                varied.push(Source::new(axis.option(), format!("{key}={}", value.text)));
            }
        }
        // Takes the place of the whole [scheme]; what is set beside it applies to the new one.
        varied.extend(scheme.map(|scheme| Source::new("--schemes", format!("scheme.name=\"{scheme}\""))));
        Options { sets: self.sets.clone(), varied, seed: self.first_seed, scheme: None }
    }

    /// Every combination of what is varied under a scheme.
    fn grid(&self, scheme: Option<&str>) -> Vec<Vec<Option<Vec<Value>>>> {
        combinations(self.axes.iter().map(|axis| match concerns(axis, scheme) {
            true => axis.values.iter().cloned().map(Some).collect(),
            false => vec![None],
        }))
    }

    fn drawn(&self, scheme: Option<&str>, drawn: &[Vec<f64>]) -> Vec<Vec<Option<Vec<Value>>>> {
        let value = |(axis, part): (&Axis, &f64)| concerns(axis, scheme).then(|| axis.sample(*part));
        drawn.iter().map(|point| self.axes.iter().zip(point).map(value).collect()).collect()
    }

    /// What no single run would find.
    fn check(&self) -> Result<(), Diagnostic> {
        // Two names of one table are one key.
        let tree = tree::parse(self.scenario.source()).unwrap_or_default();
        let numbered = |key: &String| tree::numbered(&tree, key);
        for (index, axis) in self.axes.iter().enumerate() {
            let before = self.axes[..index].iter().flat_map(|other| &other.keys);
            let before: Vec<String> = before.map(numbered).collect();
            if let Some(key) = axis.keys.iter().find(|key| before.contains(&numbered(key))) {
                return Err(axis::error(axis, format!("two axes vary `{key}`")));
            }
            if axis.is_open() && self.sample.is_none() {
                let error =
                    axis::error(axis, format!("the range of `{}` does not say how many values it has", axis.name));
                return Err(error.help("end it with `:lin5` or `:log8`, or draw samples of it with --sample N"));
            }
            self.check_schemes(axis)?;
            let varied = self.schemes.iter().filter(|scheme| concerns(axis, Some(scheme)));
            varied.into_iter().try_for_each(|scheme| check_braces(axis, scheme))?;
        }
        if self.sample.is_some() && self.axes.is_empty() {
            return Err(Diagnostic::new("--sample draws points of axes, and there is none"));
        }
        if self.sample.is_some() && self.sampler == Sampler::Sobol && self.axes.len() > SOBOL_AXES {
            return Err(Diagnostic::new(format!("Sobol's points are known here for {SOBOL_AXES} axes at most"))
                .help("take --sampler random"));
        }
        let values = self.axes.iter().map(|axis| axis.values.len().max(1) as u64);
        let each = self.sample.unwrap_or_else(|| values.fold(1, u64::saturating_mul));
        let all = each.saturating_mul(self.seeds).saturating_mul(self.schemes.len().max(1) as u64);
        if all > MOST_RUNS {
            return Err(Diagnostic::new(format!("this sweep would have {all} runs"))
                .help("a million at most; draw samples of it with --sample N"));
        }
        Ok(())
    }

    /// An axis must be about some scheme.
    fn check_schemes(&self, axis: &Axis) -> Result<(), Diagnostic> {
        if let Some(only) = &axis.only {
            let known = |name: &&String| !self.schemes.iter().any(|scheme| names_of(scheme).0 == name.as_str());
            if let Some(unknown) = only.iter().find(known) {
                let error = axis::error(axis, format!("`where` names `{unknown}`, which is not among the schemes"));
                return Err(error.label(list(self.schemes.iter().map(String::as_str))));
            }
        }
        let concerned = self.schemes.is_empty() || self.schemes.iter().any(|scheme| concerns(axis, Some(scheme)));
        if concerned {
            return Ok(());
        }
        let error = axis::error(axis, format!("no scheme of this sweep has `{}`", axis.keys[0]));
        let keys = self.schemes.iter().filter_map(|scheme| xoff_catalogue::find(names_of(scheme).0));
        let keys: Vec<String> =
            keys.flat_map(|spec| spec.params).map(|param| format!("scheme.{}", param.name)).collect();
        Err(error.nearest(&axis.keys[0], keys.iter().map(String::as_str)))
    }
}

/// Every combination of one item of each list, the last list fastest.
pub fn combinations<T: Clone>(lists: impl Iterator<Item = Vec<T>>) -> Vec<Vec<T>> {
    lists.fold(vec![Vec::new()], |rows, list| {
        let longer = |row: Vec<T>| list.iter().map(move |item| [&row[..], std::slice::from_ref(item)].concat());
        rows.into_iter().flat_map(longer).collect()
    })
}

/// `dcqcn:nic+pcn` is `dcqcn` over `pcn`.
fn names_of(scheme: &str) -> (&str, Option<&str>) {
    let (own, base) = spelled::own_and_base(scheme);
    (spelled::plain_name(own), base.map(spelled::plain_name))
}

/// A parameter in the braces of a scheme is not varied too.
fn check_braces(axis: &Axis, scheme: &str) -> Result<(), Diagnostic> {
    let (own, base) = spelled::own_and_base(scheme);
    let of = |key: &str, prefix: &str, scheme: &str| {
        key.strip_prefix(prefix).is_some_and(|param| spelled::keys(scheme).contains(&param))
    };
    let twice = |key: &&String| of(key, "scheme.", own) || base.is_some_and(|base| of(key, "scheme.base.", base));
    match axis.keys.iter().find(twice) {
        Some(key) => {
            let error = axis::error(axis, format!("`{scheme}` sets `{key}` itself, which this axis varies"));
            Err(error
                .help("take it out of the braces, or leave the scheme out of the axis by its key `where` in a file"))
        }
        None => Ok(()),
    }
}

/// Whether an axis varies something under a scheme: parameters that only some schemes have are varied for those.
fn concerns(axis: &Axis, scheme: Option<&str>) -> bool {
    let Some(scheme) = scheme else { return true };
    let (own, base) = names_of(scheme);
    if let Some(only) = &axis.only {
        return only.iter().any(|name| name == own);
    }
    let has = |name: &str, param: &str| {
        param == "preset" || xoff_catalogue::find(name).is_none_or(|spec| spec.param(param).is_some())
    };
    axis.keys.iter().all(|key| match (key.strip_prefix("scheme.base."), key.strip_prefix("scheme.")) {
        (Some(param), _) => base.is_some_and(|base| has(base, param)),
        (None, Some(param)) => has(own, param),
        (None, None) => true,
    })
}
