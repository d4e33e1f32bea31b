//! PCN's fluid model: N flows and one queue, a control loop at a time (appendix A of the paper).

use crate::pcn_recurrence::grow;
use crate::{Kind, ModelSpec, Parameter, Values, Yield, curve, number};
use xoff_engine::stream;

pub const SPEC: ModelSpec = ModelSpec {
    name: "pcn-fluid",
    title: "PCN's fluid model of N flows at one link",
    what: "Equations 3 to 7, loop by loop: the queue takes what exceeds C for one period T; while it holds anything \
           every flow is cut to its share of C, less w_min; else it grows as in Algorithm 1. What propositions 1 to 3 \
           derive from them (equations 8, 11, 14 to 16) is yielded beside what the loops did. Steady state is the \
           last quarter of the loops; its numbers are NaN if the first queue has not drained by then.",
    source: "PCN, NSDI 2020, section 6.1 and appendix A",
    parameters: &[
        Parameter::new("flows", Kind::Count { min: 2, max: 4096 }, "4", "N", "appendix A leaves it open"),
        Parameter::new("capacity", Kind::Rate, "40Gbps", "C", "simulations of the paper"),
        Parameter::new("period", Kind::Time, "50us", "T, a control loop", "section 5.2"),
        Parameter::new(
            "w_min",
            Kind::Number { min: 0.000001, max: 0.5 },
            "1/128",
            "discount on the receiving rate and first weight of an increase",
            "section 5.3, worked example",
        ),
        Parameter::new(
            "w_min_times_flows",
            Kind::Number { min: 0.000001, max: 1.0 },
            "",
            "in place of w_min: this, divided by N",
            "section 6.2 advises 0.1 / N",
        ),
        Parameter::new("w_max", Kind::Number { min: 0.000001, max: 1.0 }, "0.5", "limit of the weight", "section 6.2"),
        Parameter::new(
            "start",
            Kind::Choice(&["equal", "one-full", "random"]),
            "one-full",
            "rates at first: all `start_rate`; one at C and the others at C/10; uniform between 0 and C",
            "appendix A: any start",
        ),
        Parameter::new(
            "start_rate",
            Kind::Number { min: 0.0, max: 1.0 },
            "0",
            "of C, with start = \"equal\"",
            "proposition 1: below C",
        ),
        Parameter::new("seed", Kind::Count { min: 0, max: u64::MAX }, "1", "of start = \"random\"", "a choice"),
        Parameter::new(
            "periods",
            Kind::Count { min: 16, max: 10_000_000 },
            "8000",
            "loops to go through",
            "a few thousand reach steady state",
        ),
        Parameter::new(
            "curve_from",
            Kind::Count { min: 0, max: 10_000_000 },
            "0",
            "first loop of the curves",
            "a choice",
        ),
        Parameter::new("curve_loops", Kind::Count { min: 1, max: 100_000 }, "200", "loops in the curves", "a choice"),
        Parameter::new(
            "curve_x",
            Kind::Choice(&["loops", "ms"]),
            "loops",
            "x of the curves: number of the loop, or its time with T",
            "a choice",
        ),
    ],
    outputs: &[
        curve("aggregate", "Gbps", "total sending rate"),
        curve("queue", "KB", "queue at the end of each loop"),
        curve("rate_I", "Gbps", "sending rate of flow 1 to 8"),
        curve("share_1", "1", "eta, the part of flow 1 in the total rate"),
        number("aggregate_after_1", "of C", "total rate after one loop"),
        number("aggregate_error", "of C", "its distance from 1 - w_min, equation 8; NaN from a start at or below C"),
        number("drain_loops", "", "loops until the queue is empty, from a start above C; NaN from below"),
        number("drain_formula", "", "ceil(1 + (sum R(0) - C) / (w_min C)); NaN from below"),
        number(
            "queue_decay",
            "B",
            "mean fall of the queue per loop between the first and the last full one; NaN from below",
        ),
        number("queue_decay_formula", "B", "w_min C T"),
        number("k0_loops", "", "K0: loops until the total rate exceeds C, from a start at or below it; NaN from above"),
        number("fair_share_error", "1", "worst over flows: |mean rate in steady state / (C/N) - 1|"),
        number(
            "share_recursion_error",
            "1",
            "worst distance of flow 1's share from a eta + b, equation 14, over all increases",
        ),
        number("queue_peak_steady", "B", "largest queue in steady state"),
        number("queue_peak_formula", "B", "(N - 2 + w_min) w_min C T, equation 15"),
        number("queue_swing_of_ct", "1", "swing of the queue in steady state, of C T"),
        number("rate_swing", "Gbps", "swing of a flow's rate in steady state, worst over flows"),
        number("rate_swing_formula", "Gbps", "w_min C (1 - (1 - w_min) / N), exact"),
        number("rate_swing_of_wc", "1", "the swing over w_min C, its limit for many flows (equation 16)"),
        number("aggregate_swing", "of C", "swing of the total rate in steady state"),
        number("aggregate_mean", "of C", "mean of the total rate in steady state"),
        number("period_loops", "", "loops from one increase to the next in steady state; NaN if they differ"),
        number("increases_per_period", "", "increases in N loops of steady state"),
    ],
    run,
};

/// One loop's end: rates, queue and what the loop did.
struct State {
    rates_bps: Vec<f64>,
    queue_bits: f64,
    w: f64,
    increased: bool,
}

/// What stays the same.
struct Link {
    capacity_bps: f64,
    period_s: f64,
    w_min: f64,
    w_max: f64,
}

impl Link {
    /// Equations 3 to 7.
    fn step(&self, state: &mut State) {
        let total: f64 = state.rates_bps.iter().sum();
        state.queue_bits = (state.queue_bits + (total - self.capacity_bps) * self.period_s).max(0.0);
        state.increased = state.queue_bits <= 0.0;
        if state.increased {
            let w = state.w;
            for rate in &mut state.rates_bps {
                (state.w, *rate) = grow(w, *rate, self.capacity_bps, self.w_max);
            }
        } else {
            for rate in &mut state.rates_bps {
                let received = *rate / total * self.capacity_bps;
                *rate = received * (1.0 - self.w_min);
            }
            state.w = self.w_min;
        }
    }
}

fn run(values: &Values) -> Result<Yield, String> {
    let flows = values.count("flows") as usize;
    let n = flows as f64;
    let w_min = values.maybe_number("w_min_times_flows").map_or(values.number("w_min"), |times| times / n);
    let link = Link {
        capacity_bps: values.rate_bps("capacity"),
        period_s: values.time("period").as_s(),
        w_min,
        w_max: values.number("w_max"),
    };
    let c = link.capacity_bps;
    let start = |flow: usize| match values.text("start") {
        "equal" => c * values.number("start_rate"),
        "one-full" => c * if flow == 0 { 1.0 } else { 0.1 },
        _ => c * stream(values.count("seed"), "pcn fluid start", flow as u64).unit_open(),
    };
    let mut state = State { rates_bps: (0..flows).map(start).collect(), queue_bits: 0.0, w: w_min, increased: false };
    let start_total: f64 = state.rates_bps.iter().sum();
    let above = start_total > c;

    let periods = values.count("periods") as usize;
    if periods < 8 * flows {
        return Err(format!("`periods` = {periods} is too few for {flows} flows: at least 8 N = {}", 8 * flows));
    }
    if periods * flows > 1_000_000_000 {
        return Err(format!("`periods` times `flows` is {}: at most 1 000 000 000", periods * flows));
    }
    let (curve_from, curve_loops) = (values.count("curve_from") as usize, values.count("curve_loops") as usize);
    let x_of_loop = if values.text("curve_x") == "ms" { link.period_s * 1e3 } else { 1.0 };
    let mut curves = Curves::new(curve_from..curve_from + curve_loops, x_of_loop, flows);
    // The last quarter, in whole periods of N loops.
    let steady = (periods / 4 / flows).max(1) * flows;
    let mut tail = Steady::new(flows);
    let mut recursion = Recursion::new(&link, n);
    let (mut drain, mut k0, mut after_1) = (None, None, 0.0);
    let mut queues = Vec::new();
    curves.add(0, &state);
    for k in 1..=periods {
        let share_before = state.rates_bps[0] / state.rates_bps.iter().sum::<f64>();
        let (total_before, w_before): (f64, f64) = (state.rates_bps.iter().sum(), state.w);
        link.step(&mut state);
        let total: f64 = state.rates_bps.iter().sum();
        if k == 1 {
            after_1 = total / c;
        }
        if drain.is_none() {
            queues.push(state.queue_bits);
            drain = (state.queue_bits <= 0.0).then_some(k);
        }
        if k0.is_none() && total > c {
            k0 = Some(k);
        }
        if state.increased {
            recursion.check(share_before, total_before, w_before, state.rates_bps[0] / total);
        }
        curves.add(k, &state);
        if k > periods - steady {
            tail.add(&state, total);
        }
    }

    let ct_bits = c * link.period_s;
    let excess = start_total - c;
    let or_nan = |known: bool, value: f64| if known { value } else { f64::NAN };
    let loops = |at: Option<usize>| at.map_or(f64::INFINITY, |k| k as f64);
    let mut found = Yield::default();
    curves.write(&mut found);
    found.number("aggregate_after_1", after_1);
    found.number("aggregate_error", or_nan(above, (after_1 - (1.0 - w_min)).abs()));
    found.number("drain_loops", or_nan(above, loops(drain)));
    found.number("drain_formula", or_nan(above, (1.0 + excess / (w_min * c)).ceil()));
    // The loop that empties the queue takes less than a whole step.
    let whole = queues.len().saturating_sub(2);
    let decay = (queues.first().unwrap_or(&0.0) - queues.get(whole).unwrap_or(&0.0)) / whole as f64;
    found.number("queue_decay", or_nan(above && whole > 0, decay / 8.0));
    found.number("queue_decay_formula", w_min * ct_bits / 8.0);
    found.number("k0_loops", or_nan(!above, loops(k0)));
    found.number("share_recursion_error", recursion.worst);
    found.number("queue_peak_formula", (n - 2.0 + w_min) * w_min * ct_bits / 8.0);
    let exact_swing = w_min * c * (1.0 - (1.0 - w_min) / n);
    found.number("rate_swing_formula", exact_swing / 1e9);
    // While the first queue drains, nothing is steady.
    let settled = drain.is_some_and(|k| k <= periods - steady);
    tail.write(&link, settled, &mut found);
    Ok(found)
}

/// The loops that are drawn.
struct Curves {
    loops: std::ops::Range<usize>,
    x_of_loop: f64,
    /// Aggregate, queue, share of flow 1, then up to eight rates.
    rows: Vec<(f64, Vec<f64>)>,
    drawn: usize,
}

impl Curves {
    fn new(loops: std::ops::Range<usize>, x_of_loop: f64, flows: usize) -> Curves {
        Curves { loops, x_of_loop, rows: Vec::new(), drawn: flows.min(8) }
    }

    fn add(&mut self, k: usize, state: &State) {
        if self.loops.contains(&k) {
            let total: f64 = state.rates_bps.iter().sum();
            let share = if total > 0.0 { state.rates_bps[0] / total } else { f64::NAN };
            let mut row = vec![total / 1e9, state.queue_bits / 8e3, share];
            row.extend(state.rates_bps[..self.drawn].iter().map(|rate| rate / 1e9));
            self.rows.push((k as f64 * self.x_of_loop, row));
        }
    }

    fn write(&self, found: &mut Yield) {
        let names = ["aggregate".to_owned(), "queue".into(), "share_1".into()];
        let names = names.into_iter().chain((1..=self.drawn).map(|flow| format!("rate_{flow}")));
        for (column, name) in names.enumerate() {
            let points = self.rows.iter().map(|(x, row)| (*x, row[column]));
            found.curve(name, points.filter(|(_, y)| !y.is_nan()));
        }
    }
}

/// Equation 14: eta grows to a eta + b over an increase from (1 - w_min) C with the first weight.
struct Recursion {
    a: f64,
    b: f64,
    w_min: f64,
    drained_bps: f64,
    worst: f64,
}

impl Recursion {
    fn new(link: &Link, n: f64) -> Recursion {
        let kept = (1.0 - link.w_min) * (1.0 - link.w_min);
        let all = kept + n * link.w_min;
        let drained_bps = (1.0 - link.w_min) * link.capacity_bps;
        Recursion { a: kept / all, b: link.w_min / all, w_min: link.w_min, drained_bps, worst: 0.0 }
    }

    fn check(&mut self, before: f64, total_bps: f64, w: f64, after: f64) {
        // An increase after another one, or from a start below C, is not what the equation is about.
        if w == self.w_min && (total_bps / self.drained_bps - 1.0).abs() < 1e-9 {
            self.worst = self.worst.max((after - (self.a * before + self.b)).abs());
        }
    }
}

/// What is seen in steady state.
struct Steady {
    lowest_bps: Vec<f64>,
    highest_bps: Vec<f64>,
    sums_bps: Vec<f64>,
    totals_bps: Vec<f64>,
    queues_bits: Vec<f64>,
    /// Loops at which the rates grew.
    increases: Vec<usize>,
}

impl Steady {
    fn new(flows: usize) -> Steady {
        Steady {
            lowest_bps: vec![f64::INFINITY; flows],
            highest_bps: vec![0.0; flows],
            sums_bps: vec![0.0; flows],
            totals_bps: Vec::new(),
            queues_bits: Vec::new(),
            increases: Vec::new(),
        }
    }

    fn add(&mut self, state: &State, total_bps: f64) {
        for (i, rate) in state.rates_bps.iter().enumerate() {
            self.lowest_bps[i] = self.lowest_bps[i].min(*rate);
            self.highest_bps[i] = self.highest_bps[i].max(*rate);
            self.sums_bps[i] += rate;
        }
        if state.increased {
            self.increases.push(self.totals_bps.len());
        }
        self.totals_bps.push(total_bps);
        self.queues_bits.push(state.queue_bits);
    }

    fn write(&self, link: &Link, settled: bool, found: &mut Yield) {
        let mut number = |name: &str, value: f64| found.number(name, if settled { value } else { f64::NAN });
        let (n, loops) = (self.sums_bps.len() as f64, self.totals_bps.len() as f64);
        let c = link.capacity_bps;
        let error = |sum: &f64| (sum / loops / (c / n) - 1.0).abs();
        number("fair_share_error", self.sums_bps.iter().map(error).fold(0.0, f64::max));
        let (queue_low, queue_high) = ends(&self.queues_bits);
        number("queue_peak_steady", queue_high / 8.0);
        number("queue_swing_of_ct", (queue_high - queue_low) / (c * link.period_s));
        let swings = self.highest_bps.iter().zip(&self.lowest_bps).map(|(high, low)| high - low);
        let swing = swings.fold(0.0, f64::max);
        number("rate_swing", swing / 1e9);
        number("rate_swing_of_wc", swing / (link.w_min * c));
        let (total_low, total_high) = ends(&self.totals_bps);
        number("aggregate_swing", (total_high - total_low) / c);
        number("aggregate_mean", self.totals_bps.iter().sum::<f64>() / loops / c);
        number("increases_per_period", self.increases.len() as f64 * n / loops);
        let mut gaps = self.increases.windows(2).map(|pair| pair[1] - pair[0]);
        let first = gaps.next();
        let regular = first.filter(|first| gaps.all(|gap| gap == *first));
        number("period_loops", regular.map_or(f64::NAN, |gap| gap as f64));
    }
}

/// The lowest and the highest.
fn ends(values: &[f64]) -> (f64, f64) {
    values.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(*value), high.max(*value)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::run_with;

    fn close(found: f64, expected: f64, part: f64) -> bool {
        (found / expected - 1.0).abs() <= part
    }

    #[test]
    fn drains_in_as_many_loops_as_the_formula_says() {
        for (flows, loops) in [(2, 14.0), (4, 40.0), (8, 91.0), (16, 193.0)] {
            let found = run_with("pcn-fluid", &format!("flows = {flows}")).unwrap().numbers;
            assert_eq!((found["drain_loops"], found["drain_formula"]), (loops, loops), "{flows} flows");
            assert!(found["aggregate_error"] < 1e-12 && (found["aggregate_after_1"] - 127.0 / 128.0).abs() < 1e-12);
            assert!(close(found["queue_decay"], found["queue_decay_formula"], 1e-9), "{}", found["queue_decay"]);
            assert!(found["k0_loops"].is_nan());
        }
    }

    #[test]
    fn steady_state_is_that_of_propositions_2_and_3() {
        for (flows, extra) in
            [(2, ""), (4, ""), (8, ""), (16, "w_min_times_flows = 0.1"), (64, "w_min_times_flows = 0.1")]
        {
            let text = format!("flows = {flows}\nperiods = 40000\n{extra}");
            let found = run_with("pcn-fluid", &text).unwrap().numbers;
            let what = format!("{flows} flows: {found:?}");
            assert!(close(found["queue_peak_steady"], found["queue_peak_formula"], 1e-6), "{what}");
            assert!(close(found["rate_swing"], found["rate_swing_formula"], 0.01), "{what}");
            assert!(found["fair_share_error"] < 0.02 && found["share_recursion_error"] < 1e-9, "{what}");
            assert_eq!((found["period_loops"], found["increases_per_period"]), (f64::from(flows), 1.0), "{what}");
            if !extra.is_empty() {
                assert!(found["aggregate_swing"] < 0.1 && found["queue_swing_of_ct"] < 0.1, "{what}");
                assert!((0.9..=1.0).contains(&found["rate_swing_of_wc"]), "{what}");
            }
        }
        // N = 4 at 40G with T = 50 us: 3.92 KB.
        let found = run_with("pcn-fluid", "").unwrap().numbers;
        assert!((found["queue_peak_steady"] - 3920.0).abs() < 5.0, "{}", found["queue_peak_steady"]);
        // N = 10, w_min = 0.01: 20 025 B and, nearly, 0.4 Gb/s.
        let found = run_with("pcn-fluid", "flows = 10\nw_min = 0.01").unwrap().numbers;
        assert!((found["queue_peak_formula"] - 20_025.0).abs() < 1e-6);
        assert!(close(found["queue_peak_steady"], 20_025.0, 1e-6));
    }

    #[test]
    fn from_below_the_link_is_reached_in_ten_loops() {
        for (flows, most) in [(2, 10.0), (4, 9.0), (8, 9.0), (16, 9.0), (64, 9.0), (128, 9.0)] {
            let found = run_with("pcn-fluid", &format!("flows = {flows}\nstart = 'equal'")).unwrap().numbers;
            assert!(found["k0_loops"] <= most && found["k0_loops"] >= 1.0, "{flows}: {}", found["k0_loops"]);
            assert!(found["drain_loops"].is_nan() && found["drain_formula"].is_nan());
        }
        let two = run_with("pcn-fluid", "flows = 2\nstart = 'equal'").unwrap().numbers;
        assert_eq!(two["k0_loops"], 10.0);
    }

    #[test]
    fn nothing_is_steady_before_the_queue_has_drained() {
        let found = run_with("pcn-fluid", "flows = 128\nperiods = 1500").unwrap().numbers;
        assert!(found["fair_share_error"].is_nan() && found["period_loops"].is_nan());
        assert_eq!((found["drain_loops"], found["drain_formula"]), (f64::INFINITY, 1627.0));
    }

    /// Section 9.5 of the specification: 40, 20, 10 and 10 of 40 Gb/s with w_min = 0.025.
    #[test]
    fn the_worked_example() {
        let link = Link { capacity_bps: 40e9, period_s: 50e-6, w_min: 0.025, w_max: 0.5 };
        let mut state = State { rates_bps: vec![40e9, 20e9, 10e9, 10e9], queue_bits: 0.0, w: 0.025, increased: false };
        link.step(&mut state);
        assert_eq!(state.rates_bps, [19.5e9, 9.75e9, 4.875e9, 4.875e9]);
        assert_eq!(state.queue_bits, 250_000.0 * 8.0);
        link.step(&mut state);
        assert!((state.queue_bits / 8.0 - 243_750.0).abs() < 1e-6);
        let loops = (3..100).find(|_| {
            link.step(&mut state);
            state.queue_bits <= 1e-3
        });
        assert_eq!(loops, Some(41));
    }

    /// Two flows from 0.9 and 0.1: .89375, .88760, ... (section 9.6).
    #[test]
    fn shares_follow_the_recursion() {
        let link = Link { capacity_bps: 40e9, period_s: 50e-6, w_min: 1.0 / 128.0, w_max: 0.5 };
        let recursion = Recursion::new(&link, 2.0);
        assert!((recursion.a - 0.984376).abs() < 1e-6 && (recursion.b - 0.0078120).abs() < 1e-7);
        let mut state = State { rates_bps: vec![36e9, 4.1e9], queue_bits: 0.0, w: link.w_min, increased: false };
        let eta = |state: &State| state.rates_bps[0] / state.rates_bps.iter().sum::<f64>();
        let mut shares = vec![0.9f64];
        state.rates_bps = vec![0.9 * 40.01e9, 0.1 * 40.01e9];
        for _ in 0..40 {
            link.step(&mut state);
            if state.increased {
                shares.push(eta(&state));
            }
        }
        assert!((shares[1] - 0.89375).abs() < 1e-5 && (shares[2] - 0.88760).abs() < 1e-5, "{shares:?}");
    }
}
