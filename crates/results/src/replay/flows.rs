//! Flows as data of a replay: all of them as columns, and one of them over its life.

use super::variables::Course;
use crate::congestion::flows::{Flow, Flows};
use crate::read::RunDirectory;
use crate::tables;
use serde::Serialize;
use std::collections::HashMap;
use xoff_engine::Time;
use xoff_scenario::Diagnostic;

#[derive(Serialize)]
pub struct FlowTable<'a> {
    /// Labels and names of sources.
    texts: Vec<&'a str>,
    paths: Vec<&'a [u32]>,
    id: Vec<u64>,
    label: Vec<u32>,
    source: Vec<u32>,
    src: Vec<u32>,
    dst: Vec<u32>,
    size_bytes: Vec<Option<u64>>,
    delivered_bytes: Vec<u64>,
    start_us: Vec<f64>,
    finish_us: Vec<Option<f64>>,
    ideal_us: Vec<Option<f64>>,
    slowdown: Vec<Option<f64>>,
    goodput_gbps: Vec<Option<f64>>,
    path: Vec<u32>,
    priority: Vec<u8>,
    marked: Vec<u64>,
    notifications: Vec<u64>,
    retransmitted: Vec<u64>,
    timeouts: Vec<u64>,
    /// In which it was watched.
    windows: Vec<usize>,
}

/// Things in the order in which they were first seen.
struct Numbered<T> {
    list: Vec<T>,
    numbers: HashMap<u32, u32>,
}

impl<T> Default for Numbered<T> {
    fn default() -> Numbered<T> {
        Numbered { list: Vec::new(), numbers: HashMap::new() }
    }
}

impl<T> Numbered<T> {
    fn number(&mut self, key: u32, thing: impl FnOnce() -> T) -> u32 {
        *self.numbers.entry(key).or_insert_with(|| {
            self.list.push(thing());
            self.list.len() as u32 - 1
        })
    }
}

/// All flows, in the order of their starts.
pub fn table<'a>(flows: &'a Flows, curves: &FlowCurves) -> FlowTable<'a> {
    let (mut texts, mut paths) = (Numbered::default(), Numbered::default());
    let label = flows.list.iter().map(|flow| texts.number(flow.label, || flows.word(flow.label))).collect();
    let source = flows.list.iter().map(|flow| texts.number(flow.source, || flows.word(flow.source))).collect();
    let path = flows.list.iter().map(|flow| paths.number(flow.path_text, || flows.ports(flow))).collect();
    fn column<T>(flows: &Flows, of: impl Fn(&Flow) -> T) -> Vec<T> {
        flows.list.iter().map(of).collect()
    }
    FlowTable {
        texts: texts.list,
        paths: paths.list,
        id: column(flows, |flow| flow.id),
        label,
        source,
        src: column(flows, |flow| flow.src),
        dst: column(flows, |flow| flow.dst),
        size_bytes: column(flows, |flow| flow.size_bytes),
        delivered_bytes: column(flows, |flow| flow.delivered_bytes),
        start_us: column(flows, |flow| flow.start.as_us()),
        finish_us: column(flows, |flow| flow.delivered.map(Time::as_us)),
        ideal_us: column(flows, |flow| flow.ideal_us),
        slowdown: column(flows, |flow| flow.slowdown),
        goodput_gbps: column(flows, |flow| flow.goodput_gbps),
        path,
        priority: column(flows, |flow| flow.priority),
        marked: column(flows, |flow| flow.marked),
        notifications: column(flows, |flow| flow.notifications),
        retransmitted: column(flows, |flow| flow.packets_retransmitted),
        timeouts: column(flows, |flow| flow.timeouts),
        windows: column(flows, |flow| curves.of_flow.get(&flow.id).map_or(0, Vec::len)),
    }
}

/// What flows did, window by window.
#[derive(Default)]
pub struct FlowCurves {
    rows: Vec<FlowRow>,
    /// By number of the flow its rows, in order of time.
    of_flow: HashMap<u64, Vec<u32>>,
}

struct FlowRow {
    time_us: f64,
    sent_wire_bytes: u64,
    delivered_bytes: u64,
    allowed_gbps: f32,
    notifications: u32,
    marked: u32,
}

/// One flow over its life. Rates are means over a window, which ends at the time beside them.
#[derive(Serialize, Default)]
pub struct OneFlow {
    time_us: Vec<f64>,
    delivered_gbps: Vec<f64>,
    sent_gbps: Vec<f64>,
    asked_gbps: Vec<f32>,
    notifications: Vec<u32>,
    marked: Vec<u32>,
    held: Vec<(f64, f64, u32, bool)>,
    variables: Vec<Course>,
}

/// Memory that a row takes in lists that grow; flows with a single row have a list for it.
const ROW_BYTES: u64 = 2 * size_of::<FlowRow>() as u64 + 64;

impl FlowCurves {
    pub fn read(run: &RunDirectory) -> Result<FlowCurves, Diagnostic> {
        let mut curves = FlowCurves::default();
        let columns =
            ["time_us", "flow_id", "sent_wire_bytes", "delivered_bytes", "allowed_gbps", "notifications", "marked"];
        for rows in run.rows_to_keep(&tables::FLOW_ACTIVITY, &columns, ROW_BYTES)? {
            let rows = rows?;
            let whole = |name: &str| rows.integers(name);
            let (time, id, allowed) = (rows.reals("time_us")?, whole("flow_id")?, rows.reals("allowed_gbps")?);
            let (sent, delivered) = (whole("sent_wire_bytes")?, whole("delivered_bytes")?);
            let (notified, marked) = (whole("notifications")?, whole("marked")?);
            for row in 0..rows.len() {
                curves.of_flow.entry(id.get(row).unwrap_or(0)).or_default().push(curves.rows.len() as u32);
                curves.rows.push(FlowRow {
                    time_us: time.get(row).unwrap_or(0.0),
                    sent_wire_bytes: sent.get(row).unwrap_or(0),
                    delivered_bytes: delivered.get(row).unwrap_or(0),
                    allowed_gbps: allowed.get(row).unwrap_or(0.0) as f32,
                    notifications: notified.get(row).unwrap_or(0) as u32,
                    marked: marked.get(row).unwrap_or(0) as u32,
                });
            }
        }
        Ok(curves)
    }

    /// At most about two thousand points: several windows become one where there are more.
    pub fn of(&self, id: u64, held: Vec<(f64, f64, u32, bool)>, variables: Vec<Course>) -> OneFlow {
        const POINTS: usize = 2_000;
        let rows = self.of_flow.get(&id).map_or(&[][..], Vec::as_slice);
        let mut one = OneFlow { held, variables, ..OneFlow::default() };
        let Some(&first) = rows.first() else { return one };
        // Its first window begins where the one before it ended; a lone one has no length of its own.
        let length = match rows.get(1) {
            Some(&second) => self.rows[second as usize].time_us - self.rows[first as usize].time_us,
            None => return one,
        };
        let mut before = self.rows[first as usize].time_us - length;
        for group in rows.chunks(rows.len().div_ceil(POINTS)) {
            let of =
                |take: &dyn Fn(&FlowRow) -> u64| group.iter().map(|&row| take(&self.rows[row as usize])).sum::<u64>();
            let last = &self.rows[group[group.len() - 1] as usize];
            let us = (last.time_us - before).max(1e-9);
            one.time_us.push(last.time_us);
            one.delivered_gbps.push(of(&|row| row.delivered_bytes) as f64 * 8e-3 / us);
            one.sent_gbps.push(of(&|row| row.sent_wire_bytes) as f64 * 8e-3 / us);
            one.asked_gbps.push(last.allowed_gbps);
            one.notifications.push(of(&|row| u64::from(row.notifications)) as u32);
            one.marked.push(of(&|row| u64::from(row.marked)) as u32);
            before = last.time_us;
        }
        one
    }
}
