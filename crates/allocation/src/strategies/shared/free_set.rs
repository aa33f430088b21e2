//! A set of free nodes, pages or blocks, from which elements are taken in a defined order.
//!
//! The order is either by number or by release time. Published strategies keep such lists, but most
//! papers do not specify the order. In order of number (the default), a grant depends only on the
//! state. In order of release, a finished job's nodes stay adjacent in the list, even if they are
//! far apart on the machine.
//!
//! Invariant: if the order is by release time, `next` and `previous` form a single ring through the
//! numbers in the set.
//!
//! Cost: by release time, O(1) to insert, remove or step. By number, a step costs as much as in a
//! [`BitSet`].

use pavior_kernel::{OptionSpec, Options, Values};

use crate::strategies::shared::bit_set::BitSet;

pub(crate) const FREE: OptionSpec = OptionSpec {
    key: "free",
    values: Values::OneOf(&["sorted", "fifo", "lifo"]),
    default: "sorted",
    meaning: "the order of the free list: by position, FIFO, or LIFO",
    bare: false,
};

/// The order in which numbers are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FreeOrder {
    /// The smallest number first.
    Sorted,
    /// The number that was inserted first.
    Fifo,
    /// The number that was inserted last.
    Lifo,
}

impl FreeOrder {
    pub(crate) fn of(options: &Options) -> FreeOrder {
        match options.get("free") {
            "fifo" => FreeOrder::Fifo,
            "lifo" => FreeOrder::Lifo,
            _ => FreeOrder::Sorted,
        }
    }
}

/// A subset of the numbers `0..n`.
#[derive(Clone, Debug)]
pub(crate) struct FreeSet {
    set: BitSet,
    /// The order of release, or `None` if numbers are taken in ascending order.
    returned: Option<ReturnOrder>,
}

/// The numbers, linked in a ring in which `n` marks the beginning and the end.
#[derive(Clone, Debug)]
struct ReturnOrder {
    newest_first: bool,
    next: Vec<u32>,
    previous: Vec<u32>,
}

impl FreeSet {
    /// Creates an empty set that can hold the numbers `0..n`.
    pub(crate) fn new(n: u32, order: FreeOrder) -> FreeSet {
        let returned = (order != FreeOrder::Sorted).then(|| ReturnOrder {
            newest_first: order == FreeOrder::Lifo,
            next: vec![n; n as usize + 1],
            previous: vec![n; n as usize + 1],
        });
        FreeSet { set: BitSet::new(n), returned }
    }

    pub(crate) fn len(&self) -> u32 {
        self.set.len()
    }

    pub(crate) fn contains(&self, number: u32) -> bool {
        self.set.contains(number)
    }

    /// Inserts a number. Returns true if it was not yet in the set.
    pub(crate) fn insert(&mut self, number: u32) -> bool {
        let missing = self.set.insert(number);
        if let (Some(returned), true) = (&mut self.returned, missing) {
            returned.insert(number);
        }
        missing
    }

    /// Removes a number. Returns true if it was in the set.
    pub(crate) fn remove(&mut self, number: u32) -> bool {
        let present = self.set.remove(number);
        if let (Some(returned), true) = (&mut self.returned, present) {
            returned.remove(number);
        }
        present
    }

    /// Returns true if numbers are always taken in ascending order.
    pub(crate) fn is_sorted(&self) -> bool {
        self.returned.is_none()
    }

    /// Replaces the contents of a sorted set with the positions of the bits that are set.
    pub(crate) fn assign(&mut self, bits: &[u64]) {
        debug_assert!(self.is_sorted(), "the set is not sorted");
        self.set.assign(bits);
    }

    /// Returns the number that follows `number` in the set, or the first one if `number` is `None`.
    pub(crate) fn after(&self, number: Option<u32>) -> Option<u32> {
        match &self.returned {
            None => self.set.next(number.map_or(0, |number| number + 1)),
            Some(returned) => {
                let end = returned.end();
                let next = returned.next[number.unwrap_or(end) as usize];
                (next != end).then_some(next)
            }
        }
    }

    /// Returns the numbers in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = u32> {
        std::iter::successors(self.after(None), |&number| self.after(Some(number)))
    }

    /// Returns the number of words read by a step from one number to the next.
    pub(crate) fn words(&self, from: Option<u32>, to: u32) -> u64 {
        match self.returned {
            None => u64::from(to / 64 - from.map_or(0, |from| (from + 1) / 64) + 1),
            Some(_) => 1,
        }
    }
}

impl ReturnOrder {
    fn end(&self) -> u32 {
        self.next.len() as u32 - 1
    }

    fn insert(&mut self, number: u32) {
        let end = self.end();
        let before = if self.newest_first { end } else { self.previous[end as usize] };
        let after = self.next[before as usize];
        self.join(before, number);
        self.join(number, after);
    }

    fn remove(&mut self, number: u32) {
        self.join(self.previous[number as usize], self.next[number as usize]);
    }

    fn join(&mut self, before: u32, after: u32) {
        self.next[before as usize] = after;
        self.previous[after as usize] = before;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_taken_in_the_order_of_their_coming() {
        for (order, expected, back) in [
            (FreeOrder::Sorted, [1, 4, 70], [1, 4, 5, 70]),
            (FreeOrder::Fifo, [70, 1, 4], [1, 4, 70, 5]),
            (FreeOrder::Lifo, [4, 1, 70], [5, 70, 4, 1]),
        ] {
            let mut set = FreeSet::new(100, order);
            for number in [70, 1, 99, 4] {
                assert!(set.insert(number) && !set.insert(number));
            }
            assert!(set.remove(99) && !set.remove(99) && !set.contains(99));
            assert_eq!(set.iter().collect::<Vec<_>>(), expected, "{order:?}");
            assert!(set.remove(70) && set.insert(70) && set.insert(5));
            assert_eq!(set.iter().collect::<Vec<_>>(), back, "{order:?}");
            assert_eq!((set.len(), set.after(Some(back[3]))), (4, None));
        }
    }
}
