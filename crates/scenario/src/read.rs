//! Reading of inputs: bounded, and never waiting for what will not come.

use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, IsTerminal, Read};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::Path;
use xoff_engine::quantity::format_bytes;

/// The text of a file, or why there is none.
pub fn text(path: &Path, largest_bytes: u64) -> Result<String, String> {
    String::from_utf8(bytes(path, largest_bytes)?)
        .map_err(|error| format!("not UTF-8 text: byte {}", error.utf8_error().valid_up_to()))
}

/// The bytes of a file, or why there are none.
pub fn bytes(path: &Path, largest_bytes: u64) -> Result<Vec<u8>, String> {
    let (file, found) = open(path)?;
    if found.len() > largest_bytes {
        let (has, allowed) = (format_bytes(found.len()), format_bytes(largest_bytes));
        return Err(format!("the file has {has}, more than the {allowed} allowed"));
    }
    // A device or a pipe tells no length beforehand, and may never end.
    let mut bytes = Vec::new();
    file.take(largest_bytes + 1).read_to_end(&mut bytes).map_err(|error| reason(&error))?;
    if bytes.len() as u64 > largest_bytes {
        return Err(format!("the file has more than the {} allowed", format_bytes(largest_bytes)));
    }
    Ok(bytes)
}

/// Opens what can be read to an end: a file, or a pipe that somebody writes to.
pub fn open(path: &Path) -> Result<(Box<dyn Read>, Metadata), String> {
    let found = std::fs::metadata(path).map_err(|error| reason(&error))?;
    let kind = found.file_type();
    if kind.is_dir() {
        return Err("this is a directory".to_owned());
    }
    // Opening a pipe would wait for a writer.
    let flags = OFlags::NONBLOCK.bits().cast_signed();
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path).map_err(|error| reason(&error))?;
    if file.is_terminal() {
        return Err("this is a terminal; `-` reads from it".to_owned());
    }
    let first = if kind.is_file() { Vec::new() } else { first_byte(&file, kind.is_fifo())? };
    let blocking = fcntl_getfl(&file).map(|flags| flags - OFlags::NONBLOCK);
    blocking.and_then(|flags| fcntl_setfl(&file, flags)).map_err(|error| reason(&error.into()))?;
    Ok((Box::new(io::Cursor::new(first).chain(file)), found))
}

/// What there is to read at once. A pipe that is empty but has a writer is worth waiting for.
fn first_byte(mut file: &File, pipe: bool) -> Result<Vec<u8>, String> {
    let mut byte = [0];
    match file.read(&mut byte) {
        Ok(0) if pipe => Err("this is a pipe that nobody writes to".to_owned()),
        Ok(read) => Ok(byte[..read].to_vec()),
        Err(error) if error.kind() == io::ErrorKind::WouldBlock && pipe => Ok(Vec::new()),
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
            Err("this is a device that has nothing to read".to_owned())
        }
        Err(error) => Err(reason(&error)),
    }
}

pub(crate) fn reason(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "no such file".to_owned(),
        io::ErrorKind::PermissionDenied => "no permission to read it".to_owned(),
        _ => error.to_string(),
    }
}
