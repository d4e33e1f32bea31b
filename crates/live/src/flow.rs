//! A source of traffic, and a flow of it while it lives.

use crate::network::FlowId;
use std::collections::{HashMap, VecDeque};
use xoff_engine::{Span, Time};
use xoff_fabric::SourceName;
use xoff_fabric::capture::FlowName;
use xoff_fabric::traffic::{FlowSpec, Source};

/// A source and what is known of it.
pub struct SourceState {
    pub(crate) source: Box<dyn Source>,
    pub(crate) name: SourceName,
    pub(crate) started: u64,
    pub due: Time,
    /// Its living flows, by its own handles.
    pub(crate) handles: HashMap<u32, u32>,
}

impl SourceState {
    pub fn new(source: Box<dyn Source>, place: usize) -> SourceState {
        let name = SourceName::new(source.name(), place);
        SourceState { source, name, started: 0, due: Time::NEVER, handles: HashMap::new() }
    }

    pub fn is_done(&self) -> bool {
        self.due == Time::NEVER && self.handles.is_empty()
    }
}

pub struct Flow {
    /// In the order of start.
    pub number: u32,
    pub(crate) source: usize,
    pub(crate) in_source: u64,
    pub(crate) spec: FlowSpec,
    pub name: FlowName,
    pub(crate) id: FlowId,
    pub(crate) start: Time,
    pub(crate) ideal: Span,
    pub(crate) path: Vec<u32>,
    pub(crate) base_rtt: Span,
    /// Names of its messages that have not reached their receiver, in order.
    pub(crate) awaited: VecDeque<u32>,
}

impl Flow {
    pub fn is_probed(&self) -> bool {
        self.spec.probed
    }
}
