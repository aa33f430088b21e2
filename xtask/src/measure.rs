//! Measurements that are run manually: the performance of `pavior serve`, and how costs increase
//! with machine size, queue length and the number of clients.

use std::path::Path;

use crate::process::{self, LONG};

/// One part of a measurement.
pub(crate) struct Part {
    title: &'static str,
    /// The arguments for cargo.
    cargo: &'static str,
    variables: &'static [(&'static str, &'static str)],
}

/// Measurements of the service, built with the release profile.
#[rustfmt::skip]
pub(crate) const SERVICE: &[Part] = &[
    Part { title: "durable operations per second, and recovery of a million records",
        cargo: "bench --quiet -p pavior-serve --bench load",
        variables: &[] },
    Part { title: "one day of a real log at 1,000x speed",
        cargo: "test --quiet -p pavior-cli --profile dist --all-features --test it replay::a_day \
         -- --nocapture",
        variables: &[("PAVIOR_REPLAY_SPEED", "1000")] },
    Part { title: "week three of a real log, with each forecast and its outcome",
        cargo: "test --quiet -p pavior-serve --profile dist --all-features --test it forecast_days \
         -- --nocapture",
        variables: &[LONG] },
    Part { title: "frame times with 16x16x16 nodes and 2,000 jobs",
        cargo: "test --quiet -p pavior-serve --profile dist --all-features --test it page::a_large \
         -- --nocapture",
        variables: &[] },
];

/// Measurements of how costs grow with the machine, the queue and the number of clients.
#[rustfmt::skip]
pub(crate) const GROWTH: &[Part] = &[
    Part { title: "50,000 random jobs by machine and scheduler",
        cargo: "bench --quiet --profile dev --all-features -p pavior-scheduling --bench growth",
        variables: &[] },
    Part { title: "a refusal, a grant and the end of a lease, with 10 to 100,000 leases",
        cargo: "bench --quiet --profile dev --all-features -p pavior-serve --bench refusals",
        variables: &[] },
    Part { title: "connections and watchers",
        cargo: "bench --quiet --profile dev --all-features -p pavior-serve --bench load",
        variables: &[("PAVIOR_LOAD_S", "5"), ("PAVIOR_LOAD_RECORDS", "100000")] },
    Part { title: "header hops in the network",
        cargo: "bench --quiet --profile dev --all-features -p pavior-network --bench engines",
        variables: &[] },
    Part { title: "`connected` compared with `ff`",
        cargo: "bench --quiet --profile dev --all-features -p pavior-allocation --bench cost \
         -- ff,connected",
        variables: &[] },
];

pub(crate) fn run(root: &Path, parts: &[Part]) -> Vec<String> {
    let failure = |Part { title, cargo, variables }: &Part| {
        println!("== {title}");
        process::run(process::cargo(root, cargo).envs(variables.iter().copied())).err()
    };
    parts.iter().filter_map(failure).collect()
}
