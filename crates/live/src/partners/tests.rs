use super::*;
use xoff_scenario::Loaded;

/// Hosts h0 and h1 at the switch sw, as three processes would load it.
fn star(head: &str, stop: &str) -> Loaded {
    xoff_schemes::install_all();
    let text = format!(
        "{head}\n[run]\nstop = \"{stop}\"\n[topology]\nkind = \"star\"\nhosts = 2\nrate = \"10Gbps\"\ndelay = \"1us\"\n\
         [scheme]\nname = \"dcqcn\"\n[[traffic]]\nkind = \"flows\"\nflow = [{{ src = \"h0\", dst = \"h1\", size = \"30KB\" }}]\n"
    );
    let scenario = xoff_scenario::Scenario::from_text("t", &text, std::path::Path::new("."));
    scenario.load(&xoff_scenario::Options::default()).unwrap_or_else(|errors| panic!("{}", errors[0]))
}

fn node(loaded: &Loaded, name: &str) -> u32 {
    loaded.plan.nodes.iter().position(|node| node.name == name).unwrap() as u32
}

fn partner(loaded: &Loaded, name: &str, k: f64) -> Partners {
    Partners::new(&loaded.plan, &[node(loaded, name)], Terms::of(loaded, k))
}

const PATIENCE: Duration = Duration::from_secs(60);

/// A room of processes on the cables of a plan, and a clock that is theirs.
struct Room<'a> {
    loaded: &'a Loaded,
    there: Vec<Partners>,
    now: Duration,
    sent: u64,
}

impl<'a> Room<'a> {
    fn new(loaded: &'a Loaded, names: &[&str]) -> Room<'a> {
        let there = names.iter().map(|name| partner(loaded, name, 1000.0)).collect();
        Room { loaded, there, now: Duration::from_secs(1_000_000), sent: 0 }
    }

    /// All say what they know, and a tenth of a second passes.
    fn talk(&mut self, over: bool) {
        let mut said = Vec::new();
        for partner in &self.there {
            for port in partner.ports() {
                let frames = partner.say(port, over.then_some(self.sent), self.now);
                said.extend(frames.into_iter().map(|frame| (peer(port), frame)));
            }
        }
        for (port, frame) in said {
            let node = self.loaded.plan.node_of(port);
            let hears = self.there.iter_mut().filter(|partner| partner.own.contains(&node));
            hears.for_each(|partner| partner.hear(port, &frame, self.now));
        }
        self.now += Duration::from_millis(100);
    }

    fn turns(&mut self, since: Duration) -> Vec<Turn> {
        let now = self.now;
        self.there.iter_mut().map(|partner| partner.turn(now, since, PATIENCE)).collect()
    }

    /// Until nobody waits any more.
    fn settle(&mut self) -> Vec<Turn> {
        let since = self.now;
        loop {
            self.talk(false);
            let turns = self.turns(since);
            if !turns.contains(&Turn::Wait) {
                return turns;
            }
        }
    }
}

fn stopped(turn: &Turn) -> &str {
    if let Turn::Stop(why) = turn { why } else { panic!("{turn:?}") }
}

#[test]
fn partners_begin_at_one_instant_once_all_are_there() {
    let loaded = star("", "1ms");
    let mut room = Room::new(&loaded, &["h0", "sw"]);
    let began = room.now;
    for _ in 0..50 {
        room.talk(false);
        assert!(room.turns(began).iter().all(|turn| *turn == Turn::Wait));
    }
    assert_eq!(room.there[0].absent(), ["h1"], "a host hears of it from the switch");
    // Ten seconds late, and nothing is lost.
    room.there.push(partner(&loaded, "h1", 1000.0));
    let turns = room.settle();
    let Turn::Begin(at) = turns[0] else { panic!("{turns:?}") };
    assert!(turns.iter().all(|turn| *turn == Turn::Begin(at)) && at > room.now, "{turns:?}");
}

#[test]
fn who_is_absent_is_named() {
    let loaded = star("", "1ms");
    let turns = Room::new(&loaded, &["h0", "sw"]).settle();
    for turn in &turns {
        let why = stopped(turn);
        assert!(why.contains("nothing was heard of h1 within 60 s") && why.contains("--wait"), "{why}");
    }
    // Nobody heard anybody.
    let alone = Room::new(&loaded, &["h0"]).settle();
    assert!(stopped(&alone[0]).contains("nothing was heard of sw, h1"), "{alone:?}");
}

#[test]
fn who_runs_something_else_is_named_by_all() {
    let loaded = star("", "1ms");
    let other_scenario = star("", "2ms");
    let other_seed = star("seed = 2", "1ms");
    let cases = [
        (partner(&other_scenario, "h1", 1000.0), "runs another scenario"),
        (partner(&other_seed, "h1", 1000.0), "has seed 2, here it is 1"),
        (partner(&loaded, "h1", 500.0), "has k = 500, here it is 1000"),
    ];
    for (stranger, words) in cases {
        let mut room = Room::new(&loaded, &["h0", "sw"]);
        room.there.push(stranger);
        let since = room.now;
        (0..5).for_each(|_| room.talk(false));
        let turns = room.turns(since);
        assert!(stopped(&turns[1]).contains(&format!("h1 {words}")), "{turns:?}");
        assert!(stopped(&turns[0]).contains("h1 runs something else, as sw says"), "{turns:?}");
        assert!(stopped(&turns[2]).starts_with("sw "), "{turns:?}");
    }
}

#[test]
fn swapped_cables_are_noticed() {
    let loaded = star("", "1ms");
    let mut switch = partner(&loaded, "sw", 1000.0);
    let host = partner(&loaded, "h1", 1000.0);
    let to_h0 = switch.links.iter().find(|(_, name, _)| name == "sw->h0").unwrap().0;
    let port = host.ports().next().unwrap();
    for frame in host.say(port, None, Duration::ZERO) {
        switch.hear(to_h0, &frame, Duration::ZERO);
    }
    let turn = switch.turn(Duration::ZERO, Duration::ZERO, PATIENCE);
    assert!(stopped(&turn).contains("h0 should be at sw->h0, where h1 is"), "{turn:?}");
}

#[test]
fn who_hears_of_the_beginning_after_it_says_so() {
    let loaded = star("", "1ms");
    let mut room = Room::new(&loaded, &["h0", "sw", "h1"]);
    room.settle();
    let mut late = partner(&loaded, "h1", 1000.0);
    let sw = &room.there[1];
    let port = sw.links.iter().find(|(_, name, _)| name == "sw->h1").unwrap().0;
    let later = room.now + Duration::from_secs(10);
    sw.say(port, None, room.now).iter().for_each(|frame| late.hear(peer(port), frame, later));
    let turn = late.turn(later, later, PATIENCE);
    assert!(stopped(&turn).contains("the run began") && stopped(&turn).contains("clocks"), "{turn:?}");
    assert_eq!(late.clocks_apart().len(), 1, "{:?}", late.clocks_apart());
    assert_eq!(room.there[0].clocks_apart(), Vec::<String>::new());
}

fn counts(acknowledged_bytes: u64, open_bytes: u64, delivered_bytes: u64) -> ByteCounts {
    ByteCounts { acknowledged_bytes, open_bytes, delivered_bytes }
}

#[test]
fn counts_are_those_of_all_partners() {
    let loaded = star("", "1ms");
    let mut room = Room::new(&loaded, &["h0", "sw", "h1"]);
    room.settle();
    room.sent = 60;
    for (partner, counts) in room.there.iter_mut().zip([counts(30_000, 0, 0), counts(0, 0, 0), counts(0, 0, 30_000)]) {
        partner.end(counts);
    }
    assert!(!room.there[0].is_closed());
    (0..4).for_each(|_| room.talk(true));
    for partner in &room.there {
        assert!(partner.is_closed());
        let account = partner.account(|_| 60);
        assert_eq!((account.acknowledged_bytes, account.delivered_bytes), (30_000, 30_000));
        assert!(account.is_conserved() && account.were_heard(), "{account:?}");
        // A frame more than the other end sent is nobody's.
        let forged = partner.account(|_| 61);
        assert_eq!(forged.unaccounted, partner.ports().count() as u64);
        // The other end sent, and nothing came.
        assert!(!partner.account(|_| 0).were_heard());
    }
}

#[test]
fn counts_that_do_not_come_are_missed() {
    let loaded = star("", "1ms");
    let mut room = Room::new(&loaded, &["h0", "sw", "h1"]);
    room.settle();
    room.there.pop();
    room.there.iter_mut().for_each(|partner| partner.end(counts(0, 0, 0)));
    (0..4).for_each(|_| room.talk(true));
    let account = room.there[0].account(|_| 1);
    assert!(!room.there[0].is_closed() && !account.were_heard());
    assert_eq!(account.missing, ["h1"]);
}
