//! Limits the size of inputs, so that reading them uses a bounded amount of memory.

use std::io::{self, BufRead, BufReader, Read};

use memchr::{memchr_iter, memrchr};

use crate::Limits;

/// A buffered reader that returns at most [`Limits::total`] bytes and no line longer than
/// [`Limits::line`]. Exceeding either limit causes an `InvalidData` error that states the limit
/// and, if a line is too long, its number. The bytes up to the limit are still returned.
pub struct Bounded {
    inner: BufReader<Box<dyn Read>>,
    limits: Limits,
    /// The number of bytes returned so far, of which `in_line` belong to the current line.
    given: u64,
    in_line: u64,
    /// The number of line endings returned so far.
    ends: u64,
}

impl Bounded {
    /// Wraps a reader.
    pub fn new(reader: Box<dyn Read>, limits: Limits) -> Bounded {
        let inner = BufReader::with_capacity(1 << 16, reader);
        Bounded { inner, limits, given: 0, in_line: 0, ends: 0 }
    }

    /// Returns the current line number, starting from 1.
    pub fn line(&self) -> u64 {
        self.ends + 1
    }

    fn too_long(&self) -> io::Error {
        let Limits { line, total } = self.limits;
        let text = if self.given >= total {
            format!("the input is longer than {} (raise the limit with --max-input)", size(total))
        } else {
            format!("line {} is longer than {}", self.line(), size(line))
        };
        io::Error::new(io::ErrorKind::InvalidData, text)
    }
}

impl BufRead for Bounded {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        let room = self.limits.total.saturating_sub(self.given);
        let room_in_line = self.limits.line.saturating_sub(self.in_line);
        let next = self.inner.fill_buf()?.first().copied();
        match next {
            None => return Ok(&[]),
            Some(byte) if room == 0 || (room_in_line == 0 && byte != b'\n') => {
                return Err(self.too_long());
            }
            Some(_) => {}
        }
        let buffer = self.inner.buffer();
        let length = (buffer.len() as u64).min(room).min(room_in_line.max(1));
        Ok(&buffer[..length as usize])
    }

    fn consume(&mut self, amount: usize) {
        let piece = &self.inner.buffer()[..amount];
        match memrchr(b'\n', piece) {
            Some(last) => {
                self.ends += memchr_iter(b'\n', piece).count() as u64;
                self.in_line = (amount - last - 1) as u64;
            }
            None => self.in_line += amount as u64,
        }
        self.given += amount as u64;
        self.inner.consume(amount);
    }
}

impl Read for Bounded {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let available = self.fill_buf()?;
        let length = available.len().min(into.len());
        into[..length].copy_from_slice(&available[..length]);
        self.consume(length);
        Ok(length)
    }
}

/// Formats a byte count, for example as `512 MiB`.
fn size(bytes: u64) -> String {
    match bytes {
        bytes if bytes >= 1 << 20 && bytes % (1 << 20) == 0 => format!("{} MiB", bytes >> 20),
        bytes if bytes >= 1 << 10 && bytes % (1 << 10) == 0 => format!("{} KiB", bytes >> 10),
        bytes => format!("{bytes} bytes"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &'static [u8], line: u64, total: u64) -> Result<Vec<u8>, String> {
        let mut out = Vec::new();
        let mut reader = Bounded::new(Box::new(bytes), Limits { line, total });
        reader.read_to_end(&mut out).map(|_| out).map_err(|error| error.to_string())
    }

    #[test]
    fn what_fits_is_given_and_no_byte_more() {
        assert_eq!(read(b"ab\ncd\n", 3, 6), Ok(b"ab\ncd\n".to_vec()));
        assert_eq!(read(b"ab\ncd", 2, 5), Ok(b"ab\ncd".to_vec()));
        assert!(
            read(b"ab\ncde\n", 2, 99).unwrap_err().starts_with("line 2 is longer than 2 bytes")
        );
        assert!(
            read(b"ab\ncd\n", 9, 5).unwrap_err().starts_with("the input is longer than 5 bytes")
        );
        assert_eq!(read(b"", 1, 0), Ok(Vec::new()));
    }

    #[test]
    fn an_endless_input_ends() {
        let mut reader = Bounded::new(Box::new(io::repeat(0)), Limits::LINES);
        let mut line = Vec::new();
        let error = reader.read_until(b'\n', &mut line).unwrap_err();
        assert_eq!(error.to_string(), "line 1 is longer than 1 MiB");
        let mut reader = Bounded::new(Box::new(io::repeat(b'\n')), Limits { line: 9, total: 4096 });
        let error = io::copy(&mut reader, &mut io::sink()).unwrap_err();
        assert!(error.to_string().contains("4 KiB"));
    }
}
