//! Vectors of numbers: eight of 16 bits, sixteen of 8, four of 64.
//!
//! Every x86-64 processor has vectors of 16 bytes, and each operation here is one of their
//! instructions, or two. Elsewhere it is a loop over the numbers, `plain.rs`, which says what the
//! instructions do. A function compiled for AVX2 joins neighbouring vectors by itself.
//!
//! Invariant: `sse2.rs` and `plain.rs` have the same functions with the same answers.

#[cfg(any(test, not(target_arch = "x86_64")))]
mod plain;
#[cfg(target_arch = "x86_64")]
mod sse2;

use std::ops::{Add, AddAssign, BitAnd, BitAndAssign, BitOr, BitOrAssign, Not, Shl, Shr, Sub};

use bytemuck::{cast, cast_mut, cast_ref};

#[cfg(not(target_arch = "x86_64"))]
use plain as instructions;
#[cfg(target_arch = "x86_64")]
use sse2 as instructions;

use instructions::Vector;

/// Eight numbers of 16 bits. A comparison answers with all ones where it holds, zeros elsewhere.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Shorts(Vector);

impl Shorts {
    /// The same number eight times.
    #[inline(always)]
    pub(super) fn splat(value: i16) -> Shorts {
        Shorts(cast([value; 8]))
    }

    /// One of the numbers.
    #[inline(always)]
    pub(super) fn get(&self, lane: usize) -> i16 {
        cast_ref::<Vector, [i16; 8]>(&self.0)[lane]
    }

    /// Replaces one of the numbers.
    #[inline(always)]
    pub(super) fn set(&mut self, lane: usize, value: i16) {
        cast_mut::<Vector, [i16; 8]>(&mut self.0)[lane] = value;
    }

    #[inline(always)]
    pub(super) fn max(self, other: Shorts) -> Shorts {
        Shorts(instructions::greatest(self.0, other.0))
    }

    #[inline(always)]
    pub(super) fn min(self, other: Shorts) -> Shorts {
        Shorts(instructions::least(self.0, other.0))
    }

    #[inline(always)]
    pub(super) fn less(self, than: Shorts) -> Shorts {
        Shorts(instructions::greater(than.0, self.0))
    }

    #[inline(always)]
    pub(super) fn greater(self, than: Shorts) -> Shorts {
        Shorts(instructions::greater(self.0, than.0))
    }

    #[inline(always)]
    pub(super) fn equal(self, other: Shorts) -> Shorts {
        Shorts(instructions::equal_shorts(self.0, other.0))
    }

    /// The difference of numbers taken as unsigned; 0 where it would be below.
    #[inline(always)]
    pub(super) fn minus_or_zero(self, other: Shorts) -> Shorts {
        Shorts(instructions::minus_or_zero(self.0, other.0))
    }

    /// The greatest of the numbers.
    #[inline(always)]
    pub(super) fn most(self) -> i16 {
        instructions::most(self.0)
    }

    /// The first bit of each number, from the lowest bit on.
    #[inline(always)]
    pub(super) fn signs(self) -> u32 {
        self.narrow(self).signs() & 0xff
    }

    /// These numbers and eight more, 8 bits each. They must be answers of comparisons.
    #[inline(always)]
    pub(super) fn narrow(self, more: Shorts) -> Bytes {
        Bytes(instructions::narrow(self.0, more.0))
    }
}

impl Add for Shorts {
    type Output = Shorts;

    #[inline(always)]
    fn add(self, other: Shorts) -> Shorts {
        Shorts(instructions::add(self.0, other.0))
    }
}

impl AddAssign for Shorts {
    #[inline(always)]
    fn add_assign(&mut self, other: Shorts) {
        *self = *self + other;
    }
}

impl Sub for Shorts {
    type Output = Shorts;

    #[inline(always)]
    fn sub(self, other: Shorts) -> Shorts {
        Shorts(instructions::sub(self.0, other.0))
    }
}

/// Sixteen numbers of 8 bits.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Bytes(Vector);

impl Bytes {
    /// Eight numbers from each word, the lowest first.
    #[inline(always)]
    pub(super) fn of_words(words: [u64; 2]) -> Bytes {
        Bytes(cast(words))
    }

    /// The numbers as words.
    #[inline(always)]
    pub(super) fn words(self) -> [u64; 2] {
        cast(self.0)
    }

    /// All ones where a number is 0.
    #[inline(always)]
    pub(super) fn are_zero(self) -> Bytes {
        Bytes(instructions::equal_bytes(self.0, Vector::default()))
    }

    /// The first bit of each number, from the lowest bit on.
    #[inline(always)]
    pub(super) fn signs(self) -> u32 {
        instructions::signs(self.0)
    }
}

/// Four words.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(32))]
pub(super) struct Words([Vector; 2]);

impl Words {
    #[inline(always)]
    pub(super) fn new(words: [u64; 4]) -> Words {
        Words(cast(words))
    }

    /// The same word four times.
    #[inline(always)]
    pub(super) fn splat(word: u64) -> Words {
        Words::new([word; 4])
    }

    #[inline(always)]
    pub(super) fn to_array(self) -> [u64; 4] {
        cast(self.0)
    }

    #[inline(always)]
    fn with(self, other: Words, of: impl Fn(Vector, Vector) -> Vector) -> Words {
        Words([of(self.0[0], other.0[0]), of(self.0[1], other.0[1])])
    }
}

impl Shr<u32> for Words {
    type Output = Words;

    /// Each word shifted by fewer than 64 bits.
    #[inline(always)]
    fn shr(self, bits: u32) -> Words {
        Words(self.0.map(|two| instructions::shift_right(two, bits)))
    }
}

impl Shl<u32> for Words {
    type Output = Words;

    /// Each word shifted by fewer than 64 bits.
    #[inline(always)]
    fn shl(self, bits: u32) -> Words {
        Words(self.0.map(|two| instructions::shift_left(two, bits)))
    }
}

impl BitAnd for Words {
    type Output = Words;

    #[inline(always)]
    fn bitand(self, other: Words) -> Words {
        self.with(other, instructions::and)
    }
}

impl BitOr for Words {
    type Output = Words;

    #[inline(always)]
    fn bitor(self, other: Words) -> Words {
        self.with(other, instructions::or)
    }
}

/// The operations on bits, which know no numbers.
macro_rules! bits {
    ($kind:ident) => {
        impl BitAnd for $kind {
            type Output = $kind;

            #[inline(always)]
            fn bitand(self, other: $kind) -> $kind {
                $kind(instructions::and(self.0, other.0))
            }
        }

        impl BitOr for $kind {
            type Output = $kind;

            #[inline(always)]
            fn bitor(self, other: $kind) -> $kind {
                $kind(instructions::or(self.0, other.0))
            }
        }

        impl Not for $kind {
            type Output = $kind;

            #[inline(always)]
            fn not(self) -> $kind {
                $kind(instructions::not(self.0))
            }
        }

        impl BitAndAssign for $kind {
            #[inline(always)]
            fn bitand_assign(&mut self, other: $kind) {
                *self = *self & other;
            }
        }

        impl BitOrAssign for $kind {
            #[inline(always)]
            fn bitor_assign(&mut self, other: $kind) {
                *self = *self | other;
            }
        }
    };
}

bits!(Shorts);
bits!(Bytes);

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use proptest::prelude::*;

    use super::*;

    type Words = [u64; 2];

    proptest! {
        /// The instructions answer as the loops do.
        #[test]
        fn instructions_do_what_the_loops_say(a: Words, b: Words, bits in 0_u32..64) {
            let [left, right]: [sse2::Vector; 2] = [cast(a), cast(b)];
            macro_rules! agree {
                ($($name:ident)*) => {$(
                    prop_assert_eq!(
                        cast::<sse2::Vector, Words>(sse2::$name(left, right)),
                        plain::$name(a, b),
                        "{}",
                        stringify!($name)
                    );
                )*};
            }
            agree!(add sub greatest least greater equal_shorts equal_bytes minus_or_zero);
            agree!(and or narrow);
            let one = |vector: sse2::Vector| cast::<sse2::Vector, Words>(vector);
            prop_assert_eq!(one(sse2::not(left)), plain::not(a));
            prop_assert_eq!(one(sse2::shift_left(left, bits)), plain::shift_left(a, bits));
            prop_assert_eq!(one(sse2::shift_right(left, bits)), plain::shift_right(a, bits));
            prop_assert_eq!(sse2::most(left), plain::most(a));
            prop_assert_eq!(sse2::signs(left), plain::signs(a));
        }
    }
}
