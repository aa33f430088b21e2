//! A set of small numbers, stored as one bit per number, along with the number of elements.
//!
//! Invariant: `len` is the number of set bits.
//!
//! Cost: O(1) to insert, remove or test a number; O(words skipped) to find the next number.

/// Returns the positions of a word's set bits in ascending order.
pub(crate) fn ones(mut word: u64) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        (word != 0).then(|| {
            let bit = word.trailing_zeros();
            word &= word - 1;
            bit
        })
    })
}

/// A subset of the numbers `0..n`.
#[derive(Clone, Debug)]
pub(crate) struct BitSet {
    words: Vec<u64>,
    len: u32,
}

impl BitSet {
    /// Creates an empty set that can hold the numbers `0..n`.
    pub(crate) fn new(n: u32) -> BitSet {
        BitSet { words: vec![0; (n as usize).div_ceil(64)], len: 0 }
    }

    pub(crate) fn len(&self) -> u32 {
        self.len
    }

    pub(crate) fn contains(&self, number: u32) -> bool {
        self.words[number as usize / 64] >> (number % 64) & 1 == 1
    }

    /// Inserts a number. Returns true if it was not already in the set.
    pub(crate) fn insert(&mut self, number: u32) -> bool {
        let missing = !self.contains(number);
        self.words[number as usize / 64] |= 1 << (number % 64);
        self.len += u32::from(missing);
        missing
    }

    /// Removes a number. Returns true if it was in the set.
    pub(crate) fn remove(&mut self, number: u32) -> bool {
        let present = self.contains(number);
        self.words[number as usize / 64] &= !(1 << (number % 64));
        self.len -= u32::from(present);
        present
    }

    /// Replaces the contents with the positions of all bits that are set in `words`.
    pub(crate) fn assign(&mut self, words: &[u64]) {
        self.words.copy_from_slice(words);
        self.len = words.iter().map(|word| word.count_ones()).sum();
    }

    /// Returns the smallest number in the set that is at least `from`.
    pub(crate) fn next(&self, from: u32) -> Option<u32> {
        let first = from as usize / 64;
        let mut mask = u64::MAX << (from % 64);
        for (index, &word) in self.words.iter().enumerate().skip(first) {
            if word & mask != 0 {
                return Some(index as u32 * 64 + (word & mask).trailing_zeros());
            }
            mask = u64::MAX;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_in_order() {
        let mut set = BitSet::new(200);
        for number in [199, 0, 63, 64, 130] {
            assert!(set.insert(number));
            assert!(!set.insert(number));
        }
        assert!(set.remove(64) && !set.remove(64) && set.contains(63));
        let mut from = 0;
        let mut listed = Vec::new();
        while let Some(number) = set.next(from) {
            listed.push(number);
            from = number + 1;
        }
        assert_eq!(listed, [0, 63, 130, 199]);
        assert_eq!(set.len(), 4);
        assert_eq!(set.next(200), None);
    }
}
