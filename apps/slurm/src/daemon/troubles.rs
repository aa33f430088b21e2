//! Log lines about persistent problems: when a problem begins, every minute while it lasts, and
//! when it ends.

use std::collections::BTreeMap;

use pavior::json::log;
use serde_json::{Value, json};

use crate::calls::now;
use crate::ledger::Ledger;

/// The time between log lines about a persistent problem, in seconds.
const LOG_INTERVAL_S: u64 = 60;

/// The maximum number of malformed records that a line lists.
const MAX_NAMED: usize = 8;

/// A kind of persistent problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Trouble {
    /// Slurm does not answer.
    Absent,
    /// Some records are malformed.
    Unreadable,
    /// Two jobs hold the same node.
    Overlap,
    /// Some jobs have no box and will not get one.
    Boxless,
    /// The lock cannot be checked or taken.
    Lock,
    /// slurmctld has not loaded the gate, or this cannot be determined.
    Gate,
}

impl Trouble {
    /// Returns the event that reports the end of the problem.
    fn end(self) -> Option<&'static str> {
        match self {
            Trouble::Absent => Some("slurm answers again"),
            Trouble::Unreadable => Some("no more malformed records"),
            Trouble::Lock => Some("acquired the lock; now active"),
            Trouble::Gate => Some("the gate has no fault"),
            Trouble::Overlap | Trouble::Boxless => None,
        }
    }
}

/// The time of the last log line about each persistent problem.
#[derive(Default)]
pub(crate) struct Troubles(BTreeMap<Trouble, u64>);

impl Troubles {
    /// Logs a problem with its level, event and details, or the end of the problem if `line` is
    /// `None`.
    pub(crate) fn log(&mut self, trouble: Trouble, line: Option<(&str, &str, Value)>) {
        let is_there = line.is_some();
        if self.is_news(trouble, is_there, now()) {
            let end = trouble.end().map(|event| ("info", event, json!({})));
            if let Some((level, event, more)) = line.or(end) {
                log(now(), level, event, more);
            }
        }
    }

    /// Returns true if a problem has begun or ended, or has not been logged for a minute.
    fn is_news(&mut self, trouble: Trouble, is_there: bool, now: u64) -> bool {
        if !is_there {
            return self.0.remove(&trouble).is_some();
        }
        let last = self.0.get(&trouble).copied();
        // If the clock was set back, the line must still be logged.
        let is_news = last.is_none_or(|last| !(last..last + LOG_INTERVAL_S).contains(&now));
        if is_news {
            self.0.insert(trouble, now);
        }
        is_news
    }

    /// Logs malformed records.
    pub(crate) fn log_unreadable(&mut self, ledger: &Ledger) {
        let count = ledger.unreadable.len();
        let line =
            || ("warn", "malformed records", json!({ "count": count, "first": faults(ledger) }));
        self.log(Trouble::Unreadable, (count > 0).then(line));
    }
}

/// Describes malformed records by job and fault, without any of their text.
fn faults(ledger: &Ledger) -> Vec<String> {
    let named = ledger.unreadable.iter().take(MAX_NAMED).map(|record| match record.job {
        Some(job) => format!("job {job}: {}", record.fault),
        None => record.fault.to_string(),
    });
    named.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trouble_is_said_again_every_minute_until_it_ends() {
        let mut troubles = Troubles::default();
        let mut at = |trouble, is_there, now| troubles.is_news(trouble, is_there, now);
        let said: Vec<u64> = (0..180).filter(|&now| at(Trouble::Unreadable, true, now)).collect();
        assert_eq!(said, [0, 60, 120]);
        // Another kind of problem is logged separately.
        assert!(at(Trouble::Absent, true, 130) && at(Trouble::Absent, false, 131));
        assert!(!at(Trouble::Absent, false, 132));
        // The clock has been set back.
        assert!(at(Trouble::Unreadable, true, 7));
    }
}
