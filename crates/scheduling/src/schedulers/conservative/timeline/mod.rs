//! The free nodes at every time from now on, given the expected ends and the bookings.
//!
//! ```text
//!   segments:   |  a  |   b   | c |    d ..      b begins at a dip if a node free in a is taken
//! ```
//!
//! Invariant: each segment lasts until the next one begins, and the last one lasts indefinitely.
//! Adjacent segments differ. All nodes that are free in a segment are also free in the next one,
//! unless the next one begins at a dip.
//!
//! Cost: T N/64 words for T segments and N nodes. Taking or releasing a slot changes the rows that
//! contain its nodes in every segment of its interval, and shifts the later segments.

mod runs;
mod search;
mod window;

use std::collections::VecDeque;
use std::ops::Range;

use pavior_allocation::Placement;
use pavior_kernel::Time;
use pavior_mesh::{Occupancy, OccupancyError};

use super::slot::{Interval, Slot};
pub(super) use search::Search;

/// The free nodes, divided into segments of time. Times, counts and nodes are kept in separate
/// arrays so that a search for a time with enough free nodes reads only the counts.
pub(super) struct NodeTimeline {
    from: VecDeque<Time>,
    count: VecDeque<u32>,
    free: VecDeque<Occupancy>,
    /// True for each segment that begins at a dip, that is, where a slot begins and nodes stop
    /// being free. Always false for the first segment.
    dip: VecDeque<bool>,
}

impl NodeTimeline {
    /// Creates a timeline in which the nodes in `free` are free indefinitely from now on.
    pub(super) fn new(now: Time, free: Occupancy) -> NodeTimeline {
        let (count, free) = ([free.count()].into(), [free].into());
        NodeTimeline { from: [now].into(), count, free, dip: [false].into() }
    }

    /// Drops everything before `now`.
    pub(super) fn advance(&mut self, now: Time) {
        let past = self.from.partition_point(|from| *from <= now).max(1) - 1;
        self.from.drain(..past);
        self.count.drain(..past);
        self.free.drain(..past);
        self.dip.drain(..past);
        self.from[0] = self.from[0].max(now);
        self.dip[0] = false;
    }

    /// Takes a slot's free nodes, for the part of the slot's interval that is not in the past.
    pub(super) fn take(&mut self, slot: &Slot<Placement>) {
        match self.as_set(&slot.held) {
            Some(nodes) => self.change(slot.interval, |free| free.take_set(&nodes)),
            None => self.change(slot.interval, |free| free.take_all(slot.held.parts())),
        }
        .expect("booked nodes are free");
    }

    /// Releases a slot's nodes, for the part of the slot's interval that is not in the past.
    pub(super) fn give(&mut self, slot: &Slot<Placement>) {
        match self.as_set(&slot.held) {
            Some(nodes) => self.change(slot.interval, |free| free.give_set(&nodes)),
            None => self.change(slot.interval, |free| free.give_all(slot.held.parts())),
        }
        .expect("booked nodes were taken");
    }

    /// Takes the free nodes that are not in `open`, for the part of an interval that is not in the
    /// past.
    pub(super) fn close(&mut self, interval: Interval, open: &Occupancy) {
        let Some(Range { start, end }) = self.cut_out(interval) else { return };
        for index in start..end {
            self.free[index].keep(open).expect("a calendar belongs to one machine");
            self.count[index] = self.free[index].count();
        }
        // Segments that differed only in closed nodes are now equal.
        for index in (start..=end).rev() {
            self.join(index);
        }
    }

    /// Returns a placement's nodes as a set if its many parts make a set faster to use.
    fn as_set(&self, placement: &Placement) -> Option<Occupancy> {
        /// The approximate number of words that can be updated in the time it takes to update one
        /// part.
        const WORDS_A_PART: usize = 16;
        let grid = self.free[0].grid();
        let words = grid.nodes() as usize / 64;
        let parts = placement.parts().len();
        (parts > 1 && parts * WORDS_A_PART > words).then(|| {
            let mut nodes = Occupancy::all_busy(*grid);
            nodes.give_all(placement.parts()).expect("a placement's parts are disjoint");
            nodes
        })
    }

    /// Returns the first time from which a slot's nodes are free before the slot begins, either for
    /// the job's whole estimated run time or until the slot begins.
    pub(super) fn earlier_on_same_nodes(
        &self,
        slot: &Slot<Placement>,
        estimate: Time,
    ) -> Option<Interval> {
        let parts = slot.held.parts();
        let is_free = |free: &Occupancy| parts.iter().all(|part| free.is_free(part));
        let own = slot.interval.from;
        let mut index = 0;
        while let Some(&from) = self.from.get(index).filter(|from| **from < own) {
            let interval = Interval::new(from, estimate);
            let end = self.segment_at(interval.to.min(own));
            match (index..end).rfind(|&later| !is_free(&self.free[later])) {
                Some(taken) => index = taken + 1,
                None => return Some(interval),
            }
        }
        None
    }

    /// Returns the part of a slot's interval from the first to the last time at which any of its
    /// nodes is free.
    pub(super) fn still_free(&self, slot: &Slot<Placement>) -> Interval {
        let Interval { from, to } = slot.interval;
        let begin = self.from.partition_point(|begin| *begin <= from).saturating_sub(1);
        let mut segments = begin..self.segment_at(to);
        let is_free = |segment: &usize| {
            slot.held.parts().iter().any(|part| !self.free[*segment].is_taken(part))
        };
        let Some(first) = segments.find(is_free) else { return Interval { from: to, to } };
        let last = segments.rfind(is_free).unwrap_or(first);
        let end = self.from.get(last + 1).map_or(to, |end| to.min(*end));
        Interval { from: from.max(self.from[first]), to: end }
    }

    /// Returns the maximum number of free nodes at any time before `limit`.
    pub(super) fn most_free(&self, limit: Time) -> u32 {
        let end = self.segment_at(limit);
        self.count.range(..end).copied().max().unwrap_or(0)
    }

    /// Returns the first segment that begins at or after the given time.
    fn segment_at(&self, at: Time) -> usize {
        self.from.partition_point(|from| *from < at)
    }

    /// Changes the free nodes in the part of an interval that is not in the past. The same change
    /// applies to every segment, so segments that differed before still differ.
    fn change(
        &mut self,
        interval: Interval,
        change: impl Fn(&mut Occupancy) -> Result<(), OccupancyError>,
    ) -> Result<(), OccupancyError> {
        let Some(Range { start, end }) = self.cut_out(interval) else { return Ok(()) };
        for index in start..end {
            change(&mut self.free[index])?;
            self.count[index] = self.free[index].count();
        }
        self.join(end);
        self.join(start);
        Ok(())
    }

    /// Returns the segments that exactly cover the part of an interval that is not in the past, or
    /// `None` if the whole interval is in the past.
    fn cut_out(&mut self, interval: Interval) -> Option<Range<usize>> {
        let from = interval.from.max(self.from[0]);
        if interval.to <= from {
            return None;
        }
        let first = self.cut(from);
        let end = if interval.to == Time::MAX { self.from.len() } else { self.cut(interval.to) };
        Some(first..end)
    }

    /// Merges a segment into the previous one if the two are equal; otherwise, records whether the
    /// segment begins at a dip. Does nothing for the first segment or for an index past the end.
    fn join(&mut self, index: usize) {
        if !(1..self.from.len()).contains(&index) {
            return;
        }
        self.dip[index] = !self.free[index].includes(&self.free[index - 1]);
        if !self.dip[index] && self.count[index] == self.count[index - 1] {
            self.from.remove(index);
            self.count.remove(index);
            self.free.remove(index);
            self.dip.remove(index);
        }
    }

    /// Returns the segment that begins at `at`, splitting an existing segment if necessary.
    fn cut(&mut self, at: Time) -> usize {
        let index = self.segment_at(at);
        if self.from.get(index) != Some(&at) {
            self.from.insert(index, at);
            self.count.insert(index, self.count[index - 1]);
            self.free.insert(index, self.free[index - 1].clone());
            self.dip.insert(index, false);
        }
        index
    }
}
