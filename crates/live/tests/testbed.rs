//! Frames over a testbed that was built: all of them, in order, bit for bit, and no others.
#![cfg(target_os = "linux")]

mod common;

use common::{ROOT, built, ports_to_switch, star_of, with_24_nodes, with_parallel_links};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use xoff_engine::rng::{Rng, stream};
use xoff_fabric::plan::Plan;
use xoff_live::{Refusal, Testbed};
use xoff_yardstick::skip;

/// Longer than any frame here.
const ROOM: usize = 16 * 1024;
/// IPv4, MAC control (PFC), congestion notification tags and experiments.
const ETHERTYPES: [u16; 4] = [0x0800, 0x8808, 0x22e9, 0x88b5];

fn frame(random: &mut Rng, bytes: u64) -> Vec<u8> {
    let mut frame: Vec<u8> = (0..bytes).map(|_| random.next_u64() as u8).collect();
    let ethertype = ETHERTYPES[random.below(ETHERTYPES.len() as u64) as usize];
    frame[12..14].copy_from_slice(&ethertype.to_be_bytes());
    frame
}

/// The next frame of a port; it may take a moment on a busy machine.
fn next(testbed: &mut Testbed, port: u32) -> Option<Vec<u8>> {
    let mut buffer = vec![0; ROOM];
    let deadline = Instant::now() + Duration::from_secs(60);
    while Instant::now() < deadline {
        if let Some(length) = testbed.receive(port, &mut buffer).unwrap() {
            buffer.truncate(length);
            return Some(buffer);
        }
    }
    None
}

/// All frames that wait at a port.
fn count(testbed: &mut Testbed, port: u32) -> u64 {
    let mut buffer = vec![0; ROOM];
    let mut frames = 0;
    // What is still in the kernel's hands is not late by more than this.
    let mut ready = Vec::new();
    loop {
        while testbed.receive(port, &mut buffer).unwrap().is_some() {
            frames += 1;
        }
        testbed.wait(Duration::from_millis(100), &mut ready).unwrap();
        if !ready.contains(&port) {
            return frames;
        }
    }
}

#[test]
fn frames_arrive_bit_for_bit_and_in_order() {
    let plan = star_of(2);
    let Some(mut testbed) = built(&plan) else { return };
    let mut random = stream(1, "frames", 0);
    for (host, switch) in ports_to_switch(&plan) {
        for (from, to) in [(host, switch), (switch, host)] {
            for _ in 0..20 {
                let sizes: Vec<u64> = (0..50).map(|_| 60 + random.below(9018 - 60 + 1)).collect();
                let sent: Vec<Vec<u8>> = sizes.iter().map(|bytes| frame(&mut random, *bytes)).collect();
                assert!(sent.iter().all(|frame| testbed.send(from, frame).unwrap()));
                for (number, sent) in sent.iter().enumerate() {
                    let came = next(&mut testbed, to).unwrap_or_else(|| panic!("frame {number} is missing"));
                    assert!(came == *sent, "frame {number}, {} bytes, came otherwise: {}", sent.len(), came.len());
                }
            }
        }
    }
    let mut ready = Vec::new();
    testbed.wait(Duration::from_millis(50), &mut ready).unwrap();
    assert_eq!(ready, [0_u32; 0], "nobody else received anything");
    assert_eq!((testbed.lost().unwrap(), testbed.refused()), (0, 0));
}

/// The kernel learns a little later that an interface has a carrier, much later while others change interfaces, too, and
/// loses in silence what is sent before.
#[test]
fn the_first_frame_after_building_arrives() {
    let (plan, crowd) = (star_of(1), with_24_nodes());
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    let _ = Testbed::build(&crowd);
                }
            });
        }
        let outcome = std::panic::catch_unwind(|| (0..30).for_each(|_| greet_neighbours(&plan)));
        done.store(true, Ordering::Relaxed);
        outcome.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    });
}

/// Builds a testbed and sends a frame by every port at once.
fn greet_neighbours(plan: &Plan) {
    let Some(mut testbed) = built(plan) else { return };
    let ports = 0..plan.ports() as u32;
    assert!(ports.clone().all(|port| testbed.send(port, &[port as u8; 60]).unwrap()));
    for port in ports {
        assert_eq!(next(&mut testbed, port), Some(vec![(port ^ 1) as u8; 60]), "port {port}");
    }
}

#[test]
fn a_burst_is_kept_or_counted() {
    let plan = star_of(1);
    let Some(mut testbed) = built(&plan) else { return };
    let (host, switch) = ports_to_switch(&plan)[0];
    let mut random = stream(2, "frames", 0);
    for (frames, bytes) in [(30_000_u64, 1_000), (3_000, 9_018)] {
        let frame = frame(&mut random, bytes);
        let (lost, refused) = (testbed.lost().unwrap(), testbed.refused());
        let sent = (0..frames).filter(|_| testbed.send(host, &frame).unwrap()).count() as u64;
        assert_eq!(sent + testbed.refused() - refused, frames);
        let received = count(&mut testbed, switch);
        let lost = testbed.lost().unwrap() - lost;
        assert_eq!(received + lost, sent, "{bytes} bytes");
        // What a user namespace allows is less.
        if testbed.receive_buffer_bytes().unwrap() > 500_000_000 {
            assert_eq!((lost, sent), (0, frames), "{bytes} bytes");
        }
    }
}

/// What makes a machine with addresses answer: requests by ARP, ICMP and neighbour discovery, to everybody.
fn provocations() -> [Vec<u8>; 3] {
    let ethernet = |to: [u8; 6], ethertype: u16| [&to[..], &[2, 0, 0, 0, 0, 1], &ethertype.to_be_bytes()].concat();
    let arp = [0, 1, 8, 0, 6, 4, 0, 1, 2, 0, 0, 0, 0, 1, 10, 0, 0, 1, 0, 0, 0, 0, 0, 0, 10, 0, 0, 2];
    let ping = [
        [0x45, 0, 0, 28, 0, 0, 0, 0, 64, 1, 0x70, 0xdd, 10, 0, 0, 1, 255, 255, 255, 255].as_slice(),
        &[8, 0, 0xf7, 0xff, 0, 0, 0, 0],
    ];
    let mut solicitation = vec![0x60, 0, 0, 0, 0, 8, 58, 255];
    solicitation.extend([0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]);
    solicitation.extend([0xff, 0x02, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]);
    solicitation.extend([128, 0, 0x7f, 0xbc, 0, 0, 0, 0]);
    [
        [ethernet([0xff; 6], 0x0806), arp.to_vec()].concat(),
        [ethernet([0xff; 6], 0x0800), ping.concat()].concat(),
        [ethernet([0x33, 0x33, 0, 0, 0, 1], 0x86dd), solicitation].concat(),
    ]
}

#[test]
fn the_kernel_sends_nothing_on_its_own_and_answers_nothing() {
    let plan = star_of(3);
    let Some(mut testbed) = built(&plan) else { return };
    let mut ready = Vec::new();
    testbed.wait(Duration::from_secs(2), &mut ready).unwrap();
    assert_eq!(ready, [0_u32; 0], "frames that nobody sent");
    for (host, switch) in ports_to_switch(&plan) {
        for frame in provocations() {
            assert!(testbed.send(host, &frame).unwrap());
            assert_eq!(next(&mut testbed, switch), Some(frame));
        }
    }
    testbed.wait(Duration::from_secs(2), &mut ready).unwrap();
    assert_eq!(ready, [0_u32; 0], "somebody answered");
}

#[test]
fn waiting_ends_with_a_frame_or_with_the_time() {
    let plan = star_of(2);
    let Some(mut testbed) = built(&plan) else { return };
    let (start, mut ready) = (Instant::now(), vec![7]);
    testbed.wait(Duration::from_millis(30), &mut ready).unwrap();
    assert!(start.elapsed() >= Duration::from_millis(30), "{:?}", start.elapsed());
    assert_eq!(ready, [0_u32; 0]);
    let (host, switch) = ports_to_switch(&plan)[1];
    assert!(testbed.send(host, &[0x55; 60]).unwrap());
    testbed.wait(Duration::from_secs(60), &mut ready).unwrap();
    assert!(start.elapsed() < Duration::from_secs(50));
    assert_eq!(ready, [switch]);
}

#[test]
fn frames_that_are_too_long_are_errors_with_numbers() {
    let plan = star_of(1);
    let Some(mut testbed) = built(&plan) else { return };
    let (host, switch) = ports_to_switch(&plan)[0];
    let said = testbed.send(host, &[0; 9300]).unwrap_err().to_string();
    assert!(said.contains("to-sw: cannot send a frame of 9300 bytes"), "{said}");
    assert!(testbed.send(host, &[1; 100]).unwrap());
    let said = testbed.receive(switch, &mut [0; 60]).unwrap_err().to_string();
    assert!(said.contains("to-h0: a frame of 100 bytes came, for which 60 were kept"), "{said}");
    let said = testbed.send(99, &[0; 60]).unwrap_err().to_string();
    assert_eq!(said, "port 99 has no interface");
}

#[test]
fn links_carry_as_long_frames_as_hosts_send() {
    let mut plan = star_of(1);
    plan.hosts[0].mtu_bytes = 30_000;
    let Some(mut testbed) = built(&plan) else { return };
    let (host, _) = ports_to_switch(&plan)[0];
    assert!(testbed.send(host, &[0; 30_058]).unwrap());
    plan.hosts[0].mtu_bytes = 65_000;
    let refusal = Testbed::build(&plan).err().expect("longer than a pair carries");
    assert!(matches!(refusal, Refusal::LongFrames { most_bytes: 65_535, .. }), "{refusal}");
}

fn read(child: std::io::Result<std::process::Child>) -> String {
    let output = child.unwrap().wait_with_output().unwrap();
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn commands_run_on_the_network_of_a_node() {
    let plan = with_parallel_links(2);
    let Some(testbed) = built(&plan) else { return };
    let interfaces = |node: u32| {
        let mut command = Command::new("cat");
        command.arg("/proc/self/net/dev").stdout(Stdio::piped());
        read(testbed.enter(node, &mut command))
    };
    let node = |name: &str| plan.nodes.iter().position(|node| node.name == name).unwrap() as u32;
    let (host, switch) = (interfaces(node("h0")), interfaces(plan.node_of(switch_port(&plan))));
    assert!(host.contains(" lo:") && host.matches("to-").count() == 1, "{host}");
    assert_eq!(switch.matches("to-").count(), 3, "a host and two links to the other switch: {switch}");
    assert!(switch.contains("-1:"), "the second of two links has a number: {switch}");
    let own = std::fs::read_to_string("/proc/thread-self/net/dev").unwrap();
    assert!(!own.contains("to-h0"), "this thread is where it was: {own}");
}

/// A port that leads to `h0`.
fn switch_port(plan: &Plan) -> u32 {
    (0..plan.ports() as u32).find(|port| plan.nodes[plan.node_of(port ^ 1) as usize].name == "h0").unwrap()
}

#[test]
fn the_hint_leads_into_the_namespace_of_a_node() {
    let plan = star_of(1);
    let Some(testbed) = built(&plan) else { return };
    let hint = testbed.shell_hint(0);
    let looks = hint.strip_suffix("tcpdump -ni to-h0").unwrap_or_else(|| panic!("{hint}"));
    if hint.contains("--user=") {
        return skip("the hint is for a shell outside this user namespace", ROOT);
    }
    if Command::new("nsenter").arg("--version").output().is_err() {
        return skip("there is no nsenter", "apt-get install util-linux");
    }
    let mut shell = Command::new("sh");
    let seen = read(shell.arg("-c").arg(format!("{looks} cat /proc/self/net/dev")).stdout(Stdio::piped()).spawn());
    assert!(seen.contains("to-h0:"), "{hint}: {seen}");
}

#[test]
fn a_frame_costs_microseconds_and_a_testbed_milliseconds() {
    let plan = with_24_nodes();
    let start = Instant::now();
    let Some(mut testbed) = built(&plan) else { return };
    let took = start.elapsed();
    let (frame, mut buffer, frames) = (vec![0x88; 1000], vec![0; ROOM], 200_000_u32);
    let start = Instant::now();
    let mut received = 0;
    for _ in 0..frames {
        assert!(testbed.send(0, &frame).unwrap());
        while testbed.receive(1, &mut buffer).unwrap().is_some() {
            received += 1;
        }
    }
    let each = start.elapsed() / frames;
    received += count(&mut testbed, 1) as u32;
    assert_eq!((received, testbed.lost().unwrap()), (frames, 0));
    println!("{} nodes built in {took:?}; {each:?} for a frame and two looks for frames", plan.nodes.len());
    // Generous: machines of tests are shared. A copy to disk or a sleep would be found.
    assert!(took < Duration::from_secs(300) && each < Duration::from_millis(1), "{took:?}, {each:?}");
}
