//! What a sweep found, in a few sentences about its first measure. What they may say is decided by
//! [`xoff_results::verdict`].

use crate::study::{Cell, Measure, Study};
use std::collections::BTreeMap;
use xoff_results::names::scheme_label;
use xoff_results::ranking::{About, CONSTANT, Ranked, Ranking, list, needed, seeds, share};
use xoff_results::titles::{of_number, within};
use xoff_results::verdict::{ALPHA, Among, Pair, Rules, Series, Verdict, holm, standing_of, winner_p};
use xoff_scenario::number::brief;

/// Points that differ in nothing but their schemes and the schemes' own parameters.
type Setting = Vec<usize>;

/// Who is best at a setting.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Best {
    /// One scheme, or several that are equal or near.
    Of(Vec<String>, Nearness),
    /// Unknown, for want of data.
    Unknown,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Nearness {
    Alone,
    Equal,
    Near,
}

/// A measure in the middle of a sentence: in words, or by the name that the user gave it.
fn called(measure: &Measure) -> String {
    match measure.name.strip_prefix("measure.") {
        Some(name) => name.to_owned(),
        None => within(&of_number(&measure.name)),
    }
}

impl Study<'_> {
    /// The sentences that say what was found, by the first measure.
    pub fn finding(&self) -> String {
        let Some(measure) = self.measures.first() else { return "No run yielded a number to compare.".to_owned() };
        let settings = self.settings();
        let mut sentences = match self.schemes().len() > 1 && settings.len() > 1 {
            true => self.by_setting(measure, &settings),
            false => self.by_point(measure),
        };
        if sentences.is_empty() {
            return format!("No point has {} under every seed.", called(measure));
        }
        sentences.extend(self.axes_without_effect(measure));
        let unranked = self.cells.iter().filter(|cell| !self.is_ranked(cell)).count();
        if unranked > 0 {
            sentences.push(format!(
                "{unranked} of {} points are not ranked: a run failed or has no such number.",
                self.cells.len()
            ));
        }
        sentences.join(" ")
    }

    fn is_ranked(&self, cell: &Cell<'_>) -> bool {
        let values = cell.first.values();
        values.len() == self.sweep.seeds as usize && values.iter().all(|value| value.is_finite())
    }

    /// `dcqcn (kmin = 5KB)`; without the scheme where there is but one.
    fn label(&self, cell: &Cell<'_>, with_scheme: bool) -> String {
        let set = self.sweep.axes.iter().zip(cell.values);
        let set = set.filter_map(|(axis, value)| Some(format!("{} = {}", axis.name, value.as_ref()?[0].name)));
        let place = set.collect::<Vec<_>>().join(", ");
        match (with_scheme, place.is_empty()) {
            (_, true) => scheme_label(cell.scheme).to_owned(),
            (true, false) => format!("{} ({place})", scheme_label(cell.scheme)),
            (false, false) => place,
        }
    }

    fn by_point(&self, measure: &Measure) -> Vec<String> {
        let several = self.schemes().len() > 1;
        let ranked =
            self.cells.iter().map(|cell| Ranked { name: self.label(cell, several), series: cell.first.clone() });
        let no_axes = self.cells.iter().all(|cell| cell.values.iter().all(Option::is_none));
        let at = if several || no_axes { "under" } else { "with" };
        let about = About {
            unit: if measure.unit == "1" { String::new() } else { measure.unit.clone() },
            more: measure.more,
            noun: if no_axes { "schemes" } else { "points" },
            at,
            show: brief,
            ..About::schemes(called(measure), self.delta(measure))
        };
        let ranking = Ranking::of(ranked.collect(), about);
        match &ranking.standing.order[..] {
            [] => Vec::new(),
            [only] => {
                let of = seeds(ranking.standing.seeds);
                vec![format!(
                    "The {} ({of}) is {}, {at} {}.",
                    called(measure),
                    ranking.text(*only),
                    ranking.name(*only)
                )]
            }
            _ => vec![ranking.sentence()],
        }
    }

    /// The points by what all schemes share. Parameters of single schemes are each scheme's own to choose.
    fn settings(&self) -> Vec<Setting> {
        let is_shared = |axis: &crate::axis::Axis| axis.keys.iter().all(|key| !key.starts_with("scheme."));
        let own: Vec<usize> =
            self.sweep.axes.iter().enumerate().filter(|(_, axis)| !is_shared(axis)).map(|(at, _)| at).collect();
        let mut settings: BTreeMap<String, Setting> = BTreeMap::new();
        for (at, cell) in self.cells.iter().enumerate() {
            settings.entry(self.sweep.setting(cell.values, &own)).or_default().push(at);
        }
        settings.into_values().collect()
    }

    /// Which scheme is the best at how many settings. Holm's correction over the settings: of many, one is won by
    /// chance.
    fn by_setting(&self, measure: &Measure, settings: &[Setting]) -> Vec<String> {
        let rules = |alpha| Rules { more: measure.more, delta: self.delta(measure), alpha };
        let family = |setting: &Setting| {
            let series: Vec<Series> = setting.iter().map(|&at| self.cells[at].first.clone()).collect();
            let schemes = self.schemes();
            let group = |&at: &usize| schemes.iter().position(|name| name == self.cells[at].scheme).unwrap_or(0);
            (series, setting.iter().map(group).collect::<Vec<_>>())
        };
        let families: Vec<(Vec<Series>, Vec<usize>)> = settings.iter().map(family).collect();
        let p: Vec<f64> = families.iter().map(|(series, groups)| winner_p(series, groups, rules(ALPHA))).collect();
        let won = holm(&p, ALPHA, p.len());
        let mut found: BTreeMap<Best, Vec<f64>> = BTreeMap::new();
        let (mut more, mut constant, mut ranked) = (Some(0), true, 0);
        for ((setting, (series, groups)), won) in settings.iter().zip(&families).zip(won) {
            let of = standing_of(series, groups, rules(if won { ALPHA } else { ALPHA / p.len() as f64 }));
            let several = of.order.iter().any(|&at| groups[at] != groups[of.order[0]]);
            if !several {
                continue;
            }
            (ranked, constant) = (ranked + 1, constant && of.constant);
            let mut names: Vec<String> =
                of.leaders.iter().map(|&at| scheme_label(self.cells[setting[at]].scheme).to_owned()).collect();
            names.sort();
            names.dedup();
            let best = match (names.len(), of.among) {
                (1, _) => Best::Of(names, Nearness::Alone),
                (_, Among::Equal | Among::Alone) => Best::Of(names, Nearness::Equal),
                (_, Among::Near) => Best::Of(names, Nearness::Near),
                (_, Among::Unknown(seeds)) => {
                    more = more.zip(seeds).map(|(a, b)| a.max(b));
                    Best::Unknown
                }
            };
            let next = of.order.iter().find(|&&at| groups[at] != groups[of.order[0]]);
            let mean = |at: usize| series[at].values().iter().sum::<f64>() / series[at].values().len() as f64;
            let distance = next.map_or(f64::NAN, |&next| (mean(next) / mean(of.order[0]) - 1.0).abs());
            found.entry(best).or_default().push(distance);
        }
        if ranked == 0 {
            return Vec::new();
        }
        let word = About { more: measure.more, ..About::schemes("", 0.0) }.ends().0;
        let mut parts: Vec<(usize, String)> = Vec::new();
        for (best, distances) in &found {
            let at = places(distances.len(), ranked);
            parts.push((
                distances.len(),
                match best {
                    Best::Of(names, Nearness::Alone) => {
                        format!("that of {} {at}{}", names[0], apart(distances, measure.more))
                    }
                    Best::Of(names, Nearness::Equal) => {
                        format!("that of {}, equal to the last digit, {at}", list(names, "schemes"))
                    }
                    Best::Of(names, Nearness::Near) => {
                        let delta = share(self.delta(measure));
                        format!("that of {}, less than {delta} apart, {at}", list(names, "schemes"))
                    }
                    Best::Unknown => {
                        let more = more.filter(|seeds| *seeds > 0);
                        format!(
                            "not distinguishable from the next {at}{}",
                            needed(more, self.delta(measure), (" (", ")"))
                        )
                    }
                },
            ));
        }
        // What is true of most settings comes first; a stable order keeps equals by name.
        parts.sort_by_key(|part| std::cmp::Reverse(part.0));
        let texts: Vec<String> = parts.into_iter().map(|(_, text)| text).collect();
        let count = self.sweep.seeds as usize;
        let end = if constant && count > 1 { format!("; {CONSTANT}") } else { String::new() };
        vec![format!("The {word} {} ({}) is {}{end}.", called(measure), seeds(count), texts.join("; "))]
    }

    /// Axes whose values all come to the same, at every setting of the others.
    fn axes_without_effect(&self, measure: &Measure) -> Vec<String> {
        if self.sweep.sample.is_some() {
            return Vec::new();
        }
        let sentence = |at: usize| {
            let mut groups: BTreeMap<(&str, String), Vec<&Cell<'_>>> = BTreeMap::new();
            for cell in self.cells.iter().filter(|cell| cell.values[at].is_some()) {
                groups.entry((cell.scheme, self.sweep.setting(cell.values, &[at]))).or_default().push(cell);
            }
            let cells: Vec<&Vec<&Cell<'_>>> = groups.values().filter(|cells| cells.len() > 1).collect();
            if cells.is_empty() || !cells.iter().flat_map(|of| of.iter()).all(|cell| self.is_ranked(cell)) {
                return None;
            }
            let pairs = cells.iter().flat_map(|of| {
                of.iter().enumerate().flat_map(move |(place, a)| of[place + 1..].iter().map(move |b| (a, b)))
            });
            let verdict = |(a, b): (&&Cell<'_>, &&Cell<'_>)| {
                Pair::of(&a.first, &b.first).map(|pair| pair.verdict(self.delta(measure), ALPHA))
            };
            let verdicts: Vec<Option<Verdict>> = pairs.map(verdict).collect();
            let name = &self.sweep.axes[at].name;
            let is =
                |of: &Option<Verdict>, near: bool| *of == Some(Verdict::Equal) || (near && *of == Some(Verdict::Near));
            if verdicts.iter().all(|of| is(of, false)) {
                return Some(format!("{name} has no effect here: {} is the same to the last digit.", called(measure)));
            }
            let delta = share(self.delta(measure));
            verdicts
                .iter()
                .all(|of| is(of, true))
                .then(|| format!("{name} does not matter here: its values differ by less than {delta}."))
        };
        (0..self.sweep.axes.len()).filter_map(sentence).collect()
    }
}

/// `at each of 3 settings`, `at 2 of 3 settings`.
fn places(count: usize, all: usize) -> String {
    if count == all { format!("at each of {all} settings") } else { format!("at {count} of {all} settings") }
}

/// ` (11 to 17 % below the next scheme)`.
fn apart(distances: &[f64], more: bool) -> String {
    let least = distances.iter().copied().fold(f64::INFINITY, f64::min);
    let most = distances.iter().copied().fold(0.0, f64::max);
    if !least.is_finite() || !(0.005..10.0).contains(&least) || most >= 10.0 {
        return String::new();
    }
    let [low, high] = [least, most].map(|part| format!("{:.0}", 100.0 * part));
    let span = if low == high { low } else { format!("{low} to {high}") };
    // Measured by the best itself.
    format!(" (the next scheme has {span} % {})", if more { "less" } else { "more" })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::axis::Axis;
    use crate::numbers::Number;
    use crate::plan::{Point, Sweep};
    use crate::record::Record;
    use crate::sample::Sampler;
    use crate::table::Rows;
    use std::path::Path;
    use xoff_results::chance::{Draws, cases, five_percent_of, paired_p};
    use xoff_scenario::{Options, Scenario};

    const MEASURE: &str = "slowdown.p99";

    /// A sweep whose numbers are given: by scheme, by point in the order of the axes, by seed. `None` is a failed run.
    struct Drawn {
        schemes: Vec<String>,
        axes: Vec<String>,
        numbers: Vec<Vec<Vec<Option<f64>>>>,
    }

    impl Drawn {
        fn sweep(&self) -> Sweep {
            Sweep {
                scenario: Scenario::from_text("drawn.toml", "", Path::new(".")),
                sets: Vec::new(),
                schemes: self.schemes.clone(),
                axes: self.axes.iter().map(|text| Axis::typed(text).unwrap()).collect(),
                seeds: self.numbers[0][0].len() as u64,
                first_seed: None,
                sample: None,
                sampler: Sampler::Sobol,
                measures: vec![MEASURE.to_owned()],
            }
        }

        /// With schemes, points and seeds in the order of these places.
        fn told(&self, schemes: &[usize], points: &[usize], seeds: &[usize]) -> String {
            let sweep = self.sweep();
            let (mut runs, mut records) = (Vec::new(), Vec::new());
            for &scheme in schemes {
                for &point in points {
                    for &seed in seeds {
                        let value = self.numbers[scheme][point][seed];
                        let (name, unit) = (MEASURE.to_owned(), "1".to_owned());
                        records.push(Record {
                            inputs: String::new(),
                            scheme: self.schemes[scheme].clone(),
                            failure: value.is_none().then(|| "deadlock".to_owned()),
                            gave_up: false,
                            flows: None,
                            network: vec![Number { name, unit, value: value.or(Some(0.0)), whole: false }],
                            machine: Vec::new(),
                            curves: Vec::new(),
                        });
                        // The last axis moves first.
                        let mut left = point;
                        let mut values: Vec<_> = sweep
                            .axes
                            .iter()
                            .rev()
                            .map(|axis| {
                                let of = axis.values[left % axis.values.len()].clone();
                                left /= axis.values.len();
                                Some(of)
                            })
                            .collect();
                        values.reverse();
                        let scheme = Some(self.schemes[scheme].clone());
                        runs.push(Point { scheme, values, seed: seed as u64, options: Options::default() });
                    }
                }
            }
            let rows = Rows { sweep: &sweep, points: &runs, records: &records };
            Study::of(&rows).unwrap().finding()
        }

        fn plainly(&self) -> String {
            let all = |count: usize| (0..count).collect::<Vec<_>>();
            self.told(&all(self.numbers.len()), &all(self.numbers[0].len()), &all(self.numbers[0][0].len()))
        }
    }

    fn drawn(schemes: &[&str], axes: &[&str], numbers: &[&[&[f64]]]) -> Drawn {
        let of = |seeds: &&[f64]| seeds.iter().map(|value| Some(*value)).collect();
        Drawn {
            schemes: schemes.iter().map(|name| (*name).to_owned()).collect(),
            axes: axes.iter().map(|axis| (*axis).to_owned()).collect(),
            numbers: numbers.iter().map(|points| points.iter().map(of).collect()).collect(),
        }
    }

    #[test]
    fn no_value_is_named_among_identical_runs() {
        let same: &[f64] = &[13.1, 13.1];
        let told = drawn(&["dcqcn"], &["scheme.kmin=5KB,50KB,400KB"], &[&[same; 3]]).plainly();
        assert_eq!(
            told,
            "The p99 slowdown (2 seeds) is 13.1, the same at all points; seeds change nothing here. kmin has no effect here: \
             p99 slowdown is the same to the last digit."
        );
    }

    #[test]
    fn a_tenth_of_a_percent_is_no_victory() {
        let dcqcn: &[&[f64]] = &[&[3.4173; 3], &[6.6404; 3], &[13.0865; 3]];
        let hpcc: &[&[f64]] = &[&[3.81, 3.83, 3.82], &[7.98, 7.97, 7.98], &[15.9, 15.9, 15.8]];
        let swift: &[&[f64]] = &[&[3.4206; 3], &[6.6481; 3], &[13.1030; 3]];
        let axis = &["traffic.0.degree=4,8,16"];
        assert_eq!(
            drawn(&["dcqcn", "hpcc", "swift"], axis, &[dcqcn, hpcc, swift]).plainly(),
            "The lowest p99 slowdown (3 seeds) is that of dcqcn and swift, less than 5 % apart, at each of 3 settings."
        );
        assert_eq!(
            drawn(&["dcqcn", "none"], axis, &[dcqcn, hpcc]).plainly(),
            "The lowest p99 slowdown (3 seeds) is that of dcqcn at each of 3 settings (the next scheme has 12 to 21 % more)."
        );
        assert_eq!(
            drawn(&["none", "swift"], axis, &[dcqcn, dcqcn]).plainly(),
            "The lowest p99 slowdown (3 seeds) is that of PFC only and swift, equal to the last digit, at each of 3 settings; \
             seeds change nothing here."
        );
    }

    #[test]
    fn noise_names_no_winner() {
        let of = |numbers: &[&[f64]]| drawn(&["dcqcn"], &["fault.0.at=200us,10s"], &[numbers]).plainly();
        assert_eq!(
            of(&[&[566.2, 849.8], &[1112.0, 990.3]]),
            "The points are not distinguishable by the p99 slowdown (2 seeds): 708 ± 1,802 (at = 200us) to 1,051 ± 773 (at = \
             10s); about 482 seeds would show a difference of 5 %."
        );
        assert_eq!(
            of(&[&[566.2, 577.8], &[1112.0, 1120.3]]),
            "The lowest p99 slowdown (2 seeds) is 572 ± 74, with at = 200us; the next, at = 10s, has 1,116 ± 53 (95 % more, 95 \
             % interval 80 to 112 %)."
        );
        assert!(of(&[&[566.2], &[1112.0]]).contains("(one seed)"));
        let schemes = drawn(
            &["a", "b"],
            &["traffic.0.load=0.3,0.5"],
            &[&[&[5.0, 9.0], &[7.0, 20.0]], &[&[9.0, 5.1], &[20.0, 7.1]]],
        );
        let told = schemes.plainly();
        assert!(
            told.contains("(2 seeds) is not distinguishable from the next at each of 2 settings (about "),
            "{told}"
        );
    }

    #[test]
    fn an_axis_that_does_not_matter_is_called_so_beside_one_that_does() {
        // By kmin and kmax.
        let numbers: &[&[f64]] = &[&[51.6, 51.7, 51.6], &[60.1, 60.3, 60.2], &[51.9, 51.9, 52.0], &[60.0, 60.4, 60.1]];
        let told = drawn(&["dcqcn"], &["scheme.kmin=5KB,50KB", "scheme.kmax=3MB,6MB"], &[numbers]).plainly();
        assert_eq!(
            told,
            "The lowest p99 slowdown (3 seeds) is 51.6 ± 0.1 to 51.9 ± 0.1, with kmin = 5KB, kmax = 3MB and kmin = 50KB, kmax = \
             3MB, which differ by less than 5 %. kmin does not matter here: its values differ by less than 5 %."
        );
    }

    #[test]
    fn points_with_failed_runs_are_not_ranked() {
        let mut sweep = drawn(&["a"], &["traffic.0.load=0.3,0.5,0.7"], &[&[&[3.0, 3.1], &[5.0, 5.1], &[1.0, 1.1]]]);
        sweep.numbers[0][2][1] = None;
        let told = sweep.plainly();
        assert!(told.starts_with("The lowest p99 slowdown (2 seeds) is 3.05 ± 0.64, with load = 0.3"), "{told}");
        assert!(told.ends_with("1 of 3 points are not ranked: a run failed or has no such number."), "{told}");
        sweep.numbers[0] = vec![vec![None; 2]; 3];
        assert_eq!(sweep.plainly(), "No point has p99 slowdown under every seed.");
    }

    /// A claim that one scheme wins alone: the scheme, and at how many settings.
    fn claims(told: &str) -> Vec<(&str, usize)> {
        let parts = told.split("that of ").skip(1).filter_map(|part| {
            let (name, rest) = part.split_once(" at ")?;
            let count = rest.strip_prefix("each of ").unwrap_or(rest).split(' ').next()?;
            (!name.contains([',', ' '])).then(|| (name, count.parse().unwrap()))
        });
        parts.collect()
    }

    #[test]
    fn ten_thousand_sweeps_say_no_more_than_is_known() {
        let count = cases(400);
        let (mut tied, mut false_winners, mut winners) = (0, 0, 0);
        for number in 0..count {
            let mut draws = Draws::new(2_000_000 + number as u64);
            let (schemes, settings) = (1 + draws.below(4), 2 + draws.below(3));
            let own = draws.one(&[1, 1, 2, 3]);
            let (seeds, noise) = (draws.one(&[1, 2, 3, 5, 8]), draws.one(&[0.0, 0.003, 0.03, 0.3]));
            let apart = draws.one(&[0.0, 0.0, 0.01, 0.3]);
            let mut number_of = |scheme: usize, point: usize, seed: usize| {
                let true_value = 5.0 * (1.0 + 0.5 * (point / own) as f64) * (apart * scheme as f64).exp();
                // Traffic of a seed is the same for all.
                let traffic = (0.2 * Draws::new((7 * number + seed) as u64).normal()).exp();
                Some(true_value * if noise > 0.0 { traffic * (noise * draws.normal()).exp() } else { 1.0 })
            };
            let numbers: Vec<Vec<Vec<Option<f64>>>> = (0..schemes)
                .map(|of| {
                    (0..settings * own).map(|at| (0..seeds).map(|seed| number_of(of, at, seed)).collect()).collect()
                })
                .collect();
            let list = |count: usize| (1..=count).map(|value| value.to_string()).collect::<Vec<_>>().join(",");
            let of = Drawn {
                schemes: (0..schemes).map(|at| format!("s{at}")).collect(),
                axes: vec![format!("traffic.0.load={}", list(settings)), format!("scheme.kmin={}", list(own))],
                numbers,
            };
            let told = of.plainly();
            let all = |count: usize| (0..count).collect::<Vec<_>>();
            let [mut order, mut points, mut under] = [schemes, settings * own, seeds].map(all);
            draws.shuffle(&mut order);
            draws.shuffle(&mut points);
            draws.shuffle(&mut under);
            assert_eq!(of.told(&order, &points, &under), told, "case {number}");
            assert!(!told.contains("clearly"));
            let mean = |values: &[Option<f64>]| values.iter().map(|value| value.unwrap()).sum::<f64>();
            let plain = |values: &[Option<f64>]| values.iter().map(|value| value.unwrap()).collect::<Vec<_>>();
            // A scheme that is said to win has a point that each of the others' points is apart from.
            let wins = |scheme: usize, setting: usize| {
                let own_points = || setting * own..(setting + 1) * own;
                let best =
                    own_points().min_by(|a, b| mean(&of.numbers[scheme][*a]).total_cmp(&mean(&of.numbers[scheme][*b])));
                let best = plain(&of.numbers[scheme][best.unwrap()]);
                let rivals = (0..schemes).filter(|other| *other != scheme);
                rivals.flat_map(|other| own_points().map(move |point| (other, point))).all(|(other, point)| {
                    let rival = plain(&of.numbers[other][point]);
                    rival.iter().sum::<f64>() > best.iter().sum::<f64>() && paired_p(&best, &rival) <= 0.05 + 1e-6
                })
            };
            let claims = claims(&told);
            if seeds == 1 {
                assert!(told.contains("one seed"), "{told}");
                continue;
            }
            tied += usize::from(apart == 0.0 && schemes > 1);
            false_winners += usize::from(apart == 0.0 && !claims.is_empty());
            winners += claims.len();
            for (name, at) in claims {
                let scheme: usize = name[1..].parse().unwrap();
                let shown = (0..settings).filter(|setting| wins(scheme, *setting)).count();
                assert!(at <= shown, "case {number}: {shown} of {at} settings are won by an independent test: {told}");
            }
        }
        assert!(winners > count / 20, "the law is empty: {winners} of {count}");
        assert!((false_winners as f64) <= five_percent_of(tied), "{false_winners} of {tied}");
    }
}
