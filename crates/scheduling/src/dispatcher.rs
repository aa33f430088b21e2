//! A machine with its queue: jobs wait, start as the scheduler says, run and end.

use pavior_allocation::{AllocateError, Machine, Placement, PlacementError};
use pavior_kernel::{CallerError, Time};
use pavior_mesh::{JobId, Occupancy};
use pavior_workload::Job;
use thiserror::Error;

use crate::{
    AttemptObserver, MachineView, Prediction, Queue, Running, RunningJob, Scheduler, Standing,
    Start,
};

/// A machine, the jobs that wait for it and run on it, and the scheduler that chooses among them.
///
/// Every door is built on this type: the simulation, the service and the Slurm daemon. It keeps
/// three tables in agreement. A job is in the queue, or among the running jobs and on the machine,
/// or in none of them.
///
/// The caller brings the time and the events. After each event it starts jobs until the scheduler
/// names no more:
///
/// ```
/// use pavior_allocation::Machine;
/// use pavior_kernel::Time;
/// use pavior_mesh::{JobId, Request};
/// use pavior_scheduling::{Dispatcher, Selection};
/// use pavior_workload::{Job, Service};
///
/// let scheduler = "easy".parse::<Selection>()?.build(())?;
/// let mut dispatcher = Dispatcher::new(Machine::new("mesh:4x4".parse()?, "tff")?, scheduler);
/// for (number, sides) in [(1, [4, 3, 1]), (2, [4, 4, 1]), (3, [2, 1, 1])] {
///     dispatcher.submit(Job {
///         id: JobId(number), number, arrival: Time(0), request: Request::shape(sides),
///         service: Service::Run(Time(60)), estimate: Time(60),
///     });
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
/// A caller that does more between the choice and the start calls [`Dispatcher::decide`] and
/// [`Dispatcher::start`]. Jobs that run without having waited are noted by [`Dispatcher::hold`]
/// where their nodes are given, and by [`Dispatcher::grant`] where the strategy chooses them.
/// A dispatcher is made again from records by `hold` and [`Dispatcher::submit`] alone: no scheduler
/// is asked.
pub struct Dispatcher {
    machine: Machine,
    scheduler: Box<dyn Scheduler>,
    prediction: Option<Box<dyn Prediction + Send>>,
    queue: Queue,
    running: Running,
    /// The machine's counters of changes and of health when the scheduler last named no job. None
    /// if jobs came or went since, other than by [`Dispatcher::hold`] and [`Dispatcher::grant`].
    settled: Option<(u64, u64)>,
}

/// A job that has just started.
#[derive(Clone, Copy, Debug)]
pub struct Started<'a> {
    /// The job.
    pub job: &'a Job,
    /// The nodes that it holds.
    pub placement: &'a Placement,
    /// The nodes that are left free.
    pub free: &'a Occupancy,
}

/// A start that cannot be carried out.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum StartError {
    /// The queue has no such place.
    #[error("place {index} of a queue of {waiting} was started; the first is place 0")]
    NotWaiting {
        /// The place.
        index: usize,
        /// The length of the queue.
        waiting: usize,
    },
    /// The strategy refuses it.
    #[error("job {} was started, but it does not fit now", .0.0)]
    DoesNotFit(JobId),
    /// It was given nodes that it cannot have.
    #[error("job {} was started on nodes that it cannot have: {error}", job.0)]
    BadPlacement {
        /// The job.
        job: JobId,
        /// Why it cannot have them.
        error: PlacementError,
    },
}

/// Why no job could be started.
#[derive(Clone, Debug, Error)]
pub enum DispatchError {
    /// The strategy or the scheduler has failed.
    #[error(transparent)]
    Failed(#[from] CallerError),
    /// The scheduler named a job that cannot start.
    #[error(transparent)]
    Start(#[from] StartError),
}

impl Dispatcher {
    /// A machine on which no job runs, with an empty queue.
    pub fn new(machine: Machine, scheduler: Box<dyn Scheduler>) -> Dispatcher {
        Dispatcher {
            machine,
            scheduler,
            prediction: None,
            queue: Queue::new(),
            running: Running::new(),
            settled: None,
        }
    }

    /// The same, with a prediction of how long jobs take on given nodes.
    #[must_use]
    pub fn with_prediction(self, prediction: Box<dyn Prediction + Send>) -> Dispatcher {
        Dispatcher { prediction: Some(prediction), ..self }
    }

    /// A copy in which time can run on without this one. Its scheduler is one of the same kind that
    /// has decided nothing yet, and `estimate` says how long each job is said to run there. What is
    /// predicted of run times is not copied. O(N/64) for N nodes, the strategy's index, and the
    /// jobs.
    pub fn fork(
        &self,
        scheduler: Box<dyn Scheduler>,
        mut estimate: impl FnMut(&Job) -> Time,
    ) -> Dispatcher {
        let mut fork = Dispatcher::new(self.machine.clone(), scheduler);
        let mut told = |job: &Job| Job { estimate: estimate(job), ..job.clone() };
        for RunningJob { job, start } in self.running.by_estimated_end() {
            fork.running.start(told(job), *start);
        }
        self.queue.iter().for_each(|job| fork.queue.push(told(job)));
        fork
    }

    /// The machine.
    pub fn machine(&self) -> &Machine {
        &self.machine
    }

    /// The machine, to ask it, to fail and repair its nodes, and to move jobs on it. Jobs come and
    /// go by the dispatcher alone.
    pub fn machine_mut(&mut self) -> &mut Machine {
        &mut self.machine
    }

    /// The jobs that wait.
    pub fn queue(&self) -> &Queue {
        &self.queue
    }

    /// The jobs that run.
    pub fn running(&self) -> &Running {
        &self.running
    }

    /// The scheduler.
    pub fn scheduler(&self) -> &dyn Scheduler {
        &*self.scheduler
    }

    /// What a scheduler sees of the machine. Every question there is an attempt.
    pub fn view<'a>(&'a mut self, observer: &'a mut dyn AttemptObserver) -> MachineView<'a> {
        view(&mut self.machine, &mut self.prediction, observer)
    }

    /// What has gone wrong in strategy or scheduler.
    ///
    /// # Errors
    /// If something has.
    pub fn check(&self) -> Result<(), CallerError> {
        self.machine.error().or_else(|| self.scheduler.error()).map_or(Ok(()), Err)
    }

    /// Adds a job at the end of the queue.
    pub fn submit(&mut self, job: Job) {
        self.settled = None;
        self.queue.push(job);
    }

    /// Puts a job back into the queue, where its arrival places it: it has lost its nodes.
    pub fn resubmit(&mut self, job: Job) {
        self.settled = None;
        self.queue.reinsert(job);
    }

    /// Takes out the job at a place of the queue that no longer wants to run; `None` if there is
    /// none.
    pub fn withdraw(&mut self, index: usize) -> Option<Job> {
        self.settled = None;
        self.queue.withdraw(index)
    }

    /// What the scheduler names to start next, if anything. It has not started yet: the caller
    /// starts it before the scheduler is asked again.
    ///
    /// # Errors
    /// If strategy or scheduler fail.
    pub fn decide(
        &mut self,
        now: Time,
        observer: &mut dyn AttemptObserver,
    ) -> Result<Option<Start>, CallerError> {
        if self.queue.is_empty() {
            return Ok(None);
        }
        let mut view = view(&mut self.machine, &mut self.prediction, observer);
        let start = self.scheduler.next(now, &self.queue, &self.running, &mut view);
        self.check()?;
        if start.is_none() {
            self.settled = Some((self.machine.state(), self.machine.health()));
        }
        Ok(start)
    }

    /// Starts a job that waits.
    ///
    /// # Errors
    /// If there is none at that place of the queue, or it does not fit now; nothing has changed
    /// then.
    #[expect(
        clippy::missing_panics_doc,
        reason = "the queue has the job, and the machine has just granted it nodes"
    )]
    pub fn start(
        &mut self,
        now: Time,
        Start { index, placement }: Start,
    ) -> Result<Started<'_>, StartError> {
        let waiting = self.queue.len();
        let Some(job) = self.queue.get(index) else {
            return Err(StartError::NotWaiting { index, waiting });
        };
        match placement {
            Some(placement) => {
                let granted = self.machine.allocate_at(job.id, placement);
                granted.map_err(|error| StartError::BadPlacement { job: job.id, error })?;
            }
            None if self.machine.allocate(job.id, &job.request).is_err() => {
                return Err(StartError::DoesNotFit(job.id));
            }
            None => {}
        }
        self.settled = None;
        let job = &self.running.start(self.queue.take(index).expect("the queue has it"), now).job;
        let placement = self.machine.placement(job.id).expect("it was just granted");
        Ok(Started { job, placement, free: self.machine.free() })
    }

    /// Starts the job that the scheduler names next; `None` if it names none.
    ///
    /// # Errors
    /// If strategy or scheduler fail, or the scheduler names a job that cannot start.
    pub fn start_next(
        &mut self,
        now: Time,
        observer: &mut dyn AttemptObserver,
    ) -> Result<Option<Started<'_>>, DispatchError> {
        match self.decide(now, observer)? {
            Some(start) => Ok(Some(self.start(now, start)?)),
            None => Ok(None),
        }
    }

    /// Starts a job beside the queue, where the strategy puts it.
    ///
    /// # Errors
    /// As [`Machine::allocate`]; nothing has changed then.
    pub fn grant(&mut self, job: Job, now: Time) -> Result<&Placement, AllocateError> {
        let granted = self.machine.allocate(job.id, &job.request)?;
        self.running.start(job, now);
        Ok(granted)
    }

    /// Notes that a job holds given nodes since `start`: it runs already, or its nodes were chosen
    /// by others than scheduler and strategy.
    ///
    /// # Errors
    /// As [`Machine::allocate_at`]; nothing has changed then.
    pub fn hold(
        &mut self,
        job: Job,
        start: Time,
        placement: Placement,
    ) -> Result<&Placement, PlacementError> {
        let held = self.machine.allocate_at(job.id, placement)?;
        self.running.start(job, start);
        Ok(held)
    }

    /// Ends a running job, however it ends, and frees its nodes. Returns the job and what it held;
    /// `None` if it does not run.
    pub fn end(&mut self, job: JobId) -> Option<(RunningJob, Placement)> {
        let gone = self.running.end(job)?;
        self.settled = None;
        let placement = self.machine.release(job).ok()?;
        Some((gone, placement))
    }

    /// Changes how long a running job is said to run, from its start on; does nothing if it does
    /// not run.
    pub fn estimate_anew(&mut self, job: JobId, estimate: Time) {
        if let Some(RunningJob { job, start }) = self.running.end(job) {
            self.settled = None;
            self.running.start(Job { estimate, ..job }, start);
        }
    }

    /// What the scheduler has in mind for the waiting jobs, and whether no job has been placed
    /// beside it since it was asked. None if it was not asked in this state, or does not say. O(q)
    /// for q waiting jobs.
    pub fn standing(&self, now: Time) -> Option<(Standing, bool)> {
        let (state, health) = self.settled.filter(|_| !self.queue.is_empty())?;
        if health != self.machine.health() {
            return None;
        }
        let standing = self.scheduler.standing(now, &self.queue, &self.machine)?;
        Some((standing, state == self.machine.state()))
    }
}

fn view<'a>(
    machine: &'a mut Machine,
    prediction: &'a mut Option<Box<dyn Prediction + Send>>,
    observer: &'a mut dyn AttemptObserver,
) -> MachineView<'a> {
    let view = MachineView::new(machine, observer);
    match prediction {
        Some(prediction) => view.with_prediction(&mut **prediction),
        None => view,
    }
}
