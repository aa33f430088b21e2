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

/// The wall clock that a writer sees when it starts.
#[derive(Clone, Copy)]
pub(crate) struct StartClock {
    pub(crate) wall_ms: u64,
    /// True if the operator has confirmed the clock.
    pub(crate) confirmed: bool,
}

/// A writer and its thread.
pub(crate) struct BareWriter {
    pub(crate) writer: WriterHandle,
    thread: JoinHandle<()>,
}

impl BareWriter {
    /// Starts a writer. If the journal is new, adds a machine to it. Returns `None` if the disk
    /// fails.
    pub(crate) fn start(
        disk: impl Disk + 'static,
        clock: StartClock,
        limits: ServiceLimits,
    ) -> Option<BareWriter> {
        BareWriter::with_queue(Tuning::default().queue, disk, clock, limits)
    }

    /// Like [`BareWriter::start`], but with the given limit on waiting commands.
    pub(crate) fn with_queue(
        queue: usize,
        disk: impl Disk + 'static,
        StartClock { wall_ms, confirmed }: StartClock,
        limits: ServiceLimits,
    ) -> Option<BareWriter> {
        let (mut store, _) = JournalStore::open(Arc::new(disk)).ok()?;
        let mut state = recover(&*store.history(), u64::MAX, &limits, 1).ok()?;
        if state.seq() == 0 {
            let (_, record) = begin(None);
            store.append(&[ServiceRecord { at_ms: wall_ms, ..record }]).ok()?;
            state = recover(&*store.history(), u64::MAX, &limits, 1).ok()?;
        }
        let clock = ClockRule { confirmed, ..ClockRule::default() };
        let tuning = Tuning { queue, clock, ..Tuning::default() };
        let clock = ServiceClock::at(wall_ms);
        let store = Box::new(store);
        let parts = WriterParts { clock, state, store, limits, seed: 1, tuning, unavailable: None };
        let (writer, thread) = start(parts).ok()?;
        Some(BareWriter { writer, thread })
    }

    pub(crate) fn stop(self) -> std::thread::Result<()> {
        self.writer.stop();
        self.thread.join()
    }
}

/// Waits for an answer from the writer.
pub(crate) fn wait<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(future)
}
