//! What flow level gets wrong: a run at flow level beside the same run at packet level.

use super::columns::Entry;
use super::finding::Finding;
use super::grid::{Grid, Section};
use super::names::scheme_label;
use super::summary::{Distribution, Summary};
use xoff_scenario::number::{brief, microseconds, percent};

/// What distinguishes the runs at flow level of a comparison.
const SUFFIX: &str = " at flow level";

/// The name of a scheme's runs at flow level, beside those at packet level.
pub fn at_flow_level(scheme: &str) -> String {
    format!("{scheme}{SUFFIX}")
}

/// A number of both runs.
struct Pair {
    what: String,
    show: fn(f64) -> String,
    packet: Option<f64>,
    flow: Option<f64>,
}

/// A table for every scheme that ran at both levels: numbers, and the error of flow level.
pub(crate) fn tables(entries: &[Entry]) -> Vec<Section> {
    let table = |packet: &Entry| {
        let name = at_flow_level(&packet.scheme);
        let flow = entries.iter().find(|entry| entry.scheme == name)?;
        Some(section(packet, flow))
    };
    entries.iter().filter_map(table).collect()
}

/// Whether some scheme ran at both levels.
pub(crate) fn is_of_both(entries: &[Entry]) -> bool {
    entries.iter().any(|packet| entries.iter().any(|entry| entry.scheme == at_flow_level(&packet.scheme)))
}

/// What flow level gets wrong, in a sentence for each scheme; none if no scheme ran at both levels.
pub(crate) fn finding(entries: &[Entry]) -> Option<Finding> {
    let sentence = |packet: &Entry| {
        let name = at_flow_level(&packet.scheme);
        let flow = entries.iter().find(|entry| entry.scheme == name)?;
        let pairs = pairs(packet, flow);
        let told =
            |pair: &&Pair| TOLD.iter().any(|told| pair.what.starts_with(told) && !pair.what.contains("slowdown,"));
        let of = |pair: &Pair| Some(format!("{} in {}", signed(pair.error()?), pair.what.replace(", ", " of ")));
        let errors: Vec<String> = pairs.iter().filter(told).filter_map(of).collect();
        let scheme = scheme_label(&packet.scheme);
        (!errors.is_empty())
            .then(|| format!("Flow level differs from packet level under {scheme} by {}.", errors.join(", ")))
    };
    let text: Vec<String> = entries.iter().filter_map(sentence).collect();
    (!text.is_empty()).then(|| Finding { text: text.join(" "), ..Finding::default() })
}

/// Numbers of the sentence.
const TOLD: [&str; 3] = ["mean slowdown", "p99 slowdown", "job completion time"];

impl Pair {
    fn error(&self) -> Option<f64> {
        self.packet.zip(self.flow).filter(|(packet, _)| *packet != 0.0).map(|(packet, flow)| flow / packet - 1.0)
    }
}

fn section(packet: &Entry, flow: &Entry) -> Section {
    let mut grid = Grid::new(["", "packet level", "flow level", "error"]).left(&[0]);
    for pair in pairs(packet, flow) {
        let text = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), pair.show);
        let error = pair.error().map_or_else(|| "-".to_owned(), signed);
        grid.row([pair.what.clone(), text(pair.packet), text(pair.flow), error]);
    }
    Section::new(format!("error of flow level: {}", scheme_label(&packet.scheme)), grid)
}

/// `+2.0%`, `-12%`.
fn signed(share: f64) -> String {
    format!("{}{}", if share < 0.0 { "-" } else { "+" }, percent(share.abs()))
}

fn pairs(packet: &Entry, flow: &Entry) -> Vec<Pair> {
    let mean = |entry: &Entry, read: &dyn Fn(&Summary) -> Option<f64>| {
        let values: Vec<f64> = entry.summaries().filter_map(read).collect();
        (values.len() == entry.runs.len()).then(|| values.iter().sum::<f64>() / values.len() as f64)
    };
    let pair = |what: String, show: fn(f64) -> String, read: &dyn Fn(&Summary) -> Option<f64>| {
        let pair = Pair { what, show, packet: mean(packet, read), flow: mean(flow, read) };
        (pair.packet.is_some() || pair.flow.is_some()).then_some(pair)
    };
    let first = &packet.first().summary;
    let mut pairs = Vec::new();
    for (name, read) in [("mean slowdown", mean_of as fn(&Distribution) -> Option<f64>), ("p99 slowdown", p99_of)] {
        pairs.extend(pair(name.to_owned(), brief, &|run| read(&run.flows.slowdown)));
        for (place, class) in first.flows.by_size.iter().enumerate().filter(|(_, class)| class.completed > 0) {
            let of_class = |run: &Summary| read(&run.flows.by_size.get(place)?.slowdown);
            pairs.extend(pair(format!("{name}, {}", class.name), brief, &of_class));
        }
    }
    for (place, job) in first.jobs.iter().enumerate() {
        let time = |run: &Summary| run.jobs.get(place)?.jct_us;
        pairs.extend(pair(format!("job completion time, {}", job.name), microseconds, &time));
        let exposed = |run: &Summary| run.jobs.get(place).map(|job| job.exposed_us);
        pairs.extend(pair(format!("exposed communication, {}", job.name), microseconds, &exposed));
    }
    pairs.extend(pair("goodput90, Gbps".to_owned(), brief, &|run| Some(run.flows.goodput90_gbps)));
    for link in &first.busiest_links {
        let used = |run: &Summary| run.busiest_links.iter().find(|of| of.port == link.port).map(|of| of.utilisation);
        pairs.extend(pair(format!("utilisation of {}", link.port), percent, &used));
    }
    pairs
}

fn mean_of(of: &Distribution) -> Option<f64> {
    of.mean
}

fn p99_of(of: &Distribution) -> Option<f64> {
    of.p99
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{RunWriter, execute, fixture};
    use std::path::Path;
    use xoff_scenario::{Options, Scenario};

    fn entry(scheme: &str, slowdown: f64) -> Entry {
        let plan = fixture::plan();
        let mut writer = RunWriter::create(None, &fixture::context(&plan)).unwrap();
        writer.flows(&[fixture::flow(0, 1_000, 0, 10)]).unwrap();
        let mut outcome = writer.finish(fixture::end(1_000)).unwrap();
        outcome.summary.flows.slowdown = Distribution { count: 100, mean: Some(slowdown), ..Distribution::default() };
        Entry { scheme: scheme.to_owned(), runs: vec![outcome] }
    }

    #[test]
    fn the_error_is_that_of_the_mean_over_packet_level() {
        let entries = [entry("dcqcn", 2.0), entry("dcqcn at flow level", 1.5), entry("hpcc", 1.0)];
        let told = finding(&entries).unwrap().text;
        assert!(
            told.starts_with("Flow level differs from packet level under dcqcn by -25.0% in mean slowdown"),
            "{told}"
        );
        assert!(!is_of_both(&entries[1..]) && finding(&entries[..1]).is_none());
        let tables = tables(&entries);
        assert_eq!(tables.len(), 1);
        let text = tables[0].grid.text();
        let line = text.lines().find(|line| line.contains("mean slowdown")).unwrap();
        assert!(line.contains("2.00") && line.contains("1.50") && line.contains("-25"), "{text}");
    }

    const SCENARIO: &str = "run.fidelity = \"flow\"\n[topology]\nkind = \"star\"\nhosts = 4\nrate = \"100Gbps\"\n\
        [scheme]\nname = \"swift\"\n[[traffic]]\nkind = \"permutation\"\nsize = \"1MB\"\n\
        [[measure]]\nname = \"fct\"\nmetric = \"fct\"\nstat = \"mean\"\nunit = \"us\"\n\
        [[measure]]\nname = \"marks\"\nmetric = \"counter\"\nof = \"marks\"\n\
        [[measure]]\nname = \"sent\"\nmetric = \"port\"\nwhat = \"sent_bytes\"\nunit = \"B\"\nof = \"sw->h0\"\n\
        [[measure]]\nname = \"paused\"\nmetric = \"port\"\nwhat = \"paused\"\nunit = \"us\"\nof = \"sw->h0\"\n";

    #[test]
    fn what_only_packets_tell_is_null_and_never_zero() {
        xoff_schemes::install_all();
        let scenario = Scenario::from_text("t", SCENARIO, Path::new("."));
        let loaded = scenario.load(&Options::default()).unwrap_or_else(|errors| panic!("{}", errors[0]));
        let (outcome, tables) = execute::collect(&loaded, None, |_| Ok(())).unwrap();
        let json: serde_json::Value = serde_json::from_str(&outcome.summary.json()).unwrap();
        assert_eq!(json["fidelity"], "flow");
        for name in ["marks", "pause_frames", "drops", "packet_hops", "acks", "deadlocks", "packet_hops_per_cpu_second"]
        {
            assert!(json.as_object().unwrap().contains_key(name) && json[name].is_null(), "{name} is {}", json[name]);
        }
        assert_eq!((json["flows_completed"].as_u64(), json["delivered_bytes"].as_u64()), (Some(4), Some(4_000_000)));
        let value = |name: &str| outcome.summary.measures.iter().find(|of| of.name == name).unwrap().value;
        assert!(value("fct").is_some_and(|fct| fct > 80.0) && value("sent").is_some_and(|sent| sent > 1e6));
        assert_eq!((value("marks"), value("paused")), (None, None));
        let names: Vec<&str> = tables.iter().map(|of| of.table.name).collect();
        assert!(!names.contains(&"pauses") && !names.contains(&"port_activity"), "{names:?}");
        for (table, column, known) in [
            ("flows", "marked", false),
            ("flows", "packets_retransmitted", false),
            ("flows", "packets_sent", true),
            ("ports", "queue_peak_bytes", false),
            ("ports", "paused_us", false),
            ("ports", "port_tx_bytes", true),
        ] {
            let of = tables.iter().find(|of| of.table.name == table).unwrap();
            let place = of.table.columns.iter().position(|of| of.name == column).unwrap();
            let valid = &of.columns[place].valid;
            let any = of.rows > 0 && valid.as_ref().is_none_or(|bits| bits.iter().any(|byte| *byte != 0));
            assert_eq!(any, known, "{column} of {table}");
        }
    }
}
