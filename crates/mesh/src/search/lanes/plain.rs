//! The vector operations in plain Rust, for other architectures and for tests.

use bytemuck::{Pod, cast};

/// Sixteen bytes, as two words.
pub(super) type Vector = [u64; 2];

pub(super) const ZERO: Vector = [0; 2];

/// Applies a function to each pair of lanes.
#[inline(always)]
fn by_lane<T: Pod, const N: usize>(a: Vector, b: Vector, of: impl Fn(T, T) -> T) -> Vector
where
    [T; N]: Pod,
{
    let (a, b): ([T; N], [T; N]) = (cast(a), cast(b));
    cast::<[T; N], Vector>(std::array::from_fn(|lane| of(a[lane], b[lane])))
}

/// Defines functions on two vectors from functions on two lanes.
macro_rules! functions {
    ($($name:ident: $lane:ty, $lanes:literal, $of:expr;)*) => {
        $(
            #[inline(always)]
            pub(super) fn $name(a: Vector, b: Vector) -> Vector {
                by_lane::<$lane, $lanes>(a, b, $of)
            }
        )*
    };
}

functions! {
    add: i16, 8, i16::wrapping_add;
    sub: i16, 8, i16::wrapping_sub;
    saturating_sub_unsigned: u16, 8, u16::saturating_sub;
    min: i16, 8, Ord::min;
    max: i16, 8, Ord::max;
    greater: i16, 8, |a, b| -i16::from(a > b);
    equal: i16, 8, |a, b| -i16::from(a == b);
    equal_bytes: i8, 16, |a, b| -i8::from(a == b);
    and: u64, 2, |a, b| a & b;
    or: u64, 2, |a, b| a | b;
    xor: u64, 2, |a, b| a ^ b;
}

/// Converts sixteen numbers to bytes, with saturation.
#[inline(always)]
pub(super) fn narrow(low: Vector, high: Vector) -> Vector {
    let numbers: [i16; 16] = cast([low, high]);
    cast(numbers.map(|number| number.clamp(i8::MIN.into(), i8::MAX.into()) as i8))
}

#[inline(always)]
pub(super) fn greatest(v: Vector) -> i16 {
    cast::<Vector, [i16; 8]>(v).into_iter().fold(i16::MIN, i16::max)
}

/// Returns the highest bit of each byte.
#[inline(always)]
pub(super) fn first_bits(v: Vector) -> u32 {
    let bytes: [u8; 16] = cast(v);
    (0..16).fold(0, |bits, lane| bits | u32::from(bytes[lane] >> 7) << lane)
}

#[inline(always)]
pub(super) fn shift_left(v: Vector, bits: u32) -> Vector {
    v.map(|word| word << bits)
}

#[inline(always)]
pub(super) fn shift_right(v: Vector, bits: u32) -> Vector {
    v.map(|word| word >> bits)
}
