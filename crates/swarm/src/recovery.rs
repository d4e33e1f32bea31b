//! `recovery` of `[host]`: selective recovery, and packet trimming where a class may drop.

use crate::devices::Devices;
use crate::draw::{Draw, US, bytes, set, time};
use crate::schemes;
use toml::{Table, Value};

/// Sets in some scenarios how flows recover from losses. Keys that are only of go-back-N are taken out.
pub fn recovery(draw: &mut Draw, devices: &Devices, root: &mut Table) {
    if !draw.one_in(8) || !has_choice(root) {
        return;
    }
    let kind = *draw.pick(&["irn", "irn-rewind", "sack"]);
    let Some(Value::Table(host)) = root.get_mut("host") else { return };
    host.remove("ack_every");
    host.remove("nak_interval");
    set(host, "recovery", kind);
    if kind == "sack" {
        set(host, "retransmit_timeout", time(draw.between(100, 2000) * US));
        if draw.one_in(2) {
            set(host, "ack_bytes", bytes(draw.between(1, 60) * 1000));
        }
    } else {
        let low = draw.between(20, 200);
        set(host, "rto_low", time(low * US));
        set(host, "rto_high", time(draw.between(low, 600) * US));
        if draw.one_in(3) {
            set(host, "recovery_window", bytes(draw.between(1, 300) * 1000));
        }
    }
    root.remove("host_profile");
    let drops = devices.classes.len() > devices.lossless.len();
    if let Some(Value::Table(switch)) = root.get_mut("switch").filter(|_| drops && kind == "sack")
        && draw.one_in(2)
    {
        set(switch, "trim", true);
    }
}

/// Whether a flow has the recovery of its host: not RCM's, and not those of TCP.
fn has_choice(root: &Table) -> bool {
    let names = schemes::names(root);
    !names.contains(&"rcm") && !names.iter().all(|name| ["tcp-newreno", "dctcp"].contains(name))
}
