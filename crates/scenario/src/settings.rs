//! `[[class]]`, `[switch]`, `[host]` and their profiles: how the devices behave.

use super::dictionary::words;
use super::names::{Names, valid_name};
use super::reader::{Result, Table, Text};
use super::recovery;
use xoff_engine::{BitRate, Span, quantity};
use xoff_fabric::extent;
use xoff_fabric::plan::{
    ActiveSettings, Alpha, Class, Classes, Forwarding, FrameSizes, Hash, Headroom, HostSettings, InflightCap, Model,
    NicScheduler, NicSettings, PfcResponse, PfcSettings, Plan, Random, Recovery, ResumeAt, Rule, Service, Signalling,
    SwitchSettings, Thresholds, Unscheduled, Watchdog,
};
use xoff_fabric::route::Routes;
use xoff_fabric::servers::SCALE_UP_LAYER;

/// `[model]`: how the simulator itself counts and chooses.
pub fn read_model(table: &mut Table) -> Result<Model> {
    Ok(Model {
        resolution: table.choice("time_resolution", words::TIME_RESOLUTION)?,
        ties: table.choice("event_order", words::EVENT_ORDER)?,
        ecmp: table.choice("ecmp", words::ECMP)?,
        next_hops: table.choice("next_hops", words::NEXT_HOPS)?,
        forwarding: Forwarding::default(),
        hash: Hash::default(),
        base_rtt: table.choice("base_rtt", words::BASE_RTT)?,
        random: match table.is("random_streams", "shared")? {
            false => Random::Own,
            true => Random::Shared { first: table.count("first_stream", 0..=1 << 40)? },
        },
        dialect: table.choice("dialect", words::DIALECT)?,
        connections: 0,
    })
}

/// The classes with their names, in ascending priority.
pub struct NamedClasses {
    pub classes: Classes,
    pub names: Vec<String>,
    pub default: u8,
    /// Bandwidth-delay products that the longest queue of a class is, where it is set so.
    pub queue_bdps: Vec<Option<f64>>,
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
    let mut read: Vec<(Text, Class, Option<f64>)> = Vec::new();
    let mut control: Option<String> = None;
    for mut row in rows {
        let name = row.text("name")?;
        valid_name(&name)?;
        let priority = row.count("priority", 0..=7)? as u8;
        let lossless = row.flag("lossless")?;
        let service = match row.choice("service", words::SERVICE)? {
            Service::Weighted(_) => Service::Weighted(row.count("weight", 1..=1000)? as u32 * largest_frame),
            other => other,
        };
        let queue_limit_bytes = if lossless { None } else { row.take_bytes("queue_limit", 64..=1 << 40)? };
        let (queue_time, bdps) = if lossless { (None, None) } else { read_queue_time(&mut row)? };
        let alpha = if lossless { None } else { row.take_number("alpha", ALPHA)? };
        if row.flag("control")? && control.replace(name.value.clone()).is_some() {
            return Err(row.error("control", "two classes are marked as the control class"));
        }
        if let Some((other, ..)) =
            read.iter().find(|(other, class, _)| other.value == name.value || class.priority == priority)
        {
            let what = if other.value == name.value { "name" } else { "priority" };
            return Err(row.error(what, format!("two classes have the same {what}")).label("each class needs its own"));
        }
        let of = |service: Service| std::mem::discriminant(&service);
        let clash = |(_, class, _): &(Text, Class, Option<f64>)| {
            class.service != Service::Strict && of(class.service) != of(service)
        };
        if service != Service::Strict && read.iter().any(clash) {
            let error = row.error("service", "weighted classes and those served in turn cannot be mixed");
            return Err(error.label("one of both, beside strict classes"));
        }
        row.finish()?;
        read.push((name, Class { priority, lossless, service, queue_limit_bytes, queue_time, alpha }, bdps));
    }
    read.sort_by_key(|(_, class, _)| class.priority);
    let names: Vec<String> = read.iter().map(|(name, ..)| name.value.clone()).collect();
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
    let queue_bdps = read.iter().map(|(.., bdps)| *bdps).collect();
    let list = read.into_iter().map(|(_, class, _)| class).collect();
    Ok(NamedClasses { classes: Classes { list, control: control as u8 }, names, default, queue_bdps })
}

/// `queue_time` of a class, or how many bandwidth-delay products it is.
fn read_queue_time(row: &mut Table) -> Result<(Option<Span>, Option<f64>)> {
    if row.text_is("queue_time", "bdp") && row.is("queue_time", "bdp")? {
        return Ok((None, Some(row.number("queue_bdps", 0.01..=1000.0)?)));
    }
    Ok((row.take_span("queue_time")?, None))
}

/// Sets the length of queues that are multiples of bandwidth-delay products: a port's rate and the longest base round
/// trip of the network.
pub fn set_queue_times(plan: &mut Plan, queue_bdps: &[Option<f64>]) {
    if queue_bdps.iter().all(Option::is_none) {
        return;
    }
    let longest = extent::max_base_rtt(plan, &Routes::new(plan, |_| true));
    for (class, bdps) in plan.classes.list.iter_mut().zip(queue_bdps) {
        class.queue_time = bdps.map(|bdps| Span::from_ps((bdps * longest.ps() as f64) as u64)).or(class.queue_time);
    }
}

/// What the switches of a profile take over from the scenario.
pub struct SwitchContext {
    pub any_lossless: bool,
    /// A data class is lossy, and receivers send NACKs of trimmed packets.
    pub may_trim: bool,
    /// A lossy class is limited to a share of the free buffer.
    pub lossy_alpha: bool,
    /// The slowest NIC.
    pub nic_rate: BitRate,
    /// Whether servers have switches of their own.
    pub scale_up: bool,
    /// Another simulator's rules of buffer and PFC hold.
    pub foreign: bool,
}

/// What `[switch]` has inside a server: a switch there models a network that loses nothing and in which flows do
/// not hinder each other, with room for all that a GPU may be sent at once.
const SCALE_UP: &str = "buffer = \"64MB\"\npfc = { alpha = 1.0 }";

/// `[switch]` and `[[switch_profile]]`; tells each switch of a profile so.
pub fn read_switches(
    root: &mut Table,
    context: &SwitchContext,
    names: &Names,
    mut assign: impl FnMut(u32, u16),
) -> Result<Vec<SwitchSettings>> {
    let mut table = root.table("switch")?;
    let mut profiles = vec![read_switch(&mut table, context)?];
    table.finish()?;
    let (base, mut scale_up) = (root.recorder().table("switch"), None);
    let mut inner = Vec::new();
    if context.scale_up {
        inner = names.in_layer(SCALE_UP_LAYER);
        inner.iter().for_each(|switch| assign(*switch, profiles.len() as u16));
        let mut table = Table::built_in("switch", SCALE_UP)?;
        profiles.push(read_switch(&mut table, context)?);
        scale_up = Some(table.recorder().clone());
    }
    let rows = root.tables("switch_profile")?;
    not_too_many(&rows)?;
    for mut row in rows {
        let selectors = row.texts("select")?;
        let switches = names.switches(&selectors)?;
        switches.iter().for_each(|switch| assign(*switch, profiles.len() as u16));
        // Nothing of `[switch]` is meant for the inside of a server.
        let inside = switches.iter().all(|switch| inner.binary_search(switch).is_ok());
        row.inherit(scale_up.as_ref().filter(|_| inside).unwrap_or(&base));
        profiles.push(read_switch(&mut row, context)?);
        row.finish()?;
    }
    Ok(profiles)
}

fn read_switch(table: &mut Table, context: &SwitchContext) -> Result<SwitchSettings> {
    let buffer_bytes = table.bytes("buffer", 1..=1 << 40)?;
    if context.foreign {
        // Nothing below has an effect, so it is refused if it is written.
        return Ok(SwitchSettings { buffer_bytes, count_passing: true, ..SwitchSettings::default() });
    }
    let count_passing = table.flag("count_passing")?;
    let trim_bytes = read_trim(table, context)?;
    // Without a lossless class nothing below would have an effect, so the tables stay unread and
    // are refused if they are written.
    if !context.any_lossless {
        return Ok(SwitchSettings { buffer_bytes, count_passing, trim_bytes, ..SwitchSettings::default() });
    }
    let mut inner = table.table("pfc")?;
    let pfc = read_pfc(&mut inner, context)?;
    inner.finish()?;
    let pfc_response = read_response(table)?;
    let given =
        if table.inherits("watchdog") { Some(table.table("watchdog")?) } else { table.take_table("watchdog")? };
    let watchdog = match given {
        Some(mut inner) => {
            let watchdog = read_watchdog(&mut inner)?;
            inner.finish()?;
            Some(watchdog)
        }
        None => None,
    };
    Ok(SwitchSettings { buffer_bytes, count_passing, trim_bytes, pfc, pfc_response, watchdog })
}

/// `pfc_response`: a time, or what IEEE 802.3 allows.
fn read_response(table: &mut Table) -> Result<PfcResponse> {
    if table.text_is("pfc_response", "ieee") {
        return table.choice("pfc_response", &[("ieee", PfcResponse::Ieee)]);
    }
    let span = table.span("pfc_response")?;
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

fn read_pfc(table: &mut Table, context: &SwitchContext) -> Result<PfcSettings> {
    let thresholds = match table.choice("threshold", Rule::ALL)? {
        Rule::Static => read_static(table)?,
        Rule::Reverie if context.lossy_alpha => {
            let error = table.error("threshold", "`reverie` has no rule for a lossy class with `alpha`");
            let error = error.label("it would compare an average of each egress queue, which is not modelled");
            return Err(error.help("give the lossy class a `queue_limit` instead, or use \"abm\""));
        }
        rule => read_dynamic(table, rule, context)?,
    };
    let active = read_active(table, thresholds.rule())?;
    let headroom = read_headroom(table)?;
    let set_aside = table.choice("headroom_reserved_per", words::HEADROOM_RESERVED_PER)?;
    let signalling = match table.is("signalling", "timed")? {
        false => Signalling::OnOff,
        true => {
            let pause = table.interval("pause_time")?;
            let refresh = table.interval("refresh")?;
            table.not_below("refresh", refresh, Span::from_ns(1))?;
            if refresh >= pause {
                let error = table.error("refresh", "a pause would run out before it is refreshed");
                return Err(error.label(format!("less than pause_time = {pause}")));
            }
            let resume = table.choice("resume_at", words::RESUME_AT)?;
            // With checks, a look at every arrival is the rule.
            let per_arrival = resume == ResumeAt::Checks || table.flag("refresh_on_arrival")?;
            Signalling::Timed { pause, refresh, per_arrival, resume }
        }
    };
    Ok(PfcSettings { thresholds, headroom, set_aside, signalling, active })
}

/// Frame bytes that are left of trimmed packets. Without a class that drops, or without NACKs, nothing may be trimmed.
fn read_trim(table: &mut Table, context: &SwitchContext) -> Result<Option<u16>> {
    if !context.may_trim || !table.flag("trim")? {
        return Ok(None);
    }
    Ok(Some(table.bytes("trim_size", 64..=512)? as u16))
}

const BYTES: std::ops::RangeInclusive<u64> = 0..=1 << 40;
const ALPHA: std::ops::RangeInclusive<f64> = 0.001..=1024.0;

fn read_static(table: &mut Table) -> Result<Thresholds> {
    let xoff_bytes = table.bytes("xoff", BYTES)?;
    // An inherited XON belongs to the inherited XOFF.
    let xon_bytes = match table.inherits("xon") && !table.has("xoff") {
        true => table.bytes("xon", BYTES)?,
        false => table.bytes_or("xon", BYTES, xoff_bytes.saturating_sub(2000))?,
    };
    if xon_bytes > xoff_bytes {
        let error = table.error("xon", "`xon` is above `xoff`");
        return Err(error.label(format!("at most xoff = {}", quantity::format_bytes(xoff_bytes))));
    }
    Ok(Thresholds::Static { xoff_bytes, xon_bytes })
}

fn read_dynamic(table: &mut Table, rule: Rule, context: &SwitchContext) -> Result<Thresholds> {
    let alpha = if table.is_text("alpha") {
        let up = table.is("alpha", "by-speed-up")?;
        let base = table.number("alpha_base", ALPHA)?;
        let nic_rate = match table.inherits("nic_rate") {
            true => table.rate("nic_rate")?,
            false => table.rate_or("nic_rate", context.nic_rate)?,
        };
        if up { Alpha::BySpeedUp { base, nic_rate } } else { Alpha::BySpeed { base, nic_rate } }
    } else {
        Alpha::Fixed(table.number("alpha", ALPHA)?)
    };
    Ok(Thresholds::Dynamic {
        alpha,
        reserve_bytes: table.bytes("reserve", BYTES)?,
        resume_offset_bytes: table.bytes("xon_offset", BYTES)?,
        resume_below_bytes: table.bytes("xon_floor", 1..=1 << 40)?,
        rule: match rule {
            Rule::Dynamic => table.choice("headroom_rule", words::HEADROOM_RULE)?,
            other => other,
        },
    })
}

/// What a rule that counts busy queues counts, and how.
fn read_active(table: &mut Table, rule: Rule) -> Result<ActiveSettings> {
    let mut active = ActiveSettings::default();
    if !rule.counts_active() {
        return Ok(active);
    }
    active.saturation_bytes = table.bytes("saturation", 1..=1 << 40)?;
    active.counting = table.choice("active_queues", words::ACTIVE_QUEUES)?;
    match rule {
        Rule::Abm => {
            let interval = table.interval("drain_interval")?;
            active.interval = table.not_below("drain_interval", interval, Span::from_ns(100))?;
            active.unscheduled = match words::UNSCHEDULED.iter().any(|(word, _)| table.text_is("unscheduled", word)) {
                true => table.choice("unscheduled", words::UNSCHEDULED)?,
                false => Unscheduled::Bytes(table.bytes("unscheduled", BYTES)?),
            };
            if active.unscheduled != Unscheduled::None {
                active.unscheduled_alpha = table.number("unscheduled_alpha", ALPHA)?;
            }
        }
        _ => active.gamma = table.number("gamma", 0.0..=0.999_999)?,
    }
    Ok(active)
}

fn read_headroom(table: &mut Table) -> Result<Headroom> {
    if table.text_is("headroom", "auto") || table.text_is("headroom", "bdp") {
        return match table.is("headroom", "auto")? {
            true => Ok(Headroom::Auto),
            false => Ok(Headroom::Bdps(table.count("headroom_bdps", 0..=1000)? as u32)),
        };
    }
    Ok(Headroom::Bytes(table.bytes("headroom", BYTES)?))
}

fn read_watchdog(table: &mut Table) -> Result<Watchdog> {
    let poll = table.interval("poll")?;
    Ok(Watchdog {
        poll: table.not_below("poll", poll, Span::from_us(1))?,
        detect: table.interval("detect")?,
        restore: table.interval("restore")?,
        action: table.choice("action", words::WATCHDOG_ACTION)?,
    })
}

/// `[host]` without its profiles, which need the topology: frame sizes are the same everywhere,
/// for a wire has one idea of a gap and of a PFC frame.
pub fn read_host(table: &mut Table) -> Result<HostSettings> {
    let mut size = |key: &str, least: u64| -> Result<u32> { Ok(table.bytes(key, least..=512)? as u32) };
    let sizes = FrameSizes {
        data_header_bytes: size("data_header", 1)?,
        ack_bytes: size("ack_size", 1)?,
        tcp_header_bytes: size("tcp_header", 1)?,
        tcp_ack_bytes: size("tcp_ack_size", 1)?,
        notification_bytes: size("notification_size", 1)?,
        pfc_bytes: size("pfc_size", 1)?,
        gap_bytes: size("gap", 0)?,
        min_frame_bytes: size("min_frame", 1)?,
    };
    let recovery = recovery::read(table)?;
    read_host_behaviour(table, sizes, recovery)
}

fn read_host_behaviour(table: &mut Table, sizes: FrameSizes, recovery: Recovery) -> Result<HostSettings> {
    let defaults = HostSettings::default();
    // Other recoveries answer by rules of their own.
    let (ack_every, nak_interval) = match recovery {
        Recovery::GoBackN => (table.count("ack_every", 1..=1000)? as u32, table.interval("nak_interval")?),
        _ => (1, defaults.nak_interval),
    };
    let settings = HostSettings {
        mtu_bytes: table.bytes("mtu", 64..=9216)? as u32,
        sizes,
        ack_every,
        ack_class: table.choice("ack_class", words::ACK_CLASS)?,
        ack_delay: table.span("ack_delay")?,
        notify_delay: table.span("notify_delay")?,
        nak_interval,
        retransmit_timeout: table.interval("retransmit_timeout")?,
        recovery,
        pfc_response: read_response(table)?,
        nic: read_nic(table)?,
    };
    if settings.nic.inflight_cap.is_some() && settings.ack_every > 1 {
        // The sender would wait for an ACK, the receiver for packets to acknowledge.
        let error = table.error("inflight_cap", "a cap on bytes in flight needs an ACK for every packet");
        return Err(error.label("leave out `ack_every`, or the cap"));
    }
    Ok(settings)
}

fn read_nic(table: &mut Table) -> Result<NicSettings> {
    let scheduler = match table.is("scheduler", "scan")? {
        false => NicScheduler::Ready,
        true => {
            let acks_paused_by = match table.is_text("acks_paused_by") {
                true => table.choice("acks_paused_by", &[("none", None)])?,
                false => Some(table.count("acks_paused_by", 0..=7)? as u8),
            };
            NicScheduler::Scan { acks_paused_by }
        }
    };
    let inflight_cap = match table.choice("inflight_cap", words::INFLIGHT_CAP)? {
        None => None,
        Some(longest) => {
            let at_line_rate = table.is("inflight_rate", "line")?;
            Some(InflightCap { longest, at_line_rate, scales: table.flag("inflight_scales")? })
        }
    };
    let (follow_rate, pace) = (table.flag("repace_on_rate_change")?, table.flag("pace")?);
    Ok(NicSettings { scheduler, follow_rate, pace, inflight_cap })
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
        row.inherit(&root.recorder().table("host"));
        profiles.push(read_host_behaviour(&mut row, profiles[0].sizes, profiles[0].recovery)?);
        row.finish()?;
    }
    Ok(profiles)
}
