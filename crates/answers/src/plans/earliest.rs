//! Earliest: when the ends of running jobs will have made room for a box, and where.
//!
//! The ends are replayed on a copy of the free nodes. Room once made stays, so the first end after
//! which the box is free is found by bisection. The place is then the first free one, in the order
//! of orientations and bases. Before that time no place is free. So it is the place whose last job
//! ends first, ties by scan order.
//!
//! Cost: O(log e) searches for e different ends. Each looks at the jobs that end before or after
//! the one in the middle: O(jobs) in all, without sorting them.

use pavior_kernel::Time;
use pavior_mesh::{BaseSet, Cuboid, JobId, Occupancy};

use crate::plans::near::first_free_with;
use crate::{Shape, Snapshot};

/// A place, and when it will be free.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Earliest {
    /// The last end of a job that stands in it; [`Time::ZERO`] if it is free already.
    pub at: Time,
    /// The place.
    pub place: Cuboid,
}

/// The earliest place of a box. A job without an end stays for ever. `None` if the box never fits.
/// O(log e) searches for e different ends, each of O(log(side) N/64) an orientation.
pub fn earliest(
    snapshot: &Snapshot,
    shape: Shape,
    end: impl Fn(JobId) -> Option<Time>,
) -> Option<Earliest> {
    let mut bases = BaseSet::new(snapshot.grid);
    if let Some(place) = first_free_with(&mut bases, &snapshot.free, shape) {
        return Some(Earliest { at: Time::ZERO, place });
    }
    let room = |free: &Occupancy| first_free_with(&mut bases, free, shape);
    first_end(snapshot, end, room).map(|(at, place)| Earliest { at, place })
}

/// The first end of a job after which `told` says something of the free nodes, and what it says. If
/// it says something of some nodes, it must do so of more.
pub(crate) fn first_end<T>(
    snapshot: &Snapshot,
    end: impl Fn(JobId) -> Option<Time>,
    mut told: impl FnMut(&Occupancy) -> Option<T>,
) -> Option<(Time, T)> {
    let jobs = snapshot.jobs().enumerate();
    let mut ending: Vec<(Time, usize)> =
        jobs.filter_map(|(index, (job, _))| Some((end(job)?, index))).collect();
    // The first end is one of `open`, or is found; `free` is what there is before them.
    let mut open = &mut ending[..];
    let (mut found, mut free) = (None, snapshot.free.clone());
    let mut then = free.clone();
    while !open.is_empty() {
        let middle = open.len() / 2;
        let (at, _) = *open.select_nth_unstable(middle).1;
        let before = divide(open, |end| end < at);
        let until = before + divide(&mut open[before..], |end| end == at);
        then.copy_from(&free);
        snapshot.give(&mut then, open[..until].iter().map(|&(_, job)| job));
        if let Some(said) = told(&then) {
            found = Some((at, said));
            open = &mut open[..before];
        } else {
            std::mem::swap(&mut free, &mut then);
            open = &mut open[until..];
        }
    }
    found
}

/// Puts the ends of which something holds before the others; returns how many they are.
fn divide(ends: &mut [(Time, usize)], holds: impl Fn(Time) -> bool) -> usize {
    let mut count = 0;
    for index in 0..ends.len() {
        if holds(ends[index].0) {
            ends.swap(count, index);
            count += 1;
        }
    }
    count
}

/// The ends of the jobs of a state, replayed.
pub(crate) struct Ends<'a> {
    snapshot: &'a Snapshot,
    /// When jobs end, by their places in the list, the first first.
    ending: Vec<(Time, usize)>,
}

impl Ends<'_> {
    pub(crate) fn of(snapshot: &Snapshot, end: impl Fn(JobId) -> Option<Time>) -> Ends<'_> {
        let jobs = snapshot.jobs().enumerate();
        let mut ending: Vec<(Time, usize)> =
            jobs.filter_map(|(index, (job, _))| Some((end(job)?, index))).collect();
        ending.sort_unstable();
        Ends { snapshot, ending }
    }

    /// The different ends, ascending.
    pub(crate) fn times(&self) -> Vec<Time> {
        let mut times: Vec<Time> = self.ending.iter().map(|&(end, _)| end).collect();
        times.dedup();
        times
    }

    /// The free nodes once the jobs that end until then are gone.
    pub(crate) fn free_after(&self, at: Time) -> Occupancy {
        let gone = self.ending.iter().take_while(|&&(end, _)| end <= at).map(|&(_, job)| job);
        self.snapshot.without(gone)
    }
}
