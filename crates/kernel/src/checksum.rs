//! A checksum of bytes that is the same on every processor.

use std::fmt;

/// CRC-64/XZ. It finds every change of up to eight bytes in a row and nearly every other, and is
/// no defence against malice. Displayed as 16 hexadecimal digits.
///
/// ```
/// let mut sum = pavior_kernel::Checksum::default();
/// sum.add(b"1234");
/// sum.add(b"56789");
/// assert_eq!(sum.to_string(), "995dc9bbdf1939fa");
/// ```
#[derive(Clone, Default)]
pub struct Checksum(crc64fast::Digest);

impl Checksum {
    /// The checksum of these bytes.
    pub fn of(bytes: &[u8]) -> Checksum {
        let mut sum = Checksum::default();
        sum.add(bytes);
        sum
    }

    /// Adds bytes.
    pub fn add(&mut self, bytes: &[u8]) {
        self.0.write(bytes);
    }

    /// The checksum as a number.
    pub fn value(&self) -> u64 {
        self.0.sum64()
    }
}

impl fmt::Display for Checksum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.value())
    }
}
