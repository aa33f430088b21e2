//! The end-of-journal mark, stored separately so that truncation is always detected.
//!
//! The file `mark` has two slots, each with one frame. Marks are written to them alternately, so an
//! incomplete write damages only one mark. A mark is written when the journal is idle, when a new
//! file begins, and when the service stops, but never between a command and its reply.

use std::io;

use super::disk::{Disk, DiskFile};
use super::frame::{self, Found, Frame};

pub(super) const MARK: &str = "mark";
/// The offset of the second slot, in a different disk block from the first.
const SLOT: usize = 4096;

/// A position in the journal up to which everything is durable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Mark {
    /// The number in the name of the journal file.
    pub(super) file: u64,
    /// The file's size in bytes.
    pub(super) length: u64,
    /// The number of the next record.
    pub(super) next: u64,
}

/// The mark file, open for writing.
pub(super) struct Marks {
    file: Box<dyn DiskFile>,
    /// The last durable mark and its sequence number.
    last: Option<(u64, Mark)>,
}

impl Marks {
    /// Opens the mark file for writing, creating it if it does not exist.
    pub(super) fn open(disk: &dyn Disk) -> io::Result<Marks> {
        let bytes = bytes(disk)?;
        let mut file = disk.open(MARK)?;
        if bytes.len() < 2 * SLOT {
            // Allocate the file at its full size, so that writing marks does not change the size.
            file.write_at(bytes.len() as u64, &vec![0; 2 * SLOT - bytes.len()])?;
            file.sync()?;
            disk.sync_names()?;
        }
        Ok(Marks { file, last: last_of(&bytes) })
    }

    /// Writes a mark. If that fails, the previous mark remains valid.
    pub(super) fn set(&mut self, mark: Mark) -> io::Result<()> {
        if self.last.is_some_and(|(_, last)| last == mark) {
            return Ok(());
        }
        let turn = self.last.map_or(0, |(turn, _)| turn + 1);
        let body = format!("{turn} {} {}\n", mark.file, mark.length);
        let bytes = Frame { first: mark.next, count: 0, body: body.as_bytes() }.bytes();
        let slot = if turn % 2 == 0 { 0 } else { SLOT as u64 };
        self.file.write_at(slot, &bytes)?;
        self.file.sync()?;
        self.last = Some((turn, mark));
        Ok(())
    }
}

/// Reads the last mark in a directory, without writing.
pub(super) fn last(disk: &dyn Disk) -> io::Result<Option<Mark>> {
    Ok(last_of(&bytes(disk)?).map(|(_, mark)| mark))
}

/// Reads the mark file; returns no bytes if it does not exist.
fn bytes(disk: &dyn Disk) -> io::Result<Vec<u8>> {
    match disk.read(MARK) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        read => read,
    }
}

/// Returns the mark with the highest sequence number, together with that number.
fn last_of(bytes: &[u8]) -> Option<(u64, Mark)> {
    let marks = [0, SLOT].into_iter().filter_map(|offset| read(bytes, offset));
    marks.max_by_key(|(turn, _)| *turn)
}

/// Returns the mark in a slot and its sequence number.
fn read(bytes: &[u8], offset: usize) -> Option<(u64, Mark)> {
    let slot = bytes.get(offset..)?;
    let Found::Frame(Frame { first, body, .. }, _) = frame::at(slot, 0) else { return None };
    let mut numbers = std::str::from_utf8(body).ok()?.split_whitespace().map(str::parse::<u64>);
    let mut number = || numbers.next()?.ok();
    let (turn, file, length) = (number()?, number()?, number()?);
    Some((turn, Mark { file, length, next: first }))
}
