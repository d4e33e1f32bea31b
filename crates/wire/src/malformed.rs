//! Why bytes are not a frame of ours.

use std::fmt;

/// What is wrong with a frame, by the first thing found: for counters.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Malformed {
    /// Bytes end before a header does, or before a length says.
    Short,
    /// An EtherType that no frame of ours has, or a tag where none may be.
    EtherType,
    /// A MAC or IP address that is not that of a node.
    Stranger,
    /// IPv4 with options, of another version, or a fragment.
    IpHeader,
    /// The check sum of the IPv4 header is wrong.
    IpSum,
    /// Neither UDP nor TCP.
    Protocol,
    /// Lengths in IPv4 and UDP headers contradict each other.
    UdpLength,
    /// A switch has cut off the payload of a data packet.
    Trimmed,
    /// UDP to another port than RoCE's.
    UdpPort,
    /// A base transport header of another version.
    BthVersion,
    /// An opcode of RoCE, or of MAC control, that is never sent here.
    Opcode,
    /// A reply that is neither an ACK nor the NAK of a packet out of sequence.
    Syndrome,
    /// The code of a scheme's content is unknown, or the content is too short for its code.
    Content,
    /// The invariant check sum is wrong.
    Icrc,
    /// TCP with options.
    TcpHeader,
    /// TCP's check sum is wrong.
    TcpSum,
    /// A priority beyond the eighth in a PFC frame, or one that is not sent to the address of MAC control.
    Pfc,
    /// A congestion notification message of another version, or without the tag that names its flow.
    Cnm,
}

impl Malformed {
    /// All, in order: what a table of counters is indexed by (`reason as usize`).
    pub const ALL: [Malformed; 18] = [
        Malformed::Short,
        Malformed::EtherType,
        Malformed::Stranger,
        Malformed::IpHeader,
        Malformed::IpSum,
        Malformed::Protocol,
        Malformed::UdpLength,
        Malformed::Trimmed,
        Malformed::UdpPort,
        Malformed::BthVersion,
        Malformed::Opcode,
        Malformed::Syndrome,
        Malformed::Content,
        Malformed::Icrc,
        Malformed::TcpHeader,
        Malformed::TcpSum,
        Malformed::Pfc,
        Malformed::Cnm,
    ];

    /// Name in columns and messages.
    pub fn name(self) -> &'static str {
        match self {
            Malformed::Short => "too short",
            Malformed::EtherType => "unknown EtherType",
            Malformed::Stranger => "unknown address",
            Malformed::IpHeader => "unusual IPv4 header",
            Malformed::IpSum => "wrong IPv4 check sum",
            Malformed::Protocol => "unknown IP protocol",
            Malformed::UdpLength => "wrong UDP length",
            Malformed::Trimmed => "payload cut off by a switch",
            Malformed::UdpPort => "unknown UDP port",
            Malformed::BthVersion => "unknown BTH version",
            Malformed::Opcode => "unknown opcode",
            Malformed::Syndrome => "unknown syndrome",
            Malformed::Content => "unknown content",
            Malformed::Icrc => "wrong invariant CRC",
            Malformed::TcpHeader => "unusual TCP header",
            Malformed::TcpSum => "wrong TCP check sum",
            Malformed::Pfc => "unusual PFC frame",
            Malformed::Cnm => "unusual CNM",
        }
    }
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl std::error::Error for Malformed {}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn reasons_number_a_table_and_have_names_of_their_own() {
        assert!(Malformed::ALL.iter().enumerate().all(|(at, reason)| *reason as usize == at));
        let names: BTreeSet<&str> = Malformed::ALL.iter().map(|reason| reason.name()).collect();
        assert_eq!(names.len(), Malformed::ALL.len());
    }
}
