//! The nodes that are free throughout a window of time that moves on.

use std::cell::OnceCell;
use std::collections::VecDeque;

use pavior_allocation::Placement;
use pavior_kernel::Time;
use pavior_mesh::Occupancy;

use super::NodeTimeline;
use crate::schedulers::conservative::slot::Slot;

/// The nodes that are free at every dip of a window of time. Both ends of the window only move on.
///
/// Between dips free nodes stay free. So the nodes that are free at the begin of the window and at
/// all its dips are free throughout.
///
/// The dips are a queue of two stacks. `before` has, for each dip of a first part, the nodes that
/// are free from it to the end of that part, the earliest dip on top. `after` has the nodes that
/// are free at all dips of the rest. So each dip enters once and leaves once, at O(N/64) words
/// each.
pub(super) struct Window<'p> {
    timeline: &'p NodeTimeline,
    /// The slot of the job that is looked for, which is free to it.
    own: Option<&'p Slot<Placement>>,
    /// Its nodes as a set, if whole words are given faster. Found when first needed.
    own_set: OnceCell<Option<Occupancy>>,
    /// The segments of the dips.
    dips: VecDeque<usize>,
    /// The next of the timeline's dips to enter.
    next_dip: usize,
    before: Vec<Occupancy>,
    after: Option<Occupancy>,
    /// The last answer of [`Window::free`].
    common: Occupancy,
    /// Memory to be used again.
    spare: Vec<Occupancy>,
}

impl<'p> Window<'p> {
    pub(super) fn new(timeline: &'p NodeTimeline, own: Option<&'p Slot<Placement>>) -> Window<'p> {
        let common = timeline.free[0].clone();
        let (dips, before, after, spare) = (VecDeque::new(), Vec::new(), None, Vec::new());
        Window {
            timeline,
            own,
            own_set: OnceCell::new(),
            dips,
            next_dip: 0,
            before,
            after,
            common,
            spare,
        }
    }

    /// The first dip's segment.
    pub(super) fn first(&self) -> Option<usize> {
        self.dips.front().copied()
    }

    /// The number of nodes that are free in a segment.
    fn count(&self, segment: usize) -> u64 {
        let own = self.own.filter(|own| own.interval.from <= self.timeline.from[segment]);
        let own = own.map_or(0, |own| own.held.nodes());
        u64::from(self.timeline.count[segment]) + u64::from(own)
    }

    /// Takes in the next dips that are after one time and before another. Stops at a dip with fewer
    /// free nodes than are needed, and returns its segment.
    pub(super) fn enter_all(&mut self, after: Time, before: Time, nodes: u64) -> Option<usize> {
        while let Some(&dip) = self.timeline.dips.get(self.next_dip).filter(|dip| **dip < before) {
            self.next_dip += 1;
            if dip <= after {
                continue;
            }
            let segment = self.timeline.segment_at(dip);
            if self.count(segment) < nodes {
                return Some(segment);
            }
            self.enter(segment);
        }
        None
    }

    /// The next dip that has not entered.
    pub(super) fn next_dip(&self) -> Option<Time> {
        self.timeline.dips.get(self.next_dip).copied()
    }

    fn enter(&mut self, segment: usize) {
        let mut free = self.copy_of(segment);
        if let Some(after) = self.after.take() {
            free.keep(&after).expect("one machine");
            self.spare.push(after);
        }
        self.after = Some(free);
        self.dips.push_back(segment);
    }

    /// Takes out the dips up to a segment.
    pub(super) fn leave(&mut self, segment: usize) {
        let left = self.dips.partition_point(|dip| *dip <= segment);
        self.dips.drain(..left);
        if left <= self.before.len() {
            let kept = self.before.len() - left;
            self.spare.extend(self.before.drain(kept..));
        } else {
            self.gather();
        }
    }

    /// The nodes that are free in a segment before the first dip, and at all dips.
    pub(super) fn free(&mut self, segment: usize) -> &Occupancy {
        let begin = &self.timeline.free[segment];
        let (one, other) = match (self.before.last(), &self.after) {
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

    /// Moves all dips to the first part.
    fn gather(&mut self) {
        self.spare.append(&mut self.before);
        self.spare.extend(self.after.take());
        for place in (0..self.dips.len()).rev() {
            let mut free = self.copy_of(self.dips[place]);
            if let Some(later) = self.before.last() {
                free.keep(later).expect("one machine");
            }
            self.before.push(free);
        }
    }

    /// The nodes that are free in a segment, the job's own included.
    fn copy_of(&mut self, segment: usize) -> Occupancy {
        let mut free = self.spare.pop().unwrap_or_else(|| self.common.clone());
        free.copy_from(&self.timeline.free[segment]);
        if let Some(own) = self.own.filter(|own| own.interval.from <= self.timeline.from[segment]) {
            match self.own_set.get_or_init(|| self.timeline.as_set(&own.held)) {
                Some(nodes) => free.give_set(nodes),
                None => free.give_all(own.held.parts()),
            }
            .expect("booked nodes were taken");
        }
        free
    }
}
