//! Pieces that several schemes share, each exactly once.

pub mod clock;
pub mod flow_table;
pub mod hpcc_law;
pub mod int;
pub mod newreno;
pub mod path_memory;
pub mod paused_packets;
pub mod pi;
pub mod qcn_family;
pub mod qcn_limiter;
pub mod qcn_sampler;
pub mod red;
pub mod round_trip;
pub mod rounding;

pub use xoff_catalogue::{frame_content, int_header};

/// What an `impl Scheme` says where receivers only acknowledge: nothing at receivers and gateways, no switch control.
macro_rules! silent_receiver {
    ($feedback:ty) => {
        type Feedback = $feedback;
        type Np = xoff_fabric::scheme::Silent<$feedback>;
        type Transit = xoff_fabric::scheme::Absent<$feedback>;
        type Switch = xoff_fabric::scheme::Absent;

        fn notification_point(&self, _: &xoff_fabric::scheme::FlowFacts) -> Self::Np {
            Default::default()
        }
    };
}
pub(crate) use silent_receiver;

/// What an `impl Scheme` says where the sender works alone, from ACKs: nothing at switches either.
macro_rules! sender_alone {
    () => {
        $crate::parts::silent_receiver!(());
        type Cp = xoff_fabric::scheme::Silent;

        fn congestion_point(&self, _: &xoff_fabric::scheme::QueueFacts) -> Self::Cp {
            Default::default()
        }
    };
}
pub(crate) use sender_alone;
