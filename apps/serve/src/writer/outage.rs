//! Recovery after a failed write, and takeover from another server.

use super::handle::Unavailable;
use super::recover::recover;
use super::thread::Writer;
use crate::storage::StoreError;

/// The delay before a failed write or snapshot is retried, in milliseconds.
pub(super) const RETRY_MS: u64 = 500;

impl Writer {
    /// Restores the durable state after a failed write. Returns the error to report to callers.
    pub(super) fn fail(&mut self, error: &StoreError) -> Unavailable {
        tracing::error!(%error, "cannot store records");
        self.records.clear();
        self.retry_ms = self.handle.clock.now_ms() + RETRY_MS;
        self.read_back(self.handle.seq());
        let cause = if let StoreError::Unknown(cause) = error { cause } else { error };
        let unavailable = match cause {
            StoreError::Fenced(why) => Unavailable::Standby(why.clone()),
            other => Unavailable::ReadOnly(other.to_string()),
        };
        self.handle.set_unavailable(Some(unavailable.clone()));
        unavailable
    }

    /// Rereads the state up to a record.
    fn read_back(&mut self, until: u64) {
        self.view = None;
        let history = self.handle.history.clone();
        self.state = match recover(&*history, until, &self.limits, self.seed) {
            Ok(state) => Some(state),
            Err(error) => {
                tracing::error!(%error, "cannot reread the stored state");
                None
            }
        };
    }

    /// Retries if a retry is due. Returns the reason why no decision can be made now, if any.
    pub(super) fn unavailable(&mut self, now_ms: u64) -> Option<Unavailable> {
        let unavailable = self.handle.unavailable()?;
        if now_ms < self.retry_ms {
            return Some(unavailable);
        }
        self.retry_ms = now_ms + RETRY_MS;
        if let Err(error) = self.store.retry() {
            if let StoreError::Fenced(why) = error {
                self.handle.set_unavailable(Some(Unavailable::Standby(why)));
            }
            return self.handle.unavailable();
        }
        // The stored records are authoritative; this server's state is not.
        self.read_back(u64::MAX);
        let Some(state) = &self.state else {
            // No other server can lead now, so callers must not be sent to one.
            let unreadable = Unavailable::ReadOnly("the stored state cannot be reread".to_string());
            self.handle.set_unavailable(Some(unreadable));
            return self.handle.unavailable();
        };
        self.handle.recent.advance_to(state.seq());
        if let Err(error) = self.lead() {
            return Some(self.fail(&error));
        }
        tracing::info!(seq = self.handle.seq(), "records can be stored again");
        self.handle.set_unavailable(None);
        None
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::mpsc::sync_channel;

    use tempfile::TempDir;

    use super::super::thread::IDLE_TIME;
    use super::*;
    use crate::clock::ServiceClock;
    use crate::core::{Event, ServiceLimits, ServiceRecord};
    use crate::storage::RecordStore;
    use crate::storage::disk::DiskFolder;
    use crate::storage::journal::JournalStore;
    use crate::writer::{Next, Tuning, WriterParts};

    fn record(seq: u64) -> ServiceRecord {
        ServiceRecord { seq, at_ms: 0, event: Event::Clock { doubted: false }, kept: None }
    }

    /// Returns a standby server's writer, which knows only the first record, and the server's
    /// folder.
    fn standby(wall_ms: u64) -> (Writer, TempDir) {
        let folder = TempDir::new().unwrap();
        let disk = DiskFolder::open(folder.path()).unwrap();
        let (mut journal, _) = JournalStore::open(Arc::new(disk)).unwrap();
        journal.append(&[record(1)]).unwrap();
        let limits = ServiceLimits::default();
        let parts = WriterParts {
            clock: ServiceClock::at(wall_ms),
            state: recover(&*journal.history(), u64::MAX, &limits, 1).unwrap(),
            store: Box::new(journal),
            limits,
            seed: 1,
            tuning: Tuning::default(),
            unavailable: Some(Unavailable::Standby("another server is the leader".to_string())),
        };
        (Writer::new(parts, sync_channel(1).0), folder)
    }

    #[test]
    fn the_writer_pauses_while_an_overdue_lease_cannot_expire() {
        let (mut writer, _folder) = standby(1000);
        writer.state.as_mut().unwrap().expiries.insert((1, 1));
        assert_eq!(writer.pause(), IDLE_TIME);
    }

    #[test]
    fn a_takeover_announces_the_previous_leaders_records() {
        let (mut writer, _folder) = standby(1000);
        writer.store.append(&[record(2)]).unwrap();
        assert_eq!(writer.unavailable(1000), None);
        assert_eq!(writer.handle.seq(), 2);
        assert!(matches!(writer.handle.after(1), Next::Gone));
    }

    #[test]
    fn a_takeover_that_fails_reports_its_own_failure() {
        // Doubt about a clock that is far ahead of the last record must be recorded.
        let (mut writer, folder) = standby(1 << 40);
        let [journal, copy] =
            ["journal-00000000000000000001.log", "copy"].map(|name| folder.path().join(name));
        std::fs::copy(&journal, &copy).unwrap();
        std::fs::rename(&copy, &journal).unwrap();
        let reason = writer.unavailable(1000);
        assert!(matches!(reason, Some(Unavailable::ReadOnly(_))), "{reason:?}");
        let (mut writer, folder) = standby(1000);
        let journal = folder.path().join(journal.file_name().unwrap());
        let damaged = [b"damaged\n".to_vec(), std::fs::read(&journal).unwrap()].concat();
        std::fs::write(&journal, damaged).unwrap();
        let reason = writer.unavailable(1000);
        assert!(matches!(reason, Some(Unavailable::ReadOnly(_))), "{reason:?}");
    }
}
