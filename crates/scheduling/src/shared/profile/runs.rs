//! Stretches of a profile in which the nodes free for as long as a job runs only grow.

use std::ops::Range;

use pavior_kernel::Time;

use super::Profile;
use super::search::Search;
use super::window::Window;
use crate::shared::slot::Interval;

/// Segments, both ends among them, with the same dips while a job runs that begins with one of
/// them.
pub(super) struct Run {
    pub(super) first: usize,
    pub(super) last: usize,
}

/// The runs in which a job may begin, in order.
pub(super) struct Runs<'p> {
    profile: &'p Profile,
    search: Search<'p>,
    /// The dips while a job runs that begins in the run last seen.
    pub(super) window: Window<'p>,
    /// Where the next run begins.
    begin: usize,
    end: usize,
}

impl<'p> Runs<'p> {
    /// Of some segments.
    pub(super) fn new(
        profile: &'p Profile,
        search: &Search<'p>,
        segments: Range<usize>,
    ) -> Runs<'p> {
        let window = Window::new(profile, search.own);
        let Range { start: begin, end } = segments;
        Runs { profile, search: *search, window, begin, end }
    }

    pub(super) fn next(&mut self) -> Option<Run> {
        while self.begin < self.end {
            self.window.leave(self.begin);
            let from = self.profile.from[self.begin];
            let to = Interval::new(from, self.search.room.estimate).to;
            if let Some(short) = self.window.enter_all(from, to, self.search.room.nodes) {
                self.begin = short;
                continue;
            }
            let (first, last) = (self.begin, self.last_of_run());
            self.begin = last + 1;
            return Some(Run { first, last });
        }
        None
    }

    fn last_of_run(&self) -> usize {
        if !self.search.monotone {
            return self.begin;
        }
        let mut end = self.window.first().map_or(self.end, |dip| dip.min(self.end));
        if let Some(dip) = self.window.next_dip() {
            let length = self.search.room.estimate.max(Time(1));
            let enters = dip.since(length).saturating_add(Time(1));
            end = end.min(self.profile.segment_at(enters));
        }
        end - 1
    }
}
