use super::*;
use crate::{Loaded, Options, Scenario};
use std::path::Path;
use xoff_fabric::plan::HashSeeds;

/// A scenario of two leaves and four spines with these lines of `[routing]`, and more.
fn load(routing: &str, more: &str) -> std::result::Result<Loaded, String> {
    let text = format!(
        "[topology]\nkind=\"leaf-spine\"\nleaves=2\nspines=4\nhosts_per_leaf=2\nhost_rate=\"100Gbps\"\n\
         [routing]\n{routing}\n{more}\n[[traffic]]\nkind=\"permutation\"\nsize=\"1MB\"\n"
    );
    let loaded = Scenario::from_text("t", text, Path::new(".")).load(&Options::default());
    loaded.map_err(|problems| problems[0].to_string())
}

fn forwarding(routing: &str) -> Forwarding {
    load(routing, "[scheme]\nname=\"none\"").unwrap().plan.model.forwarding
}

#[test]
fn every_mode_is_a_rule() {
    let sender = |choice| Forwarding { paths: 64, path_map: PathMap::Hash, choice, ..Forwarding::default() };
    let switches = |rule| Forwarding { next_hop: Some(rule), ..Forwarding::default() };
    let adaptive = AdaptiveSettings {
        quantum_bytes: 0,
        skip_paused: true,
        tie: xoff_fabric::plan::Tie::Random,
        flowlet_gap: None,
    };
    for (lines, expected) in [
        ("mode=\"ecmp\"", Forwarding::default()),
        ("mode=\"spray\"", sender(PathRule::Spray)),
        ("mode=\"spray\"\nspray_at=\"switch\"", switches(NextHopRule::Spray)),
        ("mode=\"oblivious\"", sender(PathRule::Oblivious)),
        ("mode=\"reps\"", sender(PathRule::Reps)),
        ("mode=\"bitmap\"", sender(PathRule::Bitmap)),
        ("mode=\"mixed\"", sender(PathRule::Mixed)),
        ("mode=\"plb\"", sender(PathRule::Plb(PlbSettings { rounds: 12, idle_rounds: 3, marked_of_256: 128 }))),
        ("mode=\"adaptive\"", switches(NextHopRule::Adaptive(adaptive))),
        ("mode=\"round-robin\"", switches(NextHopRule::RoundRobin)),
        ("mode=\"drill\"", switches(NextHopRule::Drill(DrillSettings { samples: 2, memory: 1 }))),
        ("mode=\"letflow\"", switches(NextHopRule::LetFlow(Span::from_us(100)))),
    ] {
        assert_eq!(forwarding(lines), expected, "{lines}");
    }
    let numbered = forwarding("mode=\"oblivious\"\nentropies=4\nentropy_map=\"path\"");
    assert_eq!((numbered.paths, numbered.path_map), (4, PathMap::Path));
}

#[test]
fn keys_of_other_modes_are_refused() {
    for (lines, expected) in [
        ("mode=\"ecmp\"\nentropies=4", "entropies"),
        ("mode=\"adaptive\"\nhash_fields=\"qp\"", "hash_fields"),
        ("mode=\"adaptive\"\nflowlet_gap=\"1us\"", "flowlet_gap"),
        ("mode=\"spray\"\nsamples=2", "samples"),
        ("mode=\"bitmap\"\nentropies=48", "32 or 64"),
        ("mode=\"spray\"\nhash_fields=[\"source\",\"qp\"]", "do not see the entropy"),
        ("mode=\"ecmp\"\nhash_fields=\"flow-label\"", "no field is called `flow-label`"),
        ("mode=\"flowlet\"", "`mode` cannot be \"flowlet\""),
    ] {
        let problem = load(lines, "[scheme]\nname=\"none\"").unwrap_err();
        assert!(problem.contains(expected), "{lines}: {problem}");
    }
}

#[test]
fn hash_fields_and_seeds_reach_the_plan() {
    let plan = load("hash_fields=[\"source\",\"destination\",\"qp\"]\nhash_seed=\"per-layer\"", "").unwrap().plan;
    let fields = HashFields::SOURCE.with(HashFields::DESTINATION).with(HashFields::QP);
    assert_eq!(plan.model.hash, Hash { fields, seeds: HashSeeds::PerLayer });
    assert_eq!(load("", "").unwrap().plan.model.hash, Hash::default());
}

#[test]
fn schemes_that_need_one_path_are_refused_with_the_reason() {
    let of = |mode: &str, scheme: &str| load(&format!("mode=\"{mode}\""), &format!("[scheme]\n{scheme}"));
    for (scheme, why) in [
        ("name=\"mercury\"", "its window is that of the port"),
        ("name=\"pcn\"", "95 % of packets"),
        ("name=\"rocc\"", "fair rate of a port"),
        ("name=\"pacc\"", "fair rate of a port"),
        ("name=\"hpcc\"\npreset=\"hpcc-ns3\"", "authors' simulator"),
        ("name=\"powertcp\"\npreset=\"inet-ns3\"", "authors' simulator"),
        ("name=\"rcm\"", "chooses next hops itself"),
    ] {
        let problem = of("spray", scheme).unwrap_err();
        assert!(problem.contains(why) && problem.contains("does not run over `spray`"), "{scheme}: {problem}");
        let by_flowlet = of("letflow", scheme);
        assert_eq!(by_flowlet.is_err(), scheme.contains("rcm"), "{scheme}");
    }
    for scheme in ["none", "dcqcn", "hpcc", "powertcp", "timely", "swift", "tcd", "fqcn", "dctcp"] {
        let loaded = of("spray", &format!("name=\"{scheme}\""));
        assert!(loaded.is_ok(), "{scheme}: {:?}", loaded.err());
    }
}

#[test]
fn what_reorders_packets_warns_of_go_back_n() {
    let warnings = |mode: &str, scheme: &str| -> Vec<String> {
        let loaded = load(&format!("mode=\"{mode}\""), &format!("[scheme]\nname=\"{scheme}\"")).unwrap();
        loaded.warnings.iter().map(|warning| warning.message.clone()).collect()
    };
    for mode in ["spray", "oblivious", "reps", "bitmap", "mixed", "adaptive", "drill", "round-robin", "mrc"] {
        let told = warnings(mode, "dcqcn");
        assert!(told.len() == 1 && told[0].contains("go-back-N") && told[0].contains("dcqcn"), "{mode}: {told:?}");
    }
    assert!(warnings("spray", "tcp-newreno")[0].contains("three duplicate ACKs"));
    for mode in ["ecmp", "plb", "letflow"] {
        assert_eq!(warnings(mode, "dcqcn"), [""; 0], "{mode}");
    }
    let recovers = |recovery: &str| -> Vec<String> {
        let rest = format!("[scheme]\nname=\"dcqcn\"\n[host]\nrecovery=\"{recovery}\"");
        load("mode=\"spray\"", &rest).unwrap().warnings.iter().map(|warning| warning.message.clone()).collect()
    };
    assert_eq!(recovers("sack"), [""; 0], "its receiver bears any order");
    assert!(recovers("irn")[0].contains("IRN takes each gap for a loss"));
}

#[test]
fn acks_take_a_way_that_exists() {
    let acks = |mode: &str, path: &str| {
        load(&format!("mode=\"{mode}\""), &format!("[scheme]\nname=\"none\"\n[host]\nack_path=\"{path}\""))
    };
    assert!(acks("adaptive", "symmetric").unwrap_err().contains("switches choose it"));
    assert!(acks("ecmp", "entropy").unwrap_err().contains("carry no entropy"));
    for (mode, path) in [("spray", "symmetric"), ("spray", "entropy"), ("adaptive", "ecmp"), ("ecmp", "symmetric")] {
        assert!(acks(mode, path).is_ok(), "{mode} {path}");
    }
}
