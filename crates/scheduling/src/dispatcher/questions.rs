//! Queries to a dispatcher. They never affect later results. Some methods take `&mut self` because
//! they cache results, count attempts, and drop reservations that have ended.

use pavior_allocation::{Placement, Refusal};
use pavior_kernel::{CallerError, Time};
use pavior_mesh::Request;
use pavior_workload::Job;
use rustc_hash::FxHashSet;

use super::Dispatcher;
use crate::machine_view::Ahead;
use crate::{AttemptObserver, MachineView, Queue, Running, Scheduler, Standing};

impl Dispatcher {
    /// Returns the scheduler's current view of the machine. Every query through the view counts as
    /// an attempt.
    pub fn view<'a>(
        &'a mut self,
        now: Time,
        observer: &'a mut dyn AttemptObserver,
    ) -> MachineView<'a> {
        self.parts(now, observer).1
    }

    /// Returns the scheduler, its current view of the machine, and the jobs.
    pub(super) fn parts<'a>(
        &'a mut self,
        now: Time,
        observer: &'a mut dyn AttemptObserver,
    ) -> (&'a mut dyn Scheduler, MachineView<'a>, &'a Queue, &'a Running) {
        self.calendar.pass(now);
        let mut view = MachineView::new(&mut self.machine, observer);
        view = view.after(self.plan.voided, &self.plan.granted);
        if let Some(prediction) = &mut self.prediction {
            view = view.with_prediction(&mut **prediction);
        }
        if self.calendar.state() > 0 {
            let (calendar, beside) = (&self.calendar, &mut self.beside);
            view = view.beside(Ahead { now, calendar, beside });
        }
        (&mut *self.scheduler, view, &self.queue, &self.running)
    }

    /// Checks that neither the strategy nor the scheduler has failed.
    ///
    /// # Errors
    /// Returns the error reported by the strategy or the scheduler.
    pub fn check(&self) -> Result<(), CallerError> {
        self.machine.error().or_else(|| self.scheduler.error()).map_or(Ok(()), Err)
    }

    /// Returns the placement that [`Dispatcher::grant`] would choose for a job now.
    ///
    /// # Errors
    /// Returns the reason if the job would be refused.
    pub fn probe(&mut self, job: &Job, now: Time) -> Result<Placement, Refusal> {
        self.view(now, &mut ()).place(job)
    }

    /// Returns the strategy's current placement for a request, ignoring advance reservations. Costs
    /// as much as [`Machine::probe`](pavior_allocation::Machine::probe).
    ///
    /// # Errors
    /// Returns the reason if there is no placement.
    pub fn probe_unreserved(&mut self, request: &Request) -> Result<Placement, Refusal> {
        self.machine.probe(request)
    }

    /// Checks that a request could be granted on the empty, healthy machine.
    ///
    /// # Errors
    /// Returns the reason if the request could never be granted.
    pub fn could_ever_fit(&mut self, request: &Request) -> Result<(), Refusal> {
        self.machine.could_ever_fit(request)
    }

    /// Returns true if the machine refuses every waiting job and would also refuse each of them
    /// with fewer free nodes. In that case, no scheduler can start a waiting job until something
    /// other than a grant happens. The first call after a change costs one search per distinct
    /// request; later calls take O(1) time.
    pub fn refuses_all_waiting(&mut self) -> bool {
        if let Some(known) = self.plan.refuses_all {
            return known;
        }
        let Dispatcher { machine, queue, plan, .. } = self;
        let mut asked = FxHashSet::default();
        let mut requests = queue.iter().map(|job| &job.request).filter(|one| asked.insert(**one));
        let refuses =
            |one: &Request| machine.answers(one).are_monotone() && machine.probe(one).is_err();
        *plan.refuses_all.insert(requests.all(refuses))
    }

    /// Returns the scheduler's plan for the waiting jobs, or `None` if the scheduler does not
    /// report plans. Also returns `None` if anything has changed since the scheduler last found no
    /// job to start. Takes O(q) time for q waiting jobs.
    pub fn standing(&self, now: Time) -> Option<Standing> {
        let asked = self.plan.is_settled && !self.queue.is_empty();
        if asked { self.scheduler.standing(now, &self.queue, &self.machine) } else { None }
    }
}
