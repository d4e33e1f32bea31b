//! From a `[[traffic]]` table of a scenario to a [`TrafficPlan`].

mod arrivals;
mod chakra;
mod hosts;
mod job;
mod kinds;
mod list;
mod pending;
mod placement;
mod reach;
mod settings;
mod sizes;
#[cfg(test)]
pub(crate) mod tests;
mod wire_bytes;

pub(crate) use list::LARGEST_FILE as LARGEST_FLOW_FILE;

use super::flow::Wiring;
use super::plan::{Expected, Generator, TrafficPlan};
use crate::Table;
use crate::context::TrafficContext;
use crate::reader::Result;
use settings::Settings;
use std::sync::Arc;

/// The most flows that one generator may hold or start at one instant.
const MOST_FLOWS: u64 = 4_000_000;

/// Reads one table. Its keys are consumed, except those nobody knows: the caller's
/// [`Table::finish`] finds them.
pub fn read(table: &mut Table, ctx: &TrafficContext<'_>) -> Result<TrafficPlan> {
    let kind = table.word("kind")?;
    let scope = Scope { ctx, wiring: Arc::new(Wiring::new(&ctx.plan.nodes, &ctx.plan.links)) };
    let settings = Settings::read(table, &scope, kind)?;
    let made = match kind {
        "flows" => list::flows(table, &scope, &settings)?,
        "flow-list" => list::flow_list(table, &scope, &settings)?,
        "long-lived" => kinds::long_lived(table, &scope, &settings)?,
        "burst" => kinds::burst(table, &scope, &settings)?,
        "permutation" => kinds::permutation(table, &scope, &settings)?,
        // A buffer makes it a collective: rounds wait for each other by what arrives, not by the clock.
        "all-to-all" if table.has("bytes") => job::collective(table, &scope, &settings, kind)?,
        "all-to-all" => kinds::all_to_all(table, &scope, &settings)?,
        "poisson" => arrivals::poisson(table, &scope, &settings, false)?,
        "hotspot" => arrivals::poisson(table, &scope, &settings, true)?,
        "incast" => arrivals::incast(table, &scope, &settings)?,
        "on-off" => kinds::on_off(table, &scope, &settings)?,
        "synchronised-reads" => kinds::reads(table, &scope, &settings)?,
        "pipeline" => job::pipeline(table, &scope, &settings)?,
        "job" => job::steps(table, &scope, &settings)?,
        "chakra" => chakra::chakra(table, &scope, &settings)?,
        _ => job::collective(table, &scope, &settings, kind)?,
    };
    if let Some((src, dst)) = reach::cut_off(&made.generator, ctx.pieces) {
        let [src, dst] = [src, dst].map(|host| ctx.names.node_name(host));
        let error = table.place().error(format!("no way leads from `{src}` to `{dst}`"));
        return Err(error
            .label("this traffic may go from the one to the other")
            .help("GPUs of a server reach each other, ports of NICs those of their plane; select hosts that do"));
    }
    Ok(TrafficPlan {
        name: settings.name,
        namesake: 0,
        kind,
        labels: made.labels.into(),
        expected: made.expected,
        generator: made.generator,
    })
}

/// The network around a generator.
struct Scope<'a> {
    ctx: &'a TrafficContext<'a>,
    wiring: Arc<Wiring>,
}

/// What reading one kind yields.
struct ReadGenerator {
    generator: Generator,
    labels: Vec<String>,
    expected: Expected,
}

/// One label for a lone flow, else numbered ones.
fn numbered(name: &str, count: u64) -> Vec<String> {
    match count {
        1 => vec![name.to_owned()],
        count => (0..count).map(|number| format!("{name}-{number}")).collect(),
    }
}
