//! The fixed set of counts that the checks hold.

use std::fmt::Write as _;
use std::process::{Command, ExitCode};

use pavior_allocation::Selection;
use pavior_mesh::Grid;

use crate::churn::{Record, Sides, can_count};

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/instructions/counts.tsv");
/// A count that has grown by more than this share fails.
const TOLERANCE: f64 = 0.05;
const QUESTIONS: usize = 40;
/// Machines, the longest side of a job, and the strategies counted there.
const SET: &[(&str, u16, &[&str])] = &[
    (
        "mesh:64x64",
        16,
        &["ff", "bf", "wf", "tbl", "adj", "mfa", "lssa", "gabl", "nas", "mc", "hilbert", "mbs"],
    ),
    ("torus:8x8x8", 4, &["tff", "bf", "tbl", "mfa", "gabl", "mc1x1"]),
];

/// The counts today: machine and strategy, and instructions a question.
fn counts() -> Vec<(String, f64)> {
    let mut counts = Vec::new();
    for &(machine, longest, strategies) in SET {
        let grid: Grid = machine.parse().expect("written right");
        for name in strategies {
            let selection: Selection = name.parse().expect("written right");
            let sides = Sides::Uniform(longest);
            let record = Record::new(&grid, &selection, sides, "instructions", QUESTIONS);
            let count = record.and_then(|record| record.instructions(&selection, usize::MAX));
            counts.push((format!("{machine}\t{name}"), count.unwrap_or(f64::NAN)));
        }
    }
    counts
}

/// What counts depend on beside the code.
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

/// Writes the file anew.
pub(crate) fn write() -> ExitCode {
    if !can_count() {
        return ExitCode::FAILURE;
    }
    let mut text = format!("# instructions a question; {}\n", platform());
    for (case, count) in counts() {
        let _ = writeln!(text, "{case}\t{count:.0}");
    }
    match std::fs::write(FILE, text) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{FILE}: {error}");
            ExitCode::FAILURE
        }
    }
}

fn not_checked(why: &str) -> ExitCode {
    pavior_trials::skipped("instructions of allocations", why, "PAVIOR_REQUIRE_INSTRUCTIONS");
    ExitCode::SUCCESS
}

/// Holds the counts of today against the file.
pub(crate) fn check() -> ExitCode {
    let text = match std::fs::read_to_string(FILE) {
        Ok(text) => text,
        Err(error) => {
            eprintln!("{FILE}: {error}");
            return ExitCode::FAILURE;
        }
    };
    if !can_count() {
        return not_checked("there is no valgrind");
    }
    let platform = platform();
    if !text.lines().next().is_some_and(|head| head.ends_with(&platform)) {
        return not_checked(&format!("the counts are not {platform}'s"));
    }
    let mut failed = false;
    for (case, count) in counts() {
        let before = text
            .lines()
            .find_map(|line| line.strip_prefix(&case)?.strip_prefix('\t')?.parse::<f64>().ok());
        let Some(before) = before else {
            eprintln!("{case}: no count in {FILE}; write it anew");
            failed = true;
            continue;
        };
        let change = 100.0 * (count / before - 1.0);
        let worse = count.is_nan() || count > before * (1.0 + TOLERANCE);
        failed |= worse;
        let mark = if worse { "  <-- more than 5 % more" } else { "" };
        println!("{case}\t{count:.0}\twas {before:.0}\t{change:+.1} %{mark}");
    }
    if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}
