//! Journal and snapshot files, which can be read while the writer is running.

use std::io;
use std::sync::Arc;

use rustix::io::Errno;

use super::disk::{Disk, DiskFile};
use super::frame;
use super::mark::Mark;
use super::segment::Segment;
use super::{Each, History, StoreError, read};
use crate::core::{ServiceRecord, StateSnapshot};

/// The text between the name of a truncated file and the offset of the cut.
pub(super) const CUT_INFIX: &str = ".cut-";
/// The maximum number of saved journal tails.
const MAX_CUTS: usize = 8;
/// The file for a snapshot that is being saved. After a crash, the next snapshot overwrites it.
const NEW_SNAPSHOT: &str = "snapshot.new";

/// The journal and snapshot files in a directory.
pub(super) struct Files {
    pub(super) disk: Arc<dyn Disk>,
}

impl Files {
    /// Returns the number of the first record in each journal file, in order.
    pub(super) fn starts(&self) -> Result<Vec<u64>, StoreError> {
        self.numbers("journal-", journal_name)
    }

    /// Returns the number of the last record in each snapshot, in order.
    pub(super) fn snapshots(&self) -> Result<Vec<u64>, StoreError> {
        self.numbers("snapshot-", snapshot_name)
    }

    /// Returns the numbers `n` for which the file `file_name(n)` exists, in order.
    fn numbers(&self, prefix: &str, file_name: fn(u64) -> String) -> Result<Vec<u64>, StoreError> {
        let names = self.disk.list().map_err(failed)?;
        let number = |name: &String| {
            let digits = name.strip_prefix(prefix)?.split('.').next()?;
            digits.parse().ok().filter(|&number| number > 0 && file_name(number) == *name)
        };
        let mut numbers: Vec<u64> = names.iter().filter_map(number).collect();
        numbers.sort_unstable();
        Ok(numbers)
    }

    /// Creates a file for records starting at `next`, containing only the format frame. Returns the
    /// file and its size in bytes.
    pub(super) fn create(&self, next: u64) -> Result<(Box<dyn DiskFile>, u64), StoreError> {
        let name = journal_name(next);
        let refused = |error: io::Error| match error {
            error if is_full(&error) => StoreError::Full(format!("{name}: {error}")),
            error if lacks_descriptors(&error) => StoreError::Later(format!("{name}: {error}")),
            error => failed_on(&name, &error),
        };
        let format = frame::format();
        let mut file = self.disk.open(&name).map_err(refused)?;
        file.write_at(0, &format).map_err(refused)?;
        let synced = file.sync().and_then(|()| self.disk.sync_names());
        synced.map_err(|error| failed_on(&name, &error))?;
        Ok((file, format.len() as u64))
    }

    /// Checks a file that is not the last one. If `each` is given, passes the file's records to it.
    /// Returns the number of the next record.
    pub(super) fn check(
        &self,
        start: u64,
        next: u64,
        mark: Option<Mark>,
        each: Option<Each<'_>>,
    ) -> Result<u64, StoreError> {
        let name = journal_name(start);
        if start != next {
            return Err(misplaced(start, next));
        }
        let bytes = self.read_listed(&name)?;
        let mut next = next;
        let segment = Segment { name: &name, bytes: &bytes, is_last: false, mark, after: 0 };
        segment.read_frames(&mut next, each)?;
        Ok(next)
    }

    /// Saves bytes before they are cut off the end of a file, and removes the oldest saved copies.
    pub(super) fn save_cut(&self, name: &str, offset: usize, bytes: &[u8]) -> io::Result<String> {
        let copy = format!("{name}{CUT_INFIX}{offset:012}");
        let mut file = self.disk.open(&copy)?;
        file.truncate(0)?;
        file.write_at(0, bytes)?;
        file.sync()?;
        let mut cuts: Vec<String> = self.disk.list()?;
        cuts.retain(|name| name.contains(CUT_INFIX));
        cuts.sort_unstable();
        for old in cuts.iter().rev().skip(MAX_CUTS).filter(|old| **old != copy) {
            self.disk.remove(old)?;
        }
        self.disk.sync_names()?;
        Ok(copy)
    }

    /// Reads a file that may have been removed since the directory was listed.
    fn read_listed(&self, name: &str) -> Result<Vec<u8>, StoreError> {
        self.disk.read(name).or_else(|error| match error.kind() {
            io::ErrorKind::NotFound => Err(StoreError::Compacted(self.oldest()?)),
            _ => Err(failed_on(name, &error)),
        })
    }

    pub(super) fn load(&self, seq: u64) -> Result<StateSnapshot, StoreError> {
        let file = snapshot_name(seq);
        let bytes = self.read_listed(&file)?;
        let damaged = |reason: &str| StoreError::damaged(&file, 0, reason);
        let end = bytes.len().checked_sub(17).ok_or_else(|| damaged("it is truncated"))?;
        let (body, stored) = bytes.split_at(end);
        if stored != format!("{:016x}\n", frame::sum(body)).as_bytes() {
            return Err(damaged("its checksum does not match"));
        }
        read::parse_snapshot(&file, 0, seq, body)
    }
}

impl History for Files {
    fn snapshot(&self, seq: u64) -> Result<Option<StateSnapshot>, StoreError> {
        let latest = self.snapshots()?.into_iter().rfind(|&snapshot| snapshot <= seq);
        match latest {
            Some(latest) => self.load(latest).map(Some),
            None if self.oldest()? == 0 => Ok(None),
            None => Err(StoreError::Compacted(self.oldest()?)),
        }
    }

    fn scan(&self, after: u64, each: Each<'_>) -> Result<(), StoreError> {
        let (starts, oldest) = (self.starts()?, self.oldest()?);
        if after < oldest {
            return Err(StoreError::Compacted(oldest));
        }
        let from = starts.partition_point(|&start| start <= after + 1).saturating_sub(1);
        let mut wants_more = true;
        for (index, &start) in starts.iter().enumerate().skip(from) {
            let name = journal_name(start);
            let bytes = self.read_listed(&name)?;
            let (mut next, is_last) = (start, index + 1 == starts.len());
            let mut pass = |record: ServiceRecord| {
                wants_more = each(record)?;
                Ok(wants_more)
            };
            let segment = Segment { name: &name, bytes: &bytes, is_last, mark: None, after };
            segment.read_frames(&mut next, Some(&mut pass))?;
            if !wants_more {
                break;
            }
        }
        Ok(())
    }

    fn oldest(&self) -> Result<u64, StoreError> {
        Ok(self.starts()?.first().map_or(0, |first| first - 1))
    }

    fn within(&self, bytes: u64) -> Result<u64, StoreError> {
        let starts = self.starts()?;
        let (mut sum, mut oldest) = (0u64, None);
        for &start in starts.iter().rev() {
            let name = journal_name(start);
            match self.disk.length(&name) {
                Ok(length) => sum = sum.saturating_add(length),
                Err(error) if error.kind() == io::ErrorKind::NotFound => break,
                Err(error) => return Err(failed_on(&name, &error)),
            }
            if sum > bytes && oldest.is_some() {
                break;
            }
            oldest = Some(start - 1);
        }
        Ok(oldest.unwrap_or(0))
    }

    fn save(&self, snapshot: &StateSnapshot) -> Result<(), StoreError> {
        let mut bytes = serde_json::to_vec(snapshot).expect("a snapshot can be written");
        let sum = frame::sum(&bytes);
        bytes.extend(format!("{sum:016x}\n").bytes());
        let name = snapshot_name(snapshot.seq);
        let write = || {
            let mut file = self.disk.open(NEW_SNAPSHOT)?;
            file.truncate(0)?;
            file.write_at(0, &bytes)?;
            file.sync()?;
            self.disk.rename(NEW_SNAPSHOT, &name)?;
            self.disk.sync_names()
        };
        write().map_err(|error| {
            // An incomplete file would take space that the journal needs.
            let _ = self.disk.remove(NEW_SNAPSHOT);
            failed_on(&name, &error)
        })
    }

    fn compact(&self, seq: u64) -> Result<(), StoreError> {
        // After this, the history starts at the latest snapshot whose number is at most `seq`.
        let snapshots = self.snapshots()?;
        let Some(&base) = snapshots.iter().rfind(|&&snapshot| snapshot <= seq) else {
            return Ok(());
        };
        let starts = self.starts()?;
        let remove =
            |name: String| self.disk.remove(&name).map_err(|error| failed_on(&name, &error));
        // Remove the oldest files first, so there is never a gap.
        for pair in starts.windows(2).filter(|pair| pair[1] <= base + 1) {
            remove(journal_name(pair[0]))?;
            self.disk.sync_names().map_err(failed)?;
        }
        for &old in snapshots.iter().filter(|&&snapshot| snapshot < base) {
            remove(snapshot_name(old))?;
        }
        self.disk.sync_names().map_err(failed)
    }
}

pub(super) fn misplaced(start: u64, next: u64) -> StoreError {
    let reason = format!("expected it to begin at record {next}, but it begins at record {start}");
    StoreError::damaged(&journal_name(start), 0, reason)
}

pub(super) fn journal_name(first: u64) -> String {
    format!("journal-{first:020}.log")
}

pub(super) fn snapshot_name(seq: u64) -> String {
    format!("snapshot-{seq:020}.json")
}

pub(super) fn is_full(error: &io::Error) -> bool {
    use io::ErrorKind::{QuotaExceeded, StorageFull};
    matches!(error.kind(), StorageFull | QuotaExceeded)
}

/// Returns true if the process or the whole system has too many open files.
fn lacks_descriptors(error: &io::Error) -> bool {
    matches!(Errno::from_io_error(error), Some(Errno::MFILE | Errno::NFILE))
}

#[expect(clippy::needless_pass_by_value, reason = "used at the end of a chain of `map_err`")]
pub(super) fn failed(error: io::Error) -> StoreError {
    StoreError::Failed(error.to_string())
}

fn failed_on(name: &str, error: &io::Error) -> StoreError {
    StoreError::Failed(format!("{name}: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::{ServiceLimits, ServiceState};
    use crate::storage::disk::DiskFolder;

    #[test]
    fn a_snapshot_that_cannot_be_saved_leaves_no_file_behind() {
        let folder = tempfile::TempDir::new().unwrap();
        let files = Files { disk: Arc::new(DiskFolder::open(folder.path()).unwrap()) };
        std::fs::create_dir(folder.path().join(snapshot_name(5))).unwrap();
        let state = ServiceState::new(ServiceLimits::default(), 0);
        let snapshot = |seq| StateSnapshot { seq, ..state.snapshot() };
        assert!(files.save(&snapshot(5)).is_err());
        files.save(&snapshot(6)).unwrap();
        let mut names = files.disk.list().unwrap();
        names.sort();
        assert_eq!(names, ["lock", &snapshot_name(5), &snapshot_name(6)]);
    }

    #[test]
    fn a_snapshot_removed_after_it_was_listed_counts_as_compacted() {
        let folder = tempfile::TempDir::new().unwrap();
        let files = Files { disk: Arc::new(DiskFolder::open(folder.path()).unwrap()) };
        assert_eq!(files.load(5).err(), Some(StoreError::Compacted(0)));
    }
}
