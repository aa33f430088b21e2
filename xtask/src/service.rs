//! The numbers of `pavior serve`, measured in one go.

use std::path::Path;

use crate::cargo::run_with;

/// A part of the measurement.
struct Part {
    name: &'static str,
    package: &'static str,
    /// The tests that print the numbers.
    tests: &'static str,
    /// The variables that give the tests their sizes.
    sizes: &'static [(&'static str, &'static str)],
}

const PARTS: &[Part] = &[
    Part {
        name: "durable operations a second, recovery of a million records, memory",
        package: "pavior-serve",
        tests: "load::",
        sizes: &[("PAVIOR_LOAD_S", "20"), ("PAVIOR_LOAD_RECORDS", "1000000")],
    },
    Part {
        name: "a day of a real log at 1,000 times speed",
        package: "pavior-cli",
        tests: "replay::a_day",
        sizes: &[("PAVIOR_REPLAY_SPEED", "1000")],
    },
    Part {
        name: "frames of 16x16x16 nodes and 2,000 jobs",
        package: "pavior-serve",
        tests: "page::a_large",
        sizes: &[],
    },
];

/// Measures, in the profile of releases; returns what failed.
pub(crate) fn measure(root: &Path) -> Vec<String> {
    let mut failed = Vec::new();
    for Part { name, package, tests, sizes } in PARTS {
        eprintln!("== {name}");
        let tests = ["test", "--quiet", "--release", "--package", package, "--test", "it", tests];
        let alone = ["--", "--nocapture", "--test-threads", "1"];
        if !run_with(root, &[&tests[..], &alone].concat(), sizes) {
            failed.push(format!("failed: {name}"));
        }
    }
    failed
}
