//! ConWeave's configuration, from text to a loaded scenario.

use super::*;
use crate::{Attachment, Options};
use std::path::Path;
use xoff_engine::Span;
use xoff_fabric::plan::{EdgeRouting, NextHopRule, Recovery};

const CONFIG: &str = "TOPOLOGY_FILE topology.txt\nFLOW_FILE flow.txt\nLB_MODE 9\nENABLE_PFC 1\nENABLE_IRN 0\nCC_MODE 1\n\
    IRN_BDP 104000\nBUFFER_SIZE 9\nRANDOM_SEED 7\nCONWEAVE_TX_EXPIRY_TIME 300\nALPHA_RESUME_INTERVAL 1\nRP_TIMER 300\n\
    EWMA_GAIN 0.00390625\nRATE_AI 40Mb/s\nRATE_HAI 100Mb/s\nHAS_WIN 0\nPACKET_PAYLOAD_SIZE 1000\n\
    KMAX_MAP 1 100000000000 400\nKMIN_MAP 1 100000000000 100\nPMAX_MAP 1 100000000000 0.20\nLOAD 50\n";
/// Two leaves with a host each, and two spines.
const TOPOLOGY: &str = "6 4 6\n2 3 4 5\n0 2 100Gbps 1000ns 0\n1 3 100Gbps 1000ns 0\n2 4 100Gbps 1000ns 0\n\
    2 5 100Gbps 1000ns 0\n3 4 100Gbps 1000ns 0\n3 5 100Gbps 1000ns 0\n";
const FLOWS: &str = "3\n0 1 3 64000 2.0\n0 1 3 0 2.0\n1 0 3 1000 2.001\n";

fn import_of(config: &str, topology: &str, flows: &str) -> std::result::Result<Imported, Vec<Diagnostic>> {
    let attached = [("topology.txt", topology), ("flow.txt", flows)]
        .map(|(name, text)| Attachment { name: name.to_owned(), source: Source::new(name, text) });
    let files = Files::in_folder(Path::new("/nowhere")).with(attached.to_vec());
    import(&Source::new("config.txt", config), &files, None)
}

fn loaded(config: &str) -> crate::Loaded {
    let imported = import_of(config, TOPOLOGY, FLOWS).unwrap_or_else(|errors| panic!("{}", errors[0]));
    let loaded = imported.scenario().load(&Options::default());
    loaded.unwrap_or_else(|errors| panic!("{}\n{}", errors[0], imported.text))
}

#[test]
fn it_is_told_from_its_relatives() {
    assert!(recognise(CONFIG));
    assert!(!recognise("TOPOLOGY_FILE x\nCC_MODE 1\n") && !recognise("") && !recognise("name = \"LB_MODE\""));
    assert!(!super::super::tcd::recognise(CONFIG));
}

#[test]
fn ports_count_up_for_each_host() {
    let imported = import_of(CONFIG, TOPOLOGY, FLOWS).unwrap();
    let list = imported.files[0].source.text.clone();
    let expected = "src,dst,size_bytes,start_ns,src_port,dst_port\nh0,h1,64000,2000000000,10000,100\n\
                    h0,h1,1,2000000000,10001,101\nh1,h0,1000,2000999999,10000,100\n";
    assert_eq!(list, expected, "a flow of nothing is one of a byte");
}

#[test]
fn its_rules_become_a_dialect() {
    let plan = loaded(CONFIG).plan;
    assert_eq!((plan.model.dialect, plan.seed), (xoff_fabric::plan::Dialect::ConWeave, 7));
    let Some(EdgeRouting::ConWeave(settings)) = plan.model.forwarding.edge else { panic!() };
    assert_eq!((settings.idle, settings.queues, settings.counted), (Span::from_us(300), None, false));
    let host = &plan.hosts[0];
    assert_eq!((host.sizes.ack_bytes, host.nak_interval, host.recovery), (60, Span::from_us(4), Recovery::GoBackN));
    assert!(plan.classes.list.iter().any(|class| class.lossless) && plan.switches[0].count_passing);
    let text = import_of(CONFIG, TOPOLOGY, FLOWS).unwrap().text;
    // 1049 B of each queue are not counted where marks are decided.
    assert!(text.contains("kmin = { 100Gbps = \"101.049KB\" }") || text.contains("101.049KB"), "{text}");
}

#[test]
fn its_modes_become_rules() {
    let rule = |mode: &str| loaded(&CONFIG.replace("LB_MODE 9", mode)).plan.model.forwarding;
    assert!(!rule("LB_MODE 0").is_per_packet());
    assert_eq!((rule("LB_MODE 2").next_hop, rule("LB_MODE 2").edge), (Some(NextHopRule::DrillShuffled), None));
    let Some(EdgeRouting::Conga(settings)) = rule("LB_MODE 3").edge else { panic!() };
    assert_eq!((settings.compared, settings.capped, settings.alpha), (4, false, 0.2));
    assert_eq!(rule("LB_MODE 6").edge, Some(EdgeRouting::LetFlow(Span::from_us(100))));
    let plan = loaded(&CONFIG.replace("ENABLE_PFC 1\nENABLE_IRN 0", "ENABLE_PFC 0\nENABLE_IRN 1")).plan;
    let Recovery::IrnRewind(irn) = plan.hosts[0].recovery else { panic!() };
    assert_eq!((irn.window_bytes, irn.rto_low, irn.rto_high), (Some(104_000), Span::from_us(100), Span::from_us(320)));
    assert!(plan.classes.list.iter().all(|class| !class.lossless));
}

#[test]
fn what_cannot_be_had_is_refused_with_its_line() {
    for (old, new, line, message) in [
        ("LB_MODE 9", "LB_MODE 4", 3, "LB_MODE 4 is unknown"),
        ("CC_MODE 1", "CC_MODE 3", 3, "ConWeave runs with DCQCN alone"),
        ("ENABLE_IRN 0", "ENABLE_IRN 1", 5, "exactly one of PFC and IRN"),
        ("LOAD 50", "LOADS 50", 21, "unknown key `LOADS`"),
        ("LOAD 50", "LINK_DOWN 5 0 2", 21, "a link that goes down"),
        ("LOAD 50", "PAUSE_TIME 6", 21, "a PAUSE lasts 5 us"),
        ("RANDOM_SEED 7", "RANDOM_SEED 0", 9, "`RANDOM_SEED` is out of range"),
    ] {
        let errors = import_of(&CONFIG.replace(old, new), TOPOLOGY, FLOWS).unwrap_err();
        let found = errors.iter().any(|error| error.line() == Some(line) && error.message.contains(message));
        assert!(found, "{new}: {errors:?}");
    }
    let errors = import_of(CONFIG, &TOPOLOGY.replace("3 5 100Gbps 1000ns", "3 5 100Gbps 2000ns"), FLOWS).unwrap_err();
    assert!(errors[0].message.contains("another delay") && errors[0].line() == Some(8), "{errors:?}");
    for (flows, message) in [
        ("2\n0 1 3 64000 2.0\n", "flow 2 of 2"),
        ("1\n0 1 0 64000 2.0\n", "priority group 0"),
        ("1\n0 1 3 64000\n", "the start of a flow"),
        ("2\n0 1 3 64000 2.0\n0 1 3 64000 1.9\n", "starts before"),
    ] {
        let errors = import_of(CONFIG, TOPOLOGY, flows).unwrap_err();
        assert!(errors.iter().any(|error| error.message.contains(message)), "{flows}: {errors:?}");
    }
}
