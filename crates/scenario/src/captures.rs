//! `[[capture]]`: whose frames are kept.

use super::context::TrafficContext;
use super::names::valid_name;
use super::reader::{Result, Table};
use xoff_engine::Time;
use xoff_fabric::capture::Capture;
use xoff_fabric::plan::peer;

/// More than this would fill a disk.
const FRAMES_LARGEST: u64 = 1_000_000_000;
/// Longest frame of the simulator, and the least that is worth keeping: an Ethernet header.
const SNAP: std::ops::RangeInclusive<u64> = 14..=65_535;
/// One `[[capture]]`.
#[derive(Clone, Debug)]
pub struct Request {
    /// Of its file too; no other capture has it, in capitals or not.
    pub name: String,
    /// Ports, times and how many frames.
    pub capture: Capture,
    /// Bytes kept of a frame; `None`: all of it.
    pub snap_bytes: Option<u32>,
}

/// All of `[[capture]]`.
pub fn read(root: &mut Table, context: &TrafficContext<'_>) -> Result<Vec<Request>> {
    let mut requests: Vec<Request> = Vec::new();
    for (index, mut row) in (0..).zip(root.tables("capture")?) {
        let name = row.text_or("name", &format!("capture-{index}"))?;
        // It will be the name of a file.
        valid_name(&name)?;
        if name.value.starts_with('.') {
            let error = name.error(format!("`{}` cannot be a name", name.value));
            return Err(error.label("a name does not start with a dot"));
        }
        if requests.iter().any(|request| request.name.eq_ignore_ascii_case(&name.value)) {
            return Err(name
                .error(format!("two captures are called `{}`", name.value))
                .label("each writes its own file"));
        }
        let selectors = row.texts("ports")?;
        let mut ports = context.names.all_ports(&selectors)?;
        if row.is("directions", "both")? {
            ports.extend(ports.clone().into_iter().map(peer));
            ports.sort_unstable();
            ports.dedup();
        }
        let from = row.time("from")?;
        let until = row.take_time("until")?;
        if until.is_some_and(|until| until <= from) {
            return Err(row.error("until", "`until` is not after `from`").label(format!("later than {from}")));
        }
        let frames = row.count("frames", 1..=FRAMES_LARGEST)?;
        let snap_bytes = row.take_bytes("snap", SNAP)?.map(|bytes| bytes as u32);
        let capture = Capture { ports, from, until: until.unwrap_or(Time::NEVER), frames };
        requests.push(Request { name: name.value, capture, snap_bytes });
        row.finish()?;
    }
    Ok(requests)
}
