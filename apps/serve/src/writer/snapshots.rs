//! Saves snapshots on another thread.

use std::sync::atomic::Ordering;
use std::thread::JoinHandle;

use super::outage::RETRY_MS;
use super::thread::Writer;
use crate::core::ServiceState;

/// The approximate size of the records between snapshots, in bytes.
const SNAPSHOT_BYTES: u64 = 64 << 20;

/// The last snapshot, and the thread that is saving the next one.
pub(super) struct Snapshots {
    /// The number of the last saved snapshot's record, or of the last record at startup.
    last: u64,
    /// The saving thread. It returns the number of the snapshot's record, or `None` on failure.
    thread: Option<JoinHandle<Option<u64>>>,
    /// The time of the next attempt, if the last attempt failed.
    retry_ms: Option<u64>,
}

impl Snapshots {
    pub(super) fn new(last: u64) -> Snapshots {
        Snapshots { last, thread: None, retry_ms: None }
    }

    /// Waits for the snapshot that is being saved, if any.
    pub(super) fn finish(&mut self) {
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Writer {
    /// Starts a thread that saves a snapshot and removes old records, provided that a snapshot is
    /// due.
    pub(super) fn save_snapshot(&mut self) {
        self.collect_snapshot();
        if !self.is_snapshot_due() {
            return;
        }
        match self.store.rotate() {
            Ok(true) => {}
            // If no file descriptor is free, continue with the current file for now.
            Ok(false) => return self.retry_snapshot(),
            Err(error) => {
                self.fail(&error);
                return;
            }
        }
        let Some(snapshot) = self.state.as_ref().map(ServiceState::snapshot) else { return };
        let (history, tuning) = (self.handle.history.clone(), self.tuning.clone());
        let save = move || {
            let oldest = snapshot.seq.saturating_sub(tuning.history);
            let saved = history.save(&snapshot).and_then(|()| {
                let within = history.within(tuning.history_bytes)?;
                history.compact(oldest.max(within.min(snapshot.seq)))
            });
            if let Err(error) = &saved {
                tracing::error!(%error, seq = snapshot.seq, "cannot save a snapshot");
            }
            saved.is_ok().then_some(snapshot.seq)
        };
        match std::thread::Builder::new().name("snapshot".into()).spawn(save) {
            Ok(thread) => self.snapshots.thread = Some(thread),
            Err(error) => {
                tracing::error!(%error, "cannot create a thread to save a snapshot");
                self.retry_snapshot();
            }
        }
    }

    /// Schedules a retry soon, because the next startup reads all records after the last snapshot.
    fn retry_snapshot(&mut self) {
        self.snapshots.retry_ms = Some(self.handle.clock.now_ms() + RETRY_MS);
    }

    /// Collects the result of the saving thread once it has finished.
    fn collect_snapshot(&mut self) {
        let finished = self.snapshots.thread.take_if(|thread| thread.is_finished());
        let Some(thread) = finished else { return };
        if let Ok(Some(seq)) = thread.join() {
            self.handle.counters.snapshots.fetch_add(1, Ordering::Relaxed);
            (self.snapshots.last, self.snapshots.retry_ms) = (seq, None);
        } else {
            self.retry_snapshot();
        }
    }

    /// Returns true if no thread is saving a snapshot, and either a retry is due or there are
    /// enough new records.
    fn is_snapshot_due(&self) -> bool {
        let (Some(state), tuning) = (&self.state, &self.tuning) else { return false };
        if self.snapshots.thread.is_some() || self.handle.unavailable().is_some() {
            return false;
        }
        if let Some(retry_ms) = self.snapshots.retry_ms {
            return self.handle.clock.now_ms() >= retry_ms;
        }
        // Old records are removed in whole files, so even a short history must span several.
        let file_bytes = SNAPSHOT_BYTES.min(tuning.history_bytes / 4).max(1 << 16);
        let new_records = state.seq().saturating_sub(self.snapshots.last);
        new_records >= tuning.snapshot_every || new_records > 0 && self.store.size() >= file_bytes
    }
}
