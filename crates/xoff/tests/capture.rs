//! Captures as other people's tools read them: tshark by field values, scapy byte by byte.

use crate::common::{self, Bench, stderr};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use xoff_yardstick::{found, python, tshark};

/// An incast beside two flows of a dumbbell, small enough for every frame to be captured twice.
const INCAST: &str = r#"name = "captured"
[run]
stop = "2ms"
stop_when_idle = false
[topology]
kind = "dumbbell"
left = 4
right = 4
rate = "100Gbps"
delay = "1us"
[switch]
buffer = "4MB"
[switch.pfc]
threshold = "static"
xoff = "60KB"
[scheme]
name = "dcqcn"
[[traffic]]
kind = "incast"
sizes = "100KB"
destinations = "h7"
degree = 6
times = ["10us"]
[[traffic]]
kind = "incast"
sizes = "30001B"
destinations = "h6"
degree = 2
times = ["15us"]
[[capture]]
name = "nics"
ports = "h*->*"
[[capture]]
name = "switches"
ports = "s*->*"
[output]
figures = false
"#;

/// A finished run and what it says of itself.
struct Captured {
    bench: Bench,
    run: Value,
}

impl Captured {
    fn of(scenario: &str, sets: &[&str]) -> Captured {
        let bench = Bench::with("s.toml", scenario);
        let mut args = vec!["run", "s.toml", "--out", "out", "--quiet"];
        args.extend(sets.iter().flat_map(|set| ["--set", set]));
        bench.ok(&args);
        let run = serde_json::from_slice(&bench.read("out/run.json")).unwrap();
        Captured { bench, run }
    }

    fn count(&self, what: &str) -> usize {
        self.run[what].as_u64().unwrap_or_else(|| panic!("no {what}")) as usize
    }

    fn path(&self, capture: &str) -> String {
        format!("out/captures/{capture}.pcapng")
    }

    /// What tshark makes of the frames that match a filter: a row each, the fields asked for.
    fn frames(&self, capture: &str, filter: &str, fields: &[&str]) -> Vec<Vec<String>> {
        self.frames_with(&[], capture, filter, fields)
    }

    /// [`Captured::frames`] with preferences of the dissector.
    fn frames_with(&self, preferences: &[&str], capture: &str, filter: &str, fields: &[&str]) -> Vec<Vec<String>> {
        let mut command = Command::new("tshark");
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/tools/xoff.lua");
        command.current_dir(&self.bench.path).arg("-X").arg(format!("lua_script:{}", script.display()));
        command.args(["-r", &self.path(capture), "-T", "fields", "-E", "separator=|", "-E", "aggregator=,"]);
        for check in ["ip.check_checksum", "tcp.check_checksum"] {
            command.args(["-o", &format!("{check}:TRUE")]);
        }
        command.args(preferences.iter().flat_map(|preference| ["-o", preference]));
        if !filter.is_empty() {
            command.args(["-Y", filter]);
        }
        command.args(fields.iter().flat_map(|field| ["-e", field]));
        let output = command.output().unwrap();
        let errors = stderr(&output);
        assert!(output.status.success() && !errors.contains("Lua"), "{errors}");
        let text = String::from_utf8(output.stdout).unwrap();
        let row = |line: &str| line.split('|').map(str::to_owned).collect::<Vec<_>>();
        let rows: Vec<_> = text.lines().map(row).collect();
        assert!(rows.iter().all(|row| row.len() == fields.len()), "a field of {fields:?} has a `|`");
        rows
    }

    /// Nothing is malformed, no check sum is wrong, and every frame is accounted for.
    fn is_sound(&self, capture: &str) {
        let fields = ["_ws.malformed", "_ws.lua.error", "ip.checksum.status", "tcp.checksum.status", "eth.type"];
        let frames = self.frames(capture, "", &fields);
        assert_eq!(frames.len(), self.row(capture)["frames"].as_u64().unwrap() as usize);
        for (number, frame) in (1..).zip(&frames) {
            assert!(frame[0].is_empty() && frame[1].is_empty(), "{capture}, frame {number}: {frame:?}");
            let right = |status: &str| status.is_empty() || status == "1";
            assert!(right(&frame[2]) && right(&frame[3]), "{capture}, frame {number}: {frame:?}");
            assert!(frame[4] != "0x0800" || frame[2] == "1", "the check sum was not looked at");
        }
    }

    fn row(&self, capture: &str) -> &Value {
        self.run["captures"].as_array().unwrap().iter().find(|row| row["name"] == capture).unwrap()
    }

    /// What scapy builds alike: how many frames of each kind.
    fn rebuilt(&self, python: &Path, capture: &str) -> BTreeMap<String, usize> {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scapy/rebuild.py");
        let mut command = Command::new(python);
        let output = command.arg(script).arg(self.path(capture)).current_dir(&self.bench.path).output().unwrap();
        assert!(output.status.success(), "{}", stderr(&output));
        let text = String::from_utf8(output.stdout).unwrap();
        let kind = |word: &str| word.split_once('=').map(|(kind, count)| (kind.to_owned(), count.parse().unwrap()));
        text.split_whitespace().filter_map(kind).collect()
    }
}

fn number(text: &str) -> u64 {
    match text.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16).unwrap(),
        None => text.parse().unwrap_or_else(|_| panic!("`{text}` is not a number")),
    }
}

/// The scenario and the capture of the README, and its first line for tshark.
#[test]
fn the_filter_of_the_readme_finds_frames_in_its_own_capture() {
    let readme = include_str!("../../../README.md");
    let block = |kind: &str, begins: &str| {
        let fence = format!("```{kind}\n");
        let mut blocks = readme.split(&fence).skip(1).map(|rest| rest.split("```").next().unwrap());
        blocks.find(|block| block.starts_with(begins)).unwrap_or_else(|| panic!("no {begins} in README.md"))
    };
    let scenario = [block("toml", "name ="), block("toml", "[[capture]]")].concat();
    let line = block("sh", "tshark -r ").lines().next().unwrap();
    let filter = line.split('\'').nth(1).unwrap();
    let run = Captured::of(&scenario, &["traffic.0.flows=300", "output.figures=false"]);
    assert!(!run.frames("nics", filter, &["frame.number"]).is_empty(), "{line}");
}

#[test]
fn roce_frames_are_what_the_run_counted() {
    let Some(_) = found(tshark()) else { return };
    let run = Captured::of(INCAST, &[]);
    let pfc = run.count("pause_frames") + run.count("resume_frames");
    assert!(run.count("notifications") > 3 && run.count("marks") > 3 && pfc > 3, "{}", run.run);
    run.is_sound("nics");
    run.is_sound("switches");
    let captured = |name| run.row(name)["frames"].as_u64().unwrap() as usize;
    assert_eq!(captured("nics") + captured("switches"), run.count("packet_hops") + pfc, "every transmission");

    // CNPs: receivers send them.
    let fields = ["infiniband.reserved", "ip.dsfield.dscp", "ip.dsfield.ecn", "udp.dstport", "frame.comment"];
    let cnps = run.frames("nics", "infiniband.bth.opcode == 129", &fields);
    assert_eq!(cnps.len(), run.count("notifications"));
    for cnp in &cnps {
        assert_eq!(cnp[..4], ["40", "48", "0", "4791"], "BECN, control class");
        assert!(cnp[4].contains("sent by the receiver"), "{}", cnp[4]);
    }

    // PFC: switches send it, one class each here.
    let fields = ["eth.dst", "macc.cbfc.enbv", "macc.cbfc.pause_time.c3", "frame.len", "frame.comment"];
    let frames = run.frames("switches", "macc.opcode == 0x0101", &fields);
    assert_eq!(frames.len(), pfc);
    assert!(frames.iter().all(|frame| frame[..2] == ["01:80:c2:00:00:01", "0x0008"] && frame[3] == "60"));
    let with = |time: &str| frames.iter().filter(|frame| frame[2] == time).collect::<Vec<_>>();
    let (pauses, resumes) = (with("65535"), with("0"));
    assert_eq!((pauses.len(), resumes.len()), (run.count("pause_frames"), run.count("resume_frames")));
    // One that had to wait for the wire may find less buffered than when it was decided.
    assert!(pauses.iter().all(|frame| frame[4].starts_with("PAUSE of priority 3") && frame[4].ends_with(" XOFF")));
    assert!(pauses.iter().any(|frame| frame[4].ends_with(" above XOFF")));
    assert!(resumes.iter().all(|frame| frame[4].ends_with(" below XOFF")));

    // Marks: as many packets reach their hosts marked as were marked, and each says where.
    let to_hosts = "ip.dsfield.ecn == 3 && frame.interface_name contains \"->h\"";
    let marked = run.frames("switches", to_hosts, &["frame.comment"]);
    assert_eq!(marked.len(), run.count("marks"));
    assert!(marked.iter().all(|frame| frame[0].contains("marked") && frame[0].contains(", queue ")), "{marked:?}");
    let sent = run.frames("nics", "infiniband.bth.opcode <= 10 && !(ip.dsfield == 0x62)", &["frame.number"]);
    assert!(sent.is_empty(), "data leaves its sender as ECT(0), in class 3");
}

#[test]
fn a_flow_is_one_write_from_its_first_packet_to_its_last() {
    let Some(_) = found(tshark()) else { return };
    let run = Captured::of(INCAST, &[]);
    let fields = [
        "infiniband.bth.destqp",
        "infiniband.bth.opcode",
        "infiniband.bth.psn",
        "infiniband.bth.a",
        "infiniband.reth.dmalen",
        "frame.len",
        "frame.time_epoch",
        "ip.src",
    ];
    let mut flows: BTreeMap<String, Vec<Vec<String>>> = BTreeMap::new();
    for frame in run.frames("nics", "infiniband.bth.opcode <= 10", &fields) {
        flows.entry(frame[0].clone()).or_default().push(frame);
    }
    assert_eq!(flows.len(), 8, "six and two");
    for packets in flows.values() {
        let size = number(&packets[0][4]);
        assert!(size == 100_000 || size == 30_001);
        assert_eq!(packets.len() as u64, size.div_ceil(1000));
        let last = packets.len() - 1;
        for (psn, packet) in packets.iter().enumerate() {
            assert_eq!(number(&packet[2]) as usize, psn, "every number once, in order");
            let opcode = if psn == 0 {
                "6"
            } else if psn == last {
                "8"
            } else {
                "7"
            };
            assert_eq!((packet[1].as_str(), packet[3].as_str()), (opcode, "1"));
            assert_eq!(packet[4].is_empty(), psn > 0);
            let length = if psn == last && size == 30_001 { 60 } else { 1058 };
            assert_eq!(number(&packet[5]), length, "the model's frame without its FCS");
            assert_eq!(packet[7], packets[0][7]);
        }
        let start = if size == 100_000 { "0.000010000" } else { "0.000015000" };
        assert!(packets[0][6].as_str() >= start, "{}", packets[0][6]);
    }
    // The first frame of all leaves when its flow starts.
    let first = run.frames("nics", "frame.number == 1", &["frame.time_epoch", "frame.comment"]);
    assert_eq!(first[0][0], "0.000010000");
    assert!(first[0][1].contains("packet 0 of 100"), "{}", first[0][1]);

    // ACKs: numbers of what came, one message once all did.
    let fields =
        ["infiniband.bth.psn", "infiniband.aeth.syndrome.opcode", "infiniband.aeth.msn", "infiniband.bth.destqp"];
    let acks = run.frames("nics", "infiniband.bth.opcode == 17", &fields);
    assert_eq!(acks.len(), run.count("acks"));
    assert!(acks.iter().all(|ack| ack[1] == "0"));
    for (flow, packets) in &flows {
        let numbers: Vec<u64> = acks.iter().filter(|ack| ack[3] == *flow).map(|ack| number(&ack[0])).collect();
        assert_eq!(numbers, (0..packets.len() as u64).collect::<Vec<_>>());
    }
    assert_eq!(acks.iter().filter(|ack| ack[2] == "1").count(), flows.len());
}

#[test]
fn scapy_builds_the_same_frames() {
    let Some(python) = found(python(&["scapy==2.8.0"])) else { return };
    let run = Captured::of(INCAST, &[]);
    let nics = run.rebuilt(&python, "nics");
    assert!(nics["data"] == 60 && nics["ack"] == 60 && nics["cnp"] >= 3, "{nics:?}");
    assert!(run.rebuilt(&python, "switches")["pfc"] >= 3);
    let tcp = Captured::of(INCAST, &["scheme.name=tcp-newreno"]);
    assert_eq!(tcp.rebuilt(&python, "nics"), BTreeMap::from([("tcp".to_owned(), 60)]));
    for scheme in ["hpcc", "mercury"] {
        let run = Captured::of(INCAST, &[&format!("scheme.name={scheme}")]);
        let built = run.rebuilt(&python, "switches");
        assert!(built["data"] == 60 && built["ack"] == 60, "{scheme}: {built:?}");
    }
}

#[test]
fn losses_show_as_naks_and_packets_sent_again() {
    let Some(_) = found(tshark()) else { return };
    let lossy = "topology.override=[{links=\"s0->s1\",loss=0.02}]";
    let run = Captured::of(INCAST, &[lossy, "scheme.name=none", "run.stop=40ms", "host.retransmit_timeout=1ms"]);
    assert!(run.count("naks") > 0 && run.count("packets_retransmitted") > 0);
    run.is_sound("nics");
    let fields = ["infiniband.aeth.syndrome.error_code", "infiniband.bth.psn", "frame.comment"];
    let naks = run.frames("nics", "infiniband.aeth.syndrome.opcode == 3", &fields);
    assert_eq!(naks.len(), run.count("naks"));
    for nak in &naks {
        assert_eq!(nak[0], "0", "PSN sequence error");
        assert!(nak[2].contains(&format!("NAK, expects packet {}", nak[1])), "{nak:?}");
    }
    let again = run.frames("nics", "frame.comment contains \"sent again\"", &["frame.number"]);
    assert_eq!(again.len(), run.count("packets_retransmitted"));
}

/// What a switch cut off, and the NACKs and selective acknowledgements that follow.
#[test]
fn trimmed_packets_and_their_nacks_are_read() {
    let Some(_) = found(tshark()) else { return };
    let class = "class=[{name=\"data\",priority=3,lossless=false,queue_limit=\"20KB\"},\
                 {name=\"control\",priority=6,lossless=false,control=true}]";
    let sets = [class, "host.recovery=sack", "switch={buffer=\"4MB\",trim=true}", "scheme.name=nscc"];
    let run = Captured::of(INCAST, &sets);
    assert!(run.count("packets_trimmed") > 0);
    let fields = ["xoff.trimmed.bytes", "xoff.trimmed.psn", "frame.comment", "_ws.lua.error"];
    let to_hosts = "xoff.trimmed.psn && frame.interface_name contains \"->h\"";
    let trimmed = run.frames("switches", to_hosts, &fields);
    assert_eq!(trimmed.len(), run.count("packets_trimmed"));
    for packet in &trimmed {
        // 1062 bytes of frame became 64.
        assert!(packet[0] == "998" || number(&packet[1]) % 100 == 30, "{packet:?}");
        assert!(packet[3].is_empty() && packet[2].contains(&packet[1]), "{packet:?}");
    }
    let nacks = run.frames("nics", "infiniband.aeth.syndrome.opcode == 3", &["xoff.selective.psn", "frame.comment"]);
    assert_eq!(nacks.len(), run.count("naks"));
    let named: Vec<u64> = trimmed.iter().map(|packet| number(&packet[1])).collect();
    assert!(nacks.iter().all(|nack| named.contains(&number(&nack[0]))), "{nacks:?}");
    let acks = run.frames("nics", "xoff.selective.received && infiniband.aeth.syndrome.opcode == 0", &["frame.number"]);
    assert!(!acks.is_empty());
}

#[test]
fn timed_pauses_say_how_long_they_last() {
    let Some(_) = found(tshark()) else { return };
    let timed = "switch.pfc.signalling=timed";
    let run = Captured::of(INCAST, &[timed, "switch.pfc.pause_time=5us", "switch.pfc.refresh_on_arrival=false"]);
    let times = run.frames("switches", "macc.opcode == 0x0101", &["macc.cbfc.pause_time.c3"]);
    assert_eq!(
        times.len(),
        ["pause_frames", "resume_frames", "refresh_frames"].map(|of| run.count(of)).iter().sum::<usize>()
    );
    // 5 us are 976.6 quanta of 5.12 ns at 100 Gb/s.
    let paused = times.iter().filter(|time| time[0] == "977").count();
    assert_eq!(paused, run.count("pause_frames") + run.count("refresh_frames"));
    assert!(times.iter().all(|time| time[0] == "977" || time[0] == "0"));
    run.is_sound("switches");
}

#[test]
fn congestion_notification_messages_of_layer_2() {
    let Some(_) = found(tshark()) else { return };
    for scheme in ["qcn", "fqcn"] {
        let run = Captured::of(INCAST, &[&format!("scheme.name={scheme}")]);
        run.is_sound("switches");
        let fields = [
            "cnm.feedback",
            "cnm.priority",
            "cnm.qoffset",
            "cnm.qdelta",
            "cntag.flow",
            "eth.type",
            "cnm.msdu",
            "frame.comment",
        ];
        let filter = "eth.type == 0x22e9 && cnm && frame.interface_name contains \"->h\"";
        let cnms = run.frames("switches", filter, &fields);
        assert_eq!(cnms.len(), run.count("notifications"), "each reaches its host");
        assert!(cnms.len() > 3);
        for cnm in &cnms {
            let [feedback, priority, offset, delta, flow, _, sent, comment] = &cnm[..] else { panic!() };
            assert!(comment.contains(&format!("feedback {feedback}")) && comment.contains("sent by the switch at "));
            assert!(comment.starts_with(&format!("flow {flow} ")), "{comment}");
            assert_eq!(priority, "3");
            // Fb = -(Qover + 2 Qdelta) is negative where a message is sent: offset is -Qover.
            let (offset, delta): (i64, i64) = (offset.parse().unwrap(), delta.parse().unwrap());
            assert!(offset - 2 * delta <= 2, "{offset} {delta}");
            assert!(sent.starts_with("080045"), "{sent}");
        }
        // Data frames have their tag, and what follows it is still read.
        let data = run.frames("nics", "cntag && infiniband.bth.opcode <= 10", &["cntag.flow", "infiniband.bth.destqp"]);
        assert_eq!(data.len(), run.count("packets_sent"));
        assert!(data.iter().all(|row| number(&row[0]) + 16 == number(&row[1])));
    }
}

/// `text` up to `end`, after `start`, without separators of thousands.
fn between(comment: &str, start: &str, end: &str) -> u64 {
    let rest = &comment[comment.find(start).unwrap_or_else(|| panic!("`{start}` in {comment}")) + start.len()..];
    number(&rest[..rest.find(end).unwrap()].replace(',', ""))
}

#[test]
fn telemetry_is_in_packets_and_in_their_acks() {
    let Some(_) = found(tshark()) else { return };
    let run = Captured::of(INCAST, &["scheme.name=hpcc"]);
    run.is_sound("switches");
    let fields =
        ["xoff.int.hops", "xoff.int.rate_gbps", "xoff.int.sent_bytes", "xoff.int.queue_bytes", "frame.comment"];
    for (capture, filter) in [
        ("switches", "infiniband.bth.opcode <= 10 && frame.interface_name contains \"->h\""),
        ("nics", "infiniband.bth.opcode == 17"),
    ] {
        let frames = run.frames(capture, filter, &fields);
        assert_eq!(frames.len(), run.count("packets_sent"));
        assert!(frames.iter().any(|frame| frame[0] == "2") && frames.iter().any(|frame| frame[3] != "0"));
        for frame in &frames {
            let hops = number(&frame[0]) as usize;
            assert!(hops == 1 || hops == 2);
            assert_eq!(frame[1], ["100", "100,100"][hops - 1]);
            // The header's units at 100 Gb/s: 512 and 320 bytes, rounded down.
            let (mut sent, mut queued) = (Vec::new(), Vec::new());
            for hop in frame[4].split("; INT ").skip(1) {
                sent.push((between(hop, "us, ", " B sent") / 512 * 512).to_string());
                queued.push((between(hop, "sent, ", " B queued") / 320 * 320).to_string());
            }
            assert_eq!((sent.join(","), queued.join(",")), (frame[2].clone(), frame[3].clone()), "{}", frame[4]);
        }
    }
    let plain = run.frames("nics", "infiniband.bth.opcode <= 10 && xoff.int.hops > 0", &["frame.number"]);
    assert!(plain.is_empty(), "a NIC writes no record");
}

/// With one multiplier for all ports, the header has exactly what the scheme read from it.
#[test]
fn telemetry_has_the_units_that_the_scenario_sets() {
    let Some(_) = found(tshark()) else { return };
    let sets = ["scheme.name=hpcc", "scheme.int_precision=header", "scheme.int_multiplier=1"];
    let run = Captured::of(INCAST, &sets);
    let fields = ["xoff.int.sent_bytes", "xoff.int.queue_bytes", "frame.comment"];
    let filter = "xoff.int.hops > 0 && infiniband.bth.opcode <= 10";
    let frames = run.frames_with(&["xoff.int_multiplier:1"], "switches", filter, &fields);
    assert!(frames.iter().any(|frame| frame[1].split(',').any(|queue| queue != "0")), "some packet queued");
    for frame in &frames {
        let (mut sent, mut queued) = (Vec::new(), Vec::new());
        for hop in frame[2].split("; INT ").skip(1) {
            sent.push(between(hop, "us, ", " B sent").to_string());
            queued.push(between(hop, "sent, ", " B queued").to_string());
        }
        assert_eq!((sent.join(","), queued.join(",")), (frame[0].clone(), frame[1].clone()), "{}", frame[2]);
    }
}

#[test]
fn notifications_carry_what_their_scheme_says() {
    let Some(_) = found(tshark()) else { return };
    let mercury = Captured::of(INCAST, &["scheme.name=mercury"]);
    mercury.is_sound("switches");
    let to_hosts = "infiniband.bth.opcode == 129 && frame.interface_name contains \"->h\"";
    let cnps = mercury.frames("switches", to_hosts, &["xoff.window", "ip.dsfield.ecn", "frame.comment"]);
    assert!(cnps.len() > 3);
    assert_eq!(cnps.len(), mercury.count("notifications"));
    for cnp in &cnps {
        assert_eq!(between(&cnp[2], "window ", " B"), number(&cnp[0]));
        assert_eq!(cnp[1], "0");
    }

    // Long enough for receivers to send CNPs: once all has arrived they are silent.
    let pcn = Captured::of(INCAST, &["scheme.name=pcn", "traffic.0.sizes=300KB"]);
    pcn.is_sound("nics");
    let cnps = pcn.frames(
        "nics",
        "infiniband.bth.opcode == 129",
        &["xoff.receiving_rate_mbps", "ip.dsfield.ecn", "frame.comment"],
    );
    assert_eq!(cnps.len(), pcn.count("notifications"));
    assert!(cnps.iter().any(|cnp| cnp[1] == "3"));
    for cnp in &cnps {
        match cnp[1].as_str() {
            "3" => assert_eq!(between(&cnp[2], "receiving at ", " Mb/s"), number(&cnp[0])),
            _ => assert!(cnp[2].contains("not congested") && cnp[0] == "0", "{cnp:?}"),
        }
    }

    let rocc = Captured::of(INCAST, &["scheme.name=rocc"]);
    let cnps = rocc.frames("switches", to_hosts, &["xoff.fair_rate_mbps", "frame.comment"]);
    assert!(!cnps.is_empty());
    assert!(cnps.iter().all(|cnp| between(&cnp[1], "fair rate ", " Mb/s") == number(&cnp[0])));
}

#[test]
fn flows_between_datacentres_carry_credits() {
    let Some(_) = found(tshark()) else { return };
    let scenario = "[run]\nstop=\"1ms\"\nstop_when_idle=false\n[topology]\nkind=\"two-dc\"\nleaves=1\nspines=1\n\
        hosts_per_leaf=2\nhost_rate=\"25Gbps\"\nlong_delay=\"20us\"\n[scheme]\nname=\"mlcc\"\n\
        [[traffic]]\nkind=\"flows\"\nflow=[{src=\"h0\",dst=\"h3\",size=\"20KB\"}]\n\
        [[capture]]\nname=\"ends\"\nports=[\"h0->*\", \"*->h0\"]\n[output]\nfigures=false\n";
    let run = Captured::of(scenario, &[]);
    run.is_sound("ends");
    let fields = ["xoff.code", "xoff.credit", "xoff.advertised_mbps", "xoff.int.hops", "frame.len", "frame.comment"];
    let data = run.frames("ends", "infiniband.bth.opcode <= 10", &fields);
    assert_eq!(data.len(), 20);
    assert!(data.iter().all(|frame| frame[0] == "2" && frame[3] == "0" && frame[4] == "1102"), "{data:?}");
    // They leave their NIC at the time that they carry, which comes back from the near gateway.
    let sent = run.frames("ends", "infiniband.bth.opcode <= 10", &["xoff.stamp_ns", "frame.time_epoch"]);
    assert!(sent.iter().all(|frame| frame[1].ends_with(&format!(".{:09}", number(&frame[0])))), "{sent:?}");
    let returned = run.frames("ends", "infiniband.bth.opcode == 129", &["xoff.stamp_ns"]);
    assert!(returned.iter().all(|cnp| sent.iter().any(|frame| frame[0] == cnp[0])), "{returned:?}");
    let acks = run.frames("ends", "infiniband.bth.opcode == 17", &fields);
    assert_eq!(acks.len(), 20);
    for ack in &acks {
        assert_eq!((ack[0].as_str(), ack[4].as_str()), ("9", "72"), "66 B and ten, less the FCS");
        assert_eq!(between(&ack[5], "credit ", " of"), number(&ack[1]));
        assert_eq!(between(&ack[5], "advertised ", " Mb/s"), number(&ack[2]));
    }
    // Leaf, spine and gateway have written their records.
    let cnps = run.frames("ends", "infiniband.bth.opcode == 129", &fields);
    assert_eq!(cnps.len(), run.count("notifications"));
    assert!(!cnps.is_empty() && cnps.iter().all(|cnp| cnp[0] == "8" && cnp[3] == "3" && cnp[4] == "116"), "{cnps:?}");
}

#[test]
fn switches_speak_to_their_neighbours() {
    let Some(_) = found(tshark()) else { return };
    let run = Captured::of(INCAST, &["scheme.name=rcm"]);
    run.is_sound("switches");
    let fields = ["xoff.region.degree", "xoff.region.flows", "xoff.region.src", "xoff.region.dst", "frame.comment"];
    let messages = run.frames("switches", "eth.type == 0x88b5", &fields);
    assert!(!messages.is_empty());
    for message in &messages {
        assert_eq!(between(&message[4], "degree ", ","), number(&message[0]));
        assert_eq!(message[2].split(',').filter(|text| !text.is_empty()).count() as u64, number(&message[1]));
        // h7, the receiver, is node 9 behind two switches; h6 is 8.
        assert!(message[3].split(',').all(|to| ["11.0.9.1", "11.0.8.1", ""].contains(&to)), "{message:?}");
    }
}

#[test]
fn tcp_segments_follow_each_other() {
    let Some(_) = found(tshark()) else { return };
    let run = Captured::of(INCAST, &["scheme.name=tcp-newreno"]);
    run.is_sound("nics");
    let fields =
        ["tcp.stream", "tcp.seq_raw", "tcp.len", "tcp.flags", "frame.len", "frame.comment", "tcp.checksum.status"];
    let mut streams: BTreeMap<String, Vec<Vec<String>>> = BTreeMap::new();
    for segment in run.frames("nics", "tcp.len > 0", &fields) {
        assert_eq!(segment[6], "1", "check sum");
        streams.entry(segment[0].clone()).or_default().push(segment);
    }
    assert_eq!(streams.len(), 8);
    for segments in streams.values() {
        let mut expected = 1;
        for segment in segments.iter().filter(|segment| !segment[5].contains("sent again")) {
            assert_eq!(number(&segment[1]), expected);
            expected += number(&segment[2]);
        }
        assert!(expected == 100_001 || expected == 30_002, "every byte: {expected}");
        assert_eq!(number(&segments.last().unwrap()[3]) & 0x08, 0x08, "the last one pushes");
    }
    let last = run.frames("nics", "tcp.flags == 0x10 && tcp.len == 0", &["tcp.ack_raw", "frame.len"]);
    assert_eq!(last.iter().filter(|ack| ack[0] == "100001").count(), 6);
    assert!(last.iter().all(|ack| ack[1] == "60"));
    // DCTCP's receivers echo marks.
    let dctcp = Captured::of(INCAST, &["scheme.name=dctcp", "scheme.k=5KB"]);
    dctcp.is_sound("nics");
    let echoes = dctcp.frames("nics", "tcp.flags.ece == 1", &["frame.comment"]);
    assert!(!echoes.is_empty() && echoes.iter().all(|echo| echo[0].contains("of a marked packet")));
}

#[test]
fn a_capture_keeps_to_its_window_its_limit_and_its_snap() {
    let Some(_) = found(tshark()) else { return };
    let scenario = common::changed(
        INCAST,
        "[output]",
        "[[capture]]\nname = \"some\"\nports = \"s1->h7\"\ndirections = \"both\"\nfrom = \"20us\"\nuntil = \"40us\"\nframes = 25\nsnap = \"64B\"\n[output]",
    );
    let run = Captured::of(&scenario, &[]);
    let fields = ["frame.interface_name", "frame.time_epoch", "frame.len", "frame.cap_len", "frame.comment"];
    let frames = run.frames("some", "", &fields);
    assert_eq!(frames.len(), 25);
    let row = run.row("some");
    assert!(row["frames"] == 25 && row["missed"].as_u64().unwrap() > 0, "{row}");
    for frame in &frames {
        assert!(frame[0] == "s1->h7" || frame[0] == "h7->s1");
        assert!(("0.000020000".."0.000040001").contains(&frame[1].as_str()), "{}", frame[1]);
        assert_eq!(number(&frame[3]), number(&frame[2]).min(64));
    }
    assert!(frames.iter().any(|frame| frame[0] == "h7->s1"));
    let notice = "the capture's limit is reached";
    assert!(frames[24][4].contains(notice) && !frames[23][4].contains(notice));
    let times: Vec<&String> = frames.iter().map(|frame| &frame[1]).collect();
    assert!(times.is_sorted());
    // The summary for people says it too.
    let text = run.bench.ok(&["run", "s.toml", "--out", "again"]);
    assert!(text.contains("captures/some.pcapng"), "{text}");
    // The same bytes again; a run without a directory captures nothing and does not mind.
    assert_eq!(run.bench.read("out/captures/some.pcapng"), run.bench.read("again/captures/some.pcapng"));
    run.bench.ok(&["run", "s.toml", "--no-out"]);
}

#[test]
fn sizes_that_headers_do_not_fit_are_told() {
    let Some(_) = found(tshark()) else { return };
    // The sizes of the HPCC authors' simulator: 48 B of headers, 60 B ACKs, 43 B PFC frames.
    let sets = ["host.data_header=48B", "host.ack_size=60B", "host.pfc_size=43B", "host.gap=0B"];
    let run = Captured::of(INCAST, &sets);
    run.is_sound("switches");
    let lengths = |filter| run.frames("switches", filter, &["frame.len", "frame.comment"]);
    let data = lengths("infiniband.bth.opcode == 7");
    assert!(data.iter().all(|frame| frame[0] == "1044" && !frame[1].contains("counts")));
    let acks = lengths("infiniband.bth.opcode == 17");
    assert!(acks.iter().all(|ack| ack[0] == "62" && ack[1].contains("the scenario counts 60 B")));
    let pfc = lengths("macc");
    assert!(!pfc.is_empty() && pfc.iter().all(|frame| frame[0] == "60" && frame[1].contains("counts 43 B")));
}
