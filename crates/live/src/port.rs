//! A packet socket on one interface: whole Ethernet frames in and out, without FCS.

use crate::os;
use rustix::io::{Errno, retry_on_intr};
use rustix::net::sockopt::{
    set_socket_recv_buffer_size, set_socket_recv_buffer_size_force, set_socket_send_buffer_size,
    set_socket_send_buffer_size_force, socket_recv_buffer_size,
};
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::thread;

/// Room for 30,000 of the longest frames, which take up more than their bytes. It is a limit: nothing is set aside.
const RECEIVE_BUFFER_BYTES: usize = 512 << 20;
/// Frames that wait for a real interface.
const SEND_BUFFER_BYTES: usize = 16 << 20;

/// Threads that close sockets.
const CLOSERS: usize = 64;

/// What an interface accepts.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Accepts {
    /// What it would accept anyway; a virtual pair hands on everything.
    Usual,
    /// Frames to any address, while the socket is open.
    Everything,
}

/// A packet socket on one interface.
pub struct Port {
    socket: OwnedFd,
    interface: String,
    lost: u64,
}

impl Port {
    /// On an interface of the namespace that the calling thread is in.
    pub fn open(interface: &str, index: u32, accepts: Accepts) -> io::Result<Port> {
        // Without a protocol it receives nothing until it is bound: no frame of another interface gets in.
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let socket = rustix::net::socket_with(AddressFamily::PACKET, SocketType::RAW, flags, None)?;
        os::ignore_outgoing(&socket)?;
        enlarge_buffers(&socket)?;
        if accepts == Accepts::Everything {
            os::listen_to_all_addresses(&socket, index)?;
        }
        os::bind_to_interface(&socket, index)?;
        Ok(Port { socket, interface: interface.to_owned(), lost: 0 })
    }

    pub fn interface(&self) -> &str {
        &self.interface
    }

    /// Sends a frame; `false` if the kernel has no room for it.
    pub fn send(&self, frame: &[u8]) -> io::Result<bool> {
        match retry_on_intr(|| rustix::net::send(&self.socket, frame, SendFlags::empty())) {
            Ok(_) => Ok(true),
            Err(Errno::NOBUFS | Errno::AGAIN) => Ok(false),
            Err(error) => Err(self.explain(&format!("cannot send a frame of {} bytes", frame.len()), error)),
        }
    }

    /// The length of the next frame, if there is one.
    pub fn receive(&self, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        let room = buffer.len();
        match retry_on_intr(|| rustix::net::recv(&self.socket, &mut *buffer, RecvFlags::TRUNC)) {
            Ok((_, length)) if length <= room => Ok(Some(length)),
            Ok((_, length)) => {
                let why = format!("{}: a frame of {length} bytes came, for which {room} were kept", self.interface);
                Err(io::Error::new(io::ErrorKind::InvalidData, why))
            }
            Err(Errno::AGAIN) => Ok(None),
            Err(error) => Err(self.explain("cannot receive", error)),
        }
    }

    /// Frames that found no room in the receive buffer, since the port was opened.
    pub fn lost(&mut self) -> io::Result<u64> {
        self.lost += u64::from(os::dropped_frames(&self.socket)?);
        Ok(self.lost)
    }

    /// How much can wait to be received, as the kernel counts.
    pub fn receive_buffer_bytes(&self) -> io::Result<usize> {
        Ok(socket_recv_buffer_size(&self.socket)?)
    }

    fn explain(&self, what: &str, error: Errno) -> io::Error {
        let error = io::Error::from(error);
        io::Error::new(error.kind(), format!("{}: {what}: {error}", self.interface))
    }
}

impl AsFd for Port {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

/// Closes sockets. Each waits tens of milliseconds until no processor of the machine may still look at it; those that are
/// closed at once wait together.
pub fn close(mut ports: Vec<Port>) {
    thread::scope(|scope| {
        let share = ports.len().div_ceil(CLOSERS);
        while !ports.is_empty() {
            let some = ports.split_off(ports.len().saturating_sub(share));
            // A thread that cannot be started drops what it was given, here.
            let _ = thread::Builder::new().spawn_scoped(scope, move || drop(some));
        }
    });
}

/// Beyond the system's limits where that is allowed; up to them in a user namespace, where it is not.
fn enlarge_buffers(socket: &OwnedFd) -> io::Result<()> {
    if set_socket_recv_buffer_size_force(socket, RECEIVE_BUFFER_BYTES).is_err() {
        set_socket_recv_buffer_size(socket, RECEIVE_BUFFER_BYTES)?;
    }
    if set_socket_send_buffer_size_force(socket, SEND_BUFFER_BYTES).is_err() {
        set_socket_send_buffer_size(socket, SEND_BUFFER_BYTES)?;
    }
    Ok(())
}
