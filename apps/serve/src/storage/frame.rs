//! The on-disk format for a group of records. It distinguishes damage from a truncated write.
//!
//! ```text
//! magic 4 | body bytes 4 | first seq 8 | records 4 | 0 4 | CRC of these 8 | body | CRC of body 8
//! ```
//! Numbers are little endian, and CRCs are CRC-64/XZ. A frame is written in one call and made
//! durable before the next frame is written, so only the last frame in the last file can be
//! unacknowledged. An invalid frame counts as **damage** if a valid frame follows it, or if
//! flipping a single bit would make it valid: a truncated write lacks entire sectors, not single
//! bits. Any other invalid frame may be an unacknowledged tail, provided it is no longer than one
//! write ([`Tail`]). Even for a 1 MiB tail, the probability that 64 bits match by chance, which
//! would cause the file to be rejected, is at most 2^-40.
//!
//! Two kinds of frames contain no records:
//! - the **format**, which is the first frame in a file and has a number that no record has;
//! - an **announcement** of the next frame's size, if that size exceeds [`MAX_UNANNOUNCED`] bytes.

const MAGIC: [u8; 4] = *b"pvj1";
/// The common prefix of all formats' magic numbers, which continue with a digit.
const MAGIC_FAMILY: &[u8] = b"pvj";
/// The placeholder for the record number in a format frame.
const NO_RECORD: u64 = u64::MAX;
/// The beginning of the format frame's body, up to the format number.
const FORMAT_PREFIX: &str = "pavior journal, format ";
/// The format number.
const FORMAT: u32 = 2;
/// The maximum size, in bytes, of a frame that has not been announced.
pub const MAX_UNANNOUNCED: usize = 1 << 20;
/// The polynomial of CRC-64/XZ, reflected.
const POLYNOMIAL: u64 = 0xc96c_5795_d787_0f42;
const HEADER: usize = 32;
const SUM: usize = 8;

/// Returns the CRC-64/XZ checksum of `bytes`, which is also used for snapshots.
pub fn sum(bytes: &[u8]) -> u64 {
    pavior::Checksum::of(bytes).value()
}

/// A frame in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame<'a> {
    /// The number of the frame's first record.
    pub first: u64,
    /// The number of records in the frame.
    pub count: u32,
    /// The records, one line of JSON each.
    pub body: &'a [u8],
}

/// The kind of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameKind {
    /// The frame contains records.
    Records,
    /// The file has this program's format.
    Format,
    /// The file's format is unknown to this program.
    OtherFormat,
    /// The next frame has this many bytes.
    Announcement(usize),
    /// Any other frame, such as a mark.
    Other,
}

/// Returns the format frame that begins every file.
pub fn format() -> Vec<u8> {
    let body = format!("{FORMAT_PREFIX}{FORMAT}\n");
    Frame { first: NO_RECORD, count: 0, body: body.as_bytes() }.bytes()
}

/// Returns a frame that announces the size of the next one.
pub fn announcement(first: u64, bytes: usize) -> Vec<u8> {
    Frame { first, count: 0, body: format!("{bytes}\n").as_bytes() }.bytes()
}

impl Frame<'_> {
    /// Returns the frame as stored in a file.
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

    /// Returns the frame's kind.
    pub fn kind(&self) -> FrameKind {
        let text = || std::str::from_utf8(self.body).ok()?.strip_suffix('\n');
        if self.first == NO_RECORD {
            let number = text().and_then(|text| text.strip_prefix(FORMAT_PREFIX));
            return match number.map(str::parse) {
                Some(Ok(FORMAT)) => FrameKind::Format,
                _ => FrameKind::OtherFormat,
            };
        }
        if self.count > 0 {
            return FrameKind::Records;
        }
        let bytes = text().and_then(|text| text.parse().ok());
        bytes.map_or(FrameKind::Other, FrameKind::Announcement)
    }
}

/// The content of a file at an offset, as found by [`at`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found<'a> {
    /// A frame and its end offset.
    Frame(Frame<'a>, usize),
    /// The end of the file.
    End,
    /// A frame with one flipped bit.
    Flipped,
    /// A frame in a format unknown to this program.
    Foreign,
    /// Not a frame.
    NoFrame,
}

/// Reads the content at an offset.
pub fn at(bytes: &[u8], offset: usize) -> Found<'_> {
    let rest = &bytes[offset..];
    if rest.is_empty() {
        return Found::End;
    }
    let Some((header, rest)) = rest.split_at_checked(HEADER) else {
        return if is_foreign(rest) { Found::Foreign } else { Found::NoFrame };
    };
    let (fields, stored) = header.split_at(HEADER - SUM);
    if sum(fields) != number(stored) {
        return match is_one_bit(fields.len(), sum(fields) ^ number(stored)) {
            true => Found::Flipped,
            false if is_foreign(fields) => Found::Foreign,
            false => Found::NoFrame,
        };
    }
    if fields[..4] != MAGIC {
        // The header's checksum is correct, but its format is unknown.
        return Found::Foreign;
    }
    let length = number(&fields[4..8]) as usize;
    let count = number(&fields[16..20]) as u32;
    let Some(rest) = rest.get(..length + SUM) else { return Found::NoFrame };
    let (body, stored) = rest.split_at(length);
    if sum(body) != number(stored) {
        let flipped = is_one_bit(body.len(), sum(body) ^ number(stored));
        return if flipped { Found::Flipped } else { Found::NoFrame };
    }
    let frame = Frame { first: number(&fields[8..16]), count, body };
    Found::Frame(frame, offset + frame.length())
}

/// Returns true if the bytes begin like a frame in another format.
fn is_foreign(bytes: &[u8]) -> bool {
    let digit = bytes.strip_prefix(MAGIC_FAMILY).and_then(|rest| rest.first());
    digit.is_some_and(|digit| digit.is_ascii_digit() && *digit != MAGIC[3])
}

/// Context for the bytes after a file's last frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tail {
    /// True if no frame precedes these bytes.
    pub is_at_start: bool,
    /// The announced size of the write, if there was an announcement.
    pub announced: Option<usize>,
}

impl Tail {
    /// Returns the maximum number of bytes that a single truncated write can leave behind.
    pub fn max_bytes(self, bytes: &[u8]) -> usize {
        if self.is_at_start {
            return format().len();
        }
        if let Some((header, _)) = bytes.split_at_checked(HEADER) {
            let (fields, stored) = header.split_at(HEADER - SUM);
            if sum(fields) == number(stored) && fields[..4] == MAGIC {
                // The header is complete and contains the size.
                return HEADER + number(&fields[4..8]) as usize + SUM;
            }
        }
        self.announced.unwrap_or(MAX_UNANNOUNCED)
    }
}

/// Returns true if a valid frame begins anywhere after an offset. Takes O(n) time: records may
/// contain the magic, but their text contains no header with a valid checksum.
pub fn follows(bytes: &[u8], offset: usize) -> bool {
    (offset + 1..bytes.len().saturating_sub(HEADER)).any(|start| {
        bytes[start..].starts_with(&MAGIC) && matches!(at(bytes, start), Found::Frame(..))
    })
}

/// Decodes a little-endian number of up to eight bytes.
fn number(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte))
}

/// Returns true if the difference between the computed and the stored checksum can be explained by
/// a single flipped bit, either in `length` bytes or in their stored checksum. Since a CRC is
/// linear, a bit's effect depends only on its distance from the end. From the last bit to the
/// first, the differences are the powers of x in the field, in CRC-64/XZ's reflected bit order.
fn is_one_bit(length: usize, difference: u64) -> bool {
    if difference.is_power_of_two() {
        return true;
    }
    // The difference for the last bit, which is the highest bit of the last byte.
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
    fn the_checksum_equals_the_standard_check_value() {
        assert_eq!(sum(b"123456789"), 0x995d_c9bb_df19_39fa);
    }

    #[test]
    fn a_frame_with_any_one_bit_flipped_is_reported_as_flipped() {
        let frame = Frame { first: 7, count: 2, body: b"{\"seq\":7}\n{\"seq\":8}\n" };
        let bytes = frame.bytes();
        assert_eq!(at(&bytes, 0), Found::Frame(frame, bytes.len()));
        for bit in 0..bytes.len() * 8 {
            let mut flipped = bytes.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(at(&flipped, 0), Found::Flipped, "bit {bit}");
        }
    }

    #[test]
    fn a_frame_cut_at_any_length_is_no_frame() {
        let bytes = Frame { first: 7, count: 1, body: b"{\"seq\":7}\n" }.bytes();
        for length in 1..bytes.len() {
            assert_eq!(at(&bytes[..length], 0), Found::NoFrame, "{length} bytes");
            let mut zeros = bytes[..length].to_vec();
            zeros.resize(bytes.len(), 0);
            assert_ne!(at(&zeros, 0), Found::End);
            assert!(!matches!(at(&zeros, 0), Found::Frame(..)), "{length} bytes and zeros");
        }
    }

    #[test]
    fn the_tail_of_a_truncated_write_is_bounded() {
        let bytes = Frame { first: 7, count: 1, body: b"{\"seq\":7}\n" }.bytes();
        let tail = Tail { is_at_start: false, announced: None };
        assert_eq!(
            tail.max_bytes(&bytes[..bytes.len() - 1]),
            bytes.len(),
            "the header contains the size"
        );
        assert_eq!(tail.max_bytes(&[0; 100]), MAX_UNANNOUNCED);
        assert_eq!(Tail { announced: Some(7 << 20), ..tail }.max_bytes(&[0; 100]), 7 << 20);
        let first = Tail { is_at_start: true, announced: None };
        assert_eq!(first.max_bytes(&[9; 100]), format().len());
    }

    #[test]
    fn other_formats_are_distinguished_from_this_one() {
        let mut bytes = Frame { first: 7, count: 1, body: b"{\"seq\":7}\n" }.bytes();
        bytes[3] = b'2';
        let header_sum = sum(&bytes[..HEADER - SUM]).to_le_bytes();
        bytes[HEADER - SUM..HEADER].copy_from_slice(&header_sum);
        assert_eq!(at(&bytes, 0), Found::Foreign);
        assert_eq!(at(b"pvj2", 0), Found::Foreign);
        let later = Frame { first: NO_RECORD, count: 0, body: b"pavior journal, format 3\n" };
        assert_eq!(later.kind(), FrameKind::OtherFormat);
        let bytes = format();
        let Found::Frame(frame, _) = at(&bytes, 0) else { panic!("the bytes are a frame") };
        assert_eq!(frame.kind(), FrameKind::Format);
        let bytes = announcement(7, 2 << 20);
        let Found::Frame(large, _) = at(&bytes, 0) else { panic!("the bytes are a frame") };
        assert_eq!(large.kind(), FrameKind::Announcement(2 << 20));
    }

    #[test]
    fn a_frame_after_damage_is_found() {
        let frame = Frame { first: 7, count: 1, body: b"{\"seq\":7}\n" }.bytes();
        let mut bytes = vec![0; 100];
        bytes.extend(&frame);
        assert!(follows(&bytes, 0));
        assert!(!follows(&bytes[..bytes.len() - 1], 0));
    }
}
