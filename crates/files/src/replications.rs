//! The replications of an experiment that a directory holds.

use std::path::Path;

use pavior_experiments::{JournalEntry, Specification};

use crate::run::read_if_there;
use crate::{FileError, note, verify};

const REPLICATIONS: &str = "replications.csv";
const TIMINGS: &str = "timings.csv";

/// The replications that a directory holds, in the lines of its journal or finished, and how many
/// damaged lines were left out.
///
/// # Errors
/// If a line of a finished file is damaged, unless such lines are to be left out.
pub fn replications(
    directory: &Path,
    specification: &Specification,
    journal: &[String],
    discard_damaged: bool,
) -> Result<(Vec<JournalEntry>, u64), FileError> {
    let mut entries: Vec<JournalEntry> =
        journal.iter().filter_map(|line| JournalEntry::parse(line)).collect();
    let (finished, damaged) = finished(directory, specification, discard_damaged)?;
    entries.extend(finished);
    let (points, metrics) = (specification.points.len(), specification.metrics.len());
    entries.retain(|entry| entry.point < points && entry.sample.values.len() == metrics);
    Ok((entries, damaged))
}

/// Those of a finished directory.
fn finished(
    directory: &Path,
    specification: &Specification,
    discard_damaged: bool,
) -> Result<(Vec<JournalEntry>, u64), FileError> {
    let path = directory.join(REPLICATIONS);
    let Some(text) = read_if_there(&path)?.filter(|text| !text.is_empty()) else {
        return Ok((Vec::new(), 0));
    };
    // Times that were changed are no times; measured anew they are others in any case.
    let timed = note(directory)
        .and_then(|note| note.map_or(Ok(()), |note| verify(directory, &note, TIMINGS)));
    let timings = match (timed, discard_damaged) {
        (Err(_), true) => None,
        (Err(error), false) => return Err(error),
        (Ok(()), _) => read_if_there(&directory.join(TIMINGS))?.filter(|text| !text.is_empty()),
    };
    let timings = timings.as_ref().map(String::as_bytes);
    match specification.read_replications(text.as_bytes(), timings) {
        Err(_) if discard_damaged => Ok((Vec::new(), 1)),
        Err(_) => Err(FileError::damaged(&path, Some(1))),
        Ok(found) => match found.damaged.first() {
            Some(&line) if !discard_damaged => Err(FileError::damaged(&path, Some(line))),
            _ => Ok((found.entries, found.damaged.len() as u64)),
        },
    }
}
