//! What a job needs to know of nodes that are free for as long as it runs, asked of a strategy.

use std::cell::OnceCell;

use pavior_allocation::claim::BoxGroup;
use pavior_allocation::{Fork, Machine, Placement, SelectedStrategy, Sides};
use pavior_kernel::Time;
use pavior_mesh::{BaseSet, Occupancy, Request};
use pavior_workload::Job;

use crate::MachineView;
use crate::shared::answers::{is_by_count, is_complete, is_monotone};
use crate::shared::growth::Growth;
use crate::shared::profile::Question;
use crate::shared::slot::Interval;

/// What is known of the strategy's answers.
pub(super) struct Known {
    /// It refuses on fewer nodes what it refuses on more.
    pub(super) monotone: bool,
    /// It refuses exactly where too few nodes are free.
    by_count: bool,
    /// It refuses exactly where no box of the shapes in question is free.
    by_boxes: bool,
    bases: BaseSet,
}

impl Known {
    pub(super) fn of(machine: &Machine) -> Known {
        let selection = machine.selection();
        Known {
            monotone: is_monotone(machine),
            by_count: is_by_count(machine),
            by_boxes: is_complete(&selection.claim().recognition)
                && selection.entry.does.contiguous,
            bases: BaseSet::new(*machine.grid()),
        }
    }

    /// The boxes of which one must be free, where that is all there is to know.
    fn boxes(&self, request: &Request, machine: &Machine) -> Option<Vec<Sides>> {
        if !self.by_boxes {
            return None;
        }
        let selection = machine.selection();
        let family = selection.claim().family;
        let groups = family(request, machine.grid(), &selection.options);
        let single = |group: &BoxGroup| group.parts.len() == 1;
        // More are asked sooner than looked for.
        let few = groups.len() <= 6 && groups.iter().all(single);
        few.then(|| groups.iter().map(BoxGroup::bounding).collect())
    }
}

/// Where a job fits. Asking about now is an attempt, asking about later is not.
pub(super) struct JobQuestion<'a, 'v> {
    now: Time,
    job: &'a Job,
    /// Without it the job was refused.
    growth: Option<&'a Growth<Placement>>,
    blank: &'a mut Fork,
    known: &'a mut Known,
    view: &'a mut MachineView<'v>,
    /// The boxes of which one must be free, where that is all there is to know; not yet asked for at first.
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
        known: &'a mut Known,
        view: &'a mut MachineView<'v>,
    ) -> JobQuestion<'a, 'v> {
        JobQuestion { now, job, growth, blank, known, view, boxes: OnceCell::new(), placed: None }
    }
}

impl Question for JobQuestion<'_, '_> {
    fn may_fit(&mut self, within: Interval, free: &Occupancy) -> bool {
        let (known, machine) = (&mut *self.known, self.view.machine());
        let boxes = self.boxes.get_or_init(|| known.boxes(&self.job.request, machine));
        match (boxes, self.growth) {
            (Some(boxes), Some(growth)) => growth.lets_in(within, free, boxes, &mut known.bases),
            (Some(boxes), None) => {
                known.bases.load(free);
                boxes.iter().any(|sides| known.bases.find_loaded(*sides).is_some())
            }
            (None, growth) => growth.is_none_or(|growth| growth.reaches(within, free)),
        }
    }

    fn fits(&mut self, at: Time, free: &Occupancy) -> bool {
        if !self.known.monotone {
            return true;
        }
        if !self.may_fit(Interval::new(at, self.job.estimate), free) {
            return false;
        }
        // Of boxes and of numbers that is all there is to know.
        if self.known.by_count || self.boxes.get().is_some_and(Option::is_some) {
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
