//! The replications stored in a directory. Every line and every file is verified by a checksum.
//!
//! Invariant: data with a wrong checksum is never returned. Such data either causes an error, or is
//! skipped and counted. Exception: if a directory has no note, its times have no checksum.

use std::io;
use std::path::Path;

use pavior_files::{FileError, Limits, read_if_there};
use pavior_kernel::Checksum;

use super::{DirectoryError, EXPERIMENT, JOURNAL, Note, REPLICATIONS, TIMINGS, note};
use crate::{JournalEntry, Specification};

/// The replications in a directory.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Known {
    /// The entries from the journal and from the finished files.
    pub entries: Vec<JournalEntry>,
    /// The number of damaged lines that were skipped.
    pub discarded: u64,
}

impl Known {
    /// Adds the entries in `other`, and removes entries that do not belong to the experiment.
    pub(super) fn add(&mut self, other: Known, specification: &Specification) {
        self.entries.extend(other.entries);
        self.discarded += other.discarded;
        let (points, metrics) = (specification.points.len(), specification.metrics.len());
        self.entries.retain(|entry| entry.point < points && entry.sample.values.len() == metrics);
    }
}

/// Returns all replications in a directory, even if the run is not finished. The result is empty if
/// the directory contains no run.
///
/// # Errors
/// Returns an error if a line or a file is damaged.
pub fn known(
    directory: &Path,
    specification: &Specification,
) -> Result<Vec<JournalEntry>, DirectoryError> {
    let Some(note) = note(directory)? else { return Ok(Vec::new()) };
    let mut known = in_journal(directory, &note.run.fingerprint, false)?;
    known.add(in_files(directory, Some(&note), specification, false)?, specification);
    verify(directory, &note, &[EXPERIMENT, REPLICATIONS, TIMINGS])?;
    Ok(known.entries)
}

/// Reads the replications in a directory's journal. An incomplete last line does not count as
/// damaged, because it only shows that the process was killed while writing. A line that was
/// changed, or that belongs to another run, is an error unless `discard_damaged` is set.
pub(super) fn in_journal(
    directory: &Path,
    key: &str,
    discard_damaged: bool,
) -> Result<Known, DirectoryError> {
    let path = directory.join(JOURNAL);
    let text = read_if_there(&path, Limits::LINES)?.unwrap_or_default();
    let mut known = Known::default();
    for (index, line) in text.split_inclusive('\n').enumerate() {
        let Some(line) = line.strip_suffix('\n') else { break };
        match JournalEntry::parse(line, key) {
            Some(entry) => known.entries.push(entry),
            None if discard_damaged => known.discarded += 1,
            None => return Err(DirectoryError::damaged_line(&path, index as u64 + 1)),
        }
    }
    Ok(known)
}

/// Reads the replications from the files in a finished directory. If the directory has no note,
/// times cannot be verified.
pub(super) fn in_files(
    directory: &Path,
    note: Option<&Note>,
    specification: &Specification,
    discard_damaged: bool,
) -> Result<Known, DirectoryError> {
    let path = directory.join(REPLICATIONS);
    let whole = |path: &Path| -> Result<Option<String>, FileError> {
        Ok(read_if_there(path, Limits::LINES)?.filter(|text| !text.is_empty()))
    };
    let Some(text) = whole(&path)? else { return Ok(Known::default()) };
    // Drop damaged times. Another measurement would produce different times anyway.
    let timings = match note.map_or(Ok(()), |note| verify(directory, note, &[TIMINGS])) {
        Err(_) if discard_damaged => None,
        verified => verified.and_then(|()| Ok(whole(&directory.join(TIMINGS))?))?,
    };
    let timings = timings.as_ref().map(String::as_bytes);
    match specification.read_replications(text.as_bytes(), timings) {
        Err(_) if discard_damaged => Ok(Known { entries: Vec::new(), discarded: 1 }),
        Err(_) => Err(DirectoryError::damaged_line(&path, 1)),
        Ok(found) => match found.damaged.first() {
            Some(&line) if !discard_damaged => Err(DirectoryError::damaged_line(&path, line)),
            _ => Ok(Known { entries: found.entries, discarded: found.damaged.len() as u64 }),
        },
    }
}

/// Compares the named files' checksums with those in `run.json`. Skips files without a checksum
/// there.
///
/// # Errors
/// Returns an error if a file is missing, or if any byte in a file has changed.
pub fn verify(directory: &Path, note: &Note, names: &[&str]) -> Result<(), DirectoryError> {
    /// The limits on result files, which may be any size because they are not held in memory.
    const ANY: Limits = Limits { line: u64::MAX, total: u64::MAX };
    for name in names {
        let Some(expected) = note.files.get(*name) else { continue };
        let path = directory.join(name);
        let mut checksum = Checksum::default();
        let mut reader = pavior_files::open(&path, ANY)?;
        let mut buffer = [0; 1 << 14];
        loop {
            match io::Read::read(&mut reader, &mut buffer) {
                Ok(0) => break,
                Ok(length) => checksum.add(&buffer[..length]),
                Err(error) => return Err(FileError::read(&path, error).into()),
            }
        }
        if checksum.to_string() != *expected {
            return Err(DirectoryError::damaged_file(&path));
        }
    }
    Ok(())
}
