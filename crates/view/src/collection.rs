//! What is shown: one run, or the runs of a comparison.

use serde::Deserialize;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use xoff_results::comparison::folder_of;
use xoff_results::contract;
use xoff_results::replay::{Replay, Resource};
use xoff_scenario::Diagnostic;

/// Folders of a comparison are at most so deep: scheme, seed.
const DEPTH: usize = 2;
/// Runs that a page shows side by side.
const SHOWN: usize = 3;

/// Runs that can be replayed, each read when it is first asked for.
pub struct Collection {
    title: String,
    kind: CollectionKind,
    runs: Vec<Member>,
}

struct Member {
    name: String,
    head: Head,
    path: PathBuf,
    replay: OnceLock<Result<Replay, Vec<Diagnostic>>>,
}

/// What of `run.json` tells runs apart.
#[derive(Deserialize)]
struct Head {
    name: String,
    scheme: String,
    seed: u64,
}

contract! {
    /// What a directory holds.
    enum CollectionKind { Run = "run", Comparison = "comparison" }
}

contract! {
    /// The runs of a directory.
    struct Index<'a> as Index {
        title: &'a str,
        version: &'static str,
        kind: CollectionKind,
        runs: Vec<IndexRow<'a>>,
    }
}

contract! {
    struct IndexRow<'a> as IndexRow {
        name: &'a str,
        scheme: &'a str,
        seed: u64,
    }
}

/// All that a page reads, in TypeScript: `web/src/replay/data/contract.ts`.
pub fn typescript() -> String {
    let head = "// What the server, or the exported file, holds, written from the types of the program by\n\
                // `XOFF_UPDATE=1 cargo test -p xoff --test house pages`. Times are in microseconds since the start of the run.\n\
                // Ports 2i and 2i+1 are the two ends of link i; a port is the transmitter of its node towards its peer.\n";
    let none = "\n/** No stop, no cause. */\nexport const NONE = 0xffffffff;\n".to_owned();
    [head.to_owned(), Index::interface(), IndexRow::interface(), xoff_results::replay::typescript(), none].concat()
}

impl Collection {
    /// The run or the runs in a directory; the first one is read, so that what is wrong with it is known.
    pub fn open(path: &Path) -> Result<Collection, Vec<Diagnostic>> {
        let is_comparison = ["comparison.json", "seeds.json"].iter().any(|marker| path.join(marker).is_file());
        let mut folders = Vec::new();
        if is_comparison {
            find_runs(path, DEPTH, &mut folders);
        }
        if folders.is_empty() {
            // Its refusal says what is wrong with the directory.
            let replay = Replay::open(path)?;
            let (name, scheme, seed) = replay.identity();
            let head = Head { name: name.to_owned(), scheme: scheme.to_owned(), seed };
            let name = head.scheme.clone();
            let title = head.name.clone();
            let run = Member { name, head, path: path.to_owned(), replay: OnceLock::from(Ok(replay)) };
            return Ok(Collection { title, kind: CollectionKind::Run, runs: vec![run] });
        }
        let mut runs: Vec<Member> = folders.into_iter().filter_map(|folder| Member::of(path, folder)).collect();
        let order = order_of(path);
        let place = |run: &Member| order.iter().position(|listed| *listed == (run.head.scheme.clone(), run.head.seed));
        runs.sort_by_key(|run| (place(run).unwrap_or(usize::MAX), run.name.clone()));
        let collection = Collection {
            title: runs.first().map(|run| run.head.name.clone()).unwrap_or_default(),
            kind: CollectionKind::Comparison,
            runs,
        };
        collection.replay(0).map_or(Ok(()), |first| first.map(|_| ()))?;
        Ok(collection)
    }

    #[cfg(test)]
    pub(crate) fn empty() -> Collection {
        Collection { title: String::new(), kind: CollectionKind::Run, runs: Vec::new() }
    }

    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.runs.iter().map(|run| run.name.as_str())
    }

    /// Only those of these names, in this order; the name that there is not.
    pub fn only(mut self, names: &[String]) -> Result<Collection, String> {
        let mut chosen = Vec::with_capacity(names.len());
        for name in names {
            let Some(place) = self.runs.iter().position(|run| run.name == *name) else { return Err(name.clone()) };
            chosen.push(self.runs.remove(place));
        }
        Ok(Collection { runs: chosen, ..self })
    }

    /// One of the runs; `None` beyond the last.
    pub fn replay(&self, run: usize) -> Option<Result<&Replay, Vec<Diagnostic>>> {
        let run = self.runs.get(run)?;
        Some(run.replay.get_or_init(|| Replay::open(&run.path)).as_ref().map_err(Clone::clone))
    }

    /// What a path below `data/` leads to; `None` if there is nothing.
    pub fn resource(&self, path: &str) -> Result<Option<Resource>, Vec<Diagnostic>> {
        if path == "index.json" {
            return Ok(Some(Resource::Json(self.index())));
        }
        let Some((run, rest)) = path.split_once('/') else { return Ok(None) };
        let Some(run) = run.bytes().all(|byte| byte.is_ascii_digit()).then(|| run.parse().ok()).flatten() else {
            return Ok(None);
        };
        match self.replay(run) {
            Some(replay) => replay?.resource(rest).map_err(|error| vec![error]),
            None => Ok(None),
        }
    }

    /// Reads what the first picture of the runs that are shown first needs, before a browser asks for it.
    pub fn prepare(&self) {
        for run in 0..self.runs.len().min(SHOWN) {
            // Errors are reported to the request.
            let _ = self.resource(&format!("{run}/run.json"));
        }
    }

    /// Paths of all that a file to send holds, but the courses of flows.
    pub fn paths(&self) -> Result<Vec<String>, Vec<Diagnostic>> {
        let mut paths = vec!["index.json".to_owned()];
        for run in 0..self.runs.len() {
            let Some(replay) = self.replay(run) else { continue };
            paths.extend(replay?.paths().into_iter().map(|path| format!("{run}/{path}")));
        }
        Ok(paths)
    }

    /// Paths of the flows of each run, the most relevant first.
    pub fn flow_paths(&self) -> Result<Vec<Vec<String>>, Vec<Diagnostic>> {
        let of_run = |run: usize| {
            let Some(replay) = self.replay(run) else { return Ok(Vec::new()) };
            let paths = replay?.flow_paths().map_err(|error| vec![error])?;
            Ok(paths.into_iter().map(|path| format!("{run}/{path}")).collect())
        };
        (0..self.runs.len()).map(of_run).collect()
    }

    fn index(&self) -> String {
        let runs =
            self.runs.iter().map(|run| IndexRow { name: &run.name, scheme: &run.head.scheme, seed: run.head.seed });
        let index =
            Index { title: &self.title, version: env!("CARGO_PKG_VERSION"), kind: self.kind, runs: runs.collect() };
        serde_json::json!(index).to_string()
    }
}

impl Member {
    /// `None` if its run.json cannot be read: it is not a finished run.
    fn of(root: &Path, path: PathBuf) -> Option<Member> {
        let head: Head = serde_json::from_str(&fs::read_to_string(path.join("run.json")).ok()?).ok()?;
        // The folders of a comparison are named by what was compared.
        let below = path.strip_prefix(root).ok()?;
        let names: Vec<String> = below.iter().map(|part| part.to_string_lossy().into_owned()).collect();
        let name = names.join(", ").replace("seed-", "seed ");
        let scheme = names.into_iter().next().filter(|name| !name.starts_with("seed-")).unwrap_or(head.scheme);
        let head = Head { scheme, ..head };
        Some(Member { name, head, path, replay: OnceLock::new() })
    }
}

/// Folders that hold a finished run, by name.
fn find_runs(folder: &Path, depth: usize, found: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    let mut folders: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).filter(|path| path.is_dir()).collect();
    folders.sort();
    for folder in folders {
        if folder.join("run.json").is_file() {
            found.push(folder);
        } else if depth > 1 {
            find_runs(&folder, depth - 1, found);
        }
    }
}

/// Folder and seed of the runs as the comparison lists them.
fn order_of(path: &Path) -> Vec<(String, u64)> {
    #[derive(Deserialize)]
    struct Listed {
        runs: Vec<Head>,
    }
    let read = |marker: &str| fs::read_to_string(path.join(marker)).ok();
    let text = read("comparison.json").or_else(|| read("seeds.json")).unwrap_or_default();
    let listed: Option<Listed> = serde_json::from_str(&text).ok();
    let name = |run: Head| (folder_of(&run.scheme), run.seed);
    listed.map(|listed| listed.runs.into_iter().map(name).collect()).unwrap_or_default()
}
