//! Counts instructions with callgrind, and compares the counts with stored ones.
//!
//! A measured program reruns itself under `valgrind`. Counts depend on the compiler and on AVX2
//! support, but not on other running programs.

use std::fmt::Write as _;
use std::io::Write as _;
use std::process::{Command, ExitCode, Stdio};

/// The maximum relative increase in a count.
const TOLERANCE: f64 = 0.05;

/// A set of counts, stored in a file of tab-separated values.
pub struct FixedSet {
    /// A short description of the code whose instructions are counted.
    pub what: &'static str,
    /// The path to the stored counts.
    pub file: &'static str,
    /// Returns this build's counts, each with its name. A count is NaN if counting failed.
    pub counts: fn() -> Vec<(String, f64)>,
}

/// Returns true if callgrind is available.
pub fn can_count() -> bool {
    let there = crate::is_installed("valgrind");
    if !there {
        eprintln!("note: valgrind is not installed, so instructions are not counted");
    }
    there
}

/// Reruns this program with `arguments`, and with `input` as the standard input. Returns the number
/// of instructions in all calls to the function whose name contains `function`, or `None` if
/// callgrind fails. No other called function may have `function` in its name.
pub fn collected(arguments: &[&str], function: &str, input: &str) -> Option<f64> {
    events(arguments, function, input, &[]).and_then(|events| Some(events.first()?.1))
}

/// Works like [`collected`], but also counts memory accesses. These include data reads (`Dr`) and
/// data reads that miss a first-level cache of 32 KiB or of this processor's size (`D1mr`). A
/// vector read counts as one read.
pub fn collected_with_memory(
    arguments: &[&str],
    function: &str,
    input: &str,
) -> Option<Vec<(String, f64)>> {
    events(arguments, function, input, &["--cache-sim=yes"])
}

fn events(
    arguments: &[&str],
    function: &str,
    input: &str,
    options: &[&str],
) -> Option<Vec<(String, f64)>> {
    let mut child = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null", "--collect-atstart=no"])
        .args(options)
        .arg(format!("--toggle-collect=*{function}*"))
        .arg(std::env::current_exe().ok()?)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .ok()?;
    let mut into = child.stdin.take()?;
    into.write_all(input.as_bytes()).ok()?;
    drop(into);
    let output = child.wait_with_output().ok()?;
    let errors = String::from_utf8_lossy(&output.stderr);
    let behind = |word: &str| errors.lines().find_map(|line| Some(line.split_once(word)?.1));
    let names = behind("Events    :").unwrap_or_default().split_whitespace().map(str::to_string);
    let counts = behind("Collected :").unwrap_or_default().split_whitespace();
    let counts = counts.map(|count| count.parse::<f64>().ok());
    let events: Option<Vec<(String, f64)>> =
        names.zip(counts).map(|(name, count)| Some((name, count?))).collect();
    let events = events.filter(|events| !events.is_empty() && output.status.success());
    if events.is_none() {
        eprintln!("note: callgrind failed for {arguments:?}:\n{errors}");
    }
    events
}

/// Describes the compiler and the processor, which affect counts.
fn platform() -> String {
    let version = Command::new("rustc").arg("--version").output();
    let version = version.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_string());
    #[cfg(target_arch = "x86_64")]
    let vectors = if is_x86_feature_detected!("avx2") { "with AVX2" } else { "without AVX2" };
    #[cfg(not(target_arch = "x86_64"))]
    let vectors = "not x86-64";
    let built = match option_env!("CARGO_INCREMENTAL") {
        Some("1") => ", built incrementally",
        _ => "",
    };
    format!("{}, {vectors}{built}", version.unwrap_or_else(|_| "an unknown compiler".into()))
}

impl FixedSet {
    /// Checks or writes the file if the argument is `check` or `write`. Otherwise, returns `None`.
    pub fn done(&self, argument: Option<&str>) -> Option<ExitCode> {
        let done = match argument {
            Some("check") => self.check(),
            Some("write") => self.write(),
            _ => return None,
        };
        let Err(problem) = done else { return Some(ExitCode::SUCCESS) };
        eprintln!("{}: {problem}", self.file);
        Some(ExitCode::FAILURE)
    }

    /// Rewrites the file.
    fn write(&self) -> Result<(), String> {
        if !can_count() {
            return Err("not written".to_string());
        }
        let mut text = format!("# instructions of {}; {}\n", self.what, platform());
        for (case, count) in (self.counts)() {
            let _ = writeln!(text, "{case}\t{count:.0}");
        }
        std::fs::write(self.file, text).map_err(|error| error.to_string())
    }

    /// Compares this build's counts with the file, or records that this part was skipped.
    fn check(&self) -> Result<(), String> {
        let text = std::fs::read_to_string(self.file).map_err(|error| error.to_string())?;
        let platform = platform();
        let why = if !can_count() {
            "valgrind is not installed".to_string()
        } else if !text.lines().next().is_some_and(|head| head.ends_with(&platform)) {
            format!("the stored counts are not for {platform}")
        } else {
            let counts = (self.counts)();
            let failed = counts.iter().filter(|(case, count)| !self.holds(&text, case, *count));
            let failed = failed.count();
            return if failed > 0 { Err(format!("{failed} counts grew")) } else { Ok(()) };
        };
        let what = format!("instructions of {}", self.what);
        crate::skipped(&what, &why, "PAVIOR_REQUIRE_INSTRUCTIONS");
        Ok(())
    }

    /// Returns true if a count does not exceed the stored count by more than the tolerance.
    fn holds(&self, text: &str, case: &str, count: f64) -> bool {
        let before = text
            .lines()
            .find_map(|line| line.strip_prefix(case)?.strip_prefix('\t')?.parse::<f64>().ok());
        let Some(before) = before else {
            eprintln!("{case}: no count in {}; rewrite the file with `write`", self.file);
            return false;
        };
        let change = 100.0 * (count / before - 1.0);
        let holds = count <= before * (1.0 + TOLERANCE);
        let mark = if holds { "" } else { "  <-- grew by more than 5%" };
        println!("{case}\t{count:.0}\twas {before:.0}\t{change:+.1} %{mark}");
        holds
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_count_that_grew_or_is_new_does_not_hold() {
        let set = FixedSet { what: "tests", file: "counts.tsv", counts: Vec::new };
        let text = "# head\nfirst\t100\nfirst case\t200\n";
        for (case, count, holds) in [
            ("first", 104.0, true),
            ("first", 106.0, false),
            ("first", f64::NAN, false),
            ("first case", 50.0, true),
            ("second", 1.0, false),
        ] {
            assert_eq!(set.holds(text, case, count), holds, "{case} {count}");
        }
    }
}
