//! The earliest time at which nodes are free for a job.

use std::ops::Range;

use pavior_allocation::Placement;
use pavior_kernel::Time;
use pavior_mesh::Occupancy;

use super::Profile;
use super::runs::Runs;
use super::window::Window;
use crate::shared::slot::{Interval, Room, Slot};

/// What is looked for.
#[derive(Clone, Copy)]
pub(crate) struct Search<'p> {
    pub(crate) room: Room,
    /// When the job may begin.
    pub(crate) begins: Interval,
    /// What the job has booked, and so is free to it. It may begin only before.
    pub(crate) own: Option<&'p Slot<Placement>>,
    /// What is refused on more nodes is refused on fewer.
    pub(crate) monotone: bool,
}

/// What a job needs to know of nodes that are free for as long as it runs.
pub(crate) trait Question {
    /// Whether it may fit on nodes, those that are free throughout some stretch. Where the search
    /// is monotone, it does not if it does not on more nodes throughout a shorter one.
    fn may_fit(&mut self, within: Interval, free: &Occupancy) -> bool;

    /// Whether it is worth while to ask for a place from a time on. To be exact where the search is
    /// monotone.
    fn fits(&mut self, at: Time, free: &Occupancy) -> bool;

    /// Where the job is placed, if anywhere.
    fn place(&mut self, at: Time, free: &Occupancy) -> Option<Placement>;
}

impl Profile {
    /// The earliest time at which a job can be placed for as long as it is estimated to run, on
    /// nodes free throughout, and where.
    ///
    /// The nodes free throughout a stretch that begins inside a segment are free throughout the one
    /// that begins with it, or with the present: only those are tried. Stretches that begin within
    /// less time than the job runs have a part in common, and what does not fit on the nodes free
    /// throughout that part fits in none of them: one question, mostly, for half of the length of
    /// the job. From one segment to the next the nodes free throughout only grow, unless a dip
    /// enters or leaves the stretch. So the segments fall into runs, two for each dip at most, and
    /// where the search is monotone only the last of a run is asked about, unless the job fits
    /// there. O(d + log T) questions for d dips and T segments, of O(N/64) words each, where all
    /// segments took O(T).
    pub(crate) fn earliest(
        &self,
        search: &Search<'_>,
        question: &mut impl Question,
    ) -> Option<(Time, Placement)> {
        let end = self.segment_at(search.begins.to);
        let mut begin = self.segment_at(search.begins.from);
        if !search.monotone {
            return self.earliest_in(begin..end, search, question);
        }
        let room = search.room;
        let mut common = Window::new(self, search.own);
        while begin < end {
            let half = self.from[begin].saturating_add(Time(room.estimate.0 / 2));
            let piece = begin..self.segment_at(half).clamp(begin + 1, end);
            let (from, last) = (self.from[begin], piece.end - 1);
            common.leave(last);
            let to = Interval::new(from, room.estimate).to;
            if let Some(short) = common.enter_all(self.from[last], to, room.nodes) {
                begin = short;
                continue;
            }
            begin = piece.end;
            // Of one segment the search asks the same.
            let may_begin = piece.start == last || {
                let within = Interval { from, ..Interval::new(self.from[last], room.estimate) };
                let free = common.free(last);
                u64::from(free.count()) >= room.nodes && question.may_fit(within, free)
            };
            if may_begin && let Some(found) = self.earliest_in(piece, search, question) {
                return Some(found);
            }
        }
        None
    }

    fn earliest_in(
        &self,
        segments: Range<usize>,
        search: &Search<'_>,
        question: &mut impl Question,
    ) -> Option<(Time, Placement)> {
        let mut runs = Runs::new(self, search, segments);
        while let Some(run) = runs.next() {
            let fits = |segment: usize, runs: &mut Runs<'_>, question: &mut dyn Question| {
                u64::from(self.count[segment]) >= search.room.nodes && {
                    let free = runs.window.free(segment);
                    u64::from(free.count()) >= search.room.nodes
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
