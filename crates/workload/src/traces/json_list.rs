//! A reader for a list in a JSON document. It keeps only one entry in memory, skips any lines
//! before the document (such as warnings), and accepts several documents in a row.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, BufRead, Read};

use pavior_kernel::{json, shown};
use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::text::MOST_IN_FRONT;
use super::{LineError, ReadError};

/// The maximum size of an entry, in bytes.
const LONGEST_ENTRY: u64 = 16 << 20;

/// The error message for text that contains no JSON object.
pub(crate) const NO_OBJECT: &str = "no JSON object found; save the complete output of sacct \
                                    --json or kubectl get jobs,pods -o json";

/// The number of bytes before an error that are kept for display.
const TAIL: usize = 200;

/// An entry in the list, or a whole document that is itself an entry.
pub(crate) struct Entry<'e> {
    pub(crate) text: &'e str,
    /// The entry's index in the list, from 0, or `None` if the entry is the whole document.
    index: Option<u64>,
    /// The line and column (in bytes) where the entry starts, counting from 1.
    pub(crate) line: u64,
    column: u64,
    /// The entry's byte offset in the document.
    byte: u64,
    list: &'static str,
    /// The text of the document's `kind` member, if it precedes the list.
    pub(crate) kind: Option<&'e str>,
}

/// Line counts for a document.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Document {
    /// The total number of lines.
    pub(crate) lines: u64,
    /// The number of lines before the document.
    pub(crate) in_front: u64,
}

impl<'e> Entry<'e> {
    /// Parses the entry, which must be an object.
    pub(crate) fn read<T: Deserialize<'e>>(&self) -> Result<T, LineError> {
        let text = self.text.as_bytes();
        json::check(text).map_err(|error| self.fault("", json::reason(&error)))?;
        let object = text.starts_with(b"{").then(|| serde_json::from_slice(text).ok()).flatten();
        object.ok_or_else(|| self.fault("", "expected an object"))
    }

    /// Creates an error for a member of the entry. The path starts with a dot, or is empty to refer
    /// to the entry as a whole.
    pub(crate) fn fault(&self, path: &str, reason: impl fmt::Display) -> LineError {
        let Entry { list, byte, .. } = self;
        let place = self.index.map_or(String::new(), |index| format!("{list}[{index}]"));
        let reason = format!("{place}{path} (byte {byte}): {reason}");
        let first = self.text.split('\n').next().unwrap_or_default();
        let fault = LineError::new(self.line, first.as_bytes(), 0..1, reason);
        LineError { column: self.column, ..fault }
    }
}

/// Calls a function for each entry in the object's list until the function returns false. If an
/// object lacks the list but has any of the given members, the object itself, reduced to those
/// members, is passed as an entry. Text after the list is checked but not used. Returns the line
/// counts.
///
/// # Errors
/// Returns an error if the reader or the function fails, if the text does not consist of JSON
/// objects that have the list, or if an entry is longer than 16 MiB.
pub(crate) fn each(
    mut reader: impl BufRead,
    list: &'static str,
    members: &'static [&'static str],
    each: &mut dyn FnMut(&Entry<'_>) -> Result<bool, ReadError>,
) -> Result<Document, ReadError> {
    let state = State::default();
    let in_front = skip_front(&mut reader, &state)?;
    let first_line = state.ends.get();
    let counted = Counted { reader, state: &state };
    let mut from = serde_json::Deserializer::from_reader(counted);
    let (mut read, mut documents) = (Ok(()), 0);
    while read.is_ok() {
        let state = &state;
        read = from.deserialize_map(Object { list, members, state, each: &mut *each });
        documents += u64::from(read.is_ok());
        if from.end().is_ok() {
            break;
        }
    }
    let lines = state.ends.get() + u64::from(!state.line_start.get());
    if state.bytes.get() == state.blank.get() {
        return Err(ReadError::NoJobs { lines });
    }
    match (read, state.stop.take()) {
        (_, Some(Stop::Wanted)) | (Ok(()), None) => Ok(Document { lines, in_front }),
        (_, Some(Stop::Fault(error))) => Err(error),
        (Err(error), None) if error.is_io() => {
            Err(ReadError::Io { line: state.ends.get(), source: error.into() })
        }
        (Err(error), None) => {
            let tail = state.tail.borrow();
            let start = tail.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
            let line = &tail[start.min(tail.len().saturating_sub(1))..];
            let at = line.len().saturating_sub(1);
            let is_behind = documents > 0 && tail.last() != Some(&b'{') && error.is_syntax();
            let reason = if is_behind && state.entry.get().is_none() {
                "unexpected text after the JSON object; remove it".to_string()
            } else {
                json::reason(&error)
            };
            let reason = format!("{reason} (byte {})", state.bytes.get());
            let number = first_line + error.line() as u64;
            let fault = LineError::new(number, line, at..at + 1, reason);
            Err(LineError { column: error.column() as u64, ..fault }.into())
        }
    }
}

/// Skips lines until one starts with a brace. Returns the number of nonblank lines skipped.
fn skip_front(reader: &mut impl BufRead, state: &State) -> Result<u64, ReadError> {
    let io = |source| ReadError::Io { line: state.ends.get(), source };
    let (mut first, mut in_front) = (Vec::new(), 0);
    while in_front <= MOST_IN_FRONT {
        match reader.fill_buf().map_err(io)?.first() {
            Some(b'{') => return Ok(in_front),
            Some(&byte) if byte.is_ascii_whitespace() => {
                state.count(byte);
                reader.consume(1);
            }
            None if in_front == 0 => return Ok(0),
            None => break,
            Some(_) => {
                let mut line = Vec::new();
                reader.take(1 << 16).read_until(b'\n', &mut line).map_err(io)?;
                for &byte in &line {
                    state.count(byte);
                }
                in_front += 1;
                if in_front == 1 {
                    first = line;
                }
            }
        }
    }
    Err(LineError::new(1, first.trim_ascii_end(), 0..1, NO_OBJECT).into())
}

/// The reason that reading stopped early.
enum Stop {
    /// The caller needs no more entries.
    Wanted,
    /// An entry contains an error.
    Fault(ReadError),
}

/// The reader's position in the document.
#[derive(Default)]
struct State {
    bytes: Cell<u64>,
    ends: Cell<u64>,
    /// The byte offset of the current line.
    line_at: Cell<u64>,
    line_start: Cell<bool>,
    /// The number of whitespace bytes at the start of the input.
    blank: Cell<u64>,
    /// The byte offset of the current entry, if the reader is inside the list.
    entry: Cell<Option<u64>>,
    tail: RefCell<Vec<u8>>,
    stop: RefCell<Option<Stop>>,
}

impl State {
    fn count(&self, byte: u8) {
        if byte.is_ascii_whitespace() && self.blank.get() == self.bytes.get() {
            self.blank.set(self.blank.get() + 1);
        }
        self.bytes.set(self.bytes.get() + 1);
        self.line_start.set(byte == b'\n');
        if byte == b'\n' {
            self.ends.set(self.ends.get() + 1);
            self.line_at.set(self.bytes.get());
        }
        let mut tail = self.tail.borrow_mut();
        if tail.len() >= 2 * TAIL {
            tail.drain(..TAIL);
        }
        tail.push(byte);
    }

    fn stop<E: serde::de::Error>(&self, stop: Stop) -> E {
        self.stop.replace(Some(stop));
        E::custom("stopped")
    }
}

/// A reader that counts bytes. It returns one byte at a time so that the count is exact.
struct Counted<'s, R> {
    reader: R,
    state: &'s State,
}

impl<R: BufRead> Read for Counted<'_, R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let wanted = into.len().min(1);
        let read = self.reader.read(&mut into[..wanted])?;
        let state = self.state;
        into[..read].iter().for_each(|&byte| state.count(byte));
        if state.entry.get().is_some_and(|at| state.bytes.get() - at > LONGEST_ENTRY) {
            let reason = format!("a list entry is longer than {} MiB", LONGEST_ENTRY >> 20);
            return Err(io::Error::new(io::ErrorKind::InvalidData, reason));
        }
        Ok(read)
    }
}

/// An object that either has the list as a member or is itself an entry.
struct Object<'d> {
    list: &'static str,
    /// The members to keep if the object is itself an entry.
    members: &'static [&'static str],
    state: &'d State,
    each: &'d mut dyn FnMut(&Entry<'_>) -> Result<bool, ReadError>,
}

impl Object<'_> {
    fn call<E: serde::de::Error>(&mut self, entry: &Entry<'_>) -> Result<(), E> {
        match (self.each)(entry) {
            Ok(true) => Ok(()),
            Ok(false) => Err(self.state.stop(Stop::Wanted)),
            Err(error) => Err(self.state.stop(Stop::Fault(error))),
        }
    }
}

impl<'de> Visitor<'de> for Object<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "an object with a `{}` list", self.list)
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut members: A) -> Result<(), A::Error> {
        let state = self.state;
        let (line, byte) = (state.ends.get() + 1, state.bytes.get().saturating_sub(1));
        let column = byte.saturating_sub(state.line_at.get()) + 1;
        let mut kept: BTreeMap<String, Box<RawValue>> = BTreeMap::new();
        let mut has_list = false;
        state.entry.set(Some(state.bytes.get()));
        while let Some(name) = members.next_key::<String>()? {
            let is_list = name == self.list;
            if is_list && has_list || kept.contains_key(&name) {
                let name = shown(&name);
                return Err(serde::de::Error::custom(format!("the member `{name}` appears twice")));
            } else if is_list {
                has_list = true;
                let kind = kept.get("kind").map(|kind| kind.get());
                members.next_value_seed(List { of: &mut self, kind })?;
            } else if self.members.contains(&name.as_str()) {
                kept.insert(name, members.next_value()?);
            } else {
                state.entry.set(None);
                members.next_value::<IgnoredAny>()?;
            }
            state.entry.set(Some(state.bytes.get()));
        }
        state.entry.set(None);
        if has_list {
            return Ok(());
        }
        if kept.is_empty() {
            let list = self.list;
            return Err(serde::de::Error::custom(format_args!(
                "the `{list}` list is missing; save the command's complete output"
            )));
        }
        let text = serde_json::to_string(&kept).map_err(serde::de::Error::custom)?;
        let (index, list) = (None, self.list);
        self.call(&Entry { text: &text, index, line, column, byte, list, kind: None })
    }
}

/// The list, and the text of the enclosing object's `kind` member.
struct List<'l, 'd> {
    of: &'l mut Object<'d>,
    kind: Option<&'l str>,
}

impl<'de> DeserializeSeed<'de> for List<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for List<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` as a list", self.of.list)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut entries: A) -> Result<(), A::Error> {
        let List { of, kind } = self;
        let (state, list) = (of.state, of.list);
        for index in 0.. {
            state.entry.set(Some(state.bytes.get()));
            let Some(raw) = entries.next_element::<Box<RawValue>>()? else { break };
            let text = raw.get();
            let ends = text.bytes().filter(|&byte| byte == b'\n').count() as u64;
            let byte = state.bytes.get() - text.len() as u64;
            let line = state.ends.get() + 1 - ends;
            // If an entry spans several lines, the column is unknown, and 1 is used instead.
            let column = if ends == 0 { byte.saturating_sub(state.line_at.get()) + 1 } else { 1 };
            let index = Some(index);
            of.call(&Entry { text, index, line, column, byte, list, kind })?;
        }
        Ok(())
    }
}
