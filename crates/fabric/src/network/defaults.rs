//! Defaults of a plan: what a scenario gets that sets nothing. Tests and embedding programs write only what differs.

use crate::network::plan::{
    AckClass, AckPath, ActiveSettings, Class, Classes, Collectives, Fidelity, FrameSizes, Headroom, HostSettings,
    Model, NicScheduler, NicSettings, PfcResponse, PfcSettings, Plan, Recovery, RunSettings, Service, SetAside,
    Signalling, SwitchSettings, Thresholds,
};
use xoff_engine::{Span, Time};

impl Default for Plan {
    /// A scenario's defaults: seed 1, one switch profile, one host profile; no nodes, no links.
    fn default() -> Self {
        Plan {
            seed: 1,
            nodes: Vec::new(),
            links: Vec::new(),
            classes: Classes::default(),
            switches: vec![SwitchSettings::default()],
            hosts: vec![HostSettings::default()],
            model: Model::default(),
            ack_path: AckPath::default(),
            faults: Vec::new(),
            probes: Vec::new(),
            run: RunSettings::default(),
        }
    }
}

impl Default for Classes {
    /// Lossless data in priority 3, lossy control traffic in priority 6.
    fn default() -> Self {
        let control = Class { priority: 6, lossless: false, ..Class::default() };
        Classes { list: vec![Class::default(), control], control: 1 }
    }
}

impl Default for Class {
    /// Lossless data in priority 3.
    fn default() -> Self {
        Class {
            priority: 3,
            lossless: true,
            service: Service::Strict,
            queue_limit_bytes: None,
            queue_time: None,
            alpha: None,
        }
    }
}

impl Default for SwitchSettings {
    /// 12 MB with dynamic thresholds.
    fn default() -> Self {
        SwitchSettings {
            buffer_bytes: 12_000_000,
            count_passing: false,
            trim_bytes: None,
            pfc: PfcSettings::default(),
            pfc_response: PfcResponse::default(),
            watchdog: None,
        }
    }
}

impl Default for PfcSettings {
    fn default() -> Self {
        PfcSettings {
            thresholds: Thresholds::default(),
            headroom: Headroom::Auto,
            set_aside: SetAside::Class,
            signalling: Signalling::OnOff,
            active: ActiveSettings::default(),
        }
    }
}

impl Default for Thresholds {
    fn default() -> Self {
        Thresholds::dynamic(0.125)
    }
}

impl Default for HostSettings {
    /// RoCEv2 packets of 1000 bytes, each acknowledged at once.
    fn default() -> Self {
        HostSettings {
            mtu_bytes: 1000,
            sizes: FrameSizes::ROCE_V2,
            ack_every: 1,
            ack_class: AckClass::Control,
            ack_delay: Span::ZERO,
            notify_delay: Span::ZERO,
            nak_interval: Span::from_us(500),
            retransmit_timeout: Span::from_ms(10),
            recovery: Recovery::GoBackN,
            pfc_response: PfcResponse::default(),
            nic: NicSettings::default(),
        }
    }
}

impl Default for NicSettings {
    fn default() -> Self {
        NicSettings { scheduler: NicScheduler::Ready, follow_rate: true, pace: true, inflight_cap: None }
    }
}

impl Default for RunSettings {
    /// One second at most, with both checks and no records.
    fn default() -> Self {
        RunSettings {
            fidelity: Fidelity::Packet,
            collectives: Collectives::Auto,
            out_of_range: false,
            stop: Time::from_ms(1000),
            stop_when_idle: true,
            allow_drops: false,
            deadlock_check: Some(Span::from_ms(1)),
            stop_on_deadlock: true,
            stall_after: Some(Span::from_ms(50)),
            record_pauses: false,
            record_refreshes: false,
            record_pfc_frames: false,
            record_flow_links: false,
        }
    }
}
