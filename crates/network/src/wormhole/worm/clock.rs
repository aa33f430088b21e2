//! The clock of an engine: the open cycle, and all that happens from it on.
//!
//! Invariant: nothing in it lies before `now`.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::by_creation::ByCreation;
use super::wheel::Wheel;
use crate::message::Entered;

#[derive(Debug)]
pub(super) struct Clock {
    pub(super) now: u64,
    pub(super) wheel: Wheel,
    /// Messages whose request falls on the open cycle.
    pub(super) fresh: Vec<u32>,
    /// Messages of later cycles.
    pub(super) later: BinaryHeap<Reverse<ByCreation>>,
    /// Followed messages that entered in the cycle before the open one.
    pub(super) entered: Vec<Entered>,
    /// Messages in flight of another clock ([`Worm::catch_up`](super::Worm::catch_up)).
    pub(super) elsewhere: usize,
}

impl Clock {
    /// A clock that stands at `now`, with nothing to happen.
    pub(super) fn new(now: u64, pace: u64) -> Clock {
        Clock {
            now,
            wheel: Wheel::new(pace),
            fresh: Vec::new(),
            later: BinaryHeap::new(),
            entered: Vec::new(),
            elsewhere: 0,
        }
    }

    /// Takes over the events of a clock that stands at the same cycle.
    pub(super) fn join(&mut self, other: Clock) {
        assert_eq!(self.now, other.now, "who catches up arrives in the present");
        self.wheel.join(self.now, other.wheel);
        self.fresh.extend(other.fresh);
        self.later.extend(other.later);
        self.entered.extend(other.entered);
    }
}
