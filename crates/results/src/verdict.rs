//! What may be said of numbers over seeds. Every sentence that ranks schemes, settings or points follows from here.
//!
//! Two series are compared seed by seed (common random numbers): by the logarithm of their ratio where all values are
//! above zero, by their difference where some are not, as counts of PAUSE frames may be. A difference is *better* or
//! *worse* if its mean exceeds the smallest effect of interest δ and a paired t test at 5 % says that it is not chance.
//! Two series are *near* if the 90 % interval of the mean lies within ±δ: two one-sided tests at 5 % (Schuirmann 1987).
//! Otherwise nobody can tell yet, and [`Verdict::Unknown`] says how many seeds would. One seed says nothing of chance.
//!
//! Of several, the best is compared with each of the others. If each is near or worse, that is said; no correction is
//! due, since all of these tests must agree. If some are neither, those are called worse that are by Holm's correction
//! over all pairs.

use xoff_engine::student;

/// Numbers of one scheme or point, by seed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Series(Vec<(u64, f64)>);

impl Series {
    /// In any order. A seed that comes twice adds no certainty: its mean counts once. What is not a number is left out.
    pub fn of(values: impl IntoIterator<Item = (u64, f64)>) -> Series {
        let mut values: Vec<(u64, f64)> = values.into_iter().filter(|(_, value)| !value.is_nan()).collect();
        values.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
        let mean = |of: &[(u64, f64)]| (of[0].0, of.iter().map(|(_, value)| value).sum::<f64>() / of.len() as f64);
        Series(values.chunk_by(|a, b| a.0 == b.0).map(mean).collect())
    }

    /// One for each seed, in the order of seeds.
    pub fn values(&self) -> Vec<f64> {
        self.0.iter().map(|(_, value)| *value).collect()
    }

    pub fn under(&self, seed: u64) -> Option<f64> {
        self.0.binary_search_by_key(&seed, |(seed, _)| *seed).ok().map(|at| self.0[at].1)
    }

    /// Whether it has a finite number under each of so many seeds.
    fn is_complete(&self, seeds: usize) -> bool {
        seeds > 0 && self.0.len() == seeds && self.0.iter().all(|(_, value)| value.is_finite())
    }

    fn mean(&self) -> f64 {
        self.0.iter().map(|(_, value)| value).sum::<f64>() / self.0.len() as f64
    }

    /// Whether every seed yields the same number.
    fn is_constant(&self) -> bool {
        self.0.iter().all(|(_, value)| same(*value, self.0[0].1))
    }
}

/// Equal but for the rounding of sums.
fn same(a: f64, b: f64) -> bool {
    a == b || (a - b).abs() <= 1e-12 * a.abs().max(b.abs())
}

/// The smallest effect of interest of a number, as a share of it, by its name in `run.json`: 5 % of percentiles,
/// maxima and counts, 2 % of means, rates and job times.
pub fn smallest_effect(name: &str) -> f64 {
    const COUNTS: [&str; 9] =
        ["frames", "drops", "timeouts", "retransmitted", "naks", "marks", "notifications", "storms", "deadlocks"];
    let last = name.rsplit(['.', '-', '_', ' ']).next().unwrap_or(name);
    let percentile = last.strip_prefix('p').is_some_and(|digits| digits.parse::<f64>().is_ok());
    let extreme = matches!(last, "max" | "slowest") || name.ends_with("peak_bytes");
    if percentile || extreme || COUNTS.contains(&last) { 0.05 } else { 0.02 }
}

/// What may be said of one series beside another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Verdict {
    /// The same number under every seed.
    Equal,
    /// Less than δ apart.
    Near,
    /// Lower by more than δ, and not by chance.
    Lower,
    /// Higher by more than δ, and not by chance.
    Higher,
    /// More than δ apart under the only seed.
    OneSeed,
    /// Neither near nor apart; with about so many seeds one could tell, if any number would do.
    Unknown(Option<u64>),
}

/// Two series seed by seed.
#[derive(Clone, Copy, Debug)]
pub struct Pair {
    seeds: usize,
    equal: bool,
    /// Mean of the logarithms of the ratios, or of the differences.
    mean: f64,
    /// Standard deviation over the seeds.
    deviation: f64,
    ratio: bool,
    /// Half the sum of the means: what differences are measured by.
    level: f64,
    /// Whether the means that tables show are in the same order.
    agrees: bool,
}

/// Probability of a wrong claim that is taken into account.
pub const ALPHA: f64 = 0.05;
/// Leaders of which each is compared with each.
const MOST_PAIRED: usize = 500;
/// More seeds than anyone runs.
const MOST_SEEDS: f64 = 100_000.0;

impl Pair {
    /// `None` without a seed under which both have a finite number.
    pub fn of(a: &Series, b: &Series) -> Option<Pair> {
        let both = a.0.iter().filter_map(|(seed, value)| Some((*value, b.under(*seed)?)));
        let both: Vec<(f64, f64)> = both.filter(|(a, b)| a.is_finite() && b.is_finite()).collect();
        if both.is_empty() {
            return None;
        }
        let seeds = both.len();
        let count = seeds as f64;
        let ratio = both.iter().all(|(a, b)| *a > 0.0 && *b > 0.0);
        let steps: Vec<f64> = both.iter().map(|(a, b)| if ratio { libm::log(a / b) } else { a - b }).collect();
        let mean = steps.iter().sum::<f64>() / count;
        let squares = steps.iter().map(|step| (step - mean).powi(2)).sum::<f64>();
        let variance = if seeds > 1 { squares / (count - 1.0) } else { 0.0 };
        let (mean_a, mean_b) =
            (both.iter().map(|(a, _)| a).sum::<f64>() / count, both.iter().map(|(_, b)| b).sum::<f64>() / count);
        // Whole numbers are known no better than to a half: few of them may agree by chance.
        let whole = both.iter().all(|(a, b)| a.fract() == 0.0 && b.fract() == 0.0);
        let rounding = match (whole, ratio) {
            (false, _) => 0.0,
            (true, true) => (mean_a.powi(-2) + mean_b.powi(-2)) / 12.0,
            (true, false) => 2.0 / 12.0,
        };
        let equal = both.iter().all(|(a, b)| same(*a, *b));
        let deviation = if equal { 0.0 } else { variance.max(rounding).sqrt() };
        let level = (mean_a.abs() + mean_b.abs()) / 2.0;
        let agrees = (mean_a - mean_b) * mean > 0.0;
        Some(Pair { seeds, equal, mean, deviation, ratio, level, agrees })
    }

    fn error(&self) -> f64 {
        self.deviation / (self.seeds as f64).sqrt()
    }

    /// The largest difference that does not matter.
    fn margin(&self, delta: f64) -> f64 {
        if self.ratio { libm::log1p(delta) } else { delta * self.level }
    }

    /// Probability of such a difference between series that do not differ (two-sided paired t test).
    pub fn p(&self) -> f64 {
        if self.seeds < 2 || self.equal || !self.agrees {
            return 1.0;
        }
        student::two_sided(self.mean / self.error(), self.seeds - 1)
    }

    /// Whether a one-sided test at 5 % says that the mean is less than `room` away from the one measured: half the 90 %
    /// interval is no wider.
    fn is_below(&self, room: f64) -> bool {
        self.error() == 0.0 || student::two_sided(room / self.error(), self.seeds - 1) <= 2.0 * ALPHA
    }

    /// By how much the first is above the second, as a share of the second, with its 95 % interval; where there are
    /// ratios, and several seeds that vary.
    pub fn effect(&self) -> Option<(f64, f64, f64)> {
        if !self.ratio || self.seeds < 2 || self.error() < 1e-9 {
            return None;
        }
        let half = student::quantile(ALPHA, self.seeds - 1) * self.error();
        Some((libm::expm1(self.mean), libm::expm1(self.mean - half), libm::expm1(self.mean + half)))
    }

    /// What may be said, if chance may claim a difference with probability `alpha`.
    pub fn verdict(&self, delta: f64, alpha: f64) -> Verdict {
        let (margin, size) = (self.margin(delta), self.mean.abs());
        if self.equal {
            return Verdict::Equal;
        }
        if self.seeds < 2 {
            return if size <= margin { Verdict::Near } else { Verdict::OneSeed };
        }
        if size <= margin && self.is_below(margin - size) {
            return Verdict::Near;
        }
        if size > margin && self.p() <= alpha {
            return if self.mean < 0.0 { Verdict::Lower } else { Verdict::Higher };
        }
        // As many as show equals to be near with a probability of 90 %.
        let needed = (2.9 * self.deviation / margin).powi(2).ceil().max((self.seeds + 1) as f64);
        Verdict::Unknown((needed <= MOST_SEEDS).then_some(needed as u64))
    }
}

/// What may be said among those of whom none is better than all others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Among {
    /// There is only one.
    Alone,
    /// They are the same to the last digit.
    Equal,
    /// They are less than δ apart, each from each.
    Near,
    /// They cannot be told apart; with about so many seeds one could.
    Unknown(Option<u64>),
}

/// How several series stand to each other. Numbers are places in the list that was given.
#[derive(Clone, Debug, PartialEq)]
pub struct Standing {
    /// Best mean first; equals in the order in which they were given.
    pub order: Vec<usize>,
    /// The best, and those that are not shown to be worse; best mean first. Alone, it is better than all others.
    pub leaders: Vec<usize>,
    /// What may be said among the leaders.
    pub among: Among,
    /// The one that is worse than all others.
    pub last: Option<usize>,
    /// Those without a finite number under every seed: they are not ranked.
    pub unranked: Vec<usize>,
    /// Seeds behind it; a statement about chance takes two.
    pub seeds: usize,
    /// Whether every series has one number, whatever the seed.
    pub constant: bool,
}

/// How a family of series is judged.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    pub more: bool,
    /// The smallest effect of interest, as a share.
    pub delta: f64,
    /// How likely chance may name a winner.
    pub alpha: f64,
}

/// Series as they are ranked, with the group (the scheme) of each.
struct Family<'a> {
    series: &'a [Series],
    groups: &'a [usize],
    rules: Rules,
}

/// How these stand to each other, each for itself.
pub fn standing(series: &[Series], rules: Rules) -> Standing {
    standing_of(series, &(0..series.len()).collect::<Vec<_>>(), rules)
}

/// How these stand to each other, where several belong to one group: the winner is a group, that of the best.
pub fn standing_of(series: &[Series], groups: &[usize], rules: Rules) -> Standing {
    let family = Family { series, groups, rules };
    let mut seeds: Vec<u64> = series.iter().flat_map(|of| of.0.iter().map(|(seed, _)| *seed)).collect();
    seeds.sort_unstable();
    seeds.dedup();
    let (mut order, unranked): (Vec<usize>, Vec<usize>) =
        (0..series.len()).partition(|&at| series[at].is_complete(seeds.len()));
    let better = |a: f64, b: f64| if rules.more { b.total_cmp(&a) } else { a.total_cmp(&b) };
    // Means that differ by the rounding of sums are equal.
    let mean = |at: usize| series[at].mean();
    order.sort_by(|&a, &b| if same(mean(a), mean(b)) { a.cmp(&b) } else { better(mean(a), mean(b)) });
    let constant = order.iter().all(|&at| series[at].is_constant());
    let leaders = family.leaders(&order);
    let among = family.among(&leaders);
    let last = family.last(&order);
    Standing { order, leaders, among, last, unranked, seeds: seeds.len(), constant }
}

/// The probability with which chance would set the best of these apart from those that are not near it, for [`holm`]
/// over several settings.
pub fn winner_p(series: &[Series], groups: &[usize], rules: Rules) -> f64 {
    let order = standing_of(series, groups, rules).order;
    Family { series, groups, rules }.winner_p(&order)
}

impl Family<'_> {
    /// Both are ranked, so they share all seeds.
    fn pair(&self, a: usize, b: usize) -> Option<Pair> {
        Pair::of(&self.series[a], &self.series[b])
    }

    fn verdict(&self, a: usize, b: usize, alpha: f64) -> Verdict {
        self.pair(a, b).map_or(Verdict::Unknown(None), |pair| pair.verdict(self.rules.delta, alpha))
    }

    /// Whether a verdict of the first beside the second says that the first is better.
    fn wins(&self, verdict: Verdict) -> bool {
        verdict == if self.rules.more { Verdict::Higher } else { Verdict::Lower }
    }

    /// The largest probability among those of the tests by which every rival is near the best or worse; 1 if one is
    /// neither. A group of several has as many chances.
    fn winner_p(&self, order: &[usize]) -> f64 {
        let Some(&best) = order.first() else { return 1.0 };
        let own = order.iter().filter(|&&at| self.groups[at] == self.groups[best]).count();
        let p = |&at: &usize| if self.is_near(best, at) { 0.0 } else { self.worse_p(best, at) };
        own as f64 * self.rivals(order).iter().map(p).fold(0.0, f64::max)
    }

    /// Those of other groups than the best.
    fn rivals(&self, order: &[usize]) -> Vec<usize> {
        order.iter().copied().filter(|&at| self.groups[at] != self.groups[order[0]]).collect()
    }

    fn is_near(&self, a: usize, b: usize) -> bool {
        matches!(self.verdict(a, b, 0.0), Verdict::Equal | Verdict::Near)
    }

    /// The probability with which chance would call the other worse than the best; 1 if the difference does not matter.
    fn worse_p(&self, best: usize, other: usize) -> f64 {
        match self.pair(best, other) {
            Some(pair) if self.wins(pair.verdict(self.rules.delta, 1.0)) => pair.p(),
            _ => 1.0,
        }
    }

    fn leaders(&self, order: &[usize]) -> Vec<usize> {
        let Some((&best, others)) = order.split_first() else { return Vec::new() };
        let with_best = |rest: Vec<usize>| std::iter::once(best).chain(rest).collect();
        let rivals = self.rivals(order);
        if !rivals.is_empty() && self.winner_p(order) <= self.rules.alpha {
            return with_best(rivals.into_iter().filter(|&at| self.is_near(best, at)).collect());
        }
        // Holm over all pairs, of which those with the best are looked at.
        let p: Vec<f64> = others.iter().map(|&at| self.worse_p(best, at)).collect();
        let worse = holm(&p, self.rules.alpha, order.len() * (order.len() - 1) / 2);
        let one_seed = |at: usize| self.verdict(best, at, 0.0) == Verdict::OneSeed;
        let rest = others.iter().zip(worse).filter(|(at, worse)| !worse && !one_seed(**at)).map(|(at, _)| *at);
        with_best(rest.collect())
    }

    fn among(&self, leaders: &[usize]) -> Among {
        let mut among = if leaders.len() > 1 { Among::Equal } else { Among::Alone };
        let mut needed = Some(0);
        // Of very many, whether they equal the best is all that is asked.
        let all = leaders.len() <= MOST_PAIRED;
        for (place, &a) in leaders.iter().enumerate().take(if all { leaders.len() } else { 1 }) {
            for &b in &leaders[place + 1..] {
                match self.verdict(a, b, self.rules.alpha) {
                    Verdict::Equal => {}
                    Verdict::Near if among == Among::Equal => among = Among::Near,
                    Verdict::Near => {}
                    Verdict::Unknown(seeds) => {
                        needed = needed.zip(seeds).map(|(a, b)| a.max(b));
                        among = Among::Unknown(needed);
                    }
                    // Apart from each other, though neither is from the best.
                    _ if matches!(among, Among::Unknown(_)) => {}
                    _ => among = Among::Unknown(needed.filter(|seeds| *seeds > 0)),
                }
            }
        }
        if among == Among::Near && !all { Among::Unknown(None) } else { among }
    }

    fn last(&self, order: &[usize]) -> Option<usize> {
        let (&last, others) = order.split_last()?;
        let worse = |&at: &usize| {
            let verdict = self.verdict(at, last, self.rules.alpha);
            self.wins(verdict) || verdict == Verdict::OneSeed
        };
        (!others.is_empty() && others.iter().all(worse)).then_some(last)
    }
}

/// Which of these probabilities are small enough, by Holm's correction for `tests` of them.
pub fn holm(p: &[f64], alpha: f64, tests: usize) -> Vec<bool> {
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_by(|&a, &b| p[a].total_cmp(&p[b]));
    let mut small = vec![false; p.len()];
    for (before, at) in order.into_iter().enumerate() {
        if p[at] * tests.saturating_sub(before).max(1) as f64 > alpha {
            break;
        }
        small[at] = true;
    }
    small
}
