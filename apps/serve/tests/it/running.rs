//! A writer without an HTTP interface.

use std::sync::Arc;
use std::thread::JoinHandle;

use pavior_serve::clock::ServiceClock;
use pavior_serve::core::{ClockRule, ServiceLimits, ServiceRecord};
use pavior_serve::storage::RecordStore;
use pavior_serve::storage::disk::Disk;
use pavior_serve::storage::journal::JournalStore;
use pavior_serve::writer::{Tuning, WriterHandle, WriterParts, recover, start};

use crate::decisions::begin;

/// A writer and its thread.
pub(crate) struct Running {
    pub(crate) writer: WriterHandle,
    thread: JoinHandle<()>,
}

impl Running {
    /// Starts a writer with a given wall clock, adding a machine to a new journal. Returns `None`
    /// if the disk fails.
    pub(crate) fn start(
        disk: impl Disk + 'static,
        (wall_ms, confirmed): (u64, bool),
        limits: ServiceLimits,
    ) -> Option<Running> {
        Running::with_queue(Tuning::default().queue, disk, (wall_ms, confirmed), limits)
    }

    /// Like [`Running::start`], but with a limit on waiting commands.
    pub(crate) fn with_queue(
        queue: usize,
        disk: impl Disk + 'static,
        (wall_ms, confirmed): (u64, bool),
        limits: ServiceLimits,
    ) -> Option<Running> {
        let (mut store, _) = JournalStore::open(Arc::new(disk)).ok()?;
        let mut state = recover(&*store.history(), u64::MAX, &limits, 1).ok()?;
        if state.seq() == 0 {
            let (_, record) = begin(None);
            store.append(&[ServiceRecord { at_ms: wall_ms, ..record }]).ok()?;
            state = recover(&*store.history(), u64::MAX, &limits, 1).ok()?;
        }
        let clock = ClockRule { confirmed, ..ClockRule::default() };
        let (tuning, clock) =
            (Tuning { queue, clock, ..Tuning::default() }, ServiceClock::at(wall_ms));
        let store = Box::new(store);
        let parts = WriterParts { clock, state, store, limits, seed: 1, tuning, unavailable: None };
        let (writer, thread) = start(parts).ok()?;
        Some(Running { writer, thread })
    }

    pub(crate) fn stop(self) -> std::thread::Result<()> {
        self.writer.stop();
        self.thread.join()
    }
}

pub(crate) fn wait<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(future)
}
