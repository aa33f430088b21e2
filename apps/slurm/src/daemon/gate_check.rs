//! Checks the gate regularly, because administrators can change its file.

use serde_json::json;

use super::Daemon;
use super::problems::{LogLine, Problem};
use crate::gate::loaded::loaded_gate;

/// The time between gate checks, in seconds.
const GATE_CHECK_S: u64 = 3600;
/// The time between gate checks while the gate is faulty, in seconds.
const GATE_RECHECK_S: u64 = 60;

impl Daemon {
    /// Reports a problem unless slurmctld has loaded the gate that matches this configuration.
    pub(super) fn check_gate(&mut self, time: u64) {
        let fault = match loaded_gate(&self.config) {
            Ok(gate) => gate.fault(&self.config),
            Err(error) => Some(error.to_string()),
        };
        self.metrics.set_gate(fault.is_none());
        self.gate_check_at = time + if fault.is_none() { GATE_CHECK_S } else { GATE_RECHECK_S };
        let line =
            fault.map(|error| LogLine::new("warn", "gate check failed", json!({ "error": error })));
        self.problems.log(Problem::Gate, line);
    }
}
