//! The size of a test run, and notes that tests leave about skipped tests and attempted attacks.
//!
//! The Rust test harness hides the output of passing tests. If a test was skipped because a program
//! is missing, the harness reports it as `ok`. Tests therefore append notes to the file named by
//! the environment variable [`NOTES`]. `cargo xtask check` and `cargo xtask attack` read this file
//! at the end.
//!
//! A note is a line of tab-separated fields:
//!
//! ```text
//! skipped   part   reason
//! attack    area   attack   times tried   times failed
//! ```
#![cfg_attr(not(test), deny(clippy::disallowed_methods))]
// Tests fail by panicking.
#![allow(clippy::missing_panics_doc)]

mod answers;
#[cfg(feature = "browser")]
mod browser;
pub mod instructions;
mod size;

pub use answers::{ANSWERS, in_words_of_the_table};
#[cfg(feature = "browser")]
pub use browser::Browser;
pub use size::{SEEDS, SIZE, Size, left_out, seeds, size};

use std::fs::OpenOptions;
use std::io::Write;
use std::path::PathBuf;
use std::process::Command;

/// The environment variable that names the notes file.
pub const NOTES: &str = "PAVIOR_NOTES";

/// Records that a test is skipped because this machine lacks a requirement. Panics if the
/// environment variable `required` is set, as it is in `.ci/run`.
pub fn skipped(what: &str, why: &str, required: &str) {
    assert!(
        std::env::var_os(required).is_none(),
        "{required} is set, but {what} cannot run: {why}"
    );
    eprintln!("SKIPPED: {what}: {why}");
    note(&["skipped", what, why]);
}

/// Returns true if a program can be run.
pub fn is_installed(program: &str) -> bool {
    let version = Command::new(program).arg("--version").output();
    version.is_ok_and(|output| output.status.success())
}

/// Records an attack, with the number of attempts and the number of broken promises. Panics if a
/// promise was broken or nothing was tried.
pub fn attacked(area: &str, attack: &str, tried: usize, failed: usize) {
    println!("{area}: {attack}: {tried} tried, {failed} failed");
    note(&["attack", area, attack, &tried.to_string(), &failed.to_string()]);
    assert!(tried > 0, "{area}: {attack}: nothing was tried");
    assert_eq!(failed, 0, "{area}: {attack}: failures in {tried} attempts");
}

/// Returns the path to a real job log, in the directory named by `PAVIOR_TRACES` or else in
/// `../shared/traces` next to the repository. If the log is missing, records a skipped test.
pub fn log(name: &str) -> Option<PathBuf> {
    let beside = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/traces");
    let folder = std::env::var_os("PAVIOR_TRACES").map_or(PathBuf::from(beside), PathBuf::from);
    let path = folder.join(name);
    if path.is_file() {
        return Some(path);
    }
    skipped("real job logs", &format!("no {name} in ../shared/traces"), "PAVIOR_REQUIRE_TRACES");
    None
}

fn note(fields: &[&str]) {
    let Some(path) = std::env::var_os(NOTES) else { return };
    let clean = |field: &&str| field.replace(['\t', '\n'], " ");
    let line = fields.iter().map(clean).collect::<Vec<_>>().join("\t") + "\n";
    let file = OpenOptions::new().create(true).append(true).open(path);
    // A single write prevents lines from different tests from being interleaved.
    let written = file.and_then(|mut file| file.write_all(line.as_bytes()));
    written.expect("the notes file can be written");
}
