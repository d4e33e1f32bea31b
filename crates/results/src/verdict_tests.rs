//! What the deciding functions decide: published numbers, ties, zeros, and laws that hold of any numbers.

use super::chance::{Draws, cases, five_percent_of, paired_p};
use super::ranking::{About, Ranked, Ranking};
use super::verdict::winner_p;
use super::verdict::{
    ALPHA, Among, Pair, Rules, Series, Standing, Verdict, holm, smallest_effect, standing, standing_of,
};

fn series(values: &[f64]) -> Series {
    Series::of((1..).zip(values.iter().copied()))
}

fn verdict(a: &[f64], b: &[f64], delta: f64) -> Verdict {
    Pair::of(&series(a), &series(b)).unwrap().verdict(delta, ALPHA)
}

const LESS: Rules = Rules { more: false, delta: 0.05, alpha: ALPHA };

/// Eight pairs whose logarithms have this mean ratio and this 90 % interval.
fn eight(percent: f64, low: f64, high: f64) -> (Vec<f64>, Vec<f64>) {
    let log = |percent: f64| (1.0 + percent / 100.0).ln();
    // t(0.95, 7) = 1.8946.
    let deviation = (log(high) - log(low)) / 2.0 / 1.8946 * 8f64.sqrt();
    let ratio = |seed: usize| {
        let sign = if seed.is_multiple_of(2) { 1.0 } else { -1.0 };
        (log(percent) + sign * deviation * (7.0f64 / 8.0).sqrt()).exp()
    };
    // What the seeds do to both does not matter.
    let base: Vec<f64> = (0..8).map(|seed| 10.0 + 3.3 * seed as f64).collect();
    (base.iter().enumerate().map(|(seed, value)| value * ratio(seed)).collect(), base)
}

#[test]
fn worked_numbers_of_thresholds_are_judged_as_by_hand() {
    for ((percent, low, high), expected) in [
        // Kmin 50 KB, 25 KB and 400 KB against 100 KB; Kmax 1.6 MB; Pmax 0.01: storage p99.
        ((-0.5, -3.8, 2.9), Verdict::Near),
        ((2.4, -2.5, 7.5), Verdict::Unknown(Some(19))),
        ((8.8, 3.7, 14.1), Verdict::Higher),
        ((16.0, 3.1, 30.5), Verdict::Higher),
        // Storage mean, and incast p99, which misses 5 % by a hair.
        ((0.7, -0.5, 2.0), Verdict::Near),
        ((1.3, -0.5, 3.1), Verdict::Near),
        ((5.8, 2.0, 9.8), Verdict::Higher),
    ] {
        let (a, b) = eight(percent, low, high);
        assert_eq!(verdict(&a, &b, 0.05), expected, "{percent} [{low}, {high}]");
        let swapped = match expected {
            Verdict::Higher => Verdict::Lower,
            same => same,
        };
        assert_eq!(verdict(&b, &a, 0.05), swapped, "{percent} the other way round");
    }
    for (percent, low, high) in [(5.8, -1.2, 13.3), (-2.7, -5.0, -0.4), (7.4, -0.8, 16.3)] {
        let (a, b) = eight(percent, low, high);
        assert!(matches!(verdict(&a, &b, 0.05), Verdict::Unknown(Some(9..))), "{percent}: {:?}", verdict(&a, &b, 0.05));
    }
    let (a, b) = eight(8.8, 3.7, 14.1);
    let (effect, low, high) = Pair::of(&series(&a), &series(&b)).unwrap().effect().unwrap();
    // The 95 % interval is wider than the 90 % one by 2.3646 / 1.8946.
    assert!(
        (effect - 0.088).abs() < 1e-3 && (low - 0.0253).abs() < 1e-3 && (high - 0.1548).abs() < 1e-3,
        "{low} {high}"
    );
}

#[test]
fn equal_near_and_one_seed_are_told_apart() {
    assert_eq!(verdict(&[13.1, 13.1], &[13.1, 13.1], 0.05), Verdict::Equal);
    assert_eq!(verdict(&[13.1], &[13.1], 0.05), Verdict::Equal);
    // Sums in another order are the same number.
    assert_eq!(verdict(&[0.1 + 0.2, 5.0], &[0.3, 5.0], 0.05), Verdict::Equal);
    // Seeds change nothing, and 0.1 % does not matter.
    assert_eq!(verdict(&[3.4173, 3.4173, 3.4173], &[3.4206, 3.4206, 3.4206], 0.05), Verdict::Near);
    assert_eq!(verdict(&[3.4173; 3], &[3.82; 3], 0.05), Verdict::Lower);
    assert_eq!(verdict(&[3.0], &[3.1], 0.05), Verdict::Near);
    assert_eq!(verdict(&[3.0], &[9.0], 0.05), Verdict::OneSeed);
    // The limit itself does not matter.
    assert_eq!(verdict(&[105.5, 105.5], &[100.5, 100.5], 105.5 / 100.5 - 1.0 + 1e-12), Verdict::Near);
    assert_eq!(verdict(&[708.0, 1100.5], &[1051.0, 900.5], 0.05), Verdict::Unknown(Some(627)));
    assert_eq!(verdict(&[1.5, 3e9], &[9e8, 1.5], 0.001), Verdict::Unknown(None), "no number of seeds would do");
    assert!(Pair::of(&series(&[1.0]), &Series::of([(2, 1.0)])).is_none(), "no seed in common");
    assert!(Pair::of(&series(&[f64::INFINITY]), &series(&[1.0])).is_none(), "never is no number");
}

#[test]
fn counts_that_may_be_zero_are_compared_by_differences() {
    assert_eq!(verdict(&[0.0; 4], &[0.0; 4], 0.05), Verdict::Equal);
    assert_eq!(verdict(&[0.0, 0.0, 0.0], &[4775.0, 4801.0, 4790.0], 0.05), Verdict::Lower);
    assert_eq!(verdict(&[4775.0, 4801.0, 4790.0], &[0.0, 0.0, 0.0], 0.05), Verdict::Higher);
    // One frame more or less, twice, is no pattern.
    assert!(matches!(verdict(&[0.0, 0.0], &[1.0, 1.0], 0.05), Verdict::Unknown(_)));
    assert!(matches!(verdict(&[1.0, 1.0], &[2.0, 2.0], 0.05), Verdict::Unknown(_)));
    assert_eq!(verdict(&[0.0, 0.0], &[205.0, 205.0], 0.05), Verdict::Lower);
    assert_eq!(verdict(&[-1.5, -1.25], &[1.5, 1.25], 0.05), Verdict::Unknown(Some(223)));
}

#[test]
fn a_seed_twice_adds_no_certainty() {
    let (a, b) = ([5.0, 6.5], [6.0, 7.0]);
    let twice = |of: &[f64; 2]| Series::of([(1, of[0]), (2, of[1]), (1, of[0]), (2, of[1]), (2, of[1])]);
    assert_eq!(twice(&a), series(&a));
    assert_eq!(Pair::of(&twice(&a), &twice(&b)).unwrap().p(), Pair::of(&series(&a), &series(&b)).unwrap().p());
    assert_eq!(Series::of([(1, 2.0), (1, 4.0), (3, f64::NAN)]).values(), [3.0]);
    assert_eq!((series(&a).under(2), series(&a).under(3)), (Some(6.5), None));
}

#[test]
fn the_means_that_are_shown_are_not_contradicted() {
    // By the mean the first is higher, by the mean ratio it is lower.
    let (a, b) = ([1.0, 1.0, 1.0, 1.0, 900.5], [2.0, 2.0, 2.0, 2.0, 800.5]);
    assert_eq!(Pair::of(&series(&a), &series(&b)).unwrap().p(), 1.0);
    assert!(matches!(verdict(&a, &b, 0.05), Verdict::Unknown(_)));
}

#[test]
fn what_matters_hangs_on_what_is_measured() {
    for name in ["by_source.mice.slowdown.p99", "p50", "measure.tail-p999", "slowdown.max", "worst_queue.peak_bytes"] {
        assert_eq!(smallest_effect(name), 0.05, "{name}");
    }
    for name in ["pause_frames", "packets_retransmitted", "drops", "measure.p99.9"] {
        assert_eq!(smallest_effect(name), if name == "measure.p99.9" { 0.02 } else { 0.05 }, "{name}");
    }
    for name in ["job_time_us", "fct_us.mean", "goodput90_gbps", "measure.pace", "measure.power"] {
        assert_eq!(smallest_effect(name), 0.02, "{name}");
    }
}

#[test]
fn holm_takes_the_smallest_first() {
    assert_eq!(holm(&[0.01, 0.04, 0.03], 0.05, 3), [true, false, false]);
    assert_eq!(holm(&[0.01, 0.02, 0.04], 0.05, 3), [true, true, true]);
    assert_eq!(holm(&[0.01, 0.02], 0.05, 10), [false, false]);
    assert_eq!(holm(&[0.005, 0.0055], 0.05, 10), [true, true]);
    assert!(holm(&[], 0.05, 0).is_empty());
}

#[test]
fn leaders_are_those_that_nobody_is_shown_to_beat() {
    let all =
        [series(&[9.0, 9.1, 9.2]), series(&[2.0, 2.1, 1.9]), series(&[2.5, 2.6, 2.4]), series(&[2.01, 2.11, 1.91])];
    let of = standing(&all, LESS);
    assert_eq!((of.order, of.leaders, of.among, of.last), (vec![1, 3, 2, 0], vec![1, 3], Among::Near, Some(0)));
    assert_eq!((of.seeds, of.constant, of.unranked), (3, false, vec![]));
    let of = standing(&all[..3], LESS);
    assert_eq!((of.leaders, of.among), (vec![1], Among::Alone));
    let of = standing(&all[..3], Rules { more: true, ..LESS });
    assert_eq!((of.leaders, of.last), (vec![0], Some(1)));
    // Equals do not weaken what is known of the others: every one is near the best or worse.
    let of = standing(&[series(&[13.1, 13.1]), series(&[13.1, 13.1]), series(&[15.8, 16.0])], LESS);
    assert_eq!((of.leaders, of.among, of.last), (vec![0, 1], Among::Equal, Some(2)));
    // One that is neither: the others need Holm's correction.
    let unclear = series(&[2.0, 3.5, 2.4]);
    let higher = series(&[2.5, 2.5, 2.7]);
    assert_eq!(verdict(&higher.values(), &all[1].values(), 0.05), Verdict::Higher);
    let of = standing(&[all[1].clone(), higher, all[0].clone(), unclear], LESS);
    assert_eq!((of.leaders, of.last), (vec![0, 1, 3], Some(2)));
    let same = vec![series(&[2.0, 2.0]); 3];
    let of = standing(&same, LESS);
    assert_eq!((of.leaders, of.among, of.last, of.constant), (vec![0, 1, 2], Among::Equal, None, true));
    // What is missing or never comes is not ranked.
    let of = standing(&[series(&[1.0]), series(&[3.0, 3.1]), series(&[1.0, f64::INFINITY])], LESS);
    assert_eq!((of.order, of.unranked, of.among, of.last), (vec![1], vec![0, 2], Among::Alone, None));
    let none = standing(&[], LESS);
    assert_eq!((none.order.len(), none.leaders.len(), none.seeds), (0, 0, 0));
    // With one seed the order is known, and nothing of chance.
    let of = standing(&[series(&[2.0]), series(&[2.05]), series(&[3.0]), series(&[4.0])], LESS);
    assert_eq!((of.leaders, of.among, of.last), (vec![0, 1], Among::Near, Some(3)));
}

#[test]
fn a_group_is_not_favoured_for_being_large() {
    let all = [series(&[2.0, 2.2, 2.1]), series(&[2.05, 2.2, 2.1]), series(&[2.6, 2.9, 2.7]), series(&[3.0, 3.3, 3.1])];
    let groups = [0, 0, 1, 1];
    let p = |of: &[Series], groups: &[usize]| winner_p(of, groups, LESS);
    let (alone, pair) = (p(&[all[0].clone(), all[2].clone()], &[0, 1]), p(&all[..3], &[0, 0, 1]));
    assert!((2.0 * alone - pair).abs() < 1e-12 && pair < 0.05, "{alone} {pair}");
    assert_eq!(standing_of(&all, &groups, LESS).leaders, [0], "of its own group the best need not be better");
    assert_eq!(p(&all[..2], &[0, 0]), 0.0, "nobody to beat");
    assert_eq!(p(&[], &[]), 1.0);
    assert_eq!(p(&[series(&[2.0]), series(&[9.0])], &[0, 1]), 1.0, "one seed");
}

/// Numbers of several schemes over the same seeds: ties, hairs, true differences, counts, noise of any size.
struct Case {
    numbers: Vec<Vec<f64>>,
    delta: f64,
    more: bool,
    tied: bool,
}

fn case(draws: &mut Draws) -> Case {
    let (schemes, seeds) = (2 + draws.below(5), draws.one(&[1, 2, 2, 3, 3, 5, 8, 16]));
    let noise = draws.one(&[0.0, 0.001, 0.01, 0.05, 0.2, 0.8]);
    let traffic = draws.one(&[0.0, 0.1, 0.5]);
    let delta = draws.one(&[0.02, 0.05]);
    let apart = draws.one(&[0.0, 0.0, 0.0, 0.001, 0.02, 0.05, 0.1, 0.5, 3.0]);
    let counts = draws.below(4) == 0;
    let level = if counts { draws.one(&[0.0, 0.3, 2.0, 50.0, 4000.0]) } else { 12.0 };
    let shared: Vec<f64> = (0..seeds).map(|_| traffic * draws.normal()).collect();
    let effect: Vec<f64> = (0..schemes).map(|_| if apart == 0.0 { 0.0 } else { apart * draws.unit() }).collect();
    let number = |draws: &mut Draws, scheme: usize, seed: usize| {
        let value: f64 = level * (effect[scheme] + shared[seed] + noise * draws.normal()).exp();
        // A count is one of many small chances: what is left of it after rounding at random.
        if counts { (value + draws.unit()).floor() } else { value }
    };
    let numbers = (0..schemes).map(|scheme| (0..seeds).map(|seed| number(draws, scheme, seed)).collect()).collect();
    Case { numbers, delta, more: draws.below(2) == 0, tied: apart == 0.0 }
}

fn ranking(names: &[String], numbers: &[Vec<f64>], of: &Case, order: &[usize], seeds: &[usize]) -> Ranking {
    let ranked = |&at: &usize| {
        let values = seeds.iter().map(|&seed| (seed as u64, numbers[at][seed]));
        Ranked { name: names[at].clone(), series: Series::of(values) }
    };
    let about = About { more: of.more, ..About::schemes("p99", of.delta) };
    Ranking::of(order.iter().map(ranked).collect(), about)
}

/// The names at some places, in the alphabet's order.
fn named(of: &Ranking, places: &[usize]) -> Vec<String> {
    let mut names: Vec<String> = places.iter().map(|&at| of.name(at).to_owned()).collect();
    names.sort();
    names
}

#[test]
fn ten_thousand_comparisons_say_no_more_than_is_known() {
    let count = cases(1000);
    let (mut tied, mut false_winners, mut winners) = (0, 0, 0);
    for number in 0..count {
        let mut draws = Draws::new(number as u64);
        let of = case(&mut draws);
        let names: Vec<String> = (0..of.numbers.len()).map(|at| format!("s{at}")).collect();
        let mut order: Vec<usize> = (0..of.numbers.len()).collect();
        let mut seeds: Vec<usize> = (0..of.numbers[0].len()).collect();
        let told = ranking(&names, &of.numbers, &of, &order, &seeds);
        let sentence = told.sentence();
        // In whatever order schemes and seeds come, and however often a seed does.
        draws.shuffle(&mut order);
        draws.shuffle(&mut seeds);
        let again = ranking(&names, &of.numbers, &of, &order, &seeds);
        assert_eq!(again.sentence(), sentence, "case {number}");
        let twice: Vec<usize> = seeds.iter().chain(&seeds).copied().collect();
        assert_eq!(ranking(&names, &of.numbers, &of, &order, &twice).sentence(), sentence, "case {number}");
        // With other labels the same numbers lead.
        let mut labels = names.clone();
        draws.shuffle(&mut labels);
        let renamed = ranking(&labels, &of.numbers, &of, &order, &seeds);
        let translated = |name: &String| labels[names.iter().position(|known| known == name).unwrap()].clone();
        let mut expected: Vec<String> = named(&told, &told.standing.leaders).iter().map(translated).collect();
        expected.sort();
        assert_eq!(named(&renamed, &renamed.standing.leaders), expected, "case {number}");
        assert_eq!(renamed.standing.among, told.standing.among, "case {number}");
        // Who is called the best or the worst is apart from each of the others, by a test of its own.
        let at = |place: usize| &of.numbers[names.iter().position(|name| name == told.name(place)).unwrap()];
        let check = |one: usize, standing: &Standing| {
            for &other in standing.order.iter().filter(|other| **other != one) {
                let p = paired_p(at(one), at(other));
                assert!(p <= 0.05 + 1e-6, "case {number}: p = {p} in {sentence}");
            }
        };
        if seeds.len() == 1 {
            assert!(sentence.contains("one seed") && !sentence.contains("interval"), "{sentence}");
            continue;
        }
        told.standing.last.iter().for_each(|&last| check(last, &told.standing));
        if of.tied {
            tied += 1;
        }
        if told.standing.among == Among::Alone {
            check(told.standing.leaders[0], &told.standing);
            assert!(sentence.contains("; the next, "), "{sentence}");
            winners += 1;
            false_winners += usize::from(of.tied);
        } else {
            assert!(!sentence.contains("; the next, "), "{sentence}");
        }
    }
    assert!(winners > count / 20, "the law is empty: {winners} winners of {count}");
    assert!((false_winners as f64) <= five_percent_of(tied), "{false_winners} winners of {tied} ties");
}

#[test]
fn what_differs_by_as_much_as_matters_is_seldom_called_near() {
    let count = cases(1000);
    let (mut near, mut found) = (0, 0);
    for number in 0..count {
        let mut draws = Draws::new(1_000_000 + number as u64);
        let (seeds, noise) = (2 + draws.below(15), draws.one(&[0.002, 0.01, 0.03, 0.1, 0.4]));
        let delta = draws.one(&[0.02, 0.05]);
        let base: Vec<f64> = (0..seeds).map(|_| 7.0 * (0.3 * draws.normal()).exp()).collect();
        let away = |draws: &mut Draws, by: f64| -> Vec<f64> {
            base.iter().map(|value| value * by * (noise * draws.normal()).exp()).collect()
        };
        let limit = if draws.below(2) == 0 { 1.0 + delta } else { 1.0 / (1.0 + delta) };
        near += usize::from(verdict(&away(&mut draws, limit), &base, delta) == Verdict::Near);
        found += usize::from(verdict(&away(&mut draws, 1.0), &base, delta) == Verdict::Near);
    }
    assert!((near as f64) <= five_percent_of(count), "{near} of {count}");
    assert!(found > count / 5, "the law is empty: {found} of {count}");
}
