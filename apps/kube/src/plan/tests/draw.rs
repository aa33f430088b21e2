//! Deterministic pseudorandom numbers.

pub(super) struct Draw(u64);

impl Draw {
    /// Creates a generator. Skips the first numbers, which are similar for similar seeds.
    pub(super) fn new(seed: u64) -> Draw {
        let mut draw = Draw(seed);
        for _ in 0..8 {
            draw.below(2);
        }
        draw
    }

    /// Returns a number below a bound.
    pub(super) fn below(&mut self, bound: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % bound.max(1)
    }
}
