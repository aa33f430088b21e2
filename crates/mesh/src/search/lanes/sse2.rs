//! The operations as instructions of SSE2.

use bytemuck::cast;
use safe_arch::{
    add_i16_m128i, bitand_m128i, bitandnot_m128i, bitor_m128i, cmp_eq_mask_i8_m128i,
    cmp_eq_mask_i16_m128i, cmp_gt_mask_i16_m128i, extract_i16_as_i32_m128i, m128i, max_i16_m128i,
    min_i16_m128i, move_mask_i8_m128i, pack_i16_to_i8_m128i, shl_all_u64_m128i, shr_all_u64_m128i,
    shr_imm_u32_m128i, shuffle_ai_f32_all_m128i, sub_i16_m128i, sub_saturating_u16_m128i,
};

pub(super) type Vector = m128i;

#[inline(always)]
pub(super) fn add(a: Vector, b: Vector) -> Vector {
    add_i16_m128i(a, b)
}

#[inline(always)]
pub(super) fn sub(a: Vector, b: Vector) -> Vector {
    sub_i16_m128i(a, b)
}

#[inline(always)]
pub(super) fn greatest(a: Vector, b: Vector) -> Vector {
    max_i16_m128i(a, b)
}

#[inline(always)]
pub(super) fn least(a: Vector, b: Vector) -> Vector {
    min_i16_m128i(a, b)
}

#[inline(always)]
pub(super) fn greater(a: Vector, b: Vector) -> Vector {
    cmp_gt_mask_i16_m128i(a, b)
}

#[inline(always)]
pub(super) fn equal_shorts(a: Vector, b: Vector) -> Vector {
    cmp_eq_mask_i16_m128i(a, b)
}

#[inline(always)]
pub(super) fn equal_bytes(a: Vector, b: Vector) -> Vector {
    cmp_eq_mask_i8_m128i(a, b)
}

#[inline(always)]
pub(super) fn minus_or_zero(a: Vector, b: Vector) -> Vector {
    sub_saturating_u16_m128i(a, b)
}

#[inline(always)]
pub(super) fn narrow(a: Vector, b: Vector) -> Vector {
    pack_i16_to_i8_m128i(a, b)
}

#[inline(always)]
pub(super) fn and(a: Vector, b: Vector) -> Vector {
    bitand_m128i(a, b)
}

#[inline(always)]
pub(super) fn or(a: Vector, b: Vector) -> Vector {
    bitor_m128i(a, b)
}

#[inline(always)]
pub(super) fn not(a: Vector) -> Vector {
    bitandnot_m128i(a, cast([u64::MAX; 2]))
}

#[inline(always)]
pub(super) fn shift_left(a: Vector, bits: u32) -> Vector {
    shl_all_u64_m128i(a, cast([u64::from(bits), 0]))
}

#[inline(always)]
pub(super) fn shift_right(a: Vector, bits: u32) -> Vector {
    shr_all_u64_m128i(a, cast([u64::from(bits), 0]))
}

#[inline(always)]
pub(super) fn signs(a: Vector) -> u32 {
    move_mask_i8_m128i(a) as u32
}

#[inline(always)]
pub(super) fn most(a: Vector) -> i16 {
    // Four of eight, two of four, one of two.
    let four = greatest(a, shuffle_ai_f32_all_m128i::<0b01_00_11_10>(a));
    let two = greatest(four, shuffle_ai_f32_all_m128i::<0b11_10_00_01>(four));
    let one = greatest(two, shr_imm_u32_m128i::<16>(two));
    extract_i16_as_i32_m128i::<0>(one) as i16
}
