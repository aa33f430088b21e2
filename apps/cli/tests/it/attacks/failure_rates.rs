//! Tests that, if nodes fail so often that almost no job completes, the run stops with an error
//! after a number of unsuccessful attempts.

use super::{attacked, within};
use crate::tries::Outcome;
use crate::words;

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
                "no job completed during",
                "has lost a node",
                "at this rate the run will not finish",
                "jobs arrive faster than the machine can run them",
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
