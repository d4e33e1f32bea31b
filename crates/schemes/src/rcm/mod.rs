//! RCM: regional congestion mitigation (NPC 2017).
//!
//! Switches find the region of a congestion by themselves and act in it, hop by hop, while an
//! end-to-end scheme (the base) runs beneath. Four modules per switch: `crd` detects congestion at
//! inputs and outputs, `cfr` names the harmful flows at the root, `rcc` limits them at every
//! output of the region, `sar` detours the others. Notifications (CNs) carry degree and flow IDs
//! from an input to the neighbour upstream.
//!
//! Section numbers in comments are those of the specification that `docs/schemes/rcm.md` follows.

mod cfr;
mod crd;
mod rcc;
mod sar;
mod spec;
#[cfg(test)]
mod tests;

use crate::param::{ParamValues, SchemeSpec};
use crate::parts::frame_content;
use crate::registry::{Configured, Overlay};
use cfr::{Cam, Ids};
use crd::Crd;
pub use rcc::Window;
use rcc::{Rcc, WindowLaw};
use sar::{Flowlets, Notifications};
use spec::{Cuts, InputQueues, Order, Renewal, SarPorts, WindowMeasure};
pub use spec::{Params, Reorder, Rule, Sampling};
use std::sync::Arc;
use xoff_engine::{BitRate, Span, Time, stream};
use xoff_fabric::scheme::*;

/// A configured RCM.
#[derive(Clone, Debug)]
pub struct Rcm {
    params: Arc<Params>,
}

impl Configured for Rcm {
    const SPEC: SchemeSpec = spec::SPEC;

    fn configure(values: &ParamValues) -> Rcm {
        Rcm { params: Arc::new(Params::read(values)) }
    }

    fn validation_error(values: &ParamValues) -> Option<String> {
        let params = Params::read(values);
        if params.q_eq == 0 {
            Some("`q_eq` must not be zero: the degree is measured against it".into())
        } else if params.queue_size == 0 {
            Some("`queue_size` is zero: no packet could reach an output".into())
        } else if params.t_cn.at(BitRate::from_gbps(100)) < Span::from_ns(100) {
            Some("`t_cn` is below 100 ns at 100 Gb/s: less than any notification takes".into())
        } else if params.sample_min > params.sample_max {
            Some("`sample_min` is larger than `sample_max`".into())
        } else if params.window_min > params.window_max {
            Some("`window_min` is larger than `window_max`".into())
        } else {
            None
        }
    }
}

/// Everything happens in switches: what reaches the hosts is the base's alone.
impl Overlay for Rcm {}

impl Scheme for Rcm {
    type Feedback = ();
    type Cp = Silent;
    type Np = Silent;
    type Rp = Unlimited;
    type Transit = Absent;
    type Switch = Control;

    fn congestion_point(&self, _: &QueueFacts) -> Silent {
        Silent::default()
    }
    fn notification_point(&self, _: &FlowFacts) -> Silent {
        Silent::default()
    }
    fn reaction_point(&self, of: &FlowFacts) -> Unlimited {
        Unlimited(of.line_rate.bps() as f64)
    }
    fn controls_switches(&self) -> bool {
        true
    }
    /// Section 6: detours put packets out of order; receivers of its own flows may tolerate that.
    fn format(&self) -> Format {
        let reorder = self.params.sar && self.params.reorder == Reorder::Accept;
        // Where ACKs are gathered, a sender with a window of a packet would wait for TCP's 40 ms.
        Format { reorder, ack_timeout: Span::from_us(50), ..Format::default() }
    }
    fn switch_control(&self, at: &SwitchFacts<'_>) -> Option<Control> {
        Some(Control::new(self.params.clone(), at))
    }
}

/// Leaves the rate to the base.
#[derive(Clone, Copy, Debug)]
pub struct Unlimited(f64);

impl ReactionPoint for Unlimited {
    type Feedback = ();
    #[inline]
    fn limits(&self) -> Limits {
        Limits { rate_bps: self.0, window_bytes: u64::MAX }
    }
}

/// A congestion notification (section 3), from an input to the neighbour that feeds it.
#[derive(Clone, Copy, Debug)]
pub struct Cn {
    degree: u8,
    class: u8,
    harmful: Ids,
}

/// Section 3: Ethernet header, degree with class and count, check sum and 13 B per 5-tuple, in at
/// least the smallest frame.
fn cn_bytes(ids: usize) -> u32 {
    (14 + 4 + 2 + 13 * ids as u32 + 4).max(64)
}

/// What a port is to a region (section 1).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    /// Neither flag.
    Outside,
    /// Local flag only: runs CFR.
    Root,
    /// Remote flag only.
    Edge,
    /// Both.
    Inner,
}

/// Times and sizes of one port, by its rate.
#[derive(Clone, Copy, Debug)]
struct PortSettings {
    to_switch: bool,
    t_cn: Span,
    cn_spacing: Span,
    cam_expiry: Span,
    window: WindowLaw,
    sar_span: Span,
    flowlet_gap: Span,
}

/// A notification that is still valid.
#[derive(Clone, Copy, Debug)]
struct Remote {
    degree: u8,
    until: Time,
}

/// One class of one port: its input and its output side.
#[derive(Clone, Debug)]
struct Point {
    output: Crd,
    /// The next notification may leave by this port.
    cn_at: Time,
    remote: Option<Remote>,
    /// The IDs that came with it.
    received: Ids,
    /// Until when an input congested by packets for this output counts as its local flag.
    fed_until: Option<Time>,
    cam: Cam,
    /// The harmful flows of this output now.
    harmful: Ids,
    rcc: Rcc,
    notifications: Notifications,
}

impl Point {
    #[inline]
    fn in_region(&self) -> bool {
        self.output.congested || self.remote.is_some()
    }
}

/// The control of one switch.
#[derive(Clone, Debug)]
pub struct Control {
    params: Arc<Params>,
    classes: u8,
    ports: Vec<PortSettings>,
    /// `port * classes + class`
    points: Vec<Point>,
    /// The detectors of inputs: as `points`, or `(port * ports + egress) * classes + class`.
    inputs: Vec<Crd>,
    /// Outputs whose list of harmful flows is another than the world knows.
    changed: Vec<(u16, u8)>,
    flowlets: Flowlets,
    /// Outputs in a region.
    in_region: u32,
    /// Nothing is due before.
    next: Time,
}

impl Control {
    fn new(params: Arc<Params>, at: &SwitchFacts<'_>) -> Control {
        // Section 7: times at other speeds are in inverse proportion to the rate.
        let ports = (at.ports.iter()).map(|port| PortSettings {
            to_switch: port.to_switch,
            t_cn: params.t_cn.at(port.rate),
            cn_spacing: params.cn_spacing.at(port.rate),
            cam_expiry: params.cam_expiry.at(port.rate),
            window: WindowLaw {
                gain: params.g_d,
                min_bytes: params.window_min,
                max_bytes: params.window_max,
                mtu_bytes: u64::from(at.mtu_wire_bytes),
                rate: port.rate,
                again: params.window_measure == WindowMeasure::Again,
                one_cut: params.cuts == Cuts::PerWindow,
                others_first: params.order == Order::OthersFirst,
            },
            sar_span: params.sar_span.at(port.rate),
            flowlet_gap: params.flowlet_gap.at(port.rate),
        });
        let depth = params.cam_depth as u8;
        let point = |index: usize| Point {
            output: Crd::default(),
            cn_at: Time::ZERO,
            remote: None,
            received: Ids::EMPTY,
            fed_until: None,
            cam: Cam::new(depth, stream(at.seed, "flow recognition", at.switch << 24 | index as u64)),
            harmful: Ids::EMPTY,
            rcc: Rcc::default(),
            notifications: Notifications::default(),
        };
        let points = at.ports.len() * usize::from(at.classes);
        let inputs = match params.input_queues {
            InputQueues::Port => points,
            InputQueues::Voq => points * at.ports.len(),
        };
        Control {
            classes: at.classes,
            ports: ports.collect(),
            points: (0..points).map(point).collect(),
            inputs: vec![Crd::default(); inputs],
            params,
            changed: Vec::new(),
            flowlets: Flowlets::default(),
            in_region: 0,
            next: Time::NEVER,
        }
    }

    #[inline]
    fn index(&self, port: u16, class: u8) -> usize {
        usize::from(port) * usize::from(self.classes) + usize::from(class)
    }

    /// The detector of an input, for what goes to an output.
    #[inline]
    fn input_index(&self, ingress: u16, egress: u16, class: u8) -> usize {
        match self.params.input_queues {
            InputQueues::Port => self.index(ingress, class),
            InputQueues::Voq => {
                let voq = usize::from(ingress) * self.ports.len() + usize::from(egress);
                voq * usize::from(self.classes) + usize::from(class)
            }
        }
    }

    /// What a detector of an input measures.
    fn waiting_bytes(&self, ingress: u16, egress: u16, class: u8, occupancy: &impl Occupancy) -> u64 {
        match self.params.input_queues {
            InputQueues::Port => occupancy.input_bytes(ingress, class),
            InputQueues::Voq => occupancy.voq_bytes(ingress, egress, class),
        }
    }

    #[inline]
    fn point(&self, port: u16, class: u8) -> &Point {
        &self.points[self.index(port, class)]
    }

    /// What an output is to a region. An input congested by packets for it sets its local flag too,
    /// once it belongs to a region: alone, it does not say which output is to blame.
    pub fn role(&self, port: u16, class: u8) -> Role {
        let point = self.point(port, class);
        match (point.output.congested, point.remote.is_some()) {
            (false, false) => Role::Outside,
            (true, false) => Role::Root,
            (false, true) if point.fed_until.is_none() => Role::Edge,
            (_, true) => Role::Inner,
        }
    }

    /// Whether the input side of a port is congested.
    pub fn input_congested(&self, port: u16, class: u8) -> bool {
        (0..self.ports.len() as u16).any(|egress| self.inputs[self.input_index(port, egress, class)].congested)
    }

    /// The flows that an output takes for harmful now, ascending.
    pub fn harmful(&self, port: u16, class: u8) -> &[u32] {
        self.point(port, class).harmful.as_slice()
    }

    /// The window of an output where flows are limited.
    pub fn window(&self, port: u16, class: u8) -> Option<&Window> {
        self.point(port, class).rcc.window()
    }

    /// The port that a flow was moved to.
    pub fn detoured(&self, flow: u32) -> Option<u16> {
        self.flowlets.port(flow)
    }

    /// The regional degree of an output (eq 2).
    fn regional_degree(&self, port: u16, class: u8) -> u8 {
        let point = self.point(port, class);
        let own = if point.output.congested { point.output.degree } else { 0 };
        self.params.regional(own, point.remote.map(|remote| remote.degree))
    }

    #[inline]
    fn wake_at(&mut self, at: Time) {
        self.next = self.next.min(at);
    }

    /// Flags or rings have changed: what the output holds back follows.
    fn settle(&mut self, now: Time, port: u16, class: u8, was_in_region: bool) {
        let index = self.index(port, class);
        let settings = &self.ports[usize::from(port)];
        let point = &mut self.points[index];
        // Section 1: at edge and inner points the list is replaced by the one received from the
        // root. One without IDs names no flow, so it replaces nothing.
        let harmful = if point.remote.is_some() && !point.received.is_empty() {
            point.received
        } else if point.output.congested {
            point.cam.harmful(self.params.cfr_rule, settings.cam_expiry, now)
        } else {
            Ids::EMPTY
        };
        let in_region = point.in_region();
        if harmful != point.harmful {
            let before = std::mem::replace(&mut point.harmful, harmful);
            let wanted = wanted(point, settings, now);
            point.rcc.on_list(&settings.window, &before, &harmful, wanted);
            self.changed.push((port, class));
        }
        if !in_region {
            // Section 5: no explicit increase; RCC quits when both flags are clear.
            point.rcc.quit();
        }
        match (was_in_region, in_region) {
            (false, true) => self.in_region += 1,
            (true, false) => self.in_region -= 1,
            _ => {}
        }
    }

    /// Section 5: local congestion, or a notification, of this degree.
    fn limit(&mut self, now: Time, port: u16, class: u8, degree: u8) {
        let index = self.index(port, class);
        let settings = &self.ports[usize::from(port)];
        let point = &mut self.points[index];
        if point.harmful.is_empty() && !settings.window.again {
            // No flow is held back yet, and a window measured now would leave nothing to those
            // that will be.
            return;
        }
        let wanted = wanted(point, settings, now);
        point.rcc.on_congestion(&settings.window, degree, wanted);
    }

    /// Section 2: a congested input tells its neighbour, with the harmful IDs of the congested
    /// outputs that its virtual output queues hold packets for.
    fn notify(&mut self, packet: &Passing, occupancy: &impl Occupancy, send: &mut impl FnMut(u16, Cn)) {
        let (now, class) = (packet.now, packet.class);
        let index = self.index(packet.ingress, class);
        let most = self.params.cam_depth as usize;
        let (mut harmful, mut received) = (Ids::EMPTY, None);
        let whole_port = self.params.input_queues == InputQueues::Port;
        for egress in 0..self.ports.len() as u16 {
            let at = self.index(egress, class);
            let feeds = egress == packet.egress || whole_port && occupancy.voq_bytes(packet.ingress, egress, class) > 0;
            if !feeds || !self.points[at].in_region() {
                continue;
            }
            let t_cn = self.ports[usize::from(egress)].t_cn;
            let point = &mut self.points[at];
            point.fed_until = Some(now + t_cn);
            for &flow in point.harmful.as_slice() {
                harmful.insert(flow, most);
            }
            received = received.max(point.remote.map(|remote| remote.degree));
            self.wake_at(now + t_cn);
        }
        let own = self.inputs[self.input_index(packet.ingress, packet.egress, class)].degree;
        let settings = &self.ports[usize::from(packet.ingress)];
        let point = &mut self.points[index];
        if settings.to_switch && now >= point.cn_at {
            point.cn_at = now + settings.cn_spacing;
            let degree = self.params.regional(own, received);
            send(packet.ingress, Cn { degree, class, harmful });
        }
    }

    /// Section 2: a sample at an input.
    #[inline(never)]
    fn sample_input(&mut self, packet: &Passing, occupancy: &impl Occupancy, send: &mut impl FnMut(u16, Cn)) {
        let Passing { now, ingress, egress, class, .. } = *packet;
        let at = self.input_index(ingress, egress, class);
        let waiting_bytes = self.waiting_bytes(ingress, egress, class, occupancy);
        let input = &mut self.inputs[at];
        input.sample(&self.params, now, waiting_bytes);
        if input.congested {
            self.wake_at(now + self.ports[usize::from(ingress)].t_cn);
            self.notify(packet, occupancy, send);
        }
    }

    /// A packet enters an output that is in a region, or is a sample there; it may have been written
    /// into the ring.
    #[inline(never)]
    fn on_transfer_watched(&mut self, packet: &Passing, occupancy: &impl Occupancy, written: bool, sampled: bool) {
        let Passing { now, egress, class, flow, frame_bytes, .. } = *packet;
        let at = self.index(egress, class);
        let settings = &self.ports[usize::from(egress)];
        let point = &mut self.points[at];
        let was_in_region = point.in_region();
        if was_in_region {
            let place = point.harmful.position(flow);
            point.rcc.on_sent(&settings.window, now, frame_bytes, place);
        }
        if sampled {
            point.output.sample(&self.params, now, occupancy.output_bytes(egress, class));
        }
        let (congested, degree) = (point.output.congested, point.output.degree);
        if (written && was_in_region) || (sampled && (congested || was_in_region)) {
            self.settle(now, egress, class, was_in_region);
        }
        if sampled && congested {
            self.wake_at(now + self.ports[usize::from(egress)].t_cn);
            self.limit(now, egress, class, degree);
        }
    }

    /// Whether the last sample of a congested input is so old that its notification will expire.
    fn is_old(&self, input: usize, packet: &Passing) -> bool {
        let half = Span::from_ps(self.ports[usize::from(packet.ingress)].t_cn.ps() / 2);
        self.params.cn_renewal == Renewal::Time && self.inputs[input].sampled_at + half <= packet.now
    }

    /// Flags of an input that nothing renewed clear; when to look again.
    fn look_at_inputs(&mut self, now: Time, port: u16, class: u8, occupancy: &impl Occupancy) -> Time {
        let t_cn = self.ports[usize::from(port)].t_cn;
        let queues = match self.params.input_queues {
            InputQueues::Port => 1,
            InputQueues::Voq => self.ports.len() as u16,
        };
        let mut next = Time::NEVER;
        for egress in 0..queues {
            let at = self.input_index(port, egress, class);
            if self.inputs[at].congested {
                let bytes = self.waiting_bytes(port, egress, class, occupancy);
                next = next.min(self.inputs[at].expire(&self.params, now, t_cn, || bytes));
            }
        }
        next
    }

    /// The gate of an output where flows are limited.
    #[inline(never)]
    fn limited_gate(&mut self, now: Time, egress: u16, class: u8, waiting: Lanes, queues: &impl Occupancy) -> Lanes {
        let index = self.index(egress, class);
        let settings = &self.ports[usize::from(egress)];
        let point = &mut self.points[index];
        let (mut lanes, mut opens) = point.rcc.gate(&settings.window, now, waiting);
        if opens.is_some() && point.output.congested && queues.output_bytes(egress, class) == 0 {
            // The queue has run empty and would stay so: what RCC holds back brings no samples. So
            // this is one, and it clears the local flag.
            point.output.sample(&self.params, now, 0);
            self.settle(now, egress, class, true);
            (lanes, opens) = self.points[index].rcc.gate(&self.ports[usize::from(egress)].window, now, waiting);
        }
        if let Some(at) = opens {
            self.wake_at(at);
        }
        lanes
    }

    /// Whether flows should leave this output (section 6): many notifications, or a long queue.
    fn wants_detours(&self, now: Time, port: u16, class: u8, occupancy: &impl Occupancy) -> bool {
        let (point, settings) = (self.point(port, class), &self.ports[usize::from(port)]);
        point.in_region()
            && (point.notifications.within(now, settings.sar_span) >= self.params.sar_cns as usize
                || occupancy.output_bytes(port, class) > self.params.full_bytes())
    }
}

/// The listed flows, by their place, that pass this output: those its own ring has seen. The others
/// on a list from downstream come by other ways, and nothing here may wait for them.
fn wanted(point: &Point, settings: &PortSettings, now: Time) -> u64 {
    let seen = |flow: &u32| point.cam.holds(settings.cam_expiry, now, *flow);
    let places = point.harmful.as_slice().iter().enumerate().filter(|(_, flow)| seen(flow));
    places.fold(0, |mask, (place, _)| mask | 1 << place)
}

impl SwitchControl for Control {
    type Message = Cn;

    fn output_queue_bytes(&self) -> u64 {
        self.params.queue_size
    }

    /// The input side of CRD (section 2). Where little comes in, bytes alone would let notifications
    /// expire while congestion lasts.
    #[inline]
    fn on_arrival(&mut self, packet: &Passing, occupancy: &impl Occupancy, mut send: impl FnMut(u16, Cn)) {
        let at = self.input_index(packet.ingress, packet.egress, packet.class);
        let input = &mut self.inputs[at];
        let due = input.on_arrival(&self.params, packet.frame_bytes);
        if due || input.congested && self.is_old(at, packet) {
            self.sample_input(packet, occupancy, &mut send);
        }
    }

    /// CFR, RCC's count and the output side of CRD.
    #[inline]
    fn on_transfer(&mut self, packet: &Passing, occupancy: &impl Occupancy) {
        let at = self.index(packet.egress, packet.class);
        let point = &mut self.points[at];
        let written = point.cam.on_packet(&self.params, packet.now, packet.flow);
        let sampled = point.output.on_arrival(&self.params, packet.frame_bytes);
        if sampled || point.in_region() {
            self.on_transfer_watched(packet, occupancy, written, sampled);
        }
    }

    #[inline]
    fn lane(&self, egress: u16, class: u8, flow: u32) -> Lane {
        let harmful = &self.point(egress, class).harmful;
        if harmful.is_empty() || harmful.position(flow).is_none() { Lane::Free } else { Lane::Held }
    }

    #[inline]
    fn take_changed(&mut self) -> Option<(u16, u8)> {
        self.changed.pop()
    }

    #[inline]
    fn gate(&mut self, now: Time, egress: u16, class: u8, waiting: Lanes, queues: &impl Occupancy) -> Lanes {
        match self.point(egress, class).rcc.window() {
            None => Lanes::BOTH,
            Some(_) => self.limited_gate(now, egress, class, waiting, queues),
        }
    }

    #[inline]
    fn detours(&self) -> bool {
        self.params.sar && (self.in_region > 0 || !self.flowlets.is_empty())
    }

    /// Section 6. Harmful flows are never detoured; a flow that was moved keeps to its port until it
    /// is listed at one of those it may take.
    fn choose(&mut self, packet: &Passing, candidates: &[u16], occupancy: &impl Occupancy) -> u16 {
        let Passing { now, egress, class, flow, .. } = *packet;
        if !self.params.sar {
            return egress;
        }
        let listed = |port: &u16| self.lane(*port, class, flow) == Lane::Held;
        if listed(&egress) || candidates.iter().any(listed) {
            self.flowlets.forget(flow);
            return egress;
        }
        if let Some(port) = self.flowlets.follow(flow, now) {
            if candidates.contains(&port) {
                return port;
            }
            self.flowlets.forget(flow);
        }
        if !self.wants_detours(now, egress, class, occupancy) {
            return egress;
        }
        let degree = self.regional_degree(egress, class);
        let any = self.params.sar_ports == SarPorts::Any;
        let available = |port: &u16| *port != egress && (any || !self.point(*port, class).in_region());
        let margin = self.params.sar_margin as u8;
        let lower = |port: &u16| self.regional_degree(*port, class) + margin <= degree;
        let rank = |port: &u16| (self.regional_degree(*port, class), occupancy.output_bytes(*port, class));
        let best = candidates.iter().copied().filter(available).filter(lower).min_by_key(rank);
        let Some(port) = best else { return egress };
        let gap = self.ports[usize::from(egress)].flowlet_gap;
        self.flowlets.move_to(flow, port, gap, now);
        self.wake_at(now + gap + Span::from_ps(1));
        port
    }

    /// Section 2: the port on the same link sets its remote flag, and its output runs RCC.
    fn on_message(&mut self, now: Time, port: u16, cn: &Cn) {
        let index = self.index(port, cn.class);
        let until = now + self.ports[usize::from(port)].t_cn;
        let strong = self.params.sar && u64::from(cn.degree) >= self.params.sar_strong;
        let point = &mut self.points[index];
        let was_in_region = point.in_region();
        point.remote = Some(Remote { degree: cn.degree, until });
        if !cn.harmful.is_empty() {
            point.received = cn.harmful;
        }
        if strong {
            point.notifications.note(now);
        }
        self.wake_at(until);
        self.settle(now, port, cn.class, was_in_region);
        self.limit(now, port, cn.class, cn.degree);
    }

    fn message_bytes(&self, cn: &Cn) -> u32 {
        cn_bytes(cn.harmful.as_slice().len())
    }

    /// Degree, class and count in four bytes, two for what this is, and the 5-tuples.
    fn frame_content(&self, cn: &Cn) -> FrameContent {
        let flows = cn.harmful.as_slice().to_vec();
        let bytes = vec![cn.degree, cn.class, 0, flows.len() as u8, 0, frame_content::code::REGION];
        let says = format!("congestion of degree {}, {} harmful flows", cn.degree, flows.len());
        FrameContent { code: frame_content::code::REGION, bytes, flows, says, ..FrameContent::default() }
    }

    fn read_content(&self, content: &FrameContent) -> Option<Cn> {
        let &[degree, class, ..] = content.bytes.as_slice() else { return None };
        let mut harmful = Ids::EMPTY;
        content.flows.iter().for_each(|flow| harmful.insert(*flow, content.flows.len()));
        let fits = content.code == frame_content::code::REGION && usize::from(class) < usize::from(self.classes);
        fits.then_some(Cn { degree, class, harmful })
    }

    /// Flags that nothing renewed clear (section 2).
    fn on_timer(&mut self, now: Time, occupancy: &impl Occupancy) {
        let mut next = self.flowlets.purge(now).unwrap_or(Time::NEVER);
        for port in 0..self.ports.len() as u16 {
            let t_cn = self.ports[usize::from(port)].t_cn;
            for class in 0..self.classes {
                let index = self.index(port, class);
                next = next.min(self.look_at_inputs(now, port, class, occupancy));
                let point = &mut self.points[index];
                let was_in_region = point.in_region();
                let output_bytes = || occupancy.output_bytes(port, class);
                next = next.min(point.output.expire(&self.params, now, t_cn, output_bytes));
                if point.remote.is_some_and(|remote| remote.until <= now) {
                    point.remote = None;
                    point.received = Ids::EMPTY;
                }
                if point.fed_until.is_some_and(|until| until <= now) {
                    point.fed_until = None;
                }
                next = point.remote.map_or(next, |remote| next.min(remote.until));
                next = point.fed_until.map_or(next, |until| next.min(until));
                if was_in_region {
                    self.settle(now, port, class, true);
                }
            }
        }
        self.next = next;
    }

    #[inline]
    fn timer(&self) -> Option<Time> {
        (self.next != Time::NEVER).then_some(self.next)
    }
}
