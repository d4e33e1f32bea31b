//! Worked numbers of each rule, on a buffer alone. Packets have 1000 bytes unless said otherwise.

use super::*;
use xoff_engine::stream;

/// An egress queue of so many bytes at 100 Gb/s.
struct Queue(u64);

impl Egress for Queue {
    fn queue_bytes(&self) -> u64 {
        self.0
    }
    fn rate(&self) -> BitRate {
        BitRate::from_gbps(100)
    }
    fn drain_bps(&self) -> f64 {
        100e9
    }
    fn busy_queues(&self) -> u32 {
        1
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

const UNLIMITED: QueueLimit = QueueLimit { bytes: u64::MAX, time: None, alpha: None };

fn admit(buffer: &mut Buffer, class: u8, queue_bytes: u64, size_bytes: u64) -> Admission {
    let admission = buffer.admit(&Arrival { ingress: 0, class, size_bytes, egress: Queue(queue_bytes) });
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
    while buffer.release(0, 0, 1_000) == Release::Quiet {
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
    assert_eq!(latched.release(0, 0, 1_000), Release::Quiet);
    assert_eq!(admit(&mut latched, 0, 0, 500), Admission::AboveXoff { rises: false });
    assert_eq!((latched.pools().shared_used, latched.ingress(0, 0).in_headroom), (10_000, 1_500));
    // The first packet above the threshold may be larger than the headroom.
    let mut large = buffer(Rule::Latched, 0, UNLIMITED);
    assert_eq!(admit(&mut large, 0, 0, 10_001), Admission::AboveXoff { rises: true });
    assert_eq!((large.pools().shared_used, large.ingress(0, 0).in_headroom), (0, 10_001));
    assert_eq!(admit(&mut large, 0, 0, 1), Admission::Refused);
}

/// Packets of the lossy class that one egress queue takes.
fn lossy(rule: Rule, bytes: u64, alpha: Option<f64>) -> u64 {
    let mut buffer = buffer(rule, 0, QueueLimit { bytes, time: None, alpha });
    let mut stored = 0;
    while admit(&mut buffer, 1, stored * 1_000, 1_000) == Admission::Stored {
        stored += 1;
    }
    let pools = buffer.pools();
    let shared = if rule == Rule::Static { 0 } else { stored * 1_000 };
    assert_eq!((pools.lossy_used, pools.used_bytes, pools.shared_used), (stored * 1_000, stored * 1_000, shared));
    for _ in 0..stored {
        assert_eq!(buffer.release(0, 1, 1_000), Release::Quiet);
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
    // The smaller of the two limits counts.
    assert_eq!(lossy(Rule::Dynamic, 4_000, Some(0.125)), 4);
    assert_eq!(lossy(Rule::Dynamic, 40_000, Some(0.125)), 10);
}

#[test]
fn drain_rate_is_shared_with_classes_that_may_send() {
    assert_eq!(drain_bps(100e9, 0b0000, 0, 0), 100e9, "an idle port");
    assert_eq!(drain_bps(100e9, 0b0111, 0, 1), 100e9 / 3.0);
    assert_eq!(drain_bps(100e9, 0b0111, 0b0100, 0), 50e9, "class 2 is paused");
    assert_eq!(drain_bps(100e9, 0b0111, 0b0001, 0), 0.0);
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
            let mut buffer = buffer(*rule, reserve, QueueLimit { bytes: 20_000, time: None, alpha: Some(0.5) });
            let mut stored: Vec<(usize, u8, u64)> = Vec::new();
            for _ in 0..20_000 {
                if rng.below(100) < 52 || stored.is_empty() {
                    let (ingress, class, size_bytes) =
                        (rng.below(2) as usize, rng.below(2) as u8, 64 + rng.below(1_500));
                    let queue = stored.iter().filter(|of| of.1 == class).map(|of| of.2).sum();
                    match buffer.admit(&Arrival { ingress, class, size_bytes, egress: Queue(queue) }) {
                        Admission::Stored | Admission::AboveXoff { .. } => stored.push((ingress, class, size_bytes)),
                        Admission::Dropped => assert_eq!(class, 1),
                        Admission::Refused => assert_eq!(class, 0),
                    }
                } else {
                    let (ingress, class, size) = stored.swap_remove(rng.below(stored.len() as u64) as usize);
                    let _ = buffer.release(ingress, class, size);
                }
                let held: u64 = stored.iter().map(|of| of.2).sum();
                let ingresses: u64 = buffer.ingresses().iter().map(|ingress| ingress.bytes).sum();
                assert_eq!((buffer.pools().used_bytes, ingresses), (held, held), "{name}");
            }
            for (ingress, class, size) in stored {
                let _ = buffer.release(ingress, class, size);
            }
            let pools = buffer.pools();
            assert_eq!((pools.used_bytes, pools.shared_used, pools.lossy_used), (0, 0, 0), "{name}");
            assert!(buffer.ingresses().iter().all(|ingress| ingress.in_headroom == 0), "{name}");
        }
    }
}
