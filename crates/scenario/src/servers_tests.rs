use super::*;
use crate::check::{self, Report};
use crate::{Loaded, Options, Scenario};
use std::path::Path;

/// A scenario around a topology in which the first two NICs speak.
fn text(topology: &str) -> String {
    let flow = "[[traffic]]\nkind=\"burst\"\nsize=\"1MB\"\nsources=\"s0.n0*\"\ndestinations=\"s1.n0*\"";
    format!("[topology]\n{topology}\n{flow}\n")
}

fn load_text(text: String) -> Result<Loaded> {
    Scenario::from_text("t", text, Path::new(".")).load(&Options::default()).map_err(|mut errors| errors.remove(0))
}

fn load(topology: &str) -> Loaded {
    load_text(text(topology)).unwrap_or_else(|error| panic!("{topology}: {error}"))
}

fn refused(topology: &str) -> String {
    load_text(text(topology)).err().unwrap_or_else(|| panic!("{topology} is taken")).render(false)
}

/// Nodes of a layer.
fn count(loaded: &Loaded, layer: &str) -> usize {
    loaded.plan.nodes.iter().filter(|node| node.layer == layer).count()
}

fn report(topology: &str) -> Report {
    check::report(&load(topology))
}

#[test]
fn presets_have_the_published_numbers() {
    for (name, servers, leaves, spines) in
        [("hpn-7", 128, 16, 120), ("meta-roce", 384, 192, 16), ("spectrum-x", 512, 64, 64), ("dcn-plus", 64, 8, 8)]
    {
        let loaded = load(&format!("preset=\"{name}\""));
        assert_eq!(loaded.servers.count(), servers, "{name}");
        assert_eq!((count(&loaded, "leaf"), count(&loaded, "spine")), (leaves, spines), "{name}");
        assert_eq!(count(&loaded, "gpu") as u32, servers * 8, "{name}");
        // However few servers there are, it can be had.
        let few = load(&format!("preset=\"{name}\"\nservers=2"));
        assert_eq!(few.servers.ranks(), 16, "{name}");
    }
    let names: Vec<&str> = PUBLISHED.iter().map(|preset| preset.name).collect();
    assert_eq!(names, crate::dictionary::words::PRESETS);
}

#[test]
fn a_segment_of_hpn_7() {
    let report = report("preset=\"hpn-7\"");
    let servers = report.servers.as_ref().unwrap();
    assert_eq!((servers.servers, servers.ports, servers.planes, servers.rails), (128, 2, 2, true));
    let [leaves, spines, other_leaves, _] = &servers.tiers[..] else { panic!("{:?}", servers.tiers) };
    assert_eq!((leaves.plane, other_leaves.plane, leaves.switches), (0, 1, 8));
    assert_eq!((leaves.down_links, leaves.up_links), ((128, 128), (60, 60)));
    assert!((leaves.oversubscription.unwrap() - 128.0 * 200.0 / (60.0 * 400.0)).abs() < 1e-12);
    assert_eq!((spines.switches, spines.down_links, spines.oversubscription), (60, (8, 8), None));
    let pairs: Vec<(&str, usize, u64)> =
        servers.pairs.iter().map(|pair| (pair.placed.as_str(), pair.switches, pair.paths)).collect();
    assert_eq!(
        pairs,
        [
            ("same rail, same port, same leaf", 1, 1),
            ("other rail, same port, other leaf", 3, 60),
            ("same rail, other port, other leaf", 0, 0),
            ("other rail, other port, other leaf", 0, 0),
        ]
    );
    let text = report.text();
    for part in ["128 servers of 8 GPUs and 8 NICs of 2 ports, a leaf for each rail, 2 planes", "1.067:1", "none"] {
        assert!(text.contains(part), "{part} is missing from\n{text}");
    }
    let json: serde_json::Value = serde_json::from_str(&report.json()).unwrap();
    assert_eq!(json["servers"]["tiers"][0]["up_links"][0], 60);
}

#[test]
fn a_pod_of_hpn_7() {
    let loaded = load("preset=\"hpn-7\"\nservers=1920");
    assert_eq!((loaded.servers.ranks(), count(&loaded, "leaf"), count(&loaded, "spine")), (15_360, 240, 120));
}

#[test]
fn oversubscription_of_the_others() {
    for (name, ratio) in [("meta-roce", 1.0), ("spectrum-x", 1.0), ("dcn-plus", 8.0)] {
        let report = report(&format!("preset=\"{name}\""));
        assert_eq!(report.servers.unwrap().tiers[0].oversubscription, Some(ratio), "{name}");
    }
    // Whoever wants no oversubscription says so.
    let report = report("preset=\"dcn-plus\"\nservers=32\nspines=64");
    let servers = report.servers.unwrap();
    assert_eq!((servers.tiers[0].switches, servers.tiers[0].oversubscription), (4, Some(1.0)));
    assert_eq!(servers.pairs.iter().map(|pair| pair.paths).collect::<Vec<_>>(), [1, 64]);
}

#[test]
fn two_leaves_may_share_their_spines() {
    let of = |planes: u32| {
        let hosts = if planes == 1 { "" } else { "hosts=\"s*.n*.p0\"\n" };
        let text = format!(
            "[topology]\nkind=\"dual-plane\"\nservers=4\nsegment_servers=2\nspines=2\nplanes={planes}\n\
             [[traffic]]\nkind=\"permutation\"\nsize=\"1MB\"\n{hosts}"
        );
        load_text(text).unwrap_or_else(|error| panic!("{error}"))
    };
    let other_port = |planes: u32| {
        let report = check::report(&of(planes));
        let pairs = report.servers.unwrap().pairs;
        let pair = pairs.iter().find(|pair| pair.placed == "same rail, other port, other leaf").unwrap();
        (pair.switches, pair.paths)
    };
    assert_eq!((count(&of(1), "spine"), count(&of(2), "spine")), (2, 4));
    assert_eq!((other_port(1), other_port(2)), ((3, 2), (0, 0)));
}

#[test]
fn presets_are_of_one_kind_and_keys_override_them() {
    let small = load("preset=\"hpn-7\"\nservers=4\nsegment_servers=2\nspines=3\nnic_rate=\"100Gbps\"");
    assert_eq!((count(&small, "leaf"), count(&small, "spine")), (32, 6));
    let nic = small.servers.port_hosts(3, 7)[1];
    let link = small.plan.links.iter().find(|link| link.a == nic).unwrap();
    assert_eq!(link.a_to_b.rate, BitRate::from_gbps(100));
    assert!(refused("kind=\"rail\"\npreset=\"hpn-7\"").contains("`hpn-7` is not of this kind"));
    assert!(refused("kind=\"star\"\npreset=\"hpn-7\"\nhosts=2").contains("\"dual-plane\", or leave it out"));
    assert!(refused("preset=\"hpn-8\"").contains("did you mean `hpn-7`"));
}

#[test]
fn mistakes_are_told() {
    let rail = |more: &str| refused(&format!("kind=\"rail\"\nservers=2\nspines=1\n{more}"));
    assert!(rail("gpus=8\nnics=3").contains("a number that divides gpus = 8"));
    assert!(rail("ports=3\nplanes=2").contains("a number that divides ports = 3"));
    assert!(rail("servers_per_tor=2").contains("it applies only with kind = \"server-clos\""));
    assert!(rail("hosts=2").contains("`hosts` has no effect here"));
    assert!(refused("kind=\"dual-plane\"\nservers=2\nspines=1\nports=1").contains("ports"));
    assert!(refused("kind=\"server-clos\"\nservers=2\nspines=1").contains("servers_per_tor"));
    assert!(refused("kind=\"rail\"\nservers=2").contains("spines"));
    assert!(refused("kind=\"rail\"\nservers=1000000\nspines=1").contains("nodes"));
    let wide = "kind=\"rail\"\nservers=50000\ngpus=1\nsegment_servers=1\nspines=400";
    assert!(refused(wide).contains("would have 20100000 links"), "{}", refused(wide));
}

#[test]
fn traffic_goes_between_nics_and_where_a_way_leads() {
    let with = |traffic: &str| {
        let topology = "[topology]\nkind=\"dual-plane\"\nservers=2\nspines=1\n";
        load_text(format!("{topology}[run]\nstop=\"1ms\"\n[[traffic]]\n{traffic}\n"))
    };
    let refused = |traffic: &str| with(traffic).err().unwrap_or_else(|| panic!("{traffic} is taken")).message;
    let no_way = |a: &str, b: &str| format!("no way leads from `{a}` to `{b}`");
    let pair = |kind: &str, a: &str, b: &str| format!("kind=\"{kind}\"\nsources=\"{a}\"\ndestinations=\"{b}\"");
    let (planes, inside) = (no_way("s0.n0.p0", "s0.n0.p1"), no_way("s0.g0", "s1.g0"));
    assert_eq!(refused("kind=\"permutation\""), planes);
    assert_eq!(refused("kind=\"all-to-all\"\nsizes=\"1KB\""), planes);
    assert_eq!(refused("kind=\"poisson\"\nload=0.1\nsizes=\"1KB\""), planes);
    assert_eq!(
        refused(
            "kind=\"hotspot\"\nload=0.1\nsizes=\"1KB\"\nhot=\"s0.g0\"\nsources=\"s*.n*.p1\"\ndestinations=\"s*.n*.p1\""
        ),
        no_way("s0.n0.p1", "s0.g0")
    );
    assert_eq!(refused("kind=\"incast\"\nsizes=\"1KB\"\ndegree=2\nperiod=\"1ms\""), planes);
    assert_eq!(refused(&pair("long-lived", "s0.g0", "s1.g0")), inside);
    assert_eq!(refused(&format!("{}\nsize=\"1KB\"\npairing=\"random\"", pair("burst", "s0.g0", "s1.g*"))), inside);
    assert_eq!(refused(&format!("{}\nburst=\"1KB\"\nrate=\"1Gbps\"", pair("on-off", "s0.g0", "s1.g0"))), inside);
    let reads = "kind=\"synchronised-reads\"\nunit=\"1KB\"\nclients=\"s1.g0\"\nservers=\"s0.g0\"";
    assert_eq!(refused(reads), inside);
    assert_eq!(refused("kind=\"flows\"\nflow=[{src=\"s0.g0\",dst=\"s1.g0\",size=\"1KB\"}]"), inside);
    for taken in [
        pair("long-lived", "s0.n0.p0", "s1.n7.p0"),
        pair("long-lived", "s1.g0", "s1.g7"),
        "kind=\"permutation\"\nhosts=\"s*.n*.p1\"".to_owned(),
        "kind=\"permutation\"\nhosts=\"s0.g*\"".to_owned(),
    ] {
        if let Err(error) = with(&taken) {
            panic!("{taken}: {error}");
        }
    }
}

/// The scenario with everything spelled out has the same hosts: ports of NICs, not GPUs.
#[test]
fn hosts_are_ports_of_nics_unless_said_otherwise() {
    let text = "[topology]\nkind=\"rail\"\nservers=2\nspines=1\n[[traffic]]\nkind=\"permutation\"\nsize=\"1KB\"\n";
    let loaded = load_text(text.to_owned()).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(loaded.names.all_hosts().len(), 16);
    assert!(loaded.resolved.contains("hosts = \"nic\""), "{}", loaded.resolved);
    let again = load_text(loaded.resolved.clone()).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(format!("{:?}{:?}", again.plan, again.traffic), format!("{:?}{:?}", loaded.plan, loaded.traffic));
    assert_eq!(again.servers, loaded.servers);
    assert_eq!(again.resolved, loaded.resolved);
    let group = text.replace("[[traffic]]", "[groups]\nnic=\"s0.n0\"\n[[traffic]]");
    assert_eq!(
        load_text(group).err().map(|error| error.message),
        Some("the group `nic` has the name of a layer".into())
    );
}

#[test]
fn switches_inside_servers_have_a_profile_of_their_own() {
    let of = |more: &str| load(&format!("kind=\"rail\"\nservers=2\nspines=1\n{more}"));
    let buffer = |loaded: &Loaded, name: &str| {
        let node = loaded.plan.nodes.iter().find(|node| node.name == name).unwrap();
        loaded.plan.switches[usize::from(node.profile)].buffer_bytes
    };
    let plain = of("[switch]\nbuffer=\"20MB\"");
    assert_eq!((buffer(&plain, "leaf0"), buffer(&plain, "s1.nvs")), (20_000_000, 64_000_000));
    // A profile of theirs is like them, one of all switches is like the others.
    let alpha = |loaded: &Loaded| {
        let node = loaded.plan.nodes.iter().find(|node| node.name == "s1.nvs").unwrap();
        format!("{:?}", loaded.plan.switches[usize::from(node.profile)].pfc.thresholds)
    };
    let own = of("[[switch_profile]]\nselect=\"scale-up\"\nbuffer=\"32MB\"");
    assert_eq!((buffer(&own, "leaf0"), buffer(&own, "s1.nvs"), alpha(&own)), (12_000_000, 32_000_000, alpha(&plain)));
    let all = of("[[switch_profile]]\nselect=\"*\"\nbuffer=\"32MB\"");
    assert_eq!((buffer(&all, "leaf0"), buffer(&all, "s1.nvs")), (32_000_000, 32_000_000));
    assert_ne!(alpha(&all), alpha(&plain));
    // `leaf` and `spine` are layers too.
    let leaves = of("[[switch_profile]]\nselect=[\"leaf\"]\nbuffer=\"32MB\"");
    assert_eq!((buffer(&leaves, "leaf7"), buffer(&leaves, "spine0")), (32_000_000, 12_000_000));
}

#[test]
fn other_networks_have_a_server_for_each_host() {
    let text = "[topology]\nkind=\"star\"\nhosts=3\nrate=\"100Gbps\"\n\
                [[traffic]]\nkind=\"permutation\"\nsize=\"1KB\"\n";
    let loaded = load_text(text.to_owned()).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!((loaded.servers.count(), loaded.servers.gpus(), loaded.servers.has_scale_up()), (3, 1, false));
    assert_eq!(check::report(&loaded).servers, None);
}
