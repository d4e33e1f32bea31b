//! How a scheme's own messages look in frames.

/// How the content of a scheme's own message looks in a frame. Only who makes bytes of frames asks.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct FrameContent {
    /// The packet around it.
    pub carrier: Carrier,
    /// Tells readers of a capture what the bytes are; zero says that there are none.
    pub code: u8,
    /// In network byte order; laid out as the code says.
    pub bytes: Vec<u8>,
    /// Flows it is about, by the numbers that schemes know; their addresses follow the bytes.
    pub flows: Vec<u32>,
    /// Content in words.
    pub says: String,
}

/// In which frame a message travels.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Carrier {
    /// A RoCE congestion notification packet.
    #[default]
    Cnp,
    /// A congestion notification packet with the congestion mark in its own IP header.
    MarkedCnp,
    /// A congestion notification message of IEEE 802.1Qau.
    Cnm {
        /// Quantised.
        feedback: u8,
        /// The queue's set point less its length.
        offset_bytes: i64,
        /// How much longer the queue is than at the sample before.
        delta_bytes: i64,
    },
}
