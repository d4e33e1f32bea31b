//! A whole scenario from its seed.

use crate::draw::{Draw, US, push, set, time};
use crate::{devices, events, network, recovery, routing, schemes, table, traffic};
use toml::Table;

/// The scenario of a seed, as its tables.
pub fn scenario(seed: u64) -> Table {
    drawn(seed, traffic::tables)
}

/// The scenario of a seed with training jobs in the place of most of its traffic, as a file would hold it.
pub fn job_text(seed: u64) -> String {
    drawn(seed, traffic::jobs).to_string()
}

fn drawn(seed: u64, tables: fn(&mut Draw, &traffic::Frame<'_>) -> Vec<(Table, bool)>) -> Table {
    let mut root = table! { name = format!("swarm-{seed:x}"), seed = (seed >> 1) as i64 & 0xffff_ffff };
    let network = network::network(&mut Draw::new(seed, "swarm network"));
    let devices = devices::devices(&mut Draw::new(seed, "swarm devices"), &network, &mut root);
    let schemes = schemes::schemes(&mut Draw::new(seed, "swarm schemes"), &mut root);
    schemes::keep_order(&mut root);
    devices::busy_queues(&mut Draw::new(seed, "swarm busy queues"), &mut root);
    recovery::recovery(&mut Draw::new(seed, "swarm recovery"), &devices, &mut root);
    routing::routing(&mut Draw::new(seed, "swarm routing"), &mut root);
    let draw = &mut Draw::new(seed, "swarm traffic");
    let frame = traffic::Frame::new(draw, &network, &devices, &schemes);
    let tables = tables(draw, &frame);
    let finite = tables.iter().all(|(_, finite)| *finite);
    tables.into_iter().for_each(|(row, _)| push(&mut root, "traffic", row));
    let draw = &mut Draw::new(seed, "swarm events");
    let mut run = run(draw, frame.horizon_ps, finite);
    events::events(draw, &network, &devices, frame.horizon_ps, &mut root);
    routing::one_path(&mut Draw::new(seed, "swarm one path"), &mut root);
    events::convergence(&mut Draw::new(seed, "swarm convergence"), frame.horizon_ps, &mut root);
    if draw.one_in(8) {
        set(&mut run, "allow_drops", true);
    }
    if Draw::new(seed, "swarm flow links").one_in(6) {
        set(&mut root, "output", table! { flow_links = true });
    }
    set(&mut root, "run", run);
    set(&mut root, "topology", network.table);
    root
}

/// The scenario of a seed, as a file would hold it.
pub fn text(seed: u64) -> String {
    scenario(seed).to_string()
}

/// Traffic that ends by itself usually may; the rest is stopped.
fn run(draw: &mut Draw, horizon_ps: u64, finite: bool) -> Table {
    let longest = finite && !draw.one_in(3);
    let mut run = table! { stop = time(if longest { 200_000 * US } else { horizon_ps }) };
    if draw.one_in(6) {
        set(&mut run, "deadlock_check", time(draw.between(100, 2000) * US));
        set(&mut run, "on_deadlock", *draw.pick(&["stop", "record"]));
    }
    if draw.one_in(8) {
        set(&mut run, "stall_after", "off");
    }
    if !longest && draw.one_in(6) {
        set(&mut run, "stop_when_idle", false);
    }
    run
}
