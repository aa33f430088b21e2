//! One list in a JSON document, read entry by entry, so that only one entry is in memory.

use std::cell::{Cell, RefCell};
use std::fmt;
use std::io::{self, BufRead, Read};

use pavior_kernel::{json, shown};
use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::{LineError, ReadError};

/// The maximum length of an entry, in bytes.
const LONGEST_ENTRY: u64 = 16 << 20;

/// The number of bytes before a fault that are kept to be shown.
const TAIL: usize = 200;

/// An entry of the list.
pub(crate) struct Entry<'e> {
    /// The text of the entry.
    pub(crate) text: &'e str,
    /// The number of the entry in the list, from 0.
    pub(crate) index: u64,
    /// The line on which it begins, from 1, and the column there in bytes, from 1.
    pub(crate) line: u64,
    column: u64,
    /// The byte of the document at which it begins, from 0.
    byte: u64,
    list: &'static str,
}

impl<'e> Entry<'e> {
    /// Parses the entry as an object with members that are read as they come.
    pub(crate) fn read<T: Deserialize<'e>>(&self) -> Result<T, LineError> {
        let text = self.text.as_bytes();
        json::check(text).map_err(|error| self.fault("", json::reason(&error)))?;
        let object = text.starts_with(b"{").then(|| serde_json::from_slice(text).ok()).flatten();
        object.ok_or_else(|| self.fault("", "not an object, unlike the others"))
    }

    /// Creates an error for a member of the entry. The path is empty for the entry itself, and
    /// otherwise begins with a dot.
    pub(crate) fn fault(&self, path: &str, reason: impl fmt::Display) -> LineError {
        let Entry { list, index, byte, .. } = self;
        let reason = format!("{list}[{index}]{path} (byte {byte}): {reason}");
        let first = self.text.split('\n').next().unwrap_or_default();
        let fault = LineError::new(self.line, first.as_bytes(), 0..1, reason);
        LineError { column: self.column, ..fault }
    }
}

/// Calls a function for each entry of a list of the object, until it returns false. Returns the
/// number of lines read. The text after the list is checked, but not used.
///
/// # Errors
/// Returns an error if the reader fails, if the text is not a JSON object with the list, or if an
/// entry is longer than 16 MiB; also returns the function's errors.
pub(crate) fn each(
    reader: impl BufRead,
    list: &'static str,
    each: &mut dyn FnMut(&Entry<'_>) -> Result<bool, ReadError>,
) -> Result<u64, ReadError> {
    let state = State::default();
    let counted = Counted { reader, state: &state };
    let mut from = serde_json::Deserializer::from_reader(counted);
    let document = Document { list, state: &state, each, found: Cell::new(false) };
    let read = from.deserialize_map(document).and_then(|()| from.end());
    let lines = state.ends.get() + u64::from(!state.line_start.get());
    if state.bytes.get() == state.blank.get() {
        return Err(ReadError::NoJobs { lines });
    }
    match (read, state.stop.take()) {
        (_, Some(Stop::Wanted)) | (Ok(()), None) => Ok(lines),
        (_, Some(Stop::Fault(error))) => Err(error),
        (Err(error), None) if error.is_io() => {
            Err(ReadError::Io { line: state.ends.get(), source: error.into() })
        }
        (Err(error), None) => {
            let tail = state.tail.borrow();
            let start = tail.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
            let line = &tail[start.min(tail.len().saturating_sub(1))..];
            let at = line.len().saturating_sub(1);
            let reason = format!("{} (byte {})", json::reason(&error), state.bytes.get());
            let fault = LineError::new(error.line() as u64, line, at..at + 1, reason);
            Err(LineError { column: error.column() as u64, ..fault }.into())
        }
    }
}

/// The reason why reading stops before the end.
enum Stop {
    /// No more entries are wanted.
    Wanted,
    /// An error in an entry.
    Fault(ReadError),
}

/// The position in the document.
#[derive(Default)]
struct State {
    bytes: Cell<u64>,
    ends: Cell<u64>,
    /// The byte at which the current line begins.
    line_at: Cell<u64>,
    line_start: Cell<bool>,
    /// The number of bytes of white space in front.
    blank: Cell<u64>,
    /// The byte at which the current entry begins, in the list.
    entry: Cell<Option<u64>>,
    tail: RefCell<Vec<u8>>,
    stop: RefCell<Option<Stop>>,
}

/// A reader that counts bytes. The JSON reader takes single bytes, so the count is exact.
struct Counted<'s, R> {
    reader: R,
    state: &'s State,
}

impl<R: BufRead> Read for Counted<'_, R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let wanted = into.len().min(1);
        let read = self.reader.read(&mut into[..wanted])?;
        let state = self.state;
        for &byte in &into[..read] {
            if byte.is_ascii_whitespace() && state.blank.get() == state.bytes.get() {
                state.blank.set(state.blank.get() + 1);
            }
            state.bytes.set(state.bytes.get() + 1);
            state.line_start.set(byte == b'\n');
            if byte == b'\n' {
                state.ends.set(state.ends.get() + 1);
                state.line_at.set(state.bytes.get());
            }
            let mut tail = state.tail.borrow_mut();
            if tail.len() >= 2 * TAIL {
                tail.drain(..TAIL);
            }
            tail.push(byte);
        }
        if state.entry.get().is_some_and(|at| state.bytes.get() - at > LONGEST_ENTRY) {
            let reason = format!("a list entry is longer than {} MiB", LONGEST_ENTRY >> 20);
            return Err(io::Error::new(io::ErrorKind::InvalidData, reason));
        }
        Ok(read)
    }
}

/// The object that contains the list as one of its members.
struct Document<'d> {
    list: &'static str,
    state: &'d State,
    each: &'d mut dyn FnMut(&Entry<'_>) -> Result<bool, ReadError>,
    found: Cell<bool>,
}

impl<'de> Visitor<'de> for Document<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "an object with the list `{}`", self.list)
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut members: A) -> Result<(), A::Error> {
        self.state.entry.set(Some(self.state.bytes.get()));
        while let Some(name) = members.next_key::<String>()? {
            if name != self.list {
                self.state.entry.set(None);
                members.next_value::<IgnoredAny>()?;
            } else if self.found.replace(true) {
                let reason =
                    format_args!("the member `{}` appears twice", shown(&name)).to_string();
                return Err(serde::de::Error::custom(reason));
            } else {
                members.next_value_seed(List(&mut self))?;
            }
            self.state.entry.set(Some(self.state.bytes.get()));
        }
        self.state.entry.set(None);
        if self.found.get() {
            return Ok(());
        }
        Err(serde::de::Error::custom(format_args!("there is no list `{}`", self.list)))
    }
}

/// The list.
struct List<'l, 'd>(&'l mut Document<'d>);

impl<'de> DeserializeSeed<'de> for List<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for List<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` as a list", self.0.list)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut entries: A) -> Result<(), A::Error> {
        let Document { list, state, each, .. } = self.0;
        for index in 0.. {
            state.entry.set(Some(state.bytes.get()));
            let Some(raw) = entries.next_element::<Box<RawValue>>()? else { break };
            let text = raw.get();
            let ends = text.bytes().filter(|&byte| byte == b'\n').count() as u64;
            let byte = state.bytes.get() - text.len() as u64;
            let line = state.ends.get() + 1 - ends;
            // For an entry of several lines, only the line is exact.
            let column = if ends == 0 { byte.saturating_sub(state.line_at.get()) + 1 } else { 1 };
            let stop = match each(&Entry { text, index, line, column, byte, list }) {
                Ok(true) => continue,
                Ok(false) => Stop::Wanted,
                Err(error) => Stop::Fault(error),
            };
            state.stop.replace(Some(stop));
            return Err(serde::de::Error::custom("stopped"));
        }
        Ok(())
    }
}
