//! What each switch's buffer has to hold, against what it can hold.

use super::diagnostic::{Diagnostic, Place};
use std::collections::BTreeMap;
use xoff_engine::{LinkRate, quantity};
use xoff_fabric::pfc::{self, PauseLoop};
use xoff_fabric::plan::{FrameSizes, Headroom, NodeKind, Plan, Signalling, Thresholds};

/// The buffer of one switch, added up over its ports and lossless classes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Budget {
    pub(crate) node: u32,
    pub(crate) ports: u32,
    /// All that the switch can hold.
    pub buffer_bytes: u64,
    /// Of all lossless ingresses, as configured.
    pub headroom_bytes: u64,
    /// Static thresholds, or the reserves of dynamic ones.
    pub promised_bytes: u64,
    /// The port whose headroom falls shortest of what it needs: port, configured, required.
    pub(crate) shortest: Option<(u32, u64, u64)>,
}

/// Headroom that the ingress of `port` has, and the loop that says what it needs. `frame_bytes` is the largest packet of
/// the run on the wire ([`Loaded::frame_bytes`](super::Loaded::frame_bytes)).
pub(crate) fn headroom(plan: &Plan, frame_bytes: u32, port: u32) -> (u64, PauseLoop) {
    let profile = plan.nodes[plan.node_of(port) as usize].profile;
    let of = PauseLoop::of(plan, port, frame_bytes);
    (pfc::headroom_of(plan.switches[usize::from(profile)].pfc.headroom, &of), of)
}

/// One row per switch, in the order of the nodes.
pub fn budgets(plan: &Plan, frame_bytes: u32) -> Vec<Budget> {
    let lossless = plan.classes.list.iter().filter(|class| class.lossless).count() as u64;
    let mut rows: Vec<Option<Budget>> = plan
        .nodes
        .iter()
        .enumerate()
        .map(|(node, spec)| {
            (spec.kind == NodeKind::Switch).then(|| Budget {
                node: node as u32,
                ports: 0,
                buffer_bytes: plan.switches[usize::from(spec.profile)].buffer_bytes,
                headroom_bytes: 0,
                promised_bytes: 0,
                shortest: None,
            })
        })
        .collect();
    // Ports in a row are mostly alike.
    let mut latest: Option<(PauseLoop, u64)> = None;
    for port in 0..plan.ports() as u32 {
        let node = plan.node_of(port) as usize;
        let Some(row) = &mut rows[node] else { continue };
        row.ports += 1;
        if lossless == 0 {
            continue;
        }
        let of = PauseLoop::of(plan, port, frame_bytes);
        let known = latest.filter(|(known, _)| *known == of);
        let needs = known.map_or_else(|| of.required(), |(_, needs)| needs);
        latest = Some((of, needs));
        let settings = &plan.switches[usize::from(plan.nodes[node].profile)].pfc;
        let has = if settings.headroom == Headroom::Auto { needs } else { pfc::headroom_of(settings.headroom, &of) };
        let promised = match settings.thresholds {
            Thresholds::Static { xoff_bytes, .. } => xoff_bytes,
            Thresholds::Dynamic { reserve_bytes, .. } => reserve_bytes,
        };
        let times = settings.set_aside.times(lossless);
        row.headroom_bytes = row.headroom_bytes.saturating_add(has.saturating_mul(times));
        row.promised_bytes = row.promised_bytes.saturating_add(promised.saturating_mul(times));
        let worse = row.shortest.is_none_or(|(_, has_now, needs_now)| needs - has.min(needs) > needs_now - has_now);
        if has < needs && worse {
            row.shortest = Some((port, has, needs));
        }
    }
    rows.into_iter().flatten().collect()
}

/// Refuses buffers that cannot hold the headroom; warns of those that may overflow. `place` is
/// where the buffer's size is written.
pub(crate) fn check(
    plan: &Plan,
    frame_bytes: u32,
    place: &Place,
    warnings: &mut Vec<Diagnostic>,
) -> Result<(), Diagnostic> {
    let mut warned = (false, false);
    for row in budgets(plan, frame_bytes) {
        let spec = &plan.nodes[row.node as usize];
        let size = quantity::format_bytes;
        let dynamic = matches!(plan.switches[usize::from(spec.profile)].pfc.thresholds, Thresholds::Dynamic { .. });
        let reserved = row.headroom_bytes.saturating_add(if dynamic { row.promised_bytes } else { 0 });
        if reserved > row.buffer_bytes {
            let what = if dynamic { "headroom and reserves exceed" } else { "headroom exceeds" };
            return Err(place
                .error(format!("the {what} the buffer of `{}`", spec.name))
                .label(format!(
                    "{} ports need {}, the buffer has {}",
                    row.ports,
                    size(reserved),
                    size(row.buffer_bytes)
                ))
                .help("raise `buffer`, shorten delays or set a smaller `headroom`"));
        }
        let all = row.headroom_bytes.saturating_add(row.promised_bytes);
        if !dynamic && all > row.buffer_bytes && !std::mem::replace(&mut warned.0, true) {
            let message = format!("the buffer of `{}` may overflow before every ingress has paused", spec.name);
            warnings.push(place.error(message).label(format!(
                "{} ports may take {} of {}",
                row.ports,
                size(all),
                size(row.buffer_bytes)
            )));
        }
        // Whoever allows drops has been told.
        if let Some((port, has, needs)) = row.shortest.filter(|_| !plan.run.allow_drops)
            && !std::mem::replace(&mut warned.1, true)
        {
            let message = format!("the headroom of `{}` is too small to be lossless", plan.port_name(port));
            let label = format!("{} configured, {} required", size(has), size(needs));
            warnings.push(place.error(message).label(label).help("headroom = \"auto\" gives each port what it needs"));
        }
    }
    Ok(())
}

/// Refuses timed pauses that run out before the next can be there: a refresh may have to wait for a
/// whole frame on the wire. How long the wire is does not matter, for a PAUSE and its refresh travel as far;
/// what arrives in the meantime is in the headroom. `place` is where the time is written.
pub(crate) fn check_pauses(plan: &Plan, frame_bytes: u32, place: &Place) -> Result<(), Diagnostic> {
    let sizes = plan.hosts.first().map_or(FrameSizes::ROCE_V2, |host| host.sizes);
    let pfc_bytes = sizes.pfc_bytes + sizes.gap_bytes;
    for port in 0..plan.ports() as u32 {
        let node = &plan.nodes[plan.node_of(port) as usize];
        if node.kind != NodeKind::Switch {
            continue;
        }
        let Signalling::Timed { pause, refresh, .. } = plan.switches[usize::from(node.profile)].pfc.signalling else {
            continue;
        };
        let rate = plan.slowest(port).rate;
        // The frame that is on the wire, and the PFC frame itself.
        let wait = LinkRate::new(rate).serialise(frame_bytes + pfc_bytes);
        if pause < refresh + wait {
            let error =
                place.error(format!("a PAUSE on `{}` would run out before it is refreshed", plan.port_name(port)));
            let span = quantity::format_span;
            return Err(error
                .label(format!(
                    "{} is less than a refresh of {} and {} on the wire",
                    span(pause),
                    span(refresh),
                    span(wait)
                ))
                .help("raise `pause_time`, or refresh more often"));
        }
    }
    Ok(())
}

/// Headroom of the switches' ingresses, with the loops that say what is needed; those that are alike once.
pub(crate) fn headroom_by_loop(plan: &Plan, frame_bytes: u32) -> Vec<(u64, PauseLoop)> {
    let mut rows = BTreeMap::new();
    for port in 0..plan.ports() as u32 {
        if plan.nodes[plan.node_of(port) as usize].kind == NodeKind::Switch {
            let (has, of) = headroom(plan, frame_bytes, port);
            let (there, back) = (of.incoming, of.outgoing);
            let alike = (there.rate, there.delay, back.rate, back.delay, of.response, has);
            rows.entry(alike).or_insert((has, of));
        }
    }
    rows.into_values().collect()
}
