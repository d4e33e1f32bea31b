//! Worked numbers of each rule, on a buffer alone. Packets have 1000 bytes unless said otherwise.

use super::*;
use xoff_engine::{Span, stream};

/// One of two busy egress queues, of so many bytes, which shares its link with another class; and the number of the
/// packet that comes.
struct Queue(u64, u32);

impl Egress for Queue {
    fn queue_bytes(&self) -> u64 {
        self.0
    }
    fn drain_share(&self) -> f64 {
        0.5
    }
    fn busy_queues(&self) -> u32 {
        2
    }
    fn psn(&self) -> Option<u32> {
        Some(self.1)
    }
}

/// Two ports, class 0 lossless and class 1 lossy; 90 KB to share, of which lossy packets may take 45 KB.
fn buffer(rule: Rule, reserve_bytes: u64, limit: QueueLimit) -> Buffer {
    let pools = Pools {
        bytes: 100_000,
        shared_bytes: 90_000,
        lossy_bytes: 45_000,
        reserve_bytes,
        xon_offset_bytes: 2_000,
        xon_floor_bytes: 1,
        active: rule.counts_active().then(|| {
            let settings = ActiveSettings { gamma: 0.5, ..ActiveSettings::default() };
            Box::new(Active::new(settings, [100_000_000_000; 2].into_iter(), 2, 0))
        }),
        ..Pools::default()
    };
    let lossless = match rule {
        Rule::Static => Ingress { xoff_bytes: 10_000, xon_bytes: 8_000, ..Ingress::default() },
        _ => Ingress { alpha: 0.125, ..Ingress::default() },
    };
    let ingresses = [
        Ingress { headroom_bytes: 2_500, ..lossless.clone() },
        Ingress { lossless: false, ..lossless.clone() },
        Ingress { headroom_bytes: 2_500, ..lossless.clone() },
        Ingress { lossless: false, ..lossless },
    ];
    Buffer::new(rule, pools, ingresses.into(), vec![UNLIMITED, limit])
}

const UNLIMITED: QueueLimit = QueueLimit { bytes: u64::MAX, alpha: None };

fn admit(buffer: &mut Buffer, class: u8, queue_bytes: u64, size_bytes: u64) -> Admission {
    let now = Time::from_us(1);
    let admission = buffer.admit(&Arrival { ingress: 0, class, size_bytes, egress: Queue(queue_bytes, 9), now });
    if let Admission::AboveXoff { .. } = admission {
        buffer.set_pausing(0, class, true);
    }
    admission
}

/// Admits until a packet is refused; returns where XOFF is reported first, where it rises, and the number stored.
fn fill(buffer: &mut Buffer) -> (u64, u64, u64) {
    let (mut first, mut rise, mut stored) = (0, 0, 0);
    loop {
        match admit(buffer, 0, 0, 1_000) {
            Admission::Stored => assert_eq!(first, 0, "above XOFF since packet {first}"),
            Admission::AboveXoff { rises } => {
                first = if first == 0 { stored + 1 } else { first };
                rise = if rises { stored + 1 } else { rise };
            }
            Admission::Refused => return (first, rise, stored),
            Admission::Dropped => panic!("a lossless packet was dropped"),
        }
        stored += 1;
    }
}

/// Releases until the ingress may resume; returns the bytes it then holds.
fn drain(buffer: &mut Buffer) -> u64 {
    while buffer.release(0, 0, 1_000, Time::from_us(2)) == Release::Quiet {
        assert!(!buffer.may_resume(0, 0));
    }
    assert!(buffer.may_resume(0, 0) && !buffer.is_above_xoff(0, 0));
    buffer.ingress(0, 0).bytes
}

#[test]
fn static_threshold_pauses_above_xoff_and_resumes_at_xon() {
    // 10 KB fit below XOFF, 2.5 KB of headroom hold two packets more.
    let mut buffer = buffer(Rule::Static, 0, UNLIMITED);
    assert_eq!(fill(&mut buffer), (11, 11, 12));
    assert_eq!((buffer.headroom_peak(0, 0), buffer.xoff(0, 0), buffer.lowest_xoff(0, 0)), (2_000, 10_000, 10_000));
    assert!(buffer.is_above_xoff(0, 0));
    assert_eq!(drain(&mut buffer), 8_000);
    assert_eq!(buffer.paused_alone(), Some(10_000));
    // Whatever else is stored: the other port has the same.
    assert_eq!(buffer.xoff(1, 0), 10_000);
}

#[test]
fn dynamic_threshold_is_alpha_times_the_free_pool() {
    // b bytes are within (90 KB - b) / 8 up to 10 KB: packet 10 reaches the threshold, packets 11 and 12 take headroom.
    let mut dynamic = buffer(Rule::Dynamic, 0, UNLIMITED);
    assert_eq!(fill(&mut dynamic), (10, 11, 12));
    assert_eq!((dynamic.headroom_peak(0, 0), dynamic.lowest_xoff(0, 0)), (2_000, 10_000));
    assert_eq!((dynamic.pools().shared_used, dynamic.pools().used_bytes), (10_000, 12_000));
    // The other port has what the first leaves: (90 - 10) / 8.
    assert_eq!((dynamic.xoff(1, 0), dynamic.paused_alone()), (10_000, Some(10_000)));
    // 8 KB and the offset of 2 KB are within (90 - 8) / 8 = 10.25 KB; 9 KB and 2 KB are not within 10.125 KB.
    assert_eq!(drain(&mut dynamic), 8_000);
    // A reserve of 4 KB comes first and is not of the pool.
    let mut reserved = buffer(Rule::Dynamic, 4_000, UNLIMITED);
    assert_eq!(fill(&mut reserved), (14, 15, 16));
    assert_eq!((reserved.pools().shared_used, reserved.paused_alone()), (10_000, Some(14_000)));
    assert_eq!(drain(&mut reserved), 12_000);
}

#[test]
fn latched_threshold_takes_headroom_until_it_is_empty() {
    // 10 KB are within (90 - 10) / 8 = 10 KB, 11 KB are above (90 - 11) / 8 = 9.875 KB.
    let mut latched = buffer(Rule::Latched, 0, UNLIMITED);
    assert_eq!(fill(&mut latched), (11, 11, 12));
    assert_eq!((latched.pools().shared_used, latched.headroom_peak(0, 0)), (10_000, 2_000));
    assert_eq!((latched.lowest_xoff(0, 0), latched.xoff(0, 0)), (9_875, 10_000));
    // One packet leaves, headroom still holds another: the next takes headroom though the pool has room.
    assert_eq!(latched.release(0, 0, 1_000, Time::from_us(2)), Release::Quiet);
    assert_eq!(admit(&mut latched, 0, 0, 500), Admission::AboveXoff { rises: false });
    assert_eq!((latched.pools().shared_used, latched.ingress(0, 0).in_headroom), (10_000, 1_500));
    // The first packet above the threshold may be larger than the headroom.
    let mut large = buffer(Rule::Latched, 0, UNLIMITED);
    assert_eq!(admit(&mut large, 0, 0, 10_001), Admission::AboveXoff { rises: true });
    assert_eq!((large.pools().shared_used, large.ingress(0, 0).in_headroom), (0, 10_001));
    assert_eq!(admit(&mut large, 0, 0, 1), Admission::Refused);
}

/// A rule that counts busy queues, over ports of 100 Gb/s with one lossless class.
fn counted(rule: Rule, ports: usize, (shared_bytes, alpha): (u64, f64), settings: ActiveSettings) -> Buffer {
    let pools = Pools {
        bytes: shared_bytes + 100_000,
        shared_bytes,
        xon_offset_bytes: 2_496,
        xon_floor_bytes: 1_248,
        active: rule
            .counts_active()
            .then(|| Box::new(Active::new(settings, std::iter::repeat_n(100_000_000_000, ports), 1, 2))),
        ..Pools::default()
    };
    let ingress = Ingress { alpha, headroom_bytes: 20_000, ..Ingress::default() };
    Buffer::new(rule, pools, vec![ingress; ports], vec![UNLIMITED])
}

fn come(buffer: &mut Buffer, ingress: usize, size_bytes: u64, psn: u32, us: u64) -> Admission {
    let now = Time::from_us(us);
    let admission = buffer.admit(&Arrival { now, ingress, class: 0, size_bytes, egress: Queue(0, psn) });
    if let Admission::AboveXoff { .. } = admission {
        buffer.set_pausing(ingress, 0, true);
    }
    admission
}

#[test]
fn abm_divides_the_free_pool_by_busy_queues_and_follows_their_drain_rates() {
    // 4 MB of which 1 MB are used, alpha 0.5. One busy queue.
    let mut one = counted(Rule::Abm, 1, (4_000_000, 0.5), ActiveSettings::default());
    assert_eq!(come(&mut one, 0, 1_000_000, 9, 1), Admission::Stored);
    assert_eq!(one.xoff(0, 0), 1_500_000);
    let mut four = counted(Rule::Abm, 4, (4_000_000, 0.5), ActiveSettings::default());
    for port in 0..4 {
        assert_eq!(come(&mut four, port, 250_000, 9, 1), Admission::Stored);
    }
    assert_eq!(four.xoff(0, 0), 375_000);
    // 78,125 B in 25 us are a quarter of the rate of port 0.
    assert_eq!(four.release(0, 0, 78_125, Time::from_us(2)), Release::Quiet);
    assert_eq!(come(&mut four, 0, 78_125, 9, 3), Admission::Stored);
    assert_eq!(come(&mut four, 1, 0, 9, 26), Admission::Stored);
    assert_eq!([0, 1].map(|port| four.xoff(port, 0)), [93_750, 375_000]);
    // The first two packets of a flow have 1024 x 3 MB / 4 x 0.25 = 192 MB.
    let mut early = four.clone();
    assert_eq!(come(&mut early, 0, 1_000, 1, 27), Admission::Stored);
    assert_eq!(come(&mut four, 0, 1_000, 2, 27), Admission::AboveXoff { rises: true });
    assert_eq!((four.ingress(0, 0).in_headroom, four.pools().shared_used), (1_000, 1_000_000));
    // RESUME 2496 B below the threshold: the queue has drained, and mu is 1 again.
    assert_eq!(four.release(0, 0, 1_000, Time::from_us(60)), Release::Resume);
}

#[test]
fn abm_in_its_authors_simulator_counts_what_drains_without_pause_as_it_came() {
    for (counting, xoff) in [(Counting::Current, 500_000), (Counting::Evaluated, 250_000)] {
        let settings = ActiveSettings { counting, ..ActiveSettings::default() };
        let mut buffer = counted(Rule::Abm, 2, (1_000_000, 0.5), settings);
        assert_eq!(come(&mut buffer, 0, 40_000, 9, 1), Admission::Stored);
        assert_eq!(come(&mut buffer, 1, 40_000, 9, 1), Admission::Stored);
        assert_eq!(buffer.release(0, 0, 40_000, Time::from_us(2)), Release::Quiet);
        assert_eq!(buffer.release(1, 0, 40_000, Time::from_us(2)), Release::Quiet);
        assert_eq!(buffer.xoff(0, 0), xoff);
    }
}

#[test]
fn one_busy_queue_under_abm_is_latched() {
    let mut buffers = [Rule::Abm, Rule::Latched].map(|rule| {
        counted(rule, 1, (90_000, 0.125), ActiveSettings { interval: Span::from_ms(1), ..Default::default() })
    });
    let (mut rng, mut stored) = (stream(3, "abm", 0), Vec::new());
    for _ in 0..2_000 {
        let size = 64 + rng.below(1_500);
        if rng.below(100) < 60 || stored.is_empty() {
            let [abm, latched] = &mut buffers;
            let admission = come(abm, 0, size, 9, 1);
            assert_eq!(admission, come(latched, 0, size, 9, 1));
            stored.extend((admission != Admission::Refused).then_some(size));
        } else {
            let size = stored.pop().unwrap();
            let [abm, latched] = buffers.each_mut().map(|buffer| buffer.release(0, 0, size, Time::from_us(1)));
            assert_eq!(abm, latched);
            if abm == Release::Resume {
                for buffer in &mut buffers {
                    buffer.set_pausing(0, 0, false);
                }
            }
        }
    }
}

#[test]
fn reverie_lets_bursts_pass_and_follows_what_stays() {
    let buffer = |gamma| counted(Rule::Reverie, 1, (90_000, 0.125), ActiveSettings { gamma, ..Default::default() });
    // 60 kB at once, where dynamic thresholds pause at 10 kB: arrivals do not change the average.
    let (mut slow, mut quick) = (buffer(0.99), buffer(0.0));
    for buffer in [&mut slow, &mut quick] {
        for _ in 0..60 {
            assert_eq!(come(buffer, 0, 1_000, 9, 1), Admission::Stored);
        }
    }
    // One leaves: F is 590 B, or all of the 59,000 B. The threshold is (90 - 60) / 8 = 3.75 kB over one busy queue.
    for (buffer, admission) in [(&mut slow, Admission::Stored), (&mut quick, Admission::AboveXoff { rises: true })] {
        assert_eq!(buffer.release(0, 0, 1_000, Time::from_us(1)), Release::Quiet);
        assert_eq!(come(buffer, 0, 1_000, 9, 1), admission);
    }
    // The busy queue is counted by its average: 59,000 B are one.
    assert_eq!(quick.xoff(0, 0), (90_000 - 59_000) / 8);
    // RESUME when headroom is empty and F + 2496 is within the threshold: 9000 + 2496 > 10,125, 7000 + 2496 <= 10,375.
    let mut left = 60;
    while quick.release(0, 0, 1_000, Time::from_us(2)) == Release::Quiet {
        left -= 1;
    }
    assert_eq!((left, quick.ingress(0, 0).bytes), (8, 7_000));
}

#[test]
fn reverie_pauses_when_the_pool_is_full_though_nothing_has_left() {
    let mut buffer = counted(Rule::Reverie, 1, (90_000, 0.125), ActiveSettings::default());
    for _ in 0..90 {
        assert_eq!(come(&mut buffer, 0, 1_000, 9, 1), Admission::Stored);
    }
    assert_eq!(come(&mut buffer, 0, 1_000, 9, 1), Admission::AboveXoff { rises: true });
    assert_eq!((buffer.pools().shared_used, buffer.ingress(0, 0).in_headroom), (90_000, 1_000));
}

#[test]
fn reverie_without_memory_is_latched_as_of_the_last_departure() {
    // One arrival between departures: F lacks just the packet that comes.
    let settings = ActiveSettings { gamma: 0.0, ..Default::default() };
    let mut buffer = counted(Rule::Reverie, 1, (90_000, 0.125), settings);
    let mut held = 0;
    loop {
        let admission = come(&mut buffer, 0, 2_000, 9, 1);
        let before = if held == 0 { 0 } else { held };
        held += 2_000;
        assert_eq!(admission != Admission::Stored, before > (90_000 - held) / 8, "{held}");
        if admission != Admission::Stored {
            break;
        }
        assert_eq!(buffer.release(0, 0, 1_000, Time::from_us(1)), Release::Quiet);
        held -= 1_000;
    }
    assert_eq!(held, 12_000);
}

/// Packets of the lossy class that one egress queue takes.
fn lossy(rule: Rule, bytes: u64, alpha: Option<f64>) -> u64 {
    let mut buffer = buffer(rule, 0, QueueLimit { bytes, alpha });
    let mut stored = 0;
    while admit(&mut buffer, 1, stored * 1_000, 1_000) == Admission::Stored {
        stored += 1;
    }
    let pools = buffer.pools();
    let shared = if rule == Rule::Static { 0 } else { stored * 1_000 };
    assert_eq!((pools.lossy_used, pools.used_bytes, pools.shared_used), (stored * 1_000, stored * 1_000, shared));
    for _ in 0..stored {
        assert_eq!(buffer.release(0, 1, 1_000, Time::from_us(2)), Release::Quiet);
    }
    assert_eq!((buffer.pools().lossy_used, buffer.pools().used_bytes, buffer.pools().shared_used), (0, 0, 0));
    stored
}

#[test]
fn lossy_queue_has_a_fixed_limit_or_a_share_of_the_free_pool() {
    // Up to 45 KB without a limit, under each rule.
    assert_eq!([Rule::Static, Rule::Dynamic].map(|rule| lossy(rule, u64::MAX, None)), [45, 45]);
    assert_eq!([Rule::Static, Rule::Dynamic].map(|rule| lossy(rule, 3_999, None)), [3, 3]);
    // Packet k needs 1000 k within (45 KB - 1000 (k - 1)) / 8, or of 90 KB where lossless classes share: 9 k <= 46, 91.
    assert_eq!([Rule::Static, Rule::Dynamic].map(|rule| lossy(rule, u64::MAX, Some(0.125))), [5, 10]);
    // Under ABM over two busy queues and with half of a link: k <= (91 - k) / 32.
    assert_eq!(lossy(Rule::Abm, u64::MAX, Some(0.125)), 2);
    // The smaller of the two limits counts.
    assert_eq!(lossy(Rule::Dynamic, 4_000, Some(0.125)), 4);
    assert_eq!(lossy(Rule::Dynamic, 40_000, Some(0.125)), 10);
}

#[test]
fn drain_rate_is_shared_with_classes_that_may_send() {
    assert_eq!(drain_share(0b0000, 0, 0), 1.0, "an idle port");
    assert_eq!(drain_share(0b0111, 0, 1), 1.0 / 3.0);
    assert_eq!(drain_share(0b0111, 0b0100, 0), 0.5, "class 2 is paused");
    assert_eq!(drain_share(0b0111, 0b0001, 0), 0.0);
}

#[test]
fn rules_have_names_of_their_own() {
    for (place, (name, rule)) in Rule::ALL.iter().enumerate() {
        assert_eq!((rule.name(), Rule::NAMES[place]), (*name, *name));
        assert_eq!(Rule::NAMES.iter().filter(|other| *other == name).count(), 1);
    }
}

/// Whatever comes and leaves, each byte is in one ingress and one pool, and nothing is left in the end.
#[test]
fn charges_balance_under_every_rule() {
    for (name, rule) in Rule::ALL {
        for reserve in [0, 4_000] {
            let mut rng = stream(7, "buffer", reserve);
            let mut buffer = buffer(*rule, reserve, QueueLimit { bytes: 20_000, alpha: Some(0.5) });
            let mut stored: Vec<(usize, u8, u64)> = Vec::new();
            let mut now = Time::ZERO;
            for _ in 0..20_000 {
                now += Span::from_ns(rng.below(200));
                if rng.below(100) < 52 || stored.is_empty() {
                    let (ingress, class, size_bytes) =
                        (rng.below(2) as usize, rng.below(2) as u8, 64 + rng.below(1_500));
                    let queue = stored.iter().filter(|of| of.1 == class).map(|of| of.2).sum();
                    match buffer.admit(&Arrival { ingress, class, size_bytes, egress: Queue(queue, 9), now }) {
                        Admission::Stored | Admission::AboveXoff { .. } => stored.push((ingress, class, size_bytes)),
                        Admission::Dropped => assert_eq!(class, 1),
                        Admission::Refused => assert_eq!(class, 0),
                    }
                } else {
                    let (ingress, class, size) = stored.swap_remove(rng.below(stored.len() as u64) as usize);
                    let _ = buffer.release(ingress, class, size, now);
                }
                let held: u64 = stored.iter().map(|of| of.2).sum();
                let ingresses: u64 = buffer.ingresses().iter().map(|ingress| ingress.bytes).sum();
                assert_eq!((buffer.pools().used_bytes, ingresses), (held, held), "{name}");
            }
            for (ingress, class, size) in stored {
                let _ = buffer.release(ingress, class, size, now);
            }
            let pools = buffer.pools();
            assert_eq!((pools.used_bytes, pools.shared_used, pools.lossy_used), (0, 0, 0), "{name}");
            assert!(buffer.ingresses().iter().all(|ingress| ingress.in_headroom == 0), "{name}");
        }
    }
}
