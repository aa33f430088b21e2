//! The performance figures of `pavior serve`, measured in one run.

use std::path::Path;

use crate::cargo::{LONG, run_with};

/// A part of the measurement.
struct Part {
    name: &'static str,
    package: &'static str,
    what: What,
    /// The variables that set its size.
    sizes: &'static [(&'static str, &'static str)],
}

/// The part of a package that is run.
enum What {
    Bench(&'static str),
    Tests(&'static str),
}

const PARTS: &[Part] = &[
    Part {
        name: "durable operations a second, and recovery of a million records",
        package: "pavior-serve",
        what: What::Bench("load"),
        sizes: &[],
    },
    Part {
        name: "a day of a real log at 1,000 times speed",
        package: "pavior-cli",
        what: What::Tests("replay::a_day"),
        sizes: &[("PAVIOR_REPLAY_SPEED", "1000")],
    },
    Part {
        name: "a week of a real log after two, each forecast held against what came",
        package: "pavior-serve",
        what: What::Tests("forecast_days"),
        sizes: &[LONG],
    },
    Part {
        name: "frames of 16x16x16 nodes and 2,000 jobs",
        package: "pavior-serve",
        what: What::Tests("page::a_large"),
        sizes: &[],
    },
];

impl Part {
    /// Returns the arguments of cargo.
    fn arguments(&self) -> Vec<&'static str> {
        let package = ["--quiet", "--package", self.package];
        match self.what {
            What::Bench(name) => [&["bench"], &package[..], &["--bench", name]].concat(),
            What::Tests(name) => {
                let test = ["--profile", "dist", "--all-features", "--test", "it", name];
                [&["test"], &package[..], &test, &["--", "--nocapture"]].concat()
            }
        }
    }
}

/// Runs the measurements, with the release profile. Returns the failures.
pub(crate) fn measure(root: &Path) -> Vec<String> {
    let mut failed = Vec::new();
    for part in PARTS {
        eprintln!("== {}", part.name);
        if !run_with(root, &part.arguments(), part.sizes) {
            failed.push(format!("failed: {}", part.name));
        }
    }
    failed
}
