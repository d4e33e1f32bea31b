//! What the differential equations of QCN and FQCN share: one link, sources with a fixed target, a
//! marking probability that is a steep function of the load, and a Lyapunov function.

use crate::runge_kutta::RungeKutta;
use crate::{Kind, Output, Parameter, Values, Yield, curve, number};
use xoff_engine::stream;

/// How a source's rate moves, and the potential that it climbs.
pub trait Law {
    /// dR_i/dt at marking probability `p`, for feedback `psi`.
    fn slope(&self, link: &Link, rate: f64, target: f64, psi: f64, p: f64) -> f64;

    /// Its part of the Lyapunov function: the integral of dJ/dR_i + p from 0 to the rate.
    fn potential(&self, link: &Link, rate: f64, target: f64, psi: f64) -> f64;

    /// Feedback of each source at a sampling event.
    fn feedback(&self, link: &Link, rates: &[f64]) -> Vec<f64>;

    /// An upper bound of the decrease of all rates together, relative to p, per second.
    fn fastest(&self, link: &Link, targets: &[f64]) -> f64;
}

/// The link and the constants of both schemes, in bits and seconds.
pub struct Link {
    pub capacity: f64,
    /// Width of the logistic function in place of the marking probability.
    pub width: f64,
    /// K
    pub packet_bits: f64,
    /// 16 BL, with BL in bytes: twice the bits of a byte-counter cycle.
    pub cycle_bits: f64,
    pub gd: f64,
    pub psi: f64,
}

impl Link {
    /// p_l of the load. Tends to the paper's step at C as the width shrinks.
    pub fn marking(&self, load: f64) -> f64 {
        1.0 / (1.0 + libm::exp((self.capacity - load) / self.width))
    }

    /// P_l: its integral from 0.
    pub fn marked(&self, load: f64) -> f64 {
        let soft = |x: f64| if x > 0.0 { x + libm::log1p(libm::exp(-x)) } else { libm::log1p(libm::exp(x)) };
        self.width * (soft((load - self.capacity) / self.width) - soft(-self.capacity / self.width))
    }
}

/// What an integration yields, whichever law it follows.
pub const OUTPUTS: &[Output] = &[
    curve("rate_I", "Gbps", "rate of source 1 to 8 over time in ms, first start"),
    curve("second_I", "Gbps", "the same from the second start"),
    curve("lyapunov", "Gbps", "the Lyapunov function over time, first start"),
    number(
        "lyapunov_worst_decrease",
        "1",
        "largest fall of the Lyapunov function in a step, over its whole rise; worst over starts",
    ),
    number("end_I", "Gbps", "mean rate of source 1 to 16 in the last tenth, first start"),
    number("spread", "1", "largest difference between starts in a source's end rate, of C/N"),
    number("sum", "of C", "total of the end rates"),
    number(
        "distance_max_min",
        "1",
        "Euclidean distance of the end rates from max-min shares under the targets, relative to those",
    ),
    number("distance_proportional", "1", "the same from shares in proportion to the targets"),
];

pub const CAPACITY: Parameter = Parameter::new("capacity", Kind::Rate, "10Gbps", "C", "section VI");
pub const TARGETS: Parameter = Parameter::new(
    "targets",
    Kind::Rates,
    "2Gbps, 4Gbps, 6Gbps, 8Gbps",
    "RT_i, the target rate of each source, which stays",
    "assumption: the paper leaves them open",
);
pub const PSI: Parameter = Parameter::new(
    "psi",
    Kind::Number { min: 0.01, max: 64.0 },
    "5",
    "Psi, the quantised feedback of a sampling event",
    "assumption: the paper leaves it open",
);
pub const GD: Parameter = Parameter::new(
    "gd",
    Kind::Number { min: 0.0001, max: 0.1 },
    "1/128",
    "G_d, relative cut per unit of feedback",
    "section VI",
);
pub const BYTE_COUNTER: Parameter =
    Parameter::new("byte_counter", Kind::Bytes, "150KB", "BL, bytes of a cycle of the byte counter", "section VI");
pub const PACKET: Parameter =
    Parameter::new("packet", Kind::Bytes, "1500B", "K, size of a packet", "assumption: full Ethernet frames");
pub const WIDTH: Parameter = Parameter::new(
    "width",
    Kind::Number { min: 0.0005, max: 0.1 },
    "0.002",
    "width of the logistic marking probability, of C",
    "assumption: 0.2 % to 1 %; the paper lets it tend to zero",
);
pub const STARTS: Parameter = Parameter::new(
    "starts",
    Kind::Count { min: 1, max: 100 },
    "3",
    "starting points: all low; all near their targets; the first high and the others low; then random ones",
    "proposition 1: any start",
);
pub const SEED: Parameter =
    Parameter::new("seed", Kind::Count { min: 0, max: u64::MAX }, "1", "of random starts", "a choice");
pub const STEP: Parameter = Parameter::new(
    "step",
    Kind::Time,
    "250ns",
    "step of the integration (Runge-Kutta, order 4), and one sampling event",
    "fixed, so that results do not depend on the machine; below the limit of stability",
);
pub const DURATION: Parameter =
    Parameter::new("duration", Kind::Time, "50ms", "time to integrate", "long enough to settle");

/// One trajectory, step by step.
struct Trajectory<'a, L> {
    law: &'a L,
    link: &'a Link,
    targets: &'a [f64],
    /// Held from one step to the next: a sampling event per step.
    psi: Vec<f64>,
    rates: Vec<f64>,
    /// The Lyapunov function, its least and greatest value, and its largest fall in one step.
    j: f64,
    least: f64,
    greatest: f64,
    largest_fall: f64,
    steps: usize,
    every: usize,
    /// Rates and Lyapunov function at every so many steps.
    record: Vec<(Vec<f64>, f64)>,
    /// Sums of the rates since the last tenth began.
    end_from: usize,
    end_sums: Vec<f64>,
}

impl<'a, L: Law> Trajectory<'a, L> {
    fn new(law: &'a L, link: &'a Link, targets: &'a [f64], start: Vec<f64>, steps: usize) -> Trajectory<'a, L> {
        let psi = law.feedback(link, &start);
        let mut trajectory = Trajectory {
            law,
            link,
            targets,
            psi,
            end_sums: vec![0.0; start.len()],
            rates: start,
            j: 0.0,
            least: 0.0,
            greatest: 0.0,
            largest_fall: 0.0,
            steps: 0,
            every: steps.div_ceil(500),
            record: Vec::new(),
            end_from: steps - steps / 10,
        };
        let j = trajectory.lyapunov(&trajectory.rates);
        (trajectory.j, trajectory.least, trajectory.greatest) = (j, j, j);
        trajectory.record.push((trajectory.rates.clone(), j));
        trajectory
    }

    /// J with the feedback of this step.
    fn lyapunov(&self, rates: &[f64]) -> f64 {
        let own: f64 = rates
            .iter()
            .zip(self.targets)
            .zip(&self.psi)
            .map(|((rate, target), psi)| self.law.potential(self.link, *rate, *target, *psi))
            .sum();
        own - self.link.marked(rates.iter().sum())
    }

    fn slopes(&self, rates: &[f64], slopes: &mut [f64]) {
        let p = self.link.marking(rates.iter().sum());
        for (i, slope) in slopes.iter_mut().enumerate() {
            *slope = self.law.slope(self.link, rates[i], self.targets[i], self.psi[i], p);
        }
    }

    /// A step that led to `rates`. J is a function of the rates for one feedback, so its change is
    /// taken before the next sampling event tells the sources something else.
    fn arrive(&mut self, rates: &[f64]) {
        let rise = self.lyapunov(rates) - self.lyapunov(&self.rates);
        self.j += rise;
        (self.least, self.greatest) = (self.least.min(self.j), self.greatest.max(self.j));
        self.largest_fall = self.largest_fall.max(-rise);
        self.rates.copy_from_slice(rates);
        self.steps += 1;
        if self.steps.is_multiple_of(self.every) {
            self.record.push((self.rates.clone(), self.j));
        }
        if self.steps > self.end_from {
            self.end_sums.iter_mut().zip(rates).for_each(|(sum, rate)| *sum += rate);
        }
        self.psi = self.law.feedback(self.link, rates);
    }
}

pub fn run(values: &Values, law: &impl Law) -> Result<Yield, String> {
    let capacity = values.rate_bps("capacity");
    let link = Link {
        capacity,
        width: values.number("width") * capacity,
        packet_bits: values.bytes("packet") as f64 * 8.0,
        cycle_bits: values.bytes("byte_counter") as f64 * 16.0,
        gd: values.number("gd"),
        psi: values.number("psi"),
    };
    let targets = values.rates_bps("targets");
    let sources = targets.len();
    if !(1..=64).contains(&sources) || targets.contains(&0.0) {
        return Err("`targets` must hold between 1 and 64 rates above zero".into());
    }
    if link.packet_bits == 0.0 || link.cycle_bits == 0.0 {
        return Err("`packet` and `byte_counter` must be above zero".into());
    }
    let step_s = values.time("step").as_s();
    let steps = (values.time("duration").as_s() / step_s).round() as usize;
    if !(100..=20_000_000).contains(&steps) {
        return Err(format!("`duration` must hold between 100 and 20 000 000 steps, not {steps}"));
    }
    let work = steps as u64 * sources as u64 * values.count("starts");
    if work > 2_000_000_000 {
        return Err(format!("steps times sources times starts is {work}: at most 2 000 000 000"));
    }
    // Runge-Kutta of order 4 is stable up to 2.78 over the fastest decay; the marking probability
    // rises by at most 1 / 4 of its width.
    let fastest = law.fastest(&link, &targets) / (4.0 * link.width);
    if step_s * fastest > 2.5 {
        let longest = 2.5 / fastest * 1e9;
        return Err(format!("`step` is too long for this `width`: at most {longest:.0}ns"));
    }

    let mut ends: Vec<Vec<f64>> = Vec::new();
    let mut worst_fall = 0.0f64;
    let mut found = Yield::default();
    for start in 0..values.count("starts") {
        let rates = starting_rates(start, values.count("seed"), &targets, capacity);
        let mut trajectory = Trajectory::new(law, &link, &targets, rates, steps);
        let (mut method, mut rates) = (RungeKutta::new(sources, step_s), trajectory.rates.clone());
        while trajectory.steps < steps {
            method.advance(&mut rates, |at, slopes| trajectory.slopes(at, slopes));
            trajectory.arrive(&rates);
        }
        let rise = trajectory.greatest - trajectory.least;
        worst_fall = worst_fall.max(if rise > 0.0 { trajectory.largest_fall / rise } else { 0.0 });
        let averaged = (steps - trajectory.end_from) as f64;
        ends.push(trajectory.end_sums.iter().map(|sum| sum / averaged).collect());
        draw(&mut found, start, &trajectory, step_s);
    }
    let end = &ends[0];
    found.number("lyapunov_worst_decrease", worst_fall);
    for (i, rate) in end.iter().take(16).enumerate() {
        found.number(format!("end_{}", i + 1), rate / 1e9);
    }
    let share = capacity / sources as f64;
    let spread = |i: usize| {
        let of_source = || ends.iter().map(|end| end[i]);
        (of_source().fold(0.0, f64::max) - of_source().fold(f64::INFINITY, f64::min)) / share
    };
    found.number("spread", (0..sources).map(spread).fold(0.0, f64::max));
    found.number("sum", end.iter().sum::<f64>() / capacity);
    found.number("distance_max_min", distance(end, &max_min(&targets, capacity)));
    found.number("distance_proportional", distance(end, &proportional(&targets, capacity)));
    Ok(found)
}

/// The rates of the first two starts, and the Lyapunov function of the first.
fn draw<L>(found: &mut Yield, start: u64, trajectory: &Trajectory<'_, L>, step_s: f64) {
    let at_ms = |record: usize| (record * trajectory.every) as f64 * step_s * 1e3;
    let name = match start {
        0 => "rate",
        1 => "second",
        _ => return,
    };
    let record = || trajectory.record.iter().enumerate();
    for i in 0..trajectory.targets.len().min(8) {
        let points = record().map(|(k, (rates, _))| (at_ms(k), rates[i] / 1e9));
        found.curve(format!("{name}_{}", i + 1), points);
    }
    if start == 0 {
        found.curve("lyapunov", record().map(|(k, (_, j))| (at_ms(k), j / 1e9)));
    }
}

/// Between zero and the target, where both potentials are defined.
fn starting_rates(start: u64, seed: u64, targets: &[f64], capacity: f64) -> Vec<f64> {
    let low = 0.01 * capacity / targets.len() as f64;
    let rate = |(i, target): (usize, &f64)| match start {
        0 => low.min(0.5 * target),
        1 => 0.95 * target,
        2 if i == 0 => 0.95 * target,
        2 => low.min(0.5 * target),
        _ => target * stream(seed, "rate ode start", start * 64 + i as u64).unit_open().min(0.999),
    };
    targets.iter().enumerate().map(rate).collect()
}

/// Max-min shares of a link among sources that take at most their targets.
pub fn max_min(targets: &[f64], capacity: f64) -> Vec<f64> {
    let mut order: Vec<usize> = (0..targets.len()).collect();
    order.sort_by(|a, b| targets[*a].total_cmp(&targets[*b]));
    let (mut left, mut shares) = (capacity, vec![0.0; targets.len()]);
    for (done, i) in order.iter().enumerate() {
        shares[*i] = targets[*i].min(left / (targets.len() - done) as f64);
        left -= shares[*i];
    }
    shares
}

/// Shares in proportion to the targets, which they do not exceed.
pub fn proportional(targets: &[f64], capacity: f64) -> Vec<f64> {
    let part = (capacity / targets.iter().sum::<f64>()).min(1.0);
    targets.iter().map(|target| target * part).collect()
}

/// Euclidean, relative to what it is the distance from.
fn distance(rates: &[f64], from: &[f64]) -> f64 {
    let squares = |values: &mut dyn Iterator<Item = f64>| values.map(|value| value * value).sum::<f64>();
    let apart = squares(&mut rates.iter().zip(from).map(|(a, b)| a - b));
    (apart / squares(&mut from.iter().copied())).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    pub fn link() -> Link {
        Link { capacity: 10e9, width: 20e6, packet_bits: 12e3, cycle_bits: 2.4e6, gd: 1.0 / 128.0, psi: 5.0 }
    }

    #[test]
    fn marking_is_the_slope_of_what_was_marked() {
        let link = link();
        assert_eq!(link.marking(10e9), 0.5);
        assert!(link.marking(9.8e9) < 1e-4 && link.marking(10.2e9) > 0.9999);
        for load in [9.9e9, 9.99e9, 10e9, 10.01e9, 10.3e9] {
            let slope = (link.marked(load + 1e3) - link.marked(load - 1e3)) / 2e3;
            assert!((slope - link.marking(load)).abs() < 1e-5, "{load}: {slope}");
        }
        assert_eq!(link.marked(0.0), 0.0);
    }

    #[test]
    fn shares() {
        let targets = [2e9, 4e9, 6e9, 8e9];
        let expected = [2e9, 8e9 / 3.0, 8e9 / 3.0, 8e9 / 3.0];
        assert!(max_min(&targets, 10e9).iter().zip(expected).all(|(a, b)| (a - b).abs() < 1.0));
        assert_eq!(proportional(&targets, 10e9), [1e9, 2e9, 3e9, 4e9]);
        assert_eq!((max_min(&targets, 30e9), proportional(&targets, 30e9)), (targets.into(), targets.into()));
        assert_eq!(distance(&[3.0, 4.0], &[3.0, 4.0]), 0.0);
        assert_eq!(distance(&[0.0, 0.0], &[3.0, 4.0]), 1.0);
    }
}
