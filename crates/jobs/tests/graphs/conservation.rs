//! Every rank ends with every contribution, once: data followed through each generator's graph, whatever the times.

use crate::ideal::{Seen, drive, job};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use xoff_engine::{Rng, Span, Time, stream};
use xoff_jobs::collective::{Algorithm, Carried, Form, Options, Servers, Size, Skew, explain, size};
use xoff_jobs::{Activity, ActivityKind, Collective, Dag, Lane, Work};

/// When the last message on a lane arrives, and which it is.
type LastOnLane = (Time, (u32, u64));

/// Who has contributed to each part of the buffer that is always moved as a whole, by member.
type State = Vec<Vec<u64>>;

struct Case {
    what: Collective,
    members: Vec<u32>,
    bytes: u64,
    servers: Servers,
    options: Options,
}

impl Case {
    fn words(&self) -> String {
        let Servers { gpus, nics } = self.servers;
        let Case { what, members, bytes, options, .. } = self;
        format!("{what} of {bytes} among {members:?} of {gpus} GPUs and {nics} NICs each, {options:?}")
    }

    fn n(&self) -> usize {
        self.members.len()
    }

    /// Where the part of a reduce-scatter or all-gather is whose owner a member is.
    fn block(&self, member: usize) -> (u64, u64) {
        let n = self.n() as u64;
        if self.options.algorithm == Algorithm::HalvingDoubling && n > 1 {
            // Halves by the lowest bit first.
            let (mut at, mut bytes) = (0, self.bytes);
            for bit in 0..self.n().ilog2() {
                let low = bytes.div_ceil(2);
                (at, bytes) = if member >> bit & 1 == 1 { (at + low, bytes - low) } else { (at, low) };
            }
            return (at, at + bytes);
        }
        let block = self.bytes.div_ceil(n);
        ((member as u64 * block).min(self.bytes), ((member as u64 + 1) * block).min(self.bytes))
    }

    /// Who has contributed to byte `at` that a member has before anything is sent.
    fn at_first(&self, member: usize, at: u64, rows: &[u64]) -> u64 {
        let own = 1 << member;
        let mine = match self.what {
            Collective::AllReduce | Collective::ReduceScatter | Collective::Reduce | Collective::Barrier => true,
            Collective::Broadcast => member == self.options.root as usize,
            Collective::AllGather => (self.block(member).0..self.block(member).1).contains(&at),
            Collective::AllToAll => (rows[member * self.n()]..rows[(member + 1) * self.n()]).contains(&at),
        };
        if mine { own } else { 0 }
    }

    /// Who must have contributed to byte `at` that a member has at the end; `None`: no matter.
    fn at_last(&self, member: usize, at: u64, rows: &[u64]) -> Option<u64> {
        let (n, all) = (self.n(), u64::MAX >> (64 - self.n()));
        let owner = || (0..n).find(|other| (self.block(*other).0..self.block(*other).1).contains(&at)).unwrap();
        match self.what {
            Collective::AllReduce => Some(all),
            Collective::ReduceScatter => (owner() == member).then_some(all),
            Collective::AllGather => Some(1 << owner()),
            Collective::Broadcast => Some(1 << self.options.root),
            Collective::Reduce => (member == self.options.root as usize).then_some(all),
            Collective::AllToAll => {
                let pair = rows.partition_point(|start| *start <= at) - 1;
                (pair % n == member).then_some(1 << (pair / n))
            }
            Collective::Barrier => None,
        }
    }

    /// Where the parts of an all-to-all begin, row by row, and where the last ends.
    fn rows(&self) -> Vec<u64> {
        let n = self.n() as u64;
        let mut rows = vec![0];
        for pair in 0..n * n {
            let even = |k: u64| self.bytes * k / n;
            let bytes = match &self.options.skew {
                Skew::Matrix(matrix) => matrix[pair as usize],
                _ => even(pair % n + 1) - even(pair % n),
            };
            rows.push(rows[pair as usize] + bytes);
        }
        rows
    }

    fn check(&self, seed: u64) {
        let (mut dag, ends, carried) = explain(self.what, &self.members, self.bytes, self.servers, &self.options)
            .unwrap_or_else(|why| panic!("{why}: {}", self.words()));
        self.check_size(&dag);
        // Something before each member's begin holds it up; something after its end tells when that was.
        let gates = dag.activities.len();
        for (member, ends) in ends.iter().enumerate() {
            let rank = self.members[member];
            let gate = dag.activity(Activity { rank, kind: ActivityKind::Compute, name: 0, group: 0, bytes: 0 });
            let op = dag.op(gate, Work::Compute(Span::from_ps((member as u64 * 7_919 + seed * 131) % 2_000)));
            dag.need(op, ends.begin);
        }
        for (member, ends) in ends.iter().enumerate() {
            let rank = self.members[member];
            let probe = dag.activity(Activity { rank, kind: ActivityKind::Compute, name: 0, group: 0, bytes: 0 });
            let op = dag.op(probe, Work::Compute(Span::ZERO));
            dag.need(ends.end, op);
        }
        dag.check().unwrap_or_else(|why| panic!("{why}: {}", self.words()));
        Flow::new(self, &carried).run(dag, gates as u32, seed);
    }
}

impl Case {
    /// What was counted before is what there is.
    fn check_size(&self, dag: &Dag) {
        let counted =
            size(dag.ranks, self.what, &self.members, self.bytes, self.servers, &self.options, Form::Listed).unwrap();
        let made = Size::of(dag);
        assert_eq!((counted.messages, counted.bytes), (made.messages, made.bytes), "{}", self.words());
        // Connections with fewer messages than queue pairs have fewer needs than are counted.
        let (counted, made) = (counted.memory_bytes(), made.memory_bytes());
        assert!(
            counted >= made && counted <= 3 * made + 4_000,
            "{counted} bytes of memory instead of {made}: {}",
            self.words()
        );
    }
}

/// Data in its flow.
struct Flow<'a> {
    case: &'a Case,
    rows: Vec<u64>,
    /// Parts that are always moved as a whole begin here.
    cuts: Vec<u64>,
    carried: BTreeMap<u32, Carried>,
    first: State,
    states: BTreeMap<u32, State>,
    under_way: BTreeMap<u32, Vec<u64>>,
    /// Iterations and members whose part may have begun.
    begun: BTreeSet<(u32, usize)>,
    checked: usize,
}

impl<'a> Flow<'a> {
    fn new(case: &'a Case, carried: &[Carried]) -> Flow<'a> {
        let rows = case.rows();
        let mut cuts: Vec<u64> = carried.iter().flat_map(|piece| [piece.at, piece.at + piece.bytes]).collect();
        if case.what == Collective::AllToAll {
            cuts.extend(&rows);
        } else {
            cuts.extend((0..case.n()).flat_map(|member| [case.block(member).0, case.block(member).1]));
            cuts.extend([0, case.bytes]);
        }
        cuts.sort_unstable();
        cuts.dedup();
        // The last cut is the end of all.
        let starts = &cuts[..cuts.len() - 1];
        let at_first = |member| starts.iter().map(|at| case.at_first(member, *at, &rows)).collect();
        let first = (0..case.n()).map(at_first).collect();
        let carried = carried.iter().map(|piece| (piece.op, *piece)).collect();
        let (states, under_way) = (BTreeMap::new(), BTreeMap::new());
        Flow { case, rows, cuts, carried, first, states, under_way, begun: BTreeSet::new(), checked: 0 }
    }

    fn parts(&self, op: u32) -> std::ops::Range<usize> {
        let piece = &self.carried[&op];
        let place = |at: u64| self.cuts.binary_search(&at).unwrap();
        place(piece.at)..place(piece.at + piece.bytes)
    }

    fn run(mut self, dag: Dag, gates: u32, seed: u64) {
        let case = self.case;
        let member = |rank: u32| case.members.iter().position(|other| *other == rank).unwrap();
        let mut rng = stream(seed, "conservation", 0);
        let mut draw =
            |most: u64| Span::from_ps(if rng_below(&mut rng, 3) == 0 { 0 } else { rng_below(&mut rng, most) });
        let ranks = dag.ranks as usize;
        let late: Vec<Span> = (0..ranks).map(|_| draw(3000)).collect();
        let mut lanes: BTreeMap<(u32, u32, Lane), LastOnLane> = BTreeMap::new();
        let arrive = |message: &xoff_jobs::Message, now: Time| {
            let key = (message.from, message.to, message.lane);
            let last = lanes.entry(key).or_insert((Time::ZERO, (0, 0)));
            // Relayed data of several senders share a lane.
            if case.what != Collective::AllToAll {
                assert!(last.1 <= (message.iteration, message.order), "out of order: {}", case.words());
            }
            *last = (last.0.max(now + draw(1000)), (message.iteration, message.order));
            last.0
        };
        let job = xoff_jobs::Job { late, ..job(Arc::new(dag.compile()), 2) };
        let (_, _, stuck) = drive(job, arrive, |_, seen| self.see(seen, gates, &member));
        assert!(stuck.is_empty(), "{stuck:?}: {}", case.words());
        assert_eq!(self.checked, 2 * case.n(), "{}", case.words());
    }

    fn see(&mut self, seen: Seen, gates: u32, member: &dyn Fn(u32) -> usize) {
        match seen {
            Seen::Goes(message) => {
                let begun = (message.iteration, member(message.from));
                assert!(self.begun.contains(&begun), "before its begin: {}", self.case.words());
                let (parts, first) = (self.parts(message.order as u32), &self.first);
                let state = self.states.entry(message.iteration).or_insert_with(|| first.clone());
                let data = state[member(message.from)][parts].to_vec();
                assert!(data.iter().all(|from| *from != 0), "nothing to send: {}", self.case.words());
                self.under_way.insert(message.id, data);
            }
            Seen::Arrives(message) => {
                let data = self.under_way.remove(&message.id).unwrap();
                let (parts, adds) = (self.parts(message.order as u32), self.carried[&(message.order as u32)].adds);
                let state = &mut self.states.get_mut(&message.iteration).unwrap()[member(message.to)][parts];
                for (have, came) in state.iter_mut().zip(data) {
                    assert!(!adds || *have & came == 0, "added twice: {}", self.case.words());
                    *have = if adds { *have | came } else { came };
                }
            }
            Seen::Over(interval) if interval.activity >= gates + self.case.n() as u32 => {
                let member = (interval.activity - gates) as usize - self.case.n();
                let first = &self.first;
                let state = &self.states.entry(interval.iteration).or_insert_with(|| first.clone())[member];
                for (at, have) in self.cuts.iter().zip(state) {
                    let must = self.case.at_last(member, *at, &self.rows);
                    assert!(
                        must.is_none_or(|must| must == *have),
                        "{have:b} at {at} of {member}: {}",
                        self.case.words()
                    );
                }
                self.checked += 1;
            }
            Seen::Over(interval) if interval.activity >= gates => {
                self.begun.insert((interval.iteration, (interval.activity - gates) as usize));
            }
            Seen::Over(_) => {}
        }
    }
}

fn rng_below(rng: &mut Rng, most: u64) -> u64 {
    rng.below(most)
}

/// Groups of ranks, and the servers that they are in.
fn shapes() -> Vec<(Vec<u32>, Servers)> {
    let shape = |gpus, nics, members: &[u32]| (members.to_vec(), Servers { gpus, nics });
    let first = |gpus, nics, n: u32| shape(gpus, nics, &(0..n).collect::<Vec<_>>());
    vec![
        first(1, 1, 1),
        first(1, 1, 2),
        first(1, 1, 3),
        first(1, 2, 5),
        first(1, 1, 8),
        first(8, 8, 8),
        first(8, 8, 16),
        first(8, 4, 24),
        first(4, 2, 12),
        first(2, 4, 6),
        shape(8, 8, &[3, 11, 19, 27]),
        shape(8, 8, &[1, 2, 3, 9, 10, 11]),
        shape(4, 4, &[0, 1, 4, 5, 6]),
        shape(2, 2, &[7, 0, 1, 4, 5, 6]),
    ]
}

/// Cuts, windows and queue pairs.
fn ways(algorithm: Algorithm) -> Vec<Options> {
    let usual = Options { algorithm, chunk_bytes: 256, slice_bytes: 64, ..Options::default() };
    vec![
        Options { algorithm, ..Options::default() },
        usual.clone(),
        Options { channels: 2, outstanding: 1, ..usual.clone() },
        Options { channels: 4, outstanding: 0, queue_pairs: 2, ..usual.clone() },
        Options { channels: 2, outstanding: 3, queue_pairs: 3, ..usual.clone() },
        Options { channels: 2, queue_pairs: 2, split: true, chunk_bytes: 1024, slice_bytes: 512, ..usual.clone() },
    ]
}

/// Checks a collective in every way, in the shapes that fit.
fn check_all(
    what: Collective,
    algorithm: Algorithm,
    fits: impl Fn(&[u32], Servers) -> bool,
    change: impl Fn(&mut Options, usize),
) {
    let mut seed = 0;
    for (members, servers) in shapes().into_iter().filter(|(members, servers)| fits(members, *servers)) {
        for mut options in ways(algorithm) {
            change(&mut options, members.len());
            for bytes in [1, 100, 4096, 10_007] {
                seed += 1;
                let (members, options) = (members.clone(), options.clone());
                Case { what, members, bytes, servers, options }.check(seed);
            }
        }
    }
}

fn any(_: &[u32], _: Servers) -> bool {
    true
}

#[test]
fn rings() {
    for what in [Collective::AllReduce, Collective::AllGather, Collective::ReduceScatter] {
        check_all(what, Algorithm::Ring, any, |_, _| {});
    }
}

#[test]
fn trees() {
    check_all(Collective::AllReduce, Algorithm::Tree, any, |_, _| {});
}

#[test]
fn halving_and_doubling() {
    let whole = |options: &mut Options, _: usize| (options.chunk_bytes, options.slice_bytes) = (0, 0);
    check_all(Collective::AllReduce, Algorithm::HalvingDoubling, any, whole);
    for what in [Collective::AllGather, Collective::ReduceScatter] {
        check_all(what, Algorithm::HalvingDoubling, |members, _| members.len().is_power_of_two(), whole);
    }
}

#[test]
fn hierarchies() {
    let even = |members: &[u32], servers: Servers| {
        let here = |rank: &u32| members.iter().filter(|other| servers.of(**other) == servers.of(*rank)).count();
        members.iter().all(|rank| here(rank) == here(&members[0])) && members != [7, 0, 1, 4, 5, 6]
    };
    check_all(Collective::AllReduce, Algorithm::Hierarchical, even, |_, _| {});
}

#[test]
fn chains() {
    for what in [Collective::Broadcast, Collective::Reduce] {
        check_all(what, Algorithm::Auto, any, |options, n| options.root = n as u32 / 2);
        check_all(what, Algorithm::Ring, any, |_, _| {});
    }
}

#[test]
fn all_to_alls() {
    for (pxn, peers) in [(true, 8), (false, 0), (true, 3)] {
        check_all(Collective::AllToAll, Algorithm::Auto, any, |options, _| (options.pxn, options.peers) = (pxn, peers));
    }
    check_all(Collective::AllToAll, Algorithm::Auto, any, |options, n| {
        let n = n as u64;
        options.skew = Skew::Matrix((0..n * n).map(|pair| pair * 37 % 11 * (pair % 3)).collect());
    });
}

#[test]
fn barriers() {
    for (members, servers) in shapes() {
        let (dag, ends, _) = explain(Collective::Barrier, &members, 0, servers, &Options::default()).unwrap();
        // The end of every rank needs the begin of every rank, by a chain of needs.
        for end in &ends {
            let mut known = vec![false; dag.ops.len()];
            known[end.end as usize] = true;
            // Needs point forward but to the ends, which come first.
            let mut open = vec![end.end];
            while let Some(op) = open.pop() {
                for (before, _) in dag.needs.iter().filter(|(_, after)| *after == op) {
                    if !std::mem::replace(&mut known[*before as usize], true) {
                        open.push(*before);
                    }
                }
            }
            assert!(ends.iter().all(|begin| known[begin.begin as usize]), "{members:?}");
        }
    }
}
