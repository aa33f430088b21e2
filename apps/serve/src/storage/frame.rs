//! How a group of records lies in a file, and how damage is told from a write that power cut short.
//!
//! ```text
//! frame   magic 4 | body bytes 4 | first seq 8 | records 4 | 0 4 | CRC of these 8 | body | CRC of body 8
//! ```
//!
//! Numbers are little endian, CRCs are CRC-64/XZ. A frame is written by one call and made durable
//! before the next one is written, so that only the last frame of the last file can be one that was
//! never acknowledged. A frame that is wrong is **damage** if a right one follows it, or if turning
//! one single bit makes it right: a write that was cut short lacks sectors, it does not lack a bit.
//! Otherwise it is a tail that was never acknowledged. (That 64 bits agree by chance has a
//! probability of at most 2^-40 even for a tail of 1 MiB, and then the answer is to refuse.)

const MAGIC: [u8; 4] = *b"pvj1";
/// The polynomial of CRC-64/XZ, reflected.
const POLYNOMIAL: u64 = 0xc96c_5795_d787_0f42;
const HEADER: usize = 32;
const SUM: usize = 8;

/// The CRC-64/XZ of bytes. It guards snapshots, too.
pub fn sum(bytes: &[u8]) -> u64 {
    let mut digest = crc64fast::Digest::new();
    digest.write(bytes);
    digest.sum64()
}

/// A frame of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame<'a> {
    /// The number of its first record.
    pub first: u64,
    /// The number of its records; 0 in a seal, which says that all before it was acknowledged.
    pub count: u32,
    /// The records, a line of JSON each.
    pub body: &'a [u8],
}

impl Frame<'_> {
    /// The frame's bytes in its file.
    pub fn bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(HEADER + self.body.len() + SUM);
        bytes.extend(MAGIC);
        bytes.extend((self.body.len() as u32).to_le_bytes());
        bytes.extend(self.first.to_le_bytes());
        bytes.extend(self.count.to_le_bytes());
        bytes.extend([0; 4]);
        bytes.extend(sum(&bytes).to_le_bytes());
        bytes.extend(self.body);
        bytes.extend(sum(self.body).to_le_bytes());
        bytes
    }

    fn length(&self) -> usize {
        HEADER + self.body.len() + SUM
    }
}

/// What lies at an offset of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found<'a> {
    /// A frame, and where it ends.
    Frame(Frame<'a>, usize),
    /// The end of the file.
    End,
    /// A frame of which one bit is turned.
    Flipped,
    /// No frame.
    Nothing,
}

/// What lies at an offset.
pub fn at(bytes: &[u8], offset: usize) -> Found<'_> {
    let rest = &bytes[offset..];
    if rest.is_empty() {
        return Found::End;
    }
    let Some((header, rest)) = rest.split_at_checked(HEADER) else { return Found::Nothing };
    let (fields, stored) = header.split_at(HEADER - SUM);
    if sum(fields) != number(stored) {
        let flipped = one_bit(fields.len(), sum(fields) ^ number(stored));
        return if flipped { Found::Flipped } else { Found::Nothing };
    }
    if fields[..4] != MAGIC {
        return Found::Nothing;
    }
    let length = number(&fields[4..8]) as usize;
    let count = number(&fields[16..20]) as u32;
    let Some(rest) = rest.get(..length + SUM) else { return Found::Nothing };
    let (body, stored) = rest.split_at(length);
    if sum(body) != number(stored) {
        let flipped = one_bit(body.len(), sum(body) ^ number(stored));
        return if flipped { Found::Flipped } else { Found::Nothing };
    }
    let frame = Frame { first: number(&fields[8..16]), count, body };
    Found::Frame(frame, offset + frame.length())
}

/// Whether a right frame begins anywhere after an offset. O(n), for no other text has the magic.
pub fn follows(bytes: &[u8], offset: usize) -> bool {
    (offset + 1..bytes.len().saturating_sub(HEADER)).any(|start| {
        bytes[start..].starts_with(&MAGIC) && matches!(at(bytes, start), Found::Frame(..))
    })
}

/// A number of up to eight bytes.
fn number(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte))
}

/// Whether turning one bit of a text of so many bytes, or of its stored sum, explains the
/// difference between its sum and the stored one.
///
/// A CRC is linear: the difference that a bit makes depends only on how far it lies before the end.
/// The differences of all bits, from the last to the first, are the powers of x in the field, in
/// the reflected order of bits that CRC-64/XZ has.
fn one_bit(length: usize, difference: u64) -> bool {
    if difference.is_power_of_two() {
        return true;
    }
    // The difference of the very last bit, which is the highest one of the last byte.
    let mut power = POLYNOMIAL;
    for _ in 0..length * 8 {
        if power == difference {
            return true;
        }
        power = (power >> 1) ^ if power & 1 == 1 { POLYNOMIAL } else { 0 };
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sum_is_that_of_the_standard() {
        // The check value of the catalogue of CRCs.
        assert_eq!(sum(b"123456789"), 0x995d_c9bb_df19_39fa);
    }

    #[test]
    fn every_turned_bit_is_recognised() {
        let frame = Frame { first: 7, count: 2, body: b"{\"seq\":7}\n{\"seq\":8}\n" };
        let bytes = frame.bytes();
        assert_eq!(at(&bytes, 0), Found::Frame(frame, bytes.len()));
        for bit in 0..bytes.len() * 8 {
            let mut turned = bytes.clone();
            turned[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(at(&turned, 0), Found::Flipped, "bit {bit}");
        }
    }

    #[test]
    fn every_cut_is_a_tail() {
        let bytes = Frame { first: 7, count: 1, body: b"{\"seq\":7}\n" }.bytes();
        for length in 1..bytes.len() {
            assert_eq!(at(&bytes[..length], 0), Found::Nothing, "{length} bytes");
            let mut zeros = bytes[..length].to_vec();
            zeros.resize(bytes.len(), 0);
            assert_ne!(at(&zeros, 0), Found::End);
            assert!(!matches!(at(&zeros, 0), Found::Frame(..)), "{length} bytes and zeros");
        }
    }

    #[test]
    fn a_frame_behind_damage_is_found() {
        let frame = Frame { first: 7, count: 1, body: b"{\"seq\":7}\n" }.bytes();
        let mut bytes = vec![0; 100];
        bytes.extend(&frame);
        assert!(follows(&bytes, 0));
        assert!(!follows(&bytes[..bytes.len() - 1], 0));
    }
}
