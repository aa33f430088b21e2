//! Measurements that are run manually: the performance of `pavior serve`, and the growth of costs
//! with machines, queues and clients.

use std::path::Path;

use crate::process::{self, LONG};

/// A part of a measurement: its title, cargo command, and environment variables.
pub(crate) type Part = (&'static str, &'static str, &'static [(&'static str, &'static str)]);

/// Measurements of the service with the release profile.
#[rustfmt::skip]
pub(crate) const SERVICE: &[Part] = &[
    ("durable operations per second, and recovery of a million records",
        "bench --quiet -p pavior-serve --bench load", &[]),
    ("one day of a real log at 1,000 times the speed",
        "test --quiet -p pavior-cli --profile dist --all-features --test it replay::a_day \
         -- --nocapture",
        &[("PAVIOR_REPLAY_SPEED", "1000")]),
    ("one week of a real log after two weeks; each forecast is compared with the outcome",
        "test --quiet -p pavior-serve --profile dist --all-features --test it forecast_days \
         -- --nocapture",
        &[LONG]),
    ("frame times with 16x16x16 nodes and 2,000 jobs",
        "test --quiet -p pavior-serve --profile dist --all-features --test it page::a_large \
         -- --nocapture",
        &[]),
];

#[rustfmt::skip]
pub(crate) const GROWTH: &[Part] = &[
    ("50,000 random jobs by machine and scheduler",
        "bench --quiet --profile dev --all-features -p pavior-scheduling --bench growth", &[]),
    ("a refusal, a grant and the end of a lease, with 10 to 100,000 leases",
        "bench --quiet --profile dev --all-features -p pavior-serve --bench refusals", &[]),
    ("connections and watchers",
        "bench --quiet --profile dev --all-features -p pavior-serve --bench load",
        &[("PAVIOR_LOAD_S", "5"), ("PAVIOR_LOAD_RECORDS", "100000")]),
    ("header hops of the network",
        "bench --quiet --profile dev --all-features -p pavior-network --bench engines", &[]),
    ("`connected` compared with `ff`",
        "bench --quiet --profile dev --all-features -p pavior-allocation --bench cost \
         -- ff,connected",
        &[]),
];

pub(crate) fn run(root: &Path, parts: &[Part]) -> Vec<String> {
    let failure = |(title, words, sizes): &Part| {
        println!("== {title}");
        process::run(process::cargo(root, words).envs(sizes.iter().copied())).err()
    };
    parts.iter().filter_map(failure).collect()
}
