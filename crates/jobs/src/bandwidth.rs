//! What a job came to, added up from the intervals of its activities: collectives, and what ranks spent their time on.

use crate::compiled::Compiled;
use crate::dag::{Activity, ActivityKind, Work};
use crate::record::{Interval, algorithm_bandwidth, bus_factor, covered, exposed};
use std::collections::{BTreeMap, HashMap};
use xoff_engine::{Span, Time};

/// All of a job.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Account {
    /// Every activity of every iteration has ended.
    pub finished: bool,
    /// The last end of an activity so far; `None` if none has ended.
    pub end: Option<Time>,
    /// In the order in which they began.
    pub exchanges: Vec<Exchange>,
    /// Shares by iteration, then rank; only those that have begun.
    pub shares: Vec<Share>,
}

/// A collective, or a message from rank to rank, in one iteration.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Exchange {
    pub iteration: u32,
    /// [`crate::Activity::group`]
    pub group: u32,
    /// [`crate::Activity::name`]
    pub name: u32,
    /// Never computing.
    pub kind: ActivityKind,
    pub ranks: u32,
    /// [`crate::Activity::bytes`]
    pub bytes: u64,
    /// When the first rank began; of a message, when its first byte was handed to the network.
    pub begin: Time,
    /// When the last was done, or the message delivered; `None` while a rank is not done.
    pub end: Option<Time>,
    /// The rank that ended last, or one that has not ended.
    pub slowest: u32,
}

/// What a rank spent one iteration on.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Share {
    pub iteration: u32,
    pub rank: u32,
    /// Its first activity began.
    pub begin: Time,
    /// Its last was over, or the run was.
    pub end: Time,
    pub compute: Span,
    pub communication: Span,
    /// Communication during which it did not compute.
    pub exposed: Span,
    pub idle: Span,
}

impl Exchange {
    /// From the first begin to the last end. That of a message is what it took on its way: neither the sender's
    /// computing before it, while its receiver waits, nor the receiver's after it.
    pub fn time(&self) -> Option<Span> {
        self.end.map(|end| end - self.begin)
    }

    /// Algorithm bandwidth of nccl-tests, in 10^9 bytes per second; `None` if nothing was moved, or it has not ended.
    pub fn algorithm_bandwidth(&self) -> Option<f64> {
        let time = self.time().filter(|time| *time > Span::ZERO && self.bytes > 0)?;
        Some(algorithm_bandwidth(self.bytes, time))
    }

    /// Bus bandwidth of nccl-tests, comparable over numbers of ranks.
    pub fn bus_bandwidth(&self) -> Option<f64> {
        let factor = match self.kind {
            ActivityKind::Collective(what) => bus_factor(what, self.ranks)?,
            ActivityKind::Compute | ActivityKind::PointToPoint => 1.0,
        };
        Some(self.algorithm_bandwidth()? * factor)
    }
}

impl Account {
    /// Accounts for a job whose run ended at `until`.
    pub fn of(graph: &Compiled, iterations: u32, intervals: &[Interval], until: Time) -> Account {
        let all = graph.activities().len() as u64 * u64::from(iterations);
        let over = intervals.iter().filter(|interval| interval.end.is_some()).count() as u64;
        Account {
            finished: over == all,
            end: intervals.iter().filter_map(|interval| interval.end).max(),
            exchanges: exchanges(graph, intervals),
            shares: shares(graph, intervals, until),
        }
    }

    /// Sum over all ranks and iterations, divided by the number of ranks.
    pub fn mean(&self, ranks: u32, of: impl Fn(&Share) -> Span) -> Span {
        let sum: u128 = self.shares.iter().map(|share| u128::from(of(share).ps())).sum();
        Span::from_ps((sum / u128::from(ranks.max(1))) as u64)
    }
}

fn exchanges(graph: &Compiled, intervals: &[Interval]) -> Vec<Exchange> {
    let mut members: HashMap<u32, u32> = HashMap::new();
    for activity in graph.activities().iter().filter(|activity| activity.kind != ActivityKind::Compute) {
        *members.entry(activity.group).or_default() += 1;
    }
    // The way of each message, by its sender: from its first byte on to its last.
    let (sending, mut ways) = (senders(graph), HashMap::new());
    // With how many of its ranks are done.
    let mut found: BTreeMap<(u32, u32), (Exchange, u32)> = BTreeMap::new();
    for interval in intervals {
        let activity = &graph.activities()[interval.activity as usize];
        if activity.kind == ActivityKind::Compute {
            continue;
        }
        if sending[interval.activity as usize] {
            ways.insert((interval.iteration, activity.group), (interval.begin, interval.end));
        }
        let (exchange, done) = found.entry((interval.iteration, activity.group)).or_insert_with(|| {
            let first = Exchange {
                iteration: interval.iteration,
                group: activity.group,
                name: activity.name,
                kind: activity.kind,
                ranks: members[&activity.group],
                bytes: activity.bytes,
                begin: interval.begin,
                end: interval.end,
                slowest: activity.rank,
            };
            (first, 0)
        });
        exchange.begin = exchange.begin.min(interval.begin);
        // Who has not ended is slower than who has; of equals the first rank.
        let later = |end: Option<Time>| end.unwrap_or(Time::NEVER);
        let (known, new) = (later(exchange.end), later(interval.end));
        if new > known || (new == known && activity.rank < exchange.slowest) {
            exchange.slowest = activity.rank;
            exchange.end = interval.end;
        }
        *done += u32::from(interval.end.is_some());
    }
    let over = |(exchange, done): (Exchange, u32)| {
        let way = ways.get(&(exchange.iteration, exchange.group)).copied();
        let (begin, end) = way.unwrap_or((exchange.begin, exchange.end));
        Exchange { begin, end: end.filter(|_| done == exchange.ranks), ..exchange }
    };
    let mut all: Vec<Exchange> = found.into_values().map(over).collect();
    all.sort_by_key(|exchange| (exchange.begin, exchange.iteration, exchange.group));
    all
}

/// Whether each activity is the sending end of a message.
fn senders(graph: &Compiled) -> Vec<bool> {
    let is_message = |activity: &Activity| activity.kind == ActivityKind::PointToPoint;
    let mut sending = vec![false; graph.activities().len()];
    if graph.activities().iter().any(is_message) {
        for op in (0..graph.ops()).filter(|op| matches!(graph.work(*op), Work::Send { .. })) {
            let activity = graph.activity_of(op) as usize;
            sending[activity] = is_message(&graph.activities()[activity]);
        }
    }
    sending
}

type Times = Vec<(Time, Time)>;

fn shares(graph: &Compiled, intervals: &[Interval], until: Time) -> Vec<Share> {
    let mut found: BTreeMap<(u32, u32), [Times; 2]> = BTreeMap::new();
    for interval in intervals {
        let activity = &graph.activities()[interval.activity as usize];
        let of = found.entry((interval.iteration, activity.rank)).or_default();
        let kind = usize::from(activity.kind != ActivityKind::Compute);
        of[kind].push((interval.begin, interval.end.unwrap_or(until).max(interval.begin)));
    }
    let share = |((iteration, rank), [compute, communication]): ((u32, u32), [Times; 2])| {
        let both: Times = compute.iter().chain(&communication).copied().collect();
        let begin = both.iter().map(|(begin, _)| *begin).min().unwrap_or(until);
        let end = both.iter().map(|(_, end)| *end).max().unwrap_or(begin);
        Share {
            iteration,
            rank,
            begin,
            end,
            compute: covered(&compute),
            communication: covered(&communication),
            exposed: exposed(&communication, &compute),
            idle: (end - begin) - covered(&both),
        }
    };
    found.into_iter().map(share).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dag::{Collective, Dag, Lane, Via};

    /// Two ranks that compute and reduce; activities in this order: compute 0, compute 1, reduce 0, reduce 1.
    fn graph() -> Compiled {
        let mut dag = Dag::new(2);
        let (step, sum) = (dag.name("step"), dag.name("sum"));
        for rank in 0..2 {
            let activity = Activity { rank, kind: ActivityKind::Compute, name: step, group: 9 + rank, bytes: 0 };
            let activity = dag.activity(activity);
            dag.op(activity, Work::Join);
        }
        for rank in 0..2 {
            let kind = ActivityKind::Collective(Collective::AllReduce);
            let activity = dag.activity(Activity { rank, kind, name: sum, group: 1, bytes: 8_000 });
            dag.op(activity, Work::Join);
        }
        dag.compile()
    }

    fn interval(iteration: u32, activity: u32, begin: u64, end: Option<u64>) -> Interval {
        Interval { iteration, activity, begin: Time::from_us(begin), end: end.map(Time::from_us) }
    }

    #[test]
    fn a_job_is_added_up() {
        let done = [
            interval(0, 0, 0, Some(10)),
            interval(0, 1, 0, Some(12)),
            interval(0, 2, 8, Some(20)),
            interval(0, 3, 14, Some(18)),
        ];
        let account = Account::of(&graph(), 1, &done, Time::from_us(99));
        assert!(account.finished);
        assert_eq!(account.end, Some(Time::from_us(20)));
        let [exchange] = account.exchanges[..] else { panic!("{:?}", account.exchanges) };
        assert_eq!((exchange.ranks, exchange.begin, exchange.slowest), (2, Time::from_us(8), 0));
        assert_eq!(exchange.time(), Some(Span::from_us(12)));
        // 8,000 bytes in 12 us; two ranks send as much as there is.
        assert_eq!(exchange.algorithm_bandwidth().map(|of| (of * 1e6) as u64), Some(666_666));
        assert_eq!(exchange.bus_bandwidth(), exchange.algorithm_bandwidth());
        let us = Span::from_us;
        let of = |share: &Share| (share.compute, share.communication, share.exposed, share.idle);
        assert_eq!(of(&account.shares[0]), (us(10), us(12), us(10), us(0)), "two of twelve are hidden");
        assert_eq!(of(&account.shares[1]), (us(12), us(4), us(4), us(2)));
        assert_eq!(account.mean(2, |share| share.compute), us(11));
    }

    #[test]
    fn what_is_not_over_has_no_time_and_its_rank_is_the_slowest() {
        let cut = [interval(0, 0, 0, Some(10)), interval(0, 2, 10, Some(20)), interval(0, 3, 12, None)];
        let account = Account::of(&graph(), 1, &cut, Time::from_us(30));
        assert!(!account.finished);
        assert_eq!((account.exchanges[0].slowest, account.exchanges[0].end), (1, None));
        assert_eq!(account.exchanges[0].bus_bandwidth(), None);
        let rank = account.shares.iter().find(|share| share.rank == 1).unwrap();
        assert_eq!((rank.end, rank.communication), (Time::from_us(30), Span::from_us(18)), "until the run ends");
        // A rank that has not even begun keeps it open, too.
        let account = Account::of(&graph(), 1, &cut[..2], Time::from_us(30));
        assert_eq!((account.exchanges[0].ranks, account.exchanges[0].end), (2, None));
    }

    #[test]
    fn a_message_takes_what_its_way_takes() {
        let mut dag = Dag::new(2);
        let name = dag.name("activations");
        for rank in 0..2 {
            let kind = ActivityKind::PointToPoint;
            dag.activity(Activity { rank, kind, name, group: 3, bytes: 4_194_304 });
        }
        let lane = Lane { via: Via::Nic(0), channel: 0, queue_pair: 0 };
        dag.op(0, Work::Send { to: 1, bytes: 4_194_304, lane });
        dag.op(1, Work::Join);
        let graph = dag.compile();
        // The receiver waits from the start, while its peer computes for 100 us; or it comes to it late.
        for (waits, done) in [(0, 187), (150, 300)] {
            let both = [interval(0, 1, waits, Some(done)), interval(0, 0, 100, Some(186))];
            let account = Account::of(&graph, 1, &both, Time::from_us(999));
            let [message] = account.exchanges[..] else { panic!("{:?}", account.exchanges) };
            assert_eq!((message.begin, message.time()), (Time::from_us(100), Some(Span::from_us(86))));
            assert_eq!(message.algorithm_bandwidth().map(|of| (of * 10.0).round()), Some(488.0), "4.19 MB in 86 us");
            assert_eq!(message.slowest, 1, "it ends last");
        }
        let cut = [interval(0, 1, 0, None), interval(0, 0, 100, Some(186))];
        assert_eq!(Account::of(&graph, 1, &cut, Time::from_us(999)).exchanges[0].end, None);
    }

    #[test]
    fn iterations_are_apart() {
        let done: Vec<Interval> = (0..3)
            .flat_map(|i| {
                [(0, 0), (1, 0), (2, 10), (3, 10)]
                    .map(|(of, at)| interval(i, of, 30 * u64::from(i) + at, Some(30 * u64::from(i) + at + 10)))
            })
            .collect();
        let account = Account::of(&graph(), 3, &done, Time::from_us(99));
        assert!(account.finished && account.exchanges.len() == 3 && account.shares.len() == 6);
        assert!(account.exchanges.iter().all(|exchange| exchange.time() == Some(Span::from_us(10))));
        assert!(!Account::of(&graph(), 4, &done, Time::from_us(99)).finished);
    }
}
