//! A line reader that can continue after a line that is too long.

use std::io::{self, BufRead};

use memchr::memchr;

/// The result of reading a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NextLine {
    /// The input has ended.
    End,
    /// A line was read in full, including the line ending.
    Whole,
    /// The line is too long and may have been read in part. The next read skips the rest.
    TooLong,
}

/// A reader for line-based protocols. It reports any line that is too long and can then continue
/// with the next line. Its memory use is bounded by the maximum line length.
pub struct Lines<R> {
    reader: R,
    longest: usize,
    number: u64,
    rest: bool,
}

impl<R: BufRead> Lines<R> {
    /// Wraps a reader. Lines may be at most `longest` bytes long, including the line ending.
    pub fn new(reader: R, longest: u64) -> Lines<R> {
        let longest = usize::try_from(longest).unwrap_or(usize::MAX);
        Lines { reader, longest, number: 0, rest: false }
    }

    /// Returns the number of the last line read, starting from 1.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// Reads the next line into `line`, replacing its contents.
    ///
    /// # Errors
    /// Returns an error if the reader fails.
    pub fn next_line(&mut self, line: &mut Vec<u8>) -> io::Result<NextLine> {
        line.clear();
        if self.rest {
            self.reader.skip_until(b'\n')?;
            self.rest = false;
        }
        loop {
            let available = match self.reader.fill_buf() {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                other => other?,
            };
            if available.is_empty() {
                return Ok(if line.is_empty() { NextLine::End } else { NextLine::Whole });
            }
            if line.is_empty() {
                self.number += 1;
            }
            let end = memchr(b'\n', available).map(|at| at + 1);
            let taken = end.unwrap_or(available.len());
            if line.len() + taken > self.longest {
                self.rest = true;
                return Ok(NextLine::TooLong);
            }
            line.extend_from_slice(&available[..taken]);
            self.reader.consume(taken);
            if end.is_some() {
                return Ok(NextLine::Whole);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::BufReader;

    use super::*;

    #[test]
    fn the_line_behind_one_that_is_too_long_is_read() {
        for capacity in 1..9 {
            let text = BufReader::with_capacity(capacity, &b"ab\ncdefg\n\nhi"[..]);
            let mut lines = Lines::new(text, 4);
            let mut line = Vec::new();
            let mut all = Vec::new();
            loop {
                let next = lines.next_line(&mut line).unwrap();
                if next == NextLine::End {
                    break;
                }
                let text = String::from_utf8(line.clone()).unwrap();
                let text = if next == NextLine::Whole { text } else { "…".to_string() };
                all.push((lines.number(), text));
            }
            let expected = [(1, "ab\n"), (2, "…"), (3, "\n"), (4, "hi")];
            let expected = expected.map(|(number, text)| (number, text.to_string()));
            assert_eq!(all, expected, "{capacity}");
        }
    }
}
