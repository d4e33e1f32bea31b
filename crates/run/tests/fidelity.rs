//! Flow level against packet level: jobs, refusals, and what a run at flow level cannot know.

use std::path::Path;
use xoff_engine::Span;
use xoff_run::{Keep, Records, drive};
use xoff_scenario::{Diagnostic, Loaded, Options, Scenario};

fn load(text: &str, sets: &[&str]) -> Result<Loaded, Vec<Diagnostic>> {
    xoff_schemes::install_all();
    let sets = sets.iter().map(|set| (*set).to_owned()).collect();
    Scenario::from_text("t", text, Path::new(".")).load(&Options { sets, ..Options::default() })
}

fn run(text: &str, sets: &[&str]) -> Records {
    let loaded = load(text, sets).unwrap_or_else(|errors| panic!("{}\n{text}", errors[0]));
    let mut sink = Records::default();
    let end = drive(&loaded, Keep::default(), &mut sink, &mut |_| {}).unwrap();
    assert_eq!((end.imbalance, end.failure), (None, None), "{text}");
    sink
}

/// When the last activity of all jobs was over, in microseconds.
fn job_time(text: &str, sets: &[&str]) -> f64 {
    let ends = run(text, sets).intervals;
    ends.iter().map(|of| of.interval.end.expect("the job ends").as_us()).fold(0.0, f64::max)
}

const FABRIC: &str = "[topology]\nkind = \"leaf-spine\"\nleaves = 2\nspines = 2\nhosts_per_leaf = 4\nhost_rate = \"100Gbps\"\n\
    [host]\nmtu = \"4096B\"\nack_every = 16\n";

#[test]
fn jobs_take_as_long_as_at_packet_level() {
    let jobs = [
        ("kind = \"all-reduce\"\nbytes = \"16MB\"", 0.03),
        ("kind = \"all-gather\"\nbytes = \"16MB\"", 0.03),
        ("kind = \"all-to-all\"\nbytes = \"8MB\"", 0.03),
    ];
    for scheme in ["none", "dcqcn:nic", "swift", "powertcp"] {
        for (job, bound) in jobs {
            let text =
                format!("{FABRIC}[scheme]\nname = \"{}\"\n[[traffic]]\n{job}\n", scheme.split(':').next().unwrap());
            let preset = scheme.split_once(':').map(|(_, preset)| format!("scheme.preset={preset}"));
            let own: Vec<&str> = preset.iter().map(String::as_str).collect();
            let packet = job_time(&text, &own);
            let flow = job_time(&text, &[&own[..], &["run.fidelity=flow"]].concat());
            let error = flow / packet - 1.0;
            eprintln!("{scheme}, {job:?}: {packet:.1} us, {flow:.1} us, {:+.2} %", 100.0 * error);
            assert!(error.abs() < bound, "{scheme}, {job}: {flow} us for {packet}");
        }
    }
}

#[test]
fn open_traffic_has_the_same_flows_on_the_same_paths() {
    let text = format!(
        "{FABRIC}[scheme]\nname = \"powertcp\"\n[[traffic]]\nkind = \"poisson\"\nload = 0.4\nsizes = \"websearch\"\nflows = 200\n"
    );
    let (packet, flow) = (run(&text, &[]), run(&text, &["run.fidelity=flow"]));
    let of = |records: &Records| {
        let mut flows = records.flows.clone();
        flows.sort_by_key(|flow| flow.number);
        flows
    };
    let (packet, flow) = (of(&packet), of(&flow));
    assert_eq!((packet.len(), flow.len()), (200, 200));
    for (packet, flow) in packet.iter().zip(&flow) {
        assert_eq!((packet.number, packet.size_bytes, packet.start), (flow.number, flow.size_bytes, flow.start));
        assert_eq!((&packet.path, packet.ideal, packet.base_rtt), (&flow.path, flow.ideal, flow.base_rtt));
    }
    let mean = |flows: &[xoff_fabric::record::FlowRecord]| {
        let slowdown = |flow: &xoff_fabric::record::FlowRecord| {
            let took: Span = flow.delivered_at.expect("it is delivered") - flow.start;
            took / flow.ideal
        };
        flows.iter().map(slowdown).sum::<f64>() / flows.len() as f64
    };
    let error = mean(&flow) / mean(&packet) - 1.0;
    assert!(error.abs() < 0.1, "mean slowdown {} for {}", mean(&flow), mean(&packet));
}

#[test]
fn what_has_no_form_is_refused_by_name() {
    let job = "[[traffic]]\nkind = \"all-reduce\"\nbytes = \"1MB\"\n";
    let open = "[[traffic]]\nkind = \"permutation\"\nsize = \"1MB\"\n";
    let scheme = |name: &str| format!("[scheme]\nname = \"{name}\"\n");
    let cases = [
        (scheme("none") + open, "open traffic under `none` is out of range"),
        (scheme("rcm") + job, "`rcm` does not run at flow level"),
        (scheme("dcqcn") + job + "[routing]\nmode = \"letflow\"\n", "`letflow` does not run at flow level"),
        (scheme("dcqcn") + job + "[routing]\nmode = \"reps\"\n", "`reps` does not run at flow level"),
        (scheme("dcqcn") + job + "[[capture]]\nports = \"leaf0->*\"\n", "nothing can be captured"),
        (scheme("dcqcn") + job + "[switch.watchdog]\n", "there is no watchdog"),
        (
            scheme("dcqcn") + job + "[[fault]]\nkind = \"pause-storm\"\nat = \"1us\"\nhost = \"h1\"\n",
            "a PFC storm has no form",
        ),
        (
            scheme("dcqcn") + job + "[[fault]]\nkind = \"loss\"\nat = \"1us\"\nlink = \"leaf0->h1\"\nloss = 0.1\n",
            "lost packets have no form",
        ),
        (scheme("dcqcn") + job + "[output]\npfc_frames = true\n", "`pfc_frames` has no effect at flow level"),
    ];
    for (text, why) in cases {
        let text = format!("{FABRIC}{text}");
        load(&text, &[]).unwrap_or_else(|errors| panic!("at packet level: {}\n{text}", errors[0]));
        let errors = load(&text, &["run.fidelity=flow"]).expect_err(&text);
        assert!(errors[0].message.contains(why), "{} is not about {why}", errors[0]);
        assert!(!errors[0].help.is_empty(), "{} has no hint", errors[0]);
    }
    let none = format!("{FABRIC}{}{open}", scheme("none"));
    assert!(load(&none, &["run.fidelity=flow", "run.out_of_range=true"]).is_ok());
    let warned = load(&format!("{FABRIC}{}{job}", scheme("timely")), &["run.fidelity=flow"]).unwrap();
    assert!(warned.warnings.iter().any(|warning| warning.message.contains("`timely` is out of range")));
    // Jobs wait for their messages, and are in range.
    assert!(load(&format!("{FABRIC}{}{job}", scheme("none")), &["run.fidelity=flow"]).is_ok());
}

#[test]
fn a_spread_flow_loads_equal_paths_evenly() {
    let text = format!(
        "{FABRIC}[routing]\nmode = \"spray\"\nspray_at = \"switch\"\n[scheme]\nname = \"none\"\n\
         [[traffic]]\nkind = \"burst\"\nsources = \"h0\"\ndestinations = \"h4\"\nsize = \"10MB\"\n"
    );
    let loaded = load(&text, &["run.fidelity=flow", "run.out_of_range=true"]).unwrap();
    let mut sink = Records::default();
    let end = drive(&loaded, Keep::default(), &mut sink, &mut |_| {}).unwrap();
    let sent = |from: &str, to: &str| -> u64 {
        let named = |port: u32| loaded.plan.port_name(port) == format!("{from}->{to}");
        end.ports.iter().filter(|report| named(report.port)).map(|report| report.tx_wire_bytes).sum()
    };
    let (nic, up) = (sent("h0", "leaf0"), [sent("leaf0", "spine0"), sent("leaf0", "spine1")]);
    assert!(nic > 10_000_000 && up[0].abs_diff(nic / 2) < 10 && up[1].abs_diff(nic / 2) < 10, "{nic}, {up:?}");
    assert_eq!(sink.flows[0].delivered_at.unwrap() - sink.flows[0].start, sink.flows[0].ideal);
}

#[test]
fn macro_flows_take_the_times_of_messages_where_rings_collide() {
    // Four hosts at each of two leaves; every second connection crosses the spines, which are hashed: some collide.
    let kinds = ["all-reduce", "all-gather", "reduce-scatter", "broadcast", "all-to-all"];
    for (kind, bytes) in kinds.into_iter().zip(["64MB", "64MB", "64MB", "16MB", "64MB"]) {
        let text = format!(
            "{FABRIC}[scheme]\nname = \"swift\"\n[[traffic]]\nkind = \"{kind}\"\nbytes = \"{bytes}\"\niterations = 2\n"
        );
        let messages = job_time(&text, &["run.fidelity=flow", "run.collectives=messages"]);
        let together = job_time(&text, &["run.fidelity=flow", "run.collectives=macro"]);
        let error = together / messages - 1.0;
        eprintln!("{kind}: {messages:.1} us, {together:.1} us, {:+.2} %", 100.0 * error);
        assert!(error.abs() < 0.05, "{kind}: {together} us as macro-flows, {messages} by messages");
    }
}

#[test]
fn collectives_are_macro_flows_where_they_can_be() {
    let macro_flows = |text: &str, sets: &[&str]| {
        let loaded = load(text, sets).unwrap_or_else(|errors| panic!("{}", errors[0]));
        let job = loaded.traffic[0].job().expect("it is a job");
        let warned = loaded.warnings.iter().any(|warning| warning.message.contains("message by message"));
        (job.graph.form() == Some(xoff_scenario::traffic::Form::MacroFlows), job.messages_because, warned)
    };
    let job = |servers: u32, more: &str| {
        format!(
            "[topology]\nkind = \"dual-plane\"\nservers = {servers}\nspines = 4\n[scheme]\nname = \"dcqcn\"\n\
             [[traffic]]\nkind = \"all-reduce\"\nbytes = \"1MB\"\n{more}"
        )
    };
    let flow = "run.fidelity=flow";
    assert_eq!(macro_flows(&job(8, ""), &[flow]), (false, None, false));
    assert_eq!(macro_flows(&job(64, ""), &[flow]), (true, None, false));
    assert_eq!(macro_flows(&job(64, ""), &[]), (false, None, false));
    assert_eq!(macro_flows(&job(64, ""), &[flow, "run.collectives=messages"]), (false, None, false));
    assert_eq!(macro_flows(&job(8, ""), &[flow, "run.collectives=macro"]), (true, None, false));
    let fresh = macro_flows(&job(64, "connections = \"fresh\"\n"), &[flow]);
    assert_eq!(fresh, (false, Some("every message takes a path of its own"), true));
    let fault = "[[fault]]\nkind = \"link-down\"\nat = \"1us\"\nlink = \"leaf0<->*\"\n";
    let moves = macro_flows(&job(64, fault), &[flow]);
    assert_eq!(moves, (false, Some("queue pairs move to other ports when a link fails"), true));
}

#[test]
fn a_job_whose_steps_repeat_stops_and_says_what_it_left_out() {
    let text = format!(
        "{FABRIC}[scheme]\nname = \"dcqcn\"\n[[traffic]]\nkind = \"all-reduce\"\nbytes = \"4MB\"\ncompute = \"50us\"\n"
    );
    let end = |sets: &[&str]| {
        let loaded = load(&text, sets).unwrap_or_else(|errors| panic!("{}", errors[0]));
        let mut sink = Records::default();
        let end = drive(&loaded, Keep::default(), &mut sink, &mut |_| {}).unwrap();
        let last = sink.intervals.iter().filter_map(|of| of.interval.end).max().unwrap();
        let iterations = sink.intervals.iter().map(|of| of.interval.iteration + 1).max().unwrap();
        (end.settled, last.as_us(), iterations)
    };
    for level in ["run.fidelity=packet", "run.fidelity=flow"] {
        let (none, all_us, ran) = end(&[level, "traffic.0.iterations=40"]);
        assert!(none.is_empty() && ran == 40, "without `settle` all are run");
        let (settled, part_us, ran) = end(&[level, "traffic.0.iterations=40", "run.settle.error=0.01"]);
        let [(0, known)] = settled[..] else { panic!("{settled:?}") };
        assert!((4..=12).contains(&ran) && known.ran == ran, "{level}: {ran} of 40 were run, {known:?}");
        assert!(known.half_width_us < 0.01 * known.mean_us, "{known:?}");
        let told = part_us + f64::from(40 - ran) * known.mean_us;
        let error = told / all_us - 1.0;
        assert!(error.abs() < 0.01, "{level}: {told} us with {ran} iterations, {all_us} with all");
    }
    // Two jobs stop together or not at all: the second has too few iterations to say anything.
    let two = "[[traffic]]\nkind = \"all-reduce\"\nname = \"short\"\nbytes = \"1MB\"\niterations = 2\n";
    let loaded = load(&format!("{text}iterations = 40\n{two}"), &["run.settle.error=0.01"]).unwrap();
    let end = drive(&loaded, Keep::default(), &mut Records::default(), &mut |_| {}).unwrap();
    assert_eq!(end.settled.iter().map(|(job, _)| *job).collect::<Vec<_>>(), [0]);
    assert_eq!(end.one_part_because, Some("jobs that settle stop together"));
}
