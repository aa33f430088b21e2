//! A machine and its queue. Jobs wait, start when the scheduler chooses them, run, and end.
//!
//! Invariant: each job is either waiting, running or unknown, and the running jobs are exactly the
//! jobs that hold nodes. Only `changes.rs` and `decision.rs` modify the tables; `questions.rs`
//! reads them. `plan_status.rs` defines which changes void the scheduler's plan.

mod changes;
mod decision;
mod errors;
mod plan_status;
mod questions;

use pavior_allocation::{AllocateError, Machine, Placement, PlacementError};
use pavior_kernel::{CallerError, Time};
use pavior_mesh::{JobId, Request};
use pavior_workload::{Job, Service};
use rustc_hash::FxHashSet;

pub use decision::{Decision, Started};
pub use errors::{DispatchError, GrantError, RepeatedJob, StartError};
use plan_status::{Change, PlanStatus};

use crate::beside_calendar::BesideCalendar;
use crate::{Calendar, Prediction, Queue, Reach, Running, RunningJob, Scheduler};

/// A machine, its waiting and running jobs, and the scheduler that chooses among them.
///
/// The simulation, the service and the daemons for Slurm and Kubernetes are built on this type. It
/// keeps three tables consistent across any sequence of calls: each job is either in the queue
/// only, in both the table of running jobs and the machine, or in none of the three.
///
/// The caller provides the events and the time, which must not go backward. After each event, the
/// caller starts jobs until the scheduler stops choosing any:
///
/// ```
/// # mod pavior { pub use pavior_scheduling as scheduling;
/// #     pub use pavior_workload as workload;
/// #     pub use {pavior_allocation::*, pavior_kernel::*}; }
/// use pavior::scheduling::{Dispatcher, Selection};
/// use pavior::workload::{Job, Service};
/// use pavior::{JobId, Machine, Request, Time};
///
/// let scheduler = "easy".parse::<Selection>()?.build(())?;
/// let mut dispatcher = Dispatcher::new(Machine::new("mesh:4x4".parse()?, "tff")?, scheduler);
/// for (number, sides) in [(1, [4, 3, 1]), (2, [4, 4, 1]), (3, [2, 1, 1])] {
///     dispatcher.submit(Job {
///         id: JobId(number), index: number, number, arrival: Time(0),
///         request: Request::shape(sides), service: Service::Run(Time(60)), estimate: Time(60),
///     })?;
/// }
/// let mut started = Vec::new();
/// while let Some(start) = dispatcher.start_next(Time(0), &mut ())? {
///     started.push((start.job.id, start.placement.nodes()));
/// }
/// // Job 2 needs the whole machine. Job 3 ends before job 2 can start.
/// assert_eq!(started, [(JobId(1), 12), (JobId(3), 2)]);
///
/// dispatcher.end(JobId(1));
/// dispatcher.end(JobId(3));
/// let next = dispatcher.start_next(Time(60), &mut ())?;
/// assert_eq!(next.map(|start| start.job.id), Some(JobId(2)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// To do work between choosing a job and starting it, use [`Dispatcher::decide`], which returns a
/// [`Decision`] that can only be started or dropped. To choose jobs without the scheduler, use
/// [`Dispatcher::choose`]. For jobs outside the queue, [`Dispatcher::hold`] records known nodes,
/// and [`Dispatcher::grant`] lets the strategy choose nodes. The machine cannot be changed
/// directly; the dispatcher has methods to report failures, move jobs and reserve nodes. No
/// scheduler can start a job on reserved nodes if the job is estimated to run into the reservation
/// ([`Calendar`]). To restore a dispatcher from records, use `hold` and [`Dispatcher::submit`].
pub struct Dispatcher {
    machine: Machine,
    scheduler: Box<dyn Scheduler>,
    prediction: Option<Box<dyn Prediction + Send>>,
    queue: Queue,
    waiting: FxHashSet<JobId>,
    running: Running,
    calendar: Calendar,
    beside: BesideCalendar,
    plan: PlanStatus,
}

impl Dispatcher {
    /// Creates a dispatcher with an empty queue. If jobs already hold nodes, they are treated as
    /// having run since time 0 with no expected end. Takes O(j log j) time for j such jobs.
    pub fn new(machine: Machine, scheduler: Box<dyn Scheduler>) -> Dispatcher {
        let mut running = Running::new();
        for (id, placement) in machine.held() {
            let (request, estimate) = (Request::nodes(placement.nodes()), Time::MAX);
            let (arrival, service) = (Time::ZERO, Service::Run(estimate));
            let job = Job { id, index: id.0, number: id.0, arrival, request, service, estimate };
            running.start(job, Time::ZERO);
        }
        Dispatcher::with(machine, scheduler, running)
    }

    /// Creates a dispatcher with an empty queue. `running` must list all jobs that hold nodes.
    fn with(machine: Machine, scheduler: Box<dyn Scheduler>, running: Running) -> Dispatcher {
        Dispatcher {
            machine,
            scheduler,
            prediction: None,
            queue: Queue::new(),
            waiting: FxHashSet::default(),
            running,
            calendar: Calendar::default(),
            beside: BesideCalendar::default(),
            plan: PlanStatus::default(),
        }
    }

    /// Creates a dispatcher from a machine, waiting and running jobs, and reservations. Ignores
    /// running jobs that hold no nodes.
    pub(crate) fn of(
        machine: Machine,
        (queue, running): (&Queue, &Running),
        calendar: Calendar,
        scheduler: Box<dyn Scheduler>,
    ) -> Result<Dispatcher, RepeatedJob> {
        let mut dispatcher = Dispatcher { calendar, ..Dispatcher::new(machine, scheduler) };
        for RunningJob { job, start } in running.by_estimated_end() {
            if dispatcher.running.end(job.id).is_some() {
                dispatcher.running.start(job.clone(), *start);
            }
        }
        queue.iter().try_for_each(|job| dispatcher.submit(job.clone()))?;
        Ok(dispatcher)
    }

    /// Adds a prediction of run times.
    #[must_use]
    pub fn with_prediction(self, prediction: Box<dyn Prediction + Send>) -> Dispatcher {
        Dispatcher { prediction: Some(prediction), ..self }
    }

    /// Copies the dispatcher so that time can advance independently in the copy. `scheduler` must
    /// be a new scheduler of the same kind, and `estimate` must return each job's estimate in the
    /// copy. The prediction is not copied. Takes O(N/64) time for N nodes, plus the cost of copying
    /// the strategy's index, the jobs and the advance reservations.
    pub fn fork(
        &self,
        scheduler: Box<dyn Scheduler>,
        mut estimate: impl FnMut(&Job) -> Time,
    ) -> Dispatcher {
        let told = |job: &Job| Job { estimate: estimate(job), ..job.clone() };
        let mut fork = self.copy(scheduler, told, |start| start);
        fork.calendar = self.calendar.clone();
        fork
    }

    /// Copies the dispatcher and multiplies all times by `ticks`, so that the time unit is finer.
    /// Advance reservations are not copied.
    pub fn fork_in(&self, scheduler: Box<dyn Scheduler>, ticks: u64) -> Dispatcher {
        let finer = |time: Time| Time(time.0.saturating_mul(ticks));
        let told = |job: &Job| Job {
            arrival: finer(job.arrival),
            estimate: finer(job.estimate),
            ..job.clone()
        };
        self.copy(scheduler, told, finer)
    }

    fn copy(
        &self,
        scheduler: Box<dyn Scheduler>,
        mut told: impl FnMut(&Job) -> Job,
        started: impl Fn(Time) -> Time,
    ) -> Dispatcher {
        let (mut queue, mut running) = (Queue::new(), Running::new());
        for RunningJob { job, start } in self.running.by_estimated_end() {
            running.start(told(job), started(*start));
        }
        self.queue.iter().for_each(|job| queue.push(told(job)));
        let copy = Dispatcher::with(self.machine.clone(), scheduler, running);
        Dispatcher { queue, waiting: self.waiting.clone(), ..copy }
    }

    /// Returns the machine.
    pub fn machine(&self) -> &Machine {
        &self.machine
    }

    /// Returns the waiting jobs.
    pub fn queue(&self) -> &Queue {
        &self.queue
    }

    /// Returns the running jobs.
    pub fn running(&self) -> &Running {
        &self.running
    }

    /// Returns the scheduler.
    pub fn scheduler(&self) -> &dyn Scheduler {
        &*self.scheduler
    }

    /// Returns the advance reservations.
    pub fn calendar(&self) -> &Calendar {
        &self.calendar
    }
}

/// Grants a new job the nodes that the strategy chooses, avoiding advance reservations.
fn allocate<'a>(
    (machine, calendar, beside): (&'a mut Machine, &Calendar, &mut BesideCalendar),
    job: &Job,
    now: Time,
) -> Result<&'a Placement, AllocateError> {
    let reach = calendar.reach(now, job.estimate);
    if reach == Reach::NONE {
        return machine.allocate(job.id, &job.request);
    }
    let (placed, _) = beside.place(machine, calendar, (now, reach), job);
    let failed = |error: PlacementError| AllocateError::Failed(CallerError::new(error));
    match (placed, machine.error()) {
        (_, Some(error)) => Err(AllocateError::Failed(error)),
        (Err(refusal), None) => Err(AllocateError::Refused(refusal)),
        (Ok(placement), None) => machine.allocate_at(job.id, placement).map_err(failed),
    }
}
