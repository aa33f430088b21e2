//! Runs of segments: within a run, the later a job begins, the more nodes are free for it.
//!
//! As its start time moves later, a job leaves some dips behind and reaches new ones. Between such
//! changes, it spans the same dips:
//!
//! ```text
//!                 dip
//!                  v
//!   |  a |  b |  b |  c |  c |     A job lasts three segments. From a it ends before the dip. From
//!                                  b it spans the dip. From c it begins after the dip.
//! ```
//!
//! A run therefore ends before the first dip in its window, and before the start time at which the
//! next dip would enter the window. There are at most two runs per dip.
//!
//! Invariant: the window contains the dips spanned by a job that begins in the last run. Within a
//! run, the later the segment in which a job begins, the more nodes stay free for it.
//!
//! Cost: O(N/64) words per dip, as for the window. Each run also takes O(log T) time for T
//! segments, plus O(1) for each segment up to the next dip.

use std::ops::Range;

use pavior_kernel::Time;

use super::NodeTimeline;
use super::search::Search;
use super::window::{Entered, Window};
use crate::schedulers::conservative::slot::Interval;

/// An inclusive range of segments. A job spans the same dips no matter which of these segments it
/// begins in.
pub(super) struct Run {
    pub(super) first: usize,
    pub(super) last: usize,
}

/// The runs in which a job may begin, in order.
pub(super) struct Runs<'p> {
    timeline: &'p NodeTimeline,
    search: Search<'p>,
    /// The dips spanned by a job that begins in the last run.
    pub(super) window: Window<'p>,
    /// The segment in which the next run begins.
    begin: usize,
    end: usize,
}

impl<'p> Runs<'p> {
    /// Creates the sequence of runs in a range of segments.
    pub(super) fn new(
        timeline: &'p NodeTimeline,
        search: &Search<'p>,
        segments: Range<usize>,
    ) -> Runs<'p> {
        let Range { start: begin, end } = segments;
        let window = Window::new(timeline, search.own, begin);
        Runs { timeline, search: *search, window, begin, end }
    }

    /// Returns the next run. Skips each segment in which the job cannot begin because it would span
    /// a dip with too few free nodes.
    pub(super) fn next(&mut self) -> Option<Run> {
        while self.begin < self.end {
            self.window.leave(self.begin);
            let from = self.timeline.from[self.begin];
            let to = Interval::new(from, self.search.need.estimate).to;
            let dips = (self.begin, self.timeline.segment_at(to));
            let nodes = self.search.need.nodes;
            if let Entered::Short(short) = self.window.enter_some(dips, nodes, usize::MAX) {
                self.begin = short;
                continue;
            }
            let (first, last) = (self.begin, self.last_of_run());
            self.begin = last + 1;
            return Some(Run { first, last });
        }
        None
    }

    /// Returns the last segment of the run that starts at the current segment. If the job's answers
    /// are not monotone, each segment is its own run.
    fn last_of_run(&self) -> usize {
        if !self.search.monotone {
            return self.begin;
        }
        let mut end = self.window.first().map_or(self.end, |dip| dip.min(self.end));
        if let Some(dip) = self.window.next_dip() {
            let length = self.search.need.estimate.max(Time(1));
            let enters = dip.since(length).saturating_add(Time(1));
            end = end.min(self.timeline.segment_at(enters));
        }
        end - 1
    }
}
