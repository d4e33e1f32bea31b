//! How slow a scenario must be for this machine: the smallest `k` at which it keeps up.
//!
//! First nobody waits: frames go through the kernel as fast as they can, and every window of the scenario shows how
//! much real time it takes. That gives a candidate; trials at it, and above it while the clock slips, decide.

use crate::clock::Kind;
use crate::drive::Stage;
use crate::testbed::Testbed;
use std::io;
use std::time::Duration;
use xoff_engine::Time;

/// Real time that the first pass may take, and each trial.
const PASS: Duration = Duration::from_millis(1500);
const TRIAL: Duration = Duration::from_millis(1200);
/// What is kept free beside what the busiest windows need.
const MARGIN: f64 = 1.15;
/// A trial that slips less than this passes: a run is longer, and meets more of what else the machine does.
const SLIP: f64 = 0.015;
const TRIALS: usize = 6;

#[derive(Clone, Copy, Debug)]
pub struct Found {
    /// The smallest that passed a trial; if none did, the one that slipped least.
    pub k: f64,
    /// The share of time in which the clock stood still in its trial.
    pub slip: f64,
    /// Whether it passed.
    pub keeps_up: bool,
}

/// The smallest `k` of 1, 1.5, 2, 3, 5, 7, 10, ... at which this machine keeps up.
pub fn calibrate(stage: &Stage<'_>, kind: Kind, own: &[u32], wires: &mut Testbed) -> io::Result<Found> {
    let free = stage.try_out(Kind::Free, 1.0, own, wires, PASS)?;
    let mut step = step_above(needed(&free.windows) * MARGIN);
    let mut best = Found { k: at_step(step), slip: f64::INFINITY, keeps_up: false };
    for _ in 0..TRIALS {
        let k = at_step(step);
        let slip = stage.try_out(kind, k, own, wires, TRIAL)?.slip;
        let found = Found { k, slip, keeps_up: slip <= SLIP };
        if found.keeps_up {
            return Ok(found);
        }
        if found.slip < best.slip {
            best = found;
        }
        step += if found.slip > 0.1 { 2 } else { 1 };
    }
    Ok(best)
}

/// Real seconds per second of the scenario that all but the busiest twentieth of its windows take.
fn needed(windows: &[(Time, f64)]) -> f64 {
    let mut before = (Time::ZERO, 0.0);
    let mut costs: Vec<f64> = Vec::new();
    for &(at, wall) in windows {
        let span = at.saturating_since(before.0).as_s();
        if span > 0.0 {
            costs.push((wall - before.1) / span);
        }
        before = (at, wall);
    }
    costs.sort_by(f64::total_cmp);
    costs.get(costs.len() * 95 / 100).copied().unwrap_or(1.0)
}

const STEPS: [f64; 6] = [1.0, 1.5, 2.0, 3.0, 5.0, 7.0];

fn at_step(step: usize) -> f64 {
    STEPS[step % STEPS.len()] * 10f64.powi((step / STEPS.len()) as i32)
}

fn step_above(k: f64) -> usize {
    (0..60).find(|step| at_step(*step) >= k).unwrap_or(60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_round_numbers() {
        assert_eq!((0..8).map(at_step).collect::<Vec<_>>(), [1.0, 1.5, 2.0, 3.0, 5.0, 7.0, 10.0, 15.0]);
        assert_eq!(at_step(step_above(151.0)), 200.0);
        assert_eq!(at_step(step_above(0.2)), 1.0);
    }

    #[test]
    fn the_busiest_windows_count_but_not_a_single_one() {
        // A hundred windows of a millisecond: most take 1 ms, six take 3 ms, one takes a second.
        let mut wall = 0.0;
        let windows: Vec<(Time, f64)> = (1..=100)
            .map(|i| {
                wall += if i == 50 {
                    1.0
                } else if i % 17 == 0 {
                    3e-3
                } else {
                    1e-3
                };
                (Time::from_ms(i), wall)
            })
            .collect();
        let needed = needed(&windows);
        assert!((needed - 3.0).abs() < 0.01, "{needed}");
    }
}
