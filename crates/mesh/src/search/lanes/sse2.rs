//! Instructions that every x86-64 processor supports.

pub(super) use safe_arch::{
    add_i16_m128i as add, bitand_m128i as and, bitor_m128i as or, bitxor_m128i as xor,
    cmp_eq_mask_i8_m128i as equal_bytes, cmp_eq_mask_i16_m128i as equal,
    cmp_gt_mask_i16_m128i as greater, m128i as Vector, max_i16_m128i as max, min_i16_m128i as min,
    pack_i16_to_i8_m128i as narrow, sub_i16_m128i as sub,
    sub_saturating_u16_m128i as saturating_sub_unsigned,
};
use safe_arch::{
    extract_i16_as_i32_m128i, move_mask_i8_m128i, shl_all_u64_m128i, shr_all_u64_m128i,
    shr_imm_u32_m128i, shuffle_ai_f32_all_m128i,
};

pub(super) const ZERO: Vector = bytemuck::zeroed();

/// Returns the largest of eight numbers, by comparing halves, then quarters, then single lanes.
#[inline(always)]
pub(super) fn greatest(v: Vector) -> i16 {
    let halves = max(v, shuffle_ai_f32_all_m128i::<0b01_00_11_10>(v));
    let quarters = max(halves, shuffle_ai_f32_all_m128i::<0b11_10_00_01>(halves));
    let eighths = max(quarters, shr_imm_u32_m128i::<16>(quarters));
    extract_i16_as_i32_m128i::<0>(eighths) as i16
}

/// Returns the highest bit of each byte.
#[inline(always)]
pub(super) fn first_bits(v: Vector) -> u32 {
    move_mask_i8_m128i(v) as u32
}

#[inline(always)]
pub(super) fn shift_left(v: Vector, bits: u32) -> Vector {
    shl_all_u64_m128i(v, bytemuck::cast([u64::from(bits), 0]))
}

#[inline(always)]
pub(super) fn shift_right(v: Vector, bits: u32) -> Vector {
    shr_all_u64_m128i(v, bytemuck::cast([u64::from(bits), 0]))
}
