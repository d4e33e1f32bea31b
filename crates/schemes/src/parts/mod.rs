//! Pieces that several schemes share, each exactly once.

pub mod clock;
pub mod flow_table;
pub mod frame_content;
pub mod hpcc_law;
pub mod int;
pub mod int_header;
pub mod newreno;
pub mod paused_packets;
pub mod pi;
pub mod qcn_family;
pub mod qcn_limiter;
pub mod qcn_sampler;
pub mod red;
pub mod round_trip;
pub mod rounding;

/// What an `impl Scheme` says where the sender works alone, from ACKs: nothing at switches, nothing of
/// its own at receivers.
macro_rules! sender_alone {
    () => {
        type Feedback = ();
        type Cp = xoff_fabric::scheme::Silent;
        type Np = xoff_fabric::scheme::Silent;
        type Transit = xoff_fabric::scheme::Absent;
        type Switch = xoff_fabric::scheme::Absent;

        fn congestion_point(&self, _: &xoff_fabric::scheme::QueueFacts) -> Self::Cp {
            Default::default()
        }

        fn notification_point(&self, _: &xoff_fabric::scheme::FlowFacts) -> Self::Np {
            Default::default()
        }
    };
}
pub(crate) use sender_alone;
