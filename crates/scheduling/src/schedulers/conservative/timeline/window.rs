//! The nodes that are free throughout a sliding time window.
//!
//! A dip is a time when nodes stop being free. Between dips, free nodes stay free. The nodes free
//! at the start of a window and at each of its dips are therefore free throughout it.
//!
//! Dips enter at the end and leave at the front. The set of nodes free at all dips is maintained
//! like the sum of a queue built from two stacks. In this example, dips 4 and 5 have entered after
//! dips 1, 2 and 3:
//!
//! ```text
//!   from_dip:    1 & 2 & 3,  2 & 3,  3     one entry per dip, which leaves with it
//!   at_others:   4 & 5                     one entry for all; entering dips are and-ed into it
//! ```
//!
//! When a dip without an entry leaves, each of the remaining dips gets an entry.
//!
//! Invariant: a node is free at all dips if and only if it is in both the top entry, if there is
//! one, and `at_others`, if it is set.
//!
//! Cost: each dip enters once, gets an entry once and leaves once, at O(N/64) words each time.

use std::cell::OnceCell;
use std::collections::VecDeque;

use pavior_allocation::Placement;
use pavior_kernel::Time;
use pavior_mesh::Occupancy;

use super::NodeTimeline;
use crate::schedulers::conservative::slot::Slot;

/// The result of adding dips to a window.
pub(super) enum Entered {
    /// All dips.
    All,
    /// The requested number of dips. More dips may follow.
    Some,
    /// Only the dips before one with too few free nodes. Contains that dip's segment.
    Short(usize),
}

/// The nodes that are free at every dip in a time window whose ends only move forward.
pub(super) struct Window<'p> {
    timeline: &'p NodeTimeline,
    /// The job's current slot, if any. The nodes in it count as free.
    own: Option<&'p Slot<Placement>>,
    /// The nodes of `own` as a set, if updating whole words is faster. Computed on first use.
    own_set: OnceCell<Option<Occupancy>>,
    /// The segments that begin at the dips.
    dips: VecDeque<usize>,
    /// The segment from which to search for the next dips to add.
    next: usize,
    /// For each dip with an entry, the nodes free at that dip and at all later dips with entries.
    /// The earliest dip is on top.
    from_dip: Vec<Occupancy>,
    /// The nodes free at all dips without entries.
    at_others: Option<Occupancy>,
    /// The last answer of [`Window::free`].
    common: Occupancy,
    /// Unused sets, kept to reuse their memory.
    spare: Vec<Occupancy>,
}

impl<'p> Window<'p> {
    /// Creates a window that begins at the given segment or later.
    pub(super) fn new(
        timeline: &'p NodeTimeline,
        own: Option<&'p Slot<Placement>>,
        begin: usize,
    ) -> Window<'p> {
        let common = timeline.free[0].clone();
        Window {
            timeline,
            own,
            own_set: OnceCell::new(),
            dips: VecDeque::new(),
            next: begin + 1,
            from_dip: Vec::new(),
            at_others: None,
            common,
            spare: Vec::new(),
        }
    }

    /// Returns the segment of the first dip.
    pub(super) fn first(&self) -> Option<usize> {
        self.dips.front().copied()
    }

    /// Returns the job's own slot if it has already begun in the given segment.
    fn own_in(&self, segment: usize) -> Option<&'p Slot<Placement>> {
        self.own.filter(|own| own.interval.from <= self.timeline.from[segment])
    }

    /// Returns the number of nodes free in a segment, counting the job's own nodes as free.
    fn free_count(&self, segment: usize) -> u64 {
        let own = self.own_in(segment).map_or(0, |own| own.held.nodes());
        u64::from(self.timeline.count[segment]) + u64::from(own)
    }

    /// Adds up to `most` dips between two segments, stopping at a dip with too few free nodes.
    pub(super) fn enter_some(
        &mut self,
        (after, before): (usize, usize),
        nodes: u64,
        mut most: usize,
    ) -> Entered {
        self.next = self.next.max(after + 1);
        while self.next < before {
            let segment = self.next;
            self.next += 1;
            if !self.timeline.dip[segment] {
                continue;
            }
            if self.free_count(segment) < nodes {
                return Entered::Short(segment);
            }
            self.enter(segment);
            most -= 1;
            if most == 0 {
                return Entered::Some;
            }
        }
        Entered::All
    }

    /// Returns the time of the next dip that is not yet in the window.
    pub(super) fn next_dip(&self) -> Option<Time> {
        let mut later = self.next..self.timeline.from.len();
        later.find(|&segment| self.timeline.dip[segment]).map(|dip| self.timeline.from[dip])
    }

    /// Adds a dip at the end of the window.
    fn enter(&mut self, segment: usize) {
        let free = match self.at_others.take() {
            None => self.copy_of(segment),
            Some(mut others) if self.own_in(segment).is_none() => {
                others.keep(&self.timeline.free[segment]).expect("one machine");
                others
            }
            Some(others) => {
                let mut free = self.copy_of(segment);
                free.keep(&others).expect("one machine");
                self.spare.push(others);
                free
            }
        };
        self.at_others = Some(free);
        self.dips.push_back(segment);
    }

    /// Removes the dips up to and including the given segment.
    pub(super) fn leave(&mut self, segment: usize) {
        let left = self.dips.partition_point(|dip| *dip <= segment);
        self.dips.drain(..left);
        if left <= self.from_dip.len() {
            let kept = self.from_dip.len() - left;
            self.spare.extend(self.from_dip.drain(kept..));
        } else {
            self.make_entries();
        }
    }

    /// Returns the nodes free both in the given segment and at all dips. The segment must be before
    /// the first dip.
    pub(super) fn free(&mut self, segment: usize) -> &Occupancy {
        let begin = &self.timeline.free[segment];
        let (one, other) = match (self.from_dip.last(), &self.at_others) {
            (None, None) => return begin,
            (Some(one), other) => (one, other.as_ref()),
            (None, Some(one)) => (one, None),
        };
        self.common.set_common(begin, one).expect("one machine");
        if let Some(other) = other {
            self.common.keep(other).expect("one machine");
        }
        &self.common
    }

    /// Computes an entry for every dip.
    fn make_entries(&mut self) {
        self.spare.append(&mut self.from_dip);
        self.spare.extend(self.at_others.take());
        for place in (0..self.dips.len()).rev() {
            let mut free = self.copy_of(self.dips[place]);
            if let Some(later) = self.from_dip.last() {
                free.keep(later).expect("one machine");
            }
            self.from_dip.push(free);
        }
    }

    /// Returns the nodes free in a segment, counting the job's own nodes as free.
    fn copy_of(&mut self, segment: usize) -> Occupancy {
        let mut free = self.spare.pop().unwrap_or_else(|| self.common.clone());
        free.copy_from(&self.timeline.free[segment]);
        if let Some(own) = self.own_in(segment) {
            match self.own_set.get_or_init(|| self.timeline.as_set(&own.held)) {
                Some(nodes) => free.give_set(nodes),
                None => free.give_all(own.held.parts()),
            }
            .expect("booked nodes were taken");
        }
        free
    }
}
