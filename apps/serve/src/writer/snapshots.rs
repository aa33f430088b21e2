//! Snapshots, which are saved on another thread.

use std::sync::atomic::Ordering;
use std::thread::JoinHandle;

use super::thread::{RETRY_MS, Writer};
use crate::core::ServiceState;

/// The last snapshot, and the thread that is saving one.
pub(super) struct Snapshots {
    /// The number of the last snapshot's record.
    pub(super) last: u64,
    thread: Option<JoinHandle<bool>>,
    /// The time of the next attempt to start a snapshot after a failure.
    retry_ms: u64,
}

impl Snapshots {
    pub(super) fn new(last: u64) -> Snapshots {
        Snapshots { last, thread: None, retry_ms: 0 }
    }

    /// Waits for the snapshot that is being saved, if any.
    pub(super) fn finish(&mut self) {
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Writer {
    /// Once there are enough new records, saves a snapshot and removes old records on another
    /// thread.
    pub(super) fn save_snapshot(&mut self) {
        self.collect_snapshot();
        let now_ms = self.handle.clock.now_ms();
        if !self.is_snapshot_due() || now_ms < self.snapshots.retry_ms {
            return;
        }
        match self.store.rotate() {
            Ok(true) => {}
            // Without a free file descriptor, records continue in the current file.
            Ok(false) => {
                self.snapshots.retry_ms = now_ms + RETRY_MS;
                return;
            }
            Err(error) => {
                self.fail(&error);
                return;
            }
        }
        let Some(snapshot) = self.state.as_ref().map(ServiceState::snapshot) else { return };
        self.snapshots.last = snapshot.seq;
        let (history, tuning) = (self.handle.history.clone(), self.tuning.clone());
        self.snapshots.thread = Some(std::thread::spawn(move || {
            let oldest = snapshot.seq.saturating_sub(tuning.history);
            let saved = history.save(&snapshot).and_then(|()| {
                let within = history.within(tuning.history_bytes)?;
                history.compact(oldest.max(within.min(snapshot.seq)))
            });
            if let Err(error) = &saved {
                tracing::error!(%error, seq = snapshot.seq, "cannot save a snapshot");
            }
            saved.is_ok()
        }));
    }

    /// Notes the result of a thread that has finished.
    fn collect_snapshot(&mut self) {
        let finished = self.snapshots.thread.take_if(|thread| thread.is_finished());
        let Some(thread) = finished else { return };
        if thread.join().is_ok_and(|saved| saved) {
            self.handle.counters.snapshots.fetch_add(1, Ordering::Relaxed);
        } else {
            // Retry soon, because the next startup reads all records after the last snapshot.
            self.snapshots.retry_ms = self.handle.clock.now_ms() + RETRY_MS;
            self.snapshots.last = self.snapshots.last.saturating_sub(self.tuning.snapshot_every);
        }
    }

    /// Returns true if there are enough new records, and no snapshot is being saved.
    fn is_snapshot_due(&self) -> bool {
        let (Some(state), tuning) = (&self.state, &self.tuning) else { return false };
        let are_many = state.seq() >= self.snapshots.last + tuning.snapshot_every;
        // Even a short history consists of several files.
        let piece = tuning.snapshot_bytes.min(tuning.history_bytes / 4).max(1 << 16);
        let are_large = self.store.size() >= piece && state.seq() > self.snapshots.last;
        let is_idle = self.snapshots.thread.is_none() && self.handle.unavailable().is_none();
        is_idle && (are_many || are_large)
    }
}
