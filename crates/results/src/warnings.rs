//! What a user should know before trusting a run: each warning says what is so, with the numbers, and
//! what would mend it. Those of a scenario are known before it runs, the others come from its records.

use super::incident::Warning;
use super::names::{Names, label_name, scheme_label};
use super::summary::{Distribution, Summary};
use std::collections::BTreeSet;
use xoff_catalogue::param::{BytesByRate, ParamValues, SchemeSpec, Value};
use xoff_engine::{BitRate, Span};
use xoff_fabric::plan::{HostSettings, NodeKind, Recovery};
use xoff_fabric::record::FlowRecord;
use xoff_scenario::Loaded;
use xoff_scenario::check::marking::{self, Verdict};
use xoff_scenario::number::{bytes, thousands};

/// Percentiles of fewer values than this have no 99th of their own.
const ENOUGH_FOR_P99: u64 = 100;

/// The warnings of several runs, each told once with the schemes that it concerns.
pub fn of_comparison(runs: &[&Summary]) -> Vec<String> {
    let mut grouped: Vec<(&Warning, Vec<&str>)> = Vec::new();
    for run in runs {
        let scheme = scheme_label(&run.scheme);
        for warning in &run.warnings {
            let same = |known: &Warning| (&known.kind, known.text()) == (&warning.kind, warning.text());
            match grouped.iter_mut().find(|(known, _)| same(known)) {
                Some((_, schemes)) if schemes.contains(&scheme) => {}
                Some((_, schemes)) => schemes.push(scheme),
                None => grouped.push((warning, vec![scheme])),
            }
        }
    }
    let all: BTreeSet<&str> = runs.iter().map(|run| scheme_label(&run.scheme)).collect();
    let line = |(warning, schemes): (&Warning, Vec<&str>)| {
        let of_all = schemes.len() == all.len() && all.len() > 1;
        warning.line_of(&if of_all { "all".to_owned() } else { schemes.join(", ") })
    };
    grouped.into_iter().map(line).collect()
}

/// What can be said before the run.
pub fn of_scenario(loaded: &Loaded) -> Vec<Warning> {
    let mut warnings = late_marks(loaded);
    for scheme in &loaded.schemes {
        for values in std::iter::once(&scheme.values).chain(scheme.values.base()) {
            warnings.extend(slower_ports(values, fastest_switch_port(loaded)));
        }
    }
    warnings
}

/// PAUSE that comes before ECN has marked anything: end-to-end control then reacts too late.
fn late_marks(loaded: &Loaded) -> Vec<Warning> {
    // Layers that differ in nothing else are told together.
    let mut grouped: Vec<(Vec<String>, marking::Marking)> = Vec::new();
    for row in marking::rows(loaded).into_iter().filter(|row| row.marks_before_pause == Verdict::Not) {
        let alike = |known: &marking::Marking| {
            (&known.scheme, known.kmin_bytes, &known.remedy) == (&row.scheme, row.kmin_bytes, &row.remedy)
        };
        match grouped.iter_mut().find(|(_, known)| alike(known)) {
            Some((layers, _)) if layers.contains(&row.layer) => {}
            Some((layers, _)) => layers.push(row.layer),
            None => grouped.push((vec![row.layer.clone()], row)),
        }
    }
    let warning = |(layers, row): (Vec<String>, marking::Marking)| {
        let what = format!(
            "ECN acts after PFC: {} marks from {} on, and ingresses of switches ({}) pause from {} on",
            row.scheme,
            bytes(row.kmin_bytes),
            layers.join(", "),
            bytes(row.pause_bytes)
        );
        let numbers = [("kmin_bytes", row.kmin_bytes as f64), ("pause_bytes", row.pause_bytes as f64)];
        Warning::new("marks-after-pause", what, format!("Marks come first with {}", row.remedy), &numbers)
    };
    grouped.into_iter().map(warning).collect()
}

fn fastest_switch_port(loaded: &Loaded) -> BitRate {
    let plan = &loaded.plan;
    let of_switch = |port: &u32| plan.nodes[plan.node_of(*port) as usize].kind == NodeKind::Switch;
    let ports = (0..plan.ports() as u32).filter(of_switch);
    ports.map(|port| plan.direction(port).rate).max().unwrap_or(BitRate::from_bps(0))
}

/// Values that were found for slower ports than there are.
fn slower_ports(values: &ParamValues, fastest: BitRate) -> Option<Warning> {
    let spec: &'static SchemeSpec = values.spec();
    let (tuned, stale) = spec.tuned.iter().find_map(|tuned| {
        let meant = BitRate::from_gbps(tuned.gbps);
        let preset = spec.values(spec.preset(tuned.preset));
        let stale: Vec<&str> =
            tuned.params.iter().copied().filter(|name| values.get(name) == preset.get(name)).collect();
        (fastest > meant && !stale.is_empty()).then_some((tuned, stale))
    })?;
    let times = fastest.as_gbps() / tuned.gbps as f64;
    let now: Vec<String> = stale.iter().map(|name| format!("{name} {}", values.get(name))).collect();
    let scaled: Vec<String> = stale.iter().filter_map(|name| scaled(name, values.get(name), times)).collect();
    let what = format!(
        "{} has values of its preset `{}`, found for ports of {} Gb/s ({}), and ports here have up to {fastest}",
        spec.name,
        tuned.preset,
        tuned.gbps,
        now.join(", ")
    );
    let remedy =
        format!("In proportion they would be {}; `xoff schemes {}` lists presets", scaled.join(", "), spec.name);
    let numbers = [("meant_for_gbps", tuned.gbps as f64), ("fastest_port_gbps", fastest.as_gbps())];
    Some(Warning::new("tuned-for-slower-ports", what, remedy, &numbers))
}

/// A size so many times as large.
fn scaled(name: &str, value: &Value, times: f64) -> Option<String> {
    match value {
        Value::Bytes(size) | Value::BytesByRate(BytesByRate::Fixed(size)) => {
            Some(format!("{name} {}", bytes((*size as f64 * times).round() as u64)))
        }
        _ => None,
    }
}

/// The 99th percentile by nearest rank is the largest value below a hundred.
pub fn few_flows(slowdown: &Distribution) -> Option<Warning> {
    let flows = slowdown.count;
    if flows == 0 || flows >= ENOUGH_FOR_P99 {
        return None;
    }
    let what = match flows {
        1 => "the p99 of 1 finished flow is that flow".to_owned(),
        flows => format!("the p99 of {flows} finished flows is the slowest of them"),
    };
    let remedy = format!("With {ENOUGH_FOR_P99} or more, by more traffic or more seeds, it says more");
    Some(Warning::new("few-flows", what, remedy, &[("flows", flows as f64)]))
}

/// Traffic that had not come to its end when the run stopped.
pub fn unended(waits: &[String]) -> Option<Warning> {
    let (first, more) = waits.split_first()?;
    let more = match more.len() {
        0 => String::new(),
        more => format!(", and {more} more"),
    };
    let what = format!("when the run stopped, its traffic still waited for {first}{more}");
    let numbers = [("waits", waits.len() as f64)];
    Some(Warning::new("unended-traffic", what, "Let it run longer, by [run] stop".to_owned(), &numbers))
}

/// Gathers flows whose timer ran out although nothing of theirs was lost.
pub struct Timeouts {
    ack_every: u32,
    /// The least that a host waits, and the key that says so.
    wait: (Span, &'static str),
    flows: u64,
    timeouts: u64,
    worst: Option<Worst>,
}

struct Worst {
    id: u32,
    label: u32,
    src: u32,
    dst: u32,
    timeouts: u32,
}

impl Timeouts {
    pub fn new(hosts: &[HostSettings]) -> Timeouts {
        let ack_every = hosts.iter().map(|host| host.ack_every).max().unwrap_or(1);
        let wait = |host: &HostSettings| match host.recovery {
            Recovery::Irn(irn) | Recovery::IrnRewind(irn) => (irn.rto_low, "rto_low"),
            Recovery::GoBackN | Recovery::Sack(_) => (host.retransmit_timeout, "retransmit_timeout"),
        };
        let wait = hosts.iter().map(wait).min().unwrap_or((Span::ZERO, "retransmit_timeout"));
        Timeouts { ack_every, wait, flows: 0, timeouts: 0, worst: None }
    }

    pub fn flow(&mut self, flow: &FlowRecord) {
        let timeouts = flow.recovery.timeouts;
        if timeouts == 0 || flow.lost > 0 {
            return;
        }
        self.flows += 1;
        self.timeouts += u64::from(timeouts);
        if self.worst.as_ref().is_none_or(|worst| worst.timeouts < timeouts) {
            let FlowRecord { id, label, src, dst, .. } = *flow;
            self.worst = Some(Worst { id, label, src, dst, timeouts });
        }
    }

    pub fn warning(&self, names: &Names, labels: &[String]) -> Option<Warning> {
        let worst = self.worst.as_ref()?;
        let flows = if self.flows == 1 { "1 flow".to_owned() } else { format!("{} flows", thousands(self.flows)) };
        let what = format!(
            "{} time-outs in {flows} of which no packet was lost, most ({}) in flow {}, {}->{} ({})",
            thousands(self.timeouts),
            thousands(u64::from(worst.timeouts)),
            worst.id,
            names.node(worst.src),
            names.node(worst.dst),
            label_name(labels, worst.label),
        );
        let numbers = [
            ("timeouts", self.timeouts as f64),
            ("flows", self.flows as f64),
            ("worst_flow", f64::from(worst.id)),
            ("worst_flow_timeouts", f64::from(worst.timeouts)),
        ];
        Some(Warning::new("timeouts-without-loss", what, self.remedy(), &numbers))
    }

    /// An ACK that waits for more packets than the window allows never comes; one that comes late was
    /// held up by queues and pauses.
    fn remedy(&self) -> String {
        let (wait, key) = self.wait;
        let longer = format!("[host] {key} above the longest wait ({wait} now)");
        match self.ack_every {
            0 | 1 => {
                format!("Packets or ACKs waited longer than the timer, in queues or for PAUSE to end: set {longer}")
            }
            every => format!(
                "With ack_every = {every} an ACK waits for further packets, and long queues and pauses delay it: \
                 set [host] ack_every = 1, or {longer}"
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture;
    use super::*;
    use std::path::Path;
    use xoff_fabric::record::RecoveryRecord;
    use xoff_scenario::{Options, Scenario};

    /// Two hosts of 100 Gb/s; `scheme` completes the tables of switch and scheme.
    fn scenario(rest: &str) -> Vec<Warning> {
        xoff_schemes::install_all();
        let text = format!(
            "[topology]\nkind=\"star\"\nhosts=2\nrate=\"100Gbps\"\n{rest}\n\
             [[traffic]]\nkind=\"burst\"\nsources=\"h0\"\ndestinations=\"h1\"\nsize=\"1MB\"\n"
        );
        let loaded = Scenario::from_text("t", text, Path::new(".")).load(&Options::default());
        of_scenario(&loaded.unwrap_or_else(|errors| panic!("{}", errors[0])))
    }

    fn kinds(warnings: &[Warning]) -> Vec<&str> {
        warnings.iter().map(|warning| warning.kind.as_str()).collect()
    }

    #[test]
    fn marks_after_pause_are_told_with_the_thresholds_that_would_do() {
        let pfc = |xoff: &str| {
            format!("[switch.pfc]\nthreshold=\"static\"\nxoff=\"{xoff}\"\n[scheme]\nname=\"dcqcn\"\npreset=\"nic\"\n")
        };
        let late = scenario(&pfc("300KB"));
        assert_eq!(kinds(&late), ["marks-after-pause"]);
        assert_eq!((late[0].numbers["kmin_bytes"], late[0].numbers["pause_bytes"]), (400e3, 300e3));
        assert!(late[0].remedy.contains("kmin below 300 KB"), "{}", late[0].text());
        assert!(late[0].remedy.contains("[switch.pfc] xoff above 400 KB"), "{}", late[0].text());
        // Either remedy, taken at its word, ends the warning.
        assert!(scenario(&pfc("400.001KB")).is_empty());
        assert!(scenario(&format!("{}kmin=\"299KB\"\nkmax=\"900KB\"\n", pfc("300KB"))).is_empty());
        assert_eq!(kinds(&scenario(&format!("{}kmin=\"300KB\"\n", pfc("300KB")))), ["marks-after-pause"]);
        assert!(scenario(&format!("{}mark_at=\"never\"\n", pfc("300KB"))).is_empty(), "nothing is marked at all");
    }

    #[test]
    fn the_buffer_that_a_dynamic_threshold_needs_is_worked_out() {
        let of = |buffer: &str| {
            scenario(&format!(
                "[switch]\nbuffer=\"{buffer}\"\n[switch.pfc]\nalpha=0.125\n[scheme]\nname=\"dcqcn\"\npreset=\"nic\"\n"
            ))
        };
        let late = of("1MB");
        assert_eq!(kinds(&late), ["marks-after-pause"]);
        let (_, needed) = late[0].remedy.split_once("[switch] buffer above ").unwrap();
        let needed: f64 = needed.trim_end_matches(" MB").parse().unwrap();
        assert!(of(&format!("{:.3}MB", needed + 0.01)).is_empty(), "{needed} MB and a little more suffice");
        assert_eq!(kinds(&of(&format!("{:.3}MB", needed - 0.01))), ["marks-after-pause"], "a little less does not");
    }

    #[test]
    fn values_for_slower_ports_are_told_however_they_came() {
        let named = scenario("[scheme]\nname=\"dcqcn\"\npreset=\"paper\"\n");
        assert_eq!(kinds(&named), ["tuned-for-slower-ports"]);
        assert!(named[0].text().contains("kmin 12.5 KB, kmax 500 KB"), "{}", named[0].text());
        let spelled = scenario("[scheme]\nname=\"dcqcn\"\npreset=\"nic\"\nkmin=\"5KB\"\nkmax=\"200KB\"\n");
        assert_eq!(kinds(&spelled), ["tuned-for-slower-ports"]);
        let own = scenario("[scheme]\nname=\"dcqcn\"\npreset=\"paper\"\nkmin=\"12.5KB\"\nkmax=\"500KB\"\n");
        assert!(own.is_empty(), "{own:?}");
        let base = scenario("[scheme]\nname=\"mercury\"\n[scheme.base]\nname=\"dcqcn\"\npreset=\"paper\"\n");
        assert_eq!(kinds(&base), ["tuned-for-slower-ports"], "of the base, too");
    }

    #[test]
    fn what_a_preset_is_tuned_for_is_of_that_preset() {
        for spec in xoff_schemes::all() {
            for tuned in spec.tuned {
                assert!(spec.preset(tuned.preset).is_some(), "{} has no preset {}", spec.name, tuned.preset);
                let values = spec.values(spec.preset(tuned.preset));
                for name in tuned.params {
                    assert!(scaled(name, values.get(name), 2.0).is_some(), "{}.{name} is no size", spec.name);
                }
            }
        }
    }

    #[test]
    fn time_outs_count_only_where_nothing_was_lost() {
        let plan = fixture::plan();
        let names = Names::of(&plan);
        let labels = ["F0".to_owned(), "burst".to_owned()];
        let timed_out = |id, timeouts, lost| {
            let recovery = RecoveryRecord { timeouts, ..RecoveryRecord::default() };
            FlowRecord { recovery, lost, ..fixture::flow(id, 1_000, 0, 20) }
        };
        let mut few = Timeouts::new(&plan.hosts);
        few.flow(&timed_out(1, 0, 0));
        few.flow(&timed_out(2, 5, 1));
        assert_eq!(few.warning(&names, &labels), None);
        few.flow(&timed_out(3, 2, 0));
        few.flow(&timed_out(4, 7, 0));
        let warning = few.warning(&names, &labels).unwrap();
        assert!(warning.what.starts_with("9 time-outs in 2 flows"), "{}", warning.what);
        assert!(warning.what.contains("most (7) in flow 4, h0->r0 (burst)"), "{}", warning.what);
        assert!(warning.remedy.contains("retransmit_timeout") && !warning.remedy.contains("ack_every"));
        let mut hosts = plan.hosts.clone();
        hosts[0].ack_every = 4;
        let mut rare = Timeouts::new(&hosts);
        rare.flow(&timed_out(3, 2, 0));
        assert!(rare.warning(&names, &labels).unwrap().remedy.contains("set [host] ack_every = 1"));
    }

    #[test]
    fn a_percentile_of_few_flows_is_called_what_it_is() {
        let of = |count| few_flows(&Distribution { count, ..Distribution::default() });
        assert_eq!((of(0), of(100)), (None, None));
        assert!(of(99).unwrap().what.contains("99 finished flows is the slowest"));
    }

    #[test]
    fn traffic_that_did_not_end_is_told() {
        assert_eq!(unended(&[]), None);
        let of =
            |lines: &[&str]| unended(&lines.iter().map(|line| (*line).to_owned()).collect::<Vec<_>>()).unwrap().what;
        assert!(of(&["rank 3"]).ends_with("still waited for rank 3"));
        assert!(of(&["rank 3", "rank 4", "rank 5"]).ends_with("still waited for rank 3, and 2 more"));
    }

    #[test]
    fn a_comparison_tells_each_warning_once() {
        let summary = |scheme: &str, kinds: &[&str]| {
            let plan = fixture::plan();
            let writer = super::super::RunWriter::create(None, &fixture::context(&plan)).unwrap();
            let mut summary = writer.finish(fixture::end(0)).unwrap().summary;
            let warning = |kind: &&str| Warning::new(kind, format!("{kind} is so"), "Mend it".into(), &[]);
            summary.warnings = kinds.iter().map(warning).collect();
            summary.scheme = scheme.into();
            summary
        };
        let (a, b, c) = (summary("a", &["x", "y"]), summary("b", &["x"]), summary("c", &["x", "y"]));
        // Another seed of a scheme says nothing new.
        let warnings = of_comparison(&[&a, &a, &b, &c]);
        assert_eq!(warnings, ["warning[x] all: x is so. Mend it.", "warning[y] a, c: y is so. Mend it."]);
    }
}
