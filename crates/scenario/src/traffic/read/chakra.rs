//! `kind = "chakra"`: a job that does what execution traces tell.

use super::settings::Settings;
use super::{ReadGenerator, Scope, job, placement};
use crate::dictionary::words::ALGORITHM;
use crate::reader::Result;
use crate::traces::{DEPS, DOUBTS, LARGEST_BUNDLE, MATCHING, RESOURCES, bundle_name, read_all};
use crate::{Diagnostic, Place, Table};
use xoff_jobs::chakra::{Options, Roofline, Trace, TraceError, bundle, groups, to_dag, unbundle};
use xoff_jobs::collective::{self, Algorithm, Servers};
use xoff_jobs::{Collective, Graph};

const LARGEST_GROUPS: u64 = 16_000_000;

/// Collectives that may be done in several ways.
const SUMS: [(&str, Collective); 3] = [
    ("all-reduce", Collective::AllReduce),
    ("reduce-scatter", Collective::ReduceScatter),
    ("all-gather", Collective::AllGather),
];

pub fn chakra(table: &mut Table, scope: &Scope<'_>, settings: &Settings) -> Result<ReadGenerator> {
    let (placement, servers) = placement::read(table, scope)?;
    let (traces, place) = traces(table)?;
    let options = options(table, scope, servers)?;
    let (has, ranks) = (traces.last().map_or(0, |trace| trace.rank + 1), placement.ranks.len());
    if has as usize != ranks {
        let error = place.error(format!("there are traces of {has} ranks, and the job has {ranks}"));
        return Err(error.help("`ranks` chooses the GPUs or hosts of a job: as many as there are traces"));
    }
    let (dag, notes) = to_dag(&traces, &options).map_err(|defects| refused(&place, &defects))?;
    for note in notes {
        table.warn(place.error(note.text));
    }
    let graph = Graph::ready(dag).map_err(|why| place.error(why))?;
    job::finish(table, settings, scope, placement, graph)
}

/// From the files of `prefix`, of which the results keep one text, or from such a text.
fn traces(table: &mut Table) -> Result<(Vec<Trace>, Place)> {
    match (table.take_spelling("prefix")?, table.take_text("file")?) {
        (Some(prefix), None) => {
            let refuse = |problem: crate::traces::Problem| prefix.error(problem.what).help(problem.help);
            let traces = read_all(table.files(), &prefix.value).map_err(refuse)?;
            table.keep("file", &bundle_name(&prefix.value), bundle(&traces));
            Ok((traces, prefix.place))
        }
        (None, Some(name)) => {
            let source = table.file("file", &name, LARGEST_BUNDLE)?;
            Ok((unbundle(&source.text).map_err(|defect| refused(&name.place, &[defect]))?, name.place))
        }
        (Some(_), Some(_)) => {
            Err(table.key_error("file", "`prefix` and `file` both name the traces").label("give one of them"))
        }
        (None, None) => Err(table.place().error("this job has no traces").label("give their `prefix`")),
    }
}

/// The first defect, and how many there are.
fn refused(place: &Place, defects: &[TraceError]) -> Diagnostic {
    let Some((first, others)) = defects.split_first() else { return place.error("these traces are defective") };
    let error = place.error(TraceError { help: String::new(), ..first.clone() }.to_string());
    let error = match others {
        [] => error,
        [other] => error.label(format!("and {other}")),
        _ => error.label(format!("and {} more, such as {}", others.len(), others[0])),
    };
    error.help(first.help.clone())
}

fn options(table: &mut Table, scope: &Scope<'_>, servers: Servers) -> Result<Options> {
    let groups_of = match table.take_text("groups")? {
        Some(name) => {
            let source = table.file("groups", &name, LARGEST_GROUPS)?;
            Some(groups(&source.text).map_err(|why| name.error(why))?)
        }
        None => None,
    };
    let algorithms = algorithms(table)?;
    // All keys but that of the algorithm, which not all collectives have.
    let collectives = job::options(table, scope, Collective::AllToAll)?;
    let with = |(what, algorithm)| (what, collective::Options { algorithm, ..collectives.clone() });
    Ok(Options {
        deps: table.choice("deps", DEPS)?,
        resources: table.choice("resources", RESOURCES)?,
        matching: table.choice("matching", MATCHING)?,
        strictness: table.choice("doubts", DOUBTS)?,
        groups: groups_of,
        roofline: roofline(table)?,
        endpoint_delay: table.span("endpoint_delay")?,
        servers,
        other_collectives: algorithms.into_iter().map(with).collect(),
        collectives,
    })
}

/// What a GPU can do, if computing is not to take what the traces say.
fn roofline(table: &mut Table) -> Result<Option<Roofline>> {
    let peak = table.take_number("peak_tflops", 1e-6..=1e9)?;
    match (peak, table.take_number("memory_bandwidth", 1e-6..=1e9)?) {
        (None, None) => Ok(None),
        (Some(tera), Some(giga)) => {
            Ok(Some(Roofline { operations_per_second: tera * 1e12, bytes_per_second: giga * 1e9 }))
        }
        (Some(_), None) => Err(table.error("peak_tflops", "`memory_bandwidth` is missing").label("both or none")),
        (None, Some(_)) => Err(table.error("memory_bandwidth", "`peak_tflops` is missing").label("both or none")),
    }
}

/// `algorithm = "ring"` for all, or `algorithm = { all-reduce = "tree" }` for each.
fn algorithms(table: &mut Table) -> Result<Vec<(Collective, Algorithm)>> {
    if !table.is_table("algorithm") {
        let algorithm = table.choice("algorithm", ALGORITHM)?;
        job::tell_of_phases(table, algorithm);
        return Ok(SUMS.iter().map(|(_, what)| (*what, algorithm)).collect());
    }
    let mut each = table.table("algorithm")?;
    let one = |(name, what): &(&str, Collective)| Ok((*what, each.choice(name, ALGORITHM)?));
    let found = SUMS.iter().map(one).collect::<Result<Vec<_>>>()?;
    each.finish()?;
    found.iter().for_each(|(_, algorithm)| job::tell_of_phases(table, *algorithm));
    Ok(found)
}

#[cfg(test)]
mod tests {
    use crate::{Attachment, Diagnostic, Loaded, Options, Scenario, Source};
    use std::fmt::Write;
    use std::path::Path;

    /// Two ranks of a trace, whose nodes are entries of the JSON form.
    fn bundle(ranks: &[&str]) -> String {
        let mut text = String::from("{\"chakra\": [");
        for (rank, nodes) in ranks.iter().enumerate() {
            let comma = if rank > 0 { ", " } else { "" };
            let _ = write!(text, "{comma}{{\"rank\": {rank}, \"workload_graph\": [{nodes}]}}");
        }
        text + "]}"
    }

    /// A computation that only a control dependency holds back, a sum, a gathering, and something called after them.
    const NODES: &str = r#"
        {"Id": 1, "Name": "gemm", "NodeType": 4, "is_cpu_op": false, "runtime": 10, "stream": 7, "num_ops": 9,
         "tensor_size": 9},
        {"Id": 2, "Name": "relu", "NodeType": 4, "is_cpu_op": false, "runtime": 20, "ctrl_deps": [1], "stream": 8},
        {"Id": 3, "Name": "sum", "NodeType": 7, "is_cpu_op": false, "comm_type": 0, "comm_size": 4096, 
         "data_deps": [1]},
        {"Id": 4, "Name": "gather", "NodeType": 7, "is_cpu_op": false, "comm_type": 2, "comm_size": 4096,
         "stream": 9}"#;

    fn scenario(traffic: &str, ranks: &[&str], groups: &str) -> Scenario {
        let text = format!(
            "[topology]\nkind = \"star\"\nhosts = {}\nrate = \"100Gbps\"\n[[traffic]]\nkind = \"chakra\"\n{traffic}\n",
            ranks.len().max(2)
        );
        let file = |name: &str, text: &str| Attachment { name: name.to_owned(), source: Source::new(name, text) };
        let files = vec![file("t.json", &bundle(ranks)), file("g.json", groups)];
        Scenario::from_text("t.toml", text, Path::new(".")).with(files, Vec::new())
    }

    fn load(traffic: &str, ranks: &[&str]) -> Result<Loaded, Vec<Diagnostic>> {
        scenario(traffic, ranks, "{\"0\": []}").load(&Options::default())
    }

    fn shown(loaded: &Loaded) -> String {
        format!("{:?}", loaded.traffic[0].job().expect("a job"))
    }

    fn refused(traffic: &str, ranks: &[&str]) -> String {
        load(traffic, ranks).map(|loaded| shown(&loaded)).unwrap_err()[0].to_string()
    }

    #[test]
    fn every_key_has_an_effect() {
        let base = shown(&load("file = \"t.json\"", &[NODES; 4]).unwrap());
        for key in [
            "deps = \"data\"",
            "resources = \"stream\"",
            "endpoint_delay = \"1us\"",
            "algorithm = \"halving-doubling\"",
            "algorithm = { all-reduce = \"halving-doubling\" }",
            "algorithm = { all-gather = \"halving-doubling\" }",
            "channels = 1",
            "peak_tflops = 100\nmemory_bandwidth = 2000",
            "iterations = 2",
            "straggler = [{ rank = 1, late = \"1us\" }]",
        ] {
            let other = load(&format!("file = \"t.json\"\n{key}"), &[NODES; 4]);
            assert_ne!(shown(&other.unwrap_or_else(|errors| panic!("{key}: {}", errors[0]))), base, "{key}");
        }
    }

    #[test]
    fn groups_doubts_and_matching_decide_what_is_refused() {
        let of_group = NODES.replace("\"Id\": 4,", "\"Id\": 4, \"pg_name\": \"5\",");
        let ranks = [of_group.as_str(), &of_group];
        assert!(refused("file = \"t.json\"", &ranks).contains("group `5` is unknown"));
        let given =
            |groups: &str| scenario("file = \"t.json\"\ngroups = \"g.json\"", &ranks, groups).load(&Options::default());
        given("{\"5\": [0, 1]}").unwrap();
        assert!(given("[]").unwrap_err()[0].to_string().contains("groups are written as"));
        let lost = r#"{"Id": 1, "Name": "ncclDevKernel_x", "NodeType": 4, "is_cpu_op": false}"#;
        assert!(refused("file = \"t.json\"", &[lost; 2]).contains("`doubts = \"note\"` takes it as it is"));
        let noted = load("file = \"t.json\"\ndoubts = \"note\"", &[lost; 2]).unwrap();
        assert!(noted.warnings[0].message.starts_with("2 nodes taken as they are"), "{:?}", noted.warnings);
        let end = |kind: u32| {
            format!(r#"{{"Id": 1, "Name": "p2p", "NodeType": {kind}, "is_cpu_op": false, "comm_size": 64}}"#)
        };
        let (send, receive) = (end(5), end(6));
        assert!(refused("file = \"t.json\"", &[&send, &receive]).contains("`matching = \"order\"` pairs"));
        load("file = \"t.json\"\nmatching = \"order\"", &[&send, &receive]).unwrap();
    }

    #[test]
    fn files_are_kept_as_one_text_that_gives_the_same_job() {
        let folder = std::env::temp_dir().join(format!("xoff-kept-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        for rank in 0..2 {
            std::fs::write(folder.join(format!("x.{rank}.json")), format!("{{\"workload_graph\": [{NODES}]}}"))
                .unwrap();
        }
        let text = "[topology]\nkind = \"star\"\nhosts = 2\nrate = \"100Gbps\"\n[[traffic]]\nkind = \
                    \"chakra\"\nprefix = \"x\"\n";
        let loaded = Scenario::from_text("t.toml", text, &folder).load(&Options::default()).unwrap();
        std::fs::remove_dir_all(&folder).unwrap();
        assert!(loaded.warnings[0].message.starts_with("2 parts in all-gathers"), "{:?}", loaded.warnings);
        assert!(loaded.resolved.contains("file = \"input-x.traces.json\""), "{}", loaded.resolved);
        assert!(!loaded.resolved.contains("prefix"), "{}", loaded.resolved);
        let again = Scenario::from_text("t.toml", loaded.resolved.as_str(), Path::new("."));
        let again = again.with(loaded.attachments.clone(), Vec::new()).load(&Options::default()).unwrap();
        assert_eq!(shown(&again), shown(&loaded));
        assert_eq!((&again.resolved, again.attachments[0].name.as_str()), (&loaded.resolved, "input-x.traces.json"));
    }

    #[test]
    fn what_is_wrong_with_the_table_is_told_where_it_is() {
        assert!(refused("", &[NODES; 2]).contains("this job has no traces"));
        assert!(refused("file = \"t.json\"\nprefix = \"x\"", &[NODES; 2]).contains("both name the traces"));
        assert!(refused("prefix = \"no-such-folder/x\"", &[NODES; 2]).contains("no traces in"));
        let text = refused("file = \"t.json\"\nranks = [\"h0\", \"h1\"]", &[NODES; 3]);
        assert!(text.contains("there are traces of 3 ranks, and the job has 2"), "{text}");
        assert!(refused("file = \"t.json\"\npeak_tflops = 1", &[NODES; 2]).contains("`memory_bandwidth` is missing"));
        let text = refused("file = \"t.json\"\nalgorithm = { all-to-all = \"ring\" }", &[NODES; 2]);
        assert!(text.contains("unknown key `all-to-all`"), "{text}");
        // The first of several defects, and another.
        let empty = NODES.replace("4096", "0");
        let text = refused("file = \"t.json\"", &[empty.as_str(); 2]);
        assert!(text.contains("rank 0, node 3 `sum`: communication of no bytes"), "{text}");
        assert!(text.contains("and 3 more, such as rank 0, node 4 `gather`"), "{text}");
    }
}
