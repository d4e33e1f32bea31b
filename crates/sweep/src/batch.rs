//! A plan as a job array of Slurm: the script, how long and how large its tasks are, and the commands that submit it.

use crate::sweeper::Estimate;
use std::io;
use std::path::Path;

/// Tasks in one array: Slurm's `MaxArraySize` is 1001 unless a site sets it.
pub const ARRAY: u64 = 1000;

/// How a plan is shared out.
#[derive(Default)]
pub struct Batch {
    pub tasks: u64,
    /// At most so many at the same time; Slurm decides without it.
    pub at_once: Option<u64>,
    /// What the runs would take, where it is known.
    pub estimate: Option<Estimate>,
}

impl Batch {
    /// No more tasks than runs.
    pub fn tasks_for(&self, runs: usize) -> u64 {
        self.tasks.clamp(1, runs.max(1) as u64)
    }

    /// The job array. Other engines need its last line with a number of theirs.
    pub(crate) fn script(&self, runs: usize, plan: &Path) -> io::Result<String> {
        let tasks = self.tasks_for(runs);
        let (plan, program) = (quoted(plan), quoted(&std::env::current_exe()?));
        let array = array(&(0..tasks.min(ARRAY)).collect::<Vec<_>>(), self.at_once);
        let limits = self.estimate.as_ref().map_or_else(String::new, |estimate| {
            let each = (runs as u64).div_ceil(tasks) as f64;
            let (time, megabytes) = limits(each * estimate.slowest.1, estimate.peak_bytes);
            format!("#SBATCH --time={time}\n#SBATCH --mem-per-cpu={megabytes}M\n")
        });
        Ok(format!(
            "#!/bin/sh\n\
             #SBATCH --job-name=xoff-sweep\n\
             #SBATCH --array={array}\n\
             {limits}\
             #SBATCH --output=xoff-sweep-%A.log\n\
             #SBATCH --open-mode=append\n\
             #SBATCH --requeue\n\
             # --time is three times an estimate and ten minutes, --mem-per-cpu twice what was seen: change them, and add\n\
             # --partition and --cpus-per-task, as the cluster wants them. A number behind the script's name is that of the\n\
             # array's first task. The plan is where this file is, or where XOFF_PLAN says; the program must be the very\n\
             # file that made the plan, and XOFF says where it is if it has another path here.\n\
             set -eu\n\
             plan=${{XOFF_PLAN:-}}\n\
             if [ -z \"$plan\" ] && [ -e \"$(dirname \"$0\")/plan.json\" ]; then plan=$(dirname \"$0\"); fi\n\
             # Slurm runs a copy of this file, and knows where the file itself is.\n\
             if [ -z \"$plan\" ] && [ -n \"${{SLURM_JOB_ID:-}}\" ]; then\n  \
               own=$(scontrol show job \"$SLURM_JOB_ID\" 2>/dev/null | sed -n 's/^ *Command=//p' | head -n 1)\n  \
               if [ -n \"$own\" ] && [ -e \"${{own%/array.sh*}}/plan.json\" ]; then plan=${{own%/array.sh*}}; fi\n\
             fi\n\
             plan=${{plan:-{plan}}}\n\
             xoff=${{XOFF:-{program}}}\n\
             task=$((${{1:-0}} + SLURM_ARRAY_TASK_ID))\n\
             exec \"$xoff\" sweep --task \"$task\" --jobs \"${{SLURM_CPUS_PER_TASK:-1}}\" --quiet \"$plan\"\n"
        ))
    }
}

/// `--time` and `--mem-per-cpu` in megabytes, with room for other machines.
fn limits(seconds: f64, bytes: u64) -> (String, u64) {
    let minutes = (3.0 * seconds / 60.0).ceil() as u64 + 10;
    (format!("{:02}:{:02}:00", minutes / 60, minutes % 60), (2 * bytes / 1_000_000).max(1000))
}

/// The commands that submit these tasks, which are in their order.
pub fn sbatch(script: &Path, tasks: &[u64], at_once: Option<u64>) -> Vec<String> {
    let script = quoted(script);
    let arrays = tasks.chunk_by(|a, b| a / ARRAY == b / ARRAY);
    let command = |tasks: &[u64]| {
        let first = tasks.first().map_or(0, |task| task / ARRAY * ARRAY);
        let own = array(&tasks.iter().map(|task| task - first).collect::<Vec<_>>(), at_once);
        let behind = if first == 0 { String::new() } else { format!(" {first}") };
        format!("sbatch --array={own} {script}{behind}")
    };
    arrays.map(command).collect()
}

fn array(tasks: &[u64], at_once: Option<u64>) -> String {
    at_once.map_or_else(|| ranges(tasks), |most| format!("{}%{most}", ranges(tasks)))
}

/// Numbers in their order as Slurm takes them: `0-3,7`. A list of a thousand would be too long for it.
fn ranges(numbers: &[u64]) -> String {
    let runs = numbers.chunk_by(|a, b| a + 1 == *b);
    let text = runs.map(|run| match run {
        [first, .., last] => format!("{first}-{last}"),
        one => one.iter().map(u64::to_string).collect(),
    });
    text.collect::<Vec<_>>().join(",")
}

/// A path as a shell takes it.
pub fn quoted(path: &Path) -> String {
    let text = path.display().to_string();
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+,:@".contains(c);
    if !text.is_empty() && text.chars().all(plain) { text } else { format!("'{}'", text.replace('\'', "'\\''")) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn missing_tasks_are_named_as_slurm_takes_them() {
        assert_eq!(ranges(&[4]), "4");
        assert_eq!(ranges(&[0, 1]), "0-1");
        assert_eq!(ranges(&[0, 1, 2, 3, 7, 9, 10]), "0-3,7,9-10");
    }

    #[test]
    fn no_array_has_more_tasks_than_slurm_takes() {
        let script = Path::new("p/array.sh");
        assert_eq!(sbatch(script, &[3, 999], None), ["sbatch --array=3,999 p/array.sh"]);
        let all: Vec<u64> = (0..2001).collect();
        assert_eq!(
            sbatch(script, &all, Some(50)),
            [
                "sbatch --array=0-999%50 p/array.sh",
                "sbatch --array=0-999%50 p/array.sh 1000",
                "sbatch --array=0%50 p/array.sh 2000"
            ]
        );
        let estimate = Estimate { cpu_seconds: 0.0, peak_bytes: 700_000_000, slowest: (String::new(), 60.0), tried: 1 };
        let batch = Batch { tasks: 2000, at_once: Some(50), estimate: Some(estimate) };
        let text = batch.script(8000, Path::new("/p")).unwrap();
        // Four runs of a minute, three times, and ten minutes.
        for line in ["--array=0-999%50", "--time=00:22:00", "--mem-per-cpu=1400M", "--output=xoff-sweep-%A.log"] {
            assert!(text.contains(&format!("#SBATCH {line}\n")), "{line}: {text}");
        }
        assert!(!Batch { tasks: 3, ..Batch::default() }.script(8000, Path::new("/p")).unwrap().contains("--time="));
    }

    #[test]
    fn a_shell_takes_any_path_for_what_it_is() {
        for path in ["/data/plan", "/my data/it's $HOME", "a\"b\\c", "~x", "/größe", "*"] {
            let script = format!("printf %s {}", quoted(Path::new(path)));
            let output = Command::new("sh").args(["-c", &script]).output().unwrap();
            assert_eq!(String::from_utf8(output.stdout).unwrap(), path, "{script}");
        }
    }
}
