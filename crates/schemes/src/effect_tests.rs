//! Every parameter is read: another value makes other machines. Where a machine holds all parameters the compiler
//! says so instead: fields that are never read are dead code.

use crate::param::{ParamKind, ParamSpec, SchemeSpec};
use crate::registry::find;
use crate::{Configured, dcqcn, dctcp, hpcc, hpcc_pint, mlcc, pcn, powertcp, rocc, swift, tcp_newreno, timely};
use std::fmt::Debug;
use xoff_engine::{BitRate, Span};
use xoff_fabric::scheme::*;

/// Values, one of which is not the one that is set.
fn others(param: &ParamSpec) -> Vec<String> {
    let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
    match param.kind {
        ParamKind::Time => texts(&["17us", "19us"]),
        ParamKind::Rate => texts(&["line/3", "line/7"]),
        ParamKind::Bytes => texts(&["4321B", "5432B"]),
        ParamKind::BytesByRate => texts(&["4321B", "5432B"]),
        ParamKind::TimeByRate => texts(&["17us", "19us"]),
        ParamKind::NumberByRate { min, max } | ParamKind::Number { min, max } => {
            let at = |part: f64| (min + part * (max.min(min + 2.0) - min)).to_string();
            vec![at(0.25), at(0.5)]
        }
        ParamKind::Count { min, max } => vec![(min + 1).to_string(), (min + 2).min(max).to_string()],
        ParamKind::Flag => texts(&["true", "false"]),
        ParamKind::Choice(choices) => texts(choices),
    }
}

/// All that a scheme makes: for flows within a domain and between two, with a start below line rate.
fn machines<S: Configured + Scheme>(spec: &'static SchemeSpec, texts: &[(&str, &str)]) -> String
where
    S::Cp: Debug,
    S::Np: Debug,
    S::Rp: Debug,
    S::Transit: Debug,
{
    let scheme = S::configure(&spec.values(None).with(texts));
    let rate = BitRate::from_gbps(40);
    let mut all = format!("{:?} {:?}", scheme.format(), scheme.format_inter_domain());
    for leaves_domain in [false, true] {
        let at = QueueFacts { leaves_domain, ..QueueFacts::at(rate) };
        all += &format!("\n{:?}", scheme.congestion_point(&at));
    }
    let far = InterDomain { near_rtt: Span::from_us(22), far_rtt: Span::from_us(24), far_line_rate: rate };
    for (initial_gbps, rtt_us, inter_domain) in [(40, 9, None), (4, 9, None), (40, 90, None), (40, 6000, Some(far))] {
        let of = FlowFacts {
            initial_rate: BitRate::from_gbps(initial_gbps),
            max_base_rtt: Span::from_us(rtt_us + 3),
            hops: 3,
            inter_domain,
            ..FlowFacts::at(rate, Span::from_us(rtt_us))
        };
        let (np, rp) = (scheme.notification_point(&of), scheme.reaction_point(&of));
        all += &format!("\n{np:?} {rp:?} {:?} {:?}", rp.limits(), scheme.transit(&of));
    }
    all
}

fn check<S: Configured + Scheme>()
where
    S::Cp: Debug,
    S::Np: Debug,
    S::Rp: Debug,
    S::Transit: Debug,
{
    let spec = find(S::SPEC.name).unwrap();
    for param in spec.params {
        let made: Vec<String> = others(param)
            .iter()
            .map(|text| {
                let mut texts = param.conditions().copied().collect::<Vec<_>>();
                texts.push((param.name, text));
                machines::<S>(spec, &texts)
            })
            .collect();
        assert!(made.iter().any(|other| *other != made[0]), "{}: `{}` changes nothing", spec.name, param.name);
    }
}

#[test]
fn every_parameter_of_an_end_to_end_scheme_has_an_effect() {
    check::<dcqcn::Dcqcn>();
    check::<pcn::Pcn>();
    check::<hpcc::Hpcc>();
    check::<hpcc_pint::HpccPint>();
    check::<powertcp::PowerTcp>();
    check::<powertcp::ThetaPowerTcp>();
    check::<timely::Timely>();
    check::<timely::PatchedTimely>();
    check::<swift::Swift>();
    check::<rocc::Rocc>();
    check::<dctcp::Dctcp>();
    check::<tcp_newreno::TcpNewReno>();
    check::<mlcc::Mlcc>();
}
