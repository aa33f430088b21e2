//! Determines whether and where a job fits on nodes that are free for its whole run.
//!
//! The strategy is queried last. For a job with monotone answers, a cheaper test comes first:
//!
//! ```text
//!   few boxes allowed, refused before:      does any free one contain a freed node?
//!   few boxes allowed:                      is one free?
//!   many boxes allowed, refused before:     is any freed node free throughout?
//! ```
//!
//! A "no" is final. A "yes" is final if few boxes are allowed, or if the job is granted by count.
//! Otherwise, the strategy then places the job, and the placement is kept for
//! [`JobQuestion::place`].
//!
//! Invariant: any answer found without querying the strategy equals the strategy's own answer.
//!
//! Cost: O(rows) words per box, or O(rows of the freed nodes); then one search.

use std::cell::OnceCell;

use pavior_allocation::{Answers, Fork, Placement, Sides};
use pavior_kernel::Time;
use pavior_mesh::{BaseSet, Occupancy};
use pavior_workload::Job;

use super::freed::FreedSlots;
use super::slot::Interval;
use crate::MachineView;

/// The maximum number of boxes to search for one by one. With more boxes, it is faster to query the
/// strategy.
pub(super) const FEW_BOXES: usize = 6;

/// A query about one job. Queries to the strategy count as attempts only if they concern the
/// current time.
pub(super) struct JobQuestion<'a, 'v> {
    now: Time,
    job: &'a Job,
    /// The freed nodes, if the job is known to be refused without them.
    freed: Option<FreedSlots<'a, Placement>>,
    /// The strategy on an empty machine.
    empty: &'a mut Fork,
    bases: &'a mut BaseSet,
    answers: Answers,
    view: &'a mut MachineView<'v>,
    /// The allowed boxes, if there are few of them and the job fits if and only if one of them is
    /// free. Computed on first use.
    boxes: OnceCell<Option<Vec<Sides>>>,
    /// The last start time tested and the job's placement, if the job fit at that time.
    placed: Option<(Time, Placement)>,
}

impl<'a, 'v> JobQuestion<'a, 'v> {
    pub(super) fn new(
        now: Time,
        job: &'a Job,
        freed: Option<FreedSlots<'a, Placement>>,
        empty: &'a mut Fork,
        bases: &'a mut BaseSet,
        view: &'a mut MachineView<'v>,
    ) -> JobQuestion<'a, 'v> {
        let answers = view.machine().answers(&job.request);
        let boxes = OnceCell::new();
        JobQuestion { now, job, freed, empty, bases, answers, view, boxes, placed: None }
    }

    /// Records that the job was not tested in `period` because too few nodes are free.
    pub(super) fn skip(&self, period: Interval) {
        if let Some(freed) = self.freed {
            freed.skip(period);
        }
    }

    /// Returns true if the job may fit on the nodes that are free throughout an interval. If not,
    /// and if the job's answers are monotone, it fits in no interval that includes this one.
    pub(super) fn may_fit(&mut self, throughout: Interval, free: &Occupancy) -> bool {
        let (bases, machine) = (&mut *self.bases, self.view.machine());
        let boxes = self.boxes.get_or_init(|| {
            machine.boxes_for(&self.job.request).filter(|boxes| boxes.len() <= FEW_BOXES)
        });
        match (boxes, self.freed) {
            (Some(boxes), Some(freed)) => freed.opens_box(throughout, free, boxes, bases),
            (Some(boxes), None) => {
                bases.load(free);
                boxes.iter().any(|sides| bases.find_loaded(*sides).is_some())
            }
            (None, freed) => freed.is_none_or(|freed| freed.reach(throughout, free)),
        }
    }

    /// Returns true if the job fits when it begins at `at`. If its answers are not monotone,
    /// [`JobQuestion::place`] may still find no placement.
    pub(super) fn fits(&mut self, at: Time, free: &Occupancy) -> bool {
        if !self.answers.are_monotone() {
            return true;
        }
        if !self.may_fit(Interval::new(at, self.job.estimate), free) {
            return false;
        }
        let decided_by_boxes = self.boxes.get().is_some_and(Option::is_some);
        if decided_by_boxes || self.answers == Answers::Count {
            return true;
        }
        self.placed = self.place(at, free).map(|placement| (at, placement));
        self.placed.is_some()
    }

    /// Returns the job's placement if it begins at `at`.
    pub(super) fn place(&mut self, at: Time, free: &Occupancy) -> Option<Placement> {
        if let Some((_, placement)) = self.placed.take().filter(|(then, _)| *then == at) {
            return Some(placement);
        }
        let place = |fork: &mut Fork| fork.find_within(free, &self.job.request);
        let placed = if at == self.now {
            self.view.can_start_by(self.empty, place)
        } else {
            place(self.empty)
        };
        placed.ok()
    }
}
