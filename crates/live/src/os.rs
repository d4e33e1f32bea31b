//! What neither the standard library nor `rustix` can ask of Linux without `unsafe`: the only file that has it.

#![allow(unsafe_code)]

use rustix::thread::{UnshareFlags, unshare_unsafe};
use std::ffi::c_int;
use std::io;
use std::os::fd::{AsFd, AsRawFd};

/// Moves the calling thread into a new network namespace, which has nothing but a loopback interface.
pub fn enter_new_network_namespace() -> io::Result<()> {
    // SAFETY: only `UnshareFlags::FILES` breaks rules of Rust (descriptors would differ among threads).
    unsafe { unshare_unsafe(UnshareFlags::NEWNET) }.map_err(io::Error::from)
}

/// From now on a packet socket receives every frame of one interface.
pub fn bind_to_interface(socket: impl AsFd, index: u32) -> io::Result<()> {
    let address = libc::sockaddr_ll {
        sll_family: libc::AF_PACKET as libc::c_ushort,
        sll_protocol: (libc::ETH_P_ALL as u16).to_be(),
        sll_ifindex: index as c_int,
        sll_hatype: 0,
        sll_pkttype: 0,
        sll_halen: 0,
        sll_addr: [0; 8],
    };
    let length = size_of_val(&address) as libc::socklen_t;
    // SAFETY: `address` is a whole sockaddr_ll of `length` bytes, which the kernel only reads, during the call.
    answer(unsafe { libc::bind(socket.as_fd().as_raw_fd(), (&raw const address).cast(), length) })
}

/// A packet socket does not see what is sent by its own interface.
pub fn ignore_outgoing(socket: impl AsFd) -> io::Result<()> {
    set_option(socket, libc::SOL_PACKET, libc::PACKET_IGNORE_OUTGOING, &1_i32)
}

/// An interface accepts frames to any address while the socket is open.
pub fn listen_to_all_addresses(socket: impl AsFd, index: u32) -> io::Result<()> {
    let membership = libc::packet_mreq {
        mr_ifindex: index as c_int,
        mr_type: libc::PACKET_MR_PROMISC as libc::c_ushort,
        mr_alen: 0,
        mr_address: [0; 8],
    };
    set_option(socket, libc::SOL_PACKET, libc::PACKET_ADD_MEMBERSHIP, &membership)
}

/// Errors of a netlink socket come with words.
pub fn explain_errors(socket: impl AsFd) -> io::Result<()> {
    set_option(socket, libc::SOL_NETLINK, libc::NETLINK_EXT_ACK, &1_i32)
}

/// Frames that a packet socket had no room for since it was asked last.
pub fn dropped_frames(socket: impl AsFd) -> io::Result<u32> {
    let mut counts = libc::tpacket_stats { tp_packets: 0, tp_drops: 0 };
    let mut length = size_of_val(&counts) as libc::socklen_t;
    let (level, name) = (libc::SOL_PACKET, libc::PACKET_STATISTICS);
    // SAFETY: the kernel writes at most `length` bytes to `counts`, of which every bit pattern is valid.
    answer(unsafe {
        libc::getsockopt(socket.as_fd().as_raw_fd(), level, name, (&raw mut counts).cast(), &raw mut length)
    })?;
    Ok(counts.tp_drops)
}

/// Scheduling policy and priority of the calling thread.
pub fn set_scheduling(policy: c_int, priority: c_int) -> io::Result<()> {
    // Not sched_setscheduler, which the C library musl refuses.
    // SAFETY: of sched_param only this field counts; the others, where there are any, may be zero.
    let mut settings: libc::sched_param = unsafe { std::mem::zeroed() };
    settings.sched_priority = priority;
    // SAFETY: the calling thread is alive, and `settings` is only read, during the call.
    match unsafe { libc::pthread_setschedparam(libc::pthread_self(), policy, &raw const settings) } {
        0 => Ok(()),
        error => Err(io::Error::from_raw_os_error(error)),
    }
}

fn set_option<T>(socket: impl AsFd, level: c_int, name: c_int, value: &T) -> io::Result<()> {
    let length = size_of::<T>() as libc::socklen_t;
    // SAFETY: `value` is `length` bytes, which the kernel only reads, during the call.
    answer(unsafe {
        libc::setsockopt(socket.as_fd().as_raw_fd(), level, name, std::ptr::from_ref(value).cast(), length)
    })
}

fn answer(returned: c_int) -> io::Result<()> {
    if returned == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}
