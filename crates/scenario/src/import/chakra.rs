//! Chakra execution traces, as a scenario with one job.
//!
//! The network is not in the files: it comes from a scenario, whose traffic is replaced, or is one switch. The traces
//! of all ranks become one text beside the scenario.

use super::htsim::{network, without_traffic};
use super::{Fact, Imported, plain_name};
use crate::diagnostic::PROBLEMS_TOLD;
use crate::files::Files;
use crate::traces::{DEPS, DOUBTS, MATCHING, RESOURCES, read_all};
use crate::{Attachment, Diagnostic, Scenario, Source};
use serde_json::{Value, json};
use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;
use xoff_engine::Span;
use xoff_jobs::chakra::{
    self, Deps, Matching, NodeKind, Resources, Strictness, Trace, TraceError, TraceSummary, bundle, groups, summarise,
};
use xoff_jobs::collective::{self, Servers};

/// The largest file of groups.
pub const LARGEST_GROUPS: u64 = 16_000_000;

/// What a scenario says of the traces besides their names, if it is given.
#[derive(Clone, Debug, Default)]
pub struct Given {
    /// A file of groups.
    pub groups: Option<Arc<Source>>,
    /// `deps`.
    pub deps: Option<Deps>,
    /// `resources`.
    pub resources: Option<Resources>,
    /// `matching`.
    pub matching: Option<Matching>,
    /// `doubts`.
    pub strictness: Option<Strictness>,
}

impl Given {
    /// Keys and values, as a scenario spells them.
    fn keys(&self) -> [(&'static str, Option<&'static str>); 4] {
        fn word<T: PartialEq>(words: &[(&'static str, T)], given: Option<&T>) -> Option<&'static str> {
            given.and_then(|given| words.iter().find(|(_, value)| value == given)).map(|(word, _)| *word)
        }
        [
            ("deps", word(DEPS, self.deps.as_ref())),
            ("resources", word(RESOURCES, self.resources.as_ref())),
            ("matching", word(MATCHING, self.matching.as_ref())),
            ("doubts", word(DOUBTS, self.strictness.as_ref())),
        ]
    }

    /// All defects of traces, and not the first alone as when a scenario is loaded.
    fn check(&self, traces: &[Trace]) -> Result<(), Vec<Diagnostic>> {
        let groups = self.groups.as_ref().map(|source| groups(&source.text));
        let groups = groups.transpose().map_err(|why| vec![Diagnostic::new(format!("the file of groups: {why}"))])?;
        let options = chakra::Options {
            deps: self.deps.unwrap_or_default(),
            resources: self.resources.unwrap_or_default(),
            matching: self.matching.unwrap_or_default(),
            strictness: self.strictness.unwrap_or_default(),
            groups,
            roofline: None,
            endpoint_delay: Span::ZERO,
            servers: Servers { gpus: 1, nics: 1 },
            collectives: collective::Options::default(),
            other_collectives: Vec::new(),
        };
        chakra::check(traces, &options).map_err(|defects| told(&defects))
    }
}

/// A scenario that does what the traces `PREFIX.RANK.et` tell, on the network of `topology` or on one switch.
pub fn import(
    prefix: &str,
    given: &Given,
    topology: Option<&Scenario>,
    stem: Option<&str>,
) -> Result<Imported, Vec<Diagnostic>> {
    let traces = read_all(&Files::in_folder(Path::new(".")), prefix)
        .map_err(|problem| vec![Diagnostic::new(problem.what).help(problem.help)])?;
    given.check(&traces)?;
    let stem_of = |path: &Path| path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let name = plain_name(&stem_of(Path::new(prefix)), "chakra");
    let file = |what: &str| format!("{}.{what}.json", stem.unwrap_or(&name));
    let mut text = match topology {
        Some(topology) => without_traffic(topology.source(), &name).map_err(|problem| vec![problem])?,
        None => one_switch(&name, traces.len()),
    };
    let _ = write!(
        text,
        "\n# Made by `xoff import chakra` from {} traces.\n[[traffic]]\nkind = \"chakra\"\n",
        traces.len()
    );
    let _ = writeln!(text, "name = \"{name}\"\nfile = \"{}\"", file("traces"));
    let mut files = vec![attached(file("traces"), bundle(&traces))];
    if let Some(groups) = &given.groups {
        let _ = writeln!(text, "groups = \"{}\"", file("groups"));
        files.push(attached(file("groups"), groups.text.clone()));
    }
    for (key, word) in given.keys() {
        if let Some(word) = word {
            let _ = writeln!(text, "{key} = \"{word}\"");
        }
    }
    if let Some(topology) = topology {
        text.push_str(&ranks(topology, traces.len())?);
    }
    Ok(Imported { name, text, files, warnings: Vec::new(), facts: facts(&traces), origin: None })
}

fn attached(name: String, text: String) -> Attachment {
    Attachment { source: Source::new(name.as_str(), text), name }
}

/// A non-blocking network of hosts with one GPU each.
fn one_switch(name: &str, hosts: usize) -> String {
    // One port besides cannot be: a star has two hosts at least.
    let hosts = hosts.max(2);
    format!(
        "name = \"{name}\"\n\n[topology]\nkind = \"star\"\nhosts = {hosts}\nrate = \"400Gbps\"\ndelay = \"500ns\"\n\n\
         [host]\nmtu = \"4096B\"\nack_every = 16\n\n[scheme]\nname = \"none\"\n"
    )
}

/// Which ranks of the network do it, if there are more than traces.
fn ranks(topology: &Scenario, traces: usize) -> Result<String, Vec<Diagnostic>> {
    let loaded = network(topology)?;
    let has = loaded.servers.ranks() as usize;
    if has < traces {
        let message = format!("there are traces of {traces} ranks, and `{}` has {has}", topology.source().name);
        return Err(vec![Diagnostic::new(message).help("it may have more GPUs or hosts, not fewer")]);
    }
    if has == traces {
        return Ok(String::new());
    }
    let name = |rank: u32| format!("\"{}\"", loaded.servers.rank_name(rank, &loaded.plan.nodes));
    let names: Vec<String> = (0..traces as u32).map(name).collect();
    Ok(format!("ranks = [{}]\n", names.join(", ")))
}

/// What was found, for people and programs.
fn facts(traces: &[Trace]) -> Vec<Fact> {
    let TraceSummary { ranks, version, nodes, by_kind, collectives, groups } = summarise(traces);
    let of = |kinds: &[NodeKind]| kinds.iter().filter_map(|kind| by_kind.get(kind)).sum::<u64>();
    let mut facts = vec![Fact::new("ranks", ranks), Fact::new("nodes", nodes)];
    for (name, kinds) in [
        ("computing_nodes", &[NodeKind::Compute][..]),
        ("parts_in_collectives", &[NodeKind::Collective]),
        ("sends", &[NodeKind::Send]),
        ("receives", &[NodeKind::Receive]),
        ("memory_nodes", &[NodeKind::Load, NodeKind::Store]),
        ("metadata_nodes", &[NodeKind::Metadata]),
    ] {
        if of(kinds) > 0 {
            facts.push(Fact::new(name, of(kinds)));
        }
    }
    let each = |(name, (parts, bytes)): (String, (u64, u64))| (name, json!({"parts": parts, "comm_size": bytes}));
    facts.push(Fact::new("collectives", Value::Object(collectives.into_iter().map(each).collect())));
    facts.push(Fact::new("groups", groups));
    facts.push(Fact::new("version", version));
    facts
}

/// Defects as diagnostics.
fn told(defects: &[TraceError]) -> Vec<Diagnostic> {
    let one = |defect: &TraceError| {
        Diagnostic::new(TraceError { help: String::new(), ..defect.clone() }.to_string()).help(defect.help.clone())
    };
    let mut told: Vec<Diagnostic> = defects.iter().take(PROBLEMS_TOLD).map(one).collect();
    if defects.len() > PROBLEMS_TOLD {
        told.push(Diagnostic::new(format!("and {} more", defects.len() - PROBLEMS_TOLD)));
    }
    told
}
