//! Flows known beforehand: each starts, and may be stopped or capped, at a given time.

use std::sync::Arc;
use xoff_engine::{BitRate, Time};
use xoff_fabric::traffic::{Action, FlowSpec, Source};

/// A flow and what happens to it. Its handle is its place in the list.
#[derive(Clone, Debug)]
pub struct Planned {
    pub at: Time,
    pub spec: FlowSpec,
    /// Of an endless flow only.
    pub stop: Option<Time>,
    /// New application limits, `None` lifting the limit.
    pub caps: Arc<[Cap]>,
}

/// A change of a flow's application limit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Cap {
    pub at: Time,
    pub rate: Option<BitRate>,
}

/// Carries out a list of planned flows.
#[derive(Debug)]
pub struct Timetable {
    flows: Arc<[Planned]>,
    /// In the order of time, and for one instant in the order of the list.
    steps: Vec<Step>,
    done: usize,
    /// By flow; kept only where a step may come after the end of its flow.
    ended: Vec<bool>,
}

#[derive(Clone, Copy, Debug)]
struct Step {
    at: Time,
    flow: u32,
    what: What,
}

#[derive(Clone, Copy, Debug)]
enum What {
    Start,
    Cap(Option<BitRate>),
    Stop,
}

impl Timetable {
    pub fn new(flows: Arc<[Planned]>) -> Timetable {
        let mut steps = Vec::with_capacity(flows.len());
        for (flow, planned) in flows.iter().enumerate() {
            let flow = flow as u32;
            steps.push(Step { at: planned.at, flow, what: What::Start });
            for cap in planned.caps.iter() {
                // A limit set before the start counts from the start.
                steps.push(Step { at: cap.at.max(planned.at), flow, what: What::Cap(cap.rate) });
            }
            if let Some(at) = planned.stop {
                steps.push(Step { at: at.max(planned.at), flow, what: What::Stop });
            }
        }
        let ended = if steps.len() > flows.len() { vec![false; flows.len()] } else { Vec::new() };
        // Stable: a flow's own steps at one instant keep their order.
        steps.sort_by_key(|step| step.at);
        Timetable { flows, steps, done: 0, ended }
    }

    /// The next step is always one to carry out, so that nobody waits for what will not happen.
    fn skip_ended(&mut self) {
        let ended = |step: &Step| self.ended.get(step.flow as usize).copied().unwrap_or(false);
        while self.steps.get(self.done).is_some_and(ended) {
            self.done += 1;
        }
    }
}

impl Source for Timetable {
    /// It leaves out what would come after the end of a flow.
    fn reacts(&self) -> bool {
        let late = |flow: &Planned| flow.caps.iter().any(|cap| flow.stop.is_some_and(|stop| cap.at >= stop));
        let ends_itself =
            |flow: &Planned| flow.spec.size_bytes.is_some() && (flow.stop.is_some() || !flow.caps.is_empty());
        self.flows.iter().any(|flow| ends_itself(flow) || late(flow))
    }

    fn next(&self) -> Option<Time> {
        self.steps.get(self.done).map(|step| step.at).filter(|at| *at < Time::NEVER)
    }

    fn act(&mut self, now: Time, out: &mut Vec<Action>) {
        while let Some(step) = self.steps.get(self.done).copied().filter(|step| step.at <= now) {
            self.done += 1;
            self.skip_ended();
            let handle = step.flow;
            out.push(match step.what {
                What::Start => Action::Start(FlowSpec { handle, ..self.flows[handle as usize].spec.clone() }),
                What::Cap(rate) => Action::Cap { handle, rate },
                What::Stop => Action::Stop { handle },
            });
        }
    }

    fn on_finished(&mut self, _now: Time, handle: u32) {
        if let Some(ended) = self.ended.get_mut(handle as usize) {
            *ended = true;
            self.skip_ended();
        }
    }
}

#[cfg(test)]
pub mod tests {
    use super::super::flow::tests::template;
    use super::*;

    fn planned(at: u64, size: Option<u64>) -> Planned {
        Planned { at: Time::from_us(at), spec: template().flow(0, 1, 2, size, 0), stop: None, caps: Arc::new([]) }
    }

    /// Runs a source that needs no answer from the network: what it does, and when.
    pub fn play(source: &mut dyn Source, limit: usize) -> Vec<(Time, Action)> {
        let mut played = Vec::new();
        let mut out = Vec::new();
        let mut last = Time::ZERO;
        while let Some(now) = source.next() {
            assert!(now >= last, "a source went back in time");
            last = now;
            source.act(now, &mut out);
            played.extend(out.drain(..).map(|action| (now, action)));
            if played.len() >= limit {
                break;
            }
        }
        played
    }

    fn brief(source: &mut Timetable) -> Vec<(u64, String)> {
        let name = |action: Action| match action {
            Action::Start(spec) => format!("start {}", spec.handle),
            Action::Stop { handle } => format!("stop {handle}"),
            Action::Cap { handle, rate } => format!("cap {handle} {rate:?}"),
            Action::Offer { .. } | Action::Send { .. } | Action::StartTogether(_) => {
                unreachable!("a timetable offers nothing")
            }
        };
        play(source, 100).into_iter().map(|(at, action)| (at.ps() / 1_000_000, name(action))).collect()
    }

    #[test]
    fn steps_come_in_time_order_whatever_the_list() {
        let mut endless = planned(5, None);
        endless.stop = Some(Time::from_us(9));
        endless.caps =
            [Cap { at: Time::from_us(7), rate: Some(BitRate::from_gbps(1)) }, Cap { at: Time::from_us(1), rate: None }]
                .into();
        let mut source = Timetable::new([endless, planned(2, Some(10))].into());
        let seen = brief(&mut source);
        assert_eq!(
            seen,
            [
                (2, "start 1".to_owned()),
                (5, "start 0".to_owned()),
                (5, "cap 0 None".to_owned()),
                (7, "cap 0 Some(BitRate(1000000000))".to_owned()),
                (9, "stop 0".to_owned()),
            ]
        );
    }

    #[test]
    fn a_flow_that_has_ended_is_left_alone() {
        let mut sized = planned(0, Some(10));
        sized.caps = [Cap { at: Time::from_us(7), rate: None }].into();
        let mut source = Timetable::new([sized].into());
        source.act(Time::ZERO, &mut Vec::new());
        source.on_finished(Time::from_us(3), 0);
        assert_eq!(source.next(), None);
    }
}
