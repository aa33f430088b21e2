//! The operations as loops.

use bytemuck::cast;

pub(super) type Vector = [u64; 2];

#[inline(always)]
fn shorts(a: Vector, b: Vector, of: impl Fn(i16, i16) -> i16) -> Vector {
    let [a, b]: [[i16; 8]; 2] = [cast(a), cast(b)];
    cast::<[i16; 8], Vector>(std::array::from_fn(|lane| of(a[lane], b[lane])))
}

#[inline(always)]
pub(super) fn add(a: Vector, b: Vector) -> Vector {
    shorts(a, b, i16::wrapping_add)
}

#[inline(always)]
pub(super) fn sub(a: Vector, b: Vector) -> Vector {
    shorts(a, b, i16::wrapping_sub)
}

#[inline(always)]
pub(super) fn greatest(a: Vector, b: Vector) -> Vector {
    shorts(a, b, i16::max)
}

#[inline(always)]
pub(super) fn least(a: Vector, b: Vector) -> Vector {
    shorts(a, b, i16::min)
}

#[inline(always)]
pub(super) fn greater(a: Vector, b: Vector) -> Vector {
    shorts(a, b, |a, b| -i16::from(a > b))
}

#[inline(always)]
pub(super) fn equal_shorts(a: Vector, b: Vector) -> Vector {
    shorts(a, b, |a, b| -i16::from(a == b))
}

#[inline(always)]
pub(super) fn equal_bytes(a: Vector, b: Vector) -> Vector {
    let [a, b]: [[i8; 16]; 2] = [cast(a), cast(b)];
    cast::<[i8; 16], Vector>(std::array::from_fn(|lane| -i8::from(a[lane] == b[lane])))
}

#[inline(always)]
pub(super) fn minus_or_zero(a: Vector, b: Vector) -> Vector {
    shorts(a, b, |a, b| (a as u16).saturating_sub(b as u16) as i16)
}

#[inline(always)]
pub(super) fn narrow(a: Vector, b: Vector) -> Vector {
    let all: [i16; 16] = cast([a, b]);
    let narrow = |value: i16| value.clamp(i8::MIN.into(), i8::MAX.into()) as i8;
    cast::<[i8; 16], Vector>(all.map(narrow))
}

#[inline(always)]
pub(super) fn and(a: Vector, b: Vector) -> Vector {
    [a[0] & b[0], a[1] & b[1]]
}

#[inline(always)]
pub(super) fn or(a: Vector, b: Vector) -> Vector {
    [a[0] | b[0], a[1] | b[1]]
}

#[inline(always)]
pub(super) fn not(a: Vector) -> Vector {
    a.map(|word| !word)
}

#[inline(always)]
pub(super) fn shift_left(a: Vector, bits: u32) -> Vector {
    a.map(|word| word << bits)
}

#[inline(always)]
pub(super) fn shift_right(a: Vector, bits: u32) -> Vector {
    a.map(|word| word >> bits)
}

#[inline(always)]
pub(super) fn signs(a: Vector) -> u32 {
    let bytes: [i8; 16] = cast(a);
    (0..16).fold(0, |signs, lane| signs | u32::from(bytes[lane] < 0) << lane)
}

#[inline(always)]
pub(super) fn most(a: Vector) -> i16 {
    cast::<Vector, [i16; 8]>(a).into_iter().fold(i16::MIN, i16::max)
}
