//! `[topology]` of servers with several GPUs and NICs: kinds `rail`, `dual-plane` and `server-clos`, and presets with
//! the numbers of fabrics that were published.

use super::reader::{Result, Table};
use super::topology_keys::{NODES_LARGEST, in_reach, link_rate, link_spec, link_spec_or, parallel, within};
use xoff_engine::BitRate;
use xoff_fabric::servers::{ServerFabric, Servers};
use xoff_fabric::topology::{Graph, LinkSpec};

/// A fabric as it was published; every number of it is the default of a key.
#[derive(Clone, Copy, Debug)]
pub struct Preset {
    name: &'static str,
    /// Which [`SERVER_KINDS`](super::dictionary::words::SERVER_KINDS) it is of.
    pub kind: &'static str,
    servers: u32,
    ports: u32,
    planes: u32,
    segment_servers: u32,
    /// Of each plane.
    spines: u32,
    nic_gbps: u64,
    fabric_gbps: u64,
}

/// NICs of one port of 400G, in one plane.
const ONE_400G_PORT: Preset = Preset {
    name: "",
    kind: "",
    servers: 0,
    ports: 1,
    planes: 1,
    segment_servers: 0,
    spines: 0,
    nic_gbps: 400,
    fabric_gbps: 400,
};

/// In the order of [`PRESETS`](super::dictionary::words::PRESETS). Each is one pod: no layer above the spines is built.
const PUBLISHED: [Preset; 4] = [
    // Qian et al., "Alibaba HPN: A Data Center Network for Large Language Model Training" (SIGCOMM 2024): NICs of
    // 2 x 200G to two ToRs in two planes; a segment of 128 servers has 16 ToRs of 128 x 200G down and 60 x 400G up
    // (1.067:1); a pod has 15 segments. The same in SimAI:astra-sim-alibabacloud/inputs/topo/gen_Topo_Template.py.
    Preset {
        name: "hpn-7",
        kind: "dual-plane",
        servers: 128,
        ports: 2,
        planes: 2,
        segment_servers: 128,
        spines: 60,
        nic_gbps: 200,
        fabric_gbps: 400,
    },
    // Llama Team, "The Llama 3 Herd of Models" (2024), section 3.3.1: 16 GPUs and one ToR to a rack, 192 racks to a pod
    // of full bisection, 400G. Into how many switches the uplinks of a rack go is not said; here one each.
    Preset { name: "meta-roce", kind: "server-clos", servers: 384, segment_servers: 2, spines: 16, ..ONE_400G_PORT },
    // SimAI:docs/Tutorial.md: 4,096 GPUs, 64 leaves of 64 NICs at 400G, 64 spines. Its makers say that it is not
    // calibrated to NVIDIA's (SimAI issue 260).
    Preset { name: "spectrum-x", kind: "rail", servers: 512, segment_servers: 64, spines: 64, ..ONE_400G_PORT },
    // SimAI:astra-sim-alibabacloud/inputs/topo/gen_Topo_Template.py: no rails, 512 GPUs, 8 ToRs of 64 NICs at 400G, 8
    // spines at 400G: 8:1. (SimAI:docs/Tutorial.md has 4 spines in its table.)
    Preset { name: "dcn-plus", kind: "server-clos", servers: 64, segment_servers: 8, spines: 8, ..ONE_400G_PORT },
];

/// `preset`, which comes before `kind`: it says which kind it is of.
pub fn preset(table: &mut Table) -> Result<Option<Preset>> {
    let choices: Vec<(&str, Preset)> = PUBLISHED.iter().map(|preset| (preset.name, *preset)).collect();
    table.take_choice("preset", &choices)
}

/// A preset of another kind would leave half of its numbers without a meaning.
pub fn of_one_kind(table: &Table, preset: Option<Preset>, kind: &str) -> Result<()> {
    match preset.filter(|preset| preset.kind != kind) {
        Some(preset) => Err(table
            .error("kind", format!("`{}` is not of this kind", preset.name))
            .label(format!("\"{}\", or leave it out", preset.kind))),
        None => Ok(()),
    }
}

/// Reads the keys of one of [`SERVER_KINDS`](super::dictionary::words::SERVER_KINDS) and builds the network.
pub fn read(table: &mut Table, kind: &str, preset: Option<Preset>) -> Result<(Graph, Servers)> {
    let shape = read_shape(table, kind, preset)?;
    within(table, &[shape.nodes()], &[shape.links()])?;
    Ok(shape.build())
}

fn read_shape(table: &mut Table, kind: &str, preset: Option<Preset>) -> Result<ServerFabric> {
    let servers = number(table, "servers", preset.map(|preset| preset.servers))?;
    let gpus = table.count("gpus", 1..=1024)? as u32;
    let nics = table.count_or("nics", 1..=1024, u64::from(gpus))? as u32;
    if !gpus.is_multiple_of(nics) {
        let error = table.error("nics", "the GPUs of a server do not share its NICs evenly");
        return Err(error.label(format!("a number that divides gpus = {gpus}")));
    }
    let (ports, planes) = ports_and_planes(table, kind, preset)?;
    let rails = kind != "server-clos";
    let group = preset.map(|preset| preset.segment_servers);
    let segment_servers = match rails {
        true => number(table, "segment_servers", group.or(Some(servers)))?,
        false => number(table, "servers_per_tor", group)?,
    };
    let spines = number(table, "spines", preset.map(|preset| preset.spines))?;
    let parallel = parallel(table, "parallel")?;
    let nic_rate = match preset {
        Some(preset) => table.rate_or("nic_rate", BitRate::from_gbps(preset.nic_gbps))?,
        None => table.rate("nic_rate")?,
    };
    let nic_delay = table.span("nic_delay")?;
    let nic =
        LinkSpec { rate: link_rate(table, "nic_rate", nic_rate)?, delay: in_reach(table, "nic_delay", nic_delay)? };
    let rate = preset.map_or(nic.rate, |preset| BitRate::from_gbps(preset.fabric_gbps));
    let fabric = link_spec_or(table, "fabric_rate", "fabric_delay", LinkSpec { rate, ..nic })?;
    // By default NVLink of an H100, as SimAI has it.
    let scale_up = link_spec(table, "scale_up_rate", "scale_up_delay")?;
    Ok(ServerFabric {
        servers,
        gpus,
        nics,
        ports,
        planes,
        rails,
        segment_servers,
        spines,
        parallel,
        nic,
        fabric,
        scale_up,
    })
}

/// A count that must be given unless there is a default.
fn number(table: &mut Table, key: &str, default: Option<u32>) -> Result<u32> {
    let range = 1..=NODES_LARGEST;
    Ok(match default {
        Some(default) => table.count_or(key, range, u64::from(default))?,
        None => table.count(key, range)?,
    } as u32)
}

/// A NIC has one port unless there are several planes; these share them out evenly.
fn ports_and_planes(table: &mut Table, kind: &str, preset: Option<Preset>) -> Result<(u32, u32)> {
    let (least, usual) = if kind == "dual-plane" { (2, 2) } else { (1, 1) };
    let usual = preset.map_or(usual, |preset| preset.ports);
    let ports = table.count_or("ports", least..=8, u64::from(usual))? as u32;
    let planes = match preset {
        Some(preset) if ports.is_multiple_of(preset.planes) => preset.planes,
        _ if kind == "dual-plane" => ports,
        _ => 1,
    };
    let planes = table.count_or("planes", 1..=8, u64::from(planes))? as u32;
    if !ports.is_multiple_of(planes) {
        let error = table.error("planes", "the ports of a NIC do not share the planes evenly");
        return Err(error.label(format!("a number that divides ports = {ports}")));
    }
    Ok((ports, planes))
}

#[cfg(test)]
#[path = "servers_tests.rs"]
mod tests;
