//! Synchronised reads: a client asks all servers for a unit each and goes on only when it has all.

use super::flow::Template;
use super::sizes::Sizes;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;
use xoff_engine::rng::{Rng, stream};
use xoff_engine::{Span, Time};
use xoff_fabric::traffic::{Action, FlowSpec, Source};

#[derive(Clone, Debug)]
pub struct Reads {
    pub clients: Arc<[u32]>,
    /// A client that is among the servers does not ask itself.
    pub servers: Arc<[u32]>,
    /// What one server sends for one block.
    pub units: Sizes,
    pub connections: Connections,
    /// Blocks that each client reads; `None` goes on to the end.
    pub blocks: Option<u64>,
    pub start: Time,
    /// No block is asked for at or after.
    pub until: Option<Time>,
    /// From the end of a block to the servers' responses to the request for the next.
    pub request_delay: Span,
    pub template: Template,
}

/// What carries the units of one server to one client.
#[derive(Clone, Debug)]
pub enum Connections {
    /// A flow for each unit, which starts as flows do.
    Fresh,
    /// One flow for all of them, which keeps its window and rate. Only whole packets travel in it, so
    /// units are rounded up to those of the server (by server, bytes).
    Persistent { packets: Arc<[u32]> },
}

impl Reads {
    pub fn source(&self, seed: u64, key: u64) -> ReadsSource {
        let start = self.until.is_none_or(|until| self.start < until).then_some(self.start);
        let due = (0..self.clients.len() as u32).filter_map(|client| Some(Reverse((start?, client)))).collect();
        ReadsSource {
            due,
            clients: vec![Client::default(); self.clients.len()],
            draws: stream(seed, "traffic", key),
            of: self.clone(),
        }
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct Client {
    blocks: u64,
    /// Servers that have not finished the block.
    missing: u32,
    /// Connections that stay open are there.
    open: bool,
    /// Nothing more is asked for; what is open is to be closed.
    over: bool,
}

#[derive(Debug)]
pub struct ReadsSource {
    of: Reads,
    /// Clients about to ask.
    due: BinaryHeap<Reverse<(Time, u32)>>,
    clients: Vec<Client>,
    draws: Rng,
}

impl ReadsSource {
    /// One server's part of the next block.
    fn ask(&mut self, client: u32, rank: usize) -> Action {
        // A client has at most one flow from each server, so this names it.
        let handle = client * self.of.servers.len() as u32 + rank as u32;
        let (src, dst) = (self.of.servers[rank], self.of.clients[client as usize]);
        let bytes = self.of.units.sample(&mut self.draws);
        let Connections::Persistent { packets } = &self.of.connections else {
            return Action::Start(self.of.template.flow(handle, src, dst, Some(bytes), 0));
        };
        let bytes = bytes.next_multiple_of(u64::from(packets[rank]));
        if self.clients[client as usize].open {
            return Action::Offer { handle, bytes };
        }
        let spec = self.of.template.flow(handle, src, dst, None, 0);
        Action::Start(FlowSpec { offered_bytes: Some(bytes), ..spec })
    }

    /// A server has sent its unit.
    fn on_unit(&mut self, now: Time, handle: u32) {
        let index = handle / self.of.servers.len() as u32;
        let client = &mut self.clients[index as usize];
        client.missing -= 1;
        if client.missing > 0 {
            return;
        }
        client.blocks += 1;
        let at = now.saturating_add(self.of.request_delay);
        client.over = self.of.blocks.is_some_and(|blocks| client.blocks >= blocks)
            || self.of.until.is_some_and(|until| at >= until);
        match (client.over, client.open) {
            (false, _) => self.due.push(Reverse((at, index))),
            (true, true) => self.due.push(Reverse((now, index))),
            (true, false) => {}
        }
    }
}

impl Source for ReadsSource {
    fn next(&self) -> Option<Time> {
        self.due.peek().map(|Reverse((at, _))| *at)
    }

    fn act(&mut self, now: Time, out: &mut Vec<Action>) {
        while let Some(Reverse((_, client))) = self.due.peek().copied().filter(|Reverse((at, _))| *at <= now) {
            self.due.pop();
            let servers = self.of.servers.clone();
            let others = || (0..servers.len()).filter(|rank| servers[*rank] != self.of.clients[client as usize]);
            if self.clients[client as usize].over {
                let first = client * servers.len() as u32;
                out.extend(others().map(|rank| Action::Stop { handle: first + rank as u32 }));
                continue;
            }
            for rank in others().collect::<Vec<_>>() {
                out.push(self.ask(client, rank));
                self.clients[client as usize].missing += 1;
            }
            self.clients[client as usize].open = matches!(self.of.connections, Connections::Persistent { .. });
        }
    }

    /// A connection that stays open ends only when nothing more is asked for.
    fn on_finished(&mut self, now: Time, handle: u32) {
        if matches!(self.of.connections, Connections::Fresh) {
            self.on_unit(now, handle);
        }
    }

    fn on_drained(&mut self, now: Time, handle: u32) {
        self.on_unit(now, handle);
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
            connections: Connections::Fresh,
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
    fn open_connections_are_offered_the_next_unit_and_closed_in_the_end() {
        let packets = [1000, 1000, 960, 1000].into();
        let of = Reads { connections: Connections::Persistent { packets }, ..reads(Some(2), None) };
        let mut source = of.source(1, 0);
        let act = |source: &mut ReadsSource| {
            let mut out = Vec::new();
            source.act(source.next().unwrap(), &mut out);
            out
        };
        let first = act(&mut source);
        assert_eq!(first.len(), 7);
        for action in &first {
            let Action::Start(spec) = action else { panic!("{action:?}") };
            // 256 000 bytes are 266 2/3 packets of 960.
            let bytes = if spec.src == 3 { 267 * 960 } else { 256_000 };
            assert_eq!((spec.size_bytes, spec.offered_bytes), (None, Some(bytes)));
        }
        let (of_first, rest): (Vec<u32>, Vec<u32>) = (vec![0, 1, 2, 3], vec![4, 5, 6]);
        of_first.iter().for_each(|handle| source.on_drained(Time::from_us(100), *handle));
        assert_eq!(source.next(), Some(Time::from_us(150)), "the other client still waits");
        let second = act(&mut source);
        assert!(second.iter().all(|action| matches!(action, Action::Offer { bytes: 256_000 | 256_320, .. })));
        assert_eq!(second.len(), 4);
        of_first.iter().for_each(|handle| source.on_drained(Time::from_us(300), *handle));
        assert_eq!(source.next(), Some(Time::from_us(300)), "two blocks are all, and nothing stays open");
        let handles: Vec<u32> = act(&mut source)
            .iter()
            .map(|action| if let Action::Stop { handle } = action { *handle } else { panic!("{action:?}") })
            .collect();
        assert_eq!(handles, of_first);
        of_first.iter().for_each(|handle| source.on_finished(Time::from_us(300), *handle));
        assert_eq!(source.next(), None);
        rest.iter().for_each(|handle| source.on_drained(Time::from_us(400), *handle));
        assert_eq!(source.next(), Some(Time::from_us(450)), "what one client does is not the other's");
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
