//! The TCD authors' configuration, from text to a loaded scenario.

use super::*;
use crate::{Attachment, Options};
use std::path::Path;
use xoff_engine::{Span, Time};
use xoff_fabric::plan::{ResumeAt, Signalling, Thresholds};

const CONFIG: &str = "ENABLE_QCN 1\nUSE_DYNAMIC_PFC_THRESHOLD 0\nENABLE_NPECN 0\nENABLE_ROOTECN 1\n\
    ENABLE_ROOTECNCC 1\nSEED_NUMBER 6\nROOTECN_INTERVAL 97\nPAUSE_TIME 5\nPACKET_PAYLOAD_SIZE 1000\n\
    TOPOLOGY_FILE topology.txt\nFLOW_FILE flow.txt\nSEND_IN_CHUNKS 0\nAPP_STOP_TIME 2.06\n\
    SIMULATOR_STOP_TIME 2.06\nCNP_INTERVAL 50\nCLAMP_TARGET_RATE 1\nRP_TIMER 55\nBYTE_COUNTER 10000000\n\
    DCTCP_GAIN 0.00390625\nKMAX 200\nKMIN 5\nPMAX 0.01\nRATE_AI 40Mb/s\nRATE_HAI 200Mb/s\nL2_ACK_INTERVAL 256\n";
const TOPOLOGY: &str = "3 1 2\n0\n1 0 40Gbps 0.004ms 0\n2 0 40Gbps 0.004ms 0\n";
/// Not in the order of starts, which need not be.
const FLOWS: &str = "3\n1 2 3 64000 2.00053 3\n2 1 3 999 2.0005 3\n1 2 3 10000000 2.0 3\n";

fn import_of(config: &str, flows: &str) -> std::result::Result<Imported, Vec<Diagnostic>> {
    import_on(TOPOLOGY, config, flows)
}

fn import_on(topology: &str, config: &str, flows: &str) -> std::result::Result<Imported, Vec<Diagnostic>> {
    let attached = [("topology.txt", topology), ("flow.txt", flows)]
        .map(|(name, text)| Attachment { name: name.to_owned(), source: Source::new(name, text) });
    let files = Files::in_folder(Path::new("/nowhere")).with(attached.to_vec());
    import(&Source::new("config.txt", config), &files, None)
}

fn loaded(config: &str) -> crate::Loaded {
    let imported = import_of(config, FLOWS).unwrap_or_else(|errors| panic!("{}", errors[0]));
    let loaded = imported.scenario().load(&Options::default());
    loaded.unwrap_or_else(|errors| panic!("{}\n{}", errors[0], imported.text))
}

#[test]
fn it_is_told_from_its_relative() {
    assert!(recognise(CONFIG));
    assert!(!super::super::hpcc::config::recognise("KMIN 5"));
    assert!(!recognise("ENABLE_QCN 1\nCC_MODE 1\nKMIN_MAP 1 40000000000 5\n"));
    assert!(!recognise("ENABLE_QCN 1\nCC_MODE 1\nKMIN 5\n") && !recognise("") && !recognise("name = \"x\""));
}

#[test]
fn its_constants_become_the_switch_and_the_host() {
    let plan = loaded(CONFIG).plan;
    let pfc = &plan.switches[0].pfc;
    let Thresholds::Static { xoff_bytes, xon_bytes } = pfc.thresholds else { panic!("{pfc:?}") };
    // 320 cells of 1030 B; resumed below 318.
    assert_eq!((plan.switches[0].buffer_bytes, xoff_bytes, xon_bytes), (18_000_000, 329_600, 327_539));
    let timed = Signalling::Timed {
        pause: Span::from_us(5),
        refresh: Span::from_us(2),
        per_arrival: true,
        resume: ResumeAt::Checks,
    };
    assert_eq!(pfc.signalling, timed);
    let host = &plan.hosts[0];
    assert_eq!((host.mtu_bytes, host.sizes.data_header_bytes, host.ack_every), (976, 44, 256));
    assert_eq!((host.sizes.ack_bytes, host.sizes.notification_bytes, host.sizes.pfc_bytes), (30, 30, 31));
    assert_eq!(plan.run.stop, Time::from_ns(2_060_000_000));
    assert_eq!(plan.seed, 6);
}

#[test]
fn each_of_its_modes_has_a_scheme() {
    for (change, scheme) in [
        (("", ""), "tcd"),
        (("ENABLE_ROOTECN 1\nENABLE_ROOTECNCC 1", "ENABLE_ROOTECN 0"), "dcqcn"),
        (("ENABLE_NPECN 0\nENABLE_ROOTECN 1\nENABLE_ROOTECNCC 1", "ENABLE_NPECN 1"), "np-ecn"),
        (("ENABLE_QCN 1", "ENABLE_QCN 0"), "none"),
    ] {
        let config = if change.0.is_empty() { CONFIG.to_owned() } else { CONFIG.replace(change.0, change.1) };
        assert_eq!(loaded(&config).schemes[0].values.spec().name, scheme);
    }
    let text = import_of(CONFIG, FLOWS).unwrap().text;
    // Thresholds begin beyond one guaranteed cell: (5 + 1) x 1030, (200 + 1) x 1030 and (2 + 1) x 1030 B.
    for line in ["kmin = \"6.18KB\"", "kmax = \"207.03KB\"", "empty_below = \"3.09KB\"", "max_ton = \"97us\""] {
        assert!(text.contains(line), "{line}\n{text}");
    }
    assert!(text.contains("poll_from = \"after-first-packet\"") && text.contains("clock = \"microseconds\""));
}

/// An error names a line of the user's own file, whichever stage finds it.
#[test]
fn refusals_name_lines_of_the_configuration() {
    let line_of = |key: &str| CONFIG.lines().position(|line| line.starts_with(key)).map(|at| at + 1);
    let many = CONFIG.replace("L2_ACK_INTERVAL 256", "L2_ACK_INTERVAL 1001");
    let problems = import_of(&many, FLOWS).unwrap_err();
    assert_eq!(problems[0].line(), line_of("L2_ACK_INTERVAL"), "{}", problems[0]);
    assert!(problems[0].label.contains("from 1 to 1000"), "{}", problems[0]);
    // 2 us to a refresh and 8.6 us for a frame on the wire are more than a PAUSE of 5 us.
    let slow = TOPOLOGY.replace("40Gbps", "1Gbps");
    let problems = import_on(&slow, CONFIG, FLOWS).unwrap().scenario().load(&Options::default()).unwrap_err();
    let told = problems[0].to_string();
    assert!(problems[0].message.contains("run out before it is refreshed"), "{told}");
    assert_eq!(problems[0].line(), line_of("PAUSE_TIME"), "{told}");
    for part in ["config.txt:8:", "PAUSE_TIME 5", "it became `pause_time = \"5us\"` of a scenario"] {
        assert!(told.contains(part), "{part} is missing from\n{told}");
    }
}

#[test]
fn flows_are_sorted_and_cut_into_packets() {
    let list = import_of(CONFIG, FLOWS).unwrap().files[0].source.text.clone();
    // Decimal starts are cut to whole nanoseconds in binary; ports tell the order of the file.
    let expected = "src,dst,size_bytes,start_ns,src_port,dst_port\nh1,h2,9760000,2000000000,10002,100\n\
                    h2,h1,975,2000500000,10001,100\nh1,h2,62464,2000529999,10000,100\n";
    assert_eq!(list, expected);
}

#[test]
fn what_cannot_be_had_is_refused_with_its_line() {
    for (old, new, line, message) in [
        ("PAUSE_TIME 5", "PAUSE_TIMES 5", 8, "unknown key `PAUSE_TIMES`"),
        ("PAUSE_TIME 5", "CC_MODE 1", 8, "unknown key `CC_MODE`"),
        ("PAUSE_TIME 5", "PAUSE_TIME 1", 8, "`PAUSE_TIME` is out of range"),
        ("THRESHOLD 0", "THRESHOLD 1", 2, "dynamic thresholds"),
        ("ROOTECNCC 1", "ROOTECNCC 0", 5, "half of TCD"),
        ("ENABLE_NPECN 0", "ENABLE_NPECN 1", 3, "two ways"),
        ("SEND_IN_CHUNKS 0", "SEND_IN_CHUNKS 1", 12, "chunks"),
        ("APP_STOP_TIME 2.06", "APP_STOP_TIME 2.05", 13, "receivers listen"),
        ("KMIN 5", "KMIN x", 21, "`KMIN` cannot be `x`"),
        ("L2_ACK_INTERVAL 256", "L2_ACK_INTERVAL 0", 25, "`L2_ACK_INTERVAL` is out of range"),
    ] {
        let errors = import_of(&CONFIG.replace(old, new), FLOWS).unwrap_err();
        let found = errors.iter().any(|error| error.line() == Some(line) && error.message.contains(message));
        assert!(found, "{new}: {errors:?}");
    }
    for (flows, line, message) in [
        ("2\n1 2 3 64000 2.0 3\n", 2, "flow 2 of 2"),
        ("1\n1 2 3 64000 2.0\n", 2, "when a flow stops"),
        ("1\n1 2 3 64000 2.0 2.01\n", 2, "stops before the run ends"),
        ("1\n1 0 3 64000 2.0 3\n", 2, "node 0 is a switch"),
        ("1\n1 2 1 64000 2.0 3\n", 2, "priority group 1"),
        ("1\n1 2 3 24 2.0 3\n", 2, "a flow of 24 bytes"),
        ("1\n1 1 3 640 2.0 3\n", 2, "to itself"),
    ] {
        let errors = import_of(CONFIG, flows).unwrap_err();
        let found = errors.iter().any(|error| error.message.contains(message));
        assert!(found && errors[0].line().is_some_and(|at| at <= line), "{flows}: {errors:?}");
    }
}
