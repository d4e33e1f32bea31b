//! `stack`: settings of several sections that belong together, as standards and products combine them.
//!
//! A stack is a scenario without network and traffic. What the scenario itself says goes before it, key by key; a list
//! of classes, and a scheme, as a whole.

use super::diagnostic::{Diagnostic, Source};
use super::tree::{self, Entry, Value};

/// Stacks by name; the empty text is none.
pub(crate) const STACKS: &[(&str, &str)] = &[("none", ""), ("uec", UEC), ("mrc", MRC)];

/// Ultra Ethernet 1.0, best-effort classes: packets on any path, trimming at one bandwidth-delay product, control by the
/// sender. Assumptions: headers are those of RoCEv2, and the time-out is that of its public simulator for three tiers
/// at 100 Gb/s (15 us and six times the drain time of a full queue).
const UEC: &str = r#"
[routing]
mode = "mixed"
entropies = 256

[host]
mtu = "4096B"
recovery = "sack"
retransmit_timeout = "100us"
ack_path = "entropy"

[[class]]
name = "data"
priority = 3
lossless = false
queue_time = "bdp"

[[class]]
name = "control"
priority = 6
lossless = false
control = true

[switch]
trim = true

[scheme]
name = "nscc"
"#;

/// OCP Multipath Reliable Connection 1.0, as far as it is public: paths that are marked or trimmed are passed over, last
/// hops do not mark. Assumptions: 128 paths in use and as many in reserve, in one plane; the time-out is that of the
/// `uec` stack.
const MRC: &str = r#"
[routing]
mode = "mrc"
entropies = 256
entropy_map = "path"

[host]
mtu = "4096B"
recovery = "sack"
retransmit_timeout = "100us"

[[class]]
name = "data"
priority = 3
lossless = false
queue_time = "bdp"

[[class]]
name = "control"
priority = 6
lossless = false
control = true

[switch]
trim = true

[scheme]
name = "nscc"
preset = "mrc"
"#;

/// Adds what the stack of a scenario says, where the scenario says nothing.
pub(crate) fn apply(entries: &mut Vec<Entry>) -> Result<(), Diagnostic> {
    let named = entries.iter().find(|entry| entry.key == "stack").map(|entry| &entry.item.value);
    // An unknown name is refused where the key is read.
    let Some(Value::Text(name)) = named else { return Ok(()) };
    let Some((name, text)) = STACKS.iter().find(|(known, text)| known == name && !text.is_empty()) else {
        return Ok(());
    };
    let source = Source::new(format!("stack \"{name}\""), *text);
    merge(entries, tree::parse(&source)?, true);
    Ok(())
}

fn merge(entries: &mut Vec<Entry>, more: Vec<Entry>, top: bool) {
    for entry in more {
        let Some(own) = entries.iter_mut().find(|own| own.key == entry.key) else {
            entries.push(entry);
            continue;
        };
        let whole = top && entry.key == "scheme";
        if let (Value::Table(own), Value::Table(more), false) = (&mut own.item.value, entry.item.value, whole) {
            merge(own, more, false);
        }
    }
}
