//! The words of a ranking: who is best in a number, or why nobody is called that. What they say is decided by
//! [`super::verdict`].

use super::interval::Estimate;
use super::verdict::{ALPHA, Among, Pair, Rules, Series, Standing, standing};
use xoff_scenario::number::{brief, thousands};

#[derive(Clone, Debug)]
pub struct Ranked {
    /// As sentences call it.
    pub name: String,
    pub series: Series,
}

/// What a ranking is about, in words.
#[derive(Clone, Debug)]
pub struct About {
    /// `p99 slowdown of mice`.
    pub what: String,
    /// `200 flows`; may be empty.
    pub condition: String,
    /// Behind numbers; empty where they have none, or where `show` writes it.
    pub unit: String,
    pub more: bool,
    /// The smallest effect of interest, as a share.
    pub delta: f64,
    pub show: fn(f64) -> String,
    /// What is ranked, in the plural: `schemes`.
    pub noun: &'static str,
    /// What stands before a name: `under`.
    pub at: &'static str,
}

impl About {
    /// Schemes by a number of which less is better.
    pub fn schemes(what: impl Into<String>, delta: f64) -> About {
        About {
            what: what.into(),
            condition: String::new(),
            unit: String::new(),
            more: false,
            delta,
            show: brief,
            noun: "schemes",
            at: "under",
        }
    }

    /// The best and the worst that a number can be.
    pub fn ends(&self) -> (&'static str, &'static str) {
        if self.more { ("highest", "lowest") } else { ("lowest", "highest") }
    }
}

/// Several numbers and how they stand to each other.
pub struct Ranking {
    about: About,
    ranked: Vec<Ranked>,
    pub standing: Standing,
}

/// `a`, `a and b`, `a, b and c`; of many only how many there are.
pub fn list<T: AsRef<str>>(names: &[T], noun: &str) -> String {
    match names {
        [] => String::new(),
        [one] => one.as_ref().to_owned(),
        [first @ .., last] if names.len() <= 6 => {
            let first: Vec<&str> = first.iter().map(AsRef::as_ref).collect();
            format!("{} and {}", first.join(", "), last.as_ref())
        }
        many => format!("{} {noun}", many.len()),
    }
}

/// `one seed`, `3 seeds`.
pub fn seeds(count: usize) -> String {
    if count == 1 { "one seed".to_owned() } else { format!("{count} seeds") }
}

/// `5 %`.
pub fn share(delta: f64) -> String {
    let text = format!("{:.2}", 100.0 * delta);
    format!("{} %", text.trim_end_matches('0').trim_end_matches('.'))
}

/// What seeds that do not tell apart would need, between these two; empty where no number would do.
pub fn needed(seeds: Option<u64>, delta: f64, (before, behind): (&str, &str)) -> String {
    seeds.map_or_else(String::new, |seeds| {
        format!("{before}about {} seeds would show a difference of {}{behind}", thousands(seeds), share(delta))
    })
}

/// What is said when no seed changes anything.
pub const CONSTANT: &str = "seeds change nothing here";

impl Ranking {
    /// The order in which they are given counts for nothing: equals are named by the alphabet.
    pub fn of(mut ranked: Vec<Ranked>, about: About) -> Ranking {
        ranked.sort_by(|a, b| a.name.cmp(&b.name));
        let series: Vec<Series> = ranked.iter().map(|of| of.series.clone()).collect();
        let standing = standing(&series, Rules { more: about.more, delta: about.delta, alpha: ALPHA });
        Ranking { about, ranked, standing }
    }

    /// The names of those without a number under every seed.
    pub fn unranked(&self) -> Vec<&str> {
        self.names(&self.standing.unranked)
    }

    /// The name at a place of the standing.
    pub fn name(&self, at: usize) -> &str {
        &self.ranked[at].name
    }

    pub fn len(&self) -> usize {
        self.standing.order.len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// A number with its interval over seeds.
    pub fn text(&self, at: usize) -> String {
        let values = self.ranked[at].series.values();
        let text = Estimate::of(&values).map_or_else(|| "-".to_owned(), |of| of.text(self.about.show));
        if self.about.unit.is_empty() { text } else { format!("{text} {}", self.about.unit) }
    }

    fn names(&self, places: &[usize]) -> Vec<&str> {
        places.iter().map(|&at| self.ranked[at].name.as_str()).collect()
    }

    /// From the best of these to the worst, once where both are written alike.
    fn span(&self, places: &[usize]) -> String {
        let (first, last) = (self.text(places[0]), self.text(places[places.len() - 1]));
        if first == last { first } else { format!("{first} to {last}") }
    }

    /// With names at both ends.
    fn named_span(&self, places: &[usize]) -> String {
        let (first, last) = (places[0], places[places.len() - 1]);
        if self.text(first) == self.text(last) {
            return self.text(first);
        }
        let named = |at: usize| format!("{} ({})", self.text(at), self.ranked[at].name);
        format!("{} to {}", named(first), named(last))
    }

    /// `p99 slowdown of mice (200 flows, 3 seeds)`.
    fn subject(&self) -> String {
        let parts = [self.about.condition.clone(), seeds(self.standing.seeds)];
        let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        format!("{} ({})", self.about.what, parts.join(", "))
    }

    /// One or two sentences of at least two that are ranked.
    pub fn sentence(&self) -> String {
        let text = self.first_sentence();
        if self.standing.constant && self.standing.seeds > 1 {
            return format!("{text}; {CONSTANT}.");
        }
        format!("{text}.")
    }

    fn first_sentence(&self) -> String {
        let (of, subject, noun) = (&self.standing, self.subject(), self.about.noun);
        let delta = share(self.about.delta);
        if of.leaders.len() == of.order.len() {
            return match of.among {
                Among::Alone | Among::Equal => {
                    format!("The {subject} is {}, the same {}", self.span(&of.order), self.everywhere())
                }
                Among::Near => {
                    format!("The {noun} differ by less than {delta} in the {subject}: {}", self.named_span(&of.order))
                }
                Among::Unknown(more) => format!(
                    "The {noun} are not distinguishable by the {subject}: {}{}",
                    self.named_span(&of.order),
                    needed(more, self.about.delta, ("; ", ""))
                ),
            };
        }
        let (best, worst) = self.about.ends();
        let under = list(&self.names(&of.leaders), noun);
        let mut text =
            format!("The {best} {subject} is {}, {} {under}{}", self.span(&of.leaders), self.about.at, self.note());
        let next = self.next();
        if of.among == Among::Alone && !next.is_empty() {
            let has = if next.len() == 1 { "has" } else { "have" };
            let names = list(&self.names(&next), noun);
            text.push_str(&format!("; the next, {names}, {has} {}{}", self.text(next[0]), self.distance(next[0])));
        }
        if let Some(last) = of.last.filter(|last| !(of.among == Among::Alone && next.contains(last))) {
            text.push_str(&format!("; {} has the {worst}, {}", self.ranked[last].name, self.text(last)));
        }
        text
    }

    fn everywhere(&self) -> String {
        if self.about.noun == "schemes" {
            "under every scheme".to_owned()
        } else {
            format!("at all {}", self.about.noun)
        }
    }

    /// What may be said among several leaders.
    fn note(&self) -> String {
        match self.standing.among {
            Among::Alone | Among::Equal => String::new(),
            Among::Near => format!(", which differ by less than {}", share(self.about.delta)),
            Among::Unknown(more) => {
                format!(", which are not distinguishable{}", needed(more, self.about.delta, (" (", ")")))
            }
        }
    }

    /// The next best, with those that equal it.
    fn next(&self) -> Vec<usize> {
        let rest: Vec<usize> =
            self.standing.order.iter().copied().filter(|at| !self.standing.leaders.contains(at)).collect();
        let Some(&first) = rest.first() else { return Vec::new() };
        let equal = |at: &usize| self.ranked[*at].series == self.ranked[first].series;
        rest.into_iter().filter(equal).collect()
    }

    /// ` (25 % more, 95 % interval 20 to 30 %)`: by how much one is above or below the best.
    fn distance(&self, at: usize) -> String {
        let Some(pair) = Pair::of(&self.ranked[at].series, &self.ranked[self.standing.leaders[0]].series) else {
            return String::new();
        };
        let means = [at, self.standing.leaders[0]].map(|at| Estimate::of(&self.ranked[at].series.values()));
        let [Some(own), Some(best)] = means else { return String::new() };
        let (effect, low, high) = match pair.effect() {
            Some((effect, low, high)) => (effect, Some(low), high),
            None if best.mean != 0.0 => ((own.mean - best.mean) / best.mean.abs(), None, 0.0),
            None => return String::new(),
        };
        if !(0.005..10.0).contains(&effect.abs()) {
            return String::new();
        }
        let percent = |part: f64| format!("{:.0}", 100.0 * part.abs());
        let word = if effect > 0.0 { "more" } else { "less" };
        let (least, most) = if effect > 0.0 { (low, high) } else { (low.map(|_| high), low.unwrap_or(0.0)) };
        let interval = match least {
            Some(least) if percent(least) != percent(most) => {
                format!(", 95 % interval {} to {} %", percent(least), percent(most))
            }
            _ => String::new(),
        };
        format!(" ({} % {word}{interval})", percent(effect))
    }
}
