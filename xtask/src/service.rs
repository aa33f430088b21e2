//! The numbers of `pavior serve`, measured in one go.

use std::path::Path;

use crate::cargo::run_with;

/// A part of the measurement.
struct Part {
    name: &'static str,
    /// The arguments of cargo.
    run: &'static [&'static str],
    /// The variables that give it its size.
    sizes: &'static [(&'static str, &'static str)],
}

const PARTS: &[Part] = &[
    Part {
        name: "durable operations a second, and recovery of a million records",
        run: &["bench", "--quiet", "-p", "pavior-serve", "--bench", "load"],
        sizes: &[],
    },
    Part {
        name: "a day of a real log at 1,000 times speed",
        run: &[
            "test",
            "--quiet",
            "--profile",
            "dist",
            "-p",
            "pavior-cli",
            "--all-features",
            "--test",
            "it",
            "replay::a_day",
            "--",
            "--nocapture",
        ],
        sizes: &[("PAVIOR_REPLAY_SPEED", "1000")],
    },
    Part {
        name: "a week of a real log after two, each forecast held against what came",
        run: &[
            "test",
            "--quiet",
            "--release",
            "-p",
            "pavior-serve",
            "--test",
            "it",
            "forecast_days",
            "--",
            "--nocapture",
        ],
        sizes: &[("PAVIOR_FORECAST_DAYS", "14+7")],
    },
    Part {
        name: "frames of 16x16x16 nodes and 2,000 jobs",
        run: &[
            "test",
            "--quiet",
            "--profile",
            "dist",
            "-p",
            "pavior-serve",
            "--test",
            "it",
            "page::a_large",
            "--",
            "--nocapture",
        ],
        sizes: &[],
    },
];

/// Measures, in the profile of what is released; returns what failed.
pub(crate) fn measure(root: &Path) -> Vec<String> {
    let mut failed = Vec::new();
    for Part { name, run, sizes } in PARTS {
        eprintln!("== {name}");
        if !run_with(root, run, sizes) {
            failed.push(format!("failed: {name}"));
        }
    }
    failed
}
