//! Selective acknowledgements on their way: what ACKs and NAKs carry that name single packets.

use crate::contract::packet::{Kind, NO_EXTRA, Packet, SELECTIVE};
use crate::contract::scheme::Scheme;
use crate::flow::transport::Selective;
use crate::network::plan::Dialect;
use crate::part::Part;

/// What an ACK or NAK carries in `extra`, with what would be there otherwise.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SelectiveCargo {
    pub selective: Selective,
    /// Telemetry or feedback.
    pub extra: u32,
}

impl<S: Scheme> Part<S> {
    /// Puts a selective acknowledgement into an ACK or NAK, which grows by it.
    #[cold]
    pub(crate) fn pack_selective(&mut self, ack: &mut Packet, selective: Selective) {
        // There every answer has room for it.
        if self.compat.dialect == Dialect::Own {
            ack.frame_bytes += selective.frame_bytes();
        }
        ack.extra = self.flows.selective.insert(SelectiveCargo { selective, extra: ack.extra });
        ack.flags |= SELECTIVE;
    }

    /// Takes the selective acknowledgement out of an ACK or NAK.
    #[cold]
    pub(crate) fn unpack_selective(&mut self, ack: &Packet) -> (Selective, Packet) {
        let SelectiveCargo { selective, extra } = self.flows.selective.remove(ack.extra);
        (selective, Packet { extra, flags: ack.flags & !SELECTIVE, ..*ack })
    }

    /// Returns the selective acknowledgement of a packet, if it has one, and the packet without it.
    pub(crate) fn look_selective(&self, packet: &Packet) -> (Option<Selective>, Packet) {
        if packet.flags & SELECTIVE == 0 || packet.kind == Kind::Data || packet.extra == NO_EXTRA {
            return (None, *packet);
        }
        let SelectiveCargo { selective, extra } = self.flows.selective[packet.extra];
        (Some(selective), Packet { extra, flags: packet.flags & !SELECTIVE, ..*packet })
    }
}
