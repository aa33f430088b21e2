//! Named streams of random numbers.

use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64Dxsm;

/// A random number generator with a single purpose.
///
/// A stream's numbers depend only on the seed, the replication and the purpose. Two strategies
/// simulated with the same seed therefore see the same jobs, and adding a new consumer of random
/// numbers does not change the numbers drawn by the others (common random numbers).
///
/// The generator is PCG-64 DXSM (O'Neill 2014). It is named explicitly because a library's
/// "standard" generator may change. Distributions are sampled by inversion with `libm`, using one
/// draw per value, so the same seed produces the same bytes on every processor.
///
/// ```
/// # use pavior_kernel as pavior;
/// use pavior::Stream;
/// let mut a = Stream::new(1, 0, "arrivals");
/// let mut b = Stream::new(1, 0, "arrivals");
/// let mut c = Stream::new(1, 0, "sides");
/// let first = a.next_u64();
/// assert_eq!(first, b.next_u64());
/// assert_ne!(first, c.next_u64());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stream {
    generator: Pcg64Dxsm,
}

impl Stream {
    /// Creates the stream for `purpose` in a given replication.
    pub fn new(seed: u64, replication: u64, purpose: &str) -> Self {
        let mut state = mix(seed ^ 0x7061_7669_6f72_0001);
        state = mix(state ^ replication);
        for byte in purpose.bytes() {
            state = mix(state ^ u64::from(byte));
        }
        let mut key = [0u8; 32];
        for chunk in key.chunks_exact_mut(8) {
            state = mix(state);
            chunk.copy_from_slice(&state.to_le_bytes());
        }
        Stream { generator: Pcg64Dxsm::from_seed(key) }
    }

    /// Returns 64 random bits.
    pub fn next_u64(&mut self) -> u64 {
        self.generator.next_u64()
    }

    /// Returns a uniform number in [0, 1) with 53 random bits.
    pub fn unit(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// Returns a uniform integer in `0..bound`, using multiplication (Lemire 2019) without
    /// rejection. The bias is below `bound / 2^64`, and every value uses exactly one draw.
    ///
    /// Returns 0 if the bound is 0.
    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.next_u64()) * u128::from(bound)) >> 64) as u64
    }

    /// Returns a uniform integer in `low..=high`, or `low` if `high` is less than `low`.
    pub fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.below(high.saturating_sub(low).saturating_add(1))
    }

    /// Draws `count` items without replacement, or all items if there are fewer than `count`. Swaps
    /// the drawn items to the front in random order (Durstenfeld 1964) and returns the drawn items.
    /// Uses one draw per item.
    ///
    /// ```
    /// # use pavior_kernel as pavior;
    /// use pavior::Stream;
    /// let mut nodes = [0, 1, 2, 3, 4];
    /// let drawn = Stream::new(1, 0, "nodes").sample(&mut nodes, 2);
    /// assert_eq!(drawn.len(), 2);
    /// assert_ne!(drawn[0], drawn[1]);
    /// ```
    pub fn sample<'s, T>(&mut self, items: &'s mut [T], count: usize) -> &'s mut [T] {
        let count = count.min(items.len());
        for index in 0..count {
            let left = (items.len() - index) as u64;
            items.swap(index, index + self.below(left) as usize);
        }
        &mut items[..count]
    }

    /// Returns an exponentially distributed number with the given mean.
    pub fn exponential(&mut self, mean: f64) -> f64 {
        // 1 - unit() is in (0, 1], so the logarithm is finite.
        -mean * libm::log(1.0 - self.unit())
    }
}

/// Computes one step of SplitMix64 (Steele, Lea & Flood 2014): an increment followed by a
/// finalizer.
fn mix(state: u64) -> u64 {
    let mut z = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_numbers_are_pinned() {
        // Any change to these numbers would change every published result.
        let mut stream = Stream::new(1, 0, "arrivals");
        let first: Vec<u64> = (0..3).map(|_| stream.next_u64()).collect();
        assert_eq!(first, PINNED);
    }

    const PINNED: [u64; 3] =
        [7_198_556_794_146_397_341, 15_294_280_985_661_883_559, 11_574_639_187_351_636_865];

    #[test]
    fn means_are_right() {
        let mut stream = Stream::new(7, 3, "test");
        let n = 100_000;
        let mean = (0..n).map(|_| stream.exponential(5.0)).sum::<f64>() / f64::from(n);
        assert!((mean - 5.0).abs() < 0.08, "{mean}");
        let mean = (0..n).map(|_| stream.between(1, 8) as f64).sum::<f64>() / f64::from(n);
        assert!((mean - 4.5).abs() < 0.03, "{mean}");
    }

    #[test]
    fn every_order_is_sampled_as_often() {
        let mut stream = Stream::new(7, 3, "test");
        let mut counts = std::collections::BTreeMap::new();
        for _ in 0..12_000 {
            let mut items = [0, 1, 2, 3];
            *counts.entry(stream.sample(&mut items, 2).to_vec()).or_insert(0_i32) += 1;
            items.sort_unstable();
            assert_eq!(items, [0, 1, 2, 3]);
        }
        // Four items yield twelve ordered pairs. Each count's standard deviation is about 30.
        assert_eq!(counts.len(), 12);
        assert!(counts.values().all(|count| (count - 1_000).abs() < 130), "{counts:?}");
        assert_eq!(stream.sample(&mut [5], 3), [5]);
    }

    #[test]
    fn every_member_of_a_range_is_drawn() {
        let mut stream = Stream::new(7, 3, "test");
        let mut seen = [false; 5];
        for _ in 0..200 {
            seen[stream.below(5) as usize] = true;
        }
        assert_eq!(seen, [true; 5]);
    }
}
