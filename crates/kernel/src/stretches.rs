//! A time series stored in a bounded number of intervals.

/// The minimum, maximum and last value in a time interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range<V> {
    /// The minimum.
    pub least: V,
    /// The maximum.
    pub most: V,
    /// The last value.
    pub last: V,
}

impl<V: Copy + Ord> Range<V> {
    /// Creates the range of a single value. Takes O(1) time.
    pub fn of(value: V) -> Range<V> {
        Range { least: value, most: value, last: value }
    }

    /// Combines this range with the range of the values that follow it. Takes O(1) time.
    #[must_use]
    pub fn then(self, next: Range<V>) -> Range<V> {
        let (least, most) = (self.least.min(next.least), self.most.max(next.most));
        Range { least, most, last: next.last }
    }
}

/// The observations in a time interval.
pub trait Stretch {
    /// Returns the start of the interval, in arbitrary units.
    fn at(&self) -> u64;

    /// Merges this interval with the one that follows it. The result has this interval's start.
    #[must_use]
    fn then(&self, next: &Self) -> Self;
}

/// A list of time intervals, oldest first. As it grows, intervals become longer: those that begin
/// between the same two multiples of [`Stretches::gap`] are merged. Merging preserves every
/// property that [`Stretch::then`] preserves.
#[derive(Clone, Debug)]
pub struct Stretches<S> {
    all: Vec<S>,
    gap: u64,
}

impl<S> Default for Stretches<S> {
    fn default() -> Stretches<S> {
        Stretches { all: Vec::new(), gap: 1 }
    }
}

impl<S: Stretch> Stretches<S> {
    /// The maximum number of intervals.
    pub const MOST: usize = 2048;

    /// Adds the most recent observation. Takes amortized O(1) time.
    pub fn add(&mut self, seen: S) {
        join(&mut self.all, seen, self.gap);
        while self.all.len() > Self::MOST {
            self.gap *= 2;
            for one in std::mem::take(&mut self.all) {
                join(&mut self.all, one, self.gap);
            }
        }
    }

    /// Returns all intervals, oldest first.
    pub fn all(&self) -> &[S] {
        &self.all
    }

    /// Returns the distance between merge boundaries, in the units of [`Stretch::at`].
    pub fn gap(&self) -> u64 {
        self.gap
    }
}

/// Adds an interval, merging it with the last one if both begin between the same two multiples of
/// `gap`.
fn join<S: Stretch>(all: &mut Vec<S>, new: S, gap: u64) {
    match all.last_mut() {
        Some(last) if last.at() / gap == new.at() / gap => *last = last.then(&new),
        _ => all.push(new),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    struct One {
        at: u64,
        until: u64,
        value: Range<u32>,
    }

    impl Stretch for One {
        fn at(&self) -> u64 {
            self.at
        }

        fn then(&self, next: &One) -> One {
            One { at: self.at, until: next.until, value: self.value.then(next.value) }
        }
    }

    fn seen(at: u64, value: u32) -> One {
        One { at, until: at, value: Range::of(value) }
    }

    /// Returns the next xorshift pseudo-random number.
    fn next(state: &mut u64) -> u64 {
        *state ^= *state << 13;
        *state ^= *state >> 7;
        *state ^= *state << 17;
        *state
    }

    /// Adds ten times as many events as there can be intervals. Each interval must keep its true
    /// minimum, maximum and last value, and the intervals must cover every event.
    #[test]
    fn stretches_have_the_true_least_and_greatest() {
        const MOST: usize = Stretches::<One>::MOST;
        for seed in 1..=8 {
            let mut state = seed;
            let mut stretches = Stretches::default();
            let mut all = Vec::new();
            let mut at = 1_000_000 + next(&mut state) % 1000;
            for _ in 0..10 * MOST {
                at += if next(&mut state) % 50 == 0 { next(&mut state) % 100_000 } else { 3 };
                let one = seen(at, (next(&mut state) % 101) as u32);
                all.push(one);
                stretches.add(one);
            }
            let thinned = stretches.all();
            assert!(thinned.len() <= MOST && thinned.len() > MOST / 4, "{}", thinned.len());
            let mut rest = &all[..];
            for stretch in thinned {
                let (own, after) =
                    rest.split_at(rest.partition_point(|one| one.at <= stretch.until));
                rest = after;
                let values = || own.iter().map(|one| one.value.last);
                assert_eq!(stretch.at, own[0].at);
                let least = values().min().unwrap();
                let (most, last) = (values().max().unwrap(), values().next_back().unwrap());
                assert_eq!(stretch.value, Range { least, most, last });
                assert_eq!(own[0].at / stretches.gap(), stretch.until / stretches.gap());
            }
            assert_eq!(rest, []);
        }
    }

    /// Adds so few events that each must keep its own interval.
    #[test]
    fn few_events_are_kept_as_they_are() {
        let mut stretches = Stretches::default();
        let most = Stretches::<One>::MOST as u64;
        let all: Vec<One> = (0..most).map(|at| seen(7 * at, (at % 60) as u32)).collect();
        for &one in &all {
            stretches.add(one);
        }
        assert_eq!(stretches.all(), all);
    }

    /// Adds two values in quick succession. The last one must be kept, because it may be the
    /// current value for a whole day.
    #[test]
    fn the_last_value_is_not_lost() {
        let mut stretches = Stretches::default();
        let most = Stretches::<One>::MOST as u64;
        for at in 0..3 * most {
            stretches.add(seen(1000 * at, 50));
        }
        stretches.add(seen(3_000_000 * most, 50));
        stretches.add(seen(3_000_000 * most + 1, 0));
        let last = stretches.all().last().unwrap();
        assert_eq!((last.value.last, last.value.most), (0, 50));
    }
}
