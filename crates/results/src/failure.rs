//! Why a run ended early, in words that name places and say what would help.

use super::names::Names;
use xoff_fabric::record::{BlockedQueue, Failure, Holdings, LosslessDrop};
use xoff_scenario::number::{bytes, thousands};

/// How many blocked queues a message lists.
const LISTED: usize = 20;

/// The whole message, several lines.
pub fn explain(failure: &Failure, names: &Names) -> String {
    match failure {
        Failure::LosslessDrop(drop) => explain_drop(drop, names),
        Failure::Deadlock { at, cycle } => {
            let around: Vec<&str> = cycle.iter().chain(cycle.first()).map(|queue| names.port(queue.port)).collect();
            format!(
                "deadlock at {at}: {} queues wait for each other in a cycle\n  {}\n{}",
                cycle.len(),
                around.join(" waits for "),
                list(cycle, names)
            )
        }
        Failure::Stall { at, since, unfinished, stranded, blocked } => {
            let flows = match unfinished {
                0 => "no flow has anything left to send",
                1 => "1 flow is unfinished",
                all => &format!("{} flows are unfinished", thousands(*all)),
            };
            let queues = if blocked.is_empty() {
                "  no queue holds a packet: senders wait for something that does not come\n".to_owned()
            } else {
                list(blocked, names)
            };
            let cut_off = match stranded {
                0 => String::new(),
                1 => "  1 of them has no route to its receiver: a link is down\n".to_owned(),
                all => format!("  {} of them have no route to their receivers: links are down\n", thousands(*all)),
            };
            format!("stall at {at}: nothing was delivered since {since} and {flows}\n{cut_off}{queues}")
        }
        Failure::Memory { at, used_bytes, limit_bytes, held } => format!(
            "out of memory at {at}: {} in use, and the limit is {}\n{}\
             Offer less traffic, end the run earlier, or give it more by --memory.\n",
            bytes(*used_bytes),
            bytes(*limit_bytes),
            list_held(held, names)
        ),
        Failure::Time { at, limit_seconds } => format!(
            "out of time at {at}: the run has taken more than {limit_seconds} s\n\
             Offer less traffic, end the run earlier, or give it more by --time-limit.\n"
        ),
        Failure::Standstill { at, events, held } => format!(
            "time stands still at {at}: {} events at this instant, and no end\n{}",
            thousands(*events),
            list_held(held, names)
        ),
    }
}

/// What traffic still waited for when the run ended; nothing if it did not.
pub fn list_waits(waits: &[String]) -> String {
    if waits.is_empty() {
        return String::new();
    }
    let mut text = "the traffic waits for\n".to_owned();
    for line in waits.iter().take(LISTED) {
        text.push_str(&format!("  {line}\n"));
    }
    if waits.len() > LISTED {
        text.push_str(&format!("  and {} more\n", waits.len() - LISTED));
    }
    text
}

/// What grew, by its greatest owner.
fn list_held(held: &Holdings, names: &Names) -> String {
    let greediest = held.greediest.map_or_else(String::new, |(source, flows)| {
        format!("; {} of them of [[traffic]] number {source} (from 0)", thousands(flows))
    });
    let longest = held
        .longest
        .map_or_else(String::new, |queue| format!("; most in {} ({})", names.port(queue.port), bytes(queue.bytes)));
    format!(
        "  flows      {} alive{greediest}\n  packets    {} in queues, {} on wires{longest}\n",
        thousands(held.flows_alive),
        thousands(held.packets_queued),
        thousands(held.packets_in_flight),
    )
}

fn explain_drop(drop: &LosslessDrop, names: &Names) -> String {
    let mut text = format!(
        "a packet of {} was dropped in a lossless class at {}\n  \
         switch     {}\n  \
         ingress    {}\n  \
         priority   {}\n  \
         occupancy  {} of this ingress; {} of {} of the switch's buffer in use\n  \
         threshold  {} (XOFF)\n  \
         headroom   {} configured, {} needed\n",
        bytes(u64::from(drop.packet_bytes)),
        drop.at,
        names.node(drop.node),
        names.ingress(drop.port),
        names.priority(drop.class),
        bytes(drop.ingress_bytes),
        bytes(drop.buffer_used_bytes),
        bytes(drop.buffer_bytes),
        bytes(drop.threshold_bytes),
        bytes(drop.headroom_bytes),
        bytes(drop.headroom_required_bytes),
    );
    text.push_str(if drop.headroom_bytes < drop.headroom_required_bytes {
        "Raise the headroom to what is needed, or set it to \"auto\"."
    } else if drop.buffer_used_bytes + u64::from(drop.packet_bytes) > drop.buffer_bytes {
        "The headroom suffices but the buffer is full: thresholds and headroom of all ports together exceed it."
    } else {
        "The headroom suffices by calculation; a link changed, or a sender did not obey PAUSE."
    });
    text.push_str(" To count such drops instead of failing, set allow_drops = true.\n");
    text
}

fn list(queues: &[BlockedQueue], names: &Names) -> String {
    let mut text = String::new();
    for queue in queues.iter().take(LISTED) {
        let why = if queue.paused { "paused" } else { "not paused" };
        text.push_str(&format!(
            "  {}  priority {}  {} waiting, {why}\n",
            names.port(queue.port),
            names.priority(queue.class),
            bytes(queue.bytes)
        ));
    }
    if queues.len() > LISTED {
        text.push_str(&format!("  and {} more\n", queues.len() - LISTED));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::super::fixture;
    use super::*;
    use xoff_engine::Time;

    fn names() -> Names {
        Names::of(&fixture::plan())
    }

    #[test]
    fn a_drop_names_everything_needed_to_mend_it() {
        let drop = LosslessDrop {
            at: Time::from_us(1500),
            node: 3,
            port: 7,
            class: 0,
            packet_bytes: 1086,
            ingress_bytes: 530_000,
            threshold_bytes: 512_000,
            headroom_bytes: 18_500,
            headroom_required_bytes: 61_234,
            buffer_used_bytes: 900_000,
            buffer_bytes: 12_000_000,
        };
        let text = explain(&Failure::LosslessDrop(drop.clone()), &names());
        for part in ["1.5ms", "s1 from s0#1", "priority   3", "530 KB", "512 KB", "18.5 KB", "61.234 KB", "12 MB"] {
            assert!(text.contains(part), "{part} is missing from:\n{text}");
        }
        assert!(text.contains("Raise the headroom"));
        let full = LosslessDrop { headroom_bytes: 70_000, buffer_used_bytes: 12_000_000, ..drop };
        assert!(explain(&Failure::LosslessDrop(full), &names()).contains("buffer is full"));
    }

    #[test]
    fn a_run_out_of_memory_says_what_grew() {
        let held = Holdings {
            flows_alive: 1_234_567,
            packets_queued: 89,
            packets_in_flight: 7,
            greediest: Some((1, 1_234_000)),
            longest: Some(BlockedQueue { port: 4, class: 0, bytes: 2_000, paused: false }),
        };
        let memory = Failure::Memory {
            at: Time::from_us(5),
            used_bytes: 2_000_000_000,
            limit_bytes: 1_500_000_000,
            held: held.clone(),
        };
        let text = explain(&memory, &names());
        for part in ["out of memory at 5us", "2 GB in use", "1.5 GB", "1,234,567 alive", "number 1", "s0->s1#0 (2 KB)"]
        {
            assert!(text.contains(part), "{part} is missing from:\n{text}");
        }
        let text = explain(&Failure::Standstill { at: Time::from_us(5), events: 1 << 26, held }, &names());
        assert!(text.contains("time stands still at 5us: 67,108,864 events"), "{text}");
    }

    #[test]
    fn a_deadlock_names_the_cycle_and_a_stall_the_queues() {
        let queue = |port| BlockedQueue { port, class: 0, bytes: 2_000, paused: true };
        let text = explain(&Failure::Deadlock { at: Time::from_ms(3), cycle: vec![queue(4), queue(7)] }, &names());
        assert!(text.contains("3ms") && text.contains("s0->s1#0 waits for s1->s0#1 waits for s0->s1#0"), "{text}");
        let stall = Failure::Stall {
            at: Time::from_ms(9),
            since: Time::from_ms(4),
            unfinished: 1,
            stranded: 0,
            blocked: vec![queue(8); 30],
        };
        let text = explain(&stall, &names());
        assert!(text.contains("1 flow is unfinished") && text.contains("and 10 more") && text.contains("since 4ms"));
    }

    #[test]
    fn a_stall_says_who_is_cut_off_and_who_waits() {
        let stall = |stranded| {
            let (at, since) = (Time::from_ms(9), Time::from_ms(4));
            explain(&Failure::Stall { at, since, unfinished: 1_200, stranded, blocked: Vec::new() }, &names())
        };
        assert!(!stall(0).contains("route"));
        assert!(stall(1).contains("1 of them has no route to its receiver: a link is down"), "{}", stall(1));
        assert!(stall(1_100).contains("1,100 of them have no route"), "{}", stall(1_100));
        assert_eq!(list_waits(&[]), "");
        let lines: Vec<String> = (0..22).map(|rank| format!("rank {rank}")).collect();
        let text = list_waits(&lines);
        assert!(text.starts_with("the traffic waits for\n  rank 0\n  rank 1\n") && text.ends_with("  and 2 more\n"));
    }
}
