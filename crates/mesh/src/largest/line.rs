//! The free nodes of a row in words: which runs of them need a look.
//!
//! Invariant: `ends` and `long` are among `free`, and bits behind the last node are zeros.
//!
//! Cost: O(words) to load, O(words log length) to seek runs of a length.

/// The nodes of a row, in words; twice over on a ring.
#[derive(Default)]
pub(super) struct Line {
    /// The free ones.
    free: Vec<u64>,
    /// Those of them below which a node is not free.
    ends: Vec<u64>,
    /// Those of them at which a run begins that is long enough.
    long: Vec<u64>,
}

impl Line {
    /// Takes over the free nodes of a row, and those of the row below if there is one. On a ring of
    /// `ring` nodes the row comes twice. Returns whether a node ends.
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

    /// Marks where runs of at least `length` nodes begin. Returns whether one does.
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

    /// The next run that is long enough, and begins at a node or behind it: its first node, and
    /// that behind its last.
    pub(super) fn next_run(&self, from: usize) -> Option<(usize, usize)> {
        let start = next_one(&self.long, from)?;
        Some((start, next_zero(&self.free, start)))
    }

    /// Whether a node from one on and before another ends.
    pub(super) fn ends_in(&self, from: usize, end: usize) -> bool {
        next_one(&self.ends[..end.div_ceil(64)], from).is_some_and(|found| found < end)
    }
}

/// The bits of a row of `side` bits, and the same once more behind them.
fn twice(words: &mut Vec<u64>, side: usize) {
    let own = words.len();
    words.resize((2 * side).div_ceil(64), 0);
    let (skip, shift) = (side / 64, side % 64);
    // From the last word on: none is read that was written.
    for index in (0..own).rev() {
        let bits = words[index];
        words[index + skip] |= bits << shift;
        if shift > 0 && index + skip + 1 < words.len() {
            words[index + skip + 1] |= bits >> (64 - shift);
        }
    }
}

/// Leaves the bits whose neighbour `step` bits further is set, too.
fn and_ahead(words: &mut [u64], step: usize) {
    let (skip, shift) = (step / 64, step % 64);
    for index in 0..words.len() {
        let word = |index: usize| words.get(index).copied().unwrap_or(0);
        let low = word(index + skip) >> shift;
        let high = if shift > 0 { word(index + skip + 1) << (64 - shift) } else { 0 };
        words[index] &= low | high;
    }
}

/// The first bit from one on that is set.
fn next_one(words: &[u64], from: usize) -> Option<usize> {
    let mut index = from / 64;
    let mut word = words.get(index)? & (u64::MAX << (from % 64));
    while word == 0 {
        index += 1;
        word = *words.get(index)?;
    }
    Some(64 * index + word.trailing_zeros() as usize)
}

/// The first bit from one on that is not set; none is behind the last word.
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

    /// The runs as the line tells them, each with whether a node in it ends.
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
