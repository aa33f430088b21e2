//! The earliest time at which nodes are free for a job.

use pavior_allocation::Placement;
use pavior_kernel::Time;
use pavior_mesh::Occupancy;

use super::Profile;
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
    /// Whether it is worth while to ask for a place from a time on. To be exact where the search is monotone.
    fn fits(&mut self, at: Time, free: &Occupancy) -> bool;

    /// Where the job is placed, if anywhere.
    fn place(&mut self, at: Time, free: &Occupancy) -> Option<Placement>;
}

impl Profile {
    /// The earliest time at which a job can be placed for as long as it is estimated to run, on nodes free
    /// throughout, and where.
    ///
    /// The nodes free throughout a stretch that begins inside a segment are free throughout the one that
    /// begins with it, or with the present: only those are tried. From one to the next they only grow, unless
    /// a dip enters or leaves the stretch. So the segments fall into runs, two for each dip at most, and where
    /// the search is monotone only the last of a run is asked about, unless the job fits there. O(d + log T)
    /// questions for d dips and T segments, of O(N/64) words each, where all segments took O(T).
    pub(crate) fn earliest(
        &self,
        search: &Search<'_>,
        question: &mut impl Question,
    ) -> Option<(Time, Placement)> {
        let mut runs = Runs::new(self, search);
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

/// Segments, both ends among them, with the same dips while a job runs that begins with one of them.
struct Run {
    first: usize,
    last: usize,
}

/// The runs in which a job may begin, in order.
struct Runs<'p> {
    profile: &'p Profile,
    search: Search<'p>,
    /// The dips while a job runs that begins in the run last seen.
    window: Window<'p>,
    /// Where the next run begins.
    begin: usize,
    end: usize,
    /// The next dip to enter.
    next_dip: usize,
}

impl<'p> Runs<'p> {
    fn new(profile: &'p Profile, search: &Search<'p>) -> Runs<'p> {
        let begin = profile.segment_at(search.begins.from);
        let end = profile.segment_at(search.begins.to);
        let window = Window::new(profile, search.own);
        Runs { profile, search: *search, window, begin, end, next_dip: 0 }
    }

    fn next(&mut self) -> Option<Run> {
        while self.begin < self.end {
            self.window.leave(self.begin);
            if let Some(short) = self.enter_dips() {
                self.begin = short;
                continue;
            }
            let (first, last) = (self.begin, self.last_of_run());
            self.begin = last + 1;
            return Some(Run { first, last });
        }
        None
    }

    /// Takes in the dips while a job runs that begins with the next segment, unless too few nodes are free at one.
    fn enter_dips(&mut self) -> Option<usize> {
        let from = self.profile.from[self.begin];
        let to = Interval::new(from, self.search.room.estimate).to;
        while let Some(&dip) = self.profile.dips.get(self.next_dip).filter(|dip| **dip < to) {
            self.next_dip += 1;
            if dip <= from {
                continue;
            }
            let segment = self.profile.segment_at(dip);
            if self.window.count(segment) < self.search.room.nodes {
                return Some(segment);
            }
            self.window.enter(segment);
        }
        None
    }

    fn last_of_run(&self) -> usize {
        if !self.search.monotone {
            return self.begin;
        }
        let mut end = self.window.first().map_or(self.end, |dip| dip.min(self.end));
        if let Some(dip) = self.profile.dips.get(self.next_dip) {
            let length = self.search.room.estimate.max(Time(1));
            let enters = dip.since(length).saturating_add(Time(1));
            end = end.min(self.profile.segment_at(enters));
        }
        end - 1
    }
}
