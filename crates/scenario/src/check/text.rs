//! The report for people.

use super::headroom::LEFT_OUT;
use super::{Report, Verdict};
use crate::number::thousands;
use std::fmt::Write as _;

impl Report {
    /// Plain text, a section per question.
    pub fn text(&self) -> String {
        let mut out = String::new();
        // Writing to a String cannot fail.
        let _ = self.write(&mut out);
        out
    }

    /// One JSON object, for programs.
    pub fn json(&self) -> String {
        // Plain structs of numbers and texts always serialise.
        serde_json::to_string_pretty(self).unwrap_or_default()
    }

    fn write(&self, out: &mut String) -> std::fmt::Result {
        writeln!(out, "{}: {} hosts, {} switches, {} links", self.name, self.hosts, self.switches, self.links)?;
        writeln!(out, "schemes: {}\n", self.schemes.join(", "))?;
        let layers = self.layers.iter().map(|layer| {
            let gbps = |value: f64| if value > 0.0 { format!("{value:.0}") } else { "-".to_owned() };
            let ratio = layer.oversubscription.map_or("-".to_owned(), |ratio| format!("{}:1", brief(ratio)));
            let (down, across, up) = (gbps(layer.down_gbps), gbps(layer.across_gbps), gbps(layer.up_gbps));
            vec![layer.layer.clone(), layer.nodes.to_string(), down, across, up, ratio]
        });
        let head = ["layer", "nodes", "down Gbps", "across", "up", "oversubscription"];
        table(out, &head, layers.collect())?;
        let links = self.link_groups.iter().map(|group| {
            let both = |there: &str, back: &str| {
                if there == back { there.to_owned() } else { format!("{there} / {back}") }
            };
            let loss = if group.loss > 0.0 { format!("{}", group.loss) } else { "-".to_owned() };
            vec![
                format!("{}-{}", group.from, group.to),
                group.links.to_string(),
                both(&group.rate, &group.reverse_rate),
                both(&group.delay, &group.reverse_delay),
                loss,
            ]
        });
        table(out, &["links", "count", "rate", "delay", "loss"], links.collect())?;
        self.write_servers(out)?;
        if let Some(trips) = &self.round_trips {
            writeln!(
                out,
                "base round trip: {} to {} us, median {} us ({} pairs)",
                brief(trips.min_us),
                brief(trips.max_us),
                brief(trips.median_us),
                trips.pairs_sampled
            )?;
            writeln!(out, "bandwidth-delay product: {}\n", scaled_bytes(trips.bdp_bytes as f64))?;
        }
        self.write_acks(out)?;
        self.write_buffers(out)?;
        if let Some(routing) = &self.routing {
            writeln!(out, "{}\n", routing.text(!self.headroom.is_empty()))?;
        }
        self.write_deadlock(out)?;
        self.write_traffic(out)?;
        if let Some(why) = self.one_part_because {
            writeln!(out, "one partition, one thread: {why}")?;
        }
        if let Some(cost) = &self.cost {
            writeln!(out, "{}", cost.text())?;
        }
        for warning in &self.warnings {
            writeln!(out, "warning: {warning}")?;
        }
        Ok(())
    }

    fn write_servers(&self, out: &mut String) -> std::fmt::Result {
        let Some(of) = &self.servers else { return Ok(()) };
        let ports = if of.ports > 1 { format!(" of {} ports", of.ports) } else { String::new() };
        let planes = if of.planes == 1 { "plane" } else { "planes" };
        let rails = if of.rails { ", a leaf for each rail" } else { "" };
        writeln!(
            out,
            "{} servers of {} GPUs and {} NICs{ports}{rails}, {} {}",
            of.servers, of.gpus, of.nics, of.planes, planes
        )?;
        let range = |(least, most): (u32, u32)| match most {
            0 => "-".to_owned(),
            _ if least == most => most.to_string(),
            _ => format!("{least} to {most}"),
        };
        let tiers = of.tiers.iter().map(|tier| {
            vec![
                format!("{} of plane {}", tier.layer, tier.plane),
                tier.switches.to_string(),
                range(tier.down_links),
                range(tier.up_links),
                tier.oversubscription.map_or("-".to_owned(), |ratio| format!("{}:1", brief(ratio))),
            ]
        });
        table(out, &["switches", "count", "links down", "links up", "oversubscription"], tiers.collect())?;
        let pairs = of.pairs.iter().map(|pair| {
            let way = |count: String| if pair.paths > 0 { count } else { "none".to_owned() };
            vec![
                pair.placed.clone(),
                format!("{} to {}", pair.from, pair.to),
                way(pair.switches.to_string()),
                way(pair.paths.to_string()),
            ]
        });
        table(out, &["two NICs", "such as", "switches", "paths"], pairs.collect())
    }

    fn write_acks(&self, out: &mut String) -> std::fmt::Result {
        let rows = self.acks.iter().map(|row| {
            vec![
                row.scheme.clone(),
                scaled_bytes(row.window_bytes as f64),
                row.ack_every.to_string(),
                row.packets_per_ack.to_string(),
                scaled_bytes(row.bytes_per_ack as f64),
                format!("{:.0} %", row.share_of_line * 100.0),
            ]
        });
        let head = ["ACKs of", "window", "ack_every", "packets per ACK", "bytes per ACK", "share of line"];
        table(out, &head, rows.collect())
    }

    fn write_buffers(&self, out: &mut String) -> std::fmt::Result {
        self.write_headroom(out)?;
        let rows = self.buffers.iter().map(|row| {
            let left = match row.left_bytes {
                left if left < 0 => format!("-{}", scaled_bytes(left.unsigned_abs() as f64)),
                left => scaled_bytes(left.unsigned_abs() as f64),
            };
            vec![
                row.layer.clone(),
                row.switches.to_string(),
                row.ports.to_string(),
                scaled_bytes(row.buffer_bytes as f64),
                scaled_bytes(row.headroom_bytes as f64),
                scaled_bytes(row.promised_bytes as f64),
                left,
            ]
        });
        let promised = |what: &str| self.buffers.iter().any(|row| row.promised == what);
        let promised = match (promised("xoff"), promised("reserve")) {
            (true, true) => "XOFF or reserves",
            (true, false) => "XOFF",
            (false, _) => "reserves",
        };
        let head = ["buffers of", "switches", "ports", "buffer", "headroom", promised, "left"];
        table(out, &head, rows.collect())?;
        let rows = self.marking.iter().map(|row| {
            let verdict = match (row.marks_before_pause, row.queues_marked_first) {
                (Verdict::Always, _) => "always".to_owned(),
                (Verdict::OnePort, 1) => "with 1 congested queue".to_owned(),
                (Verdict::OnePort, queues) => format!("with up to {queues} congested queues"),
                (Verdict::Not, _) => "NO".to_owned(),
            };
            vec![
                row.layer.clone(),
                row.scheme.clone(),
                scaled_bytes(row.kmin_bytes as f64),
                scaled_bytes(row.pause_bytes as f64),
                verdict,
            ]
        });
        table(out, &["marking at", "scheme", "marks from", "pauses from", "marks first"], rows.collect())?;
        let late: Vec<_> = self.marking.iter().filter(|row| !row.remedy.is_empty()).collect();
        for row in &late {
            writeln!(out, "{} at {}: marks come first with {}", row.scheme, row.layer, row.remedy)?;
        }
        if late.is_empty() { Ok(()) } else { writeln!(out) }
    }

    fn write_headroom(&self, out: &mut String) -> std::fmt::Result {
        let rows = self.headroom.iter().map(|row| {
            let terms = &row.terms;
            let parts =
                [terms.crossing, terms.pause_waits, terms.pause_frame, terms.cable, terms.response, terms.last_frame];
            let sizes = [row.configured_bytes as f64, row.required_bytes as f64].into_iter().chain(parts);
            std::iter::once(row.rate.clone()).chain(sizes.map(scaled_bytes)).collect()
        });
        let head = [
            "headroom at",
            "configured",
            "required",
            "crossing",
            "PAUSE waits",
            "PAUSE",
            "cable",
            "response",
            "last frame",
        ];
        table(out, &head, rows.collect())?;
        for row in &self.headroom {
            writeln!(out, "{}: {}", row.place(), row.verdict(scaled_bytes))?;
        }
        if self.headroom.is_empty() { Ok(()) } else { writeln!(out, "{LEFT_OUT}\n") }
    }

    fn write_deadlock(&self, out: &mut String) -> std::fmt::Result {
        let deadlock = &self.deadlock;
        if !deadlock.possible {
            return writeln!(out, "deadlock: impossible, no buffers can wait for each other in a circle\n");
        }
        let since = deadlock.from_us.map_or(String::new(), |us| format!(" from {} us on", brief(us)));
        writeln!(out, "deadlock: POSSIBLE{since}, these buffers can wait for each other:")?;
        writeln!(out, "  {}\n", deadlock.circle.join("  waits for  "))
    }

    fn write_traffic(&self, out: &mut String) -> std::fmt::Result {
        let rows = self.traffic.iter().map(|row| {
            let unknown = || "-".to_owned();
            vec![
                row.name.clone(),
                row.kind.clone(),
                row.flows.map_or_else(unknown, |flows| format!("{flows:.0}")),
                row.bytes.map_or_else(unknown, scaled_bytes),
                row.load.map_or_else(unknown, |load| format!("{} %", brief(load * 100.0))),
                if row.ends_by_itself { "yes" } else { "no" }.to_owned(),
            ]
        });
        table(out, &["traffic", "kind", "flows", "bytes", "load", "ends by itself"], rows.collect())?;
        let jobs: Vec<_> =
            self.traffic.iter().filter_map(|row| Some((row, row.messages?, row.memory_bytes?))).collect();
        for (row, messages, memory_bytes) in &jobs {
            let (messages, memory) = (thousands(*messages), scaled_bytes(*memory_bytes as f64));
            let as_what = if row.macro_flows == Some(true) { ", carried out as macro-flows," } else { "," };
            writeln!(
                out,
                "{}: {messages} messages in an iteration{as_what} whose graph takes {memory} of memory",
                row.name
            )?;
        }
        if jobs.is_empty() { Ok(()) } else { writeln!(out) }
    }
}

/// Three or so digits, no trailing zeros.
fn brief(value: f64) -> String {
    let decimals = if value >= 1000.0 {
        0
    } else if value >= 10.0 {
        1
    } else {
        3
    };
    let text = format!("{value:.decimals$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

fn scaled_bytes(bytes: f64) -> String {
    for (scale, unit) in [(1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "KB")] {
        if bytes >= scale {
            return format!("{}{unit}", brief(bytes / scale));
        }
    }
    format!("{bytes:.0}B")
}

/// Aligned columns, the first to the left, and an empty line after; nothing for no rows.
fn table(out: &mut String, head: &[&str], rows: Vec<Vec<String>>) -> std::fmt::Result {
    if rows.is_empty() {
        return Ok(());
    }
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count());
        cells.max().unwrap_or(0).max(head[column].chars().count())
    };
    let widths: Vec<usize> = (0..head.len()).map(width).collect();
    let line = |out: &mut String, cells: &mut dyn Iterator<Item = &str>| {
        let mut text = String::new();
        for (column, cell) in cells.enumerate() {
            let space = widths.get(column).map_or(0, |width| width.saturating_sub(cell.chars().count()));
            let pad = " ".repeat(space);
            text.push_str(&if column == 0 { format!("{cell}{pad}") } else { format!("  {pad}{cell}") });
        }
        writeln!(out, "{}", text.trim_end())
    };
    line(out, &mut head.iter().copied())?;
    for row in &rows {
        line(out, &mut row.iter().map(String::as_str))?;
    }
    writeln!(out)
}
