//! Every number of a run's summary under a name of its own, flat: what a row of the table holds.

use std::collections::HashSet;
use xoff_results::summary::{Distribution, SizeClass, Summary};

#[derive(Clone, PartialEq, Debug)]
pub struct Number {
    /// Name as in `run.json`, with dots: `by_source.mice.slowdown.p99`.
    pub name: String,
    /// Empty where nothing is measured.
    pub unit: String,
    /// `None` where there was nothing to measure.
    pub value: Option<f64>,
    /// A count: whole, and never absent.
    pub whole: bool,
}

/// Every number that some of these have, once, in the order in which they come.
pub fn union<'a>(all: impl IntoIterator<Item = &'a [Number]>) -> Vec<&'a Number> {
    let mut seen = HashSet::new();
    all.into_iter().flatten().filter(|number| seen.insert(number.name.as_str())).collect()
}

/// What the simulated network did, in the order of `run.json`.
pub fn of_network(summary: &Summary) -> Vec<Number> {
    let mut to = Flat(Vec::new());
    to.real("sim_time_us", "us", Some(summary.sim_time_us));
    to.count("flows_total", "", summary.flows.flows_total);
    to.count("flows_completed", "", summary.flows.flows_completed);
    to.count("flows_endless", "", summary.flows.flows_endless);
    to.distribution("fct_us", "us", &summary.flows.fct_us);
    to.distribution("slowdown", "1", &summary.flows.slowdown);
    to.sizes("by_size", &summary.flows.by_size);
    for of in &summary.flows.by_source {
        let within = |name: &str| format!("by_source.{}.{name}", of.source);
        to.count(within("flows"), "", of.flows);
        to.count(within("completed"), "", of.completed);
        to.distribution(within("fct_us"), "us", &of.fct_us);
        to.distribution(within("slowdown"), "1", &of.slowdown);
        to.sizes(within("by_size"), &of.by_size);
    }
    for of in &summary.flows.throughput {
        let within = |name: &str| format!("throughput.{}.{name}", of.label);
        to.count(within("flows"), "", of.flows);
        to.real(within("mean_gbps"), "Gbps", Some(of.mean_gbps));
        to.real(within("min_gbps"), "Gbps", Some(of.min_gbps));
        to.real(within("max_gbps"), "Gbps", Some(of.max_gbps));
        to.real(within("fairness"), "1", of.fairness);
    }
    jobs(&mut to, summary);
    to.real("goodput90_gbps", "Gbps", Some(summary.flows.goodput90_gbps));
    to.real("goodput_to_end_gbps", "Gbps", Some(summary.flows.goodput_to_end_gbps));
    counters(&mut to, summary);
    to.incidents(summary);
    for row in &summary.measures {
        // What never came is beyond all numbers.
        let value = if row.never { Some(f64::INFINITY) } else { row.value };
        if row.curve.is_none() {
            to.real(format!("measure.{}", row.name), &row.unit, value);
        }
    }
    to.0
}

fn jobs(to: &mut Flat, summary: &Summary) {
    if !summary.jobs.is_empty() {
        to.real("job_time_us", "us", summary.job_time_us);
    }
    for job in &summary.jobs {
        let within = |name: &str| format!("jobs.{}.{name}", job.name);
        to.real(within("jct_us"), "us", job.jct_us);
        to.real(within("jct_half_width_us"), "us", job.jct_half_width_us);
        to.real(within("compute_us"), "us", Some(job.compute_us));
        to.real(within("communication_us"), "us", Some(job.communication_us));
        to.real(within("exposed_us"), "us", Some(job.exposed_us));
        to.real(within("exposed_share"), "1", job.exposed_share);
        for of in &job.collectives {
            let within = |name: &str| within(&format!("collectives.{}.{name}", of.name));
            to.real(within("time_us"), "us", of.time_us);
            to.real(within("algbw_gb_per_s"), "GB/s", of.algbw_gb_per_s);
            to.real(within("busbw_gb_per_s"), "GB/s", of.busbw_gb_per_s);
        }
    }
}

fn counters(to: &mut Flat, summary: &Summary) {
    for (name, unit, value) in [
        ("packets_sent", "", Some(summary.counts.packets_sent)),
        ("packets_delivered", "", Some(summary.counts.packets_delivered)),
        ("packets_retransmitted", "", summary.counts.packets_retransmitted),
        ("delivered_bytes", "bytes", Some(summary.counts.delivered_bytes)),
        ("packet_hops", "", summary.counts.packet_hops),
        ("events", "", Some(summary.counts.events)),
        ("marks", "", summary.counts.marks),
        ("notifications", "", summary.counts.notifications),
        ("notices_refused", "", summary.counts.notices_refused),
        ("acks", "", summary.counts.acks),
        ("naks", "", summary.counts.naks),
        ("timeouts", "", summary.counts.timeouts),
        ("drops", "", summary.counts.drops),
        ("drops_lossless", "", summary.counts.drops_lossless),
        ("drops_lossy", "", summary.counts.drops_lossy),
        ("packets_trimmed", "", summary.counts.packets_trimmed),
        ("drops_fault", "", summary.counts.drops_fault),
        ("pause_frames", "", summary.counts.pause_frames),
        ("resume_frames", "", summary.counts.resume_frames),
        ("refresh_frames", "", summary.counts.refresh_frames),
        ("deadlocks", "", summary.counts.deadlocks),
        ("watchdog_storms", "", summary.counts.watchdog_storms),
    ] {
        to.count(name, unit, value);
    }
    let on_dead_paths = summary
        .dead_links
        .iter()
        .filter_map(|of| of.time_on_dead_path_us)
        .fold(None, |most, of| Some(most.map_or(of, |most: f64| most.max(of))));
    to.real("time_on_dead_path_us", "us", on_dead_paths);
}

/// What this machine took for it; of no interest to results.
pub fn of_machine(summary: &Summary) -> Vec<Number> {
    let mut to = Flat(Vec::new());
    to.real("wall_seconds", "s", Some(summary.cost.wall_seconds));
    to.real("run_cpu_seconds", "s", Some(summary.cost.run_cpu_seconds));
    to.real("setup_seconds", "s", Some(summary.cost.setup_seconds));
    to.real("packet_hops_per_cpu_second", "1/s", summary.cost.packet_hops_per_cpu_second);
    to.count("parts", "", summary.cost.parts as u64);
    to.count("threads", "", summary.cost.threads as u64);
    to.count("peak_rss_bytes", "bytes", summary.cost.peak_rss_bytes);
    to.0
}

struct Flat(Vec<Number>);

impl Flat {
    fn count(&mut self, name: impl Into<String>, unit: &str, value: impl Into<Option<u64>>) {
        let value = value.into().map(|value| value as f64);
        self.0.push(Number { name: name.into(), unit: unit.to_owned(), value, whole: true });
    }

    fn real(&mut self, name: impl Into<String>, unit: &str, value: Option<f64>) {
        let value = value.filter(|value| !value.is_nan());
        self.0.push(Number { name: name.into(), unit: unit.to_owned(), value, whole: false });
    }

    fn distribution(&mut self, name: impl Into<String>, unit: &str, of: &Distribution) {
        let name = name.into();
        self.count(format!("{name}.count"), "", of.count);
        let Distribution { count: _, mean, p50, p95, p99, p999, max } = *of;
        for (part, value) in [("mean", mean), ("p50", p50), ("p95", p95), ("p99", p99), ("p999", p999), ("max", max)] {
            self.real(format!("{name}.{part}"), unit, value);
        }
    }

    fn sizes(&mut self, name: impl Into<String>, classes: &[SizeClass]) {
        let name = name.into();
        for of in classes {
            let within = |part: &str| format!("{name}.{}.{part}", of.name);
            self.count(within("flows"), "", of.flows);
            self.count(within("completed"), "", of.completed);
            self.distribution(within("fct_us"), "us", &of.fct_us);
            self.distribution(within("slowdown"), "1", &of.slowdown);
        }
    }

    /// Peaks, pauses between layers, and what a disturbance did.
    fn incidents(&mut self, summary: &Summary) {
        let worst = summary.worst_queue.as_ref();
        self.real("worst_queue.peak_bytes", "bytes", worst.map(|queue| queue.peak_bytes as f64));
        self.real("worst_queue.mean_bytes", "bytes", worst.map(|queue| queue.mean_bytes));
        let nearest = summary.nearest_xoff.first();
        let used = nearest.filter(|ingress| ingress.headroom_bytes > 0);
        let share = used.map(|of| of.headroom_used_peak_bytes as f64 / of.headroom_bytes as f64);
        self.real("nearest_xoff.headroom_used", "1", share);
        let busiest = summary.busiest_links.first();
        self.real("busiest_links.utilisation", "1", busiest.map(|link| link.utilisation));
        for of in &summary.pauses {
            let within = |part: &str| format!("pauses.{}-{}.{part}", of.from, of.to);
            self.count(within("pause_frames"), "", of.pause_frames);
            self.count(within("resume_frames"), "", of.resume_frames);
            self.count(within("refresh_frames"), "", of.refresh_frames);
        }
        let Some(episode) = &summary.episode else { return };
        self.real("episode.start_us", "us", Some(episode.start_us));
        self.real("episode.end_us", "us", Some(episode.end_us));
        self.real("episode.pauses_toward_senders", "", episode.pauses_toward_senders.map(|frames| frames as f64));
        self.real("episode.congestion_tree_us", "us", episode.congestion_tree_us);
        for of in &episode.flows {
            let within = |part: &str| format!("episode.{}.{part}", of.name);
            self.real(within("before_gbps"), "Gbps", of.before_gbps);
            self.real(within("during_gbps"), "Gbps", of.during_gbps);
            self.real(within("after_gbps"), "Gbps", of.after_gbps);
            self.real(within("min_allowed_gbps"), "Gbps", of.min_allowed_gbps);
            self.real(within("recovery_us"), "us", of.recovery_us);
        }
    }
}
