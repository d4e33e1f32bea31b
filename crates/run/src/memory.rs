//! How much memory the process may take, and how much it has: a run that outgrows it ends with a word of
//! its own, instead of by the system's hand.
//!
//! The limit is the process's, so runs side by side share it; the one that holds most gives way.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock};
use xoff_engine::Time;
use xoff_fabric::record::Failure;
use xoff_fabric::simulation::Simulation;
use xoff_scenario::Loaded;
use xoff_scenario::number::{bytes, thousands};

/// Set once, by the command line; else [`usual_limit`].
static LIMIT: OnceLock<u64> = OnceLock::new();

/// Flows of the runs that are under way: who gives way if memory runs out.
static RUNS: Mutex<Runs> = Mutex::new(Runs { next: 0, flows: BTreeMap::new() });

struct Runs {
    next: u64,
    flows: BTreeMap<u64, u64>,
}

/// Sets the limit, before the first run.
pub fn set_limit(bytes: u64) {
    let _ = LIMIT.set(bytes);
}

/// The most that the process may hold.
pub fn limit() -> u64 {
    *LIMIT.get_or_init(usual_limit)
}

/// Whether the system says how much this process holds. Where it does not (macOS), no run ends for want of memory.
pub fn is_known() -> bool {
    taken_bytes()[1] > 0
}

/// What the process may still take of a limit; boundless where the system does not say what it holds.
pub fn room_bytes(limit_bytes: u64) -> u64 {
    match taken_bytes()[1] {
        0 => u64::MAX,
        taken => limit_bytes.saturating_sub(taken),
    }
}

/// Three quarters of the machine's memory, or of what its control groups leave it; boundless where the
/// system does not say.
fn usual_limit() -> u64 {
    let read = |path: &Path| std::fs::read_to_string(path).unwrap_or_default();
    let machine = total_bytes(&read(Path::new("/proc/meminfo")));
    let groups = group_files(&read(Path::new("/proc/self/cgroup")));
    let bounds = groups.iter().filter_map(|file| read(file).trim().parse::<u64>().ok());
    bounds.chain(machine).min().map_or(u64::MAX, |bytes| bytes / 4 * 3)
}

fn total_bytes(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    line.trim().trim_end_matches(" kB").parse::<u64>().ok().map(|kilobytes| kilobytes * 1024)
}

/// The files that may bound this process: of its own group and of all above, in both layouts. Within a
/// container a group's path may be the host's, so the root that is mounted counts too.
fn group_files(groups: &str) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for line in groups.lines() {
        let mut parts = line.splitn(3, ':').skip(1);
        let (root, file) = match parts.next() {
            Some("") => ("/sys/fs/cgroup", "memory.max"),
            Some(of) if of.split(',').any(|of| of == "memory") => ("/sys/fs/cgroup/memory", "memory.limit_in_bytes"),
            _ => continue,
        };
        let own = Path::new(parts.next().unwrap_or("/").trim_start_matches('/'));
        files.extend(own.ancestors().map(|group| Path::new(root).join(group).join(file)));
    }
    files
}

/// What this process takes now: addresses, and memory behind them. Zero where the system does not say.
fn taken_bytes() -> [u64; 2] {
    let status = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let mut pages = status.split_whitespace().map(|pages| pages.parse::<u64>().unwrap_or(0));
    let mut bytes = || pages.next().unwrap_or(0) * rustix::param::page_size() as u64;
    [bytes(), bytes()]
}

/// Half of the addresses that the process may have (`ulimit -v`): a table that grows is doubled.
fn address_limit() -> u64 {
    let most = rustix::process::getrlimit(rustix::process::Resource::As).current;
    most.map_or(u64::MAX, |bytes| bytes / 2)
}

/// Why the graphs of a scenario's jobs cannot be made within what is left of the limit, if they cannot. Nothing is made.
pub fn refusal(loaded: &Loaded) -> Option<String> {
    refusal_within(loaded, taken_bytes()[1], limit())
}

fn refusal_within(loaded: &Loaded, used_bytes: u64, limit_bytes: u64) -> Option<String> {
    let jobs = || loaded.traffic.iter().filter_map(|traffic| Some((traffic, traffic.job()?)));
    let needed = jobs().map(|(_, job)| job.graph.memory_to_come()).fold(0, u64::saturating_add);
    if needed == 0 || needed.saturating_add(used_bytes) <= limit_bytes {
        return None;
    }
    let (traffic, job) = jobs().max_by_key(|(_, job)| job.graph.memory_to_come())?;
    let others = if jobs().count() > 1 { ", with the other jobs" } else { "" };
    Some(format!(
        "too little memory for job `{}`: it has {} messages in an iteration, whose graph takes {}{others}; the limit is \
         {}, of which {} are taken. Fewer `channels` or larger `chunk` and `slice` make fewer messages; --memory gives more",
        traffic.name,
        thousands(job.graph.size().messages),
        bytes(needed),
        bytes(limit_bytes),
        bytes(used_bytes)
    ))
}

/// Watches over one run.
pub struct Guard {
    run: u64,
    /// On addresses, and on memory.
    limits: [u64; 2],
    /// The instant that has not passed yet, and the events up to when it began.
    instant: Time,
    events: u64,
}

/// Events at one instant that no burst explains.
const EVENTS_AT_ONCE: u64 = 1 << 26;
/// Events of one instant that each flow and port may have.
const EVENTS_OF_EACH: u64 = 64;

impl Guard {
    /// Guards a run within `limit_bytes` of the whole process.
    pub fn new(limit_bytes: u64) -> Guard {
        let mut runs = RUNS.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        runs.next += 1;
        let run = runs.next;
        runs.flows.insert(run, 0);
        Guard { run, limits: [address_limit(), limit_bytes], instant: Time::ZERO, events: 0 }
    }

    /// Checks a run between two slices; returns why it must end.
    pub fn look(&mut self, world: &dyn Simulation) -> Option<Failure> {
        let flows = world.flows_alive();
        let usual = EVENTS_AT_ONCE + EVENTS_OF_EACH * (flows + world.plan.ports() as u64);
        if let Some(events) = self.stands_still(world.now, world.counters.events, usual) {
            return Some(Failure::Standstill { at: world.now, events, held: world.holdings() });
        }
        let taken = taken_bytes().into_iter().zip(self.limits);
        let (used_bytes, limit_bytes) =
            taken.max_by(|a, b| (a.0 as f64 / a.1 as f64).total_cmp(&(b.0 as f64 / b.1 as f64)))?;
        self.must_give_way(used_bytes, limit_bytes, flows).then(|| Failure::Memory {
            at: world.now,
            used_bytes,
            limit_bytes,
            held: world.holdings(),
        })
    }

    /// The events of this instant, if they are more than usual.
    fn stands_still(&mut self, now: Time, events: u64, usual: u64) -> Option<u64> {
        if now != self.instant {
            (self.instant, self.events) = (now, events);
        }
        Some(events - self.events).filter(|events| *events > usual)
    }

    /// Whether the process holds too much and this run most of it. A little above, every run ends:
    /// then something else has grown.
    fn must_give_way(&self, used_bytes: u64, limit_bytes: u64, flows: u64) -> bool {
        let mut runs = RUNS.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        runs.flows.insert(self.run, flows);
        let largest = runs.flows.iter().all(|(run, others)| *run == self.run || *others <= flows);
        let far_above = limit_bytes.saturating_add(limit_bytes / 8);
        used_bytes > limit_bytes && (largest || used_bytes > far_above)
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        RUNS.lock().unwrap_or_else(std::sync::PoisonError::into_inner).flows.remove(&self.run);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_of_control_groups_are_found_in_both_layouts() {
        let files = group_files("9:name=systemd:/\n4:cpu,memory:/a/b\n0::/c\n");
        let files: Vec<&str> = files.iter().filter_map(|file| file.to_str()).collect();
        assert_eq!(
            files,
            [
                "/sys/fs/cgroup/memory/a/b/memory.limit_in_bytes",
                "/sys/fs/cgroup/memory/a/memory.limit_in_bytes",
                "/sys/fs/cgroup/memory/memory.limit_in_bytes",
                "/sys/fs/cgroup/c/memory.max",
                "/sys/fs/cgroup/memory.max",
            ]
        );
        assert_eq!(total_bytes("MemTotal:       24683008 kB\nMemFree: 1 kB\n"), Some(24_683_008 * 1024));
        assert_eq!(total_bytes(""), None);
    }

    #[test]
    fn an_instant_without_end_is_noticed_and_a_long_one_is_not() {
        let mut guard = Guard::new(u64::MAX);
        let at = Time::from_us;
        assert_eq!(guard.stands_still(at(1), 900, 1_000), None, "time has passed");
        assert_eq!(guard.stands_still(at(1), 1_900, 1_000), None);
        assert_eq!(guard.stands_still(at(1), 1_901, 1_000), Some(1_001));
        assert_eq!(guard.stands_still(at(2), 5_000, 1_000), None, "time has passed");
    }

    #[test]
    fn the_run_that_holds_most_gives_way() {
        let (small, large) = (Guard::new(800), Guard::new(800));
        let crowd = u64::MAX / 2;
        assert!(!large.must_give_way(800, 800, crowd), "within the limit");
        assert!(large.must_give_way(801, 800, crowd));
        assert!(!small.must_give_way(801, 800, 1), "the other one will");
        assert!(small.must_give_way(901, 800, 1), "that did not help");
        drop(large);
        assert!(small.must_give_way(801, 800, crowd));
    }

    #[test]
    fn jobs_that_do_not_fit_are_refused_before_they_are_made() {
        xoff_schemes::install_all();
        let text = "[topology]\nkind = \"rail\"\nservers = 128\ngpus = 8\nspines = 8\n[[traffic]]\n\
                    kind = \"all-reduce\"\nname = \"sum\"\nbytes = \"1GiB\"\nchunk = \"64KiB\"\nslice = \"64KiB\"\n\
                    connections = \"fresh\"\n";
        let loaded =
            xoff_scenario::Scenario::from_text("t.toml", text, Path::new(".")).load(&Default::default()).unwrap();
        let said = refusal_within(&loaded, 12_000_000, 200_000_000).unwrap();
        for part in ["job `sum`", "33,521,664 messages", "GB", "200 MB", "12 MB", "`channels`", "--memory"] {
            assert!(said.contains(part), "{part} is missing from {said}");
        }
        assert_eq!(refusal_within(&loaded, 12_000_000, 1 << 40), None);
        let graph = &loaded.traffic[0].job().unwrap().graph;
        assert!(graph.memory_to_come() > 2_000_000_000, "and nothing was made");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn this_process_holds_something_within_its_limit() {
        let [addresses, used] = taken_bytes();
        assert!(addresses >= used && used > 1_000_000 && used < usual_limit(), "{used} of {}", usual_limit());
    }
}
