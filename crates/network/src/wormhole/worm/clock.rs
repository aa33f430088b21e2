//! The engine's clock: the open cycle and all events from then on.
//!
//! Invariant: no event is before `now`.
//!
//! Cost: O(1) per event in the near future, and O(log k) per message if k messages are scheduled
//! for later cycles.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use pavior_kernel::Time;

use super::wheel::Wheel;
use crate::message::{Entered, Message};

#[derive(Debug)]
pub(super) struct Clock {
    pub(super) now: u64,
    pub(super) wheel: Wheel,
    /// Messages that request their injection channel in the open cycle but are not yet in its
    /// queue, because they were not created in key order.
    pub(super) disordered: Vec<u32>,
    /// Messages for later cycles, ordered by the cycle of their creation and then by id.
    pub(super) later: BinaryHeap<Reverse<(Time, u64, Message)>>,
    /// Followed messages that entered the network in the cycle before the open one.
    pub(super) entered: Vec<Entered>,
    /// The number of messages in flight that do not belong to this clock. Nonzero only during
    /// [`Worm::catch_up`](super::Worm::catch_up).
    pub(super) foreign: usize,
}

impl Clock {
    /// Creates a clock that has no events.
    pub(super) fn new(now: u64, pace: u64) -> Clock {
        Clock {
            now,
            wheel: Wheel::new(pace),
            disordered: Vec::new(),
            later: BinaryHeap::new(),
            entered: Vec::new(),
            foreign: 0,
        }
    }

    /// Stores a message for a later cycle.
    #[inline(never)]
    pub(super) fn announce(&mut self, message: Message) {
        self.later.push(Reverse((message.created, message.id, message)));
    }

    /// Adds the events from another clock, which must be at the same cycle.
    pub(super) fn join(&mut self, other: Clock) {
        assert_eq!(self.now, other.now, "the other clock must be at the same cycle");
        self.wheel.join(self.now, other.wheel);
        self.disordered.extend(other.disordered);
        self.later.extend(other.later);
        self.entered.extend(other.entered);
    }
}
