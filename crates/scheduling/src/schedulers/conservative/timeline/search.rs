//! The search for the earliest time at which a job can be placed.
//!
//! Only the start of each segment is tried: within a segment, the earlier a job starts, the more
//! nodes are free while it runs.
//!
//! If the job's answers are monotone, most segments are ruled out in groups:
//!
//! 1. If start times are within half the job's length of each other, the resulting runs overlap by
//!    at least half. If the job does not fit in this overlap, it fits at none of these start times.
//!    This usually takes one query to decide, after a few dips in the overlap have been checked.
//! 2. The remaining segments are divided into [`Runs`]. Within a run, the free nodes only increase.
//!    The run's last segment is tried first. If the job fits there, the other segments are
//!    bisected.
//!
//! Invariant: the job does not fit at a segment that was ruled out, so the earliest time is found.
//!
//! Cost: O(d + log T) queries of O(N/64) words each, for d dips and T segments; O(T) queries if
//! answers are not monotone.

use std::ops::Range;

use pavior_allocation::Placement;
use pavior_kernel::Time;

use super::NodeTimeline;
use super::runs::{Run, Runs};
use super::window::{Entered, Window};
use crate::schedulers::conservative::question::JobQuestion;
use crate::schedulers::conservative::slot::{Interval, Need, Slot};

/// The number of dips to check before a job is first tried.
const FEW_DIPS: usize = 8;

/// The result of testing a group of segments at once.
enum Tried {
    Refused,
    /// The job would span a dip with too few free nodes. Contains that dip's segment.
    Short(usize),
    MayFit,
}

/// The constraints of a search.
#[derive(Clone, Copy)]
pub(in super::super) struct Search<'p> {
    pub(in super::super) need: Need,
    /// The interval in which the job may begin.
    pub(in super::super) begins: Interval,
    /// The job's own slot, which counts as free. The job may begin only before this slot.
    pub(in super::super) own: Option<&'p Slot<Placement>>,
    /// True if a refused job would also be refused with fewer free nodes.
    pub(in super::super) monotone: bool,
}

impl Search<'_> {
    /// Returns the first time at which the job may begin in a segment.
    fn begin(&self, timeline: &NodeTimeline, segment: usize) -> Time {
        timeline.from[segment].max(self.begins.from)
    }
}

impl NodeTimeline {
    /// Returns the earliest time at which a job can be placed on nodes that are free for its whole
    /// estimated run time, along with the placement.
    pub(in super::super) fn earliest(
        &self,
        search: &Search<'_>,
        question: &mut JobQuestion<'_, '_>,
    ) -> Option<(Time, Placement)> {
        let end = self.segment_at(search.begins.to);
        let first = self.segment_at(search.begins.from);
        if !search.monotone {
            return self.earliest_in(first..end, search, question);
        }
        // A segment that began earlier is not tried as a start. It still belongs to the first
        // group, because a longer job that begins in this segment may reach the freed slots.
        let mut begin = self.from.partition_point(|from| *from <= search.begins.from);
        begin = begin.saturating_sub(1);
        if begin >= end {
            return None;
        }
        let mut common = Window::new(self, search.own, begin);
        while begin < end {
            let half = search.begin(self, begin).saturating_add(Time(search.need.estimate.0 / 2));
            let group = begin..self.segment_at(half).clamp(begin + 1, end);
            begin = match self.tried(&group, &mut common, search, question) {
                Tried::Refused => group.end,
                Tried::Short(short) => short,
                Tried::MayFit => {
                    let tried = group.start.max(first)..group.end;
                    match self.earliest_in(tried, search, question) {
                        Some(found) => return Some(found),
                        None => group.end,
                    }
                }
            };
        }
        None
    }

    /// Tests all start times in `group` at once. First checks a few of the dips that the job would
    /// span, because usually one of them leaves too few nodes.
    fn tried(
        &self,
        group: &Range<usize>,
        common: &mut Window<'_>,
        search: &Search<'_>,
        question: &mut JobQuestion<'_, '_>,
    ) -> Tried {
        let need = search.need;
        let (from, last) = (search.begin(self, group.start), group.end - 1);
        // A longer job may begin at any time until the next segment begins.
        let until = self.from.get(group.end).map_or(search.begins.to, |next| *next);
        let until = until.min(search.begins.to);
        let shared = Interval { from, ..Interval::new(until, need.estimate) };
        let dips = (last, self.segment_at(Interval::new(from, need.estimate).to));
        common.leave(last);
        let mut most = FEW_DIPS;
        loop {
            let is_all = match common.enter_some(dips, need.nodes, most) {
                Entered::Short(short) => {
                    let skipped = Interval::new(self.from[short], need.estimate);
                    question.skip(Interval { from, ..skipped });
                    return Tried::Short(short);
                }
                Entered::All => true,
                Entered::Some => false,
            };
            let free = common.free(last);
            if u64::from(free.count()) < need.nodes {
                question.skip(shared);
                return Tried::Refused;
            }
            let asks = is_all || most == FEW_DIPS;
            if asks && !question.may_fit(shared, free) {
                return Tried::Refused;
            }
            if is_all {
                return Tried::MayFit;
            }
            most *= 4;
        }
    }

    /// Searches like [`NodeTimeline::earliest`], but run by run.
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
