//! Lines of bytes, split into columns and parsed as numbers.
//!
//! A log may have hundreds of thousands of lines. A single buffer is therefore reused, and lines
//! are converted to text only if they contain an error.

use std::io::BufRead;
use std::ops::Range;

use super::error::{LineError, ReadError};

/// The maximum length of a line in a job log. Prevents a binary file from filling memory.
const LONGEST_LINE: usize = 1 << 16;

/// The byte-order mark that some programs write at the start of UTF-8 text.
pub(crate) const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// The maximum number of lines (such as warnings) to skip before a log.
pub(crate) const MOST_IN_FRONT: u64 = 50;

/// A reader of lines, with a buffer for the current line.
pub struct Lines<R> {
    reader: R,
    /// The number of lines read so far, which is also the current line number, starting from 1.
    pub number: u64,
    buffer: Vec<u8>,
    longest: usize,
    /// True if the last line ended with a carriage return, in which case a newline may follow.
    after_return: bool,
}

impl<R: BufRead> Lines<R> {
    /// Splits a reader's text into lines. Lines end with `\n`, `\r\n` or `\r`.
    pub fn new(reader: R) -> Lines<R> {
        let buffer = Vec::with_capacity(256);
        Lines { reader, number: 0, buffer, longest: LONGEST_LINE, after_return: false }
    }

    /// Allows lines of up to 1 MiB, for formats in which one line lists all nodes of a job.
    #[must_use]
    pub fn with_long_lines(self) -> Lines<R> {
        Lines { longest: 16 * LONGEST_LINE, ..self }
    }

    /// Reads the next line. Returns false at the end of the input.
    ///
    /// # Errors
    /// Returns an error if the reader fails, or if the line is too long.
    pub fn advance(&mut self) -> Result<bool, ReadError> {
        self.buffer.clear();
        let mut is_whole = false;
        let io = |source| ReadError::Io { line: self.number, source };
        while !is_whole && self.buffer.len() <= self.longest {
            let mut text = self.reader.fill_buf().map_err(io)?;
            if text.is_empty() {
                break;
            }
            if self.after_return && text[0] == b'\n' {
                self.reader.consume(1);
                self.after_return = false;
                continue;
            }
            text = &text[..text.len().min(self.longest + 1 - self.buffer.len())];
            let end = text.iter().position(|byte| b"\r\n".contains(byte));
            let length = end.map_or(text.len(), |at| at + 1);
            self.buffer.extend_from_slice(&text[..length]);
            self.after_return = self.buffer.ends_with(b"\r");
            is_whole = end.is_some();
            self.reader.consume(length);
        }
        if self.buffer.is_empty() {
            return Ok(false);
        }
        self.number += 1;
        if self.buffer.len() > self.longest {
            let reason = format!("not a job log: the line is longer than {} bytes", self.longest);
            return Err(LineError::new(self.number, &self.buffer, 0..1, reason).into());
        }
        Ok(true)
    }

    /// Returns the current line without its line ending or byte-order mark.
    pub fn line(&self) -> &[u8] {
        let end = self.buffer.strip_suffix(b"\n").or(self.buffer.strip_suffix(b"\r"));
        let line = end.unwrap_or(&self.buffer);
        if self.number == 1 { line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line) } else { line }
    }
}

/// Returns a comment's text if the line starts with `;`, `#`, `%` or `//`, and `None` for any other
/// line. A blank line is an empty comment.
pub(crate) fn comment(line: &[u8]) -> Option<&[u8]> {
    match line.trim_ascii_start() {
        [] => Some(&[]),
        [b';' | b'#' | b'%', text @ ..] | [b'/', b'/', text @ ..] => Some(text),
        _ => None,
    }
}

/// Returns true if text starts with a UTF-16 byte-order mark, or if every other byte in it is zero.
pub(crate) fn is_utf16(begin: &[u8]) -> bool {
    let has_mark = begin.starts_with(b"\xff\xfe") || begin.starts_with(b"\xfe\xff");
    let is_zero = |at: usize| begin.get(at).map(|&byte| byte == 0);
    let zeros = [0, 1, 2, 3].map(is_zero);
    let [odd, even] = [[false, true, false, true], [true, false, true, false]];
    has_mark || zeros == odd.map(Some) || zeros == even.map(Some)
}

/// Finds up to `places.len()` columns on a line, and returns the number found.
pub(crate) fn columns(line: &[u8], places: &mut [Range<usize>]) -> usize {
    let (mut at, mut found) = (0, 0);
    while found < places.len() {
        while at < line.len() && line[at].is_ascii_whitespace() {
            at += 1;
        }
        if at == line.len() {
            break;
        }
        let start = at;
        while at < line.len() && !line[at].is_ascii_whitespace() {
            at += 1;
        }
        places[found] = start..at;
        found += 1;
    }
    found
}

/// Parses a decimal number that may have a sign, a decimal point and an exponent. Infinity and NaN
/// are rejected.
pub(crate) fn number(token: &[u8]) -> Option<f64> {
    let (negative, digits) = match token {
        [b'-', rest @ ..] => (true, rest),
        _ => (false, token),
    };
    // Nearly all numbers are integers of up to 15 digits, which a float represents exactly.
    if (1..=15).contains(&digits.len()) && digits.iter().all(u8::is_ascii_digit) {
        let whole = digits.iter().fold(0i64, |n, digit| n * 10 + i64::from(digit - b'0'));
        return Some(if negative { -whole } else { whole } as f64);
    }
    let legal = |c: &u8| c.is_ascii_digit() || b"+-.eE".contains(c);
    if !token.iter().all(legal) {
        return None;
    }
    std::str::from_utf8(token).ok()?.parse().ok().filter(|value: &f64| value.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers() {
        for (text, expected) in [
            ("0", Some(0.0)),
            ("-1", Some(-1.0)),
            ("+7", Some(7.0)),
            ("552.21", Some(552.21)),
            ("1e3", Some(1000.0)),
            ("123456789012345678", Some(123_456_789_012_345_680.0)),
            ("", None),
            ("-", None),
            ("abc", None),
            ("1a", None),
            ("nan", None),
            ("inf", None),
            ("1e999", None),
            ("0x10", None),
            ("1,5", None),
        ] {
            assert_eq!(number(text.as_bytes()), expected, "{text}");
        }
    }

    #[test]
    fn columns_are_found_up_to_the_room() {
        let mut places = [const { 0..0 }; 3];
        assert_eq!(columns(b"  1\t22 ", &mut places), 2);
        assert_eq!(places[..2], [2..3, 4..6]);
        assert_eq!(columns(b"a b c d", &mut places), 3);
        assert_eq!(columns(b" ", &mut places), 0);
    }
}
