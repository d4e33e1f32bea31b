//! Network namespaces without a name: a descriptor is all that holds one, so it vanishes with the process.

use crate::os;
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::panic::resume_unwind;
use std::thread;

/// A network namespace of its own.
pub struct Namespace {
    file: File,
}

impl Namespace {
    /// A new one, with nothing in it but a loopback interface that is down.
    pub fn new() -> io::Result<Namespace> {
        on_another_thread(|| {
            os::enter_new_network_namespace().map_err(explained)?;
            Ok(Namespace { file: File::open("/proc/thread-self/ns/net")? })
        })
    }

    /// Does something inside: sockets that it opens and processes that it starts belong to this namespace.
    pub fn inside<T: Send>(&self, act: impl FnOnce() -> io::Result<T> + Send) -> io::Result<T> {
        on_another_thread(|| {
            move_into_link_name_space(self.descriptor(), Some(LinkNameSpaceType::Network))?;
            act()
        })
    }

    pub fn descriptor(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

/// Linux says that no space is left on a device when it means that there are too many.
fn explained(error: io::Error) -> io::Error {
    if error.kind() != io::ErrorKind::StorageFull {
        return error;
    }
    let why = "there are as many as this system allows; hint: raise /proc/sys/user/max_net_namespaces";
    io::Error::new(error.kind(), why)
}

/// A thread's namespace is its own: one that ends takes no other with it, and none has to find its way back.
fn on_another_thread<T: Send>(act: impl FnOnce() -> io::Result<T> + Send) -> io::Result<T> {
    thread::scope(|scope| {
        let thread = thread::Builder::new().name("namespace".to_owned()).spawn_scoped(scope, act)?;
        thread.join().unwrap_or_else(|panic| resume_unwind(panic))
    })
}
