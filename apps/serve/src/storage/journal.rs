//! The embedded store: a journal of frames and snapshots in a folder.
//!
//! ```text
//! journal-00000000000000000001.log    records from 1 on, in frames (see `frame`)
//! journal-00000000000000100001.log    the next ones; a new file begins with every snapshot
//! snapshot-00000000000000100000.json  the state after record 100000, with its sum in the last line
//! ```

use std::io;
use std::sync::Arc;

use super::disk::{Disk, DiskFile};
use super::frame::{self, Frame};
use super::segment::frames;
use super::{Each, History, RecordStore, StoreError};
use crate::core::{ServiceRecord, StateSnapshot};

/// The journal's writer.
pub struct JournalStore {
    files: Arc<Files>,
    file: Box<dyn DiskFile>,
    name: String,
    /// The length of the file up to the last durable frame.
    length: u64,
    /// The number of the next record.
    next: u64,
    /// Whether the last frame is a seal.
    sealed: bool,
    /// Why nothing more is written.
    failed: Option<String>,
}

/// What was done to a journal when it was opened.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Opened {
    /// The bytes at its end that were cut off: a write that was never acknowledged.
    pub cut: u64,
    /// The number of the last record.
    pub last: u64,
}

struct Files {
    disk: Arc<dyn Disk>,
}

impl JournalStore {
    /// Opens the journal of a folder, or begins one. All frames are looked at.
    ///
    /// # Errors
    /// If it is damaged, or cannot be read or written.
    pub fn open(disk: Arc<dyn Disk>) -> Result<(JournalStore, Opened), StoreError> {
        let files = Arc::new(Files { disk });
        let mut opened = Opened::default();
        let starts = files.starts()?;
        let snapshots = files.snapshots()?;
        let Some((&last, before)) = starts.split_last() else {
            if let Some(seq) = snapshots.last() {
                let file = snapshot_name(*seq);
                let reason = "there is a snapshot, but no journal".to_string();
                return Err(StoreError::Damaged { file, offset: 0, reason });
            }
            let (file, name) = files.begin(1)?;
            let journal =
                JournalStore { files, file, name, length: 0, next: 1, sealed: true, failed: None };
            return Ok((journal, opened));
        };
        let mut next = starts[0];
        if next > 1 && !snapshots.iter().any(|&seq| seq + 1 >= next) {
            let reason = format!("the records before {next} are missing");
            return Err(StoreError::Damaged { file: journal_name(next), offset: 0, reason });
        }
        for &start in before {
            next = files.check(start, next)?;
        }
        if last != next {
            let reason = format!("it begins at record {last}, but {next} is the next");
            return Err(StoreError::Damaged { file: journal_name(last), offset: 0, reason });
        }
        let name = journal_name(last);
        let bytes = files.disk.read(&name).map_err(failed)?;
        let end = frames(&name, &bytes, &mut next, true, None)?;
        let mut file = files.disk.open(&name).map_err(failed)?;
        if end.length < bytes.len() {
            opened.cut = (bytes.len() - end.length) as u64;
            file.truncate(end.length as u64).map_err(failed)?;
        }
        // What a crashed server had written may never have been made durable.
        file.sync().map_err(failed)?;
        opened.last = next - 1;
        if opened.last == 0 {
            // So it is after a crash at the very beginning; or someone has emptied it.
            tracing::warn!(file = %name, "the journal has no record: the state is that of a new service");
        }
        let (length, sealed) = (end.length as u64, end.sealed);
        Ok((JournalStore { files, file, name, length, next, sealed, failed: None }, opened))
    }

    /// Writes a frame and makes it durable, or leaves the file as it was, or writes no more.
    fn write(&mut self, frame: &Frame<'_>) -> Result<(), StoreError> {
        if let Some(reason) = &self.failed {
            return Err(StoreError::Failed(reason.clone()));
        }
        let bytes = frame.bytes();
        if let Err(error) = self.file.write_at(self.length, &bytes) {
            return Err(self.undo(&error));
        }
        // After a failed sync the kernel may have dropped what it could not write: to try again
        // would acknowledge what is not there.
        if let Err(error) = self.file.sync() {
            return Err(self.give_up(&error));
        }
        self.length += bytes.len() as u64;
        self.next += u64::from(frame.count);
        self.sealed = frame.count == 0;
        Ok(())
    }

    /// Takes back a write that was not carried out as a whole.
    fn undo(&mut self, error: &io::Error) -> StoreError {
        let undone = self.file.truncate(self.length).and_then(|()| self.file.sync());
        if undone.is_err() || !is_full(error) {
            return self.give_up(error);
        }
        StoreError::Full(format!("{}: {error}", self.name))
    }

    fn give_up(&mut self, error: &io::Error) -> StoreError {
        let reason = format!("{}: {error}", self.name);
        self.failed = Some(reason.clone());
        StoreError::Failed(reason)
    }
}

impl RecordStore for JournalStore {
    fn append(&mut self, records: &[ServiceRecord]) -> Result<(), StoreError> {
        let Some(first) = records.first() else { return Ok(()) };
        assert_eq!(first.seq, self.next, "records are appended in order");
        let mut body = Vec::with_capacity(records.len() * 256);
        for record in records {
            serde_json::to_writer(&mut body, record).expect("a record can be written");
            body.push(b'\n');
        }
        self.write(&Frame { first: first.seq, count: records.len() as u32, body: &body })
    }

    fn confirm(&mut self) -> Result<(), StoreError> {
        Ok(())
    }

    fn idle(&mut self) -> Result<(), StoreError> {
        if self.sealed || self.failed.is_some() {
            return Ok(());
        }
        self.write(&Frame { first: self.next, count: 0, body: &[] })
    }

    fn rotate(&mut self) -> Result<(), StoreError> {
        if let Some(reason) = &self.failed {
            return Err(StoreError::Failed(reason.clone()));
        }
        if self.name == journal_name(self.next) {
            return Ok(());
        }
        match self.files.begin(self.next) {
            Ok((file, name)) => {
                (self.file, self.name, self.length, self.sealed) = (file, name, 0, true);
                Ok(())
            }
            Err(error) => {
                // The records go on in the old file: the new one must not come back after a crash.
                let removed = match self.files.disk.remove(&journal_name(self.next)) {
                    Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
                    _ => self.files.disk.sync_names(),
                };
                Err(removed.err().map_or(error, |error| self.give_up(&error)))
            }
        }
    }

    fn retry(&mut self) -> Result<(), StoreError> {
        match &self.failed {
            Some(reason) => Err(StoreError::Failed(reason.clone())),
            None => Ok(()),
        }
    }

    fn close(&mut self) {
        // Sealed, so that any damage to the last records would be found.
        if let Err(error) = self.idle() {
            tracing::warn!(%error, "the journal could not be sealed");
        }
    }

    fn history(&self) -> Arc<dyn History> {
        self.files.clone()
    }
}

impl Files {
    /// The numbers of the first records of the files, in order.
    fn starts(&self) -> Result<Vec<u64>, StoreError> {
        self.numbers("journal-", journal_name)
    }

    /// The numbers of the snapshots, in order.
    fn snapshots(&self) -> Result<Vec<u64>, StoreError> {
        self.numbers("snapshot-", snapshot_name)
    }

    /// The numbers of the files whose names are `named`; others in the folder are none of ours.
    fn numbers(&self, before: &str, named: fn(u64) -> String) -> Result<Vec<u64>, StoreError> {
        let names = self.disk.list().map_err(failed)?;
        let number = |name: &String| {
            let digits = name.strip_prefix(before)?.split('.').next()?;
            digits.parse().ok().filter(|&number| named(number) == *name)
        };
        let mut numbers: Vec<u64> = names.iter().filter_map(number).collect();
        numbers.sort_unstable();
        Ok(numbers)
    }

    /// An empty file for the records from a number on.
    fn begin(&self, next: u64) -> Result<(Box<dyn DiskFile>, String), StoreError> {
        let name = journal_name(next);
        let refused = |error: io::Error| {
            if is_full(&error) {
                StoreError::Full(format!("{name}: {error}"))
            } else {
                failed(error)
            }
        };
        let mut file = self.disk.open(&name).map_err(refused)?;
        file.sync().map_err(failed)?;
        self.disk.sync_names().map_err(failed)?;
        Ok((file, name))
    }

    /// Reads a file that others follow; returns the number of the next record.
    fn check(&self, start: u64, next: u64) -> Result<u64, StoreError> {
        let name = journal_name(start);
        if start != next {
            let reason = format!("it begins at record {start}, but {next} is the next");
            return Err(StoreError::Damaged { file: name, offset: 0, reason });
        }
        let bytes = self.disk.read(&name).map_err(failed)?;
        let mut next = next;
        frames(&name, &bytes, &mut next, false, None)?;
        Ok(next)
    }

    fn load(&self, seq: u64) -> Result<StateSnapshot, StoreError> {
        let file = snapshot_name(seq);
        let bytes = self.disk.read(&file).map_err(failed)?;
        let damaged = |reason: &str| StoreError::Damaged {
            file: file.clone(),
            offset: 0,
            reason: reason.to_string(),
        };
        let end = bytes.len().checked_sub(17).ok_or_else(|| damaged("it is cut short"))?;
        let (body, stored) = bytes.split_at(end);
        if stored != format!("{:016x}\n", frame::sum(body)).as_bytes() {
            return Err(damaged("its sum is wrong"));
        }
        let snapshot: StateSnapshot =
            serde_json::from_slice(body).map_err(|error| damaged(&error.to_string()))?;
        if snapshot.seq == seq { Ok(snapshot) } else { Err(damaged("it is another snapshot")) }
    }
}

impl History for Files {
    fn snapshot(&self, seq: u64) -> Result<Option<StateSnapshot>, StoreError> {
        let found = self.snapshots()?.into_iter().rfind(|&known| known <= seq);
        match found {
            Some(found) => self.load(found).map(Some),
            None if self.oldest()? == 0 => Ok(None),
            None => Err(StoreError::Compacted(self.oldest()?)),
        }
    }

    fn scan(&self, after: u64, each: Each<'_>) -> Result<(), StoreError> {
        let starts = self.starts()?;
        let oldest = starts.first().map_or(0, |first| first - 1);
        if after < oldest {
            return Err(StoreError::Compacted(oldest));
        }
        let from = starts.partition_point(|&start| start <= after + 1).saturating_sub(1);
        let mut going = true;
        for (index, &start) in starts.iter().enumerate().skip(from) {
            let name = journal_name(start);
            let bytes = match self.disk.read(&name) {
                Ok(bytes) => bytes,
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    return Err(StoreError::Compacted(self.oldest()?));
                }
                Err(error) => return Err(failed(error)),
            };
            let (mut next, last) = (start, index + 1 == starts.len());
            let mut pass = |record: ServiceRecord| {
                going = record.seq <= after || each(record)?;
                Ok(going)
            };
            frames(&name, &bytes, &mut next, last, Some(&mut pass))?;
            if !going {
                break;
            }
        }
        Ok(())
    }

    fn oldest(&self) -> Result<u64, StoreError> {
        Ok(self.starts()?.first().map_or(0, |first| first - 1))
    }

    fn save(&self, snapshot: &StateSnapshot) -> Result<(), StoreError> {
        let mut bytes = serde_json::to_vec(snapshot).expect("a snapshot can be written");
        let sum = frame::sum(&bytes);
        bytes.extend(format!("{sum:016x}\n").bytes());
        let name = snapshot_name(snapshot.seq);
        let temporary = format!("{name}.new");
        let write = || {
            let mut file = self.disk.open(&temporary)?;
            file.truncate(0)?;
            file.write_at(0, &bytes)?;
            file.sync()?;
            self.disk.rename(&temporary, &name)?;
            self.disk.sync_names()
        };
        write().map_err(failed)
    }

    fn compact(&self, seq: u64) -> Result<(), StoreError> {
        // The youngest snapshot of at most `seq` is where the history begins from now on.
        let snapshots = self.snapshots()?;
        let Some(&base) = snapshots.iter().rfind(|&&known| known <= seq) else { return Ok(()) };
        let starts = self.starts()?;
        // From the oldest on, so that there is never a gap.
        for pair in starts.windows(2).filter(|pair| pair[1] <= base + 1) {
            self.disk.remove(&journal_name(pair[0])).map_err(failed)?;
            self.disk.sync_names().map_err(failed)?;
        }
        for &old in snapshots.iter().filter(|&&known| known < base) {
            self.disk.remove(&snapshot_name(old)).map_err(failed)?;
        }
        self.disk.sync_names().map_err(failed)
    }
}

fn journal_name(first: u64) -> String {
    format!("journal-{first:020}.log")
}

fn snapshot_name(seq: u64) -> String {
    format!("snapshot-{seq:020}.json")
}

fn is_full(error: &io::Error) -> bool {
    use io::ErrorKind::{QuotaExceeded, StorageFull};
    matches!(error.kind(), StorageFull | QuotaExceeded)
}

#[expect(clippy::needless_pass_by_value, reason = "it is the end of a chain of `map_err`")]
fn failed(error: io::Error) -> StoreError {
    StoreError::Failed(error.to_string())
}
