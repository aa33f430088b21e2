//! Tests that compare the vector instructions with plain Rust.

use bytemuck::cast;
use proptest::prelude::*;

use super::{plain, sse2};

/// Generates two vectors, as words. Many lanes contain values that are small or close to a limit.
fn vectors() -> impl Strategy<Value = [[u64; 2]; 2]> {
    let lane = prop_oneof![
        any::<i16>(),
        -2..3i16,
        prop_oneof![Just(i16::MIN), Just(i16::MAX), -129..-126i16, 126..129i16]
    ];
    prop::array::uniform16(lane).prop_map(cast)
}

proptest! {
    #[test]
    fn the_instructions_compute_what_plain_rust_does([a, b] in vectors(), bits in 0..64u32) {
        let (v, w): (sse2::Vector, sse2::Vector) = (cast(a), cast(b));
        let words = |vector: sse2::Vector| -> [u64; 2] { cast(vector) };
        prop_assert_eq!(words(sse2::ZERO), plain::ZERO);
        prop_assert_eq!(words(sse2::add(v, w)), plain::add(a, b));
        prop_assert_eq!(words(sse2::sub(v, w)), plain::sub(a, b));
        prop_assert_eq!(
            words(sse2::saturating_sub_unsigned(v, w)),
            plain::saturating_sub_unsigned(a, b)
        );
        prop_assert_eq!(words(sse2::min(v, w)), plain::min(a, b));
        prop_assert_eq!(words(sse2::max(v, w)), plain::max(a, b));
        prop_assert_eq!(words(sse2::greater(v, w)), plain::greater(a, b));
        prop_assert_eq!(words(sse2::equal(v, w)), plain::equal(a, b));
        prop_assert_eq!(words(sse2::equal_bytes(v, w)), plain::equal_bytes(a, b));
        prop_assert_eq!(words(sse2::and(v, w)), plain::and(a, b));
        prop_assert_eq!(words(sse2::or(v, w)), plain::or(a, b));
        prop_assert_eq!(words(sse2::xor(v, w)), plain::xor(a, b));
        prop_assert_eq!(words(sse2::narrow(v, w)), plain::narrow(a, b));
        prop_assert_eq!(sse2::greatest(v), plain::greatest(a));
        prop_assert_eq!(sse2::first_bits(v), plain::first_bits(a));
        prop_assert_eq!(words(sse2::shift_left(v, bits)), plain::shift_left(a, bits));
        prop_assert_eq!(words(sse2::shift_right(v, bits)), plain::shift_right(a, bits));
    }
}
