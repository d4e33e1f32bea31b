//! `[[class]]`, `[switch]`, `[host]` and their profiles: how the devices behave.

use super::names::{Names, valid_name};
use super::reader::{Result, Table, Text};
use xoff_engine::{BitRate, Grain, Span, quantity};
use xoff_fabric::plan::{
    AckClass, Alpha, BaseRtt, Class, Classes, Ecmp, Forwarding, FrameSizes, Headroom, HostSettings, InflightCap, Model,
    NextHops, NicScheduler, NicSettings, PfcResponse, PfcSettings, Random, ResumeAt, Rule, Service, SetAside,
    Signalling, SwitchSettings, Thresholds, Ties, Watchdog, WatchdogAction,
};
use xoff_fabric::servers::SCALE_UP_LAYER;

/// `[model]`: how the simulator itself counts and chooses.
pub fn read_model(table: &mut Table) -> Result<Model> {
    let grains = [("1ps", Grain::Exact), ("1ns", Grain::Nanosecond), ("1ns-binary", Grain::BinaryNanosecond)];
    Ok(Model {
        grain: table.choice_or("time_grain", &grains, "1ps")?,
        ties: table.choice_or("ties", &[("hash", Ties::Hash), ("scheduled", Ties::Scheduled)], "hash")?,
        ecmp: table.choice_or("ecmp", &[("mix", Ecmp::Mix), ("murmur3", Ecmp::Murmur3)], "mix")?,
        next_hops: table.choice_or(
            "next_hops",
            &[("by-link", NextHops::ByLink), ("descending", NextHops::Descending)],
            "by-link",
        )?,
        forwarding: Forwarding::default(),
        base_rtt: table.choice_or("base_rtt", &[("wire", BaseRtt::Wire), ("payload", BaseRtt::Payload)], "wire")?,
        random: match table.choice_or("random", &[("own", false), ("shared", true)], "own")? {
            false => Random::Own,
            true => Random::Shared { first: table.count_or("first_stream", 0..=1 << 40, 0)? },
        },
    })
}

/// The classes with their names, in ascending priority.
pub struct NamedClasses {
    pub classes: Classes,
    pub names: Vec<String>,
    /// The class of traffic that names none.
    pub default: u8,
}

/// Used where a scenario says nothing of classes: RoCE data under PFC, and a class above it for
/// acknowledgements and notifications.
const DEFAULT_CLASSES: &str = "[[class]]\nname = \"data\"\npriority = 3\n[[class]]\nname = \"control\"\npriority = 6\nlossless = false\ncontrol = true\n";

/// `[[class]]`. Weighted classes get `weight * largest_frame` bytes per round.
pub fn read_classes(root: &mut Table, largest_frame: u32) -> Result<NamedClasses> {
    let rows = root.tables_or("class", DEFAULT_CLASSES)?;
    if rows.is_empty() {
        return Err(root.error("class", "there is no class").label("leave it out, or give at least one [[class]]"));
    }
    if rows.len() > 8 {
        return Err(rows[8].place().error("there are more than 8 classes").label("priorities go from 0 to 7"));
    }
    let mut read: Vec<(Text, Class)> = Vec::new();
    let mut control: Option<String> = None;
    for mut row in rows {
        let name = row.text("name")?;
        valid_name(&name)?;
        let priority = row.count("priority", 0..=7)? as u8;
        let lossless = row.flag_or("lossless", true)?;
        let services =
            [("strict", Service::Strict), ("weighted", Service::Weighted(1)), ("round-robin", Service::RoundRobin)];
        let service = match row.choice_or("service", &services, "strict")? {
            Service::Weighted(_) => Service::Weighted(row.count_or("weight", 1..=1000, 1)? as u32 * largest_frame),
            other => other,
        };
        let queue_limit_bytes = if lossless { None } else { row.take_bytes("queue_limit", 64..=1 << 40)? };
        let alpha = if lossless { None } else { row.take_number("alpha", ALPHA)? };
        if row.flag_or("control", false)? && control.replace(name.value.clone()).is_some() {
            return Err(row.error("control", "two classes are marked as the control class"));
        }
        if let Some((other, _)) =
            read.iter().find(|(other, class)| other.value == name.value || class.priority == priority)
        {
            let what = if other.value == name.value { "name" } else { "priority" };
            return Err(row.error(what, format!("two classes have the same {what}")).label("each class needs its own"));
        }
        let of = |service: Service| std::mem::discriminant(&service);
        let clash = |(_, class): &(Text, Class)| class.service != Service::Strict && of(class.service) != of(service);
        if service != Service::Strict && read.iter().any(clash) {
            let error = row.error("service", "weighted classes and those served in turn cannot be mixed");
            return Err(error.label("one of both, beside strict classes"));
        }
        row.finish()?;
        read.push((name, Class { priority, lossless, service, queue_limit_bytes, alpha }));
    }
    read.sort_by_key(|(_, class)| class.priority);
    let names: Vec<String> = read.iter().map(|(name, _)| name.value.clone()).collect();
    let marked = control.or_else(|| names.iter().find(|name| *name == "control").cloned());
    let control = match marked.and_then(|name| names.iter().position(|known| *known == name)) {
        Some(index) => index,
        None if names.len() == 1 => 0,
        None => {
            return Err(root
                .error("class", "no class carries acknowledgements and notifications")
                .label("mark one with control = true"));
        }
    };
    let data = names.iter().position(|name| name == "data");
    let default = data.or_else(|| (0..names.len()).find(|index| *index != control)).unwrap_or(0) as u8;
    let list = read.into_iter().map(|(_, class)| class).collect();
    Ok(NamedClasses { classes: Classes { list, control: control as u8 }, names, default })
}

/// What the switches of a profile take over from the scenario.
pub struct SwitchContext {
    pub any_lossless: bool,
    /// The slowest NIC.
    pub nic_rate: BitRate,
    /// Whether servers have switches of their own.
    pub scale_up: bool,
}

/// `[switch]` and `[[switch_profile]]`; tells each switch of a profile so.
pub fn read_switches(
    root: &mut Table,
    context: &SwitchContext,
    names: &Names,
    mut assign: impl FnMut(u32, u16),
) -> Result<Vec<SwitchSettings>> {
    let mut table = root.table("switch")?;
    let base = read_switch(&mut table, &SwitchSettings::default(), context)?;
    table.finish()?;
    let mut profiles = vec![base];
    let mut inner = Vec::new();
    if context.scale_up {
        inner = names.in_layer(SCALE_UP_LAYER);
        inner.iter().for_each(|switch| assign(*switch, profiles.len() as u16));
        profiles.push(scale_up());
    }
    let rows = root.tables("switch_profile")?;
    not_too_many(&rows)?;
    for mut row in rows {
        let selectors = row.texts("select")?;
        let switches = names.switches(&selectors)?;
        switches.iter().for_each(|switch| assign(*switch, profiles.len() as u16));
        // Nothing of `[switch]` is meant for the inside of a server.
        let like = usize::from(context.scale_up && switches.iter().all(|switch| inner.binary_search(switch).is_ok()));
        let profile = read_switch(&mut row, &profiles[like], context)?;
        row.finish()?;
        profiles.push(profile);
    }
    Ok(profiles)
}

/// Settings of a switch inside a server: a network that loses nothing, with room for all that a GPU may be sent at
/// once, so that flows do not block each other.
fn scale_up() -> SwitchSettings {
    let pfc = PfcSettings { thresholds: Thresholds::dynamic(1.0), ..PfcSettings::default() };
    SwitchSettings { buffer_bytes: 64_000_000, pfc, ..SwitchSettings::default() }
}

fn read_switch(table: &mut Table, defaults: &SwitchSettings, context: &SwitchContext) -> Result<SwitchSettings> {
    let buffer_bytes = table.bytes_or("buffer", 1..=1 << 40, defaults.buffer_bytes)?;
    let count_passing = table.flag_or("count_passing", defaults.count_passing)?;
    let mut settings = SwitchSettings { buffer_bytes, count_passing, ..defaults.clone() };
    // Without a lossless class nothing here would have an effect, so the tables stay unread and
    // are refused if they are written.
    if context.any_lossless {
        let mut pfc = table.table("pfc")?;
        settings.pfc = read_pfc(&mut pfc, &defaults.pfc, context)?;
        pfc.finish()?;
        settings.pfc_response = read_response(table, defaults.pfc_response)?;
        let given = match defaults.watchdog {
            Some(_) => Some(table.table("watchdog")?),
            None => table.take_table("watchdog")?,
        };
        if let Some(mut watchdog) = given {
            settings.watchdog = Some(read_watchdog(&mut watchdog, defaults.watchdog)?);
            watchdog.finish()?;
        }
    }
    Ok(settings)
}

/// `pfc_response`: a time, or what IEEE 802.3 allows.
fn read_response(table: &mut Table, default: PfcResponse) -> Result<PfcResponse> {
    let ieee = match default {
        _ if table.has("pfc_response") => table.text_is("pfc_response", "ieee"),
        default => default == PfcResponse::Ieee,
    };
    if ieee {
        return table.choice_or("pfc_response", &[("ieee", PfcResponse::Ieee)], "ieee");
    }
    let default = if let PfcResponse::After(span) = default { span } else { Span::ZERO };
    let span = table.span_or("pfc_response", default)?;
    if span > RESPONSE_LONGEST {
        let error = table.error("pfc_response", format!("`pfc_response` is {span}"));
        return Err(
            error.label(format!("at most {RESPONSE_LONGEST}; IEEE 802.3 allows 3.43 us at 10 Gb/s and less above"))
        );
    }
    Ok(PfcResponse::After(span))
}

/// No device that is in order takes longer.
const RESPONSE_LONGEST: Span = Span::from_ms(1);

fn read_pfc(table: &mut Table, defaults: &PfcSettings, context: &SwitchContext) -> Result<PfcSettings> {
    let default = match defaults.thresholds.rule() {
        // Its first spelling: `threshold = "dynamic"` with `spill = "latched"`.
        Rule::Latched => Rule::Dynamic,
        rule => rule,
    };
    let thresholds = match table.choice_or("threshold", Rule::ALL, default.name())? {
        Rule::Static => read_static(table, &defaults.thresholds)?,
        rule => read_dynamic(table, rule, &defaults.thresholds, context)?,
    };
    let headroom = read_headroom(table, defaults.headroom)?;
    let asides = [("class", SetAside::Class), ("port", SetAside::Port), ("none", SetAside::Nothing)];
    let aside = asides.iter().find(|(_, aside)| *aside == defaults.set_aside).map_or("class", |(name, _)| name);
    let set_aside = table.choice_or("set_aside", &asides, aside)?;
    let default = if defaults.signalling == Signalling::OnOff { "on-off" } else { "timed" };
    let signalling = match table.choice_or("signalling", &[("on-off", false), ("timed", true)], default)? {
        false => Signalling::OnOff,
        true => {
            let (pause, refresh, per_arrival, resume) = match defaults.signalling {
                Signalling::Timed { pause, refresh, per_arrival, resume } => (pause, refresh, per_arrival, resume),
                Signalling::OnOff => (Span::from_us(5), Span::from_us(2), true, ResumeAt::Departures),
            };
            let pause = table.interval_or("pause_time", pause)?;
            let refresh = table.interval_or("refresh", refresh)?;
            table.not_below("refresh", refresh, Span::from_ns(1))?;
            if refresh >= pause {
                let error = table.error("refresh", "a pause would run out before it is refreshed");
                return Err(error.label(format!("less than pause_time = {pause}")));
            }
            let default = if resume == ResumeAt::Checks { "checks" } else { "departures" };
            let when = [("departures", ResumeAt::Departures), ("checks", ResumeAt::Checks)];
            let resume = table.choice_or("resume_at", &when, default)?;
            let per_arrival = match resume {
                // A look at every arrival is the rule there.
                ResumeAt::Checks => true,
                ResumeAt::Departures => table.flag_or("per_arrival", per_arrival)?,
            };
            Signalling::Timed { pause, refresh, per_arrival, resume }
        }
    };
    Ok(PfcSettings { thresholds, headroom, set_aside, signalling })
}

const BYTES: std::ops::RangeInclusive<u64> = 0..=1 << 40;
const ALPHA: std::ops::RangeInclusive<f64> = 0.001..=1024.0;

fn read_static(table: &mut Table, defaults: &Thresholds) -> Result<Thresholds> {
    let (xoff_bytes, xon_default) = match (table.take_bytes("xoff", BYTES)?, defaults) {
        (Some(xoff), _) => (xoff, xoff.saturating_sub(2000)),
        (None, Thresholds::Static { xoff_bytes, xon_bytes }) => {
            (table.bytes_or("xoff", BYTES, *xoff_bytes)?, *xon_bytes)
        }
        (None, _) => (table.bytes("xoff", BYTES)?, 0),
    };
    let xon_bytes = table.bytes_or("xon", BYTES, xon_default)?;
    if xon_bytes > xoff_bytes {
        let error = table.error("xon", "`xon` is above `xoff`");
        return Err(error.label(format!("at most xoff = {}", quantity::format_bytes(xoff_bytes))));
    }
    Ok(Thresholds::Static { xoff_bytes, xon_bytes })
}

fn read_dynamic(table: &mut Table, rule: Rule, defaults: &Thresholds, context: &SwitchContext) -> Result<Thresholds> {
    let defaults = if let Thresholds::Static { .. } = defaults { &Thresholds::default() } else { defaults };
    let Thresholds::Dynamic { alpha, reserve_bytes, resume_offset_bytes, resume_below_bytes, rule: like } = *defaults
    else {
        unreachable!("dynamic thresholds are the default");
    };
    let by_speed = if table.has("alpha") { table.is_text("alpha") } else { !matches!(alpha, Alpha::Fixed(_)) };
    let alpha = if by_speed {
        let (base, nic_rate, default) = match alpha {
            Alpha::BySpeed { base, nic_rate } => (base, nic_rate, "by-speed"),
            Alpha::BySpeedUp { base, nic_rate } => (base, nic_rate, "by-speed-up"),
            Alpha::Fixed(_) => (0.125, context.nic_rate, "by-speed"),
        };
        let up = table.choice_or("alpha", &[("by-speed", false), ("by-speed-up", true)], default)?;
        let base = table.number_or("alpha_base", ALPHA, base)?;
        let nic_rate = table.rate_or("nic_rate", nic_rate)?;
        if up { Alpha::BySpeedUp { base, nic_rate } } else { Alpha::BySpeed { base, nic_rate } }
    } else {
        let default = if let Alpha::Fixed(alpha) = alpha { alpha } else { 0.125 };
        Alpha::Fixed(table.number_or("alpha", ALPHA, default)?)
    };
    Ok(Thresholds::Dynamic {
        alpha,
        reserve_bytes: table.bytes_or("reserve", BYTES, reserve_bytes)?,
        resume_offset_bytes: table.bytes_or("resume_offset", BYTES, resume_offset_bytes)?,
        resume_below_bytes: table.bytes_or("resume_below", 1..=1 << 40, resume_below_bytes)?,
        rule: match rule {
            Rule::Dynamic => {
                let spills = [("each", Rule::Dynamic), ("latched", Rule::Latched)];
                table.choice_or("spill", &spills, if like == Rule::Latched { "latched" } else { "each" })?
            }
            other => other,
        },
    })
}

fn read_headroom(table: &mut Table, default: Headroom) -> Result<Headroom> {
    let auto = table.text_is("headroom", "auto") || (default == Headroom::Auto && !table.has("headroom"));
    let bdp = table.text_is("headroom", "bdp") || (matches!(default, Headroom::Bdps(_)) && !table.has("headroom"));
    match default {
        _ if auto => {
            table.choice_or("headroom", &[("auto", ())], "auto")?;
            Ok(Headroom::Auto)
        }
        _ if bdp => {
            table.choice_or("headroom", &[("bdp", ())], "bdp")?;
            let bdps = if let Headroom::Bdps(bdps) = default { bdps } else { 3 };
            Ok(Headroom::Bdps(table.count_or("headroom_bdps", 0..=1000, u64::from(bdps))? as u32))
        }
        Headroom::Bytes(bytes) => Ok(Headroom::Bytes(table.bytes_or("headroom", BYTES, bytes)?)),
        Headroom::Auto | Headroom::Bdps(_) => Ok(Headroom::Bytes(table.bytes("headroom", BYTES)?)),
    }
}

fn read_watchdog(table: &mut Table, defaults: Option<Watchdog>) -> Result<Watchdog> {
    let ms = Span::from_ms;
    let defaults =
        defaults.unwrap_or(Watchdog { poll: ms(100), detect: ms(200), restore: ms(200), action: WatchdogAction::Drop });
    let action = if defaults.action == WatchdogAction::Drop { "drop" } else { "forward" };
    let poll = table.interval_or("poll", defaults.poll)?;
    Ok(Watchdog {
        poll: table.not_below("poll", poll, Span::from_us(1))?,
        detect: table.interval_or("detect", defaults.detect)?,
        restore: table.interval_or("restore", defaults.restore)?,
        action: table.choice_or(
            "action",
            &[("drop", WatchdogAction::Drop), ("forward", WatchdogAction::Forward)],
            action,
        )?,
    })
}

/// `[host]` without its profiles, which need the topology: frame sizes are the same everywhere,
/// for a wire has one idea of a gap and of a PFC frame.
pub fn read_host(table: &mut Table) -> Result<HostSettings> {
    let roce = FrameSizes::ROCE_V2;
    let size = |table: &mut Table, key: &str, default: u32| -> Result<u32> {
        Ok(table.bytes_or(key, 1..=512, u64::from(default))? as u32)
    };
    let sizes = FrameSizes {
        data_header_bytes: size(table, "data_header", roce.data_header_bytes)?,
        ack_bytes: size(table, "ack_size", roce.ack_bytes)?,
        tcp_header_bytes: size(table, "tcp_header", roce.tcp_header_bytes)?,
        tcp_ack_bytes: size(table, "tcp_ack_size", roce.tcp_ack_bytes)?,
        notification_bytes: size(table, "notification_size", roce.notification_bytes)?,
        pfc_bytes: size(table, "pfc_size", roce.pfc_bytes)?,
        gap_bytes: table.bytes_or("gap", 0..=512, u64::from(roce.gap_bytes))? as u32,
        min_frame_bytes: size(table, "min_frame", roce.min_frame_bytes)?,
    };
    read_host_behaviour(table, &HostSettings { sizes, ..HostSettings::default() })
}

fn read_host_behaviour(table: &mut Table, defaults: &HostSettings) -> Result<HostSettings> {
    let class = if defaults.ack_class == AckClass::Control { "control" } else { "data" };
    let settings = HostSettings {
        mtu_bytes: table.bytes_or("mtu", 64..=9216, u64::from(defaults.mtu_bytes))? as u32,
        sizes: defaults.sizes,
        ack_every: table.count_or("ack_every", 1..=1000, u64::from(defaults.ack_every))? as u32,
        ack_class: table.choice_or(
            "ack_class",
            &[("control", AckClass::Control), ("data", AckClass::WithData)],
            class,
        )?,
        ack_delay: table.span_or("ack_delay", defaults.ack_delay)?,
        notify_delay: table.span_or("notify_delay", defaults.notify_delay)?,
        nak_interval: table.interval_or("nak_interval", defaults.nak_interval)?,
        retransmit_timeout: table.interval_or("retransmit_timeout", defaults.retransmit_timeout)?,
        pfc_response: read_response(table, defaults.pfc_response)?,
        nic: read_nic(table, &defaults.nic)?,
    };
    if settings.nic.inflight_cap.is_some() && settings.ack_every > 1 {
        // The sender would wait for an ACK, the receiver for packets to acknowledge.
        let error = table.error("inflight_cap", "a cap on bytes in flight needs an ACK for every packet");
        return Err(error.label("leave out `ack_every`, or the cap"));
    }
    Ok(settings)
}

fn read_nic(table: &mut Table, defaults: &NicSettings) -> Result<NicSettings> {
    let default = if defaults.scheduler == NicScheduler::Ready { "ready" } else { "scan" };
    let scheduler = match table.choice_or("scheduler", &[("ready", false), ("scan", true)], default)? {
        false => NicScheduler::Ready,
        true => {
            let default = match defaults.scheduler {
                NicScheduler::Scan { acks_paused_by } => acks_paused_by,
                NicScheduler::Ready => None,
            };
            let none = table.text_is("acks_paused_by", "none") || (default.is_none() && !table.has("acks_paused_by"));
            let acks_paused_by = if none {
                table.choice_or("acks_paused_by", &[("none", None)], "none")?
            } else {
                Some(table.count_or("acks_paused_by", 0..=7, u64::from(default.unwrap_or(0)))? as u8)
            };
            NicScheduler::Scan { acks_paused_by }
        }
    };
    let caps = [("none", None), ("longest-bdp", Some(true)), ("path-bdp", Some(false))];
    let default = caps.iter().find(|(_, cap)| *cap == defaults.inflight_cap.map(|cap| cap.longest));
    let inflight_cap = match table.choice_or("inflight_cap", &caps, default.map_or("none", |(name, _)| name))? {
        None => None,
        Some(longest) => {
            let (scales, line) = defaults.inflight_cap.map_or((false, false), |cap| (cap.scales, cap.at_line_rate));
            let line = if line { "line" } else { "path" };
            let at_line_rate = table.choice_or("inflight_rate", &[("path", false), ("line", true)], line)?;
            Some(InflightCap { longest, at_line_rate, scales: table.flag_or("inflight_scales", scales)? })
        }
    };
    Ok(NicSettings {
        scheduler,
        follow_rate: table.flag_or("follow_rate", defaults.follow_rate)?,
        pace: table.flag_or("pace", defaults.pace)?,
        inflight_cap,
    })
}

/// More profiles than this are no description of differences.
const PROFILES_LARGEST: usize = 10_000;

fn not_too_many(rows: &[Table]) -> Result<()> {
    match rows.get(PROFILES_LARGEST) {
        Some(row) => Err(row.place().error(format!("there are more than {PROFILES_LARGEST} profiles"))),
        None => Ok(()),
    }
}

/// `[[host_profile]]`; tells each host of a profile so.
pub fn read_host_profiles(
    root: &mut Table,
    base: HostSettings,
    names: &Names,
    mut assign: impl FnMut(u32, u16),
) -> Result<Vec<HostSettings>> {
    let mut profiles = vec![base];
    let rows = root.tables("host_profile")?;
    not_too_many(&rows)?;
    for mut row in rows {
        let selectors = row.texts("select")?;
        for host in names.hosts(&selectors)? {
            assign(host, profiles.len() as u16);
        }
        let profile = read_host_behaviour(&mut row, &profiles[0])?;
        row.finish()?;
        profiles.push(profile);
    }
    Ok(profiles)
}
