//! The nodes that are free throughout a stretch of a profile.

use std::cell::OnceCell;
use std::collections::VecDeque;

use pavior_allocation::Placement;
use pavior_kernel::Time;
use pavior_mesh::Occupancy;

use super::Profile;
use crate::shared::slot::Slot;

/// The nodes free at all dips between a beginning and an end, both of which only move on: with
/// those free at the beginning, what is free throughout, because between dips free nodes stay free.
///
/// A queue of two stacks: `before` has, for each dip of a first part, what is free from it to the
/// end of that part, the earliest on top; `after` is what is free at all dips of the rest. So each
/// dip enters once and leaves once, at O(N/64) words each.
pub(super) struct Window<'p> {
    profile: &'p Profile,
    /// Booked for the job that is looked for, and so free to it.
    own: Option<&'p Slot<Placement>>,
    /// Its nodes, once they are needed, where they are given sooner by whole words.
    own_set: OnceCell<Option<Occupancy>>,
    /// The segments of the dips.
    dips: VecDeque<usize>,
    /// The next of the profile's dips to enter.
    next_dip: usize,
    before: Vec<Occupancy>,
    after: Option<Occupancy>,
    common: Occupancy,
    /// Of no meaning: memory to be used again.
    spare: Vec<Occupancy>,
}

impl<'p> Window<'p> {
    pub(super) fn new(profile: &'p Profile, own: Option<&'p Slot<Placement>>) -> Window<'p> {
        let common = profile.free[0].clone();
        let (dips, before, after, spare) = (VecDeque::new(), Vec::new(), None, Vec::new());
        Window {
            profile,
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

    /// The number of nodes free in a segment.
    fn count(&self, segment: usize) -> u64 {
        let own = self.own.filter(|own| own.interval.from <= self.profile.from[segment]);
        let own = own.map_or(0, |own| own.held.nodes());
        u64::from(self.profile.count[segment]) + u64::from(own)
    }

    /// Takes in the next dips after one time and before another, up to one at which fewer nodes are
    /// free than are needed: its segment.
    pub(super) fn enter_all(&mut self, after: Time, before: Time, nodes: u64) -> Option<usize> {
        while let Some(&dip) = self.profile.dips.get(self.next_dip).filter(|dip| **dip < before) {
            self.next_dip += 1;
            if dip <= after {
                continue;
            }
            let segment = self.profile.segment_at(dip);
            if self.count(segment) < nodes {
                return Some(segment);
            }
            self.enter(segment);
        }
        None
    }

    /// When the next dip is, if there is one.
    pub(super) fn next_dip(&self) -> Option<Time> {
        self.profile.dips.get(self.next_dip).copied()
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

    /// Leaves out the dips up to a segment.
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

    /// What is free from a segment before all dips to the end.
    pub(super) fn free(&mut self, segment: usize) -> &Occupancy {
        let begin = &self.profile.free[segment];
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

    /// Makes all dips the first part.
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

    /// What is free in a segment.
    fn copy_of(&mut self, segment: usize) -> Occupancy {
        let mut free = self.spare.pop().unwrap_or_else(|| self.common.clone());
        free.copy_from(&self.profile.free[segment]);
        if let Some(own) = self.own.filter(|own| own.interval.from <= self.profile.from[segment]) {
            match self.own_set.get_or_init(|| self.profile.as_set(&own.held)) {
                Some(nodes) => free.give_set(nodes),
                None => free.give_all(own.held.parts()),
            }
            .expect("booked nodes were taken");
        }
        free
    }
}
