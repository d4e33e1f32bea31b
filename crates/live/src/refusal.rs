//! Why a testbed was not built, and what to do about it.

use std::fmt;
use std::io;

/// Why a testbed was not built. Displayed as what is wrong, and a hint.
#[derive(Debug)]
pub enum Refusal {
    /// Only Linux has what it takes.
    NotLinux,
    /// The process lacks capabilities.
    Rights {
        /// As in `capabilities(7)`.
        missing: Vec<&'static str>,
        /// Whether a user namespace would grant them.
        user_namespace_helps: bool,
    },
    /// The process may not open enough files.
    Descriptors {
        /// One for each node and port, and some.
        needed: u64,
        /// `ulimit -Hn`
        limit: u64,
    },
    /// Frames of the scenario are longer than a virtual Ethernet pair can carry.
    LongFrames {
        /// Bytes of the longest frame, without Ethernet header and FCS.
        needed_bytes: u32,
        most_bytes: u32,
    },
    /// Frames of the scenario are longer than an interface carries.
    Mtu {
        interface: String,
        /// Bytes of the longest frame, without Ethernet header and FCS.
        needed_bytes: u32,
        mtu_bytes: u32,
    },
    /// An interface that was named cannot be used.
    Interface {
        interface: String,
        /// What is wrong with it, and a hint.
        why: String,
    },
    /// Interfaces were given to nodes or ports that cannot have them.
    Assignment(String),
    System {
        /// What was tried.
        doing: String,
        error: io::Error,
    },
}

#[cfg(target_os = "linux")]
impl Refusal {
    /// For `map_err`: the system refused `doing` something.
    pub(crate) fn system(doing: impl Into<String>) -> impl FnOnce(io::Error) -> Refusal {
        move |error| Refusal::System { doing: doing.into(), error }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::NotLinux => {
                f.write_str("live runs need Linux: its network namespaces, virtual Ethernet pairs and packet sockets")
            }
            Refusal::Rights { missing, user_namespace_helps } => {
                write!(f, "live runs need {}, which this process does not have; ", missing.join(", "))?;
                let hint =
                    if *user_namespace_helps { "with sudo, or as `unshare -Ur xoff live ...`" } else { "with sudo" };
                write!(f, "hint: run it {hint}")
            }
            Refusal::Descriptors { needed, limit } => write!(
                f,
                "this network needs {needed} open files, and the limit is {limit}; hint: raise it (`ulimit -Hn {needed}` \
                 as root) or take a smaller network"
            ),
            Refusal::LongFrames { needed_bytes, most_bytes } => write!(
                f,
                "frames of this scenario need an MTU of {needed_bytes} bytes, and Linux has at most {most_bytes}; hint: \
                 lower `mtu` of the hosts"
            ),
            Refusal::Mtu { interface, needed_bytes, mtu_bytes } => write!(
                f,
                "frames of this scenario need an MTU of {needed_bytes} bytes, and {interface} has {mtu_bytes}; hint: \
                 `ip link set {interface} mtu {needed_bytes}`, or lower `mtu` of the hosts"
            ),
            Refusal::Interface { interface, why } => write!(f, "interface {interface}: {why}"),
            Refusal::Assignment(why) => f.write_str(why),
            Refusal::System { doing, error } => write!(f, "cannot {doing}: {error}"),
        }
    }
}

impl std::error::Error for Refusal {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Refusal::System { error, .. } => Some(error),
            _ => None,
        }
    }
}
