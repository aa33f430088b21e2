//! The event queue.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use crate::Time;

/// A queue of events ordered by time, class and sequence number.
///
/// Simultaneous events are popped by class, smallest class first. Events of the same class are
/// popped in the order in which they were scheduled. A simulation therefore never depends on the
/// layout of the heap. `schedule` and `pop` take O(log n) time for n pending events.
///
/// ```
/// use pavior_kernel::{Agenda, Time};
/// let mut agenda = Agenda::new();
/// agenda.schedule(Time(5), 1, "arrival");
/// agenda.schedule(Time(5), 0, "departure");
/// agenda.schedule(Time(2), 1, "early arrival");
/// assert_eq!(agenda.pop(), Some((Time(2), "early arrival")));
/// assert_eq!(agenda.pop(), Some((Time(5), "departure")));
/// assert_eq!(agenda.pop(), Some((Time(5), "arrival")));
/// assert_eq!(agenda.pop(), None);
/// ```
#[derive(Clone, Debug)]
pub struct Agenda<E> {
    heap: BinaryHeap<Reverse<Entry<E>>>,
    sequence: u64,
}

#[derive(Clone, Debug)]
struct Entry<E> {
    at: Time,
    class: u8,
    sequence: u64,
    event: E,
}

impl<E> Entry<E> {
    fn key(&self) -> (Time, u8, u64) {
        (self.at, self.class, self.sequence)
    }
}

impl<E> PartialEq for Entry<E> {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}
impl<E> Eq for Entry<E> {}
impl<E> PartialOrd for Entry<E> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl<E> Ord for Entry<E> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.key().cmp(&other.key())
    }
}

impl<E> Default for Agenda<E> {
    fn default() -> Self {
        Self::new()
    }
}

impl<E> Agenda<E> {
    /// Creates an empty agenda.
    pub fn new() -> Self {
        Agenda { heap: BinaryHeap::new(), sequence: 0 }
    }

    /// Schedules an event. `class` orders simultaneous events, smallest first.
    pub fn schedule(&mut self, at: Time, class: u8, event: E) {
        let sequence = self.sequence;
        self.sequence += 1;
        self.heap.push(Reverse(Entry { at, class, sequence, event }));
    }

    /// Returns the time of the next event.
    pub fn next_time(&self) -> Option<Time> {
        self.heap.peek().map(|Reverse(entry)| entry.at)
    }

    /// Returns the time and the class of the next event.
    pub fn next_key(&self) -> Option<(Time, u8)> {
        self.heap.peek().map(|Reverse(entry)| (entry.at, entry.class))
    }

    /// Removes and returns the next event and its time.
    pub fn pop(&mut self) -> Option<(Time, E)> {
        self.heap.pop().map(|Reverse(entry)| (entry.at, entry.event))
    }

    /// Returns the number of pending events.
    pub fn len(&self) -> usize {
        self.heap.len()
    }

    /// Returns true if no events are pending.
    pub fn is_empty(&self) -> bool {
        self.heap.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn pops_in_the_order_of_a_stable_sort(
            events in prop::collection::vec((0u64..20, 0u8..3), 0..200)
        ) {
            let mut agenda = Agenda::new();
            for (index, &(at, class)) in events.iter().enumerate() {
                agenda.schedule(Time(at), class, index);
            }
            let mut expected: Vec<usize> = (0..events.len()).collect();
            expected.sort_by_key(|&index| events[index]);
            let popped: Vec<usize> = std::iter::from_fn(|| agenda.pop()).map(|(_, e)| e).collect();
            prop_assert_eq!(popped, expected);
        }
    }
}
