//! Whether this process may do what a testbed needs, asked before anything is done.

use crate::refusal::Refusal;
use rustix::thread::{CapabilitySet, capabilities};

type Capability = (&'static str, CapabilitySet);

const NET_ADMIN: Capability = ("CAP_NET_ADMIN", CapabilitySet::NET_ADMIN);
const NET_RAW: Capability = ("CAP_NET_RAW", CapabilitySet::NET_RAW);
const SYS_ADMIN: Capability = ("CAP_SYS_ADMIN", CapabilitySet::SYS_ADMIN);

/// To make namespaces, links between them and packet sockets. A user namespace of one's own owns all of them.
pub fn to_build() -> Result<(), Refusal> {
    let missing = missing(&[NET_ADMIN, NET_RAW, SYS_ADMIN])?;
    if missing.is_empty() {
        return Ok(());
    }
    Err(Refusal::Rights { missing, user_namespace_helps: user_namespaces_are_open() })
}

/// To open packet sockets on interfaces that are there: no user namespace owns those.
pub fn to_attach() -> Result<(), Refusal> {
    let missing = missing(&[NET_RAW])?;
    if missing.is_empty() {
        return Ok(());
    }
    Err(Refusal::Rights { missing, user_namespace_helps: false })
}

fn missing(needed: &[Capability]) -> Result<Vec<&'static str>, Refusal> {
    let held = capabilities(None).map_err(|error| Refusal::system("read the rights of this process")(error.into()))?;
    let missing = needed.iter().filter(|(_, capability)| !held.effective.contains(*capability));
    Ok(missing.map(|(name, _)| *name).collect())
}

/// Whether anybody may make a user namespace: distributions close them in one of three ways.
fn user_namespaces_are_open() -> bool {
    let setting = |path: &str| std::fs::read_to_string(path).ok().and_then(|text| text.trim().parse::<i64>().ok());
    setting("/proc/sys/user/max_user_namespaces").is_some_and(|most| most > 0)
        && setting("/proc/sys/kernel/unprivileged_userns_clone") != Some(0)
        && setting("/proc/sys/kernel/apparmor_restrict_unprivileged_userns") != Some(1)
}
