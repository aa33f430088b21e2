//! One file of the journal: its frames, and their records.

use super::frame::{self, Found, Frame};
use super::{Each, StoreError};
use crate::core::ServiceRecord;

/// Where the frames of a file end.
pub(super) struct End {
    pub(super) length: usize,
    pub(super) sealed: bool,
}

/// Reads the frames of a file, `last` if no file follows it; their sums alone if nothing is to
/// be done with the records.
pub(super) fn frames(
    name: &str,
    bytes: &[u8],
    next: &mut u64,
    last: bool,
    mut each: Option<Each<'_>>,
) -> Result<End, StoreError> {
    let damaged = |offset: usize, reason: &str| StoreError::Damaged {
        file: name.to_string(),
        offset: offset as u64,
        reason: reason.to_string(),
    };
    let (mut offset, mut sealed) = (0, true);
    loop {
        match frame::at(bytes, offset) {
            Found::Flipped => return Err(damaged(offset, "one bit of the frame is turned")),
            Found::Nothing if !last => return Err(damaged(offset, "no frame is here")),
            Found::Nothing if frame::follows(bytes, offset) => {
                return Err(damaged(offset, "no frame is here, but one follows"));
            }
            Found::End | Found::Nothing => return Ok(End { length: offset, sealed }),
            Found::Frame(frame, end) => {
                if frame.first != *next {
                    let reason = format!("record {} stands where {next} belongs", frame.first);
                    return Err(damaged(offset, &reason));
                }
                if let Some(each) = &mut each {
                    for record in records(&frame) {
                        let record = record.map_err(|reason| damaged(offset, &reason))?;
                        if !each(record)? {
                            return Ok(End { length: offset, sealed });
                        }
                    }
                }
                *next += u64::from(frame.count);
                (offset, sealed) = (end, frame.count == 0);
            }
        }
    }
}

/// The records of a frame.
fn records<'a>(frame: &Frame<'a>) -> impl Iterator<Item = Result<ServiceRecord, String>> + use<'a> {
    let lines = frame.body.split_inclusive(|&byte| byte == b'\n');
    let first = frame.first;
    lines.enumerate().map(move |(index, line)| {
        let record: ServiceRecord =
            serde_json::from_slice(line).map_err(|error| error.to_string())?;
        let right = record.seq == first + index as u64;
        if right { Ok(record) } else { Err(format!("record {} is out of place", record.seq)) }
    })
}
