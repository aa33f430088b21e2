//! Checks the gate regularly, because administrators can change its file.

use serde_json::json;

use super::Daemon;
use super::problems::{LogLine, Problem};
use crate::calls::is_recent;
use crate::gate::loaded::loaded_gate;

/// The time between gate checks, in seconds.
const GATE_CHECK_S: u64 = 3600;
/// The time between gate checks while the gate is faulty, in seconds.
const GATE_RECHECK_S: u64 = 60;

impl Daemon {
    /// If a check is due, reports a problem unless slurmctld has loaded the gate that matches this
    /// configuration.
    pub(super) fn check_gate(&mut self, time: u64) {
        let is_faulty = self.problems.is_present(Problem::Gate);
        let interval_s = if is_faulty { GATE_RECHECK_S } else { GATE_CHECK_S };
        if is_recent(self.gate_checked_at, time, interval_s) {
            return;
        }
        self.gate_checked_at = Some(time);
        let fault = match loaded_gate(&self.config) {
            Ok(gate) => gate.fault(&self.config),
            Err(error) => Some(error.to_string()),
        };
        self.metrics.gate.set(i64::from(fault.is_none()));
        let line =
            fault.map(|error| LogLine::new("warn", "gate check failed", json!({ "error": error })));
        self.problems.log(Problem::Gate, line);
    }
}
