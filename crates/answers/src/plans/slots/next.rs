//! When one more box can be placed side by side than now.
//!
//! The ends of running jobs are replayed as in `earliest.rs`: room once made stays, so the first
//! end after which more boxes fit is found by bisection.

use pavior_kernel::Time;
use pavior_mesh::JobId;

use super::{Slots, slots};
use crate::plans::earliest::Ends;
use crate::{Shape, Snapshot};

/// When there are more slots than now, and which.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NextSlot {
    /// The end of a job after which there are more.
    pub at: Time,
    /// The slots then.
    pub slots: Slots,
    /// Whether there certainly are no more at any earlier time.
    pub proven: bool,
}

/// The first end of a job after which more boxes are free side by side than `now`. A job without an
/// end stays for ever. `None` if the ends that are known make room for no more.
///
/// O(log e) counts of slots for e different ends, each within `budget`.
pub fn next_slot(
    snapshot: &Snapshot,
    shapes: &[Shape],
    now: &Slots,
    end: impl Fn(JobId) -> Option<Time>,
    budget: u64,
) -> Option<NextSlot> {
    let ends = Ends::of(snapshot, end);
    let after = |at: Time| slots(&ends.free_after(at), shapes, budget);
    let more = |slots: &Slots| slots.boxes.len() > now.boxes.len();
    let times = ends.times();
    let first = times.partition_point(|&at| !more(&after(at)));
    let &at = times.get(first)?;
    let before = first.checked_sub(1).map(|before| after(times[before]).bound);
    let proven = before.unwrap_or(now.bound) == now.boxes.len() as u32;
    Some(NextSlot { at, slots: after(at), proven })
}
