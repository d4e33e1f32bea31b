//! Flows as data of a replay: all of them as columns, and one of them over its life.

use super::variables::Course;
use crate::congestion::flows::{Flows, flow_columns};
use crate::congestion::known_port;
use crate::congestion::network::Network;
use crate::contract;
use crate::read::RunDirectory;
use crate::tables;
use std::collections::HashMap;
use xoff_engine::Time;
use xoff_scenario::Diagnostic;

macro_rules! shown_flows {
    ($($field:ident: $type:ty = $how:ident $column:literal $(, shown $shown:ident)?;)*) => {
        shown_flows! { @table $($($shown: <$type as Shown>::As = $field;)?)* }
    };
    (@table $($shown:ident: $type:ty = $field:ident;)*) => {
        contract! {
            /// All flows, in the order of their starts.
            pub struct FlowTable<'a> as Flows {
                /// Labels and names of sources.
                texts: Vec<&'a str>,
                /// Ports of each path.
                paths: Vec<&'a [u32]>,
                label: Vec<u32>,
                source: Vec<u32>,
                path: Vec<u32>,
                /// In how many windows it was watched: without one there is no course over time.
                windows: Vec<usize>,
                $($shown: Vec<$type>,)*
            }
        }

        /// All flows, in the order of their starts.
        pub fn table<'a>(flows: &'a Flows, curves: &FlowCurves) -> FlowTable<'a> {
            let (mut texts, mut paths) = (Numbered::default(), Numbered::default());
            let list = || flows.list.iter();
            FlowTable {
                label: list().map(|flow| texts.number(flow.label, || flows.word(flow.label))).collect(),
                source: list().map(|flow| texts.number(flow.source, || flows.word(flow.source))).collect(),
                path: list().map(|flow| paths.number(flow.path_text, || flows.ports(flow))).collect(),
                texts: texts.list,
                paths: paths.list,
                windows: list().map(|flow| curves.of_flow.get(&flow.id).map_or(0, Vec::len)).collect(),
                $($shown: list().map(|flow| flow.$field.shown()).collect(),)*
            }
        }
    };
}

/// A value as a page takes it: instants in microseconds, the rest as it is.
trait Shown: Copy {
    type As;
    fn shown(self) -> Self::As;
}

macro_rules! as_it_is {
    ($($type:ty)*) => {
        $(impl Shown for $type {
            type As = $type;
            fn shown(self) -> $type {
                self
            }
        })*
    };
}

as_it_is!(u8 u32 u64 f64 Option<u64> Option<f64>);

impl Shown for Time {
    type As = f64;
    fn shown(self) -> f64 {
        self.as_us()
    }
}

impl Shown for Option<Time> {
    type As = Option<f64>;
    fn shown(self) -> Option<f64> {
        self.map(Time::as_us)
    }
}

flow_columns!(shown_flows);

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

contract! {
    /// One flow over its life. Rates are means over a window, which ends at the time beside them.
    #[derive(Default)]
    pub struct OneFlow as FlowSeries {
        time_us: Vec<f64>,
        delivered_gbps: Vec<f64>,
        sent_gbps: Vec<f64>,
        asked_gbps: Vec<f32>,
        notifications: Vec<u32>,
        marked: Vec<u32>,
        held: Vec<(f64, f64, u32, bool)>,
        variables: Vec<Course>,
        /// Ports that carried it, if the run counted what they did.
        links: Vec<u32>,
        /// Share of what the node of each of these ports sent of it.
        link_shares: Vec<f64>,
    }
}

/// What ports carried of each flow, by its number; empty unless the run counted it.
#[derive(Default)]
pub struct FlowLinks(HashMap<u64, Vec<(u32, f64)>>);

/// Memory that a row takes in a list that grows.
const LINK_BYTES: u64 = 2 * size_of::<(u32, f64)>() as u64 + 32;

impl FlowLinks {
    pub fn read(run: &RunDirectory, network: &Network) -> Result<FlowLinks, Diagnostic> {
        let mut links = FlowLinks::default();
        if !run.has(&tables::FLOW_LINKS) {
            return Ok(links);
        }
        for rows in run.rows_to_keep(&tables::FLOW_LINKS, &["flow_id", "port", "share"], LINK_BYTES)? {
            let rows = rows?;
            let (id, port, share) = (rows.integers("flow_id")?, rows.texts("port")?, rows.reals("share")?);
            for row in 0..rows.len() {
                let port = known_port(network, port.get(row).unwrap_or(""))?;
                links.0.entry(id.get(row).unwrap_or(0)).or_default().push((port, share.get(row).unwrap_or(0.0)));
            }
        }
        Ok(links)
    }

    /// Says it of one flow.
    pub fn add_to(&self, id: u64, one: &mut OneFlow) {
        (one.links, one.link_shares) = self.0.get(&id).map_or(&[][..], Vec::as_slice).iter().copied().unzip();
    }
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
