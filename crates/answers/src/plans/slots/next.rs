//! Finds the first time at which more boxes fit than fit now.
//!
//! The search replays job ends, as in `earliest.rs`. Once nodes have become free, they stay free,
//! so bisection finds the first end time after which more boxes fit.

use pavior_kernel::Time;
use pavior_mesh::JobId;

use super::{Slots, slots};
use crate::plans::earliest::ending;
use crate::{Shape, Snapshot};

/// The first time at which there are more slots than now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NextSlot {
    /// The first job end time at which the number of slots increases.
    pub at: Time,
    /// The slots at that time.
    pub slots: Slots,
    /// True if it is proven that there are no more slots at any earlier time.
    pub proven: bool,
}

/// Finds the first job end after which there are more disjoint free boxes than in `now`. A job
/// without an end time never ends. Returns `None` if no more boxes fit even after all jobs with
/// known end times have ended.
///
/// Cost: O(log e) slot counts for e distinct end times. `budget` limits each count. If a count
/// exhausts it, the time may be too late, and `None` may be wrong.
pub fn next_slot(
    snapshot: &Snapshot,
    shapes: &[Shape],
    now: &Slots,
    end: impl Fn(JobId) -> Option<Time>,
    budget: u64,
) -> Option<NextSlot> {
    let mut ends = ending(snapshot, end);
    ends.sort_unstable();
    let after = |at: Time| {
        let ended = ends.iter().take_while(|&&(end, _)| end <= at).map(|&(_, job)| job);
        slots(&snapshot.without(ended), shapes, budget)
    };
    let more = |slots: &Slots| slots.boxes.len() > now.boxes.len();
    let mut times: Vec<Time> = ends.iter().map(|&(end, _)| end).collect();
    times.dedup();
    let first = times.partition_point(|&at| !more(&after(at)));
    let &at = times.get(first)?;
    let before = first.checked_sub(1).map(|before| after(times[before]).bound);
    let proven = before.unwrap_or(now.bound) == now.boxes.len() as u32;
    Some(NextSlot { at, slots: after(at), proven })
}
