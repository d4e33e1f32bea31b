//! A congestion-control scheme of one's own in one file, beside none at all: the same network, the same arrivals.
//!
//!     cargo run -p xoff-run --example own_scheme
//!
//! [`World`] is generic over its scheme, so an idea can be tried without touching the simulator. A scheme that is worth
//! keeping becomes a file of `xoff-schemes` and two lines in its registry, which gives it parameters in scenarios, a
//! place in `xoff compare`, and the tests that every scheme must pass: see CONTRIBUTING.md, "Add a scheme".

use std::error::Error;
use std::path::Path;
use xoff_engine::{Span, Time};
use xoff_fabric::packet::Ecn;
use xoff_fabric::scheme::*;
use xoff_fabric::traffic::Source;
use xoff_fabric::world::World;
use xoff_scenario::{Loaded, Options, Scenario};

/// h0 and h1 share the trunk between the two switches. h1 sends to a host that six others send to as well; PFC backs up
/// from there over the trunk and stops h0, which sends elsewhere.
const SCENARIO: &str = r#"
name = "victim"

[run]
stop = "3ms"

[topology]
kind = "dumbbell"
left = 2
right = 8
rate = "40Gbps"
delay = "1us"

[switch.pfc]
threshold = "static"
xoff = "100KB"

[scheme]
name = "none"

[[traffic]]
kind = "burst"
name = "victim"
sources = "h0"
destinations = "h2"
size = "2MB"

[[traffic]]
kind = "burst"
name = "congested"
sources = ["h1", "h[4..9]"]
destinations = "h3"
size = "1MB"
"#;

fn main() -> Result<(), Box<dyn Error>> {
    println!("scheme  victim us  last us  PAUSE frames");
    // The scenario names `none`, which the program must have.
    xoff_schemes::install_all();
    let text = Scenario::from_text("victim.toml", SCENARIO, Path::new("."));
    let loaded = text.load(&Options::default()).map_err(|problems| problems[0].to_string())?;
    for (name, outcome) in [("none", run(&loaded, Uncontrolled)), ("halve", run(&loaded, HALVE))] {
        let Outcome { victim_us, last_us, pauses } = outcome;
        println!("{name:<6}  {victim_us:>9.0}  {last_us:>7.0}  {pauses:>12}");
    }
    Ok(())
}

struct Outcome {
    victim_us: f64,
    last_us: f64,
    pauses: u64,
}

/// The network and the traffic of a scenario under any scheme.
fn run<S: Scheme>(loaded: &Loaded, scheme: S) -> Outcome {
    let sources: Vec<Box<dyn Source>> = loaded.traffic.iter().map(|traffic| traffic.build(loaded.plan.seed)).collect();
    let mut world = World::new(loaded.plan.clone(), vec![scheme], sources);
    world.run_to_end();
    assert!(world.failure.is_none(), "{:?}", world.failure);
    // Sources are numbered as the scenario lists them; the victim's is the first.
    let took = |of: fn(u32) -> bool| {
        let times = world.flows.iter().filter(|flow| of(flow.source)).filter_map(|flow| flow.delivered_at);
        times.max().map_or(f64::NAN, Time::as_us)
    };
    Outcome { victim_us: took(|source| source == 0), last_us: took(|_| true), pauses: world.counters.pause_frames }
}

/// Marks above a threshold; halves the rate at most once per round trip, else adds a little.
struct Halve {
    threshold_bytes: u64,
    /// Part of the line rate that is added per round trip.
    step: f64,
}

const HALVE: Halve = Halve { threshold_bytes: 30_000, step: 0.02 };

/// The three points of the triad are made here: one congestion point per egress queue of a switch, one notification
/// and one reaction point per flow.
impl Scheme for Halve {
    // Its only signal is the mark, which ACKs echo without being asked: no message of its own.
    type Feedback = ();
    type Cp = Cp;
    type Np = Silent;
    type Rp = Rp;
    // Neither acts on packets in transit nor controls whole switches.
    type Transit = Absent;
    type Switch = Absent;

    fn congestion_point(&self, _at: &QueueFacts) -> Cp {
        Cp { threshold_bytes: self.threshold_bytes }
    }
    fn notification_point(&self, _of: &FlowFacts) -> Silent {
        Silent::default()
    }
    fn reaction_point(&self, of: &FlowFacts) -> Rp {
        let line_bps = of.line_rate.bps() as f64;
        Rp {
            line_bps,
            rate_bps: of.initial_rate.bps() as f64,
            step_bps: self.step * line_bps,
            round: of.base_rtt,
            next_change: of.start,
        }
    }
}

/// In a switch: marks what leaves a queue longer than the threshold.
struct Cp {
    threshold_bytes: u64,
}

impl CongestionPoint for Cp {
    type Feedback = ();

    /// Only what is named here is called: a port pays for nothing else.
    fn hooks(&self) -> Hooks {
        Hooks::DEQUEUE
    }
    fn on_dequeue(&mut self, view: &QueueView, _: &PacketFacts, mark: Mark<'_>, _: impl FnMut(u32, ())) {
        if view.queue_bytes > self.threshold_bytes {
            mark.ecn.mark();
        }
    }
}

/// The reaction point of a sender: events come with the time, limits go out.
struct Rp {
    line_bps: f64,
    rate_bps: f64,
    step_bps: f64,
    round: Span,
    /// The rate changes at most once per round trip.
    next_change: Time,
}

impl ReactionPoint for Rp {
    type Feedback = ();

    fn limits(&self) -> Limits {
        Limits { rate_bps: self.rate_bps, window_bytes: u64::MAX }
    }
    fn on_ack(&mut self, ack: &Acked<'_>) {
        if ack.now < self.next_change {
            return;
        }
        self.next_change = ack.now + self.round;
        self.rate_bps = match ack.ecn {
            Ecn::Ce => (self.rate_bps / 2.0).max(self.line_bps / 1000.0),
            _ => (self.rate_bps + self.step_bps).min(self.line_bps),
        };
    }
}

#[test]
fn halving_spares_the_victim() -> Result<(), Box<dyn Error>> {
    xoff_schemes::install_all();
    let text = Scenario::from_text("victim.toml", SCENARIO, Path::new("."));
    let loaded = text.load(&Options::default()).map_err(|problems| problems[0].to_string())?;
    let (none, halve) = (run(&loaded, Uncontrolled), run(&loaded, HALVE));
    assert!(halve.pauses < none.pauses, "{} and {} PAUSE frames", halve.pauses, none.pauses);
    assert!(halve.victim_us < none.victim_us, "{} us and {} us", halve.victim_us, none.victim_us);
    main()
}

/// State machines need no network: this is how a paper's worked numbers are held.
#[test]
fn the_rate_is_halved_once_per_round_trip() {
    let flow = FlowFacts::at(xoff_engine::BitRate::from_gbps(100), Span::from_us(10));
    let mut rp = HALVE.reaction_point(&flow);
    let mut after = |us, ecn| {
        rp.on_ack(&Acked { now: Time::from_us(us), ecn, ..Acked::default() });
        rp.limits().rate_bps / 1e9
    };
    assert_eq!(after(10, Ecn::Ce), 50.0);
    assert_eq!(after(15, Ecn::Ce), 50.0, "within the same round trip");
    assert_eq!(after(20, Ecn::Ect0), 52.0);
}
