//! What has no form at flow level, where flows have fair rates and there is no packet, and what is known to go wrong there.

use super::captures;
use super::diagnostic::Diagnostic;
use super::dictionary::words::{self, Mode};
use super::reader::{Result, Table};
use super::schemes::NamedScheme;
use crate::traffic::TrafficPlan;
use xoff_catalogue::param::FlowForm;
use xoff_engine::TimeResolution;
use xoff_fabric::plan::{Dialect, FaultKind, Fidelity, Plan, ProbeTarget};

/// What follows packets in any case.
const REMEDY: &str = "leave out `fidelity = \"flow\"`: a packet-level run has it";

/// Errors of flow level in the completion time of a skewed all-to-all (`scenarios/jobs/moe.toml`, packet level as in
/// docs/jobs-results.md), of schemes for which it is out of range: more than 3 %. These find their share too slowly, or
/// leave some of it.
const OUT_OF_RANGE: &[(&str, &str)] = &[
    ("hpcc", "-8"),
    ("pacc", "-15"),
    ("pcn", "-21"),
    ("tcd", "-22"),
    ("fqcn", "-23"),
    ("qcn", "-25"),
    ("af-qcn", "-29"),
    ("np-ecn", "-43"),
    ("timely", "-54"),
    ("rocc", "-57"),
];

/// Warns of schemes for which flow level is out of range, with the error of the nearest published row.
fn warn_of_range(root: &Table, schemes: &[NamedScheme], warnings: &mut Vec<Diagnostic>) {
    for scheme in schemes {
        let name = scheme.values.spec().name;
        if let Some((_, error)) = OUT_OF_RANGE.iter().find(|(known, _)| *known == name) {
            let warning = root.place_within("scheme", "name").error(format!("`{name}` is out of range at flow level"));
            let row = format!("{error} % in the job time of 64 GPUs with a skewed all-to-all");
            warnings.push(warning.label(row).help("`xoff compare X --fidelity packet,flow` shows the error here"));
        }
    }
}

/// What is known of the error of a loaded scenario at flow level; nothing of traffic that is no job.
pub(crate) fn range(traffic: &[TrafficPlan], schemes: &[NamedScheme]) -> Option<String> {
    if traffic.iter().any(|traffic| traffic.job().is_none()) {
        return None;
    }
    let name = |scheme: &NamedScheme| scheme.values.spec().name;
    let out = schemes.iter().find_map(|scheme| OUT_OF_RANGE.iter().find(|(known, _)| *known == name(scheme)));
    Some(match out {
        Some((scheme, error)) => format!("out of range ({scheme}: {error} % in the time of a skewed all-to-all)"),
        None => "in range (job times within 3 % of packet level for 64 GPUs)".to_owned(),
    })
}

/// Refuses what a run at flow level cannot have, or is known to get wrong.
pub(crate) fn check(
    root: &Table,
    plan: &Plan,
    schemes: &[NamedScheme],
    (mode, captures, traffic): (Mode, &[captures::Request], &[TrafficPlan]),
    warnings: &mut Vec<Diagnostic>,
) -> Result<()> {
    if plan.run.fidelity == Fidelity::Packet {
        return Ok(());
    }
    let refused = |section: &str, key: &str, what: String, why: &str| {
        let error = root.place_within(section, key).error(format!("{what} at flow level"));
        Err(error.label(why).help(REMEDY))
    };
    if let Some((scheme, why)) = schemes.iter().find_map(without_form) {
        return refused("scheme", "name", format!("`{scheme}` does not run"), why);
    }
    let word = words::ROUTING.iter().find(|(_, known)| *known == mode).map_or("", |(word, _)| *word);
    if let Some(why) = path_rule(mode) {
        return refused("routing", "mode", format!("`{word}` does not run"), why);
    }
    if !captures.is_empty() {
        return refused("capture", "", "nothing can be captured".to_owned(), "there are no frames");
    }
    if plan.run.record_pfc_frames {
        return refused("output", "pfc_frames", "`pfc_frames` has no effect".to_owned(), "there are no frames");
    }
    if plan.run.record_flow_links {
        return refused("output", "flow_links", "`flow_links` has no effect".to_owned(), "no packet passes a link");
    }
    if plan.switches.iter().any(|switch| switch.watchdog.is_some()) {
        return refused("switch", "watchdog", "there is no watchdog".to_owned(), "no queue is ever paused");
    }
    if plan.model.dialect != Dialect::Own || plan.model.resolution != TimeResolution::Exact {
        let why = "they are rules about packets";
        return refused("model", "dialect", "rules of other simulators do not apply".to_owned(), why);
    }
    for fault in &plan.faults {
        let what = match fault.what {
            FaultKind::PauseStorm { .. } => "a PFC storm has no form",
            FaultKind::Loss { .. } => "lost packets have no form",
            _ => continue,
        };
        return refused("fault", "kind", what.to_owned(), "flows have fair rates, and no packets");
    }
    if plan.links.iter().any(|link| link.a_to_b.loss > 0.0 || link.b_to_a.loss > 0.0) {
        return refused("topology", "loss", "links that lose packets have no form".to_owned(), "there are no packets");
    }
    check_range(root, plan, schemes, traffic)?;
    warn_of_range(root, schemes, warnings);
    warn_of_messages(root, traffic, warnings);
    warn_of_probes(root, plan, warnings);
    Ok(())
}

/// A scheme that has no form, and why.
fn without_form(scheme: &NamedScheme) -> Option<(&'static str, &'static str)> {
    let all = std::iter::once(&scheme.values).chain(scheme.values.base());
    all.map(|values| values.spec()).find_map(|spec| match spec.flow_form {
        FlowForm::None(why) => Some((spec.name, why)),
        FlowForm::Fair | FlowForm::Uncontrolled => None,
    })
}

/// Why a choice of paths has no form. Packets that are spread one by one are spread evenly.
fn path_rule(mode: Mode) -> Option<&'static str> {
    match mode {
        Mode::Ecmp | Mode::Spray | Mode::Oblivious | Mode::RoundRobin | Mode::Drill | Mode::Adaptive => None,
        Mode::Reps | Mode::Bitmap | Mode::Mixed | Mode::Mrc => Some("it follows marks and losses of packets"),
        Mode::Plb => Some("it follows marks of packets"),
        Mode::LetFlow | Mode::Conga | Mode::ConWeave => Some("it follows gaps between packets, or their telemetry"),
    }
}

/// Refuses what flow level is known to get wrong, unless that is asked for.
fn check_range(root: &Table, plan: &Plan, schemes: &[NamedScheme], traffic: &[TrafficPlan]) -> Result<()> {
    let uncontrolled = schemes.iter().find(|scheme| scheme.values.spec().flow_form == FlowForm::Uncontrolled);
    let open = traffic.iter().any(|traffic| traffic.job().is_none());
    match uncontrolled.filter(|_| open && !plan.run.out_of_range) {
        Some(scheme) => {
            let what = format!("open traffic under `{}` is out of range at flow level", scheme.label);
            let error = root.place_within("scheme", "name").error(what);
            let error =
                error.label("PFC alone: trees of paused queues decide, and mean slowdowns come out at an eighth");
            Err(error.help("run it at packet level, or with `--out-of-range` (`run.out_of_range = true`) all the same"))
        }
        None => Ok(()),
    }
}

/// Collectives that would be macro-flows, and are not.
fn warn_of_messages(root: &Table, traffic: &[TrafficPlan], warnings: &mut Vec<Diagnostic>) {
    for plan in traffic {
        if let Some(why) = plan.job().and_then(|job| job.messages_because) {
            let what = format!("collectives of `{}` are sent message by message", plan.name);
            let warning = root.place_within("run", "collectives").error(what);
            warnings.push(warning.label(why).help("`collectives = \"messages\"` says so, and is no warning"));
        }
    }
}

/// Probes of queues and pauses give no samples.
fn warn_of_probes(root: &Table, plan: &Plan, warnings: &mut Vec<Diagnostic>) {
    let known = |what: &ProbeTarget| matches!(what, ProbeTarget::Throughput { .. } | ProbeTarget::Flows);
    if plan.probes.iter().any(|probe| !known(&probe.what)) {
        let warning =
            root.place_within("probe", "what").error("queues, buffers and pauses have no samples at flow level");
        warnings.push(warning.label("only `throughput` and `flows` have"));
    }
}
