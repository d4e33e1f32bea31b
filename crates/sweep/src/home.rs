//! Where a sweep goes if it is not said: no table takes the place of another sweep's without a word.
//!
//! A sweep that has all the runs of the one before continues in its folder: nothing is lost. Any other gets a folder of
//! its own, `NAME-sweep-2` and so on, and finds the runs of those before it.

use crate::plan::{Point, Sweep};
use crate::value::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use xoff_scenario::diagnostic::Source;
use xoff_scenario::read;

/// Folders that are looked at.
const MOST: usize = 1000;
const LARGEST_BYTES: u64 = 16_000_000;

/// A folder, and those of other sweeps that were passed over on the way to it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Home {
    pub folder: PathBuf,
    /// Folders of other sweeps of a scenario of that name.
    pub others: Vec<PathBuf>,
}

impl Home {
    /// The first folder of this name that holds no other sweep.
    pub fn find(within: &Path, name: &str, sweep: &Sweep, points: &[Point]) -> Home {
        let mut others = Vec::new();
        for number in 1..=MOST {
            let end = if number == 1 { String::new() } else { format!("-{number}") };
            let folder = within.join(format!("{name}-sweep{end}"));
            if !holds_another(&folder, sweep, points) {
                return Home { folder, others };
            }
            others.push(folder);
        }
        Home { folder: within.join(format!("{name}-sweep")), others: Vec::new() }
    }
}

/// Whether a folder has the tables of a sweep with runs that this one does not have.
pub fn holds_another(folder: &Path, sweep: &Sweep, points: &[Point]) -> bool {
    let path = folder.join("sweep.toml");
    if !path.is_file() {
        return false;
    }
    let known = || {
        let text = read::text(&path, LARGEST_BYTES).ok()?;
        let old = Sweep::read(&Source::new(path.display().to_string(), text), folder).ok()?;
        let old_points = old.points().ok()?;
        // A row also has the number of its axes.
        let names = |sweep: &Sweep| sweep.axes.iter().map(|axis| axis.name.clone()).collect::<Vec<_>>();
        (names(&old) == names(sweep)).then(|| runs_of(&old_points))
    };
    !known().is_some_and(|known| known.is_subset(&runs_of(points)))
}

/// What is set for a run, in one spelling, and its seed.
type Run = (BTreeMap<String, String>, u64);

fn runs_of(points: &[Point]) -> BTreeSet<Run> {
    let set = |text: &str| {
        let (key, value) = text.split_once('=').unwrap_or((text, ""));
        (key.trim().to_owned(), plain(value))
    };
    points.iter().map(|point| (point.options.assignments().map(set).collect(), point.seed)).collect()
}

/// A value without regard to how it is spelled.
fn plain(text: &str) -> String {
    let value = Value::typed(text);
    match value.quantity {
        Some(quantity) => format!("{} {}", quantity.number(), quantity.unit.name()),
        None => value.name.split_whitespace().collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::axis::Axis;
    use xoff_scenario::Scenario;

    #[test]
    fn another_sweep_gets_a_folder_of_its_own() {
        xoff_schemes::install_all();
        let within = std::env::temp_dir().join(format!("xoff-home-{}", std::process::id()));
        let of = |axes: &[&str], seeds| {
            let mut sweep = Sweep::of(Scenario::from_text("s.toml", "", Path::new(".")));
            (sweep.first_seed, sweep.seeds, sweep.schemes) = (Some(1), seeds, vec!["dcqcn".to_owned()]);
            axes.iter().for_each(|axis| sweep.add(Axis::typed(axis).unwrap()));
            sweep
        };
        let home = |sweep: &Sweep| {
            let home = Home::find(&within, "s", sweep, &sweep.points().unwrap());
            (home.folder.file_name().unwrap().to_str().unwrap().to_owned(), home.others.len())
        };
        let write = |sweep: &Sweep, name: &str| {
            let folder = within.join(name);
            std::fs::create_dir_all(&folder).unwrap();
            std::fs::write(folder.join("scenario.toml"), "").unwrap();
            std::fs::write(folder.join("sweep.toml"), sweep.text("scenario.toml")).unwrap();
        };
        let first = of(&["run.stop=1ms,2ms", "scheme.kmin=5KB"], 2);
        assert_eq!(home(&first), ("s-sweep".to_owned(), 0));
        write(&first, "s-sweep");
        assert_eq!(home(&first).0, "s-sweep");
        let more = of(&["run.stop=1000us,2ms,3ms", "scheme.kmin=5000B,6KB"], 3);
        assert_eq!(home(&more).0, "s-sweep", "all runs of the first are among these");
        let others = [
            of(&["run.stop=1ms,3ms", "scheme.kmin=5KB"], 2),
            of(&["run.stop=1ms,2ms", "scheme.kmin=5KB"], 1),
            of(&["run.stop=1ms,2ms"], 2),
        ];
        for other in &others {
            assert_eq!(home(other), ("s-sweep-2".to_owned(), 1));
        }
        write(&others[0], "s-sweep-2");
        assert_eq!(home(&others[0]).0, "s-sweep-2");
        assert_eq!(home(&others[2]), ("s-sweep-3".to_owned(), 2));
        std::fs::write(within.join("s-sweep/sweep.toml"), "nonsense").unwrap();
        assert_eq!(home(&first).0, "s-sweep-3");
        std::fs::remove_dir_all(&within).unwrap();
    }
}
