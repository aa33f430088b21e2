//! Eight numbers or sixteen bytes side by side, as one vector register holds them.
//!
//! Each operation is a loop over an array of a fixed length, which the compiler makes one or few
//! vector instructions of. No operation needs instructions of one architecture.
//!
//! Cost: O(1) instructions an operation.

use std::ops::{Add, BitAnd, BitOr, Not, Sub};

/// Eight whole numbers. A condition is -1 in the lanes where it holds, and 0 elsewhere.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(16))]
pub(super) struct Lanes([i16; Lanes::COUNT]);

impl Lanes {
    pub(super) const COUNT: usize = 8;
    pub(super) const ZERO: Lanes = Lanes([0; Lanes::COUNT]);

    /// One number in all lanes.
    #[inline(always)]
    pub(super) fn splat(value: i16) -> Lanes {
        Lanes([value; Lanes::COUNT])
    }

    /// The number of a lane.
    #[inline(always)]
    pub(super) fn get(self, lane: usize) -> i16 {
        self.0[lane]
    }

    /// Changes the number of a lane.
    pub(super) fn set(&mut self, lane: usize, value: i16) {
        self.0[lane] = value;
    }

    #[inline(always)]
    fn with(self, other: Lanes, of: impl Fn(i16, i16) -> i16) -> Lanes {
        let mut all = [0; Lanes::COUNT];
        for (to, (a, b)) in all.iter_mut().zip(self.0.into_iter().zip(other.0)) {
            *to = of(a, b);
        }
        Lanes(all)
    }

    /// Where the number is less than the other.
    #[inline(always)]
    pub(super) fn less(self, other: Lanes) -> Lanes {
        self.with(other, |a, b| -i16::from(a < b))
    }

    /// Where the number is greater than 0.
    #[inline(always)]
    pub(super) fn positive(self) -> Lanes {
        Lanes::ZERO.less(self)
    }

    /// Where the two are equal.
    #[inline(always)]
    pub(super) fn same(self, other: Lanes) -> Lanes {
        self.with(other, |a, b| -i16::from(a == b))
    }

    /// The greater of the two.
    #[inline(always)]
    pub(super) fn max(self, other: Lanes) -> Lanes {
        self.with(other, i16::max)
    }

    /// The lesser of the two.
    #[inline(always)]
    pub(super) fn min(self, other: Lanes) -> Lanes {
        self.with(other, i16::min)
    }

    /// The difference of unsigned numbers, at least 0.
    #[inline(always)]
    pub(super) fn unsigned_less(self, other: Lanes) -> Lanes {
        self.with(other, |a, b| (a as u16).saturating_sub(b as u16) as i16)
    }

    /// The greatest number.
    #[inline(always)]
    pub(super) fn greatest(self) -> i16 {
        self.0.into_iter().fold(i16::MIN, i16::max)
    }

    /// The low bytes, the first lane's lowest.
    #[inline(always)]
    pub(super) fn bytes(self) -> u64 {
        u64::from_le_bytes(self.0.map(|number| number as u8))
    }
}

impl Add for Lanes {
    type Output = Lanes;
    #[inline(always)]
    fn add(self, other: Lanes) -> Lanes {
        self.with(other, i16::wrapping_add)
    }
}

impl Sub for Lanes {
    type Output = Lanes;
    #[inline(always)]
    fn sub(self, other: Lanes) -> Lanes {
        self.with(other, i16::wrapping_sub)
    }
}

impl BitAnd for Lanes {
    type Output = Lanes;
    #[inline(always)]
    fn bitand(self, other: Lanes) -> Lanes {
        self.with(other, |a, b| a & b)
    }
}

impl BitOr for Lanes {
    type Output = Lanes;
    #[inline(always)]
    fn bitor(self, other: Lanes) -> Lanes {
        self.with(other, |a, b| a | b)
    }
}

impl Not for Lanes {
    type Output = Lanes;
    #[inline(always)]
    fn not(self) -> Lanes {
        Lanes(self.0.map(|number| !number))
    }
}

/// Sixteen bytes.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(16))]
pub(super) struct Bytes([u8; 16]);

impl Bytes {
    pub(super) const ZERO: Bytes = Bytes([0; 16]);

    /// The bytes of two words, the lowest first.
    #[inline(always)]
    pub(super) fn new(words: [u64; 2]) -> Bytes {
        let mut all = [0; 16];
        all[..8].copy_from_slice(&words[0].to_le_bytes());
        all[8..].copy_from_slice(&words[1].to_le_bytes());
        Bytes(all)
    }

    #[inline(always)]
    fn with(self, other: Bytes, of: impl Fn(u8, u8) -> u8) -> Bytes {
        let mut all = [0; 16];
        for (to, (a, b)) in all.iter_mut().zip(self.0.into_iter().zip(other.0)) {
            *to = of(a, b);
        }
        Bytes(all)
    }

    /// Where the byte is 0: all its bits; 0 elsewhere.
    #[inline(always)]
    pub(super) fn zeros(self) -> Bytes {
        self.with(Bytes::ZERO, |a, b| u8::from(a == b).wrapping_neg())
    }

    /// Whether any bit is set.
    #[inline(always)]
    pub(super) fn any(self) -> bool {
        u128::from_le_bytes(self.0) != 0
    }

    /// The lowest bit of each byte, the first byte's lowest.
    #[inline(always)]
    pub(super) fn lowest_bits(self) -> u32 {
        let all = u128::from_le_bytes(self.0);
        let of = |word: u64| {
            // Each product of two bits stands where no other does, but in the highest byte.
            (word & 0x0101_0101_0101_0101).wrapping_mul(0x0102_0408_1020_4080) >> 56
        };
        (of(all as u64) | of((all >> 64) as u64) << 8) as u32
    }
}

impl BitAnd for Bytes {
    type Output = Bytes;
    #[inline(always)]
    fn bitand(self, other: Bytes) -> Bytes {
        self.with(other, |a, b| a & b)
    }
}

impl BitOr for Bytes {
    type Output = Bytes;
    #[inline(always)]
    fn bitor(self, other: Bytes) -> Bytes {
        self.with(other, |a, b| a | b)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_operation_is_that_of_its_numbers() {
        let (a, b) =
            (Lanes([3, -1, 0, 7, i16::MAX, i16::MIN, 5, -9]), Lanes([4, -1, 2, 7, 1, 1, -5, 0]));
        assert_eq!(a.less(b).0, [-1, 0, -1, 0, 0, -1, 0, -1]);
        assert_eq!(a.positive().0, [-1, 0, 0, -1, -1, 0, -1, 0]);
        assert_eq!(a.same(b).0, [0, -1, 0, -1, 0, 0, 0, 0]);
        assert_eq!(a.max(b).0, [4, -1, 2, 7, i16::MAX, 1, 5, 0]);
        assert_eq!(a.min(b).0, [3, -1, 0, 7, 1, i16::MIN, -5, -9]);
        assert_eq!((a + b).0, [7, -2, 2, 14, i16::MIN, -32_767, 0, -9]);
        assert_eq!((a - b).0, [-1, 0, -2, 0, 32_766, i16::MAX, 10, -9]);
        assert_eq!((a & b).0, [0, -1, 0, 7, 1, 0, 1, 0]);
        assert_eq!((a | b).0, [7, -1, 2, 7, i16::MAX, -32_767, -1, -9]);
        assert_eq!((!a).0, [-4, 0, -1, -8, i16::MIN, i16::MAX, -6, 8]);
        // -1 is the greatest unsigned number.
        assert_eq!(a.unsigned_less(b).0, [0, 0, 0, 0, 32_766, 32_767, 0, -9]);
        assert_eq!((a.greatest(), a.get(3)), (i16::MAX, 7));
        assert_eq!(Lanes([1, -1, 2, 0, 0, 0, 0, 0x1ff]).bytes(), 0xff00_0000_0002_ff01);
    }

    #[test]
    fn bytes_are_those_of_their_words() {
        let a = Bytes::new([0xff00_0000_0000_0101, 0x8000_0000_0000_00fe]);
        let b = Bytes::new([0x0f00_0000_0000_0100, 0x8000_0000_0000_0001]);
        assert_eq!((a & b).0, [0, 1, 0, 0, 0, 0, 0, 0x0f, 0, 0, 0, 0, 0, 0, 0, 0x80]);
        assert_eq!((a | b).0, [1, 1, 0, 0, 0, 0, 0, 0xff, 0xff, 0, 0, 0, 0, 0, 0, 0x80]);
        assert_eq!(a.zeros().lowest_bits(), 0b0111_1110_0111_1100);
        assert!(a.any() && !Bytes::ZERO.any());
        // The lowest bits alone: not that of 0xfe, nor that of 0x80.
        assert_eq!(a.lowest_bits(), 0b1000_0011);
        for bit in 0..16 {
            let one = 1_u128 << (8 * bit);
            assert_eq!(Bytes::new([one as u64, (one >> 64) as u64]).lowest_bits(), 1 << bit);
        }
    }
}
