//! A row's free nodes, as words, and the runs of free nodes that could contain the largest box.
//!
//! Invariant: `ends` and `long` are subsets of `free`, and bits after the last node are zeros.
//!
//! Cost: O(words) to load a row, and O(words log length) to find the runs of a given length.

/// The nodes in a row, as words. On a ring, the row is repeated once.
#[derive(Default)]
pub(super) struct Line {
    free: Vec<u64>,
    /// The free nodes whose neighbors in the next row are not free.
    ends: Vec<u64>,
    /// The free nodes where a sufficiently long run begins.
    long: Vec<u64>,
}

impl Line {
    /// Loads the free nodes of a row and of the next row. If the axis is a ring of `ring` nodes,
    /// repeats the row. Returns true if any node is free in the row but not in the next one.
    pub(super) fn load(&mut self, bits: &[u64], next: Option<&[u64]>, ring: usize) -> bool {
        self.free.clear();
        self.free.extend_from_slice(bits);
        self.ends.clear();
        match next {
            Some(next) => self.ends.extend(bits.iter().zip(next).map(|(bits, next)| bits & !next)),
            None => self.ends.extend_from_slice(bits),
        }
        let any = self.ends.iter().any(|&word| word != 0);
        if any && ring > 0 {
            twice(&mut self.free, ring);
            twice(&mut self.ends, ring);
        }
        any
    }

    /// Marks the starts of runs of at least `length` nodes. Returns true if there are any.
    pub(super) fn seek(&mut self, length: usize) -> bool {
        self.long.clone_from(&self.free);
        let mut known = 1;
        while known < length {
            let step = known.min(length - known);
            and_ahead(&mut self.long, step);
            known += step;
        }
        self.long.iter().any(|&word| word != 0)
    }

    /// Finds the next sufficiently long run that starts at or after `from`. Returns its first node
    /// and the node after its last.
    pub(super) fn next_run(&self, from: usize) -> Option<(usize, usize)> {
        let start = next_one(&self.long, from)?;
        Some((start, next_zero(&self.free, start)))
    }

    /// Returns true if a free node in `from..end` has no free neighbor in the next row.
    pub(super) fn ends_in(&self, from: usize, end: usize) -> bool {
        next_one(&self.ends[..end.div_ceil(64)], from).is_some_and(|found| found < end)
    }
}

/// Appends a copy of the first `side` bits of a row.
fn twice(words: &mut Vec<u64>, side: usize) {
    let own = words.len();
    words.resize((2 * side).div_ceil(64), 0);
    let (skip, shift) = (side / 64, side % 64);
    // Go backward so that no word is changed before it is read.
    for index in (0..own).rev() {
        let bits = words[index];
        words[index + skip] |= bits << shift;
        if shift > 0 && index + skip + 1 < words.len() {
            words[index + skip + 1] |= bits >> (64 - shift);
        }
    }
}

/// Clears each bit unless the bit `step` positions later is also set.
fn and_ahead(words: &mut [u64], step: usize) {
    let (skip, shift) = (step / 64, step % 64);
    for index in 0..words.len() {
        let word = |index: usize| words.get(index).copied().unwrap_or(0);
        let low = word(index + skip) >> shift;
        let high = if shift > 0 { word(index + skip + 1) << (64 - shift) } else { 0 };
        words[index] &= low | high;
    }
}

/// Finds the first set bit at or after `from`.
fn next_one(words: &[u64], from: usize) -> Option<usize> {
    let mut index = from / 64;
    let mut word = words.get(index)? & (u64::MAX << (from % 64));
    while word == 0 {
        index += 1;
        word = *words.get(index)?;
    }
    Some(64 * index + word.trailing_zeros() as usize)
}

/// Finds the first unset bit at or after `from`. Bits past the last word count as unset.
fn next_zero(words: &[u64], from: usize) -> usize {
    let mut index = from / 64;
    let mut word = !words[index] & (u64::MAX << (from % 64));
    while word == 0 {
        index += 1;
        let Some(next) = words.get(index) else { return 64 * index };
        word = !next;
    }
    64 * index + word.trailing_zeros() as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the start, the end and the `ends_in` result of each run in a line.
    fn told(line: &Line) -> Vec<(usize, usize, bool)> {
        let mut runs = Vec::new();
        let mut from = 0;
        while let Some((start, end)) = line.next_run(from) {
            runs.push((start, end, line.ends_in(start, end)));
            from = end;
        }
        runs
    }

    #[test]
    fn runs_are_those_of_single_bits() {
        let mut state = 1u64;
        for side in [1usize, 5, 63, 64, 65, 127, 128, 130, 200] {
            for round in 0..40 {
                let mut draw = || {
                    state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                    (state >> 33) % 100
                };
                let rows: [Vec<bool>; 2] =
                    [(); 2].map(|()| (0..side).map(|_| draw() >= round / 2).collect());
                let words = rows.clone().map(|row| {
                    let mut words = vec![0u64; side.div_ceil(64)];
                    row.iter()
                        .enumerate()
                        .for_each(|(x, &free)| words[x / 64] |= u64::from(free) << (x % 64));
                    words
                });
                for (ring, length) in [(0, 1), (0, 3), (side, 2), (side, 70), (0, 65)] {
                    let line_of = |row: &[bool]| [row, if ring > 0 { row } else { &[] }].concat();
                    let (free, next) = (line_of(&rows[0]), line_of(&rows[1]));
                    let mut expected = Vec::new();
                    let mut start = 0;
                    while start < free.len() {
                        let run = free[start..].iter().take_while(|free| **free).count();
                        if run >= length {
                            let ends = (start..start + run).any(|x| !next[x]);
                            expected.push((start, start + run, ends));
                        }
                        start += run + 1;
                    }
                    let mut line = Line::default();
                    let any = line.load(&words[0], Some(&words[1]), ring);
                    assert_eq!(any, (0..free.len()).any(|x| free[x] && !next[x]));
                    if any {
                        assert_eq!(line.seek(length), !expected.is_empty());
                        assert_eq!(told(&line), expected, "{side} {ring} {length}");
                    }
                }
            }
        }
    }
}
