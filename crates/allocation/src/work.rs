//! The work that a strategy does, measured by counting rather than timing.

use std::ops::{Add, AddAssign, Sub};

/// The work done by a strategy since its creation or, for a fork, since the original's creation.
///
/// Counts do not depend on the processor, the compiler or other programs, so they show how a
/// search's work grows. Each strategy's file documents the cost of a unit. To compare the speed of
/// two strategies, measure time instead.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// Units that `find` has tested one by one: busy boxes, free boxes, pieces of planes,
    /// coverages, candidate bases and nodes. A unit that is tested twice counts twice.
    pub boxes: u64,
    /// Units that `find` has processed in bulk: words of 64 nodes and table cells.
    pub words: u64,
    /// Units visited to process grants and releases: list entries, blocks and nodes.
    pub upkeep: u64,
}

impl Work {
    pub(crate) fn of_boxes(boxes: u64) -> Work {
        Work { boxes, ..Work::default() }
    }

    pub(crate) fn of_words(words: u64) -> Work {
        Work { words, ..Work::default() }
    }

    pub(crate) fn of_upkeep(upkeep: u64) -> Work {
        Work { upkeep, ..Work::default() }
    }
}

impl Add for Work {
    type Output = Work;

    fn add(self, other: Work) -> Work {
        Work {
            boxes: self.boxes + other.boxes,
            words: self.words + other.words,
            upkeep: self.upkeep + other.upkeep,
        }
    }
}

impl AddAssign for Work {
    fn add_assign(&mut self, other: Work) {
        *self = *self + other;
    }
}

impl Sub for Work {
    type Output = Work;

    fn sub(self, earlier: Work) -> Work {
        Work {
            boxes: self.boxes - earlier.boxes,
            words: self.words - earlier.words,
            upkeep: self.upkeep - earlier.upkeep,
        }
    }
}
