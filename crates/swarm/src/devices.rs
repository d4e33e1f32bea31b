//! `[[class]]`, `[switch]`, `[host]` and `[model]`: how devices behave.

use crate::Network;
use crate::draw::{Draw, US, bytes, push, set, time};
use crate::table;
use toml::{Table, Value};

/// What the rest of a scenario must know of its devices.
#[derive(Debug)]
pub struct Devices {
    /// Classes that traffic may name; empty where the scenario names none.
    pub classes: Vec<String>,
    /// Those that PFC can stop.
    pub lossless: Vec<String>,
    pub mtu_bytes: u64,
}

pub fn devices(draw: &mut Draw, network: &Network, root: &mut Table) -> Devices {
    let mtu_bytes = *draw.pick(&[256, 1000, 1000, 1000, 1024, 1500, 4096, 9000]);
    let (classes, lossless) = classes(draw, root);
    let any_lossless = classes.is_empty() || !lossless.is_empty();
    let mut switch = switch(draw, network, mtu_bytes, any_lossless);
    if network.switches.len() > 1 && draw.one_in(6) {
        let mut profile =
            table! { select = draw.pick(&network.switches).as_str(), buffer = bytes(draw.between(8, 20) * 1_000_000) };
        if any_lossless && draw.one_in(2) {
            set(&mut profile, "pfc", pfc(draw, network, mtu_bytes));
        }
        push(root, "switch_profile", profile);
    }
    if draw.one_in(10) {
        set(&mut switch, "count_passing", true);
    }
    set(root, "switch", switch);
    set(root, "host", host(draw, mtu_bytes));
    if draw.one_in(6) {
        let every = *draw.pick(&[1, 2, 8]);
        push(root, "host_profile", table! { select = draw.pick(&network.hosts).as_str(), ack_every = every });
    }
    if draw.one_in(8) {
        set(root, "model", model(draw));
    }
    Devices { classes, lossless, mtu_bytes }
}

/// Names of all data classes, and of the lossless ones.
fn classes(draw: &mut Draw, root: &mut Table) -> (Vec<String>, Vec<String>) {
    let data = || table! { name = "data", priority = 3 };
    let control = || table! { name = "control", priority = 6, lossless = false };
    let lossy = |draw: &mut Draw, name: &str, priority: i64| {
        let mut class = table! { name = name, priority = priority, lossless = false };
        if draw.one_in(2) {
            set(&mut class, "queue_limit", bytes(draw.between(20, 400) * 1000));
        }
        if draw.one_in(3) {
            set(&mut class, "alpha", *draw.pick(&[0.0625, 0.5, 4.0]));
        }
        class
    };
    let mut bulk = table! { name = "bulk", priority = draw.between(0, 2) as i64 };
    let (rows, names, lossless): (Vec<Table>, &[&str], &[&str]) = match draw.between(0, 9) {
        0..5 => return (Vec::new(), Vec::new()),
        5 => {
            let mut data = data();
            if draw.one_in(2) {
                let service = *draw.pick(&["weighted", "round-robin"]);
                set(&mut data, "service", service);
                set(&mut bulk, "service", service);
                if service == "weighted" {
                    set(&mut bulk, "weight", draw.between(1, 5) as i64);
                }
            }
            (vec![data, bulk, control()], &["data", "bulk"], &["data", "bulk"])
        }
        6 => (vec![data(), lossy(draw, "bulk", 1), control()], &["data", "bulk"], &["data"]),
        7 => (vec![lossy(draw, "data", 3), control()], &["data"], &[]),
        8 => (vec![data()], &["data"], &["data"]),
        _ => {
            let mut control = table! { name = "signals", priority = 7, control = true };
            set(&mut control, "lossless", draw.one_in(2));
            (vec![data(), control], &["data"], &["data"])
        }
    };
    rows.into_iter().for_each(|row| push(root, "class", row));
    let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    (owned(names), owned(lossless))
}

fn switch(draw: &mut Draw, network: &Network, mtu_bytes: u64, any_lossless: bool) -> Table {
    let mut switch = table! { buffer = bytes(*draw.pick(&[4, 9, 12, 12, 12, 32]) * 1_000_000) };
    if any_lossless {
        set(&mut switch, "pfc", pfc(draw, network, mtu_bytes));
        if draw.one_in(8) {
            let mut watchdog = table! {
                poll = time(draw.between(10, 50) * US),
                detect = time(draw.between(20, 200) * US),
                restore = time(draw.between(20, 200) * US),
            };
            set(&mut watchdog, "action", *draw.pick(&["drop", "forward"]));
            set(&mut switch, "watchdog", watchdog);
        }
    }
    switch
}

fn pfc(draw: &mut Draw, network: &Network, mtu_bytes: u64) -> Table {
    let mut pfc = Table::new();
    if draw.one_in(2) {
        let xoff = draw.between(4, 120) * 1000;
        set(&mut pfc, "threshold", "static");
        set(&mut pfc, "xoff", bytes(xoff));
        if draw.one_in(2) {
            set(&mut pfc, "xon", bytes(xoff - draw.between(0, 4) * 1000));
        }
    } else if draw.one_in(2) {
        set(&mut pfc, "threshold", "dynamic");
        let alpha: Value =
            if draw.one_in(3) { "by-speed".into() } else { (*draw.pick(&[0.01, 0.0625, 0.25, 1.0, 8.0])).into() };
        set(&mut pfc, "alpha", alpha);
        set(&mut pfc, "reserve", bytes(draw.between(0, 3) * 4096));
        set(&mut pfc, "xon_offset", bytes(draw.between(0, 3) * 1500));
        if draw.one_in(4) {
            set(&mut pfc, "headroom_rule", "latched");
            set(&mut pfc, "xon_floor", bytes(draw.between(1, 3000)));
        }
    }
    match draw.between(0, 15) {
        0 => set(&mut pfc, "headroom", bytes(draw.between(0, 60) * 1000)),
        1 => set(&mut pfc, "headroom", "bdp"),
        2 => set(&mut pfc, "headroom_reserved_per", "port"),
        3 => set(&mut pfc, "headroom_reserved_per", "none"),
        _ => {}
    }
    if draw.one_in(3) {
        // A refresh may have to wait for a whole frame, and then takes its own time.
        let frame_ps = (mtu_bytes + 300) * 8_000 / network.slowest_gbps;
        let refresh_ps = frame_ps * draw.between(1, 4) + 1000;
        set(&mut pfc, "signalling", "timed");
        set(&mut pfc, "refresh", time(refresh_ps));
        set(&mut pfc, "pause_time", time(refresh_ps + frame_ps * draw.between(2, 9)));
        set(&mut pfc, "refresh_on_arrival", draw.one_in(2));
    }
    pfc
}

/// Divides thresholds by busy queues in some scenarios whose thresholds are dynamic.
pub fn busy_queues(draw: &mut Draw, root: &mut Table) {
    let lossy_alpha = root
        .get("class")
        .and_then(Value::as_array)
        .is_some_and(|rows| rows.iter().any(|row| row.get("alpha").is_some()));
    let Some(Value::Table(switch)) = root.get_mut("switch") else { return };
    let Some(Value::Table(pfc)) = switch.get_mut("pfc") else { return };
    let is_static = pfc.get("threshold").and_then(Value::as_str) == Some("static");
    if is_static || !draw.one_in(4) {
        return;
    }
    pfc.remove("headroom_rule");
    let abm = lossy_alpha || draw.one_in(2);
    set(pfc, "threshold", if abm { "abm" } else { "reverie" });
    set(pfc, "saturation", bytes(draw.between(1, 60) * 1000));
    if draw.one_in(3) {
        set(pfc, "active_queues", "evaluated");
    }
    if !abm {
        set(pfc, "gamma", *draw.pick(&[0.0, 0.5, 0.99, 0.999]));
        return;
    }
    set(pfc, "drain_interval", time(draw.between(1, 60) * US));
    if draw.one_in(2) {
        set(pfc, "unscheduled", *draw.pick(&["longest-bdp", "20KB"]));
        set(pfc, "unscheduled_alpha", *draw.pick(&[1.0, 16.0, 1024.0]));
    }
}

fn host(draw: &mut Draw, mtu_bytes: u64) -> Table {
    let mut host = table! { mtu = bytes(mtu_bytes) };
    let mut capped = false;
    if draw.one_in(6) {
        set(&mut host, "inflight_cap", *draw.pick(&["longest-bdp", "path-bdp"]));
        set(&mut host, "inflight_scales", draw.one_in(2));
        capped = true;
    }
    if !capped && draw.one_in(3) {
        set(&mut host, "ack_every", *draw.pick(&[2, 4, 16]));
    }
    if draw.one_in(4) {
        set(&mut host, "ack_class", "data");
    }
    if draw.one_in(3) {
        set(&mut host, "ack_path", "symmetric");
    }
    for key in ["ack_delay", "notify_delay"] {
        if draw.one_in(6) {
            set(&mut host, key, time(draw.between(0, 3 * US)));
        }
    }
    if draw.one_in(4) {
        set(&mut host, "nak_interval", time(draw.between(1, 500) * US));
        set(&mut host, "retransmit_timeout", time(draw.between(50, 5000) * US));
    }
    if draw.one_in(6) {
        set(&mut host, "scheduler", "scan");
        if draw.one_in(3) {
            set(&mut host, "acks_paused_by", 3);
        }
    }
    for key in ["repace_on_rate_change", "pace"] {
        if draw.one_in(8) {
            set(&mut host, key, false);
        }
    }
    host
}

fn model(draw: &mut Draw) -> Table {
    let mut model = Table::new();
    let choices: [(&str, &[&str]); 6] = [
        ("time_resolution", &["1ps", "1ns", "1ns-binary"]),
        ("event_order", &["hash", "insertion"]),
        ("ecmp", &["mix", "murmur3"]),
        ("next_hops", &["by-link", "descending"]),
        ("base_rtt", &["wire", "payload"]),
        ("random_streams", &["per-queue", "shared"]),
    ];
    for (key, values) in choices {
        if draw.one_in(2) {
            set(&mut model, key, *draw.pick(values));
        }
    }
    model
}
