//! The part of the scenario's text about nodes and links.

use super::super::words::Result;
use super::parts::{Parts, decimal, line, quoted, rate, span};
use super::topology::{Link, Topology};
use crate::Diagnostic;
use std::ops::RangeInclusive;

/// `h3`, or `h[3..7]`.
fn names(kind: char, ids: &RangeInclusive<u32>) -> String {
    if ids.start() == ids.end() {
        format!("{kind}{}", ids.start())
    } else {
        format!("{kind}[{}..{}]", ids.start(), ids.end())
    }
}

fn kind_of(topology: &Topology, id: u32) -> char {
    if topology.is_switch[id as usize] { 's' } else { 'h' }
}

/// Nodes in the order of their ids, those of one kind together as far as they go.
fn stretches(topology: &Topology) -> Vec<(char, RangeInclusive<u32>)> {
    let mut found: Vec<(char, RangeInclusive<u32>)> = Vec::new();
    for id in 0..topology.is_switch.len() as u32 {
        let kind = kind_of(topology, id);
        match found.last_mut() {
            Some((known, ids)) if *known == kind => *ids = *ids.start()..=id,
            _ => found.push((kind, id..=id)),
        }
    }
    found
}

pub fn text(parts: &Parts<'_>, _: &mut Vec<Diagnostic>) -> Result<String> {
    let topology = parts.topology;
    let mut out = String::from("\n[topology]\nkind = \"custom\"\n");
    let stretches = stretches(topology);
    let list = |of: &dyn Fn(char) -> bool| -> String {
        let names: Vec<String> =
            stretches.iter().filter(|(kind, _)| of(*kind)).map(|(kind, ids)| quoted(&names(*kind, ids))).collect();
        if names.len() == 1 { names[0].clone() } else { format!("[{}]", names.join(", ")) }
    };
    line(&mut out, "hosts", &list(&|kind| kind == 'h'), "the number in a name is the id");
    line(&mut out, "switches", &list(&|kind| kind == 's'), "");
    if stretches.len() != 2 || stretches[0].0 != 'h' {
        line(&mut out, "order", &list(&|_| true), "");
    }
    for row in rows(parts)? {
        out.push_str("\n[[topology.link]]\n");
        line(&mut out, "a", &quoted(&names(kind_of(topology, *row.a.start()), &row.a)), "");
        line(&mut out, "b", &quoted(&names(kind_of(topology, *row.b.start()), &row.b)), "");
        line(&mut out, "rate", &rate(row.rate_bps), "");
        line(&mut out, "delay", &span(row.delay_ns), "");
        if row.loss > 0.0 {
            line(&mut out, "loss", &decimal(row.loss), "");
        }
    }
    if let Some((us, a, b)) = parts.config.link_down()? {
        let known = |id: u32| (id as usize) < topology.is_switch.len();
        if !known(a) || !known(b) || topology.link_between(a, b).is_none() {
            let error = parts.config.error("LINK_DOWN", format!("nodes {a} and {b} are not linked"));
            return Err(error.label("microseconds after 2 s, and the ends of a link"));
        }
        out.push_str("\n[[fault]]\nkind = \"link-down\"\n");
        line(&mut out, "at", &span(2_000_000_000 + us * 1000), &parts.config.said("LINK_DOWN"));
        line(&mut out, "link", &quoted(&format!("{}<->{}", topology.name(a), topology.name(b))), "");
    }
    Ok(out)
}

/// Links from each of `a` to each of `b`, in that order.
struct Row {
    a: RangeInclusive<u32>,
    b: RangeInclusive<u32>,
    rate_bps: u64,
    delay_ns: u64,
    loss: f64,
}

pub fn loss(parts: &Parts<'_>, link: &Link) -> Result<f64> {
    if link.loss > 0.0 { Ok(link.loss) } else { parts.config.number_in("ERROR_RATE_PER_LINK", 0.0..=1.0) }
}

/// The links in as few rows as keep their order, which numbers the ports.
fn rows(parts: &Parts<'_>) -> Result<Vec<Row>> {
    let topology = parts.topology;
    let alike = |x: u32, y: u32| kind_of(topology, x) == kind_of(topology, y);
    let mut rows: Vec<Row> = Vec::new();
    // First those from one node to several in a row, then those from several in a row to the same.
    for link in &topology.links {
        let loss = loss(parts, link)?;
        let fits = |row: &&mut Row| {
            (row.rate_bps, row.delay_ns, row.loss) == (link.rate_bps, link.delay_ns, loss)
                && row.a == (link.a..=link.a)
                && row.b.end() + 1 == link.b
                && alike(*row.b.end(), link.b)
        };
        match rows.last_mut().filter(fits) {
            Some(row) => row.b = *row.b.start()..=link.b,
            None => rows.push(Row {
                a: link.a..=link.a,
                b: link.b..=link.b,
                rate_bps: link.rate_bps,
                delay_ns: link.delay_ns,
                loss,
            }),
        }
    }
    let mut merged: Vec<Row> = Vec::new();
    for row in rows {
        let fits = |last: &&mut Row| {
            (last.rate_bps, last.delay_ns, last.loss) == (row.rate_bps, row.delay_ns, row.loss)
                && last.b == row.b
                && last.a.end() + 1 == *row.a.start()
                && alike(*last.a.end(), *row.a.start())
        };
        match merged.last_mut().filter(fits) {
            Some(last) => last.a = *last.a.start()..=*row.a.end(),
            None => merged.push(row),
        }
    }
    Ok(merged)
}
