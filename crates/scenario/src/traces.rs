//! Chakra execution traces in files: one for each rank, or all in one text.

use super::files::Files;
use super::library;
use std::path::{Path, PathBuf};
use xoff_jobs::chakra::{Deps, Matching, Resources, Strictness, Trace, read};

/// The largest file of one rank, as it is on disk.
pub const LARGEST_FILE: u64 = 256_000_000;
/// The largest text that holds all ranks.
pub const LARGEST_BUNDLE: u64 = 1_000_000_000;
/// All ranks together: they are in memory at once.
const MOST_NODES: usize = 20_000_000;

/// What stands between the rank and the end of a name.
const ENDINGS: [&str; 4] = ["et", "et.gz", "json", "json.gz"];

/// `deps` of a scenario.
pub const DEPS: &[(&str, Deps)] = &[("both", Deps::Both), ("data", Deps::Data)];
/// `resources` of a scenario.
pub const RESOURCES: &[(&str, Resources)] = &[("astra", Resources::Astra), ("stream", Resources::Stream)];
/// `matching` of a scenario.
pub const MATCHING: &[(&str, Matching)] = &[("attributes", Matching::Attributes), ("order", Matching::Order)];
/// `doubts` of a scenario.
pub const DOUBTS: &[(&str, Strictness)] = &[("refuse", Strictness::Refuse), ("note", Strictness::Note)];

/// Why there are no traces.
#[derive(Clone, Debug)]
pub struct Problem {
    /// In one line.
    pub what: String,
    /// How to go on, or where it was looked for.
    pub help: String,
}

/// The files `PREFIX.RANK.et` (or `.json`; packed or not), in ascending order of ranks.
pub fn read_all(files: &Files, prefix: &str) -> Result<Vec<Trace>, Problem> {
    let path = files.base().join(prefix);
    let shown = format!("{}.0.et", path.display());
    let found = ranked(&path).map_err(|why| Problem { what: why, help: format!("looked for {shown}") })?;
    if found.is_empty() {
        let what = format!("there is no trace of any rank: no file is called {prefix}.RANK.et");
        return Err(Problem { what, help: format!("looked for {shown}") });
    }
    let mut nodes = 0;
    let mut traces = Vec::with_capacity(found.len());
    for (rank, path) in found {
        let refused = |what: String| Problem { what, help: format!("in {}", path.display()) };
        let bytes = library::bytes(&path, LARGEST_FILE).map_err(|why| refused(format!("rank {rank}: {why}")))?;
        let trace = read(rank, &bytes).map_err(|defect| refused(defect.to_string()))?;
        nodes += trace.nodes.len();
        if nodes > MOST_NODES {
            return Err(refused(format!("the traces have more than {MOST_NODES} nodes")));
        }
        traces.push(trace);
    }
    Ok(traces)
}

/// Ranks and their files.
fn ranked(prefix: &Path) -> Result<Vec<(u32, PathBuf)>, String> {
    let stem = prefix.file_name().and_then(|name| name.to_str()).ok_or("a prefix ends in a part of a file's name")?;
    let folder = prefix.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let rank = |path: &Path| -> Option<u32> {
        let rest = path.file_name()?.to_str()?.strip_prefix(stem)?.strip_prefix('.')?;
        let (rank, ending) = rest.split_once('.')?;
        let plain = rank.bytes().all(|byte| byte.is_ascii_digit()) && (rank == "0" || !rank.starts_with('0'));
        (plain && ENDINGS.contains(&ending)).then(|| rank.parse().ok())?
    };
    let entries = library::entries(folder).map_err(|why| format!("no traces in {}: {why}", folder.display()))?;
    let mut found: Vec<(u32, PathBuf)> =
        entries.into_iter().filter_map(|entry| Some((rank(&entry.path)?, entry.path))).collect();
    found.sort();
    Ok(found)
}

/// What a scenario's copy of traces is called.
pub fn bundle_name(prefix: &str) -> String {
    let stem = Path::new(prefix).file_name().map_or_else(|| "traces".into(), |name| name.to_string_lossy());
    format!("{stem}.traces.json")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn files_are_found_by_their_ranks() {
        let folder = std::env::temp_dir().join(format!("xoff-traces-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let empty = [3, 10, 1, b'v'];
        for name in ["a.0.et", "a.2.et", "a.10.et", "a.01.et", "a.x.et", "a.1.txt", "ab.1.et", "a.1.et.bak"] {
            fs::write(folder.join(name), empty).unwrap();
        }
        fs::write(folder.join("a.3.json"), "{\"workload_graph\": []}").unwrap();
        let files = Files::in_folder(&folder);
        let ranks: Vec<u32> = read_all(&files, "a").unwrap().iter().map(|trace| trace.rank).collect();
        assert_eq!(ranks, [0, 2, 3, 10]);
        let missing = read_all(&files, "b").unwrap_err();
        assert!(missing.what.contains("no file is called b.RANK.et") && missing.help.contains("b.0.et"), "{missing:?}");
        assert!(read_all(&files, "nowhere/b").unwrap_err().what.contains("no traces in"));
        fs::write(folder.join("c.0.et"), [9]).unwrap();
        let broken = read_all(&files, "c").unwrap_err();
        assert!(broken.what.starts_with("rank 0: byte 0: ") && broken.help.ends_with("c.0.et"), "{broken:?}");
        fs::remove_dir_all(&folder).unwrap();
        assert_eq!(bundle_name("x/y/all_reduce"), "all_reduce.traces.json");
    }
}
