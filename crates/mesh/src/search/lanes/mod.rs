//! Vectors of 16 bytes (eight numbers, sixteen bytes or two words), whose lanes are processed
//! together.
//!
//! This module contains only the operations needed here. On every x86-64 processor, an operation
//! takes one or two instructions, and code that uses the operation is also compiled for wider
//! vectors. On other architectures, an operation is a loop over an array. Tests check that both
//! implementations agree.
//!
//! Each lane of a mask is all ones for true or all zeros for false.

use std::fmt;
use std::ops::{Add, AddAssign, BitAnd, BitAndAssign, BitOr, BitOrAssign, Not, Sub};

#[cfg(any(test, not(target_arch = "x86_64")))]
mod plain;
#[cfg(target_arch = "x86_64")]
mod sse2;

#[cfg(not(target_arch = "x86_64"))]
use plain as instructions;
#[cfg(target_arch = "x86_64")]
use sse2 as instructions;

use instructions::Vector;

/// Eight 16-bit numbers. Sums wrap around.
#[derive(Clone, Copy)]
pub(super) struct I16x8(Vector);

#[derive(Clone, Copy)]
pub(super) struct U8x16(Vector);

#[derive(Clone, Copy)]
pub(super) struct U64x2(Vector);

/// Implements an operator for a vector type, using a function from `instructions`.
macro_rules! operator {
    ($vector:ident, $operator:ident, $method:ident, $function:ident) => {
        impl $operator for $vector {
            type Output = $vector;

            #[inline(always)]
            fn $method(self, other: $vector) -> $vector {
                $vector(instructions::$function(self.0, other.0))
            }
        }
    };
    ($vector:ident, $operator:ident, $method:ident = $plain:ident) => {
        impl $operator for $vector {
            #[inline(always)]
            fn $method(&mut self, other: $vector) {
                *self = self.$plain(other);
            }
        }
    };
}

operator!(I16x8, Add, add, add);
operator!(I16x8, AddAssign, add_assign = add);
operator!(I16x8, Sub, sub, sub);
operator!(I16x8, BitAnd, bitand, and);
operator!(I16x8, BitAndAssign, bitand_assign = bitand);
operator!(I16x8, BitOr, bitor, or);
operator!(U8x16, BitAnd, bitand, and);
operator!(U8x16, BitOr, bitor, or);
operator!(U8x16, BitOrAssign, bitor_assign = bitor);
operator!(U64x2, BitAnd, bitand, and);
operator!(U64x2, BitOr, bitor, or);

impl Not for I16x8 {
    type Output = I16x8;

    #[inline(always)]
    fn not(self) -> I16x8 {
        I16x8(instructions::xor(self.0, I16x8::splat(-1).0))
    }
}

impl Default for I16x8 {
    #[inline(always)]
    fn default() -> I16x8 {
        I16x8::ZERO
    }
}

impl fmt::Debug for I16x8 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_array().fmt(f)
    }
}

impl I16x8 {
    pub(super) const ZERO: I16x8 = I16x8(instructions::ZERO);

    #[inline(always)]
    pub(super) fn splat(value: i16) -> I16x8 {
        I16x8(bytemuck::cast([value; 8]))
    }

    #[inline(always)]
    pub(super) fn as_array(&self) -> &[i16; 8] {
        bytemuck::cast_ref(&self.0)
    }

    #[inline(always)]
    pub(super) fn as_mut_array(&mut self) -> &mut [i16; 8] {
        bytemuck::cast_mut(&mut self.0)
    }

    /// Returns a mask of the lanes in which `self` is less than `other`.
    #[inline(always)]
    pub(super) fn simd_lt(self, other: I16x8) -> I16x8 {
        other.simd_gt(self)
    }

    /// Returns a mask of the lanes in which `self` is greater than `other`.
    #[inline(always)]
    pub(super) fn simd_gt(self, other: I16x8) -> I16x8 {
        I16x8(instructions::greater(self.0, other.0))
    }

    /// Returns a mask of the lanes in which `self` is equal to `other`.
    #[inline(always)]
    pub(super) fn simd_eq(self, other: I16x8) -> I16x8 {
        I16x8(instructions::equal(self.0, other.0))
    }

    #[inline(always)]
    pub(super) fn min(self, other: I16x8) -> I16x8 {
        I16x8(instructions::min(self.0, other.0))
    }

    #[inline(always)]
    pub(super) fn max(self, other: I16x8) -> I16x8 {
        I16x8(instructions::max(self.0, other.0))
    }

    /// Subtracts the lanes as unsigned numbers. Negative results become 0.
    #[inline(always)]
    pub(super) fn saturating_sub_unsigned(self, other: I16x8) -> I16x8 {
        I16x8(instructions::saturating_sub_unsigned(self.0, other.0))
    }

    /// Returns the greatest lane.
    #[inline(always)]
    pub(super) fn reduce_max(self) -> i16 {
        instructions::greatest(self.0)
    }

    /// Returns one bit per lane of a mask.
    #[inline(always)]
    pub(super) fn to_bitmask(self) -> u32 {
        // A vector of zeros as the other half would take up a register in every loop.
        self.narrow(self).to_bitmask() & 0xff
    }

    /// Combines two eight-lane masks into a sixteen-lane mask.
    #[inline(always)]
    pub(super) fn narrow(self, high: I16x8) -> U8x16 {
        U8x16(instructions::narrow(self.0, high.0))
    }
}

impl U8x16 {
    pub(super) const ZERO: U8x16 = U8x16(instructions::ZERO);

    /// Creates a vector from two words of eight bytes.
    #[inline(always)]
    pub(super) fn from_words(words: [u64; 2]) -> U8x16 {
        U8x16(bytemuck::cast(words))
    }

    /// Returns two words of eight bytes.
    #[inline(always)]
    pub(super) fn to_words(self) -> [u64; 2] {
        bytemuck::cast(self.0)
    }

    /// Returns a mask of the lanes that are 0.
    #[inline(always)]
    pub(super) fn is_zero(self) -> U8x16 {
        U8x16(instructions::equal_bytes(self.0, U8x16::ZERO.0))
    }

    /// Returns one bit per lane of a mask.
    #[inline(always)]
    pub(super) fn to_bitmask(self) -> u32 {
        instructions::first_bits(self.0)
    }
}

impl U64x2 {
    #[inline(always)]
    pub(super) fn splat(word: u64) -> U64x2 {
        U64x2::new([word; 2])
    }

    #[inline(always)]
    pub(super) fn new(words: [u64; 2]) -> U64x2 {
        U64x2(bytemuck::cast(words))
    }

    #[inline(always)]
    pub(super) fn to_array(self) -> [u64; 2] {
        bytemuck::cast(self.0)
    }

    /// Shifts both words left by fewer than 64 bits.
    #[inline(always)]
    pub(super) fn shifted_left(self, bits: u32) -> U64x2 {
        U64x2(instructions::shift_left(self.0, bits))
    }

    /// Shifts both words right by fewer than 64 bits.
    #[inline(always)]
    pub(super) fn shifted_right(self, bits: u32) -> U64x2 {
        U64x2(instructions::shift_right(self.0, bits))
    }
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests;
