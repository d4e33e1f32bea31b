//! What numbers the things of a part, and those of the run that parts speak of.
//!
//! The same port, host or flow has another number in another part, and yet another in the network as a whole: its
//! name, which is a plain `u32` and finds no row in a table of a part.

pub use crate::contract::packet::FlowEntryId;

xoff_engine::ids! {
    /// One end of a link, among the ports of a part: `Part::ports`, and all that is kept by port.
    PortId;
    /// An egress queue, a port and a class: `Part::queues`, see [`QueueId::of`].
    QueueId;
    /// The congestion point of a scheme at an egress queue: `Part::cps`.
    CpId;
    /// A host, among the hosts of a part: `Part::hosts`.
    HostId;
    /// A switch, among the switches of a part: `Part::switches`.
    SwitchId;
    /// The sending end of a flow: `Part::senders`, and its details.
    SenderId;
    /// The receiving end of a flow: `Part::receivers`.
    ReceiverId;
    /// A flow in the run as a whole: `World::flow_states`.
    FlowStateId;
    /// A source of traffic in the run as a whole: `World::sources`.
    SourceId;
}

impl PortId {
    /// The port at the other end of the link: both ends of a link stand side by side, in every part that it touches.
    #[inline]
    pub const fn peer(self) -> PortId {
        PortId::new(self.get() ^ 1)
    }
}

impl QueueId {
    /// The queues of a port stand together, by class.
    #[inline]
    pub const fn of(port: PortId, class: u8, classes: usize) -> QueueId {
        QueueId::new(port.get() * classes as u32 + class as u32)
    }

    /// The port and the class that it is of.
    #[inline]
    pub const fn port_and_class(self, classes: usize) -> (PortId, u8) {
        (PortId::new(self.get() / classes as u32), (self.get() % classes as u32) as u8)
    }
}
