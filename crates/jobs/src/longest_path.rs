//! How long a graph takes if nothing but its own order holds it up: the oracle of tests.

use crate::compiled::Compiled;
use crate::dag::{Lane, Work};
use xoff_engine::Span;

/// The longest path through a graph, where a message takes what `message(from, to, bytes, lane)` says. Exact on any
/// network in which no two messages share a wire at a time. Resources must not be asked for: who waits for whom would
/// depend on the times.
pub fn longest_path(dag: &Compiled, message: impl Fn(u32, u32, u64, Lane) -> Span) -> Span {
    assert_eq!(dag.holds(), 0, "a graph with resources has no longest path of its own");
    let mut needs: Vec<u32> = (0..dag.ops()).map(|op| dag.needs(op)).collect();
    let mut starts = vec![Span::ZERO; needs.len()];
    let mut open: Vec<u32> = (0..dag.ops()).filter(|op| dag.needs(*op) == 0).collect();
    let mut longest = Span::ZERO;
    while let Some(op) = open.pop() {
        let takes = match dag.work(op) {
            Work::Join => Span::ZERO,
            Work::Compute(span) => span,
            Work::Macro(_) => unreachable!("its messages are no operations"),
            Work::Send { to, bytes, lane } => message(dag.rank_of(op), to, bytes, lane),
        };
        let end = starts[op as usize] + takes;
        longest = longest.max(end);
        for &next in dag.after(op) {
            starts[next as usize] = starts[next as usize].max(end);
            needs[next as usize] -= 1;
            if needs[next as usize] == 0 {
                open.push(next);
            }
        }
    }
    longest
}
