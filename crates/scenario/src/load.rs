//! From a file and `--set` to everything a run needs.

use super::budget;
use super::captures;
use super::context::TrafficContext;
use super::diagnostic::{Diagnostic, PROBLEMS_TOLD, Place, Source};
use super::dialect;
use super::dictionary::{self, words::Mode};
use super::events::{self, Output};
use super::fidelity;
use super::files::Files;
use super::library;
use super::names::{Names, valid_name, visible};
use super::origin;
use super::reader::{Result, Table};
use super::recovery;
use super::resolution;
use super::resolved::{Attachment, Recorder};
use super::routing::{self, Routing};
use super::schemes::{self, NamedScheme};
use super::settings::{self, NamedClasses, SwitchContext};
use super::spelled;
use super::stacks;
use super::topology;
use super::tree::{self, Entry, Item, Value};
use crate::catalogue;
use crate::measure::scope::Scope;
use crate::measure::{self, Measures};
use crate::traffic::{self, TrafficPlan};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use xoff_catalogue::param::ParamValues;
use xoff_engine::Time;
use xoff_engine::event::LARGEST_INDEX;
use xoff_fabric::pfc::largest_wire_bytes;
use xoff_fabric::pieces::pieces;
use xoff_fabric::plan::{
    AckPath, Classes, Dialect, FaultKind, Fidelity, HostSettings, Model, NodeKind, PfcResponse, Plan, Random, Recovery,
    Ties,
};
use xoff_fabric::scheme::Format;
use xoff_fabric::servers::Servers;
use xoff_fabric::topology::Graph;
use xoff_fabric::window;

/// A scenario of more than this is not one.
const SCENARIO_LARGEST_BYTES: u64 = 16_000_000;

/// What the command line adds to a scenario.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// `--set KEY=VALUE`, in order.
    pub sets: Vec<String>,
    /// Further assignments, after those: of axes, with what they are to be called in messages.
    pub varied: Vec<Arc<Source>>,
    /// In place of the scenario's.
    pub seed: Option<u64>,
    /// In place of `[scheme]`, as [`spelled`] has it. The parameters of `[scheme]` apply only to a scheme of the same
    /// name.
    pub scheme: Option<String>,
}

impl Options {
    /// All that is set, in the order in which it is.
    pub fn assignments(&self) -> impl Iterator<Item = &str> {
        self.sets.iter().map(String::as_str).chain(self.varied.iter().map(|source| source.text.as_str()))
    }
}

/// A text and the folder from which its files are looked up: read once, loaded under any options.
#[derive(Clone, Debug)]
pub struct Scenario {
    source: Arc<Source>,
    files: Files,
    /// What whoever made the text has to say of it.
    notes: Vec<Diagnostic>,
    /// The file of another simulator that the text was made from.
    origin: Option<Arc<Source>>,
}

/// A scenario, checked and complete.
#[derive(Debug)]
pub struct Loaded {
    /// The key `name`; `scenario` without it.
    pub name: String,
    /// The key `description`; empty without it.
    pub description: String,
    /// What a world is built from; shared, because every run of a comparison has the same.
    pub plan: Arc<Plan>,
    /// Which of its hosts make up which server.
    pub servers: Servers,
    /// Wire bytes of the largest packet that any host sends under any of the schemes.
    pub frame_bytes: u32,
    /// Mode of `[routing]`.
    pub(crate) routing: Mode,
    /// From names to nodes, ports and groups, as selectors use them.
    pub names: Names,
    /// Names of the classes, by index.
    pub classes: Vec<String>,
    /// By slot; the first controls all traffic that names none.
    pub schemes: Vec<NamedScheme>,
    /// One per `[[traffic]]`, in order.
    pub traffic: Vec<TrafficPlan>,
    /// What a run of it writes besides its tables.
    pub output: Output,
    /// Whose frames are kept.
    pub captures: Vec<captures::Request>,
    /// What the scenario measures itself.
    pub measures: Measures,
    /// The scenario with everything spelled out; it loads to the same plan.
    pub resolved: String,
    /// Files that `resolved` names, to be kept beside it.
    pub attachments: Vec<Attachment>,
    /// Things that are allowed and probably not meant.
    pub warnings: Vec<Diagnostic>,
}

impl Loaded {
    /// Why the default scheme has nothing of its own to show here, if so.
    pub fn out_of_place(&self) -> Option<String> {
        out_of_place(&self.plan, &self.schemes)
    }

    /// Returns why its network cannot be partitioned, as a clause after "because". `captured`: its captures are kept.
    pub fn indivisible(&self, captured: bool) -> Option<&'static str> {
        // What a receiver that keeps packets completes cannot be foreseen from what is on its way.
        let keeps = self.plan.hosts.iter().any(|host| host.recovery != Recovery::GoBackN);
        if keeps && self.traffic.iter().any(|traffic| traffic.job().is_some()) {
            return Some("a training job waits for messages that selective recovery completes");
        }
        let settle = |traffic: &TrafficPlan| traffic.job().is_some_and(|job| job.settle.is_some());
        if self.traffic.iter().filter(|traffic| settle(traffic)).count() > 1 {
            return Some("jobs that settle stop together");
        }
        let controlled = self.schemes.iter().any(|scheme| catalogue::controls_switches(&scheme.values));
        window::indivisible(&self.plan, controlled, captured && !self.captures.is_empty())
    }

    /// Whether flows have fair rates, in place of packets.
    pub fn is_at_flow_level(&self) -> bool {
        self.plan.run.fidelity == Fidelity::Flow
    }

    /// The word for how packets find their paths: `ecmp` and so on.
    pub fn routing(&self) -> &'static str {
        dictionary::words::ROUTING.iter().find(|(_, mode)| *mode == self.routing).map_or("", |(word, _)| *word)
    }

    /// What measures of it may speak of.
    pub fn scope(&self) -> Scope<'_> {
        Scope::new(&self.plan, &self.names, &self.traffic)
    }
}

/// What some settings ask of others.
fn check_rules(
    root: &Table,
    plan: &Plan,
    schemes: &[NamedScheme],
    (formats, frame_bytes): (&[[Format; 2]], u32),
    warnings: &mut Vec<Diagnostic>,
) -> Result<()> {
    if let Random::Shared { .. } = plan.model.random {
        check_shared_random(root, plan, schemes, warnings)?;
    }
    check_one_sequence(root, plan, schemes)?;
    resolution::check(plan, formats, &root.place_within("model", "time_resolution"), warnings)?;
    budget::check(plan, frame_bytes, &root.place_within("switch", "buffer"), warnings)?;
    budget::check_pauses(plan, frame_bytes, &root.place_within("switch", "pfc.pause_time"))?;
    if let Some(why) = out_of_place(plan, schemes) {
        warnings.push(root.place_within("scheme", "name").error(why));
    }
    Ok(())
}

fn out_of_place(plan: &Plan, schemes: &[NamedScheme]) -> Option<String> {
    let spec = schemes.first()?.values.spec();
    let one_domain = plan.nodes.iter().all(|node| node.domain == plan.nodes[0].domain);
    (spec.across_domains && one_domain)
        .then(|| format!("`{}` is about flows between data centres, and this network has one", spec.name))
}

impl Scenario {
    /// Reads the file at `path`, or standard input for `-`. A mere name is that of a scenario
    /// ([`library::scenario`]).
    pub fn open(path: &Path) -> Result<Scenario> {
        let path = &*library::scenario(path);
        let refuse = |why: String| {
            let error = Diagnostic::new(format!("cannot read the scenario `{}`", path.display())).label(why);
            let known = library::scenarios();
            error.nearest(&path.to_string_lossy(), known.iter().map(String::as_str))
        };
        let text = if path == Path::new("-") {
            use std::io::Read;
            let mut bytes = Vec::new();
            let limited = &mut std::io::stdin().lock().take(SCENARIO_LARGEST_BYTES + 1);
            limited.read_to_end(&mut bytes).map_err(|error| refuse(error.to_string()))?;
            if bytes.len() as u64 > SCENARIO_LARGEST_BYTES {
                return Err(refuse("it has more than 16MB".to_owned()));
            }
            String::from_utf8(bytes).map_err(|_| refuse("it is not UTF-8 text".to_owned()))?
        } else {
            library::text(path, SCENARIO_LARGEST_BYTES).map_err(refuse)?
        };
        let base = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        Ok(Scenario::from_text(path.display().to_string(), text, base))
    }

    /// A scenario that is not in a file; `name` stands for one in messages.
    pub fn from_text(name: impl Into<String>, text: impl Into<String>, base: &Path) -> Scenario {
        Scenario { source: Source::new(name, text), files: Files::in_folder(base), notes: Vec::new(), origin: None }
    }

    /// With files that are not on disk, and warnings to be told with its own.
    pub fn with(self, made: Vec<Attachment>, notes: Vec<Diagnostic>) -> Scenario {
        Scenario { files: self.files.with(made), notes, ..self }
    }

    /// The same scenario; the files that it reads from now on are kept for [`Files::taken`].
    pub fn keeping(&self) -> Scenario {
        Scenario { files: self.files.keeping(), ..self.clone() }
    }

    /// Made from the configuration of another simulator, by whose lines its own are explained.
    pub(crate) fn made_from(self, origin: Option<Arc<Source>>) -> Scenario {
        Scenario { origin, ..self }
    }

    /// The text as it was read.
    pub fn source(&self) -> &Arc<Source> {
        &self.source
    }

    /// Where the files it names are.
    pub fn files(&self) -> &Files {
        &self.files
    }

    /// Everything a run needs, or what is wrong with the scenario.
    pub fn load(&self, options: &Options) -> std::result::Result<Loaded, Vec<Diagnostic>> {
        let loaded = self.load_as_written(options);
        let Some(origin) = &self.origin else { return loaded };
        let blame = |found: Vec<Diagnostic>| {
            found.into_iter().map(|problem| origin::blame(problem, &self.source, origin)).collect()
        };
        match loaded {
            Ok(loaded) => Ok(Loaded { warnings: blame(loaded.warnings), ..loaded }),
            Err(problems) => Err(blame(problems)),
        }
    }

    fn load_as_written(&self, options: &Options) -> std::result::Result<Loaded, Vec<Diagnostic>> {
        let mut entries = tree::parse(&self.source).map_err(|error| vec![error])?;
        // Another scheme takes the place of the whole [scheme], as in a comparison: parameters of
        // one mean nothing to another. What is set beside it then applies to the new one.
        let sets = options.sets.iter().map(|set| Source::new("--set", set.as_str()));
        let (schemes, sets): (Vec<_>, Vec<_>) =
            sets.chain(options.varied.iter().cloned()).partition(|set| scheme_name_in(&set.text).is_some());
        for set in &schemes {
            let span = scheme_name_in(&set.text).unwrap_or_default();
            self.replace_scheme(&mut entries, set, span).map_err(|error| vec![error])?;
        }
        let failed: Vec<Diagnostic> = sets.iter().filter_map(|set| tree::set(&mut entries, set).err()).collect();
        if !failed.is_empty() {
            return Err(failed);
        }
        if let Some(seed) = options.seed {
            let set = Source::new("--seed", format!("seed={seed}"));
            tree::set(&mut entries, &set).map_err(|error| vec![error])?;
        }
        if let Some(scheme) = &options.scheme {
            let source = Source::new("--schemes", scheme.as_str());
            self.replace_scheme(&mut entries, &source, 0..scheme.len()).map_err(|error| vec![error])?;
        }
        stacks::apply(&mut entries).map_err(|error| vec![error])?;
        let recorder = Recorder::default();
        let mut root = Table::root_with(&self.source, entries, self.files.clone(), recorder.clone());
        let mut problems = root.unknown();
        let loaded = self.read(&mut root, &mut problems);
        match loaded {
            Some(mut loaded) if problems.is_empty() => {
                let order: Vec<&str> = dictionary::keys("").map(|key| key.name).collect();
                recorder.order(&order);
                loaded.resolved = recorder.render();
                loaded.attachments = recorder.attachments();
                loaded.warnings.extend(recorder.warnings());
                Ok(loaded)
            }
            _ => Err(shortened(problems)),
        }
    }

    /// Puts another scheme, spelled at `span` of `source`, in place of `[scheme]`, once that has been found in order.
    fn replace_scheme(&self, entries: &mut Vec<Entry>, source: &Arc<Source>, span: Range<usize>) -> Result<()> {
        let own = entries.iter().find(|entry| entry.key == "scheme").cloned();
        let mut scratch =
            Table::root_with(&self.source, own.clone().into_iter().collect(), self.files.clone(), Recorder::default());
        let own_name = schemes::read(&mut scratch, catalogue::all())?[0].values.spec().name;
        let wanted = &source.text[span.clone()];
        let (scheme, base) = spelled::own_and_base(wanted);
        let new = spelled::entries(source, span.start..span.start + scheme.len())?;
        let mut kept = match own.map(|entry| entry.item.value) {
            Some(Value::Table(inner)) if spelled::plain_name(scheme) == own_name => inner,
            _ => Vec::new(),
        };
        kept.retain(|entry| new.iter().all(|new| new.key != entry.key) && (entry.key != "base" || base.is_none()));
        kept.extend(new);
        if base.is_some() {
            let place = Place { source: source.clone(), span: span.start + scheme.len() + 1..span.end };
            let item =
                Item { value: Value::Table(spelled::entries(source, place.span.clone())?), place: place.clone() };
            kept.push(Entry { key: "base".to_owned(), key_place: place, item });
        }
        entries.retain(|entry| entry.key != "scheme");
        let place = Place { source: source.clone(), span };
        let item = Item { value: Value::Table(kept), place: place.clone() };
        entries.push(Entry { key: "scheme".to_owned(), key_place: place, item });
        Ok(())
    }

    /// Reads every section. Sections that do not build on each other are all read, so that
    /// their mistakes are told together.
    fn read(&self, root: &mut Table, problems: &mut Vec<Diagnostic>) -> Option<Loaded> {
        let head = keep(problems, read_head(root));
        let output = keep(problems, section(root, "output", events::read_output));
        let kept = output.clone().unwrap_or_default();
        let run = keep(problems, section(root, "run", |table| events::read_run(table, &kept)));
        let graph = keep(problems, section(root, "topology", topology::read));
        let host = keep(problems, section(root, "host", read_host));
        let model = keep(problems, section(root, "model", settings::read_model));
        let routing = keep(problems, section(root, "routing", routing::read));
        let largest_frame = host.as_ref().map_or(1062, |(host, _)| host.mtu_bytes + host.sizes.data_header_bytes);
        let classes = keep(problems, settings::read_classes(root, largest_frame));
        let schemes = keep(problems, schemes::read(root, catalogue::all()));
        let (head, output, run, model, routing) = (head?, output?, run?, model?, routing?);
        let ((graph, servers), host, classes, schemes) = (graph?, host?, classes?, schemes?);
        let read =
            self.read_rest(root, Parts { head, output, run, graph, servers, model, routing, host, classes, schemes });
        keep(problems, read)
    }

    fn read_rest(&self, root: &mut Table, parts: Parts) -> Result<Loaded> {
        let Parts { head, output, run: (run, stop, settle), mut graph, servers, .. } = parts;
        let Parts { model, routing, host: (host, ack_path), classes, mut schemes, .. } = parts;
        let mut names = Names::new(&graph.nodes, &graph.links);
        let context = switch_context(&classes.classes, &host, &graph, &servers, model.dialect);
        let nodes = &mut graph.nodes;
        let switches = settings::read_switches(root, &context, &names, |node, profile| {
            nodes[node as usize].profile = profile;
        })?;
        let hosts = settings::read_host_profiles(root, host, &names, |node, profile| {
            nodes[node as usize].profile = profile;
        })?;
        check_responses(root, context.any_lossless, &hosts)?;
        read_groups(root, &mut names)?;
        let rows = root.tables("traffic")?;
        for row in &rows {
            for name in row.peek_texts("scheme") {
                schemes::add_named(root, &mut schemes, catalogue::all(), &name)?;
            }
        }
        let unused = schemes::drop_unused(root, &mut schemes, &rows);
        let mut plan = Plan {
            seed: head.seed,
            nodes: graph.nodes,
            links: graph.links,
            classes: classes.classes,
            switches,
            hosts,
            model: Model {
                forwarding: routing::in_dialect(routing.forwarding, model.dialect),
                hash: routing.hash,
                ..model
            },
            ack_path,
            faults: Vec::new(),
            probes: Vec::new(),
            run,
        };
        check_size(root, &plan, schemes.len())?;
        settings::set_queue_times(&mut plan, &classes.queue_bdps);
        let formats: Vec<[Format; 2]> = schemes.iter().map(|scheme| catalogue::formats(&scheme.values)).collect();
        let frame_bytes = largest_wire_bytes(&plan, &formats);
        let labels: Vec<String> = schemes.iter().map(|scheme| scheme.label.clone()).collect();
        let pieces = pieces(&plan.nodes, &plan.links);
        let mut context = TrafficContext {
            plan: &plan,
            servers: &servers,
            pieces: &pieces,
            names: &names,
            classes: &classes.names,
            schemes: &labels,
            formats: &formats,
            default_class: classes.default,
            settle,
            links_fail: false,
            index: 0,
        };
        let faults = events::read_faults(root, &context)?;
        context.links_fail =
            faults.iter().any(|fault| matches!(fault.what, FaultKind::LinkDown { .. } | FaultKind::LinkDead { .. }));
        let probes = events::read_probes(root, &context, stop)?;
        let captures = captures::read(root, &context)?;
        let traffic = read_traffic(rows, &mut context)?;
        (plan.faults, plan.probes) = (faults, probes);
        plan.model.connections = dialect::connections(&plan, &traffic);
        dialect::check(root, &plan)?;
        self.check_stop(root, stop, &traffic)?;
        let mut warnings: Vec<Diagnostic> = self.notes.iter().cloned().chain(head.warnings).chain(unused).collect();
        controlled_switches(root, &plan, &schemes)?;
        recovery::check(root, &plan, &formats, &schemes)?;
        routing::check(root, &plan, (routing.mode, routing.spreading), &schemes, &formats, &mut warnings)?;
        fidelity::check(root, &plan, &schemes, (routing.mode, &captures, &traffic), &mut warnings)?;
        check_rules(root, &plan, &schemes, (&formats, frame_bytes), &mut warnings)?;
        let measures = root.tables("measure")?;
        root.check_finished()?;
        let loaded = Loaded {
            name: head.name,
            description: head.description,
            plan: Arc::new(plan),
            servers,
            frame_bytes,
            routing: routing.mode,
            names,
            classes: classes.names,
            schemes,
            traffic,
            output,
            captures,
            measures: Measures::default(),
            resolved: String::new(),
            attachments: Vec::new(),
            warnings,
        };
        Ok(Loaded { measures: measure::read(measures, &loaded.scope())?, ..loaded })
    }

    fn check_stop(&self, root: &Table, stop: Option<Time>, traffic: &[TrafficPlan]) -> Result<()> {
        if traffic.is_empty() {
            let error = root.place().error("this scenario has no traffic");
            return Err(error.label("add at least one [[traffic]]"));
        }
        if stop.is_none() && traffic.iter().any(|plan| !plan.expected.finite) {
            let error = root.place_of("run").error("this run would never end").label("`run` lacks `stop`");
            return Err(error.help("some traffic is endless; give the run a `stop` such as \"50ms\""));
        }
        Ok(())
    }
}

/// What settings of switches depend on.
fn switch_context(
    classes: &Classes,
    host: &HostSettings,
    graph: &Graph,
    servers: &Servers,
    dialect: Dialect,
) -> SwitchContext {
    SwitchContext {
        any_lossless: classes.list.iter().any(|class| class.lossless),
        may_trim: recovery::may_trim(classes, host),
        lossy_alpha: classes.list.iter().any(|class| !class.lossless && class.alpha.is_some()),
        nic_rate: topology::slowest_host_rate(graph),
        scale_up: servers.has_scale_up(),
        foreign: dialect == Dialect::ConWeave,
    }
}

/// All of `[[traffic]]`.
fn read_traffic(rows: Vec<Table>, context: &mut TrafficContext<'_>) -> Result<Vec<TrafficPlan>> {
    let mut traffic: Vec<TrafficPlan> = Vec::with_capacity(rows.len());
    for (index, mut row) in rows.into_iter().enumerate() {
        context.index = index;
        let mut plan = traffic::read(&mut row, context)?;
        plan.namesake = traffic.iter().filter(|other| other.name == plan.name).count() as u64;
        traffic.push(plan);
        row.finish()?;
    }
    Ok(traffic)
}

/// What an event is about has so much room: a queue per scheme at most.
fn check_size(root: &Table, plan: &Plan, schemes: usize) -> Result<()> {
    let queues = plan.ports() * plan.classes.list.len() * schemes;
    if queues <= LARGEST_INDEX as usize {
        return Ok(());
    }
    let most = format!("ports x classes x schemes: {queues}, and at most {LARGEST_INDEX} can be told apart");
    Err(root.place_within("topology", "kind").error("this network is too large").label(most))
}

/// Where nothing is paused no host needs time to obey.
fn check_responses(root: &Table, any_lossless: bool, hosts: &[HostSettings]) -> Result<()> {
    if !any_lossless && hosts.iter().any(|host| host.pfc_response != PfcResponse::default()) {
        let error = root.place_within("host", "pfc_response").error("`pfc_response` has no effect here");
        return Err(error.label("no class is lossless, so nothing is paused"));
    }
    Ok(())
}

/// A scheme that controls whole switches keeps their queues itself, where nothing passes uncounted: every
/// packet goes through a virtual output queue.
fn controlled_switches(root: &Table, plan: &Plan, schemes: &[NamedScheme]) -> Result<()> {
    let control = schemes.iter().find(|scheme| catalogue::controls_switches(&scheme.values));
    match control.filter(|_| plan.switches.iter().any(|switch| switch.count_passing)) {
        Some(scheme) => Err(root
            .place_within("switch", "count_passing")
            .error(format!("`count_passing` has no effect under `{}`", scheme.label))
            .label("it controls the switches, and queues every packet")),
        None => Ok(()),
    }
}

/// A shared random stream needs a seed that its generator takes; warns where nobody draws from it, as when another
/// scheme is put in place of the scenario's.
fn check_shared_random(
    root: &Table,
    plan: &Plan,
    schemes: &[NamedScheme],
    warnings: &mut Vec<Diagnostic>,
) -> Result<()> {
    let draws = |scheme: &NamedScheme| {
        let draws = |values: &ParamValues| values.spec().draws_lots;
        draws(&scheme.values) || scheme.values.base().is_some_and(draws)
    };
    if !schemes.iter().any(draws) {
        let warning = root.place_within("model", "random_streams").error("no scheme here marks by lot");
        warnings.push(warning.label("without effect"));
    }
    if plan.seed == 0 || plan.seed > u64::from(u32::MAX) {
        let error = root.place_of("seed").error("a shared random stream needs another seed");
        return Err(error.label(format!("from 1 to {}", u32::MAX)));
    }
    Ok(())
}

/// One generator for all of a run needs one order of events.
fn check_one_sequence(root: &Table, plan: &Plan, schemes: &[NamedScheme]) -> Result<()> {
    let draws = |values: &ParamValues| {
        let value = |&(param, value): &(&str, &str)| values.get(param).to_string() == value;
        values.spec().one_sequence.filter(value)
    };
    let mut all = schemes.iter().flat_map(|scheme| std::iter::once(&scheme.values).chain(scheme.values.base()));
    let Some((param, value)) = all.find_map(draws).filter(|_| plan.model.ties != Ties::Scheduled) else {
        return Ok(());
    };
    let error =
        root.place_within("scheme", param).error(format!("`{param} = \"{value}\"` draws in the order of events"));
    Err(error.label("from one generator for the whole run").help("set `model.event_order = \"insertion\"`"))
}

struct Head {
    name: String,
    description: String,
    seed: u64,
    warnings: Vec<Diagnostic>,
}

/// The sections that stand on their own.
struct Parts {
    head: Head,
    output: Output,
    run: (xoff_fabric::plan::RunSettings, Option<Time>, Option<xoff_jobs::settle::Rule>),
    graph: Graph,
    servers: Servers,
    model: Model,
    routing: Routing,
    host: (HostSettings, AckPath),
    classes: NamedClasses,
    schemes: Vec<NamedScheme>,
}

/// Each problem once, and not more than can be read.
fn shortened(mut problems: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let mut seen = std::collections::BTreeSet::new();
    problems.retain(|problem| {
        let at = problem.place.as_ref().map(|place| (place.source.name.clone(), place.span.start));
        seen.insert((at, problem.message.clone()))
    });
    if problems.len() > PROBLEMS_TOLD {
        let more = problems.len() - PROBLEMS_TOLD;
        problems.truncate(PROBLEMS_TOLD);
        problems.push(Diagnostic::new(format!("and {} more", crate::number::thousands(more as u64))));
    }
    problems
}

fn keep<T>(problems: &mut Vec<Diagnostic>, read: Result<T>) -> Option<T> {
    read.map_err(|error| problems.push(error)).ok()
}

/// Reads one table and demands that all of it was read.
fn section<T>(root: &mut Table, key: &str, read: impl FnOnce(&mut Table) -> Result<T>) -> Result<T> {
    let mut table = root.table(key)?;
    let value = read(&mut table)?;
    table.finish()?;
    Ok(value)
}

/// Where the scheme stands that `--set scheme.name=...` asks for.
fn scheme_name_in(set: &str) -> Option<Range<usize>> {
    let (key, value) = set.split_once('=')?;
    let start = key.len() + 1 + (value.len() - value.trim_start().len());
    let value = value.trim();
    let quoted = value.len() >= 2 && value.starts_with('"') && value.ends_with('"');
    let span = if quoted { start + 1..start + value.len() - 1 } else { start..start + value.len() };
    (key.trim() == "scheme.name" && !span.is_empty()).then_some(span)
}

fn read_head(root: &mut Table) -> Result<Head> {
    let name = root.text("name")?;
    // Results are written to a directory of this name.
    valid_name(&name)?;
    if name.value.starts_with('.') {
        return Err(name.error(format!("`{}` cannot be a name", name.value)).label("a name does not start with a dot"));
    }
    let description = root.text("description")?;
    if let Some(c) = description.value.chars().find(|c| !visible(*c) && !matches!(c, '\n' | '\r' | '\t')) {
        let error = description.error("this description holds a character that cannot be seen");
        return Err(error.label(c.escape_unicode().to_string()));
    }
    root.choice("stack", dictionary::words::STACK)?;
    Ok(Head {
        name: name.value,
        description: description.value,
        seed: root.count("seed", 0..=i64::MAX as u64)?,
        warnings: Vec::new(),
    })
}

fn read_host(table: &mut Table) -> Result<(HostSettings, AckPath)> {
    let path = table.choice("ack_path", dictionary::words::ACK_PATH)?;
    Ok((settings::read_host(table)?, path))
}

/// `[groups]`: each key names a selection of hosts; a later group may use an earlier one.
fn read_groups(root: &mut Table, names: &mut Names) -> Result<()> {
    let Some(mut table) = root.take_table("groups")? else { return Ok(()) };
    for name in table.keys() {
        let selectors = table.texts(&name.value)?;
        let hosts = names.hosts(&selectors)?;
        names.add_group(&name, hosts)?;
    }
    table.finish()
}

impl Loaded {
    /// Hosts and switches.
    pub fn node_counts(&self) -> (usize, usize) {
        let hosts = self.plan.nodes.iter().filter(|node| node.kind == NodeKind::Host).count();
        (hosts, self.plan.nodes.len() - hosts)
    }
}

#[cfg(test)]
#[path = "load_tests.rs"]
mod tests;

#[cfg(test)]
#[path = "limits_tests.rs"]
mod limits;

#[cfg(test)]
#[path = "effect_tests.rs"]
mod effects;
