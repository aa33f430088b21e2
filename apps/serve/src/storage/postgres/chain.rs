//! Chained checksums of database rows.

use crate::storage::frame;

/// A row's checksum: the CRC-64/XZ of the previous row's sum, the row's number, and its record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Chain(pub(super) i64);

impl Chain {
    pub(super) const START: Chain = Chain(0);

    /// Returns the next row's checksum.
    pub(super) fn then(self, seq: u64, record: &str) -> Chain {
        let mut bytes = Vec::with_capacity(16 + record.len());
        bytes.extend(self.0.to_le_bytes());
        bytes.extend(seq.to_le_bytes());
        bytes.extend(record.as_bytes());
        Chain(frame::sum(&bytes) as i64)
    }
}
