//! Every key of the dictionary is read and changes something.

use super::*;
use crate::dictionary::{self, Kind};
use std::collections::BTreeSet;

/// A scenario around a topology; every host sends to one other.
fn base(topology: &str, more: &str) -> String {
    format!("[run]\nstop=\"1ms\"\n[topology]\n{topology}\n{more}\n[[traffic]]\nkind=\"permutation\"\n")
}

fn load(text: &str, sets: &[&str]) -> Loaded {
    let options = Options { sets: sets.iter().map(|set| (*set).to_owned()).collect(), ..Options::default() };
    match Scenario::from_text("t", text, Path::new(".")).load(&options) {
        Ok(loaded) => loaded,
        Err(errors) => panic!("{sets:?}: {}", errors[0]),
    }
}

fn print(loaded: &Loaded) -> String {
    let Loaded { name, description, plan, schemes, output, traffic, captures, measures, .. } = loaded;
    let traffic: Vec<String> = traffic.iter().map(|plan| format!("{:?}", plan.generator)).collect();
    format!("{name}\n{description}\n{plan:?}\n{schemes:?}\n{traffic:?}\n{output:?}\n{captures:?}\n{measures:?}")
}

/// Two jobs, and what is measured of them.
const JOBS: &str = "[[measure]]\nname=\"a\"\nmetric=\"busbw\"\n\
    [[traffic]]\nkind=\"all-reduce\"\nname=\"a\"\nbytes=\"1MB\"\n\
    [[traffic]]\nkind=\"all-gather\"\nname=\"b\"\nbytes=\"1MB\"\n";
const STAR: &str = "kind=\"star\"\nhosts=4\nrate=\"100Gbps\"";
const LINKED: &str = "kind=\"custom\"\nhosts=[\"A\",\"B\"]\nswitches=[\"S\",\"T\"]\n\
    [[topology.link]]\na=[\"A\",\"B\"]\nb=\"S\"\nrate=\"100Gbps\"\n\
    [[topology.link]]\na=\"S\"\nb=\"T\"\nrate=\"100Gbps\"";
const TIMED: &str = "[switch.pfc]\nthreshold=\"static\"\nxoff=\"100KB\"\nsignalling=\"timed\"";
const CLASSES: &str = "[[class]]\nname=\"data\"\npriority=1\nservice=\"weighted\"\n\
    [[class]]\nname=\"bulk\"\npriority=0\nlossless=false\n[[class]]\nname=\"control\"\npriority=6\n";
const FAULTS: &str = "[[fault]]\nkind=\"rate\"\nat=\"1us\"\nlink=\"h0->sw\"\nrate=\"1Gbps\"\n\
    [[fault]]\nkind=\"loss\"\nat=\"2us\"\nlink=\"h0->sw\"\nloss=0.5\n\
    [[fault]]\nkind=\"pause-storm\"\nat=\"3us\"\nhost=\"h1\"\n\
    [[fault]]\nkind=\"link-down\"\nat=\"4us\"\nlink=\"h2->sw\"";
const PROFILES: &str =
    "[[switch_profile]]\nselect=\"leaf0\"\nbuffer=\"64MB\"\n[[host_profile]]\nselect=\"h0\"\nmtu=\"500B\"";

/// Probes and measures of a star.
const MEASURES: &str = "[[probe]]\nwhat=\"queue\"\nports=\"sw->*\"\n[[probe]]\nwhat=\"paused\"\nports=\"sw->*\"\n\
    [[measure]]\nname=\"a\"\nmetric=\"fct\"\nstat=\"mean\"\nunit=\"us\"\n\
    [[measure]]\nname=\"b\"\nmetric=\"fct-by-size\"\nstat=\"mean\"\nunit=\"us\"\nedges=[\"1KB\",\"2KB\"]\n\
    [[measure]]\nname=\"c\"\nmetric=\"flow-count\"\nwhich=\"all\"\n\
    [[measure]]\nname=\"d\"\nmetric=\"mean\"\nseries=\"queue\"\nof=\"sw->h0\"\nunit=\"KB\"\n\
    [[measure]]\nname=\"e\"\nmetric=\"mean\"\nseries=\"queue\"\nof=\"sw->h*\"\nunit=\"KB\"\nacross=\"each\"\ncombine=\"max\"\n\
    [[measure]]\nname=\"f\"\nmetric=\"percentile\"\nseries=\"queue\"\nof=\"sw->h0\"\nunit=\"KB\"\np=50\n\
    [[measure]]\nname=\"g\"\nmetric=\"first-time\"\nseries=\"queue\"\nof=\"sw->h0\"\nunit=\"us\"\nabove=1\nseries_unit=\"KB\"\n\
    [[measure]]\nname=\"h\"\nmetric=\"first-time\"\nseries=\"queue\"\nof=\"sw->h0\"\nunit=\"us\"\nbelow=1\nseries_unit=\"KB\"\n\
    [[measure]]\nname=\"i\"\nmetric=\"first-time\"\nseries=\"queue\"\nof=\"sw->h0\"\nunit=\"us\"\ntarget=1\nseries_unit=\"KB\"\n\
    [[measure]]\nname=\"j\"\nmetric=\"recovery-time\"\nseries=\"queue\"\nof=\"sw->h0\"\nunit=\"us\"\nfrom=\"50us\"\nbefore_window=\"10us\"\n\
    [[measure]]\nname=\"k\"\nmetric=\"recovery-time\"\nseries=\"queue\"\nof=\"sw->h0\"\nunit=\"us\"\nbefore=1\nseries_unit=\"KB\"\n\
    [[measure]]\nname=\"l\"\nmetric=\"count-changes\"\nseries=\"queue\"\nof=\"sw->h0\"\n\
    [[measure]]\nname=\"m\"\nmetric=\"peaks\"\nseries=\"queue\"\nof=\"sw->h0\"\nfloor=1\nseries_unit=\"KB\"\n\
    [[measure]]\nname=\"n\"\nmetric=\"largest-share\"\nseries=\"queue\"\nof=\"sw->h*\"\namong=\"sw->h0\"\n\
    [[measure]]\nname=\"o\"\nmetric=\"curve\"\nseries=\"queue\"\nof=\"sw->h0\"\nunit=\"KB\"\n\
    [[measure]]\nname=\"p\"\nmetric=\"pause-count\"\n\
    [[measure]]\nname=\"q\"\nmetric=\"port\"\nwhat=\"marks\"\nof=\"sw->h0\"\n\
    [[measure]]\nname=\"r\"\nmetric=\"counter\"\nof=\"marks\"\n";

/// Scenarios, and for each the settings that must change what is loaded from it.
fn rows() -> Vec<(String, Vec<&'static str>)> {
    let row = |topology: &str, more: &str, sets: &[&'static str]| (base(topology, more), sets.to_vec());
    vec![
        row(
            STAR,
            "",
            &[
                "name=x",
                "description=x",
                "seed=2",
                "run.stop=2ms",
                "run.stop_when_idle=false",
                "run.allow_drops=true",
                "run.deadlock_check=off",
                "run.on_deadlock=record",
                "run.stall_after=off",
                "topology.hosts=5",
                "topology.rate=10Gbps",
                "topology.delay=2us",
                "output.csv=true",
                "output.figures=false",
                "output.pauses=false",
                "output.pfc_frames=true",
                "output.activity=false",
                "output.labels.dcqcn=x",
                "output.colours.dcqcn=#000000",
                "switch.buffer=1MB",
                "switch.count_passing=true",
                "switch.pfc_response=ieee",
                "switch.pfc.set_aside=port",
                "switch.pfc.resume_below=2KB",
                "switch.pfc.spill=latched",
                "switch.pfc.threshold=dynamic\u{0}",
                "switch.pfc.alpha=0.5",
                "switch.pfc.reserve=0B",
                "switch.pfc.resume_offset=0B",
                "switch.pfc.headroom=99KB",
                "switch.pfc.signalling=timed",
                "switch.watchdog.poll=1ms",
                "switch.watchdog.detect=1ms",
                "switch.watchdog.restore=1ms",
                "switch.watchdog.action=forward",
                "host.mtu=500B",
                "host.ack_every=2",
                "host.ack_class=data",
                "host.ack_path=symmetric",
                "host.ack_delay=1us",
                "host.notify_delay=1us",
                "host.nak_interval=1us",
                "host.retransmit_timeout=1us",
                "host.pfc_response=1us",
                "host.data_header=60B",
                "host.ack_size=60B",
                "host.tcp_header=70B",
                "host.tcp_ack_size=70B",
                "host.notification_size=60B",
                "host.pfc_size=60B",
                "host.gap=12B",
                "host.min_frame=60B",
                "host.scheduler=scan",
                "host.follow_rate=false",
                "host.pace=false",
                "host.inflight_cap=path-bdp",
                "model.time_grain=1ns",
                "model.ties=scheduled",
                "model.ecmp=murmur3",
                "model.next_hops=descending",
                "model.base_rtt=payload",
                "model.random=shared",
                "scheme.name=none",
                "scheme.preset=nic",
                "topology.override=[{links=\"h0->sw\",rate=\"1Gbps\"}]",
            ],
        ),
        row(STAR, "[scheme]\nname=\"mercury\"", &["scheme.base=timely"]),
        row(
            STAR,
            "[switch.pfc]\nheadroom=\"bdp\"\n[host]\nscheduler=\"scan\"\ninflight_cap=\"longest-bdp\"",
            &[
                "switch.pfc.headroom_bdps=2",
                "host.acks_paused_by=3",
                "host.inflight_scales=true",
                "host.inflight_rate=line",
            ],
        ),
        row(STAR, "[model]\nrandom=\"shared\"", &["model.first_stream=7"]),
        row(STAR, "[switch.pfc]\nalpha=\"by-speed\"", &["switch.pfc.alpha_base=0.5", "switch.pfc.nic_rate=10Gbps"]),
        row(
            STAR,
            TIMED,
            &[
                "switch.pfc.threshold=dynamic\u{0}",
                "switch.pfc.xoff=200KB",
                "switch.pfc.xon=1KB",
                "switch.pfc.pause_time=9us",
                "switch.pfc.refresh=1us",
                "switch.pfc.per_arrival=false",
                "switch.pfc.resume_at=checks",
            ],
        ),
        row(
            STAR,
            CLASSES,
            &[
                "class.0.name=gold",
                "class.0.priority=2",
                "class.0.lossless=false",
                "class.0.service=strict\u{0}",
                "class.0.weight=3",
                "class.1.queue_limit=9KB",
                "class.1.alpha=0.5",
                "class.0.control=true",
            ],
        ),
        row(
            STAR,
            FAULTS,
            &[
                "fault.0.kind=link-down\u{0}",
                "fault.0.at=9us",
                "fault.0.until=9us",
                "fault.0.link=h1->sw",
                "fault.0.rate=2Gbps",
                "fault.1.loss=0.1",
                "fault.2.host=h3",
            ],
        ),
        row(
            STAR,
            "[[class]]\nname=\"a\"\npriority=1\n[[class]]\nname=\"b\"\npriority=2\n[[class]]\nname=\"control\"\npriority=3\n\
            [[fault]]\nkind=\"pause-storm\"\nat=\"3us\"\nhost=\"h1\"\n[[probe]]\nwhat=\"queue\"\nports=\"sw->h0\"",
            &[
                "fault.0.class=b",
                "probe.0.class=b",
                "probe.0.what=paused",
                "probe.0.ports=sw->h1",
                "probe.0.every=9us",
                "probe.0.from=9us",
                "probe.0.until=9us",
            ],
        ),
        row(
            STAR,
            MEASURES,
            &[
                "measure.0.name=z",
                "measure.16.metric=drops\u{0}",
                "measure.0.unit=ms",
                "measure.0.stat=p99",
                "measure.0.flows=perm*",
                "measure.0.src=h0",
                "measure.0.dst=h0",
                "measure.0.over=1KB",
                "measure.0.up_to=1KB",
                "measure.0.started_from=1us",
                "measure.0.started_until=1us",
                "measure.0.priority=3",
                "measure.1.edges=[\"1KB\",\"3KB\"]",
                "measure.2.which=completed",
                "measure.3.series=paused\u{0}",
                "measure.3.of=sw->h1",
                "measure.17.of=drops",
                "measure.3.across=max",
                "measure.4.combine=min",
                "measure.3.window=20us",
                "measure.3.from=20us",
                "measure.3.until=20us",
                "measure.3.from_first_pause=sw->h1",
                "measure.3.until_last_pause=sw->h1",
                "measure.3.once_above=1",
                "measure.3.once_below=1",
                "measure.5.p=99",
                "measure.6.above=2",
                "measure.7.below=2",
                "measure.8.target=2",
                "measure.8.within=0.1",
                "measure.8.series_unit=B",
                "measure.9.part=0.9",
                "measure.9.before_window=20us",
                "measure.10.before=2",
                "measure.11.least=0.1",
                "measure.12.factor=2",
                "measure.12.floor=2",
                "measure.13.among=sw->h1",
                "measure.14.x_unit=us",
                "measure.14.points=500",
                "measure.15.by=sw->h0",
                "measure.15.layer=host",
                "measure.15.toward=h1",
                "measure.15.frames=all",
                "measure.16.what=drops",
            ],
        ),
        row(STAR, JOBS, &["measure.0.jobs=b", "measure.0.collectives=all-gather"]),
        row(
            STAR,
            "[[capture]]\nports=\"sw->h0\"",
            &[
                "capture.0.name=x",
                "capture.0.ports=sw->h1",
                "capture.0.directions=both",
                "capture.0.from=1us",
                "capture.0.until=2us",
                "capture.0.frames=3",
                "capture.0.snap=64B",
            ],
        ),
        row(
            "kind=\"dumbbell\"\nleft=2\nright=2\nrate=\"100Gbps\"",
            "",
            &[
                "topology.kind=leaf-spine\u{0}",
                "topology.left=3",
                "topology.right=3",
                "topology.trunk_rate=10Gbps",
                "topology.trunk_delay=9us",
                "topology.trunks=2",
            ],
        ),
        row(
            "kind=\"chain\"\nswitches=2\nhosts_per_switch=1\nrate=\"100Gbps\"",
            "",
            &["topology.switches=3", "topology.hosts_per_switch=2"],
        ),
        row("kind=\"parking-lot\"\nbottlenecks=2\nrate=\"100Gbps\"", "", &["topology.bottlenecks=3"]),
        row(
            "kind=\"leaf-spine\"\nleaves=2\nspines=1\nhosts_per_leaf=2\nhost_rate=\"100Gbps\"",
            PROFILES,
            &[
                "topology.leaves=3",
                "topology.spines=2",
                "topology.hosts_per_leaf=3",
                "topology.host_rate=10Gbps",
                "topology.host_delay=9us",
                "topology.fabric_rate=10Gbps",
                "topology.fabric_delay=9us",
                "topology.parallel=2",
                "switch_profile.0.select=leaf1",
                "host_profile.0.select=h1",
            ],
        ),
        row(
            "kind=\"fat-tree\"\nk=2\nhost_rate=\"100Gbps\"",
            "",
            &["topology.k=4", "topology.core_rate=10Gbps", "topology.core_delay=9us"],
        ),
        row(
            "kind=\"clos\"\npods=2\ntors_per_pod=1\naggs_per_pod=2\nhosts_per_tor=1\ncores=2\nhost_rate=\"100Gbps\"",
            "",
            &[
                "topology.pods=3",
                "topology.tors_per_pod=2",
                "topology.aggs_per_pod=1",
                "topology.hosts_per_tor=2",
                "topology.cores=4",
                "topology.core_wiring=full",
                "topology.core_parallel=2",
            ],
        ),
        row(
            "kind=\"two-dc\"\nleaves=1\nspines=1\nhosts_per_leaf=1\nhost_rate=\"10Gbps\"\nlong_delay=\"10us\"",
            "",
            &[
                "topology.dci_rate=1Gbps",
                "topology.dci_delay=9us",
                "topology.long_rate=1Gbps",
                "topology.long_delay=11us",
                "topology.long_links=2",
            ],
        ),
        row(
            "kind=\"rail\"\nservers=4\nspines=2\nsegment_servers=2",
            "",
            &[
                "topology.servers=5",
                "topology.gpus=16",
                "topology.nics=4",
                "topology.ports=2",
                "topology.segment_servers=4",
                "topology.spines=3",
                "topology.parallel=2",
                "topology.nic_rate=200Gbps",
                "topology.nic_delay=1us",
                "topology.fabric_rate=800Gbps",
                "topology.fabric_delay=1us",
                "topology.scale_up_rate=3600Gbps",
                "topology.scale_up_delay=50ns",
                "switch_profile=[{select=\"scale-up\",buffer=\"1MB\"}]",
            ],
        ),
        row("kind=\"dual-plane\"\nservers=2\nspines=1\nplanes=1", "", &["topology.ports=4"]),
        (
            format!("{}hosts=\"s*.n*.p0\"\n", base("kind=\"rail\"\nservers=2\nspines=1\nports=2", "")),
            vec!["topology.planes=2"],
        ),
        row("kind=\"server-clos\"\nservers=4\nspines=2\nservers_per_tor=2", "", &["topology.servers_per_tor=1"]),
        row("preset=\"dcn-plus\"\nservers=4", "", &["topology.preset=meta-roce"]),
        row(
            LINKED,
            "[[topology.override]]\nlinks=\"S->T\"\nrate=\"10Gbps\"\ndelay=\"2us\"\nloss=0.1",
            &[
                "topology.link.1.a=T\u{0}",
                "topology.link.1.b=S\u{0}",
                "topology.link.1.rate=1Gbps",
                "topology.link.0.delay=9us",
                "topology.link.0.reverse_rate=1Gbps",
                "topology.link.0.reverse_delay=9us",
                "topology.link.0.loss=0.1",
                "topology.link.1.count=2",
                "topology.order=[\"S\",\"A\",\"T\",\"B\"]",
                "topology.domain=[{switches=\"S\"},{switches=\"T\"}]",
                "topology.domain.0.switches=S\u{0}",
                "topology.override.0.links=T->S",
                "topology.override.0.rate=1Gbps",
                "topology.override.0.delay=9us",
                "topology.override.0.loss=0.2",
            ],
        ),
    ]
}

/// A setting that ends in NUL cannot be flipped alone; that it is read is seen elsewhere.
#[test]
fn every_setting_has_an_effect() {
    for (text, sets) in rows() {
        let plain = print(&load(&text, &[]));
        for set in sets.iter().filter(|set| !set.ends_with('\0')) {
            assert_ne!(print(&load(&text, &[set])), plain, "{set} changes nothing");
        }
    }
}

#[test]
fn every_key_of_the_dictionary_is_among_them() {
    let mut flipped: BTreeSet<String> = BTreeSet::new();
    for (_, sets) in rows() {
        for set in sets {
            let path = set.split('=').next().unwrap();
            let parts: Vec<&str> = path.split('.').filter(|part| part.parse::<usize>().is_err()).collect();
            flipped.insert(parts.join("."));
        }
    }
    for section in dictionary::sections().filter(|section| !section.path.starts_with("traffic")) {
        for key in section.keys {
            let path =
                if section.path.is_empty() { key.name.to_owned() } else { format!("{}.{}", section.path, key.name) };
            let listed = matches!(key.kind, Kind::Table | Kind::Tables) || flipped.contains(&path);
            assert!(listed, "no test flips `{path}`");
        }
    }
}
