//! A checksum that is identical on all platforms.

use std::fmt;

/// A CRC-64/XZ checksum, displayed as 16 hexadecimal digits. It detects every change confined to
/// eight consecutive bytes and almost every other change, but does not protect against tampering.
///
/// ```
/// # use pavior_kernel as pavior;
/// let mut sum = pavior::Checksum::default();
/// sum.add(b"1234");
/// sum.add(b"56789");
/// assert_eq!(sum.to_string(), "995dc9bbdf1939fa");
/// ```
#[derive(Clone, Default)]
pub struct Checksum(crc64fast::Digest);

impl Checksum {
    /// Computes the checksum of a byte slice.
    pub fn of(bytes: &[u8]) -> Checksum {
        let mut sum = Checksum::default();
        sum.add(bytes);
        sum
    }

    /// Adds bytes to the checksum.
    pub fn add(&mut self, bytes: &[u8]) {
        self.0.write(bytes);
    }

    /// Returns the checksum as a number.
    pub fn value(&self) -> u64 {
        self.0.sum64()
    }
}

impl fmt::Display for Checksum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.value())
    }
}
