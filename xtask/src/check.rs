//! `cargo xtask check`: runs each step in a separate process and reports the results. Steps that
//! mostly wait are run in parallel with computing steps.
#![allow(clippy::disallowed_methods, reason = "steps are timed")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::Instant;

use crate::steps::{self, BOTH, PACKAGING, STEPS, Step, WAIT};
use crate::{Problems, notes};

/// The free disk space, in bytes, that the checks need for downloads and build output.
const DISK_BYTES: u64 = 24_000_000_000;

/// The number of output lines to show for a failed step, and the number of characters to show for a
/// failed test.
const LINES: usize = 30;
const CHARACTERS: usize = 1200;

/// The environment variable that names the file to which a step writes its CPU time.
const SECONDS: &str = "PAVIOR_STEP_SECONDS";

enum End {
    Passed,
    Failed,
    /// The step was skipped because this prerequisite did not pass.
    Skipped(&'static str),
}

struct Ended {
    step: &'static Step,
    end: End,
    seconds: f64,
    /// The CPU time used by the step and its subprocesses, in seconds.
    processor: f64,
}

/// Runs all steps, or the named steps and their prerequisites. Returns the problems found by the
/// steps, or an error if no steps could run.
pub(crate) fn run(root: &Path, only: &[&str]) -> Problems {
    let steps = chosen(only)?;
    check_space(root)?;
    notes::begin(root);
    let (began, used_before) = (Instant::now(), machine_seconds());
    // Get the path first, because a build may replace the running program's file.
    let program = std::env::current_exe().unwrap_or_default();
    let ended = run_steps(root, &program, &steps);
    println!("\nstep              wall       CPU, in seconds");
    for ended in &ended {
        println!("{}", row(ended));
    }
    let (wall, processor) = (began.elapsed().as_secs_f64(), machine_seconds() - used_before);
    println!("{:14} {wall:7.1} {processor:9.1}  (CPU: whole machine)", "all");
    let logs = ended.iter().map(|ended| fs::read(log(root, ended.step)).unwrap_or_default());
    let (passed, failed) = counts(&String::from_utf8_lossy(&logs.flatten().collect::<Vec<u8>>()));
    println!("tests: {passed} passed, {failed} failed");
    if only.is_empty() && !notes::all_required() {
        println!("steps that run only under .ci/run: {}", PACKAGING.join(", "));
    }
    let problems: Vec<String> = ended.iter().filter_map(|ended| problem(root, ended)).collect();
    if problems.is_empty() {
        println!("{}", notes::verdict(&notes::skipped(root), notes::all_required())?);
    }
    Ok(problems)
}

/// Returns the named steps and all their prerequisites, in table order. If no steps are named,
/// returns all steps, but includes the packaging steps only in runs that must not skip anything.
fn chosen(only: &[&str]) -> Result<Vec<&'static Step>, String> {
    let mut names = only.to_vec();
    let mut at = 0;
    while let Some(name) = names.get(at).copied() {
        for before in steps::named(name)?.follows() {
            names.push(before);
        }
        at += 1;
    }
    let is_usual = |name| notes::all_required() || !PACKAGING.contains(name);
    let is_chosen = |name| names.contains(name) || only.is_empty() && is_usual(name);
    Ok(STEPS.iter().filter(|step| is_chosen(&step.name)).collect())
}

/// Prints the amount of disk space that the checks need. Returns an error if less space is free.
fn check_space(root: &Path) -> Result<(), String> {
    let number = |program: &str, arguments: &[&str]| {
        let output = Command::new(program).args(arguments).current_dir(root).output().ok()?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        text.split_whitespace().find_map(|word| word.parse::<u64>().ok())
    };
    let built = number("du", &["--summarize", "--block-size=1", "target"]).unwrap_or(0);
    let needed = DISK_BYTES.saturating_sub(built).max(DISK_BYTES / 6);
    let free = number("df", &["--output=avail", "--block-size=1", "."]);
    let giga = |bytes: u64| bytes as f64 / 1e9;
    println!("the checks need {:.0} GB of disk space, mostly in target/", giga(needed));
    match free {
        Some(free) if free < needed => Err(format!(
            "only {:.1} GB of disk space is free, but the checks need {:.0}; `cargo clean` \
             removes old builds",
            giga(free),
            giga(needed)
        )),
        _ => Ok(()),
    }
}

/// Runs steps in subprocesses. Steps that mostly wait are started as soon as their prerequisites
/// have finished; computing steps are started in order as cores become free.
fn run_steps(root: &Path, program: &Path, steps: &[&'static Step]) -> Vec<Ended> {
    let (sender, receiver) = mpsc::channel::<Ended>();
    let mut waiting = steps.to_vec();
    let mut running: Vec<&Step> = Vec::new();
    let mut ended: Vec<Ended> = Vec::new();
    std::thread::scope(|scope| {
        loop {
            let mut taken: usize = running.iter().map(|step| step.cores).sum();
            let mut at = 0;
            while at < waiting.len() {
                let step = waiting[at];
                let is_over = |name: &str| {
                    ended.iter().any(|end| end.step.name == name)
                        || !steps.iter().any(|step| step.name == name)
                };
                let is_ready = step.follows().all(is_over);
                if !is_ready || taken + step.cores > BOTH {
                    // Later steps must not take the cores that this step is waiting for.
                    taken = if step.cores > 0 { BOTH } else { taken };
                    at += 1;
                    continue;
                }
                taken += step.cores;
                running.push(waiting.remove(at));
                let sender = sender.clone();
                let failed = failed_prerequisite(step, &ended);
                scope.spawn(move || sender.send(run_step(root, program, step, failed)));
            }
            if running.is_empty() {
                break;
            }
            let end = receiver.recv().expect("a running step ends");
            running.retain(|step| step.name != end.step.name);
            eprintln!("{}", row(&end));
            ended.push(end);
        }
    });
    ended
}

/// Runs a step in a separate process, unless one of its prerequisites did not pass.
fn run_step(
    root: &Path,
    program: &Path,
    step: &'static Step,
    failed_prerequisite: Option<&'static str>,
) -> Ended {
    // A skipped step writes no output and a killed step no time, so delete those of an earlier run.
    let seconds_file = seconds_file(root, step);
    for stale in [&log(root, step), &seconds_file] {
        let _ = fs::remove_file(stale);
    }
    if let Some(name) = failed_prerequisite {
        return Ended { step, end: End::Skipped(name), seconds: 0.0, processor: 0.0 };
    }
    eprintln!("started: {} ({})", step.name, step.does);
    let began = Instant::now();
    let passed = passes(root, program, step).unwrap_or_else(|error| {
        eprintln!("{}: {error}", step.name);
        false
    });
    let end = if passed { End::Passed } else { End::Failed };
    let processor =
        fs::read_to_string(seconds_file).unwrap_or_default().parse().unwrap_or(f64::NAN);
    Ended { step, end, seconds: began.elapsed().as_secs_f64(), processor }
}

fn passes(root: &Path, program: &Path, step: &Step) -> std::io::Result<bool> {
    let log = log(root, step);
    fs::create_dir_all(log.parent().unwrap_or(root))?;
    let log = fs::File::create(log)?;
    // Tests that mostly wait get a higher priority, so that other steps do not delay them.
    let priority = if step.cores == WAIT { "0" } else { "10" };
    let mut process = Command::new("nice");
    process.args(["-n", priority]).arg(program).args(["step", step.name]);
    process.current_dir(root).env(pavior_trials::NOTES, notes::path(root));
    process.env(SECONDS, seconds_file(root, step));
    let output = process.stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log);
    Ok(output.status()?.success())
}

fn log(root: &Path, step: &Step) -> PathBuf {
    root.join("target/checks").join(step.name).with_extension("log")
}

fn seconds_file(root: &Path, step: &Step) -> PathBuf {
    log(root, step).with_extension("seconds")
}

/// Writes the CPU time of this process and its subprocesses to the file named by [`SECONDS`].
pub(crate) fn note_seconds() {
    let Some(file) = std::env::var_os(SECONDS) else { return };
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // Field 3 is the first one after the name in parentheses; fields 14 to 17 are 10 ms ticks.
    let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
    let ticks: u64 = fields.skip(11).take(4).filter_map(|ticks| ticks.parse::<u64>().ok()).sum();
    let _ = fs::write(file, format!("{:.2}", ticks as f64 / 100.0));
}

/// Returns the CPU time used by the whole machine, in seconds, including servers that are not
/// subprocesses of the steps.
fn machine_seconds() -> f64 {
    let stat = fs::read_to_string("/proc/stat").unwrap_or_default();
    let fields = stat.lines().next().unwrap_or_default().split_whitespace().skip(1);
    let ticks: Vec<f64> = fields.filter_map(|ticks| ticks.parse().ok()).collect();
    // The fields are user, nice, system, idle, iowait, irq and softirq, in ticks of 10 ms.
    let used = ticks.iter().take(7).enumerate().filter(|(field, _)| !(3..5).contains(field));
    used.map(|(_, ticks)| ticks / 100.0).sum()
}

/// Describes a step that did not pass. If the step failed, the description includes the end of the
/// output, the path to the full output, and a command that reruns the step.
fn problem(root: &Path, ended: &Ended) -> Option<String> {
    let name = ended.step.name;
    match ended.end {
        End::Passed => None,
        End::Skipped(other) => Some(format!("not run: {name}, because {other} did not pass")),
        End::Failed => {
            let log = log(root, ended.step);
            let output = fs::read(&log).unwrap_or_default();
            let output = last(&String::from_utf8_lossy(&output));
            let log = log.display();
            Some(format!(
                "FAILED: {name}\n{output}\nfull output: {log}; to rerun: cargo xtask check {name}"
            ))
        }
    }
}

/// Returns a prerequisite that did not pass, if the step has one.
fn failed_prerequisite(step: &Step, ended: &[Ended]) -> Option<&'static str> {
    let mut failed = ended.iter().filter(|end| !matches!(end.end, End::Passed));
    failed.find_map(|end| step.follows().find(|name| *name == end.step.name))
}

fn row(ended: &Ended) -> String {
    let end = match ended.end {
        End::Passed => "passed",
        End::Failed => "FAILED",
        End::Skipped(_) => "not run",
    };
    format!("{:14} {:7.1} {:9.1}  {end}", ended.step.name, ended.seconds, ended.processor)
}

/// Returns the last lines of a step's output, preceded by the start of each failed test's output.
fn last(output: &str) -> String {
    let short = |test: &str| test.chars().take(CHARACTERS).collect::<String>();
    let failed = output.split("\n---- ").skip(1).map(|test| format!("---- {}", short(test)));
    let mut parts: Vec<String> = failed.collect();
    let lines: Vec<&str> = output.lines().collect();
    parts.push(lines[lines.len().saturating_sub(LINES)..].join("\n"));
    parts.join("\n")
}

/// Returns the numbers of passed and failed tests in Rust test harness output.
fn counts(output: &str) -> (usize, usize) {
    // For example, a result line ends with `ok. 12 passed; 3 failed; 0 ignored`.
    let results = output.lines().filter_map(|line| line.strip_prefix("test result: "));
    results.fold((0, 0), |(passed, failed), result| {
        let words: Vec<&str> = result.split(' ').collect();
        let number = |at: usize| words.get(at).and_then(|word| word.parse().ok()).unwrap_or(0);
        (passed + number(1), failed + number(3))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_named_step_includes_those_that_it_follows() {
        let names = |only: &[&str]| {
            chosen(only).map(|steps| steps.iter().map(|step| step.name).collect::<Vec<_>>())
        };
        assert_eq!(names(&["tidy"]), Ok(vec!["tidy"]));
        let release = names(&["release"]).unwrap();
        assert!(release.ends_with(&["python", "release"]) && release.contains(&"build"));
        let left = if notes::all_required() { 0 } else { PACKAGING.len() };
        assert_eq!(names(&[]).unwrap().len(), STEPS.len() - left);
        assert!(names(&["tidy", "x"]).unwrap_err().contains("no such step: `x`"));
    }

    #[test]
    fn a_killed_or_skipped_step_leaves_no_earlier_output() {
        let root = std::env::temp_dir().join(format!("pavior-killed-{}", std::process::id()));
        let noted = seconds_file(&root, &STEPS[0]);
        fs::create_dir_all(noted.parent().unwrap()).unwrap();
        fs::write(&noted, "12.50").unwrap();
        let ended = run_step(&root, Path::new("false"), &STEPS[0], None);
        assert!(matches!(ended.end, End::Failed) && ended.processor.is_nan());
        fs::write(log(&root, &STEPS[0]), "test result: ok. 9 passed; 0 failed").unwrap();
        run_step(&root, Path::new("false"), &STEPS[0], Some("build"));
        assert!(!log(&root, &STEPS[0]).exists(), "its tests would be counted again");
        fs::remove_dir_all(root).unwrap();
    }

    #[test]
    fn the_end_of_a_failure_is_shown() {
        let output = format!(
            "\n---- a::b stdout ----\n{}\n\n---- c stdout ----\nwhy\n{}the end\n",
            "x".repeat(9999),
            "line\n".repeat(100)
        );
        let shown = last(&output);
        assert!(shown.starts_with("---- a::b stdout ----\nxxx") && shown.ends_with("the end"));
        assert!(shown.contains("---- c stdout ----\nwhy") && shown.len() < 4000);
    }

    #[test]
    fn results_of_tests_are_added() {
        let output = "test result: ok. 12 passed; 0 failed; 1 ignored\nx\n\
                    test result: FAILED. 3 passed; 2 failed; 0 ignored\n";
        assert_eq!(counts(output), (15, 2));
    }
}
