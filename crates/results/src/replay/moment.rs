//! A run at an instant, as a picture of its congestion tree shows it.

use super::Replay;
use super::trees::Story;
use crate::congestion::end_of;
use crate::congestion::flows::{Flow, Flows};
use crate::congestion::stops::{Stop, Times};
use crate::execute::execute;
use crate::figures::tree::scene::{Node, Scene, Stopped, Way};
use crate::files::scratch;
use std::collections::{BTreeMap, HashMap};
use std::io;
use xoff_engine::Time;
use xoff_engine::quantity::format_span;
use xoff_scenario::{Diagnostic, Loaded};

/// Makes a run, with its tables in a folder of their own for as long as it takes to look at them.
pub fn scene_of(loaded: &Loaded, at: Option<Time>, names: &[String]) -> io::Result<Result<Scene, Vec<Diagnostic>>> {
    scratch::with_folder("scene", |folder| {
        let run = folder.join("run");
        execute(loaded, Some(&run), |_| {})?;
        Ok(Replay::open(&run).and_then(|replay| replay.scene(at, names).map_err(|error| vec![error])))
    })
}

impl Replay {
    /// The network at an instant; without one, at the first at which most egresses stood still. The ways of the flows of
    /// these names are drawn; without any, those of a victim and of a flow that it shares a stopped egress with.
    pub fn scene(&self, at: Option<Time>, names: &[String]) -> Result<Scene, Diagnostic> {
        let rest = self.rest()?;
        let at = self.instant(&rest.story, at)?;
        let stops = stopped(&rest.story, at);
        let (flows, end) = (&rest.flows, end_of(&self.run));
        let chosen = if names.is_empty() {
            typical(&rest.story, flows, &stops, at, end)
        } else {
            names.iter().map(|name| named(flows, name, at, end)).collect::<Result<_, _>>()?
        };
        Ok(Scene {
            title: self.run.summary.name.clone(),
            scheme: self.run.summary.scheme.clone(),
            at_us: at.as_us(),
            nodes: self.nodes(),
            links: self.loaded.plan.links.iter().map(|link| (link.a, link.b)).collect(),
            stops,
            queues: self.windows.queues_at(at),
            flows: chosen.into_iter().map(|flow| way(flows, flow)).collect(),
        })
    }

    fn nodes(&self) -> Vec<Node> {
        let node = |(number, of): (u32, &xoff_fabric::plan::Node)| Node {
            name: of.name.clone(),
            tier: self.network.tier(number),
            domain: of.domain,
        };
        (0..).zip(&self.loaded.plan.nodes).map(node).collect()
    }

    /// The instant that was asked for, if the run has it and knows who stood still then.
    fn instant(&self, story: &Story, at: Option<Time>) -> Result<Time, Diagnostic> {
        let path = self.run.path().display();
        if story.trees.times == Times::Unknown {
            let error = Diagnostic::new(format!("`{path}` kept no pauses"));
            let error = error.label("it was run with `[output] pauses = false`");
            return Err(error.help(format!("run it again: xoff run {path}/scenario.toml --set output.pauses=true")));
        }
        let end = end_of(&self.run);
        match at {
            Some(at) if at > end => {
                let span = |time: Time| format_span(time.saturating_since(Time::ZERO));
                let error = Diagnostic::new(format!("`{path}` has no instant {}", span(at)));
                Err(error.label(format!("the run ended at {}", span(end))))
            }
            Some(at) => Ok(at),
            None => busiest(&story.trees.stops).ok_or_else(|| {
                let error = Diagnostic::new(format!("`{path}` has no congestion tree"));
                error.label("no egress was ever stopped").help("an instant that is named is drawn in any case")
            }),
        }
    }
}

/// The first instant at which most egresses stand still.
fn busiest(stops: &[Stop]) -> Option<Time> {
    // At one instant those that go on come first.
    let ends = stops.iter().map(|stop| (stop.until, false, stop.port));
    let mut changes: Vec<(Time, bool, u32)> =
        stops.iter().map(|stop| (stop.from, true, stop.port)).chain(ends).collect();
    changes.sort_unstable();
    // By egress, how many of its priorities stand still.
    let mut still: HashMap<u32, i64> = HashMap::new();
    let (mut count, mut most, mut when) = (0, 0, None);
    for (index, &(at, begins, port)) in changes.iter().enumerate() {
        let own = still.entry(port).or_default();
        let before = *own > 0;
        *own += if begins { 1 } else { -1 };
        count += i64::from(*own > 0) - i64::from(before);
        let last_of_instant = changes.get(index + 1).is_none_or(|next| next.0 > at);
        if last_of_instant && count > most {
            (most, when) = (count, Some(at));
        }
    }
    when
}

/// The egresses that stand still, each once.
fn stopped(story: &Story, at: Time) -> Vec<Stopped> {
    let mut found: BTreeMap<u32, Option<u32>> = BTreeMap::new();
    for (stop, link) in story.trees.stops.iter().zip(&story.trees.links) {
        if stop.from <= at && at < stop.until {
            let root = story.roots.get(&link.root).copied().flatten();
            // Of several priorities one whose root is known.
            let known = found.entry(stop.port).or_default();
            *known = known.or(root);
        }
    }
    found.into_iter().map(|(port, root)| Stopped { port, root }).collect()
}

fn is_alive(flow: &Flow, at: Time, end: Time) -> bool {
    flow.start <= at && at <= flow.network_end(end)
}

/// The victim that lost most of those that are held now, and the first flow that crosses the root and stands still at
/// the same egress.
fn typical<'a>(story: &Story, flows: &'a Flows, stops: &[Stopped], at: Time, end: Time) -> Vec<&'a Flow> {
    let alive = |flow: &&Flow| is_alive(flow, at, end);
    let holds = |flow: &Flow| -> Vec<&Stopped> {
        let path = flows.ports(flow);
        stops.iter().filter(|stop| path.contains(&stop.port)).collect()
    };
    let is_foreign = |flow: &Flow, stop: &&Stopped| stop.root.is_some_and(|root| !flows.ports(flow).contains(&root));
    let victims = story.victims.iter().map(|victim| &flows.list[victim.flow as usize]);
    for victim in victims.filter(alive) {
        let Some(hold) = holds(victim).into_iter().rfind(|stop| is_foreign(victim, stop)) else { continue };
        let guilty = |flow: &&Flow| {
            let path = flows.ports(flow);
            path.contains(&hold.port) && hold.root.is_some_and(|root| path.contains(&root))
        };
        return flows.list.iter().filter(alive).find(guilty).into_iter().chain([victim]).collect();
    }
    Vec::new()
}

/// The flow of this name that is under way, or else the first.
fn named<'a>(flows: &'a Flows, name: &str, at: Time, end: Time) -> Result<&'a Flow, Diagnostic> {
    let own = || flows.list.iter().filter(|flow| flow_name(flows, flow) == name);
    own().find(|flow| is_alive(flow, at, end)).or_else(|| own().next()).ok_or_else(|| {
        let known: Vec<String> = flows.list.iter().map(|flow| flow_name(flows, flow)).collect();
        Diagnostic::new(format!("the run has no flow `{name}`")).nearest(name, known.iter().map(String::as_str))
    })
}

fn flow_name(flows: &Flows, flow: &Flow) -> String {
    match flows.word(flow.label) {
        "" => format!("flow {}", flow.id),
        label => label.to_owned(),
    }
}

fn way(flows: &Flows, flow: &Flow) -> Way {
    Way { name: flow_name(flows, flow), ports: flows.ports(flow).to_vec() }
}

#[cfg(test)]
mod tests {
    use super::super::super::congestion::stops::Ended;
    use super::*;

    fn stop(port: u32, priority: u8, from: u64, until: u64) -> Stop {
        let (from, until) = (Time::from_us(from), Time::from_us(until));
        Stop { port, priority, from, until, ended: Ended::Resume, decided: None, ingress_bytes: None }
    }

    #[test]
    fn the_busiest_instant_is_the_first_with_most_egresses() {
        assert_eq!(busiest(&[]), None);
        let apart = [stop(0, 3, 10, 20), stop(2, 3, 20, 30), stop(4, 3, 25, 40), stop(6, 3, 30, 50)];
        assert_eq!(busiest(&apart), Some(Time::from_us(25)));
        // Two priorities of one egress are one egress.
        assert_eq!(busiest(&[stop(0, 3, 10, 30), stop(0, 4, 15, 30)]), Some(Time::from_us(10)));
    }
}
