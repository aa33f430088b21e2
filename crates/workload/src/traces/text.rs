//! Lines of bytes, their columns, and numbers in them.
//!
//! Logs have hundreds of thousands of lines. One buffer is reused for all, and only lines with
//! errors are converted to text.

use std::io::{BufRead, Read};
use std::ops::Range;

use super::error::{LineError, ReadError};

/// The maximum length of a line in a job log. The limit keeps a binary file out of memory.
const LONGEST_LINE: usize = 1 << 16;

/// The lines of a reader.
pub(crate) struct Lines<R> {
    reader: R,
    /// The number of lines read so far, and the number of the current one, from 1.
    pub(crate) number: u64,
    buffer: Vec<u8>,
    longest: usize,
}

impl<R: BufRead> Lines<R> {
    pub(crate) fn new(reader: R) -> Lines<R> {
        Lines { reader, number: 0, buffer: Vec::with_capacity(256), longest: LONGEST_LINE }
    }

    /// Allows lines of up to 1 MiB, in formats that name every node of a job.
    pub(crate) fn with_long_lines(self) -> Lines<R> {
        Lines { longest: 16 * LONGEST_LINE, ..self }
    }

    /// Reads the next line. Returns false at the end.
    pub(crate) fn advance(&mut self) -> Result<bool, ReadError> {
        self.buffer.clear();
        let read = (&mut self.reader)
            .take(self.longest as u64 + 1)
            .read_until(b'\n', &mut self.buffer)
            .map_err(|source| ReadError::Io { line: self.number, source })?;
        if read == 0 {
            return Ok(false);
        }
        self.number += 1;
        if read > self.longest {
            let reason = format!("the line is longer than {} bytes: not a job log", self.longest);
            return Err(LineError::new(self.number, &self.buffer, 0..1, reason).into());
        }
        if let Some(at) = self.line().iter().position(|&byte| byte == b'\r') {
            let reason = "a carriage return within the line; lines end with \\n or \\r\\n";
            return Err(LineError::new(self.number, self.line(), at..at + 1, reason).into());
        }
        Ok(true)
    }

    /// Returns the current line without its end, and without the byte-order mark of a Unicode text.
    pub(crate) fn line(&self) -> &[u8] {
        let line = self.buffer.strip_suffix(b"\n").unwrap_or(&self.buffer);
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if self.number == 1 { line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line) } else { line }
    }
}

/// Finds the columns of a line, at most `places.len()`, and returns their number.
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

/// Parses a decimal number: an optional sign, digits, and an optional point and exponent. Words for
/// infinity and for not-a-number are rejected.
pub(crate) fn number(token: &[u8]) -> Option<f64> {
    let (negative, digits) = match token {
        [b'-', rest @ ..] => (true, rest),
        _ => (false, token),
    };
    // Integers of up to 15 digits, which nearly all numbers are, are exact in a float.
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
