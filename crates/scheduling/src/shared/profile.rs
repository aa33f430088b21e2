//! Which nodes are free when: occupancy from now on, by what is expected and booked.

use std::collections::VecDeque;

use pavior_allocation::Placement;
use pavior_kernel::Time;
use pavior_mesh::{Occupancy, OccupancyError};

/// The free nodes at every time from now on, in segments, each until the next begins; neighbours
/// differ. The last never ends.
///
/// For T segments and N nodes: T N/64 words of memory. Taking and giving cost the nodes' rows in every
/// segment that they concern, and moving the segments behind. Times and counts lie in arrays of their
/// own, so that looking for a time at which enough nodes are free reads nothing else.
pub(crate) struct Profile {
    from: VecDeque<Time>,
    count: VecDeque<u32>,
    free: VecDeque<Occupancy>,
}

/// A stretch of time, its end excluded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Interval {
    pub(crate) from: Time,
    pub(crate) to: Time,
}

impl Interval {
    /// A stretch of a job's estimated length, at least a tick: a job said to take no time still
    /// holds its nodes in an instant.
    pub(crate) fn new(from: Time, estimate: Time) -> Interval {
        Interval { from, to: from.saturating_add(estimate.max(Time(1))) }
    }
}

/// How many nodes, for how long.
#[derive(Clone, Copy)]
pub(crate) struct Room {
    pub(crate) nodes: u64,
    pub(crate) estimate: Time,
}

impl Profile {
    /// These nodes free from now on for ever.
    pub(crate) fn new(now: Time, free: Occupancy) -> Profile {
        Profile { from: [now].into(), count: [free.count()].into(), free: [free].into() }
    }

    /// Forgets what was before now.
    pub(crate) fn advance(&mut self, now: Time) {
        let past = self.from.partition_point(|from| *from <= now).max(1) - 1;
        self.from.drain(..past);
        self.count.drain(..past);
        self.free.drain(..past);
        self.from[0] = self.from[0].max(now);
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

    /// When, before `limit`, nodes are first free for as long as a job is estimated to run.
    pub(crate) fn earliest_of(
        &self,
        placement: &Placement,
        estimate: Time,
        limit: Time,
    ) -> Option<Interval> {
        let is_free = |free: &Occupancy| placement.parts().iter().all(|part| free.is_free(part));
        let mut index = 0;
        while let Some(&from) = self.from.get(index).filter(|from| **from < limit) {
            let interval = Interval::new(from, estimate);
            let end = self.segment_at(interval.to);
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

    /// Whether there is a time in a stretch from which on enough nodes are free, by number alone, for as
    /// long as a job is estimated to run, or until `own`.
    pub(crate) fn has_room(&self, room: Room, begins: Interval, own: Time) -> bool {
        let short = |index: &usize| u64::from(self.count[*index]) < room.nodes;
        let last = self.segment_at(begins.to.min(own));
        let mut index = self.segment_at(begins.from);
        while index < last {
            let until = Interval::new(self.from[index], room.estimate).to.min(own);
            let end = self.segment_at(until);
            match (index..end).find(short) {
                Some(taken) => index = taken + 1,
                None => return true,
            }
        }
        false
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

    /// Joins a segment to the one before it where they do not differ.
    fn join(&mut self, index: usize) {
        if (1..self.from.len()).contains(&index)
            && self.count[index] == self.count[index - 1]
            && self.free[index] == self.free[index - 1]
        {
            self.from.remove(index);
            self.count.remove(index);
            self.free.remove(index);
        }
    }

    /// The earliest time in `begins` at which a request can be placed for as long as it is estimated to
    /// run, on nodes free throughout, and where. `ask` puts the question for nodes free from a time on.
    ///
    /// The nodes free throughout a stretch that begins inside a segment are free throughout the one
    /// that begins with it, or with the present: only those are tried. Each segment enters what is free
    /// throughout, and leaves it, once: O(T) counts in all, O(N/64) words for each segment in which
    /// enough nodes are free, and a question wherever enough are free throughout.
    pub(crate) fn earliest(
        &self,
        room: Room,
        begins: Interval,
        mut ask: impl FnMut(Time, &Occupancy) -> Option<Placement>,
    ) -> Option<(Time, Placement)> {
        let short = |index: &usize| u64::from(self.count[*index]) < room.nodes;
        let last = self.segment_at(begins.to);
        let mut window = Window::new(self, self.segment_at(begins.from));
        'begins: while window.begin < last {
            if short(&window.begin) {
                window.restart(window.begin + 1);
                continue;
            }
            let from = self.from[window.begin];
            let end = self.segment_at(Interval::new(from, room.estimate).to);
            while window.end < end {
                if short(&window.end) {
                    window.restart(window.end + 1);
                    continue 'begins;
                }
                if !window.extend(room.nodes) {
                    window.leave();
                    continue 'begins;
                }
            }
            if let Some(placement) = ask(from, &window.free) {
                return Some((from, placement));
            }
            window.leave();
        }
        None
    }
}

/// The nodes free throughout the segments from one to another, both of which only move on.
///
/// A queue of two stacks: `before` has, for each segment of a first part, what is free from it to the
/// end of that part, the earliest on top; `after` is what is free throughout the rest. Until a segment
/// leaves there is no first part, and `free` alone is kept.
struct Window<'p> {
    profile: &'p Profile,
    begin: usize,
    end: usize,
    before: Vec<Occupancy>,
    after: Option<Occupancy>,
    free: Occupancy,
    /// Of no meaning: memory to be used again.
    spare: Vec<Occupancy>,
}

impl<'p> Window<'p> {
    fn new(profile: &'p Profile, begin: usize) -> Window<'p> {
        let free = profile.free[0].clone();
        let (before, after, spare) = (Vec::new(), None, Vec::new());
        Window { profile, begin, end: begin, before, after, free, spare }
    }

    /// Holds no segment, and will begin with this one.
    fn restart(&mut self, begin: usize) {
        self.forget();
        (self.begin, self.end) = (begin, begin);
    }

    /// There is no first part.
    fn forget(&mut self) {
        self.spare.append(&mut self.before);
        self.spare.extend(self.after.take());
    }

    /// An occupancy of no meaning.
    fn any(&mut self) -> Occupancy {
        self.spare.pop().unwrap_or_else(|| self.free.clone())
    }

    /// Takes the next segment in, if enough nodes are free throughout then.
    fn extend(&mut self, nodes: u64) -> bool {
        let next = &self.profile.free[self.end];
        if self.begin == self.end {
            self.free.copy_from(next);
        } else {
            let mut common = self.any();
            common.set_common(&self.free, next).expect("one machine");
            if u64::from(common.count()) < nodes {
                self.spare.push(common);
                return false;
            }
            self.spare.push(std::mem::replace(&mut self.free, common));
        }
        if !self.before.is_empty() {
            match &mut self.after {
                Some(after) => after.keep(next).expect("one machine"),
                none => *none = Some(next.clone()),
            }
        }
        self.end += 1;
        true
    }

    /// Leaves the first segment out.
    fn leave(&mut self) {
        self.begin += 1;
        if self.begin >= self.end {
            self.restart(self.begin);
            return;
        }
        self.spare.extend(self.before.pop());
        match (self.before.last(), &self.after) {
            (None, _) => self.gather(),
            (Some(top), None) => self.free.copy_from(top),
            (Some(top), Some(after)) => self.free.set_common(top, after).expect("one machine"),
        }
    }

    /// Makes all segments the first part.
    fn gather(&mut self) {
        self.forget();
        self.free.copy_from(&self.profile.free[self.end - 1]);
        for index in (self.begin..self.end).rev() {
            self.free.keep(&self.profile.free[index]).expect("one machine");
            let mut throughout = self.any();
            throughout.copy_from(&self.free);
            self.before.push(throughout);
        }
    }
}
