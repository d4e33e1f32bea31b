//! Partners met before a run and asked after it, over the wires of the run.

use crate::partners::{Partners, Turn};
use crate::wires::Wires;
use crate::word::ByteCounts;
use std::io;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use xoff_results::live_timing;

/// Between two times that the same is said.
const EVERY: Duration = Duration::from_millis(100);
/// How often a last word is repeated, since nobody answers it.
const LAST_WORDS: u32 = 5;
/// For which partners may end their runs later than this one.
const CLOSING: Duration = Duration::from_secs(15);
/// No word is longer.
const LONGEST_BYTES: usize = 1 << 16;

/// Why a run does not begin.
#[derive(Debug)]
pub enum Unmet {
    /// Partners are absent, or cannot take part.
    Partners(String),
    /// The system did not let them be asked.
    System(io::Error),
}

impl From<io::Error> for Unmet {
    fn from(error: io::Error) -> Unmet {
        Unmet::System(error)
    }
}

fn now() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}

fn say(partners: &Partners, wires: &mut impl Wires, sent: Option<&dyn Fn(u32) -> u64>) -> io::Result<()> {
    for port in partners.ports() {
        for frame in partners.say(port, sent.map(|sent| sent(port)), now()) {
            // A word that is not taken is said again soon.
            wires.send(port, &frame)?;
        }
    }
    Ok(())
}

fn listen(partners: &mut Partners, wires: &mut impl Wires, buffer: &mut [u8]) -> io::Result<()> {
    let mut ready = Vec::new();
    wires.wait(EVERY, &mut ready)?;
    for port in partners.ports().collect::<Vec<_>>() {
        while let Some(length) = wires.receive(port, buffer)? {
            partners.hear(port, &buffer[..length.min(buffer.len())], now());
        }
    }
    Ok(())
}

/// Waits until all partners are there and run the same, and then until the run begins. `tell` is told what is waited
/// for.
pub fn gather(
    partners: &mut Partners,
    wires: &mut impl Wires,
    patience: Duration,
    tell: &mut dyn FnMut(&str),
) -> Result<(), Unmet> {
    let (since, mut buffer) = (now(), vec![0; LONGEST_BYTES]);
    let (mut said, mut told) = (None::<Instant>, String::new());
    loop {
        if said.is_none_or(|at| at.elapsed() >= EVERY) {
            say(partners, wires, None)?;
            said = Some(Instant::now());
        }
        listen(partners, wires, &mut buffer)?;
        match partners.turn(now(), since, patience) {
            Turn::Wait => {
                let absent = partners.absent().join(", ");
                if absent != told && !absent.is_empty() {
                    tell(&format!("waiting for {absent}, for at most {} s", patience.as_secs_f64()));
                    told = absent;
                }
            }
            Turn::Begin(at) => {
                if told != "begins" {
                    let left = at.saturating_sub(now()).as_secs_f64();
                    tell(&format!("all partners are there and run the same; beginning in {left:.1} s"));
                    told = "begins".to_owned();
                    // So that it is passed on at once.
                    said = None;
                }
                if at.saturating_sub(now()) <= 2 * EVERY {
                    std::thread::sleep(at.saturating_sub(now()));
                    return Ok(());
                }
            }
            Turn::Stop(why) => {
                // Those behind this one should hear of it, too.
                for _ in 0..LAST_WORDS {
                    say(partners, wires, None)?;
                    std::thread::sleep(EVERY);
                }
                return Err(Unmet::Partners(why));
            }
        }
    }
}

/// Tells partners what was counted here, and waits for what they counted. `sent` and `believed`: frames by port.
pub fn close(
    partners: &mut Partners,
    wires: &mut impl Wires,
    counts: ByteCounts,
    sent: &dyn Fn(u32) -> u64,
    believed: &dyn Fn(u32) -> u64,
) -> io::Result<live_timing::Partners> {
    partners.end(counts);
    let (since, mut buffer) = (Instant::now(), vec![0; LONGEST_BYTES]);
    while !partners.is_closed() && since.elapsed() < CLOSING {
        say(partners, wires, Some(sent))?;
        listen(partners, wires, &mut buffer)?;
    }
    for _ in 0..LAST_WORDS {
        say(partners, wires, Some(sent))?;
        std::thread::sleep(EVERY / 5);
    }
    Ok(partners.account(believed))
}
