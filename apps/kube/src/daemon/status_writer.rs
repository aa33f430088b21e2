//! Writes each machine's status if that status differs from the one in the cluster.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use serde_json::json;

use super::write_reporter::WriteReporter;
use super::{IDLE_PAUSE, REPEAT_DELAY, RETRY_DELAY};
use crate::objects::{Machine, MachineStatus, Object as _, Uid};
use crate::world::World;
use crate::write::{WriteError, Writer};

/// This replica's latest write to a machine's status.
enum LastWrite {
    /// A status that was written, and the first version of the machine that contains it.
    Written { status: MachineStatus, version: u64 },
    /// The API server rejected a write at this time.
    Rejected(Instant),
}

/// The latest write for each machine.
#[derive(Default)]
pub(super) struct StatusWriter {
    latest: HashMap<Uid, LastWrite>,
}

impl StatusWriter {
    /// Forgets machines that no longer exist.
    pub(super) fn retain(&mut self, world: &World) {
        let machines = world.machines.values();
        self.latest.retain(|uid, _| machines.clone().any(|machine| machine.id() == uid.0));
    }

    /// Writes a machine's status unless the machine already has this status. Returns the maximum
    /// delay before the next attempt.
    pub(super) async fn write(
        &mut self,
        writer: &Writer,
        reporter: &WriteReporter,
        machine: &Machine,
        status: MachineStatus,
    ) -> Duration {
        let current = match self.latest.get(machine.id()) {
            Some(LastWrite::Rejected(at)) if at.elapsed() < REPEAT_DELAY => {
                return REPEAT_DELAY.saturating_sub(at.elapsed());
            }
            // The watch has not delivered the write yet.
            Some(LastWrite::Written { status, version }) if machine.version_number() < *version => {
                Some(status)
            }
            _ => machine.status.as_ref(),
        };
        if current == Some(&status) {
            return IDLE_PAUSE;
        }
        let result = writer.write_status(machine, &status).await;
        let fields = json!({ "name": machine.name() });
        let (latest, delay) = match result.map_err(|error| reporter.report("status", fields, error))
        {
            Ok(version) => (LastWrite::Written { status, version }, IDLE_PAUSE),
            Err(WriteError::Rejected(_)) => (LastWrite::Rejected(Instant::now()), REPEAT_DELAY),
            Err(WriteError::Unavailable) => return RETRY_DELAY,
            // The watch delivers the change.
            Err(WriteError::Conflict) => return IDLE_PAUSE,
        };
        self.latest.insert(machine.uid(), latest);
        delay
    }
}
