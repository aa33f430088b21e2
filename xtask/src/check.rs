//! `cargo xtask check` runs the steps, each in a separate process, with waiting steps next to
//! computing ones, and reports the results.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::Instant;

use crate::notes;
use crate::steps::{self, STEPS, Step, Uses};

/// The cores that computing steps share.
const CORES: usize = 2;

/// The number of output lines shown for a failed step; for tests, the number of characters shown
/// for each failed one.
const LINES: usize = 30;
const CHARACTERS: usize = 1200;

/// The result of a step.
enum End {
    Passed,
    Failed,
    /// The step was skipped, because this step did not pass.
    Skipped(&'static str),
}

/// A step that has finished.
struct Ended {
    step: &'static Step,
    end: End,
    seconds: f64,
}

/// Runs all steps, or the named ones and those that they depend on. Returns the failures.
pub(crate) fn run(root: &Path, only: &[String]) -> Vec<String> {
    let steps = match chosen(only) {
        Ok(steps) => steps,
        Err(problem) => return vec![problem],
    };
    notes::begin(root);
    // The build may replace the file of this program while it runs.
    let program = std::env::current_exe().unwrap_or_default();
    let ended = Run { root: root.to_path_buf(), program }.steps(&steps);
    println!("\nstep           seconds");
    for ended in &ended {
        println!("{}", row(ended));
    }
    let problems: Vec<String> = ended.iter().filter_map(|ended| problem(root, ended)).collect();
    if !problems.is_empty() {
        return problems;
    }
    match notes::verdict(&notes::skipped(root), notes::all_required()) {
        Ok(end) => {
            println!("{end}");
            Vec::new()
        }
        Err(problem) => vec![problem],
    }
}

/// Returns the named steps with all steps that they depend on, in the order of the table; all steps
/// if none are named.
fn chosen(only: &[String]) -> Result<Vec<&'static Step>, String> {
    let mut names: Vec<&str> = only.iter().map(String::as_str).collect();
    let mut at = 0;
    while let Some(name) = names.get(at).copied() {
        for before in steps::named(name)?.follows() {
            names.push(before);
        }
        at += 1;
    }
    Ok(STEPS.iter().filter(|step| only.is_empty() || names.contains(&step.name)).collect())
}

/// A run of the checks.
struct Run {
    root: PathBuf,
    /// This program.
    program: PathBuf,
}

impl Run {
    /// Runs steps: waiting ones as soon as the steps that they follow have finished, computing ones
    /// in order, as cores become free.
    fn steps(&self, steps: &[&'static Step]) -> Vec<Ended> {
        let (sender, receiver) = mpsc::channel::<Ended>();
        let mut waiting = steps.to_vec();
        let mut running: Vec<&Step> = Vec::new();
        let mut ended: Vec<Ended> = Vec::new();
        std::thread::scope(|scope| {
            loop {
                let mut taken: usize = running.iter().map(|step| cores(step)).sum();
                let mut at = 0;
                while at < waiting.len() {
                    let step = waiting[at];
                    let is_over = |name: &str| {
                        ended.iter().any(|end| end.step.name == name)
                            || !steps.iter().any(|step| step.name == name)
                    };
                    let is_ready = step.follows().all(is_over);
                    if !is_ready || taken + cores(step) > CORES {
                        // No later step takes the cores that this one waits for.
                        taken = if cores(step) > 0 { CORES } else { taken };
                        at += 1;
                        continue;
                    }
                    taken += cores(step);
                    running.push(waiting.remove(at));
                    let sender = sender.clone();
                    let lost = lost(step, &ended);
                    scope.spawn(move || sender.send(self.step(step, lost)));
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

    /// Runs a step in a separate process, unless a step that it follows did not pass.
    fn step(&self, step: &'static Step, lost: Option<&'static str>) -> Ended {
        if let Some(lost) = lost {
            return Ended { step, end: End::Skipped(lost), seconds: 0.0 };
        }
        eprintln!("started: {} ({})", step.name, step.does);
        let began = Instant::now();
        let passed = self.process(step).is_ok_and(|passed| passed);
        let end = if passed { End::Passed } else { End::Failed };
        Ended { step, end, seconds: began.elapsed().as_secs_f64() }
    }

    fn process(&self, step: &Step) -> std::io::Result<bool> {
        let log = log(&self.root, step);
        fs::create_dir_all(log.parent().unwrap_or(&self.root))?;
        let log = fs::File::create(log)?;
        // A test that waits gets the processor first, so that other steps do not delay it.
        let priority = if matches!(step.uses, Uses::Wait) { "0" } else { "10" };
        let mut process = Command::new("nice");
        process.args(["-n", priority]).arg(&self.program).args(["step", step.name]);
        process.current_dir(&self.root).env(notes::NOTES, notes::path(&self.root));
        let output = process.stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log);
        Ok(output.status()?.success())
    }
}

/// Returns the path of the file with the output of a step.
fn log(root: &Path, step: &Step) -> PathBuf {
    root.join("target/checks").join(step.name).with_extension("log")
}

/// Describes a step that did not pass. For a failure: its last output, the file with all output,
/// and the command to repeat it.
fn problem(root: &Path, ended: &Ended) -> Option<String> {
    let name = ended.step.name;
    match ended.end {
        End::Passed => None,
        End::Skipped(lost) => Some(format!("not run: {name}, because {lost} did not pass")),
        End::Failed => {
            let log = log(root, ended.step);
            let output = fs::read(&log).unwrap_or_default();
            let output = last(&String::from_utf8_lossy(&output));
            let log = log.display();
            Some(format!(
                "FAILED: {name}\n{output}\nall output: {log}; repeat: cargo xtask check {name}"
            ))
        }
    }
}

/// Returns the number of cores that a step takes from computing steps.
fn cores(step: &Step) -> usize {
    match step.uses {
        Uses::Both => CORES,
        Uses::One => 1,
        Uses::Wait => 0,
    }
}

/// Returns a step that did not pass and that the given one follows.
fn lost(step: &Step, ended: &[Ended]) -> Option<&'static str> {
    let mut lost = ended.iter().filter(|end| !matches!(end.end, End::Passed));
    lost.find_map(|end| step.follows().find(|name| *name == end.step.name))
}

/// Formats a step's row in the table.
fn row(ended: &Ended) -> String {
    let end = match ended.end {
        End::Passed => "passed",
        End::Failed => "FAILED",
        End::Skipped(_) => "not run",
    };
    format!("{:14} {:7.1}  {end}", ended.step.name, ended.seconds)
}

/// Returns the last lines of an output; for tests, the beginning of each that failed.
fn last(output: &str) -> String {
    let short = |test: &str| test.chars().take(CHARACTERS).collect::<String>();
    let failed = output.split("\n---- ").skip(1).map(|test| format!("---- {}", short(test)));
    let mut parts: Vec<String> = failed.collect();
    let lines: Vec<&str> = output.lines().collect();
    parts.push(lines[lines.len().saturating_sub(LINES)..].join("\n"));
    parts.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_named_step_includes_those_that_it_follows() {
        let names = |only: &[&str]| {
            let only: Vec<String> = only.iter().map(ToString::to_string).collect();
            chosen(&only).map(|steps| steps.iter().map(|step| step.name).collect::<Vec<_>>())
        };
        assert_eq!(names(&["tidy"]), Ok(vec!["tidy"]));
        let release = names(&["release"]).unwrap();
        assert!(release.ends_with(&["python", "release"]) && release.contains(&"build"));
        assert_eq!(names(&[]).unwrap().len(), STEPS.len());
        assert!(names(&["tidy", "x"]).unwrap_err().contains("there is no step `x`"));
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
}
