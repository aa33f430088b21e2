//! The embedded store: a directory that contains snapshots and a journal of frames.
//!
//! ```text
//! journal-00000000000000000001.log    records from 1 on, in frames (see `frame`)
//! journal-00000000000000100001.log    later records; each snapshot starts a new file
//! snapshot-00000000000000100000.json  the state after record 100000; its checksum is the last line
//! mark                                the minimum length of the journal (see `mark`)
//! ```

use std::io;
use std::sync::Arc;

use super::disk::{Disk, DiskFile};
use super::files::{Files, failed, is_full, journal_name, misplaced, snapshot_name};
use super::frame::{self, Frame};
use super::mark::{self, MARK, Mark, Marks};
use super::segment::{End, Segment};
use super::{Each, History, RecordStore, StoreError};
use crate::core::ServiceRecord;

/// The journal's writer.
pub struct JournalStore {
    files: Arc<Files>,
    /// The current file, whose first record has the number `start`.
    file: Box<dyn DiskFile>,
    start: u64,
    /// The size of the file up to the end of the last durable frame, in bytes.
    length: u64,
    /// The number of the next record.
    next: u64,
    marks: Marks,
    /// The reason why writing is no longer possible; `None` while writing is possible.
    failed: Option<String>,
}

/// The result of opening a journal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Opened {
    /// The number of bytes cut off the journal's end, which an unacknowledged write had left
    /// behind.
    pub cut: u64,
    /// The file that now contains these bytes.
    pub kept: Option<String>,
}

impl JournalStore {
    /// Opens a directory's journal, or creates one. Before writing anything, reads all frames, the
    /// kinds of all records, the last snapshot and the records after it.
    ///
    /// # Errors
    /// Returns an error if the journal is damaged or was written by another version, or if I/O
    /// fails.
    pub fn open(disk: Arc<dyn Disk>) -> Result<(JournalStore, Opened), StoreError> {
        let files = Files { disk };
        let starts = files.starts()?;
        let snapshots = files.snapshots()?;
        let mark = mark::last(&*files.disk).map_err(failed)?;
        check_files(&starts, &snapshots, mark)?;
        let Some((&last, before)) = starts.split_last() else {
            return Ok((JournalStore::create(files)?, Opened::default()));
        };
        let base = snapshots.last().copied().unwrap_or(0);
        if base > 0 {
            files.load(base)?;
        }
        let mut parse_all = |_: ServiceRecord| Ok(true);
        let mark_of = |start| mark.filter(|mark| mark.file == start);
        let mut next = starts[0];
        for &start in before {
            let each: Option<Each<'_>> = if start > base { Some(&mut parse_all) } else { None };
            next = files.check(start, next, mark_of(start), each)?;
        }
        if last != next {
            return Err(misplaced(last, next));
        }
        let name = journal_name(last);
        let bytes = files.disk.read(&name).map_err(failed)?;
        let segment =
            Segment { name: &name, bytes: &bytes, is_last: true, mark: mark_of(last), after: 0 };
        let end = segment.read_frames(&mut next, Some(&mut parse_all))?;
        if mark.is_none() {
            let reason = "it is missing or damaged, so a truncated journal could go unnoticed; \
                          restore it from a backup, even an old one";
            return Err(StoreError::damaged(MARK, 0, reason));
        }
        let marks = Marks::open(&*files.disk).map_err(failed)?;
        let (file, opened) = cut_tail(&files, &name, &bytes, &end)?;
        let length = end.length as u64;
        let files = Arc::new(files);
        let mut journal =
            JournalStore { files, file, start: last, length, next, marks, failed: None };
        journal.begin_writing(&end)?;
        Ok((journal, opened))
    }

    /// Creates a journal. Writes the mark first, because a journal without a mark is rejected.
    fn create(files: Files) -> Result<JournalStore, StoreError> {
        let mut marks = Marks::open(&*files.disk).map_err(failed)?;
        marks.set(Mark { file: 1, length: 0, next: 1 }).map_err(failed)?;
        let (file, length) = files.create(1)?;
        let files = Arc::new(files);
        let mut journal =
            JournalStore { files, file, start: 1, length, next: 1, marks, failed: None };
        journal.mark()?;
        Ok(journal)
    }

    /// Marks the journal's end. If the last file's creation was interrupted, recreates the file.
    fn begin_writing(&mut self, end: &End) -> Result<(), StoreError> {
        self.mark()?;
        if end.length > 0 {
            return Ok(());
        }
        let (file, length) = self.files.create(self.next)?;
        (self.file, self.start, self.length) = (file, self.next, length);
        self.mark()
    }

    /// Marks the journal's current end.
    fn mark(&mut self) -> Result<(), StoreError> {
        self.set_mark(Mark { file: self.start, length: self.length, next: self.next })
    }

    fn set_mark(&mut self, mark: Mark) -> Result<(), StoreError> {
        match self.marks.set(mark) {
            Ok(()) => Ok(()),
            Err(error) if is_full(&error) => Err(StoreError::Full(format!("{MARK}: {error}"))),
            Err(error) => Err(self.give_up(MARK, &error)),
        }
    }

    /// Writes bytes and makes them durable. After a failure, either restores the file or stops
    /// writing for good.
    fn write(&mut self, bytes: &[u8]) -> Result<(), StoreError> {
        if let Err(error) = self.file.write_at(self.length, bytes) {
            return Err(self.undo(&error));
        }
        // After a failed sync, the kernel may have dropped the data, so a retry could acknowledge
        // data that is not on disk. Data in a file that has been removed is also lost.
        if let Err(error) = self.file.sync().and_then(|()| self.file.in_place()) {
            return Err(StoreError::Unknown(Box::new(self.give_up(&self.name(), &error))));
        }
        self.length += bytes.len() as u64;
        Ok(())
    }

    /// Reverts an incomplete write.
    fn undo(&mut self, error: &io::Error) -> StoreError {
        let undone = self.file.truncate(self.length).and_then(|()| self.file.sync());
        if undone.is_err() {
            return StoreError::Unknown(Box::new(self.give_up(&self.name(), error)));
        }
        if !is_full(error) {
            return self.give_up(&self.name(), error);
        }
        StoreError::Full(format!("{}: {error}", self.name()))
    }

    fn name(&self) -> String {
        journal_name(self.start)
    }

    fn give_up(&mut self, file: &str, error: &io::Error) -> StoreError {
        let reason = format!("{file}: {error}");
        self.failed = Some(reason.clone());
        StoreError::Failed(reason)
    }

    /// Removes a new file durably, so that it does not reappear after a crash.
    fn discard_new_file(&mut self) -> Result<(), StoreError> {
        let name = journal_name(self.next);
        let removed = match self.files.disk.remove(&name) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => self.files.disk.sync_names(),
        };
        removed.map_err(|error| self.give_up(&name, &error))
    }
}

/// Checks that no file is missing.
fn check_files(starts: &[u64], snapshots: &[u64], mark: Option<Mark>) -> Result<(), StoreError> {
    // The next file is created before the snapshot is saved.
    if let Some(seq) = snapshots.last()
        && !starts.contains(&(seq + 1))
    {
        let next = journal_name(seq + 1);
        let reason = format!("the next file, {next}, is missing");
        return Err(StoreError::damaged(&snapshot_name(*seq), 0, reason));
    }
    if let Some(mark) = mark
        && (mark.next, mark.length) != (1, 0)
        && !starts.contains(&mark.file)
        // The file may have been removed as an old one, because a backup may have an older mark.
        && starts.first().is_none_or(|&first| first < mark.next)
    {
        let reason = format!("the file is missing; it contained record {}", mark.next - 1);
        return Err(StoreError::damaged(&journal_name(mark.file), 0, reason));
    }
    match starts.first() {
        Some(&first) if first > 1 && !snapshots.iter().any(|&seq| seq + 1 >= first) => {
            let reason = format!("the records before {first} are missing");
            Err(StoreError::damaged(&journal_name(first), 0, reason))
        }
        _ => Ok(()),
    }
}

/// Opens the last file. Saves a copy of any unacknowledged bytes at its end and cuts them off.
fn cut_tail(
    files: &Files,
    name: &str,
    bytes: &[u8],
    end: &End,
) -> Result<(Box<dyn DiskFile>, Opened), StoreError> {
    let mut opened = Opened::default();
    let mut file = files.disk.open(name).map_err(failed)?;
    let tail = &bytes[end.length..];
    if !tail.is_empty() {
        opened.cut = tail.len() as u64;
        opened.kept = Some(files.save_cut(name, end.length, tail).map_err(failed)?);
        file.truncate(end.length as u64).map_err(failed)?;
    }
    // A crashed server's writes may not be durable. After a failed sync, the kernel may even
    // consider them written, so rewrite them.
    file.write_at(end.last as u64, &bytes[end.last..end.length]).map_err(failed)?;
    file.sync().map_err(failed)?;
    Ok((file, opened))
}

impl RecordStore for JournalStore {
    fn append(&mut self, records: &[ServiceRecord]) -> Result<(), StoreError> {
        let Some(first) = records.first() else { return Ok(()) };
        assert_eq!(first.seq, self.next, "records are appended in order");
        self.retry()?;
        let mut body = Vec::with_capacity(records.len() * 256);
        for record in records {
            serde_json::to_writer(&mut body, record).expect("a record can be written");
            body.push(b'\n');
        }
        let frame = Frame { first: first.seq, count: records.len() as u32, body: &body };
        if u32::try_from(body.len()).is_err() {
            let reason = "a group of records must be smaller than 4 GiB";
            return Err(StoreError::Failed(reason.to_string()));
        }
        let bytes = frame.bytes();
        if bytes.len() > frame::MAX_UNANNOUNCED {
            // Without the announcement, a tail this long would count as damage.
            self.write(&frame::announcement(first.seq, bytes.len()))?;
        }
        self.write(&bytes)?;
        self.next += records.len() as u64;
        Ok(())
    }

    fn size(&self) -> u64 {
        self.length
    }

    fn confirm(&mut self) -> Result<(), StoreError> {
        Ok(())
    }

    fn idle(&mut self) -> Result<(), StoreError> {
        if self.failed.is_some() {
            return Ok(());
        }
        if let Err(error) = self.file.in_place() {
            return Err(self.give_up(&self.name(), &error));
        }
        self.mark()
    }

    fn rotate(&mut self) -> Result<bool, StoreError> {
        self.retry()?;
        if self.start == self.next {
            return Ok(true);
        }
        self.mark()?;
        let (file, length) = match self.files.create(self.next) {
            Ok(created) => created,
            Err(StoreError::Later(reason)) => {
                tracing::warn!(reason, "cannot open a new file; continuing in the old one");
                return Ok(false);
            }
            Err(error) => {
                self.discard_new_file()?;
                return Err(error);
            }
        };
        // Mark the new file before writing records to it.
        let mark = Mark { file: self.next, length, next: self.next };
        if let Err(error) = self.set_mark(mark) {
            if matches!(error, StoreError::Full(_)) {
                self.discard_new_file()?;
            }
            return Err(error);
        }
        (self.file, self.start, self.length) = (file, self.next, length);
        Ok(true)
    }

    fn retry(&mut self) -> Result<(), StoreError> {
        match &self.failed {
            Some(reason) => Err(StoreError::Failed(reason.clone())),
            None => Ok(()),
        }
    }

    fn close(&mut self) {
        // With this mark, any later damage to the last records is detected.
        if let Err(error) = self.idle() {
            tracing::warn!(%error, "cannot mark the end of the journal");
        }
    }

    fn history(&self) -> Arc<dyn History> {
        self.files.clone()
    }
}
