//! Tables of what ports and flows did, window by window: long, so they are written column by column.

use super::names::Names;
use super::row_sink::{Destination, RowSink};
use super::tables::{self, FlowActivityRows, FlowColumns, PortActivityRows, PortColumns};
use std::io;
use xoff_fabric::activity::{Activity, FlowWindow, PortWindow};
use xoff_tables::TextList;

/// Rows of a window that are written at once.
const ROWS_AT_ONCE: usize = 4096;

pub(crate) struct Windows {
    ports: RowSink,
    flows: RowSink,
}

impl Windows {
    pub(crate) fn create(to: &Destination<'_>) -> io::Result<Windows> {
        let create = |table| RowSink::create(table, to);
        Ok(Windows { ports: create(&tables::PORT_ACTIVITY)?, flows: create(&tables::FLOW_ACTIVITY)? })
    }

    pub(crate) fn sinks(self) -> [RowSink; 2] {
        [self.ports, self.flows]
    }

    pub(crate) fn write(&mut self, activity: &Activity, names: &Names) -> io::Result<()> {
        let end_us = |window: u32| activity.end_of(window).min(activity.until).as_us();
        let (mut window, mut of) = (0, PortColumns::default());
        let mut hand_on = |window: u32, of: &mut PortColumns| {
            let rows = PortActivityRows { of, window, end_us: end_us(window), names };
            self.ports.rows(of.ports.len(), &tables::port_activity_runs(&rows))?;
            of.clear();
            io::Result::Ok(())
        };
        for row in activity.ports.iter() {
            if row.window != window || of.ports.len() == ROWS_AT_ONCE {
                hand_on(window, &mut of)?;
                window = row.window;
            }
            of.push(&row);
        }
        hand_on(window, &mut of)?;
        let (mut window, mut of) = (0, FlowColumns::default());
        let mut hand_on = |window: u32, of: &mut FlowColumns| {
            let rows = FlowActivityRows { of, window, end_us: end_us(window) };
            self.flows.rows(of.flows.len(), &tables::flow_activity_runs(&rows))?;
            of.clear();
            io::Result::Ok(())
        };
        for row in activity.flows.iter() {
            if row.window != window || of.flows.len() == ROWS_AT_ONCE {
                hand_on(window, &mut of)?;
                window = row.window;
            }
            of.push(&row);
        }
        hand_on(window, &mut of)
    }
}

/// Names of ports, by number.
impl TextList for Names {
    fn text(&self, port: u32) -> &str {
        self.port(port)
    }
}

impl PortColumns {
    fn push(&mut self, row: &PortWindow) {
        self.ports.push(row.port);
        self.tx_bytes.push(row.tx_bytes);
        self.queue_bytes.push(row.queue_bytes);
        self.paused_us.push(row.paused.as_us());
        self.marks.push(row.marks);
    }

    fn clear(&mut self) {
        let PortColumns { ports, tx_bytes, queue_bytes, paused_us, marks } = self;
        ports.clear();
        paused_us.clear();
        [tx_bytes, queue_bytes, marks].into_iter().for_each(Vec::clear);
    }
}

impl FlowColumns {
    fn push(&mut self, row: &FlowWindow) {
        self.flows.push(row.flow.into());
        self.sent_wire_bytes.push(row.sent_wire_bytes);
        self.delivered_bytes.push(row.delivered_bytes);
        self.allowed_gbps.push(row.allowed_bps / 1e9);
        self.notifications.push(row.notifications);
        self.marked.push(row.marked);
    }

    fn clear(&mut self) {
        let FlowColumns { flows, sent_wire_bytes, delivered_bytes, allowed_gbps, notifications, marked } = self;
        allowed_gbps.clear();
        [flows, sent_wire_bytes, delivered_bytes, notifications, marked].into_iter().for_each(Vec::clear);
    }
}
