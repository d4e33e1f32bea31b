//! `[[fault]]`, `[[probe]]`, `[[capture]]` and `[[measure]]`: what goes wrong and what is looked at.

use crate::Network;
use crate::devices::Devices;
use crate::draw::{Draw, US, gbps, push, set, time};
use crate::table;
use toml::Table;

pub fn events(draw: &mut Draw, network: &Network, devices: &Devices, horizon_ps: u64, root: &mut Table) {
    if draw.one_in(3) {
        for _ in 0..draw.between(1, 2) {
            let fault = fault(draw, network, devices, horizon_ps);
            push(root, "fault", fault);
        }
    }
    if draw.one_in(4) {
        look(draw, network, horizon_ps, root);
    }
}

fn fault(draw: &mut Draw, network: &Network, devices: &Devices, horizon_ps: u64) -> Table {
    let at = draw.between(0, horizon_ps);
    let until = (!draw.one_in(4)).then(|| at + draw.between(1, horizon_ps.max(20 * US)));
    let mut row = table! { at = time(at) };
    let stoppable = devices.classes.is_empty() || !devices.lossless.is_empty();
    let kind = match draw.between(0, 4) {
        4 if !stoppable => "loss",
        number => ["link-down", "link-up", "rate", "loss", "pause-storm"][number as usize],
    };
    set(&mut row, "kind", kind);
    if let Some(until) = until.filter(|_| kind != "link-up") {
        set(&mut row, "until", time(until));
    }
    if kind == "pause-storm" {
        set(&mut row, "host", draw.pick(&network.hosts).as_str());
        if let Some(class) = devices.lossless.first() {
            set(&mut row, "class", class.as_str());
        }
        return row;
    }
    set(&mut row, "link", network.port(draw));
    match kind {
        "rate" => set(&mut row, "rate", gbps(*draw.pick(&[1, 5, 10, 40, 100]))),
        "loss" => set(&mut row, "loss", *draw.pick(&[0.0, 0.0001, 0.01, 0.3, 1.0])),
        _ => {}
    }
    row
}

/// Half of the links that fail or come back are known of later.
pub fn convergence(draw: &mut Draw, horizon_ps: u64, root: &mut Table) {
    let faults = root.get_mut("fault").and_then(toml::Value::as_array_mut);
    for row in faults.into_iter().flatten().filter_map(toml::Value::as_table_mut) {
        let of_link = row.get("kind").and_then(toml::Value::as_str).is_some_and(|kind| kind.starts_with("link-"));
        if of_link && draw.one_in(2) {
            for key in ["detect", "fib", "converge"] {
                if draw.one_in(2) {
                    set(row, key, time(draw.between(0, horizon_ps / 4)));
                }
            }
        }
    }
}

/// Probes, captures and measures, which must not disturb anything.
pub fn look(draw: &mut Draw, network: &Network, horizon_ps: u64, root: &mut Table) {
    let every = time((horizon_ps / draw.between(5, 40)).max(1000));
    let whats = ["queue", "ingress", "throughput", "paused", "pause-rate", "shaped"];
    for _ in 0..draw.between(1, 3) {
        let mut row = table! { what = *draw.pick(&whats), ports = network.switch_port(draw), every = every.as_str() };
        set(&mut row, "until", time(horizon_ps));
        push(root, "probe", row);
    }
    if draw.one_in(2) {
        push(root, "probe", table! { what = "flows", every = every.as_str(), until = time(horizon_ps) });
    }
    if draw.one_in(2) {
        let mut row = table! { ports = network.port(draw), frames = draw.between(1, 3000) as i64 };
        set(&mut row, "directions", *draw.pick(&["out", "both"]));
        push(root, "capture", row);
    }
    let measures: [Table; 4] = [
        table! { name = "m0", metric = "fct", stat = vec!["mean", "p99", "max"], unit = "us" },
        table! { name = "m1", metric = "slowdown", stat = "p50" },
        table! { name = "m2", metric = "goodput", unit = "Gbps" },
        table! { name = "m3", metric = "counter", of = "pause_frames" },
    ];
    for measure in measures {
        if draw.one_in(3) {
            push(root, "measure", measure);
        }
    }
}
