//! Logs persistent problems when they begin, every minute while they last, and when they end.

use std::collections::BTreeMap;

use pavior::json::log;
use serde_json::{Value, json};

use crate::calls::{is_recent, now};
use crate::ledger::Ledger;

/// The time between log lines about a persistent problem, in seconds.
const LOG_INTERVAL_S: u64 = 60;

/// The maximum number of malformed records listed in a log line.
const MAX_LISTED: usize = 8;

/// A kind of persistent problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Problem {
    /// Cycles are being skipped, usually because Slurm is not responding.
    Skipped,
    /// Some records are malformed.
    Unreadable,
    /// Two jobs hold the same node.
    Overlap,
    /// Some jobs have no box and will never get one.
    Boxless,
    /// The lock cannot be acquired.
    Lock,
    /// slurmctld has not loaded the gate, or the loaded gate cannot be determined.
    Gate,
}

impl Problem {
    /// Returns the log event for the end of the problem.
    fn end(self) -> &'static str {
        match self {
            Problem::Skipped => "cycles are running again",
            Problem::Unreadable => "no more malformed records",
            Problem::Overlap => "no node is held by two jobs any longer",
            Problem::Boxless => "no more jobs without a box",
            Problem::Lock => "acquired the lock; now active",
            Problem::Gate => "gate check passed",
        }
    }
}

/// A log line.
pub(super) struct LogLine {
    level: &'static str,
    event: &'static str,
    details: Value,
}

impl LogLine {
    pub(super) fn new(level: &'static str, event: &'static str, details: Value) -> LogLine {
        LogLine { level, event, details }
    }
}

/// The time at which each persistent problem was last logged.
#[derive(Default)]
pub(super) struct Problems(BTreeMap<Problem, u64>);

impl Problems {
    /// Logs `line` if it is due. If `line` is `None`, logs the end of the problem.
    pub(super) fn log(&mut self, problem: Problem, line: Option<LogLine>) {
        let time = now();
        if self.is_due(problem, line.is_some(), time) {
            let end = || LogLine::new("info", problem.end(), json!({}));
            let LogLine { level, event, details } = line.unwrap_or_else(end);
            log(time, level, event, details);
        }
    }

    /// Returns true if a problem has begun and has not ended.
    pub(super) fn is_present(&self, problem: Problem) -> bool {
        self.0.contains_key(&problem)
    }

    /// Returns true if a problem has begun, has ended, or was last logged at least a minute ago.
    fn is_due(&mut self, problem: Problem, is_present: bool, now: u64) -> bool {
        if !is_present {
            return self.0.remove(&problem).is_some();
        }
        let is_due = !is_recent(self.0.get(&problem).copied(), now, LOG_INTERVAL_S);
        if is_due {
            self.0.insert(problem, now);
        }
        is_due
    }

    /// Logs malformed records.
    pub(super) fn log_unreadable(&mut self, ledger: &Ledger) {
        let count = ledger.unreadable.len();
        let line = (count > 0).then(|| {
            LogLine::new(
                "warn",
                "malformed records",
                json!({ "count": count, "first": faults(ledger) }),
            )
        });
        self.log(Problem::Unreadable, line);
    }
}

/// Describes malformed records by job and fault, without quoting any of their text.
fn faults(ledger: &Ledger) -> Vec<String> {
    let first = ledger.unreadable.iter().take(MAX_LISTED).map(|record| match record.job {
        Some(job) => format!("job {job}: {}", record.fault),
        None => record.fault.to_string(),
    });
    first.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_problem_is_logged_every_minute_until_it_ends() {
        let mut problems = Problems::default();
        let mut at = |problem, is_present, now| problems.is_due(problem, is_present, now);
        let logged: Vec<u64> = (0..180).filter(|&now| at(Problem::Unreadable, true, now)).collect();
        assert_eq!(logged, [0, 60, 120]);
        // Different kinds of problems are logged independently.
        assert!(at(Problem::Skipped, true, 130) && at(Problem::Skipped, false, 131));
        assert!(!at(Problem::Skipped, false, 132));
        // The clock has been set back.
        assert!(at(Problem::Unreadable, true, 7));
    }
}
