//! Synchronised reads: a client asks all servers for a unit each and goes on only when it has all.

use super::flow::Template;
use super::sizes::Sizes;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;
use xoff_engine::rng::{Rng, stream};
use xoff_engine::{Span, Time};
use xoff_fabric::traffic::{Action, Source};

#[derive(Clone, Debug)]
pub struct Reads {
    pub clients: Arc<[u32]>,
    /// A client that is among the servers does not ask itself.
    pub servers: Arc<[u32]>,
    /// What one server sends for one block.
    pub units: Sizes,
    /// Blocks that each client reads; `None` goes on to the end.
    pub blocks: Option<u64>,
    pub start: Time,
    /// No block is asked for at or after.
    pub until: Option<Time>,
    /// From the end of a block to the servers' answers to the request for the next.
    pub request_delay: Span,
    pub template: Template,
}

impl Reads {
    pub fn source(&self, seed: u64, index: u64) -> ReadsSource {
        let start = self.until.is_none_or(|until| self.start < until).then_some(self.start);
        let due = (0..self.clients.len() as u32).filter_map(|client| Some(Reverse((start?, client)))).collect();
        ReadsSource {
            due,
            clients: vec![Client::default(); self.clients.len()],
            draws: stream(seed, "traffic", index),
            of: self.clone(),
        }
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct Client {
    blocks: u64,
    /// Servers that have not finished the block.
    missing: u32,
}

#[derive(Debug)]
pub struct ReadsSource {
    of: Reads,
    /// Clients about to ask.
    due: BinaryHeap<Reverse<(Time, u32)>>,
    clients: Vec<Client>,
    draws: Rng,
}

impl Source for ReadsSource {
    fn next(&self) -> Option<Time> {
        self.due.peek().map(|Reverse((at, _))| *at)
    }

    fn act(&mut self, now: Time, out: &mut Vec<Action>) {
        while let Some(Reverse((_, client))) = self.due.peek().copied().filter(|Reverse((at, _))| *at <= now) {
            self.due.pop();
            let receiver = self.of.clients[client as usize];
            let servers = self.of.servers.len() as u32;
            for (rank, server) in self.of.servers.iter().enumerate() {
                if *server == receiver {
                    continue;
                }
                // A client has at most one flow from each server, so this names it.
                let handle = client * servers + rank as u32;
                let size = self.of.units.sample(&mut self.draws);
                out.push(Action::Start(self.of.template.flow(handle, *server, receiver, Some(size), 0)));
                self.clients[client as usize].missing += 1;
            }
        }
    }

    fn on_finished(&mut self, now: Time, handle: u32) {
        let index = handle / self.of.servers.len() as u32;
        let client = &mut self.clients[index as usize];
        client.missing -= 1;
        if client.missing > 0 {
            return;
        }
        client.blocks += 1;
        let at = now.saturating_add(self.of.request_delay);
        let over = self.of.blocks.is_some_and(|blocks| client.blocks >= blocks)
            || self.of.until.is_some_and(|until| at >= until);
        if !over {
            self.due.push(Reverse((at, index)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::flow::tests::template;
    use super::*;

    fn reads(blocks: Option<u64>, until: Option<Time>) -> Reads {
        Reads {
            clients: [0, 4].into(),
            servers: [1, 2, 3, 4].into(),
            units: Sizes::Fixed(256_000),
            blocks,
            start: Time::from_us(1),
            until,
            request_delay: Span::from_us(50),
            template: template(),
        }
    }

    fn asked(source: &mut ReadsSource) -> Vec<(u32, u32, u32)> {
        let mut out = Vec::new();
        source.act(source.next().unwrap(), &mut out);
        out.into_iter()
            .map(|action| match action {
                Action::Start(spec) => (spec.handle, spec.src, spec.dst),
                other => panic!("{other:?}"),
            })
            .collect()
    }

    #[test]
    fn the_next_block_waits_for_all_servers() {
        let mut source = reads(Some(2), None).source(1, 0);
        let first = asked(&mut source);
        // Four servers for client 0; client 4 does not ask itself.
        assert_eq!(first.iter().filter(|flow| flow.2 == 0).count(), 4);
        assert_eq!(first.iter().filter(|flow| flow.2 == 4).count(), 3);
        assert_eq!(source.next(), None);
        let of_client: Vec<u32> = first.iter().filter(|flow| flow.2 == 0).map(|flow| flow.0).collect();
        for (count, handle) in of_client.iter().enumerate() {
            assert_eq!(source.next(), None, "asked for more after {count} of 4 servers");
            source.on_finished(Time::from_us(100 + count as u64), *handle);
        }
        assert_eq!(source.next(), Some(Time::from_us(153)));
        let second = asked(&mut source);
        assert_eq!(second.iter().map(|flow| flow.0).collect::<Vec<_>>(), of_client);
        for handle in of_client {
            source.on_finished(Time::from_us(300), handle);
        }
        assert_eq!(source.next(), None, "two blocks are all");
    }

    #[test]
    fn no_block_is_asked_for_after_the_end() {
        let mut source = reads(None, Some(Time::from_us(140))).source(1, 0);
        let flows = asked(&mut source);
        for flow in flows {
            source.on_finished(Time::from_us(90), flow.0);
        }
        assert_eq!(source.next(), None);
    }
}
