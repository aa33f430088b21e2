//! Finds the first time at which a box fits as running jobs end, and the place where it fits.
//!
//! The search replays job ends on a copy of the free nodes. Once a place is free, it stays free, so
//! the first end time after which the box fits can be found by bisection. Among the places that are
//! free at that time, the search returns the first by orientation, then by base. No place becomes
//! free earlier than this one.
//!
//! Cost: O(log jobs) searches. The jobs are not sorted. Instead, each step partitions the remaining
//! jobs around their median end time, which takes O(jobs) time in total.

use pavior_kernel::Time;
use pavior_mesh::{BaseSet, Cuboid, JobId, Occupancy};

use crate::plans::near::first_free;
use crate::{Shape, Snapshot};

/// A place and the time at which it becomes free.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Earliest {
    /// The time at which the last job in the place ends, or [`Time::ZERO`] if it is free now.
    pub at: Time,
    /// The place that becomes free.
    pub place: Cuboid,
}

/// Finds the first place to become free for a box. A job without an end time never ends. Returns
/// `None` if no place ever becomes free. Takes O(log jobs) searches, each of which takes
/// O(log(side) N/64) time per orientation.
pub fn earliest(
    snapshot: &Snapshot,
    shape: Shape,
    end: impl Fn(JobId) -> Option<Time>,
) -> Option<Earliest> {
    let mut bases = BaseSet::new(snapshot.grid);
    if let Some(place) = first_free(&mut bases, &snapshot.free, shape) {
        return Some(Earliest { at: Time::ZERO, place });
    }
    let room = |free: &Occupancy| first_free(&mut bases, free, shape);
    first_end(snapshot, end, room).map(|(at, place)| Earliest { at, place })
}

/// Finds the first job end after which `find` returns a value for the free nodes, and returns its
/// time and that value. If `find` accepts a set of free nodes, it must accept every superset.
pub(crate) fn first_end<T>(
    snapshot: &Snapshot,
    end: impl Fn(JobId) -> Option<Time>,
    mut find: impl FnMut(&Occupancy) -> Option<T>,
) -> Option<(Time, T)> {
    let mut ending = ending(snapshot, end);
    // The result is either in `open` or already in `found`. `free` contains the nodes that are free
    // before the earliest end in `open`.
    let mut open = &mut ending[..];
    let (mut found, mut free) = (None, snapshot.free.clone());
    let mut free_later = free.clone();
    while !open.is_empty() {
        let middle = open.len() / 2;
        let (at, _) = *open.select_nth_unstable(middle).1;
        let before = divide(open, |end| end < at);
        let until = before + divide(&mut open[before..], |end| end == at);
        free_later.copy_from(&free);
        snapshot.give(&mut free_later, open[..until].iter().map(|&(_, job)| job));
        if let Some(value) = find(&free_later) {
            found = Some((at, value));
            open = &mut open[..before];
        } else {
            std::mem::swap(&mut free, &mut free_later);
            open = &mut open[until..];
        }
    }
    found
}

/// Returns the end time of each job that has one, with the job's index in the snapshot.
pub(crate) fn ending(
    snapshot: &Snapshot,
    end: impl Fn(JobId) -> Option<Time>,
) -> Vec<(Time, usize)> {
    let jobs = snapshot.jobs().enumerate();
    jobs.filter_map(|(index, (job, _))| Some((end(job)?, index))).collect()
}

/// Moves the end times that satisfy the condition to the front, and returns their number.
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
