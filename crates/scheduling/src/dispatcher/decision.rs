//! Chooses and starts the next job.

use pavior_allocation::Placement;
use pavior_kernel::Time;
use pavior_mesh::Occupancy;
use pavior_workload::Job;

use super::{Change, DispatchError, Dispatcher, StartError, allocate};
use crate::{AttemptObserver, Start};

/// A decision to start a waiting job now. It can only be carried out or dropped.
///
/// A decision borrows its dispatcher. It therefore cannot be started on another dispatcher, and
/// nothing can change before it is started:
///
/// ```compile_fail,E0499
/// # use pavior_kernel::Time;
/// # use pavior_mesh::JobId;
/// # fn changes(dispatcher: &mut pavior_scheduling::Dispatcher) {
/// let decision = dispatcher.decide(Time(0), &mut ()).unwrap().unwrap();
/// dispatcher.end(JobId(1));
/// decision.start().unwrap();
/// # }
/// ```
///
/// Dropping a decision has no effect.
#[must_use = "the job has not started yet"]
pub struct Decision<'d> {
    dispatcher: &'d mut Dispatcher,
    now: Time,
    start: Start,
}

/// A job that has just started.
#[derive(Clone, Copy, Debug)]
pub struct Started<'a> {
    /// The job.
    pub job: &'a Job,
    /// The nodes that the job holds.
    pub placement: &'a Placement,
    /// The nodes that remain free.
    pub free: &'a Occupancy,
}

impl<'d> Decision<'d> {
    /// Returns the job.
    #[expect(clippy::missing_panics_doc, reason = "the decision has checked the index")]
    pub fn job(&self) -> &Job {
        self.dispatcher.queue.get(self.start.index).expect("nothing has changed since")
    }

    /// Returns the job's queue index, and its nodes if they have already been chosen.
    pub fn named(&self) -> &Start {
        &self.start
    }

    /// Returns the dispatcher.
    pub fn dispatcher(&self) -> &Dispatcher {
        self.dispatcher
    }

    /// Starts the job. If the decision specifies no nodes, the strategy chooses nodes, avoiding
    /// advance reservations. Costs as much as [`Machine::allocate`](pavior_allocation::Machine).
    ///
    /// # Errors
    /// Returns an error, and changes nothing, if the job does not fit now, gets too few nodes, or
    /// would overlap an advance reservation.
    #[expect(clippy::missing_panics_doc, reason = "the machine has just granted the job its nodes")]
    pub fn start(self) -> Result<Started<'d>, StartError> {
        let Decision { dispatcher, now, start: Start { index, placement } } = self;
        let Dispatcher { machine, queue, calendar, beside, .. } = dispatcher;
        let job = queue.get(index).expect("nothing has changed since the decision");
        calendar.pass(now);
        if let Some(placement) = placement {
            let (asked, given) = (job.request.nodes, placement.nodes());
            if given < asked {
                return Err(StartError::TooFewNodes { job: job.id, asked, given });
            }
            if let Some(met) = calendar.in_the_way(now, job.estimate, &placement) {
                return Err(StartError::Reserved { job: job.id, reservation: met.number() });
            }
            let granted = machine.allocate_at(job.id, placement);
            granted.map_err(|error| StartError::BadPlacement { job: job.id, error })?;
        } else {
            let granted = allocate((machine, &*calendar, beside), job, now);
            granted.map_err(|_| StartError::DoesNotFit(job.id))?;
        }
        dispatcher.plan.note(Change::Start);
        let job = dispatcher.queue.take(index).expect("it was just there");
        dispatcher.waiting.remove(&job.id);
        let job = &dispatcher.running.start(job, now).job;
        let placement = dispatcher.machine.placement(job.id).expect("it was just granted");
        Ok(Started { job, placement, free: dispatcher.machine.free() })
    }
}

impl Dispatcher {
    /// Lets the scheduler choose the next job to start. The caller must start that job before the
    /// next call.
    ///
    /// # Errors
    /// Returns an error if the strategy or the scheduler fails, or if the chosen index is out of
    /// range.
    pub fn decide(
        &mut self,
        now: Time,
        observer: &mut dyn AttemptObserver,
    ) -> Result<Option<Decision<'_>>, DispatchError> {
        if self.queue.is_empty() {
            return Ok(None);
        }
        let (scheduler, mut view, queue, running) = self.parts(now, observer);
        let named = scheduler.next(now, queue, running, &mut view);
        self.plan.granted.clear();
        self.check()?;
        let Some(start) = named else {
            self.plan.is_settled = true;
            return Ok(None);
        };
        Ok(Some(self.choose(now, start)?))
    }

    /// Chooses the given waiting job without consulting the scheduler.
    ///
    /// # Errors
    /// Returns an error if the index is out of range.
    pub fn choose(&mut self, now: Time, start: Start) -> Result<Decision<'_>, StartError> {
        let (index, waiting) = (start.index, self.queue.len());
        if index >= waiting {
            return Err(StartError::NotWaiting { index, waiting });
        }
        Ok(Decision { dispatcher: self, now, start })
    }

    /// Starts the next job that the scheduler chooses. Returns `None` if it chooses none.
    ///
    /// # Errors
    /// Returns an error if the strategy or the scheduler fails, or if the scheduler chooses a job
    /// that cannot start.
    pub fn start_next(
        &mut self,
        now: Time,
        observer: &mut dyn AttemptObserver,
    ) -> Result<Option<Started<'_>>, DispatchError> {
        match self.decide(now, observer)? {
            Some(decision) => Ok(Some(decision.start()?)),
            None => Ok(None),
        }
    }
}
