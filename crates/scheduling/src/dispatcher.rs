//! A machine with its queue: jobs wait, start as the scheduler says, run and end.

use pavior_allocation::{AllocateError, Machine, Placement, PlacementError, Refusal};
use pavior_kernel::{CallerError, Time};
use pavior_mesh::{JobId, Occupancy};
use pavior_workload::Job;
use thiserror::Error;

use crate::beside_calendar::BesideCalendar;
use crate::machine_view::Ahead;
use crate::{
    AdvanceReservation, AttemptObserver, Calendar, MachineView, Prediction, Queue, Reach, Running,
    RunningJob, Scheduler, Standing, Start,
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
/// Nodes can be reserved ahead ([`Dispatcher::reserve`]): then no job is started on them, by any
/// scheduler, that is said to run into the reservation ([`Calendar`]).
/// A dispatcher is made again from records by `hold` and [`Dispatcher::submit`] alone: no scheduler
/// is asked.
pub struct Dispatcher {
    machine: Machine,
    scheduler: Box<dyn Scheduler>,
    prediction: Option<Box<dyn Prediction + Send>>,
    queue: Queue,
    running: Running,
    calendar: Calendar,
    beside: BesideCalendar,
    /// How many jobs were given nodes beside the queue: what was promised before is void.
    passed: u64,
    /// What promises held for ([`MachineView::health`]) when the scheduler last named no job. None
    /// if jobs or reservations came or went since.
    settled: Option<u64>,
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
    /// It was given fewer nodes than it asks for.
    #[error("job {} asks for {asked} nodes and was started on {given}", job.0)]
    TooFewNodes {
        /// The job.
        job: JobId,
        /// The nodes that it asks for.
        asked: u32,
        /// Those that it was given.
        given: u32,
    },
    /// It was given nodes that are reserved before it is said to end.
    #[error("job {} was started on nodes of reservation {reservation} and reaches into it", job.0)]
    Reserved {
        /// The job.
        job: JobId,
        /// The number of the reservation.
        reservation: u64,
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
            calendar: Calendar::default(),
            beside: BesideCalendar::default(),
            passed: 0,
            settled: None,
        }
    }

    /// A machine with its jobs, as they are.
    pub(crate) fn of(
        machine: Machine,
        (queue, running): (Queue, Running),
        calendar: Calendar,
        scheduler: Box<dyn Scheduler>,
    ) -> Dispatcher {
        Dispatcher { queue, running, calendar, ..Dispatcher::new(machine, scheduler) }
    }

    /// The same, with a prediction of how long jobs take on given nodes.
    #[must_use]
    pub fn with_prediction(self, prediction: Box<dyn Prediction + Send>) -> Dispatcher {
        Dispatcher { prediction: Some(prediction), ..self }
    }

    /// A copy in which time can run on without this one. Its scheduler is one of the same kind that
    /// has decided nothing yet, and `estimate` says how long each job is said to run there. What is
    /// predicted of run times is not copied. O(N/64) for N nodes, the strategy's index, the jobs
    /// and what is reserved ahead.
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

    /// The same in a finer unit of time: each time is multiplied by `ticks`. What is reserved ahead
    /// is not copied.
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
        let mut copy = Dispatcher::new(self.machine.clone(), scheduler);
        for RunningJob { job, start } in self.running.by_estimated_end() {
            copy.running.start(told(job), started(*start));
        }
        self.queue.iter().for_each(|job| copy.queue.push(told(job)));
        copy
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

    /// What is reserved ahead.
    pub fn calendar(&self) -> &Calendar {
        &self.calendar
    }

    /// Reserves nodes ahead. Jobs that hold them keep them until they end.
    pub fn reserve(&mut self, reservation: AdvanceReservation) {
        self.settled = None;
        self.calendar.add(reservation);
    }

    /// Gives up a reservation; `None` if there is none of that number.
    pub fn give_up(&mut self, reservation: u64) -> Option<AdvanceReservation> {
        self.settled = None;
        self.calendar.remove(reservation)
    }

    /// What a scheduler sees of the machine now. Every question there is an attempt.
    pub fn view<'a>(
        &'a mut self,
        now: Time,
        observer: &'a mut dyn AttemptObserver,
    ) -> MachineView<'a> {
        self.parts(now, observer).1
    }

    /// The scheduler, what it sees of the machine now, and the jobs.
    fn parts<'a>(
        &'a mut self,
        now: Time,
        observer: &'a mut dyn AttemptObserver,
    ) -> (&'a mut dyn Scheduler, MachineView<'a>, &'a Queue, &'a Running) {
        self.calendar.pass(now);
        let mut view = MachineView::new(&mut self.machine, observer).after(self.passed);
        if let Some(prediction) = &mut self.prediction {
            view = view.with_prediction(&mut **prediction);
        }
        if self.calendar.state() > 0 {
            let (calendar, beside) = (&self.calendar, &mut self.beside);
            view = view.beside(Ahead { now, calendar, beside });
        }
        (&mut *self.scheduler, view, &self.queue, &self.running)
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
        let (scheduler, mut view, queue, running) = self.parts(now, observer);
        let start = scheduler.next(now, queue, running, &mut view);
        let settled = view.health();
        self.check()?;
        if start.is_none() {
            self.settled = Some(settled);
        }
        Ok(start)
    }

    /// Starts a job that waits. The strategy is asked beside what is reserved ahead.
    ///
    /// # Errors
    /// If there is none at that place of the queue, or it does not fit now. If it was given fewer
    /// nodes than it asks for, or would reach into a reservation of them. Nothing has changed then.
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
        self.calendar.pass(now);
        if let Some(placement) = placement {
            let (asked, given) = (job.request.nodes, placement.nodes());
            if given < asked {
                return Err(StartError::TooFewNodes { job: job.id, asked, given });
            }
            if let Some(met) = self.calendar.in_the_way(now, job.estimate, &placement) {
                return Err(StartError::Reserved { job: job.id, reservation: met.number() });
            }
            let granted = self.machine.allocate_at(job.id, placement);
            granted.map_err(|error| StartError::BadPlacement { job: job.id, error })?;
        } else {
            let site = (&mut self.machine, &self.calendar, &mut self.beside);
            allocate(site, job, now).map_err(|_| StartError::DoesNotFit(job.id))?;
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

    /// Starts a job beside the queue, where the strategy puts it beside what is reserved ahead. The
    /// scheduler's promises to the jobs that wait are void.
    ///
    /// # Errors
    /// As [`Machine::allocate`]; nothing has changed then.
    pub fn grant(&mut self, job: Job, now: Time) -> Result<&Placement, AllocateError> {
        self.calendar.pass(now);
        let site = (&mut self.machine, &self.calendar, &mut self.beside);
        let granted = allocate(site, &job, now)?;
        self.passed += 1;
        self.settled = None;
        self.running.start(job, now);
        Ok(granted)
    }

    /// Where a job would be put that is granted nodes now ([`Dispatcher::grant`]).
    ///
    /// # Errors
    /// If nowhere, with the reason.
    pub fn probe(&mut self, job: &Job, now: Time) -> Result<Placement, Refusal> {
        self.view(now, &mut ()).place(job)
    }

    /// Notes that a job holds given nodes since `start`: it runs already, or its nodes were chosen
    /// by others than scheduler and strategy. Nothing is asked about what is reserved ahead. The
    /// scheduler's promises to the jobs that wait are void.
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
        self.passed += 1;
        self.settled = None;
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
        if self.running.estimate_anew(job, estimate) {
            self.settled = None;
        }
    }

    /// What the scheduler has in mind for the waiting jobs. None if it was not asked in this state,
    /// or does not say. O(q) for q waiting jobs.
    pub fn standing(&self, now: Time) -> Option<Standing> {
        let health = self.settled.filter(|_| !self.queue.is_empty())?;
        if health != self.machine.health() + self.calendar.changes() + self.passed {
            return None;
        }
        self.scheduler.standing(now, &self.queue, &self.machine)
    }
}

/// Grants a job the nodes that the strategy gives it now beside what is reserved ahead.
fn allocate<'a>(
    (machine, calendar, beside): (&'a mut Machine, &Calendar, &mut BesideCalendar),
    job: &Job,
    now: Time,
) -> Result<&'a Placement, AllocateError> {
    let reach = calendar.reach(now, job.estimate);
    if reach == Reach::NONE || machine.placement(job.id).is_some() {
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
