//! Nodes in use and the largest free box over time: a bounded number of stretches of time, which
//! grow longer as time passes. Of each the least, the greatest and the last value are kept.

use serde_json::{Value, json};

use crate::reason::date;

/// The most stretches.
const MOST: usize = 2048;

#[derive(Clone, Copy)]
struct Range {
    least: u64,
    most: u64,
    last: u64,
}

impl Range {
    fn of(value: u64) -> Range {
        Range { least: value, most: value, last: value }
    }

    /// With what came after.
    fn then(self, next: Range) -> Range {
        let (least, most) = (self.least.min(next.least), self.most.max(next.most));
        Range { least, most, last: next.last }
    }
}

#[derive(Clone, Copy)]
struct Stretch {
    at: u64,
    until: u64,
    busy: Range,
    largest_free: Range,
}

/// The stretches, and the length of one in seconds.
pub(crate) struct Series {
    stretches: Vec<Stretch>,
    gap: u64,
}

impl Default for Series {
    fn default() -> Series {
        Series { stretches: Vec::new(), gap: 1 }
    }
}

impl Series {
    pub(crate) fn add(&mut self, now: u64, busy: u32, largest_free: u64) {
        let (busy, largest_free) = (Range::of(busy.into()), Range::of(largest_free));
        let new = Stretch { at: now, until: now, busy, largest_free };
        join(&mut self.stretches, new, self.gap);
        while self.stretches.len() > MOST {
            self.gap *= 2;
            for one in std::mem::take(&mut self.stretches) {
                join(&mut self.stretches, one, self.gap);
            }
        }
    }

    /// As the page reads them, the oldest first.
    pub(crate) fn samples(&self) -> Vec<Value> {
        let sample = |one: &Stretch| {
            json!({
                "at": date(one.at),
                "until": date(one.until),
                "busy": one.busy.last,
                "busy_least": one.busy.least,
                "busy_most": one.busy.most,
                "largest_free": one.largest_free.last,
                "largest_free_least": one.largest_free.least,
                "largest_free_most": one.largest_free.most,
            })
        };
        self.stretches.iter().map(sample).collect()
    }
}

/// Adds a stretch, joined with the last one if both lie in one gap.
fn join(stretches: &mut Vec<Stretch>, new: Stretch, gap: u64) {
    match stretches.last_mut() {
        Some(last) if last.at / gap == new.at / gap => {
            let (busy, largest_free) =
                (last.busy.then(new.busy), last.largest_free.then(new.largest_free));
            *last = Stretch { at: last.at, until: new.until, busy, largest_free };
        }
        _ => stretches.push(new),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_week_is_bounded_and_nothing_that_was_is_lost() {
        let mut series = Series::default();
        for second in 0..7 * 86_400 {
            let busy = if second == 86_400 { 64 } else { 7 };
            series.add(1_000_000 + second, busy, 3);
        }
        assert!(series.stretches.len() <= MOST && series.stretches.len() > MOST / 4);
        let most = series.stretches.iter().map(|one| one.busy.most).max();
        let last = series.stretches.last().unwrap();
        assert_eq!((most, last.busy.last), (Some(64), 7));
        assert_eq!(last.until, 1_000_000 + 7 * 86_400 - 1);
    }
}
