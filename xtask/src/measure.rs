//! Measurements that are run manually: the performance of `pavior serve`, and how costs grow with
//! machines, queues and clients.

use std::path::Path;

use crate::process::{self, LONG};

/// A part of a measurement.
struct Part {
    title: &'static str,
    /// The cargo command.
    words: &'static str,
    /// The variables that set the part's size.
    sizes: &'static [(&'static str, &'static str)],
}

const fn part(
    title: &'static str,
    words: &'static str,
    sizes: &'static [(&'static str, &'static str)],
) -> Part {
    Part { title, words, sizes }
}

#[rustfmt::skip]
const SERVICE: &[Part] = &[
    part("durable operations per second, and recovery of a million records",
        "bench --quiet -p pavior-serve --bench load", &[]),
    part("a day of a real log at 1,000 times speed",
        "test --quiet -p pavior-cli --profile dist --all-features --test it replay::a_day \
         -- --nocapture",
        &[("PAVIOR_REPLAY_SPEED", "1000")]),
    part("a week of a real log after two weeks, comparing each forecast with the outcome",
        "test --quiet -p pavior-serve --profile dist --all-features --test it forecast_days \
         -- --nocapture",
        &[LONG]),
    part("frames of 16x16x16 nodes and 2,000 jobs",
        "test --quiet -p pavior-serve --profile dist --all-features --test it page::a_large \
         -- --nocapture",
        &[]),
];

#[rustfmt::skip]
const GROWTH: &[Part] = &[
    part("50,000 random jobs by machine and scheduler",
        "bench --quiet --profile dev --all-features -p pavior-scheduling --bench growth", &[]),
    part("a refused lease, a grant and an end, with 10 to 100,000 leases",
        "bench --quiet --profile dev --all-features -p pavior-serve --bench refusals", &[]),
    part("connections and watchers",
        "bench --quiet --profile dev --all-features -p pavior-serve --bench load",
        &[("PAVIOR_LOAD_S", "5"), ("PAVIOR_LOAD_RECORDS", "100000")]),
    part("header hops of the network",
        "bench --quiet --profile dev --all-features -p pavior-network --bench engines", &[]),
    part("`connected` compared with `ff`",
        "bench --quiet --profile dev --all-features -p pavior-allocation --bench cost \
         -- ff,connected",
        &[]),
];

/// Measures the service with the release profile. Returns the failures.
pub(crate) fn service(root: &Path) -> Vec<String> {
    measure(root, SERVICE)
}

/// Measures how costs grow. Returns the failures.
pub(crate) fn growth(root: &Path) -> Vec<String> {
    measure(root, GROWTH)
}

fn measure(root: &Path, parts: &[Part]) -> Vec<String> {
    let failure = |part: &Part| {
        println!("== {}", part.title);
        process::run(process::cargo(root, part.words).envs(part.sizes.iter().copied())).err()
    };
    parts.iter().filter_map(failure).collect()
}
