//! What holds for whole processes: one that is killed leaves nothing behind, one without rights is told what to do, and
//! a user namespace gives enough of them.
//!
//! This program starts itself again, in other roles; so it has no test harness.

#[cfg(target_os = "linux")]
mod common;

#[cfg(not(target_os = "linux"))]
fn main() {}

#[cfg(target_os = "linux")]
fn main() {
    // As other tests answer who asks for a list.
    if std::env::args().any(|word| word == "--list") {
        if !std::env::args().any(|word| word == "--ignored") {
            println!("nothing_is_left_behind: test");
        }
        return;
    }
    match std::env::args().nth(1).as_deref().and_then(linux::role) {
        Some(role) => role(),
        None => linux::test_all(),
    }
}

#[cfg(target_os = "linux")]
mod linux {
    use super::common::{ROOT, built, ports_to_switch, star_of};
    use std::collections::BTreeSet;
    use std::fs;
    use std::io::{BufRead, BufReader, Read, Write};
    use std::os::unix::process::CommandExt;
    use std::path::{Path, PathBuf};
    use std::process::{Child, Command, Output, Stdio};
    use std::thread::sleep;
    use std::time::{Duration, Instant};
    use xoff_engine::rng::stream;
    use xoff_live::Testbed;
    use xoff_yardstick::skip;

    const HOSTS: u32 = 12;
    const KILLS: u32 = 50;
    /// `nobody`
    const OTHER_USER: u32 = 65_534;

    /// What this program does when it is started with a word.
    pub fn role(word: &str) -> Option<fn()> {
        match word {
            "hold" => Some(hold),
            "once" => Some(once),
            _ => None,
        }
    }

    pub fn test_all() {
        if built(&star_of(1)).is_none() {
            return;
        }
        dropped_testbeds_leave_nothing();
        killed_processes_leave_nothing();
        without_rights_it_says_which_and_what_to_do();
        a_user_namespace_is_enough();
        println!("processes: ok");
    }

    /// Builds a testbed, says so, and sends until it is killed.
    fn hold() {
        let plan = star_of(HOSTS);
        let mut testbed = Testbed::build(&plan).unwrap();
        std::io::stdout().write_all(b"!").unwrap();
        std::io::stdout().flush().unwrap();
        let (host, switch) = ports_to_switch(&plan)[0];
        let mut buffer = [0; 2000];
        loop {
            testbed.send(host, &[7; 1000]).unwrap();
            testbed.receive(switch, &mut buffer).unwrap();
        }
    }

    /// Builds a testbed, sends a frame each way, says what came of it and stays while its input is open.
    fn once() {
        let plan = star_of(2);
        let mut testbed = match Testbed::build(&plan) {
            Ok(testbed) => testbed,
            Err(refusal) => return println!("refused: {refusal}"),
        };
        let (mut ready, mut received) = (Vec::new(), 0);
        for (host, switch) in ports_to_switch(&plan) {
            for (from, to) in [(host, switch), (switch, host)] {
                assert!(testbed.send(from, &[7; 1000]).unwrap());
                testbed.wait(Duration::from_secs(5), &mut ready).unwrap();
                received += usize::from(testbed.receive(to, &mut [0; 2000]).unwrap() == Some(1000));
            }
        }
        println!("{received} frames, {}", testbed.shell_hint(0));
        // Until whoever started it has seen enough.
        std::io::stdin().read_to_end(&mut Vec::new()).unwrap();
    }

    fn again(word: &str) -> Command {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.arg(word);
        command
    }

    /// What the system has that a testbed might leave behind: namespaces that anybody holds, interfaces, mounts of
    /// namespaces, and files of this process.
    #[derive(PartialEq, Debug)]
    struct Belongings {
        namespaces: BTreeSet<String>,
        interfaces: BTreeSet<PathBuf>,
        mounts: usize,
        descriptors: usize,
    }

    impl Belongings {
        fn look() -> Belongings {
            Belongings {
                namespaces: namespaces(),
                interfaces: entries("/sys/class/net").into_iter().collect(),
                mounts: fs::read_to_string("/proc/self/mountinfo").unwrap().matches(" nsfs ").count(),
                descriptors: entries("/proc/self/fd").len(),
            }
        }
    }

    /// Processes come and go meanwhile: what cannot be read is not there any more.
    fn entries(folder: impl AsRef<Path>) -> Vec<PathBuf> {
        fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect()
    }

    /// Network namespaces that a thread is in or a descriptor holds, by inode.
    fn namespaces() -> BTreeSet<String> {
        let processes = entries("/proc").into_iter().filter(|path| path.join("task").is_dir());
        let links = processes.flat_map(|process| {
            let threads = entries(process.join("task")).into_iter().map(|thread| thread.join("ns/net"));
            threads.chain(entries(process.join("fd"))).collect::<Vec<_>>()
        });
        let names = links.filter_map(|link| fs::read_link(link).ok()).map(|name| name.display().to_string());
        names.filter(|name| name.starts_with("net:[")).collect()
    }

    /// The kernel takes namespaces apart in the background.
    fn await_nothing_left(before: &Belongings) {
        let deadline = Instant::now() + Duration::from_secs(300);
        loop {
            let after = Belongings::look();
            let new = after.namespaces.difference(&before.namespaces).count();
            if new == 0
                && (&after.interfaces, after.mounts, after.descriptors)
                    == (&before.interfaces, before.mounts, before.descriptors)
            {
                return;
            }
            assert!(Instant::now() < deadline, "left behind:\n{after:?}\nbefore:\n{before:?}");
            sleep(Duration::from_millis(20));
        }
    }

    fn dropped_testbeds_leave_nothing() {
        let before = Belongings::look();
        let testbed = Testbed::build(&star_of(HOSTS)).unwrap();
        let during = namespaces().difference(&before.namespaces).count();
        assert!(during > HOSTS as usize, "{during} new namespaces: are they still found?");
        drop(testbed);
        await_nothing_left(&before);
    }

    fn started(folder: &Path) -> Child {
        again("hold").current_dir(folder).env("TMPDIR", folder).stdout(Stdio::piped()).spawn().unwrap()
    }

    /// At instants from the start to long after a testbed is built.
    fn killed_processes_leave_nothing() {
        let folder = std::env::temp_dir().join(format!("xoff-live-{}", std::process::id()));
        fs::create_dir(&folder).unwrap();
        let before = Belongings::look();
        let start = Instant::now();
        let mut first = started(&folder);
        first.stdout.take().unwrap().read_exact(&mut [0]).unwrap();
        let built_in = start.elapsed();
        first.kill().unwrap();
        first.wait().unwrap();
        let mut random = stream(3, "kills", 0);
        let mut complete = 0;
        for _ in 0..KILLS {
            let mut child = started(&folder);
            sleep(built_in.mul_f64(2.0 * random.unit()));
            child.kill().unwrap();
            child.wait().unwrap();
            let mut said = Vec::new();
            child.stdout.take().unwrap().read_to_end(&mut said).unwrap();
            complete += u32::try_from(said.len()).unwrap();
        }
        await_nothing_left(&before);
        assert_eq!(entries(&folder), Vec::<PathBuf>::new(), "files were left behind");
        fs::remove_dir(&folder).unwrap();
        println!("killed {complete} with a whole testbed and {} before, which takes {built_in:?}", KILLS - complete);
        assert!((1..KILLS).contains(&complete), "all at the same stage");
    }

    /// As a user without rights; `None` where this process may not become one, or that one may not read this program.
    fn as_other_user(mut command: Command) -> Option<Output> {
        match command.uid(OTHER_USER).gid(OTHER_USER).output() {
            Ok(output) => Some(output),
            Err(error) => {
                skip(&format!("as another user: {error}"), ROOT);
                None
            }
        }
    }

    fn said(output: &Output) -> String {
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
    }

    fn without_rights_it_says_which_and_what_to_do() {
        let Some(output) = as_other_user(again("once")) else { return };
        let said = said(&output);
        assert!(said.starts_with("refused: live runs need CAP_NET_ADMIN, CAP_NET_RAW, CAP_SYS_ADMIN"), "{said}");
        assert!(said.contains("hint: run it with sudo"), "{said}");
    }

    /// Also for another terminal of the same user, with the hint.
    fn a_user_namespace_is_enough() {
        let Some(hinted) = as_other_user(again("once")) else { return };
        if !said(&hinted).contains("`unshare -Ur") {
            return skip("user namespaces are closed to others than root", "sysctl kernel.unprivileged_userns_clone=1");
        }
        let mut unshare = Command::new("unshare");
        unshare.arg("-Ur").arg(std::env::current_exe().unwrap()).arg("once").uid(OTHER_USER).gid(OTHER_USER);
        let mut child = unshare.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let hint = line.trim_end().strip_prefix("4 frames, ").unwrap_or_else(|| panic!("{line}"));
        let look = hint.replace("tcpdump -ni to-h0", "cat /proc/self/net/dev");
        assert!(look != hint && look.contains("--user="), "{hint}");
        let mut shell = Command::new("sh");
        shell.arg("-c").arg(&look);
        let seen = as_other_user(shell).unwrap();
        drop(child.stdin.take());
        assert!(child.wait().unwrap().success());
        assert!(said(&seen).contains("to-h0:"), "{look}: {}", said(&seen));
    }
}
