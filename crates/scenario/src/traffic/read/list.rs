//! Flows listed one by one, in the scenario or in a file of their own.

use super::kinds::stop;
use super::settings::{Settings, caps, template};
use super::sizes::take_sizes;
use super::{MOST_FLOWS, ReadGenerator, Scope};
use crate::names::readable_name;
use crate::reader::Result;
use crate::traffic::cdf::LARGEST_BYTES;
use crate::traffic::flow::Template;
use crate::traffic::plan::{Expected, Generator};
use crate::traffic::sizes::Sizes;
use crate::traffic::timetable::Planned;
use crate::{Place, Source, Table, Text};
use std::sync::Arc;
use xoff_engine::Span;
use xoff_engine::quantity::parse_span;

pub(crate) const LARGEST_FILE: u64 = 256_000_000;

/// `[[traffic.flow]]` tables.
pub fn flows(table: &mut Table, scope: &Scope<'_>, settings: &Settings) -> Result<ReadGenerator> {
    let rows = table.tables("flow")?;
    if rows.is_empty() {
        return Err(table.place().error("traffic of kind \"flows\" lists none").label("add a [[traffic.flow]]"));
    }
    let count = rows.len();
    let default_stop = stop(table, settings.start)?;
    let default_caps = caps(table)?;
    let mut planned = Vec::with_capacity(count);
    let mut labels = Vec::with_capacity(count);
    for (index, mut row) in rows.into_iter().enumerate() {
        let default = if count == 1 { settings.name.clone() } else { format!("{}-{index}", settings.name) };
        let name = row.text_or("name", &default)?;
        // What is numbered after the table's own name may be longer, and is as readable.
        if name.value != default {
            readable_name(&name)?;
        }
        labels.push(name.value);
        let (src, dst) = (row.text("src")?, row.text("dst")?);
        let (src, dst) = (scope.ctx.names.host(&src)?, scope.ctx.names.host(&dst)?);
        if src == dst {
            let name = scope.ctx.names.node_name(src);
            return Err(row.error("dst", format!("`{name}` would send to itself")).label("another host than `src`"));
        }
        let size = match take_sizes(&mut row, "size")? {
            None => None,
            Some(Sizes::Fixed(bytes)) => Some(bytes),
            Some(_) => return Err(row.error("size", "a listed flow has one size").label("such as \"64KB\"")),
        };
        let (template, path) = template(&mut row, scope, &settings.template, settings.path.as_ref())?;
        if let Some(path) = path {
            path.check(scope, &[src], &[dst])?;
        }
        let at = row.time_or("start", settings.start)?;
        let stop = if size.is_none() { stop(&mut row, at)?.or(default_stop) } else { None };
        if let Some(stop) = stop.filter(|stop| *stop <= at) {
            return Err(row.error("start", "the flow would start when it is over").label(format!("`stop` is {stop}")));
        }
        let own_caps = caps(&mut row)?;
        row.finish()?;
        planned.push(Planned {
            at,
            spec: template.flow(index as u32, src, dst, size, index as u32),
            stop,
            caps: if own_caps.is_empty() { default_caps.clone() } else { own_caps },
        });
    }
    if default_stop.is_some() && planned.iter().all(|flow| flow.stop.is_none()) {
        return Err(table.error("stop", "`stop` has no effect here").label("flows of a size end by themselves"));
    }
    Ok(made(planned, labels))
}

fn made(planned: Vec<Planned>, labels: Vec<String>) -> ReadGenerator {
    let bytes = planned.iter().map(|flow| flow.spec.size_bytes).try_fold(0.0, |sum, size| Some(sum + size? as f64));
    let expected = Expected {
        flows: Some(planned.len() as f64),
        bytes,
        load: None,
        finite: planned.iter().all(|flow| flow.spec.size_bytes.is_some() || flow.stop.is_some()),
    };
    ReadGenerator { generator: Generator::Listed(planned.into()), labels, expected }
}

/// A file with a flow on each line: `src,dst,size_bytes,start_us` and, if wished, `class` and
/// `scheme`. A header may name the columns in another order, and further ones: `start_ns` in place of
/// `start_us`, `src_port`, `dst_port`.
pub fn flow_list(table: &mut Table, scope: &Scope<'_>, settings: &Settings) -> Result<ReadGenerator> {
    let name = table.text("file")?;
    let source = table.file("file", &name, LARGEST_FILE)?;
    let mut columns = Columns::default();
    let mut planned: Vec<Planned> = Vec::new();
    let (mut first, mut offset) = (true, 0);
    for line in source.text.split_inclusive('\n') {
        let start = offset;
        offset += line.len();
        let text = line.trim_end();
        if text.is_empty() || text.starts_with('#') {
            continue;
        }
        // Counting lines from the top for every row would take the square of their number.
        let place = Place { source: source.clone(), span: start..start + text.len() };
        let fields: Vec<&str> = text.split(',').map(|field| field.trim().trim_matches('"')).collect();
        if std::mem::take(&mut first) && fields.contains(&"src") {
            columns = Columns::named(&fields, &place)?;
            continue;
        }
        if planned.len() as u64 >= MOST_FLOWS {
            return Err(place.error(format!("the file lists more than {MOST_FLOWS} flows")));
        }
        let row = Row { fields: &fields, columns: &columns, place: &place };
        planned.push(row.flow(scope, settings, planned.len() as u32)?);
    }
    if planned.is_empty() {
        return Err(empty(&source, &name));
    }
    if let Some(path) = &settings.path {
        for flow in &planned {
            path.check(scope, &[flow.spec.src], &[flow.spec.dst])?;
        }
    }
    Ok(made(planned, vec![settings.name.clone()]))
}

fn empty(source: &Arc<Source>, name: &Text) -> crate::Diagnostic {
    Place::line(source, 1).error(format!("`{}` lists no flow", name.value)).label("rows of src,dst,size_bytes,start_us")
}

/// Where each value stands in a row.
struct Columns {
    at: [Option<usize>; COLUMNS.len()],
    least: usize,
    most: usize,
}

const COLUMNS: [&str; 9] =
    ["src", "dst", "size_bytes", "start_us", "class", "scheme", "start_ns", "src_port", "dst_port"];
const START_NS: usize = 6;
const PORTS: [usize; 2] = [7, 8];

impl Default for Columns {
    fn default() -> Columns {
        let mut at = [None; COLUMNS.len()];
        for (column, place) in at.iter_mut().take(6).enumerate() {
            *place = Some(column);
        }
        Columns { at, least: 4, most: 6 }
    }
}

impl Columns {
    fn named(header: &[&str], place: &Place) -> Result<Columns> {
        let mut at = [None; COLUMNS.len()];
        for (index, name) in header.iter().enumerate() {
            let Some(column) = COLUMNS.iter().position(|column| column == name) else {
                return Err(place.error(format!("unknown column `{name}`")).nearest(name, COLUMNS));
            };
            if at[column].replace(index).is_some() {
                return Err(place.error(format!("the column `{name}` comes twice")));
            }
        }
        let needed = [0, 1, 2, if at[START_NS].is_some() { START_NS } else { 3 }];
        if let Some(missing) = needed.into_iter().find(|column| at[*column].is_none()) {
            return Err(place.error(format!("the column `{}` is missing", COLUMNS[missing])));
        }
        if at[3].is_some() && at[START_NS].is_some() {
            return Err(place.error("both `start_us` and `start_ns` are given").label("one of them"));
        }
        if PORTS.into_iter().filter(|column| at[*column].is_some()).count() == 1 {
            return Err(place.error("of `src_port` and `dst_port` one is missing").label("both or none"));
        }
        Ok(Columns { at, least: header.len(), most: header.len() })
    }
}

struct Row<'a> {
    fields: &'a [&'a str],
    columns: &'a Columns,
    place: &'a Place,
}

impl Row<'_> {
    fn text(&self, column: usize) -> Option<Text> {
        let value = self.columns.at[column].and_then(|at| self.fields.get(at)).filter(|value| !value.is_empty())?;
        Some(Text { value: (*value).to_owned(), place: self.place.clone() })
    }

    fn needed(&self, column: usize) -> Result<Text> {
        self.text(column).ok_or_else(|| self.place.error(format!("`{}` is empty", COLUMNS[column])))
    }

    fn host(&self, scope: &Scope<'_>, column: usize) -> Result<u32> {
        let name = self.needed(column)?;
        let node = scope.ctx.names.node(&name)?;
        if scope.wiring.is_host(node) {
            return Ok(node);
        }
        Err(self.place.error(format!("`{}` is a switch, not a host", name.value)))
    }

    fn start(&self) -> Result<Span> {
        let nanoseconds = self.columns.at[START_NS].is_some();
        let text = self.needed(if nanoseconds { START_NS } else { 3 })?;
        let unit = if nanoseconds { "ns" } else { "us" };
        match parse_span(&format!("{}{unit}", text.value)) {
            Ok(span) if span <= crate::reader::LONGEST => Ok(span),
            _ if nanoseconds => Err(text
                .error(format!("`{}` is not a start in nanoseconds", text.value))
                .label("such as 250, at most three decimals")),
            _ => Err(text
                .error(format!("`{}` is not a start in microseconds", text.value))
                .label("such as 12 or 0.25, at most six decimals")),
        }
    }

    fn port(&self, column: usize) -> Result<u16> {
        let text = self.needed(column)?;
        text.value.parse::<u16>().map_err(|_| {
            let error = text.error(format!("`{}` is not a port number", text.value));
            error.label("a whole number from 0 to 65535")
        })
    }

    fn flow(&self, scope: &Scope<'_>, settings: &Settings, index: u32) -> Result<Planned> {
        let found = self.fields.len();
        if !(self.columns.least..=self.columns.most).contains(&found) {
            return Err(self
                .place
                .error(format!("a row of {found} values"))
                .label(format!("expected {}", COLUMNS[..self.columns.most.max(4)].join(","))));
        }
        let (src, dst) = (self.host(scope, 0)?, self.host(scope, 1)?);
        if src == dst {
            return Err(self.place.error(format!("`{}` would send to itself", scope.ctx.names.node_name(src))));
        }
        let size = self.needed(2)?;
        let size = match size.value.parse::<u64>() {
            Ok(bytes) if (1..=LARGEST_BYTES).contains(&bytes) => bytes,
            _ => {
                return Err(size
                    .error(format!("`{}` is not a size in bytes", size.value))
                    .label("a whole number from 1 to 1000000000000"));
            }
        };
        let at = settings.start + self.start()?;
        let mut template: Template = settings.template.clone();
        if let Some(class) = self.text(4) {
            template.class = scope.ctx.class(&class)?;
        }
        if let Some(scheme) = self.text(5) {
            template.scheme = scope.ctx.scheme(&scheme)?;
        }
        let mut spec = template.flow(index, src, dst, Some(size), 0);
        if self.columns.at[PORTS[0]].is_some() {
            spec.ports = Some((self.port(PORTS[0])?, self.port(PORTS[1])?));
        }
        Ok(Planned { at, spec, stop: None, caps: Arc::new([]) })
    }
}
