//! A digest of bytes that is the same on every processor.

use std::fmt;

/// FNV-1a with 64 bits: it finds every change of a single byte and nearly every other, and is no
/// defence against malice. Displayed as 16 hexadecimal digits. One multiplication a byte.
///
/// Source: Fowler, Noll & Vo (1991), draft-eastlake-fnv.
///
/// ```
/// let mut digest = pavior_kernel::Digest::new();
/// digest.add(b"a");
/// assert_eq!(digest.to_string(), "af63dc4c8601ec8c");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Digest(u64);

impl Digest {
    /// The digest of nothing.
    pub const fn new() -> Digest {
        Digest(0xcbf2_9ce4_8422_2325)
    }

    /// The digest of these bytes.
    pub fn of(bytes: &[u8]) -> Digest {
        let mut digest = Digest::new();
        digest.add(bytes);
        digest
    }

    /// Adds bytes.
    pub fn add(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    /// The digest as a number.
    pub const fn value(self) -> u64 {
        self.0
    }
}

impl Default for Digest {
    fn default() -> Digest {
        Digest::new()
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}
