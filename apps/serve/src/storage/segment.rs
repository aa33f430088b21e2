//! One journal file: its frames and their records.
//!
//! A file is read frame by frame. For bytes that are not a valid frame, the first applicable case
//! is reported:
//!
//! 1. one flipped bit in a frame;
//! 2. another format, unknown to this program;
//! 3. damage, if the file's frames end before its mark, if the file is not the last one, or if more
//!    frames follow;
//! 4. a truncated write, if the bytes are at most one write long;
//! 5. other damage.

use super::frame::{self, Found, Frame, FrameKind, Tail};
use super::mark::Mark;
use super::{Each, StoreError, read};

/// The bytes of a journal file.
pub(super) struct Segment<'a> {
    pub(super) name: &'a str,
    pub(super) bytes: &'a [u8],
    /// True for the journal's last file.
    pub(super) is_last: bool,
    /// The last known end of the file. A file that ends before its mark is damaged.
    pub(super) mark: Option<Mark>,
    /// The number after which records are passed on. Frames of earlier records are not parsed.
    pub(super) after: u64,
}

/// The end of the valid frames in a file.
pub(super) struct End {
    pub(super) length: usize,
    /// The offset of the last frame.
    pub(super) last: usize,
}

impl Segment<'_> {
    /// Reads the frames and advances `next` past the last record. Passes the records to `each`
    /// until it returns false. Without `each`, verifies only checksums and record kinds.
    pub(super) fn read_frames(
        &self,
        next: &mut u64,
        mut each: Option<Each<'_>>,
    ) -> Result<End, StoreError> {
        let mut end = End { length: 0, last: 0 };
        let (mut unreached_mark, mut announced) = (self.mark, None);
        loop {
            let offset = end.length;
            unreached_mark.take_if(|mark| mark.length == offset as u64 && mark.next == *next);
            let found = frame::at(self.bytes, offset);
            let Found::Frame(frame, past) = found else {
                let tail = Tail { is_at_start: offset == 0, announced };
                return self.check_end(end, found, unreached_mark, tail);
            };
            announced = None;
            match frame.kind() {
                FrameKind::Format if offset == 0 => {}
                _ if offset == 0 => return Err(self.foreign(offset)),
                FrameKind::Records | FrameKind::Announcement(_) if frame.first != *next => {
                    let reason = format!("expected record {next}, but found {}", frame.first);
                    return Err(self.damaged(offset, &reason));
                }
                FrameKind::Announcement(bytes) => announced = Some(bytes),
                FrameKind::Records => {
                    let frame_end = *next + u64::from(frame.count);
                    let more = match &mut each {
                        Some(_) if frame_end <= self.after + 1 => true,
                        Some(each) => self.records(offset, &frame, each)?,
                        None => self.check_kinds(offset, &frame).map(|()| true)?,
                    };
                    if !more {
                        return Ok(end);
                    }
                    *next = frame_end;
                }
                _ => return Err(self.damaged(offset, "a frame of this kind is not allowed here")),
            }
            (end.last, end.length) = (offset, past);
        }
    }

    /// Checks the bytes after the last frame. The frames must reach the mark.
    fn check_end(
        &self,
        end: End,
        found: Found<'_>,
        unreached_mark: Option<Mark>,
        tail: Tail,
    ) -> Result<End, StoreError> {
        let offset = end.length;
        match (found, unreached_mark) {
            (Found::Flipped, _) => {
                Err(self.damaged(offset, "one bit of the frame has been flipped"))
            }
            (Found::Foreign, _) => Err(self.foreign(offset)),
            (_, Some(mark)) => Err(self.truncated(offset, mark)),
            (Found::End, None) => Ok(end),
            (Found::NoFrame | Found::Frame(..), None) => self.check_tail(end, tail),
        }
    }

    /// Distinguishes a truncated write after the last frame from damage.
    fn check_tail(&self, end: End, tail: Tail) -> Result<End, StoreError> {
        let offset = end.length;
        if !self.is_last {
            return Err(self.damaged(offset, "there is no frame here"));
        }
        if frame::follows(self.bytes, offset) {
            return Err(self.damaged(offset, "there is no frame here, but one follows"));
        }
        let (found, most) = (self.bytes.len() - offset, tail.max_bytes(&self.bytes[offset..]));
        if found <= most {
            return Ok(end);
        }
        let reason = format!(
            "there is no frame here, but {found} bytes remain, more than a single write can leave \
             ({most})"
        );
        Err(self.damaged(offset, &reason))
    }

    /// Returns the error for a file whose frames end before the mark.
    fn truncated(&self, offset: usize, mark: Mark) -> StoreError {
        let Mark { length, next, .. } = mark;
        let (found, last) = (self.bytes.len(), next - 1);
        let reason = if (found as u64) < length {
            format!(
                "it is truncated: expected at least {length} bytes, up to record {last}, but \
                 found {found}"
            )
        } else {
            format!("its frames end here, but record {last} should end at byte {length}")
        };
        self.damaged(offset, &reason)
    }

    /// Passes a frame's records to `each` until it returns false. Returns the last result of
    /// `each`.
    fn records(
        &self,
        offset: usize,
        frame: &Frame<'_>,
        each: &mut Each<'_>,
    ) -> Result<bool, StoreError> {
        let mut expected = frame.first;
        for line in frame.body.split_inclusive(|&byte| byte == b'\n') {
            let record = read::parse_record(self.name, offset as u64, line)?;
            if record.seq != expected {
                let reason = format!("record {} is out of sequence", record.seq);
                return Err(self.damaged(offset, &reason));
            }
            expected += 1;
            if record.seq > self.after && !each(record)? {
                return Ok(false);
            }
        }
        if expected == frame.first + u64::from(frame.count) {
            Ok(true)
        } else {
            Err(self.damaged(offset, "the number of records does not match the frame's header"))
        }
    }

    fn check_kinds(&self, offset: usize, frame: &Frame<'_>) -> Result<(), StoreError> {
        let mut lines = frame.body.split_inclusive(|&byte| byte == b'\n');
        lines.try_for_each(|line| read::check_kind(self.name, offset as u64, line))
    }

    fn damaged(&self, offset: usize, reason: &str) -> StoreError {
        StoreError::damaged(self.name, offset as u64, reason)
    }

    fn foreign(&self, offset: usize) -> StoreError {
        let what = "an unknown format".to_string();
        StoreError::OtherVersion { file: self.name.to_string(), offset: offset as u64, what }
    }
}
