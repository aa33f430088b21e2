//! Parses files with one JSON object per line. Errors show the line and underline the invalid part.

use std::io::BufRead;
use std::ops::Range;
use std::path::Path;

use pavior::files::FileError;
use pavior::json;
use pavior::text::shown;
use serde_json::Value;

use crate::failure::{Failure, Place};
use crate::files;
use crate::located::{self, Member};

/// The number of bytes shown on each side of an error in a long line.
const CONTEXT_BYTES: usize = 60;

/// An error in a line.
pub(crate) struct LineError {
    message: String,
    /// The byte range of the invalid part.
    span: Range<usize>,
}

impl LineError {
    pub(crate) fn new(message: impl Into<String>, span: Range<usize>) -> LineError {
        LineError { message: message.into(), span }
    }

    /// Converts the error into one that shows the line, or only the part around the error if the
    /// line is long.
    fn in_line(self, file: &str, number: usize, line: &str) -> Failure {
        let span = self.span;
        let column = line[..span.start].chars().count() + 1;
        let first = line.floor_char_boundary(span.start.saturating_sub(CONTEXT_BYTES));
        let end = span.end.min(span.start + CONTEXT_BYTES) + CONTEXT_BYTES;
        let end = line.floor_char_boundary(end);
        let prefix = if first > 0 { "…" } else { "" };
        let suffix = if end < line.len() { "…" } else { "" };
        let start = span.start - first + prefix.len();
        let place = Place {
            origin: format!("{file}:{number}:{column}:"),
            line: format!("{prefix}{}{suffix}", &line[first..end]),
            span: start..start + span.end.min(end) - span.start,
        };
        Failure::Usage { message: self.message, place: Some(place) }
    }
}

impl Member {
    /// Creates an error that underlines the value.
    pub(crate) fn wrong(&self, message: impl Into<String>) -> LineError {
        LineError::new(message, self.place.clone())
    }
}

/// Calls `parse` with each nonempty line of a file and the line's number. The path `-` means
/// standard input.
pub(crate) fn for_each_line(
    path: &Path,
    mut parse: impl FnMut(&str, usize) -> Result<(), LineError>,
) -> Result<(), Failure> {
    let (path, mut reader) = if path == Path::new("-") {
        (Path::new("stdin"), pavior::files::stdin(files::lines())?)
    } else {
        (path, files::open(path)?)
    };
    let name = files::shown(path);
    let mut bytes = Vec::new();
    for number in 1usize.. {
        bytes.clear();
        let read = reader.read_until(b'\n', &mut bytes);
        if read.map_err(|error| FileError::read(path, error))? == 0 {
            break;
        }
        let (line, invalid) = match std::str::from_utf8(&bytes) {
            Ok(line) => (line.into(), None),
            Err(error) => (String::from_utf8_lossy(&bytes), Some(error.valid_up_to())),
        };
        let line = line.trim_end();
        let parsed = match invalid {
            Some(at) => Err(LineError::new("not UTF-8 text", at..at)),
            None if line.is_empty() => Ok(()),
            None => parse(line, number),
        };
        parsed.map_err(|error| error.in_line(&name, number, line))?;
    }
    Ok(())
}

/// Returns the byte position of a JSON error in its line.
pub(crate) fn error_position(error: &serde_json::Error, line: &str) -> usize {
    line.floor_char_boundary(error.column().saturating_sub(1))
}

/// Returns the range of the key that ends at a position, perhaps with white space after it.
fn key_before(line: &str, at: usize) -> Range<usize> {
    let end = line[..line.ceil_char_boundary(at + 1)].trim_end().len();
    let is_escaped = |quote| (quote - line[..quote].trim_end_matches('\\').len()) % 2 == 1;
    let mut quotes = line[..end.saturating_sub(1)].rmatch_indices('"');
    quotes.find(|(quote, _)| !is_escaped(*quote)).map_or(at, |(quote, _)| quote)..end
}

/// An object in a line.
pub(crate) struct LineObject<'l> {
    pub(crate) line: &'l str,
    members: Vec<Member>,
    /// The position of the object in the line.
    pub(crate) span: Range<usize>,
}

impl<'l> LineObject<'l> {
    /// Parses a line, rejecting repeated keys. Error messages quote `expected`.
    pub(crate) fn parse(line: &'l str, expected: &str) -> Result<LineObject<'l>, LineError> {
        let start = line.len() - line.trim_start().len();
        let span = start..line.len();
        json::check(line.as_bytes()).map_err(|error| {
            let (at, reason) = (error_position(&error, line), json::reason(&error));
            // A repeated key is an error in the data.
            if error.is_data() {
                return LineError::new(reason, key_before(line, at));
            }
            LineError::new(format!("not JSON: {reason}"), at..at)
        })?;
        if !line[start..].starts_with('{') {
            return Err(LineError::new(
                format!("each line must be an object of the form {expected}"),
                span,
            ));
        }
        Ok(LineObject::at(line, span))
    }

    /// Returns the object at a position. Any other value is treated as an object without members.
    pub(crate) fn at(line: &'l str, span: Range<usize>) -> LineObject<'l> {
        LineObject { line, members: located::members(line, &span), span }
    }

    /// Checks that all keys are in `known` or `others`. The error message lists only `known`.
    pub(crate) fn check_keys(&self, known: &[&str], others: &[&str]) -> Result<(), LineError> {
        let is_known = |key: &str| known.iter().chain(others).any(|other| *other == key);
        match self.members.iter().find(|member| !is_known(&member.key)) {
            None => Ok(()),
            Some(member) => {
                let (key, known) = (shown(&member.key), known.join(", "));
                let message = format!("unknown key \"{key}\"; the valid keys are {known}");
                Err(LineError::new(message, member.key_place.clone()))
            }
        }
    }

    pub(crate) fn find(&self, key: &str) -> Option<&Member> {
        self.members.iter().find(|member| member.key == key)
    }

    pub(crate) fn require(&self, key: &str) -> Result<&Member, LineError> {
        let missing = || LineError::new(format!("missing \"{key}\""), self.span.clone());
        self.find(key).ok_or_else(missing)
    }

    /// Parses the value of a member.
    pub(crate) fn value(&self, member: &Member) -> Value {
        // `parse` has checked the whole line, so this cannot fail.
        serde_json::from_str(&self.line[member.place.clone()]).unwrap_or_default()
    }

    /// Returns a member, unless it is missing or `null`.
    pub(crate) fn given(&self, key: &str) -> Option<&Member> {
        self.find(key).filter(|member| !self.value(member).is_null())
    }

    /// Parses a value that may be missing or `null`.
    pub(crate) fn optional<T>(
        &self,
        key: &str,
        requirement: &str,
        parse: impl Fn(&Value) -> Option<T>,
    ) -> Result<Option<T>, LineError> {
        let Some(member) = self.given(key) else { return Ok(None) };
        let wrong = || member.wrong(format!("\"{key}\" {requirement}"));
        parse(&self.value(member)).map(Some).ok_or_else(wrong)
    }

    /// Parses the name of a job: an integer or a string.
    pub(crate) fn job_name(&self, job: &Member) -> Result<Value, LineError> {
        let name = self.value(job);
        if name.is_string() || name.is_i64() || name.is_u64() {
            return Ok(name);
        }
        Err(job.wrong("\"job\" must be an integer or a string"))
    }
}
