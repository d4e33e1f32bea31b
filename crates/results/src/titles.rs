//! Names of numbers in words, for axes and titles: what the columns of tables are called is for scripts.

use xoff_scenario::wrap::capitalised;

/// `p99 slowdown, websearch` of `by_source.websearch.slowdown.p99`. The unit is not part of it.
pub fn of_number(name: &str) -> String {
    if let Some(found) = plain(name) {
        return found.to_owned();
    }
    let parts: Vec<&str> = name.split('.').collect();
    let distribution = |of: &[&str]| match of {
        [what @ ("fct_us" | "slowdown"), stat] => {
            Some(statistic(stat, if *what == "fct_us" { "FCT" } else { "slowdown" }))
        }
        ["flows"] => Some("Flows".to_owned()),
        ["completed"] => Some("Flows finished".to_owned()),
        [what @ ("fct_us" | "slowdown"), ..] => Some((*what).to_owned()),
        _ => None,
    };
    // Names of sources and of classes may have dots in them: they are what is between the known words.
    let found = match (parts.first().copied(), name.split_once(".by_size.")) {
        (Some("by_source"), Some((source, rest))) => {
            let source = source.trim_start_matches("by_source.");
            let (class, rest) = before_distribution(rest);
            distribution(&rest).map(|words| format!("{words}, {source}, {class}"))
        }
        (Some("by_source"), None) => {
            let (source, rest) = before_distribution(name.trim_start_matches("by_source."));
            distribution(&rest).map(|words| format!("{words}, {source}"))
        }
        (Some("by_size"), _) => {
            let (class, rest) = before_distribution(name.trim_start_matches("by_size."));
            distribution(&rest).map(|words| format!("{words}, {class}"))
        }
        (Some("fct_us" | "slowdown"), _) => distribution(&parts),
        _ => None,
    };
    found.or_else(|| of_part(&parts)).unwrap_or_else(|| capitalised(&spaced(name)))
}

fn plain(name: &str) -> Option<&'static str> {
    Some(match name {
        "goodput90_gbps" => "Goodput, first 90 %",
        "goodput_to_end_gbps" => "Goodput over the whole run",
        "pause_frames" => "PAUSE frames",
        "resume_frames" => "RESUME frames",
        "refresh_frames" => "Refreshed PAUSE frames",
        "worst_queue.peak_bytes" => "Longest egress queue",
        "worst_queue.mean_bytes" => "Mean of the longest egress queue",
        "nearest_xoff.headroom_used" => "Headroom used of headroom given",
        "busiest_links.utilisation" => "Utilisation of the busiest link",
        "job_time_us" => "Job completion time",
        "flows_completed" => "Flows finished",
        "packets_retransmitted" => "Packets retransmitted",
        "marks" => "Packets marked",
        "sim_time_us" => "Simulated time",
        "episode.congestion_tree_us" => "Congestion-tree lifetime",
        _ => return None,
    })
}

/// What has a table of its own in the summary.
fn of_part(parts: &[&str]) -> Option<String> {
    let (last, between) = (*parts.last()?, parts.get(1..parts.len().saturating_sub(1))?.join("."));
    match *parts.first()? {
        "throughput" => {
            let words = match last {
                "mean_gbps" => "Mean throughput",
                "min_gbps" => "Lowest throughput",
                "max_gbps" => "Highest throughput",
                "fairness" => "Jain's index",
                _ => return None,
            };
            Some(format!("{words}, {between}"))
        }
        "pauses" => Some(format!("{}, {}", plain(last)?, between.replacen('-', " to ", 1))),
        "jobs" => {
            let words = match last {
                "jct_us" => "Job completion time",
                "compute_us" => "Computing time",
                "communication_us" => "Communication time",
                "exposed_us" => "Exposed communication",
                "exposed_share" => "Share of exposed communication",
                "time_us" => "Time of a collective",
                "algbw_gb_per_s" => "Algorithm bandwidth",
                "busbw_gb_per_s" => "Bus bandwidth",
                _ => return None,
            };
            Some(format!("{words}, {}", between.replace("collectives.", "")))
        }
        "episode" if !between.is_empty() => {
            let words = match last {
                "before_gbps" => "Throughput before the burst",
                "during_gbps" => "Throughput during the burst",
                "after_gbps" => "Throughput after the burst",
                "min_allowed_gbps" => "Lowest rate allowed during the burst",
                "recovery_us" => "Recovery time",
                _ => return None,
            };
            Some(format!("{words}, {between}"))
        }
        // The user's own name, and the statistic where it has several.
        "measure" => {
            let name = parts[1..].join(".");
            Some(match name.rsplit_once('.') {
                Some((name, stat)) => statistic(stat, &spaced(name)),
                None => capitalised(&spaced(&name)),
            })
        }
        _ => None,
    }
}

/// The parts of a name from the distribution on, and all that is before.
fn before_distribution(name: &str) -> (String, Vec<&str>) {
    let parts: Vec<&str> = name.split('.').collect();
    let known = ["fct_us", "slowdown", "flows", "completed"];
    let at = parts.iter().rposition(|part| known.contains(part)).unwrap_or(parts.len());
    (parts[..at].join("."), parts[at..].to_vec())
}

/// `p99 FCT`, `Mean FCT`, `p99.9 slowdown`.
fn statistic(stat: &str, of: &str) -> String {
    match stat {
        "p999" => format!("p99.9 {of}"),
        "mean" => format!("Mean {of}"),
        "max" => format!("Largest {of}"),
        "count" => format!("Flows with {of}"),
        other => format!("{other} {of}"),
    }
}

fn spaced(name: &str) -> String {
    let units = ["_us", "_bytes", "_gbps", "_gb_per_s"];
    let name = units.iter().find_map(|unit| name.strip_suffix(unit)).unwrap_or(name);
    name.replace(['_', '.'], " ")
}

/// The name of an axis of a sweep: `traffic.0.load` is the load, `scheme.kmin` Kmin.
pub fn of_key(name: &str) -> String {
    let last = match name.rsplit('.').next().unwrap_or(name) {
        "load" => "Offered load",
        "degree" => "Incast degree",
        "buffer" => "Switch buffer",
        "host_rate" => "Rate of host links",
        "mtu" => "MTU",
        _ => return capitalised(&spaced(name)),
    };
    last.to_owned()
}

/// In the middle of a sentence: `load`, but `PAUSE frames` and `FCT`.
pub fn within(text: &str) -> String {
    let mut letters = text.chars();
    match (letters.next(), text.chars().nth(1)) {
        (Some(first), Some(second)) if second.is_lowercase() => first.to_lowercase().chain(letters).collect(),
        _ => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_read_as_people_say_them() {
        for (name, words) in [
            ("by_source.websearch.slowdown.p99", "p99 slowdown, websearch"),
            ("by_source.a.b.fct_us.mean", "Mean FCT, a.b"),
            ("by_source.mice.by_size.10-100 KB.slowdown.p999", "p99.9 slowdown, mice, 10-100 KB"),
            ("by_size.< 10 KB.fct_us.p50", "p50 FCT, < 10 KB"),
            ("slowdown.p99", "p99 slowdown"),
            ("goodput90_gbps", "Goodput, first 90 %"),
            ("pause_frames", "PAUSE frames"),
            ("pauses.leaf-host.pause_frames", "PAUSE frames, leaf to host"),
            ("throughput.F0.mean_gbps", "Mean throughput, F0"),
            ("measure.short.p50", "p50 short"),
            ("measure.jain_index", "Jain index"),
            ("jobs.train.collectives.all-reduce.busbw_gb_per_s", "Bus bandwidth, train.all-reduce"),
            ("packets_sent", "Packets sent"),
        ] {
            assert_eq!(of_number(name), words);
        }
        assert_eq!(
            [of_key("load"), of_key("traffic.0.load"), of_key("kmin")],
            ["Offered load", "Offered load", "Kmin"]
        );
        assert_eq!([within("Offered load"), within("PAUSE frames")], ["offered load", "PAUSE frames"]);
    }
}
