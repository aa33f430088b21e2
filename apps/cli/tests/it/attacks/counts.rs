//! Tests numbers that could cause endless loops or huge allocations. The command must either reject
//! each number with a message or finish within a gigabyte of address space.

use super::{attacked, within};
use crate::tries::{Outcome, fault, with_option};

const MOST: &str = "18446744073709551615";

const SIMULATE: &str = "simulate --machine mesh:4x4 -s ff --jobs 20 --replications 1";
const PRECISE: &str =
    "simulate --machine mesh:4x4 -s ff --jobs 20 --precision 0.05 --max-replications 20";
const BENCH: &str = "bench --machine mesh:4x4 -s ff --attempts 50";
const UNBLOCK: &str = "unblock --machine mesh:4x4 --busy /dev/null --shape 2x2";

/// Commands, each with a numeric option and an extreme value for it.
const COUNTS: &[(&str, &str, &str)] = &[
    (BENCH, "--warmup", MOST),
    (BENCH, "--warmup", "10000001"),
    (BENCH, "--attempts", MOST),
    (BENCH, "--rounds", MOST),
    (SIMULATE, "--jobs", MOST),
    (SIMULATE, "--jobs", "1000000001"),
    (SIMULATE, "--warmup", MOST),
    (SIMULATE, "--replications", MOST),
    (SIMULATE, "--max-waiting", MOST),
    (SIMULATE, "--max-interruptions", MOST),
    (SIMULATE, "--max-time", "1e308"),
    (SIMULATE, "--seed", MOST),
    (SIMULATE, "--threads", MOST),
    (SIMULATE, "--spares", MOST),
    (SIMULATE, "--first", MOST),
    (PRECISE, "--min-replications", MOST),
    (PRECISE, "--max-replications", MOST),
    (PRECISE, "--confidence", "0.9999999999999999"),
    (PRECISE, "--confidence", "0.99999999999999989"),
    (PRECISE, "--confidence", "1e-300"),
    (PRECISE, "--confidence", "5e-324"),
    (PRECISE, "--precision", "5e-324"),
    (UNBLOCK, "--max-jobs", MOST),
    (UNBLOCK, "--budget", MOST),
    (UNBLOCK, "--nearest", MOST),
    ("network --machine mesh:4x4", "--flits", MOST),
    ("network --machine mesh:4x4", "--buffer", MOST),
    ("network --machine mesh:4x4", "--routing-delay", MOST),
    ("trace generate lublin --nodes 16", "--jobs", MOST),
    ("trace generate lublin --jobs 5", "--nodes", "4294967295"),
    ("plot /dev/null --machine mesh:4x4 --animate", "--seconds", "1e308"),
    ("sweep wanted /nowhere", "--most", MOST),
];

/// Returns the fault in an outcome, if any. Running out of memory counts as a fault.
fn fault_or_exhaustion(outcome: Result<Outcome, String>) -> Option<String> {
    outcome.map_or_else(Some, |outcome| {
        let memory = outcome.message.contains("memory allocation").then(|| outcome.message.clone());
        fault(&outcome).or(memory)
    })
}

#[test]
fn huge_counts_are_answered() {
    let mut faults = Vec::new();
    for (base, option, value) in COUNTS {
        let arguments = with_option(base, option, value);
        let outcome = within(1 << 10, &arguments);
        faults.extend(fault_or_exhaustion(outcome).map(|fault| format!("{arguments:?}: {fault}")));
    }
    attacked("numbers that fill memory or do not end", COUNTS.len(), &faults);
}
