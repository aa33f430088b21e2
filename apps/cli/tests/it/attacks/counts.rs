//! Tests numbers that could cause endless loops or huge allocations. Each is rejected with a
//! message, or the command ends within a gigabyte of address space.

use super::{attacked, within};
use crate::tries::{Outcome, fault, with_option};
use crate::words;

const MOST: &str = "18446744073709551615";

const SIMULATE: &str = "simulate --machine mesh:4x4 -s ff --jobs 20 --replications 1";
const PRECISE: &str =
    "simulate --machine mesh:4x4 -s ff --jobs 20 --precision 0.05 --max-replications 20";
const BENCH: &str = "bench --machine mesh:4x4 -s ff --attempts 50";
const UNBLOCK: &str = "unblock --machine mesh:4x4 --busy /dev/null --shape 2x2";

/// Commands with a number that either has a limit or may have any value.
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

/// Returns the fault in an outcome. Running out of memory is one.
fn wrong(outcome: Result<Outcome, String>) -> Option<String> {
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
        faults.extend(wrong(outcome).map(|fault| format!("{arguments:?}: {fault}")));
    }
    attacked("numbers that fill memory or do not end", COUNTS.len(), &faults);
}

/// Checks that a run stops with an error after a number of unsuccessful attempts if failures are so
/// frequent that almost no job completes.
#[test]
fn runs_that_cannot_finish_are_reported() {
    let mut cases = Vec::new();
    for (mttf, mttr) in [
        ("0.001", "1e12"),
        ("0.001", "1000"),
        ("1", "1e9"),
        ("0.01", "1"),
        ("1", "1"),
        ("0.001", "0.001"),
    ] {
        for scheduler in ["fcfs", "easy", "scan-all", "ssd", "window:8"] {
            cases.push((mttf, mttr, scheduler));
        }
    }
    let cases: Vec<_> = cases.into_iter().step_by(pavior_trials::size(15, 7, 1)).collect();
    let mut faults = Vec::new();
    for (mttf, mttr, scheduler) in &cases {
        let run = format!(
            "simulate --machine mesh:16x16 -s ff,gabl --jobs 1000 --mttf {mttf} --mttr {mttr} \
             --scheduler {scheduler} --threads 1"
        );
        let is_reported = |outcome: &Outcome| {
            let known = [
                "no more jobs complete",
                "none has completed",
                "has lost a node",
                "at this pace the run will not finish",
                "more arrive than the machine can run",
            ];
            outcome.code == Some(2) && known.iter().any(|words| outcome.message.contains(words))
        };
        match within(2 << 10, &words(&run)) {
            Ok(outcome) if is_reported(&outcome) => {}
            Ok(outcome) => faults.push(format!("{run}: {:?} {}", outcome.code, outcome.message)),
            Err(reason) => faults.push(format!("{run}: {reason}")),
        }
    }
    attacked("failures that let nothing complete", cases.len(), &faults);
}
