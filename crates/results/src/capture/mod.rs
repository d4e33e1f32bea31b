//! `[[capture]]`: the frames of chosen ports as pcapng files, for Wireshark and its kin.
//!
//! The fabric records frames ([`xoff_fabric::capture`]); [`Encoder`] makes bytes of
//! them; here they get a comment each (`comment`) and a file per table ([`pcapng`]).

mod comment;
pub(crate) mod pcapng;
#[cfg(test)]
mod tests;

use crate::files::disk::{self, Out};
use crate::names::Names;
use crate::summary::CaptureRow;
use comment::FrameComments;
use pcapng::{Interface, Packet, Pcapng};
use std::collections::HashMap;
use std::io::{self, BufWriter};
use std::path::Path;
use xoff_catalogue::telemetry_multiplier;
use xoff_engine::Time;
use xoff_fabric::capture::{Frame, RawFrame};
use xoff_fabric::plan::peer;
use xoff_scenario::Loaded;
use xoff_scenario::captures::Request;
use xoff_wire::{Encoder, FCS_BYTES};

/// The folder of captures in a run directory.
pub const FOLDER: &str = "captures";

/// Where the frames of a capture come from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Origin {
    /// Records of the simulator, which become bytes here.
    Simulated,
    /// A live run: they are bytes already.
    Live,
}

/// Writes the captures of a run as its frames come.
pub struct Writer<'a> {
    encoder: Encoder<'a>,
    comments: FrameComments,
    files: Vec<Open>,
    /// Bytes of the frame at hand.
    bytes: Vec<u8>,
}

struct Open {
    name: String,
    file: Pcapng<BufWriter<Out>>,
    /// Number of the interface of each port.
    interfaces: HashMap<u32, u32>,
    /// Frames by interface.
    seen: Vec<u64>,
    snap_bytes: u32,
}

impl<'a> Writer<'a> {
    /// Begins the files in `directory`, a run directory in the making.
    pub fn create(directory: &Path, loaded: &'a Loaded, labels: Vec<String>, origin: Origin) -> io::Result<Writer<'a>> {
        let comments = FrameComments::new(Names::of(&loaded.plan), labels);
        let folder = directory.join(FOLDER);
        if !loaded.captures.is_empty() {
            disk::create_dir(&folder)?;
        }
        let about = about(loaded, origin);
        let files = loaded.captures.iter().map(|request| open(&folder, request, comments.names(), &about));
        let files = files.collect::<io::Result<_>>()?;
        let multipliers = loaded.schemes.iter().map(|scheme| telemetry_multiplier(&scheme.values)).collect();
        let encoder = Encoder::new(&loaded.plan, multipliers);
        Ok(Writer { encoder, comments, files, bytes: Vec::new() })
    }

    pub fn frames(&mut self, frames: &[Frame]) -> io::Result<()> {
        for frame in frames {
            let Some(open) = self.files.get_mut(frame.capture as usize) else { continue };
            self.encoder.encode(frame, &mut self.bytes);
            let comment = self.comments.comment(frame, self.bytes.len());
            open.packet(frame.port, frame.at, (&self.bytes, self.bytes.len()), &comment)?;
        }
        Ok(())
    }

    /// Writes frames of a live run, which have their bytes.
    pub fn raw_frames(&mut self, frames: &[RawFrame]) -> io::Result<()> {
        for frame in frames {
            let Some(open) = self.files.get_mut(frame.capture as usize) else { continue };
            let length = usize::from(frame.frame_bytes).saturating_sub(FCS_BYTES);
            open.packet(frame.port, frame.at, (&frame.bytes, length), &frame.comment)?;
        }
        Ok(())
    }

    /// Completes the files; `missed` frames of each capture came after its limit.
    pub fn finish(self, end: Time, missed: &[u64]) -> io::Result<Vec<CaptureRow>> {
        let mut rows = Vec::with_capacity(self.files.len());
        for (mut open, missed) in self.files.into_iter().zip(missed.iter().copied().chain(std::iter::repeat(0))) {
            for (interface, &seen) in (0..).zip(&open.seen) {
                open.file.statistics(interface, end.ps() / 1000, seen)?;
            }
            open.file.finish()?;
            let path = format!("{FOLDER}/{}.pcapng", open.name);
            rows.push(CaptureRow { name: open.name, file: path, frames: open.seen.iter().sum(), missed });
        }
        Ok(rows)
    }
}

impl Open {
    /// A frame that `port` sends: bytes that are there of it, and how many it has.
    fn packet(&mut self, port: u32, at: Time, (bytes, length): (&[u8], usize), comment: &str) -> io::Result<()> {
        let Some(&interface) = self.interfaces.get(&port) else { return Ok(()) };
        self.seen[interface as usize] += 1;
        let (nanoseconds, snap_bytes) = (at.ps() / 1000, self.snap_bytes);
        self.file.packet(&Packet { interface, nanoseconds, bytes, length, snap_bytes, comment })
    }
}

/// What a reader must know of all frames of a file.
fn about(loaded: &Loaded, origin: Origin) -> String {
    let schemes: Vec<&str> = loaded.schemes.iter().map(|scheme| scheme.label.as_str()).collect();
    let units = loaded.schemes.iter().filter_map(|scheme| {
        let m = telemetry_multiplier(&scheme.values)?;
        Some(format!(" Telemetry of {} has m = {m} at every port (int_multiplier).", scheme.label))
    });
    let (frames, clock) = match origin {
        Origin::Simulated => ("Simulated frames", "the start of the run"),
        Origin::Live => ("Frames of a live run, as they were sent", "the start of the run in the scenario's time"),
    };
    format!(
        "scenario {}, scheme {}, seed {}. {frames}: a time stamp is when the first bit leaves \
         the port, cut to whole nanoseconds from {clock}; the FCS is left out.{}",
        loaded.name,
        schemes.join("+"),
        loaded.plan.seed,
        units.collect::<String>(),
    )
}

fn open(folder: &Path, request: &Request, names: &Names, about: &str) -> io::Result<Open> {
    let path = folder.join(format!("{}.pcapng", request.name));
    let file = disk::create(&path)?;
    let application = concat!("xoff ", env!("CARGO_PKG_VERSION"));
    let mut file = Pcapng::new(BufWriter::new(file), application, about)?;
    let mut interfaces = HashMap::new();
    for (number, &port) in (0..).zip(&request.capture.ports) {
        file.interface(&Interface {
            name: names.port(port),
            description: &format!("what {} sends to {}", names.node_name_of(port), names.node_name_of(peer(port))),
            bits_per_second: names.rate(port).bps(),
            snap_bytes: request.snap_bytes.unwrap_or(pcapng::WHOLE),
        })?;
        interfaces.insert(port, number);
    }
    let seen = vec![0; request.capture.ports.len()];
    Ok(Open {
        name: request.name.clone(),
        file,
        interfaces,
        seen,
        snap_bytes: request.snap_bytes.unwrap_or(pcapng::WHOLE),
    })
}
