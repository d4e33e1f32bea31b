//! `fct.txt` and `pfc.txt` as the HPCC authors' simulator writes them.

use super::standalone::{Transfer, standalone_ns};
use crate::files::whole::{self, Present};
use crate::files::{disk, listing};
use crate::read::RunDirectory;
use crate::tables;
use std::collections::HashMap;
use std::fmt::{self, Write};
use std::io;
use std::path::{Path, PathBuf};
use xoff_fabric::plan::{NodeKind, Plan};
use xoff_fabric::route::address;
use xoff_scenario::Diagnostic;

/// Addresses hold sixteen bits of a node's number.
const NODES_MOST: usize = 1 << 16;

/// The node of an address, if it is one of these.
pub fn node_of(address: u32) -> Option<u32> {
    let node = address >> 8 & 0xffff;
    (xoff_fabric::route::address(node) == address).then_some(node)
}

/// A line of `fct.txt`: a flow that has finished.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FctLine {
    /// Numbers of nodes.
    pub src: u32,
    pub dst: u32,
    pub src_port: u16,
    pub dst_port: u16,
    /// Payload.
    pub size_bytes: u64,
    pub start_ns: u64,
    /// Until the sender has the acknowledgement of the last byte.
    pub fct_ns: u64,
    /// The same, alone on the idle network.
    pub standalone_ns: u64,
}

impl FctLine {
    /// When the sender has the last acknowledgement.
    pub fn end_ns(&self) -> u64 {
        self.start_ns + self.fct_ns
    }
}

impl fmt::Display for FctLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let FctLine { src, dst, src_port, dst_port, size_bytes, start_ns, fct_ns, standalone_ns } = *self;
        let (src, dst) = (address(src), address(dst));
        write!(f, "{src:08x} {dst:08x} {src_port} {dst_port} {size_bytes} {start_ns} {fct_ns} {standalone_ns}")
    }
}

/// A line of `pfc.txt`: a PFC frame that has arrived.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PfcLine {
    /// When the frame had arrived.
    pub at_ns: u64,
    pub node: u32,
    /// Otherwise a host.
    pub is_switch: bool,
    /// Of the node's ports, from 1 on.
    pub port: u32,
    /// PAUSE; otherwise RESUME.
    pub pause: bool,
}

impl fmt::Display for PfcLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let PfcLine { at_ns, node, is_switch, port, pause } = *self;
        write!(f, "{at_ns} {node} {} {port} {}", u8::from(is_switch), u8::from(pause))
    }
}

/// A finished flow as we know it, in nanoseconds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Finished {
    pub(crate) src: u32,
    pub(crate) dst: u32,
    pub(crate) ports: (u16, u16),
    pub(crate) size_bytes: u64,
    pub(crate) start_ns: u64,
    pub(crate) fct_ns: u64,
}

/// The lines of these flows, in the order in which their senders heard of their ends; flows of one
/// instant stay in the order given.
pub(crate) fn fct_lines(plan: &Plan, mut flows: Vec<Finished>) -> Vec<FctLine> {
    flows.sort_by_key(|flow| flow.start_ns + flow.fct_ns);
    let transfer = |flow: &Finished| Transfer { src: flow.src, dst: flow.dst, size_bytes: flow.size_bytes };
    let alone = standalone_ns(plan, &flows.iter().map(transfer).collect::<Vec<_>>());
    let line = |(flow, alone): (&Finished, Option<u64>)| FctLine {
        src: flow.src,
        dst: flow.dst,
        src_port: flow.ports.0,
        dst_port: flow.ports.1,
        size_bytes: flow.size_bytes,
        start_ns: flow.start_ns,
        fct_ns: flow.fct_ns,
        // Whoever has finished has found a way.
        standalone_ns: alone.unwrap_or(0),
    };
    flows.iter().zip(alone).map(line).collect()
}

#[derive(Clone, Debug)]
pub struct Exported {
    pub folder: PathBuf,
    /// Lines of `fct.txt`.
    pub flows: usize,
    /// Flows that are not in the file: unfinished or endless ones.
    pub left_out: usize,
    /// Lines of `pfc.txt`.
    pub pfc_frames: usize,
}

/// Both files of a run, ready to be written.
#[derive(Debug)]
pub struct Export {
    flows: Vec<FctLine>,
    left_out: usize,
    frames: Vec<PfcLine>,
}

impl Export {
    pub fn of(run: &RunDirectory) -> Result<Export, Vec<Diagnostic>> {
        let loaded = run.load()?;
        if loaded.plan.nodes.len() > NODES_MOST {
            let error = Diagnostic::new("this network has too many nodes for the addresses of that format");
            return Err(vec![error.label(format!("at most {NODES_MOST}"))]);
        }
        if !run.has(&tables::PFC) {
            let error = Diagnostic::new(format!("`{}` has no record of PFC frames", run.path().display()));
            let error = error.label("pfc.txt is made of the table `pfc`");
            let again = format!("xoff run {}/scenario.toml --set output.pfc_frames=true", run.path().display());
            return Err(vec![error.help(format!("run it again with them: {again}"))]);
        }
        let (flows, left_out) = flows(run, &loaded.plan).map_err(|error| vec![error])?;
        let frames = frames(run, &loaded.plan).map_err(|error| vec![error])?;
        Ok(Export { flows: fct_lines(&loaded.plan, flows), left_out, frames })
    }

    /// Writes `fct.txt` and `pfc.txt`, both or none. In the run's own directory they take the place of
    /// earlier ones.
    pub fn write(&self, run: &RunDirectory, folder: &Path, present: Present) -> io::Result<Exported> {
        let names = ["fct.txt", "pfc.txt"].map(|name| folder.join(name));
        let texts = [text(&self.flows), text(&self.frames)];
        disk::create_dirs(folder)?;
        let own = names.iter().all(|name| listing::lists(run.path(), name) || !name.exists());
        let present = if own && names.iter().any(|name| name.exists()) { Present::Replace } else { present };
        let files: Vec<(PathBuf, &str)> = names.iter().cloned().zip(texts.iter().map(String::as_str)).collect();
        whole::refuse_present(&files, present)?;
        for name in &names {
            listing::announce(run.path(), name)?;
        }
        whole::write_all(&files, present)?;
        Ok(Exported {
            folder: folder.to_owned(),
            flows: self.flows.len(),
            left_out: self.left_out,
            pfc_frames: self.frames.len(),
        })
    }
}

/// One line each.
pub fn text<T: fmt::Display>(lines: &[T]) -> String {
    let mut out = String::new();
    for line in lines {
        let _ = writeln!(out, "{line}");
    }
    out
}

/// Finished flows in the order of the table, and how many others there were.
fn flows(run: &RunDirectory, plan: &Plan) -> Result<(Vec<Finished>, usize), Diagnostic> {
    let names = ["src", "dst", "src_port", "dst_port", "size_bytes", "start_us", "fct_acked_us"];
    let (mut flows, mut left_out) = (Vec::new(), 0);
    for rows in run.rows(&tables::FLOWS, &names)? {
        let rows = rows?;
        let (src, dst) = (rows.integers("src")?, rows.integers("dst")?);
        let (src_port, dst_port) = (rows.integers("src_port")?, rows.integers("dst_port")?);
        let (size, start, fct) = (rows.integers("size_bytes")?, rows.reals("start_us")?, rows.reals("fct_acked_us")?);
        for row in 0..rows.len() {
            let (Some(size_bytes), Some(fct)) = (size.get(row), fct.time(row)) else {
                left_out += 1;
                continue;
            };
            let number = |column: &crate::read::Integers<'_>| column.get(row).unwrap_or(0);
            let is_host = |node: u64| plan.nodes.get(node as usize).is_some_and(|node| node.kind == NodeKind::Host);
            if !is_host(number(&src)) || !is_host(number(&dst)) {
                let error = Diagnostic::new(format!("`{}` does not fit together", run.path().display()));
                return Err(error.label("its table `flows` has hosts that its scenario does not have"));
            }
            flows.push(Finished {
                src: number(&src) as u32,
                dst: number(&dst) as u32,
                ports: (number(&src_port) as u16, number(&dst_port) as u16),
                size_bytes,
                start_ns: start.time(row).map_or(0, |start| start.ps() / 1000),
                fct_ns: fct.ps() / 1000,
            });
        }
    }
    Ok((flows, left_out))
}

fn frames(run: &RunDirectory, plan: &Plan) -> Result<Vec<PfcLine>, Diagnostic> {
    let nodes: HashMap<&str, u32> = plan.nodes.iter().map(|node| node.name.as_str()).zip(0..).collect();
    let mut frames = Vec::new();
    for rows in run.rows(&tables::PFC, &["time_us", "node", "node_kind", "port_number", "event"])? {
        let rows = rows?;
        let (time, port) = (rows.reals("time_us")?, rows.integers("port_number")?);
        let (node, kind, event) = (rows.texts("node")?, rows.texts("node_kind")?, rows.texts("event")?);
        for row in 0..rows.len() {
            let name = node.get(row).unwrap_or_default();
            let Some(&node) = nodes.get(name) else {
                let error = Diagnostic::new(format!("`{}` does not fit together", run.path().display()));
                return Err(error.label(format!("its table `pfc` names `{name}`, its scenario does not")));
            };
            frames.push(PfcLine {
                at_ns: time.time(row).map_or(0, |at| at.ps() / 1000),
                node,
                is_switch: kind.get(row) == Some("switch"),
                port: port.get(row).unwrap_or(0) as u32,
                pause: event.get(row) == Some("pause"),
            });
        }
    }
    Ok(frames)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_read_as_the_format_says() {
        let line = FctLine {
            src: 0,
            dst: 319,
            src_port: 10_000,
            dst_port: 100,
            size_bytes: 5_000,
            start_ns: 2_000_000_122,
            fct_ns: 12_590,
            standalone_ns: 12_659,
        };
        assert_eq!(line.to_string(), "0b000001 0b013f01 10000 100 5000 2000000122 12590 12659");
        let frame = PfcLine { at_ns: 2_000_026_937, node: 4, is_switch: false, port: 1, pause: true };
        assert_eq!(
            text(&[frame, PfcLine { is_switch: true, pause: false, ..frame }]),
            "2000026937 4 0 1 1\n2000026937 4 1 1 0\n"
        );
        for node in [0, 1, 255, 256, 65_535] {
            assert_eq!(node_of(address(node)), Some(node));
        }
        assert_eq!(node_of(0x0a00_0001), None);
        assert_eq!(node_of(0x0b00_0002), None);
    }

    #[test]
    fn flows_stand_in_the_order_of_their_ends() {
        let flow = |src: u32, start_ns: u64, fct_ns: u64| Finished {
            src,
            dst: 4,
            ports: (10_000, 100),
            size_bytes: 1_000,
            start_ns,
            fct_ns,
        };
        let lines = fct_lines(&crate::fixture::plan(), vec![flow(1, 5, 20), flow(0, 0, 10), flow(0, 5, 20)]);
        assert_eq!(lines.iter().map(|line| (line.src, line.end_ns())).collect::<Vec<_>>(), [(0, 10), (1, 25), (0, 25)]);
        assert!(lines[0].standalone_ns > 30_000);
    }
}
