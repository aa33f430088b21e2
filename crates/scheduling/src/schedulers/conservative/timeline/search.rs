//! The search for the earliest time at which a job can be placed.

use std::ops::Range;

use pavior_allocation::Placement;
use pavior_kernel::Time;

use super::NodeTimeline;
use super::runs::Runs;
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
    ///
    /// Only begins of segments are tried: within a segment, the earlier a job begins, the more
    /// nodes are free for as long as it runs.
    ///
    /// If the search is monotone, most segments are ruled out in groups. First, all stretches
    /// that begin within half of the job's length have the other half in common. A job that does
    /// not fit there fits in none of them, which mostly takes one question. Second, what is left is
    /// cut into runs of segments ([`Runs`]), at most two for each dip. In a run the free nodes only
    /// grow, so that its last segment is asked about, and the others are bisected if the job fits
    /// there. For d dips and T segments that takes O(d + log T) questions of O(N/64) words each,
    /// instead of O(T).
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

    fn earliest_in(
        &self,
        segments: Range<usize>,
        search: &Search<'_>,
        question: &mut JobQuestion<'_, '_>,
    ) -> Option<(Time, Placement)> {
        let mut runs = Runs::new(self, search, segments);
        while let Some(run) = runs.next() {
            let fits = |segment: usize, runs: &mut Runs<'_>, question: &mut JobQuestion<'_, '_>| {
                u64::from(self.count[segment]) >= search.need.nodes && {
                    let free = runs.window.free(segment);
                    u64::from(free.count()) >= search.need.nodes
                        && question.fits(self.from[segment], free)
                }
            };
            if !fits(run.last, &mut runs, question) {
                continue;
            }
            let (mut first, mut last) = (run.first, run.last);
            while first < last {
                let middle = usize::midpoint(first, last);
                if fits(middle, &mut runs, question) {
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
