//! Determines a server's initial time and epoch when it becomes the leader.

use std::hash::{BuildHasher, Hasher};

use super::handle::{CallerCommand, ClockDoubt};
use super::thread::Writer;
use crate::core::{Caller, Command, ServiceState};
use crate::storage::StoreError;

/// The time without records, in milliseconds, after which the current time is recorded. At startup,
/// we assume that the service was running until the last record.
const NOTE_TIME_MS: u64 = 3600 * 1000;

impl Writer {
    /// Starts making decisions from the current state.
    ///
    /// # Errors
    /// Returns an error if newly started requests or a doubt about the clock cannot be recorded.
    pub(super) fn lead(&mut self) -> Result<(), StoreError> {
        if let Some(state) = self.state.as_mut() {
            state.begin_epochs(self.handle.clock.wall_ms(), random());
        }
        self.set_clock();
        if let Some(state) = self.state.as_mut() {
            state.advance_queues(self.handle.clock.now_ms(), &mut self.records);
        }
        if self.records.is_empty() {
            // The schedulers' plans have changed without a record, so the view is outdated.
            self.view = None;
            self.publish();
            return Ok(());
        }
        self.commit()
    }

    /// Sets the clock to the time from which it should continue.
    fn set_clock(&mut self) {
        let Some(state) = self.state.as_mut() else { return };
        let clock = &self.handle.clock;
        if self.is_clock_set && !state.is_clock_doubted() {
            // Another server's clock may have been ahead.
            if state.now_ms() > clock.now_ms() {
                clock.set_ms(state.now_ms());
            }
            return;
        }
        let last_ms = state.now_ms();
        let now_ms = state.begin_clock(clock.wall_ms(), &self.tuning.clock, &mut self.records);
        clock.set_ms(now_ms);
        self.is_clock_set = true;
        if clock.wall_ms() < last_ms {
            let behind_s = (last_ms - clock.wall_ms()) / 1000;
            tracing::warn!(
                behind_s,
                "the clock is behind the last record; time continues from that record"
            );
        }
        self.publish_doubt();
        if let Some(doubt) = self.handle.clock_doubt() {
            tracing::warn!("{}", doubt.sentence());
        }
    }

    /// Returns a command's time. If the command confirms a clock that is in doubt, this is the
    /// wall-clock time.
    pub(super) fn time_of(&self, command: &CallerCommand, now_ms: u64) -> u64 {
        let is_doubted = self.state.as_ref().is_some_and(ServiceState::is_clock_doubted);
        let CallerCommand { caller, command, .. } = command;
        let confirms = *command == Command::ConfirmClock && *caller == Caller::OPERATOR;
        if is_doubted && confirms { self.handle.clock.wall_ms() } else { now_ms }
    }

    /// Publishes any start or end of doubt about the clock. When the doubt ends, also adjusts the
    /// clock.
    pub(super) fn publish_doubt(&mut self) {
        let Some(state) = &self.state else { return };
        let (was_doubted, clock) = (self.handle.clock_doubt().is_some(), &self.handle.clock);
        if was_doubted == state.is_clock_doubted() {
            return;
        }
        if was_doubted {
            clock.set_ms(clock.wall_ms().max(state.now_ms()));
            tracing::info!("the clock is trusted again; leases can expire");
        }
        let doubt = ClockDoubt { last_ms: state.now_ms(), wall_ms: clock.wall_ms() };
        *self.handle.doubt.write() = state.is_clock_doubted().then_some(doubt);
    }

    /// Returns the command, if any, that the service itself must execute now.
    pub(super) fn own_command(&self, now_ms: u64) -> Option<Command> {
        let state = self.state.as_ref()?;
        if state.next_expiry_ms().is_some_and(|at| at <= now_ms) {
            return Some(Command::Tick);
        }
        let is_silent = state.seq() > 0 && now_ms.saturating_sub(state.now_ms()) >= NOTE_TIME_MS;
        is_silent.then_some(Command::NoteTime)
    }
}

/// Returns a number that differs on each startup, derived from a hash table's random keys.
fn random() -> u64 {
    std::collections::hash_map::RandomState::new().build_hasher().finish()
}
