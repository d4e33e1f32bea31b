//! Documentation of the formats: `xoff describe hpcc` and `docs/formats.md`.

use super::hpcc::keys::{Fate, KEYS, Key};
use super::{conweave, tcd};
use crate::wrap;
use serde_json::{Value, json};
use std::fmt::Write;

/// What happens to a key, in a word or two.
fn fate(key: &Key) -> String {
    match key.fate {
        Fate::Mapped => "mapped".to_owned(),
        Fate::MappedIn(modes) => {
            let modes: Vec<String> = modes.iter().map(u64::to_string).collect();
            format!("mapped in mode {}", modes.join(", "))
        }
        Fate::Checked => "checked".to_owned(),
        Fate::Inert => "without effect".to_owned(),
        Fate::Output => "output only".to_owned(),
    }
}

fn default(key: &Key) -> &str {
    match (key.default, key.fate) {
        ("", Fate::Output) => "",
        ("", _) => "must be given",
        (default, _) => default,
    }
}

/// `xoff describe hpcc`.
pub fn text(width: usize) -> String {
    let mut out = String::new();
    let about = "Keys of the HPCC authors' simulator and what `xoff import hpcc` makes of them. In brackets: what holds \
                 without the key.";
    wrap::paragraph(&mut out, about, 0, width);
    for key in KEYS {
        out.push('\n');
        out.push_str(&of_key(key, width));
    }
    out
}

fn of_key(key: &Key, width: usize) -> String {
    let mut out = String::new();
    let held = match default(key) {
        "" => String::new(),
        default => format!(" [{default}]"),
    };
    wrap::paragraph(&mut out, &format!("{}{held}: {}", key.name, fate(key)), 0, width);
    wrap::paragraph(&mut out, &key.becomes.replace('`', ""), 4, width);
    out
}

/// The keys of the HPCC authors' simulator.
pub fn keys() -> impl Iterator<Item = &'static str> {
    KEYS.iter().map(|key| key.name)
}

/// One of them.
pub fn text_of(name: &str, width: usize) -> Option<String> {
    let key = KEYS.iter().find(|key| key.name == name)?;
    Some(format!("key of the HPCC authors' simulator\n{}", of_key(key, width)))
}

/// All formats as JSON.
pub fn json() -> Value {
    let key = |key: &Key| {
        json!({
            "key": key.name,
            "takes": key.kind.expects(),
            "default": key.default,
            "fate": fate(key),
            "becomes": key.becomes,
        })
    };
    Value::Array(KEYS.iter().map(key).collect())
}

/// `docs/formats.md`.
pub fn markdown() -> String {
    let mut out = String::from(HEAD);
    rows(&mut out, KEYS);
    out.push_str(TCD);
    rows(&mut out, tcd::keys::KEYS);
    out.push_str(CONWEAVE);
    rows(&mut out, conweave::keys::KEYS);
    out.push_str(TAIL);
    out
}

fn rows(out: &mut String, keys: &[Key]) {
    out.push_str("\n| key | without it | what happens | how |\n|---|---|---|---|\n");
    for key in keys {
        let held = match default(key) {
            text @ ("" | "must be given") => text.to_owned(),
            default => format!("`{default}`"),
        };
        let _ = writeln!(out, "| `{}` | {held} | {} | {} |", key.name, fate(key), key.becomes);
    }
}

const HEAD: &str = "\
# Formats of other simulators

<!-- Made from crates/scenario/src/import/: XOFF_UPDATE=1 cargo test -p xoff --test house pages -->

```sh
xoff import hpcc config.txt -o scenario.toml              # and scenario.flows.csv beside it
xoff run config.txt                                       # directly; check and compare take it too
xoff import tcd config.txt -o scenario.toml               # likewise, of the TCD authors' simulator
xoff import conweave config.txt -o scenario.toml          # and of ConWeave's
xoff import htsim perm.cm --topology base.toml -o perm.toml
xoff import chakra traces/llama --topology rails.toml     # Chakra execution traces, and llama.traces.json beside
xoff import cdf sizes.txt -o sizes.csv
```

What an importer writes is an ordinary scenario with comments that name the setting behind a line. It uses options that any scenario may use; there is no mode of its own. A file that is cut short, or that contradicts itself or another, is refused with its name, line and reason. Output files are written all or none, and replace others only with `--force`.

## The HPCC authors' simulator

Three files, words between blanks: the configuration (`KEY value`, in any order) names the topology and the flows, looked up from its own folder and then, with a warning, from the current directory. `xoff run`, `check` and `compare` recognise a configuration by its first word, one of the keys below.

The simulator that PowerTCP's authors made of it, ns3-datacenter, reads the same files by other rules. `XOFF_SIMULATOR ns3-datacenter` in the configuration selects those (both simulators skip the word), or a folder called `inet_*`, with a warning. Its scheme is no key of its own: `XOFF_SCHEME powertcp` or `theta-powertcp` replaces the flags `wien` and `delayWien` of its command line, or the end of the folder's name does (`inet_*_powertcp`, `inet_*_theta`; `_first` may follow). The command line also overrides `CC_MODE` (`algorithm`), `HAS_WIN` and `VAR_WIN` (`windowCheck`): write into the configuration what was in force. A file `flags.txt` beside it with that command line (`--bufalg=1 --alphaI=0.125 --gamma=0.99 ...`) says so too, and how buffers are shared: dynamic thresholds (0), ABM (1) or Reverie (2), alpha of every ingress, and the weight of the past; what contradicts the configuration is refused. Different from the rest of this page: times and starts are rounded to the nearest nanosecond, a topology may count its racks before its links, and a `nexthops.txt` beside the configuration (switch, host, next hops in the order of the hash) must have them in descending order, as Xoff has.

- **Topology**: `nodes switches links`, the ids of the switches, then a line `src dst rate delay error_rate` for each link. Node numbers and the order of links are kept, for hash and port numbers follow them: the nodes are called `h0`, `s320` and so on after their ids. Text after the last link is a legend, unless it looks like a further link. Refused: counts that do not fit, ids out of range, a node linked to itself, parallel links (there only the last is used), a host with several links or none, a network in pieces, more than 256 ports, and with HPCC rates other than 25, 50, 100, 200 and 400 Gb/s (its telemetry takes them for 25).
- **Flows**: their number, then `src dst pg dport bytes start_seconds` in the order of starts. Decimal seconds are cut to nanoseconds in binary, as there: 2.000000123 becomes 2 000 000 122 ns, for the double nearest to it is a little smaller. Source ports count up from 10000 for each pair of hosts. Each priority group in use becomes a lossless class; group 0, the queue of PFC frames there, is refused. Lines beyond the number are ignored with a warning.
- **Rates and times**: `50Mb/s`, `100Gbps`; `1000ns`, `0.001ms`; a bare number is bits per second or seconds.

The scenario copies that simulator's rules by `[model]` (times in whole nanoseconds, ECMP hash, order of next hops, order of simultaneous events, what a base round trip is, one generator for all marks), `[host]` (frame sizes, the NIC's scan over its flows, ACKs in the data's class, window, no retransmission timeout), `[switch]` and `[switch.pfc]` (threshold, reserve, headroom of three bandwidth-delay products) and the scheme's preset `hpcc-ns3` (PowerTCP's: `inet-ns3`). Drops and deadlocks are counted and do not end the run, as there.

Every key, and what becomes of it. A key that is not in this table, or comes twice, is refused (that simulator skips the former and takes the last of the latter).
";

const TCD: &str = "
## The TCD authors' simulator

The same three files from a relative: `xoff import tcd config.txt`; `xoff run`, `check` and `compare` recognise its configuration by keys that the other has not. It runs DCQCN (mode 1 below), TCD (2), a switch like PCN's with DCQCN's senders (3), and PFC alone (0).

- **Topology**: as above.
- **Flows**: their number, then `src dst pg bytes start_seconds stop_seconds`, in any order. A flow has a packet for each 1000 bytes begun, of 976 bytes of payload where a packet has 1000; one below 1000 bytes is one short packet. Refused: flows that stop before the run ends, and the groups 1 and 7, which are TCP's and that of PFC frames and CNPs.

The scenario copies that simulator's rules: static thresholds in cells of 1030 bytes, pauses of 5 us that are refreshed, ingresses that are resumed at arrivals and refreshes only (`[switch.pfc] resume_at`), polls for CNPs from a flow's first packet (`poll_from`), the preset `paper-sim`, and `[model]` and `[host]` much as above. [docs/validation.md](validation.md) has the list.

Every key; others are refused here too.
";

const CONWEAVE: &str = "
## ConWeave's simulator

The same three files from another relative, conweave-ns3 (SIGCOMM 2023): `xoff import conweave config.txt`; `xoff run`, `check` and `compare` recognise its configuration by `LB_MODE`. It has ECMP, DRILL, LetFlow, CONGA and ConWeave, lossless or with IRN.

- **Topology**: as above; every link has a delay of 1000 ns, which its round trips count on.
- **Flows**: their number, then `src dst pg bytes start_seconds` in the order of starts. Source ports count up from 10000 for each source host, destination ports from 100 for each destination host. A flow of 0 bytes is one of a byte.

Most of its rules serve nothing but a comparison, so that `[model] dialect = \"conweave\"` selects them as a whole: its shared buffer and the PAUSE frames that it sends for every packet above the threshold, one queue for ACKs and PFC frames, a generator of marks per switch, NICs that wake up for flows whose time is to come, receivers that forget a flow when its sender has ended and ask for a rate cut with each NAK, and `rand()` for all choices of paths. Nothing of it costs other runs anything.

Every key; others are refused here too.
";

const TAIL: &str = "
## htsim

Connection matrices (`.cm`): `Nodes N`, `Connections M`, then lines `SRC->DST [id I] start PICOSECONDS size BYTES`; `#` begins a comment. The network is not in such a file: `--topology SCENARIO.toml` names a scenario whose network, devices, scheme, probes and so on are kept and whose traffic, if it has any, is replaced. Node i is its i-th host; it may have more hosts, not fewer. A size of 0 sends to the end of the run. `prio`, which ranks the flows of receiver-driven transports, gives a warning. Triggers (`trigger`, `send_done_trigger`, `recv_done_trigger`) are refused, for no traffic of a scenario starts when another's flow ends; failures too, for they count the links of htsim's own fat tree.

A command line of htsim's Ultra Ethernet program (`-paths 64 -load_balancing_algo mixed -tiers 2 ...`) says what the network, the transport and the control are: `--arguments FILE.txt` in place of `--topology` makes a scenario of it, with `nscc:htsim`, selective acknowledgements, trimming and the routing it names. Starts are whole microseconds then, as there. `-failed K` slows links down to a quarter, as there. `[model] dialect = \"htsim\"` then has the rules that serve nothing but a comparison, to the draw of each random number ([validation](validation.md)).

## Chakra execution traces

What the ranks of a training job did, as [Chakra](https://github.com/mlcommons/chakra) records it: `PREFIX.0.et`, `PREFIX.1.et` and so on, packed or not, or the JSON form. The network comes from `--topology SCENARIO.toml`, whose traffic is replaced and whose first GPUs or hosts are the ranks, or is one switch of 400 Gb/s. [docs/chakra.md](chakra.md) says what becomes of nodes, and what is refused.

## Distributions of sizes

Lines of a size in bytes and the percentage of flows up to that size, from 0 to 100, are read wherever a scenario takes a distribution (`sizes = \"FILE.txt\"`), like this project's own CSV with probabilities from 0 to 1: which of the two it is, the last line tells. `xoff import cdf` turns one into the other.
";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_is_described() {
        let (text, json) = (text(80), json());
        for key in KEYS {
            assert!(text.contains(&format!("\n{}", key.name)), "{}", key.name);
        }
        assert_eq!(json.as_array().map(Vec::len), Some(KEYS.len()));
    }
}
