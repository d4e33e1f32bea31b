//! The links of one namespace, through a netlink socket that was opened inside it.

use crate::namespace::Namespace;
use crate::netlink::{self, End, LinkState};
use crate::os;
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType};
use std::io;
use std::os::fd::OwnedFd;
use std::thread;
use std::time::{Duration, Instant};

/// More than the kernel says of one link.
const ANSWER_BYTES: usize = 32 * 1024;
/// It takes microseconds, unless the machine is very busy.
const PATIENCE: Duration = Duration::from_secs(10);
/// What the kernel says about addresses of IPv6 if it has none.
const NO_IPV6: Option<i32> = Some(libc::EAFNOSUPPORT);

/// The links of one namespace.
pub struct Links {
    socket: OwnedFd,
}

impl Links {
    /// Those of the namespace that the calling thread is in.
    pub fn open() -> io::Result<Links> {
        // Its protocol is number 0, NETLINK_ROUTE.
        let (family, flags) = (AddressFamily::NETLINK, SocketFlags::CLOEXEC);
        let socket = rustix::net::socket_with(family, SocketType::RAW, flags, None)?;
        os::explain_errors(&socket)?;
        Ok(Links { socket })
    }

    /// Makes a pair of interfaces, one here and one in another namespace.
    pub fn new_pair(&self, here: &End, there: &End, namespace: &Namespace) -> io::Result<()> {
        netlink::outcome(&self.ask(&netlink::new_pair(here, there, namespace.descriptor()))?)
    }

    /// Takes an interface into service, so that the kernel never sends anything by it on its own.
    pub fn raise(&self, name: &str) -> io::Result<()> {
        match netlink::outcome(&self.ask(&netlink::without_ipv6(name))?) {
            Err(error) if error.raw_os_error() != NO_IPV6 => return Err(error),
            _ => {}
        }
        netlink::outcome(&self.ask(&netlink::up(name))?)
    }

    /// What is known of an interface that was taken into service, once it really is: the kernel learns of its carrier
    /// a little later.
    pub fn await_ready(&self, name: &str) -> io::Result<LinkState> {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let link = self.find(name)?;
            if link.is_ready {
                return Ok(link);
            }
            if Instant::now() > deadline {
                return Err(io::Error::new(io::ErrorKind::TimedOut, format!("{name} has no carrier")));
            }
            thread::sleep(Duration::from_micros(200));
        }
    }

    pub fn find(&self, name: &str) -> io::Result<LinkState> {
        netlink::link_state(&self.ask(&netlink::get_link(name))?)
    }

    fn ask(&self, request: &[u8]) -> io::Result<Vec<u8>> {
        rustix::net::send(&self.socket, request, SendFlags::empty())?;
        let mut answer = vec![0; ANSWER_BYTES];
        let (length, _) =
            rustix::io::retry_on_intr(|| rustix::net::recv(&self.socket, &mut answer[..], RecvFlags::empty()))?;
        answer.truncate(length);
        Ok(answer)
    }
}
