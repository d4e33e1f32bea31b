//! A finished run as the data of a replay: small resources with paths, which a server hands out one by one and an
//! export puts into one file. `docs/replay.md` says what each is.
//!
//! Reading order: `windows` (what ports did), `facts` (the run), `marks` (what happened to it), `trees` (who stopped
//! whom), `flows`, `variables` (what their schemes published), `jobs`, `moment` (all of it at an instant).

mod facts;
mod flows;
mod jobs;
mod marks;
mod moment;
mod trees;
mod variables;
mod windows;

pub use moment::scene_of;

use crate::congestion::flows::Flows;
use crate::congestion::network::Network;
use crate::jobs::activities::Activities;
use crate::read::RunDirectory;
use flows::{FlowCurves, FlowLinks};
use serde::Serialize;
use std::path::Path;
use std::sync::OnceLock;
use trees::Story;
use variables::Variables;
use windows::Windows;
use xoff_scenario::{Diagnostic, Loaded};

/// A run that can be replayed.
pub struct Replay {
    run: RunDirectory,
    loaded: Loaded,
    network: Network,
    windows: Windows,
    /// What the first picture does not need: read when it is first asked for.
    rest: OnceLock<Result<Rest, Diagnostic>>,
}

struct Rest {
    flows: Flows,
    story: Story,
    curves: FlowCurves,
    links: FlowLinks,
    variables: Variables,
    activities: Activities,
}

/// What a path leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Resource {
    /// A text of JSON.
    Json(String),
    /// Columns of numbers, lowest byte first.
    Binary(Vec<u8>),
}

impl Resource {
    /// What is sent.
    pub fn bytes(&self) -> &[u8] {
        match self {
            Resource::Json(text) => text.as_bytes(),
            Resource::Binary(bytes) => bytes,
        }
    }

    fn json(value: &impl Serialize) -> Result<Resource, Diagnostic> {
        let failed = |error: serde_json::Error| Diagnostic::new(format!("cannot write data of a replay: {error}"));
        serde_json::to_string(value).map(Resource::Json).map_err(failed)
    }
}

impl Replay {
    /// Reads what the first picture needs. Refuses what is not a finished run of this version.
    pub fn open(path: &Path) -> Result<Replay, Vec<Diagnostic>> {
        let run = RunDirectory::open(path).map_err(|error| vec![error])?;
        let loaded = run.load()?;
        let network = Network::of(&loaded.plan);
        let windows = Windows::read(&run, &network).map_err(|error| vec![error])?;
        Ok(Replay { run, loaded, network, windows, rest: OnceLock::new() })
    }

    /// Name of the scenario, scheme, and seed.
    pub fn identity(&self) -> (&str, &str, u64) {
        let summary = &self.run.summary;
        (&summary.name, &summary.scheme, summary.seed)
    }

    /// What a path leads to; `None` if there is nothing.
    pub fn resource(&self, path: &str) -> Result<Option<Resource>, Diagnostic> {
        let words: Vec<&str> = path.split('/').collect();
        Ok(Some(match words[..] {
            ["run.json"] => Resource::json(&facts::run(self)?)?,
            ["timeline.json"] => Resource::json(&facts::timeline(self)?)?,
            ["tile", level, index] => match number(level).zip(number(index)) {
                Some((level, index)) => match self.windows.tile(level as usize, index) {
                    Some(tile) => Resource::Binary(tile),
                    None => return Ok(None),
                },
                None => return Ok(None),
            },
            ["stops.bin"] => Resource::Binary(self.rest()?.story.stops()),
            ["roots.json"] => Resource::json(&self.rest()?.story.roots())?,
            ["victims.json"] => Resource::json(&self.rest()?.story.victims())?,
            ["activities.json"] => Resource::json(&jobs::table(&self.rest()?.activities))?,
            ["flows.json"] => {
                let Rest { flows, curves, .. } = self.rest()?;
                Resource::json(&flows::table(flows, curves))?
            }
            ["port", file] => match stem(file).filter(|&port| (port as usize) < self.network.ports()) {
                Some(port) => Resource::json(&self.windows.curves(port, self.run.summary.sim_time_us))?,
                None => return Ok(None),
            },
            ["flow", file] => match stem(file) {
                Some(index) => return self.flow(index),
                None => return Ok(None),
            },
            _ => return Ok(None),
        }))
    }

    fn flow(&self, index: u32) -> Result<Option<Resource>, Diagnostic> {
        let Rest { flows, story, curves, links, variables, .. } = self.rest()?;
        let Some(flow) = flows.list.get(index as usize) else { return Ok(None) };
        let held = story.holds_of(flows, flow);
        let mut one = curves.of(flow.id, held, variables.of(flow.id));
        links.add_to(flow.id, &mut one);
        Resource::json(&one).map(Some)
    }

    fn rest(&self) -> Result<&Rest, Diagnostic> {
        let read = || {
            let flows = Flows::read(&self.run, &self.network)?;
            let story = Story::read(&self.run, &self.loaded, &self.network, &flows, &self.windows)?;
            let curves = FlowCurves::read(&self.run)?;
            let links = FlowLinks::read(&self.run, &self.network)?;
            let variables = Variables::read(&self.run, &self.loaded.plan)?;
            let activities = Activities::read(&self.run)?;
            Ok(Rest { flows, story, curves, links, variables, activities })
        };
        self.rest.get_or_init(read).as_ref().map_err(Clone::clone)
    }

    /// Everything that a file to send holds but the courses of flows: all tiles, and curves of ports.
    pub fn paths(&self) -> Vec<String> {
        let fixed =
            ["run.json", "timeline.json", "stops.bin", "roots.json", "victims.json", "flows.json", "activities.json"];
        let mut paths: Vec<String> = fixed.map(str::to_owned).to_vec();
        for level in 0..self.windows.levels() {
            paths.extend((0..self.windows.tiles(level)).map(|index| format!("tile/{level}/{index}")));
        }
        paths.extend((0..self.network.ports()).map(|port| format!("port/{port}.json")));
        paths
    }

    /// The courses of all flows, those first that people look at first.
    pub fn flow_paths(&self) -> Result<Vec<String>, Diagnostic> {
        let Rest { flows, story, .. } = self.rest()?;
        Ok(story.by_worth(flows).into_iter().map(|index| format!("flow/{index}.json")).collect())
    }
}

/// The interfaces by which a page reads all of it, in TypeScript.
pub fn typescript() -> String {
    [
        facts::typescript(),
        marks::Mark::interface(),
        crate::jobs::rows::JobRow::interface(),
        crate::jobs::rows::CollectiveRow::interface(),
        jobs::ActivityTable::interface(),
        windows::Timeline::interface(),
        windows::PortCurves::interface(),
        trees::typescript(),
        flows::FlowTable::interface(),
        flows::OneFlow::interface(),
        variables::Course::interface(),
    ]
    .concat()
}

/// A number without a sign, as the page writes it.
fn number(word: &str) -> Option<u32> {
    word.bytes().all(|byte| byte.is_ascii_digit()).then(|| word.parse().ok()).flatten()
}

/// The number of `12.json`.
fn stem(file: &str) -> Option<u32> {
    file.strip_suffix(".json").and_then(number)
}
