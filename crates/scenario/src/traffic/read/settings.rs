//! The keys that every kind of traffic has.

use super::Scope;
use crate::names::readable_name;
use crate::reader::{Result, Text};
use crate::traffic::cdf::LARGEST_BYTES;
use crate::traffic::flow::{Pinned, Template};
use crate::traffic::timetable::Cap;
use crate::{Place, Table};
use std::sync::Arc;
use xoff_engine::quantity::parse_rate;
use xoff_engine::{BitRate, Time};

/// What all flows of a table share, unless a flow of a list says otherwise.
pub struct Settings {
    pub name: String,
    pub start: Time,
    pub template: Template,
    pub path: Option<Path>,
}

/// A pinned path with what is needed to check it against hosts.
#[derive(Clone)]
pub struct Path {
    pub pinned: Pinned,
    first: u32,
    last: u32,
    /// The hosts named at its ends.
    src: Option<u32>,
    dst: Option<u32>,
    place: Place,
}

/// A path longer than any network's; the transport counts hops in a byte.
const MOST_HOPS: usize = 64;

impl Settings {
    pub fn read(table: &mut Table, scope: &Scope<'_>, kind: &str) -> Result<Settings> {
        let name = table.text_or("name", &format!("{kind}-{}", scope.ctx.index))?;
        readable_name(&name)?;
        let probed = matches!(kind, "flows" | "long-lived" | "on-off");
        let default = Template { probed, ..Template::of_class(scope.ctx.default_class) };
        let (template, path) = template(table, scope, &default, None)?;
        Ok(Settings { name: name.value, start: table.time("start")?, template, path })
    }
}

/// The keys that set a flow's [`Template`], over what holds without them.
pub fn template(
    table: &mut Table,
    scope: &Scope<'_>,
    default: &Template,
    default_path: Option<&Path>,
) -> Result<(Template, Option<Path>)> {
    // Class and scheme are not spelled out where they are left out: the scenario's default may
    // be exchanged for another when schemes are compared.
    let class = match table.take_text("class")? {
        Some(name) => scope.ctx.class(&name)?,
        None => default.class,
    };
    let scheme = match table.take_text("scheme")? {
        Some(name) => scope.ctx.scheme(&name)?,
        None => default.scheme,
    };
    let weight = table.count_or("weight", 1..=u64::from(u16::MAX), u64::from(default.weight))? as u16;
    let initial_rate = table.take_rate("initial_rate")?.or(default.initial_rate);
    let rate_cap = table.take_rate("rate_cap")?.or(default.rate_cap);
    let multipath = table.flag_or("multipath", default.multipath)?;
    let probed = table.flag_or("probe", default.probed)?;
    let path = match read_path(table, scope)? {
        Some(path) => Some(path),
        None => default_path.cloned(),
    };
    let pinned = path.as_ref().map(|path| path.pinned.clone());
    let class_by_size = default.class_by_size.clone();
    let template =
        Template { class, class_by_size, scheme, weight, initial_rate, rate_cap, path: pinned, multipath, probed };
    Ok((template, path))
}

/// `class_by_size = [{ up_to = "10KB", class = "mice" }]`, for traffic whose sizes are drawn.
pub fn with_classes(table: &mut Table, scope: &Scope<'_>, template: &Template) -> Result<Template> {
    let mut classes: Vec<(u64, u8)> = Vec::new();
    for mut row in table.tables("class_by_size")? {
        let up_to = row.bytes("up_to", 1..=LARGEST_BYTES)?;
        if classes.last().is_some_and(|(before, _)| *before >= up_to) {
            return Err(row.error("up_to", "no flow is left for this class").label("above the `up_to` before it"));
        }
        let name = row.text("class")?;
        classes.push((up_to, scope.ctx.class(&name)?));
        row.finish()?;
    }
    Ok(Template { class_by_size: classes.into(), ..template.clone() })
}

/// `caps = [{ at = "3s", rate = "1Gbps" }]`.
pub fn caps(table: &mut Table) -> Result<Arc<[Cap]>> {
    let mut caps = Vec::new();
    for mut row in table.tables("caps")? {
        let at = row.time("at")?;
        let rate = row.text("rate")?;
        caps.push(Cap { at, rate: cap_rate(&rate)? });
        row.finish()?;
    }
    Ok(caps.into())
}

fn cap_rate(text: &Text) -> Result<Option<BitRate>> {
    if text.value == "none" {
        return Ok(None);
    }
    let expected = "a rate above zero such as \"1Gbps\", or \"none\" to lift the limit";
    match parse_rate(&text.value) {
        Ok(rate) if rate.bps() > 0 => Ok(Some(rate)),
        Ok(_) => Err(text.error("a limit of zero would never let the flow go on").label(expected)),
        Err(why) => Err(text.error(format!("`rate` {why}")).label(expected)),
    }
}

/// `path = ["h0", "s0", "s1", "h9"]`: nodes in order; the hosts at the ends may be left out.
fn read_path(table: &mut Table, scope: &Scope<'_>) -> Result<Option<Path>> {
    let Some(entries) = table.take_texts("path")? else { return Ok(None) };
    let place = table.place_of("path");
    if entries.len() > MOST_HOPS {
        return Err(place.error(format!("a path has at most {MOST_HOPS} nodes")));
    }
    let names = scope.ctx.names;
    let mut steps = Vec::with_capacity(entries.len());
    for entry in &entries {
        let (name, twin) = match entry.value.split_once('#') {
            Some((name, twin)) => (name, format!("#{twin}")),
            None => (entry.value.as_str(), String::new()),
        };
        let node = names.node(&Text { value: name.to_owned(), place: entry.place.clone() })?;
        steps.push((node, twin, &entry.place));
    }
    let host =
        |step: Option<&(u32, String, &Place)>| step.map(|step| step.0).filter(|node| scope.wiring.is_host(*node));
    let src = host(steps.first());
    let dst = host(steps.last()).filter(|_| steps.len() > 1);
    let inner = &steps[usize::from(src.is_some())..steps.len() - usize::from(dst.is_some())];
    if let Some((node, _, place)) = inner.iter().find(|step| scope.wiring.is_host(step.0)) {
        return Err(place.error(format!("the path leads through the host `{}`", names.node_name(*node))));
    }
    let (Some(first), Some(last)) = (inner.first(), inner.last()) else {
        return Err(place.error("the path names no switch").label("such as [\"s0\", \"s1\"]"));
    };
    let mut ports = Vec::with_capacity(inner.len());
    for two in inner.windows(2) {
        let (from, to) = (names.node_name(two[0].0), names.node_name(two[1].0));
        let selector = Text { value: format!("{from}->{to}{}", two[1].1), place: two[1].2.clone() };
        let found = names.ports(&selector)?;
        let [port] = found[..] else {
            return Err(selector
                .error(format!("{} parallel links join `{from}` and `{to}`", found.len()))
                .help(format!("write \"{to}#0\" for the first of them")));
        };
        if ports.contains(&port) {
            return Err(selector.error(format!("the path takes the link from `{from}` to `{to}` twice")));
        }
        ports.push(port);
    }
    let pinned = Pinned { between_switches: ports.into(), wiring: scope.wiring.clone() };
    let path = Path { pinned, first: first.0, last: last.0, src, dst, place };
    for (end, switch) in [(path.src, path.first), (path.dst, path.last)] {
        if let Some(host) = end.filter(|host| scope.wiring.rack(*host) != switch) {
            let (host, switch) = (names.node_name(host), names.node_name(switch));
            return Err(path.place.error(format!("`{host}` is not plugged into `{switch}`")));
        }
    }
    Ok(Some(path))
}

impl Path {
    /// Every one of these flows can take the path.
    pub fn check(&self, scope: &Scope<'_>, senders: &[u32], receivers: &[u32]) -> Result<()> {
        for (hosts, switch, named, end) in
            [(senders, self.first, self.src, "begins"), (receivers, self.last, self.dst, "ends")]
        {
            for host in hosts {
                if scope.wiring.rack(*host) != switch || named.is_some_and(|named| named != *host) {
                    let at = named.unwrap_or(switch);
                    let (host, at) = (scope.ctx.names.node_name(*host), scope.ctx.names.node_name(at));
                    return Err(self
                        .place
                        .error(format!("the path {end} at `{at}`, which does not suit `{host}`"))
                        .label(format!("`{host}` is among the hosts of this traffic")));
                }
            }
        }
        Ok(())
    }
}
