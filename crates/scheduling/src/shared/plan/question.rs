//! What a job needs to know of nodes that are free for as long as it runs, asked of a strategy.

use std::cell::OnceCell;

use pavior_allocation::{Answers, Fork, Placement, Sides};
use pavior_kernel::Time;
use pavior_mesh::{BaseSet, Occupancy};
use pavior_workload::Job;

use crate::MachineView;
use crate::shared::growth::Growth;
use crate::shared::profile::Question;
use crate::shared::slot::Interval;

/// More shapes are asked sooner than looked for.
const FEW: usize = 6;

/// Where a job fits. Asking about now is an attempt, asking about later is not.
pub(super) struct JobQuestion<'a, 'v> {
    now: Time,
    job: &'a Job,
    /// Without it the job was refused.
    growth: Option<&'a Growth<Placement>>,
    blank: &'a mut Fork,
    bases: &'a mut BaseSet,
    answers: Answers,
    view: &'a mut MachineView<'v>,
    /// The boxes of which one must be free, where that is all there is to know; not yet asked for
    /// at first.
    boxes: OnceCell<Option<Vec<Sides>>>,
    /// Where it was placed when it was asked whether it fits.
    placed: Option<(Time, Placement)>,
}

impl<'a, 'v> JobQuestion<'a, 'v> {
    pub(super) fn new(
        now: Time,
        job: &'a Job,
        growth: Option<&'a Growth<Placement>>,
        blank: &'a mut Fork,
        bases: &'a mut BaseSet,
        view: &'a mut MachineView<'v>,
    ) -> JobQuestion<'a, 'v> {
        let answers = view.machine().answers(&job.request);
        let boxes = OnceCell::new();
        JobQuestion { now, job, growth, blank, bases, answers, view, boxes, placed: None }
    }
}

impl Question for JobQuestion<'_, '_> {
    fn may_fit(&mut self, within: Interval, free: &Occupancy) -> bool {
        let (bases, machine) = (&mut *self.bases, self.view.machine());
        let boxes = self.boxes.get_or_init(|| {
            machine.boxes_for(&self.job.request).filter(|boxes| boxes.len() <= FEW)
        });
        match (boxes, self.growth) {
            (Some(boxes), Some(growth)) => growth.lets_in(within, free, boxes, bases),
            (Some(boxes), None) => {
                bases.load(free);
                boxes.iter().any(|sides| bases.find_loaded(*sides).is_some())
            }
            (None, growth) => growth.is_none_or(|growth| growth.reaches(within, free)),
        }
    }

    fn fits(&mut self, at: Time, free: &Occupancy) -> bool {
        if !self.answers.are_monotone() {
            return true;
        }
        if !self.may_fit(Interval::new(at, self.job.estimate), free) {
            return false;
        }
        // Of boxes and of numbers that is all there is to know.
        let by_boxes = self.boxes.get().is_some_and(Option::is_some);
        if by_boxes || self.answers == Answers::Count {
            return true;
        }
        self.placed = self.place(at, free).map(|placement| (at, placement));
        self.placed.is_some()
    }

    fn place(&mut self, at: Time, free: &Occupancy) -> Option<Placement> {
        if let Some((_, placement)) = self.placed.take().filter(|(then, _)| *then == at) {
            return Some(placement);
        }
        let place = |fork: &mut Fork| fork.find_within(free, &self.job.request);
        let placed = if at == self.now {
            self.view.can_start_by(self.blank, place)
        } else {
            place(self.blank)
        };
        placed.ok()
    }
}
