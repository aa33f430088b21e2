//! Earliest: when the ends of running jobs will have made room for a box, and where.
//!
//! The ends are replayed on a copy of the free nodes. Room once made stays, so the first end after
//! which the box is free is found by bisection: O(log e) searches for e different ends. The place
//! is then the first free one, in the order of orientations and bases. Before that time no place is
//! free. So it is the place whose last job ends first, ties by scan order.

use pavior_kernel::Time;
use pavior_mesh::{Cuboid, JobId, Occupancy};

use crate::near::first_free;
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
    if let Some(place) = first_free(&snapshot.free, shape) {
        return Some(Earliest { at: Time::ZERO, place });
    }
    let ends = Ends::of(snapshot, end);
    let after = |at: Time| first_free(&ends.free_after(at), shape);
    let times = ends.times();
    let first = times.partition_point(|&at| after(at).is_none());
    let &at = times.get(first)?;
    after(at).map(|place| Earliest { at, place })
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
