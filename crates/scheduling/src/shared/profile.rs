//! Which nodes are free when: occupancy from now on, by what is expected and booked.

mod runs;
mod search;
mod window;

use std::collections::VecDeque;

use pavior_allocation::Placement;
use pavior_kernel::Time;
use pavior_mesh::{Occupancy, OccupancyError};

use super::slot::{Interval, Slot};
pub(crate) use search::{Question, Search};

/// The free nodes at every time from now on, in segments, each until the next begins; neighbours
/// differ. The last never ends.
///
/// For T segments and N nodes: T N/64 words of memory. Taking and giving cost the nodes' rows in
/// every segment that they concern, and moving the segments behind. Times and counts lie in arrays
/// of their own, so that looking for a time at which enough nodes are free reads nothing else.
pub(crate) struct Profile {
    from: VecDeque<Time>,
    count: VecDeque<u32>,
    free: VecDeque<Occupancy>,
    /// The times, in order, after the first segment's, at which nodes stop being free: where
    /// bookings begin. From each segment to the next all free nodes stay free, unless the next
    /// begins at one of them.
    dips: Vec<Time>,
}

impl Profile {
    /// These nodes free from now on for ever.
    pub(crate) fn new(now: Time, free: Occupancy) -> Profile {
        let (count, free) = ([free.count()].into(), [free].into());
        Profile { from: [now].into(), count, free, dips: Vec::new() }
    }

    /// Forgets what was before now.
    pub(crate) fn advance(&mut self, now: Time) {
        let past = self.from.partition_point(|from| *from <= now).max(1) - 1;
        self.from.drain(..past);
        self.count.drain(..past);
        self.free.drain(..past);
        self.from[0] = self.from[0].max(now);
        let past = self.dips.partition_point(|dip| *dip <= now);
        self.dips.drain(..past);
    }

    /// Takes free nodes for a stretch of time, as far as it is not past.
    pub(crate) fn take(&mut self, placement: &Placement, interval: Interval) {
        match self.as_set(placement) {
            Some(nodes) => self.change(interval, |free| free.take_set(&nodes)),
            None => self.change(interval, |free| free.take_all(placement.parts())),
        }
        .expect("booked nodes are free");
    }

    /// Gives nodes back for a stretch of time, as far as it is not past.
    pub(crate) fn give(&mut self, placement: &Placement, interval: Interval) {
        match self.as_set(placement) {
            Some(nodes) => self.change(interval, |free| free.give_set(&nodes)),
            None => self.change(interval, |free| free.give_all(placement.parts())),
        }
        .expect("booked nodes were taken");
    }

    /// The nodes of a placement of so many parts that segments are changed sooner by whole words.
    fn as_set(&self, placement: &Placement) -> Option<Occupancy> {
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

    /// When, before a slot, its nodes are first free for as long as a job is estimated to run, or
    /// until the slot.
    pub(crate) fn earlier_on_same(
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

    /// The most nodes that are free at any time before `limit`.
    pub(crate) fn most_free(&self, limit: Time) -> u32 {
        let end = self.segment_at(limit);
        self.count.range(..end).copied().max().unwrap_or(0)
    }

    /// The first segment that begins at a time or later.
    fn segment_at(&self, at: Time) -> usize {
        self.from.partition_point(|from| *from < at)
    }

    fn change(
        &mut self,
        interval: Interval,
        change: impl Fn(&mut Occupancy) -> Result<(), OccupancyError>,
    ) -> Result<(), OccupancyError> {
        let from = interval.from.max(self.from[0]);
        if interval.to <= from {
            return Ok(());
        }
        let first = self.cut(from);
        let last = if interval.to == Time::MAX { self.from.len() } else { self.cut(interval.to) };
        for index in first..last {
            change(&mut self.free[index])?;
            self.count[index] = self.free[index].count();
        }
        self.join(last);
        self.join(first);
        Ok(())
    }

    /// Joins a segment to the one before it where they do not differ, and notes where it lacks
    /// nodes of that.
    fn join(&mut self, index: usize) {
        if !(1..self.from.len()).contains(&index) {
            return;
        }
        let at = self.from[index];
        let dips = self.dips.binary_search(&at);
        if self.free[index].includes(&self.free[index - 1]) {
            dips.map(|place| self.dips.remove(place)).ok();
            if self.count[index] == self.count[index - 1] {
                self.from.remove(index);
                self.count.remove(index);
                self.free.remove(index);
            }
        } else if let Err(place) = dips {
            self.dips.insert(place, at);
        }
    }

    /// The index of the segment that begins at a time, cut there if need be.
    fn cut(&mut self, at: Time) -> usize {
        let index = self.segment_at(at);
        if self.from.get(index) != Some(&at) {
            self.from.insert(index, at);
            self.count.insert(index, self.count[index - 1]);
            self.free.insert(index, self.free[index - 1].clone());
        }
        index
    }
}
