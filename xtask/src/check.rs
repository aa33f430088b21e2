//! `cargo xtask check` runs the steps, each in a separate process, with waiting steps next to
//! computing ones, and reports the results.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::Instant;

use crate::notes;
use crate::steps::{self, STEPS, Step, Uses};

/// The free disk space that the checks need in bytes, including all that they download and build.
const ROOM: u64 = 24_000_000_000;

/// The cores that computing steps share.
const CORES: usize = 2;

/// The number of output lines shown for a failed step; for tests, the number of characters shown
/// for each failed one.
const LINES: usize = 30;
const CHARACTERS: usize = 1200;

/// The variable with the file for the processor time of a step.
const SECONDS: &str = "PAVIOR_STEP_SECONDS";

/// The result of a step.
enum End {
    Passed,
    Failed,
    /// The step was skipped, for this reason.
    LeftOut(String),
}

/// A step that has finished.
struct Ended {
    step: &'static Step,
    end: End,
    seconds: f64,
    /// The processor time of the step and its subprocesses, in seconds.
    processor: f64,
}

/// Runs all steps, or the named ones and those that they follow. Returns the failures.
pub(crate) fn run(root: &Path, only: &[String]) -> Vec<String> {
    let steps = match chosen(only) {
        Ok(steps) => steps,
        Err(problem) => return vec![problem],
    };
    if let Err(problem) = room(root) {
        return vec![problem];
    }
    notes::begin(root);
    let began = Instant::now();
    let run = Run {
        root: root.to_path_buf(),
        // The build may replace the file while this runs.
        program: std::env::current_exe().unwrap_or_default(),
        only_changed: only.is_empty() && !notes::all_required(),
    };
    let ended = run.steps(&steps);
    print!("{}", table(&ended, began.elapsed().as_secs_f64()));
    let failed = ended.iter().filter(|ended| !matches!(ended.end, End::Passed));
    let mut problems: Vec<String> = failed.map(|ended| run.problem(ended)).collect();
    let said: String = ended.iter().map(|ended| run.said(ended.step)).collect();
    let (passed, failed) = counts(&said);
    println!("tests: {passed} passed, {failed} failed");
    if problems.is_empty() {
        match notes::verdict(&notes::skipped(root), notes::all_required()) {
            Ok(end) => println!("{end}"),
            Err(problem) => problems.push(problem),
        }
    }
    problems
}

/// Returns the named steps with all steps that they follow, in the order of the table; all steps if
/// none are named.
fn chosen(only: &[String]) -> Result<Vec<&'static Step>, String> {
    let mut names: Vec<&str> = only.iter().map(String::as_str).collect();
    let mut at = 0;
    while let Some(name) = names.get(at).copied() {
        names.extend(steps::named(name)?.after.split_whitespace());
        at += 1;
    }
    Ok(STEPS.iter().filter(|step| only.is_empty() || names.contains(&step.name)).collect())
}

/// Reports the disk space that the checks need, and fails if the disk has less.
fn room(root: &Path) -> Result<(), String> {
    let number = |program: &str, arguments: &[&str]| {
        let said = Command::new(program).args(arguments).current_dir(root).output().ok()?;
        let text = String::from_utf8_lossy(&said.stdout).into_owned();
        text.split_whitespace().find_map(|word| word.parse::<u64>().ok())
    };
    let built = number("du", &["--summarize", "--block-size=1", "target"]).unwrap_or(0);
    let needed = ROOM.saturating_sub(built).max(ROOM / 6);
    let free = number("df", &["--output=avail", "--block-size=1", "."]);
    let giga = |bytes: u64| bytes as f64 / 1e9;
    println!("the checks need {:.0} GB of disk, most of it in target/", giga(needed));
    match free {
        Some(free) if free < needed => Err(format!(
            "the disk has {:.1} GB left, and the checks need {:.0}: `cargo clean` frees what older \
             builds have left",
            giga(free),
            giga(needed)
        )),
        _ => Ok(()),
    }
}

/// A run of the checks.
struct Run {
    root: PathBuf,
    /// This program.
    program: PathBuf,
    /// True if steps are skipped whose inputs have not changed since they passed.
    only_changed: bool,
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
                    let is_ready = step.after.split_whitespace().all(is_over);
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
                let end = receiver.recv().expect("a step that runs ends");
                running.retain(|step| step.name != end.step.name);
                eprint!("{}", row(&end));
                ended.push(end);
            }
        });
        ended
    }

    /// Runs a step in a separate process, unless there is a reason to skip it.
    fn step(&self, step: &'static Step, lost: Option<&str>) -> Ended {
        let ended = |end, seconds, processor| Ended { step, end, seconds, processor };
        if let Some(lost) = lost {
            return ended(End::LeftOut(format!("{lost} failed")), 0.0, 0.0);
        }
        let stamp = self.file(step, "stamp");
        let inputs = step.inputs.map(|inputs| inputs(&self.root));
        let is_same = inputs.is_some() && fs::read_to_string(&stamp).ok() == inputs;
        if self.only_changed && is_same {
            return ended(End::Passed, 0.0, 0.0);
        }
        eprintln!("   begins: {} ({})", step.name, step.does);
        let began = Instant::now();
        let _ = fs::remove_file(&stamp);
        let passed = self.process(step).is_ok_and(|passed| passed);
        if let (true, Some(inputs)) = (passed, inputs) {
            let _ = fs::write(stamp, inputs);
        }
        let processor = fs::read_to_string(self.file(step, "seconds")).unwrap_or_default();
        let end = if passed { End::Passed } else { End::Failed };
        ended(end, began.elapsed().as_secs_f64(), processor.parse().unwrap_or(f64::NAN))
    }

    fn process(&self, step: &Step) -> std::io::Result<bool> {
        let log = self.file(step, "log");
        fs::create_dir_all(log.parent().unwrap_or(&self.root))?;
        let log = fs::File::create(log)?;
        // A test that waits gets the processor first, so that other steps do not delay it.
        let priority = if matches!(step.uses, Uses::Wait) { "0" } else { "10" };
        let mut process = Command::new("nice");
        process.args(["-n", priority]).arg(&self.program).args(["step", step.name]);
        process.current_dir(&self.root).stdin(Stdio::null());
        process.env(SECONDS, self.file(step, "seconds"));
        Ok(process.stdout(log.try_clone()?).stderr(log).status()?.success())
    }

    /// Returns the path of a file about a step.
    fn file(&self, step: &Step, ending: &str) -> PathBuf {
        self.root.join("target/checks").join(format!("{}.{ending}", step.name))
    }

    /// Returns the output of a step.
    fn said(&self, step: &Step) -> String {
        let bytes = fs::read(self.file(step, "log")).unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// Describes the failure of a step: its last output, the file with the rest, and the command to
    /// repeat it.
    fn problem(&self, ended: &Ended) -> String {
        let name = ended.step.name;
        let repeat = format!("repeat it: cargo xtask check --only {name}");
        match &ended.end {
            End::LeftOut(why) => format!("not run: {name}: {why}"),
            _ => format!(
                "FAILED: {name}\n{}\nall of it: {}; {repeat}",
                last(&self.said(ended.step)),
                self.file(ended.step, "log").display()
            ),
        }
    }
}

/// Writes the processor time of this process and its subprocesses into the file that [`SECONDS`]
/// names.
pub(crate) fn note_seconds() {
    let Some(file) = std::env::var_os(SECONDS) else { return };
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The fields after the name in parentheses begin with number 3; 14 to 17 are ticks of 10 ms.
    let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
    let ticks: u64 = fields.skip(11).take(4).filter_map(|ticks| ticks.parse::<u64>().ok()).sum();
    let _ = fs::write(file, format!("{:.2}", ticks as f64 / 100.0));
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
    let lost = |end: &&Ended| step.follows(end.step.name) && !matches!(end.end, End::Passed);
    ended.iter().find(lost).map(|end| end.step.name)
}

/// Formats a step's row in the table.
fn row(ended: &Ended) -> String {
    let name = ended.step.name;
    match &ended.end {
        End::LeftOut(why) => format!("{name:14}     not run: {why}\n"),
        End::Passed if ended.seconds == 0.0 => format!("{name:14}     nothing changed\n"),
        end => {
            let end = if matches!(end, End::Passed) { "passed" } else { "FAILED" };
            format!("{name:14} {:7.1} {:9.1}  {end}\n", ended.seconds, ended.processor)
        }
    }
}

fn table(ended: &[Ended], seconds: f64) -> String {
    let mut text = "\nstep              wall processor, in seconds\n".to_string();
    text.extend(ended.iter().map(row));
    let processor: f64 = ended.iter().map(|end| end.processor).filter(|s| s.is_finite()).sum();
    text + &format!("{:14} {seconds:7.1} {processor:9.1}\n", "all")
}

/// Returns the last lines of an output; for tests, the beginning of each that failed.
fn last(said: &str) -> String {
    let short = |told: &str| told.chars().take(CHARACTERS).collect::<String>();
    let told = said.split("\n---- ").skip(1).map(|told| format!("---- {}", short(told)));
    let mut told: Vec<String> = told.collect();
    let lines: Vec<&str> = said.lines().collect();
    told.push(lines[lines.len().saturating_sub(LINES)..].join("\n"));
    told.join("\n")
}

/// Returns the numbers of passed and failed tests in the output of Rust's test harness.
fn counts(said: &str) -> (usize, usize) {
    let number = |line: &str, what: &str| {
        let before = line.split(what).next()?.trim_end();
        before.rsplit(' ').next()?.parse::<usize>().ok()
    };
    let results = said.lines().filter(|line| line.starts_with("test result: "));
    let counts = results.map(|line| (number(line, " passed"), number(line, " failed")));
    counts.fold((0, 0), |sum, (passed, failed)| {
        (sum.0 + passed.unwrap_or(0), sum.1 + failed.unwrap_or(0))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_named_step_comes_with_those_that_it_follows() {
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
    fn the_end_of_a_failure_is_told() {
        let said = format!(
            "\n---- a::b stdout ----\n{}\n\n---- c stdout ----\nwhy\n{}the end\n",
            "x".repeat(9999),
            "line\n".repeat(100)
        );
        let told = last(&said);
        assert!(told.starts_with("---- a::b stdout ----\nxxx") && told.ends_with("the end"));
        assert!(told.contains("---- c stdout ----\nwhy") && told.len() < 4000);
    }

    #[test]
    fn results_of_tests_are_added() {
        let said = "test result: ok. 12 passed; 0 failed; 1 ignored\nx\n\
                    test result: FAILED. 3 passed; 2 failed; 0 ignored\n";
        assert_eq!(counts(said), (15, 2));
    }
}
