//! The search for the earliest time at which a job can be placed.
//!
//! Only begins of segments are tried: within a segment, the earlier a job begins, the more nodes
//! are free for as long as it runs.
//!
//! If the job's answers are monotone, most segments are ruled out together:
//!
//! 1. All stretches that begin within half of the job's length have the other half in common. A job
//!    that does not fit there fits in none of them. That mostly takes one question.
//! 2. What is left is cut into [`Runs`], in which free nodes only grow. The last segment of each is
//!    asked about. If the job fits there, the others are bisected.
//!
//! Invariant: a segment that is left out is one at which the job does not fit. So the time found is
//! the earliest.
//!
//! Cost: O(d + log T) questions of O(N/64) words each, for d dips and T segments; O(T) questions if
//! answers are not monotone.

use std::ops::Range;

use pavior_allocation::Placement;
use pavior_kernel::Time;

use super::NodeTimeline;
use super::runs::{Run, Runs};
use super::window::Window;
use crate::schedulers::conservative::question::JobQuestion;
use crate::schedulers::conservative::slot::{Interval, Need, Slot};

/// What is looked for.
#[derive(Clone, Copy)]
pub(in super::super) struct Search<'p> {
    pub(in super::super) need: Need,
    /// When the job may begin.
    pub(in super::super) begins: Interval,
    /// The job's own slot, which is free to it. It may begin only before.
    pub(in super::super) own: Option<&'p Slot<Placement>>,
    /// Whether the job is refused on fewer nodes whenever it is refused on more.
    pub(in super::super) monotone: bool,
}

impl NodeTimeline {
    /// The earliest time at which a job can be placed on nodes that are free for as long as it is
    /// estimated to run, and where.
    pub(in super::super) fn earliest(
        &self,
        search: &Search<'_>,
        question: &mut JobQuestion<'_, '_>,
    ) -> Option<(Time, Placement)> {
        let end = self.segment_at(search.begins.to);
        let mut begin = self.segment_at(search.begins.from);
        if !search.monotone {
            return self.earliest_in(begin..end, search, question);
        }
        let need = search.need;
        let mut common = Window::new(self, search.own);
        while begin < end {
            let half = self.from[begin].saturating_add(Time(need.estimate.0 / 2));
            let group = begin..self.segment_at(half).clamp(begin + 1, end);
            let (from, last) = (self.from[begin], group.end - 1);
            common.leave(last);
            let to = Interval::new(from, need.estimate).to;
            if let Some(short) = common.enter_all(self.from[last], to, need.nodes) {
                begin = short;
                continue;
            }
            begin = group.end;
            // For a single segment the second step asks the same.
            let may_begin = group.start == last || {
                let shared = Interval { from, ..Interval::new(self.from[last], need.estimate) };
                let free = common.free(last);
                u64::from(free.count()) >= need.nodes && question.may_fit(shared, free)
            };
            if may_begin && let Some(found) = self.earliest_in(group, search, question) {
                return Some(found);
            }
        }
        None
    }

    /// As [`NodeTimeline::earliest`], run by run.
    fn earliest_in(
        &self,
        segments: Range<usize>,
        search: &Search<'_>,
        question: &mut JobQuestion<'_, '_>,
    ) -> Option<(Time, Placement)> {
        let mut runs = Runs::new(self, search, segments);
        while let Some(Run { mut first, mut last }) = runs.next() {
            let mut fits = |segment: usize| {
                let enough = |count: u32| u64::from(count) >= search.need.nodes;
                enough(self.count[segment]) && {
                    let free = runs.window.free(segment);
                    enough(free.count()) && question.fits(self.from[segment], free)
                }
            };
            if !fits(last) {
                continue;
            }
            while first < last {
                let middle = usize::midpoint(first, last);
                if fits(middle) {
                    last = middle;
                } else {
                    first = middle + 1;
                }
            }
            let at = self.from[first];
            if let Some(placement) = question.place(at, runs.window.free(first)) {
                return Some((at, placement));
            }
        }
        None
    }
}
