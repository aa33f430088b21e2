//! A timing wheel, which handles events in the near future in O(1) time.
//!
//! ```text
//!   slot:   now  now+1  now+2   ..   now+mask        later events: a heap
//! ```
//!
//! A ring has one slot per upcoming cycle. Each slot has a bit that is set while the slot is not
//! empty. Later events, which only messages with thousands of flits cause, are kept in a heap until
//! their cycle begins.
//!
//! Invariant: every event within reach of the wheel is in the slot for its cycle.
//!
//! Cost: O(1) to add an event within reach of the wheel, and O(slots / 64) to find the next event.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The events in one cycle. Clearing the lists keeps their allocated memory.
#[derive(Debug)]
pub(super) struct Slot {
    /// Channels that might be granted, because they were requested or because they became free
    /// while a message was waiting.
    pub(super) checks: Vec<u32>,
    /// Messages delivered in this cycle.
    pub(super) deliveries: Vec<u32>,
}

impl Slot {
    /// Creates lists with enough capacity for a typical number of events.
    fn new() -> Slot {
        Slot { checks: Vec::with_capacity(64), deliveries: Vec::with_capacity(16) }
    }
}

/// The kind of an event. The order of the variants does not matter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum What {
    Check,
    Delivery,
}

/// All pending events, by cycle.
#[derive(Debug)]
pub(super) struct Wheel {
    slots: Vec<Slot>,
    mask: u64,
    busy: Vec<u64>,
    far: BinaryHeap<Reverse<(u64, What, u32)>>,
}

impl Wheel {
    /// The maximum length of a wheel. A longer wheel would not fit in the cache.
    const LONGEST: u64 = 4096;

    /// Creates a wheel for events up to `reach` cycles ahead.
    pub(super) fn new(reach: u64) -> Wheel {
        let length = (reach + 1).next_power_of_two().clamp(16, Self::LONGEST) as usize;
        Wheel {
            slots: (0..length).map(|_| Slot::new()).collect(),
            mask: length as u64 - 1,
            busy: vec![0; length.div_ceil(64)],
            far: BinaryHeap::new(),
        }
    }

    /// Extends the wheel to `reach` cycles ahead, but not beyond the maximum length.
    #[inline]
    pub(super) fn reserve(&mut self, now: u64, reach: u64) {
        if reach > self.mask {
            self.grow(now, reach);
        }
    }

    #[cold]
    fn grow(&mut self, now: u64, reach: u64) {
        if (self.slots.len() as u64) < Self::LONGEST {
            let shorter = std::mem::replace(self, Wheel::new(reach));
            self.join(now, shorter);
        }
    }

    /// Adds the events of another wheel, none of which may be before `now`.
    pub(super) fn join(&mut self, now: u64, mut other: Wheel) {
        self.reserve(now, other.mask);
        for ahead in 0..=other.mask {
            let slot = std::mem::replace(other.slot(now + ahead), Slot::new());
            let lists = [(What::Check, slot.checks), (What::Delivery, slot.deliveries)];
            for (what, subjects) in lists {
                for subject in subjects {
                    self.schedule(now, now + ahead, what, subject);
                }
            }
        }
        self.far.append(&mut other.far);
    }

    /// Adds an event at `at`, which must not be earlier than `now`.
    #[inline]
    pub(super) fn schedule(&mut self, now: u64, at: u64, what: What, subject: u32) {
        debug_assert!(at >= now, "no event in the past");
        if at - now > self.mask {
            self.far.push(Reverse((at, what, subject)));
            return;
        }
        let index = (at & self.mask) as usize;
        self.busy[index / 64] |= 1 << (index % 64);
        let slot = &mut self.slots[index];
        match what {
            What::Check => slot.checks.push(subject),
            What::Delivery => slot.deliveries.push(subject),
        }
    }

    #[inline]
    pub(super) fn check_now(&mut self, now: u64, channel: u32) {
        let index = (now & self.mask) as usize;
        self.busy[index / 64] |= 1 << (index % 64);
        self.slots[index].checks.push(channel);
    }

    /// Adds a check at `at` for each channel in a list, and empties the list.
    #[inline]
    pub(super) fn schedule_checks(&mut self, now: u64, at: u64, channels: &mut Vec<u32>) {
        if channels.is_empty() {
            return;
        }
        if at - now > self.mask {
            self.far.extend(channels.drain(..).map(|channel| Reverse((at, What::Check, channel))));
            return;
        }
        let index = (at & self.mask) as usize;
        self.busy[index / 64] |= 1 << (index % 64);
        let slot = &mut self.slots[index];
        if slot.checks.is_empty() {
            std::mem::swap(&mut slot.checks, channels);
        } else {
            slot.checks.append(channels);
        }
    }

    /// Returns the first cycle, at or after `now`, that has an event.
    #[inline]
    pub(super) fn next(&self, now: u64) -> Option<u64> {
        let near = self.next_near(now);
        let far = self.far.peek().map(|Reverse((at, ..))| *at);
        match (near, far) {
            (Some(near), Some(far)) => Some(near.min(far)),
            (near, far) => near.or(far),
        }
    }

    fn next_near(&self, now: u64) -> Option<u64> {
        let start = (now & self.mask) as usize;
        let words = self.busy.len();
        let (first, shift) = (start / 64, start % 64);
        let rest = self.busy[first] >> shift;
        if rest != 0 {
            return Some(now + u64::from(rest.trailing_zeros()));
        }
        // Search the words after the first one, and then the part of the first word before `start`.
        (1..=words).find_map(|k| {
            let word = self.busy[(first + k) % words];
            let round = if first + k < words { 0 } else { self.slots.len() };
            let begin = round + (first + k) % words * 64;
            (word != 0).then(|| now + (begin - start) as u64 + u64::from(word.trailing_zeros()))
        })
    }

    /// Moves the far events for cycle `now` into that cycle's slot.
    #[inline(never)]
    fn bring_far_events(&mut self, now: u64) {
        while let Some(&Reverse((at, what, subject))) = self.far.peek() {
            if at > now {
                break;
            }
            self.far.pop();
            self.schedule(now, at, what, subject);
        }
    }

    /// Moves a cycle's far events into its slot. Returns the cycle's deliveries.
    #[inline]
    pub(super) fn deliveries(&mut self, now: u64) -> &mut Vec<u32> {
        if !self.far.is_empty() {
            self.bring_far_events(now);
        }
        &mut self.slot(now).deliveries
    }

    #[inline]
    fn slot(&mut self, at: u64) -> &mut Slot {
        &mut self.slots[(at & self.mask) as usize]
    }

    /// Swaps a cycle's checks with an empty list and marks the cycle as done. Its deliveries must
    /// already have been taken.
    pub(super) fn take_checks(&mut self, at: u64, empty: &mut Vec<u32>) {
        debug_assert!(empty.is_empty(), "the list must be empty");
        let index = (at & self.mask) as usize;
        self.busy[index / 64] &= !(1 << (index % 64));
        std::mem::swap(&mut self.slots[index].checks, empty);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_events_near_far_and_round_the_end() {
        for reach in [3, 20, 100, 5000] {
            for start in [0u64, 13, 61, 127, 4095, 4_294_967_290] {
                for ahead in [0u64, 1, 15, 16, 31, 62, 63, 64, 127, 128, 4095, 4096, 100_000] {
                    let mut wheel = Wheel::new(reach);
                    wheel.schedule(start, start + ahead, What::Check, 7);
                    assert_eq!(wheel.next(start), Some(start + ahead), "{reach} {start} {ahead}");
                    wheel.bring_far_events(start + ahead);
                    let mut checks = Vec::new();
                    wheel.take_checks(start + ahead, &mut checks);
                    assert_eq!(checks, [7]);
                    assert_eq!(wheel.next(start + ahead), None);
                }
            }
        }
    }
}
