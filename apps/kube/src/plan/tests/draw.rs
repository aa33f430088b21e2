//! Deterministic pseudorandom numbers.

use pavior::Stream;

pub(super) struct Draw(Stream);

impl Draw {
    pub(super) fn new(seed: u64) -> Draw {
        Draw(Stream::new(seed, 0, "tests"))
    }

    /// Returns a number below a bound.
    pub(super) fn below(&mut self, bound: usize) -> usize {
        self.0.below(bound as u64) as usize
    }
}
