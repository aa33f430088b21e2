//! The main loop of a simulation, which advances from one event time to the next.

mod events;
mod migrate;
mod slice;
mod start;
mod view;

use pavior_allocation::Machine;
use pavior_kernel::{Agenda, Stream, Time};
use pavior_mesh::JobId;
use pavior_scheduling::{Dispatcher, Kept, Start};
use pavior_workload::{Arrivals, Job};
use rustc_hash::FxHashMap;

use crate::bounds::{Endless, Watch};
use crate::faults::Faults;
use crate::migration::Mover;
use crate::observers::Observers;
use crate::traffic::{Forecast, Seen, Traffic};
use crate::{Bounds, Ending, Fact, Inputs, Interest, Observer, Outcome, RunError, Setup, Stop};
use slice::SliceWatch;

/// The priority of departures, which precede all other simultaneous events.
const DEPARTURES: u8 = 0;

/// A scheduled departure. `start` is the number of the start or move that scheduled it. Restarting
/// or moving the job voids any departure scheduled earlier.
struct Departure {
    job: JobId,
    start: u64,
}

/// Runs a simulation to its end, within the default [`Bounds`]. Use [`Setup::simulation`] to change
/// settings.
///
/// # Errors
/// Returns the same errors as [`SimulationBuilder::run`](crate::SimulationBuilder::run).
pub fn run(
    setup: &Setup,
    inputs: Inputs<'_>,
    observers: &mut [&mut dyn Observer],
) -> Result<Outcome, RunError> {
    Simulation::new(setup, inputs, observers)?.run(&Stop::default())
}

/// A run that the caller executes step by step. The caller can also make the scheduling decisions.
///
/// [`Simulation::advance`] proceeds to the next time at which the queue or the machine has
/// changed. [`Simulation::schedule`] then starts the jobs that the scheduler chooses, and
/// [`Simulation::start`] starts a job that the caller chooses. [`Simulation::decide`] asks the
/// scheduler for a job but leaves starting it to the caller. Finally, [`Simulation::finish`]
/// returns the outcome. A run is `Send`.
///
/// ```
/// # mod pavior { pub use pavior_simulation as simulation;
/// #     pub use pavior_workload as workload; pub use {pavior_kernel::*, pavior_mesh::*}; }
/// use pavior::simulation::{Setup, Simulation, Stop};
/// use pavior::workload::{Job, Service};
/// use pavior::{JobId, Request, Time};
///
/// let job = |number: u64| Job {
///     id: JobId(number), index: number, number, arrival: Time(number), request: Request::nodes(4),
///     service: Service::Run(Time(10)), estimate: Time(10),
/// };
/// let setup = Setup::new("mesh:2x2".parse()?, "mbs", "fcfs")?;
/// let mut observers = [];
/// let mut simulation = Simulation::new(&setup, (0..2).map(job).into(), &mut observers)?;
/// while simulation.advance(&Stop::default())? {
///     simulation.schedule()?;
/// }
/// assert_eq!(simulation.finish().end, Time(20));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Simulation<'a, 'o, 'i> {
    now: Time,
    ending: Ending,
    warmup: u64,
    /// True if the messages to be sent at `now` have not been created yet.
    open: bool,
    /// Jobs whose last message is delivered at the current time.
    finished: Vec<JobId>,
    dispatcher: Dispatcher,
    slice: SliceWatch,
    agenda: Agenda<Departure>,
    jobs: Arrivals<'i>,
    /// The number of dependencies ignored because they refer to rejected jobs.
    unfollowed: u64,
    faults: Option<Faults>,
    traffic: Option<Traffic>,
    mover: Option<Mover>,
    watch: Watch,
    /// The total number of starts and moves so far, which is used to number them.
    starts: u64,
    /// For each running job, the number assigned to its latest start or move. Empty unless nodes
    /// can fail or jobs can move.
    live: FxHashMap<JobId, u64>,
    observers: Observers<'a, 'o>,
    completed: u64,
    arrived: u64,
    /// The number of guarantees broken so far.
    broken: u64,
    rejected: Vec<JobId>,
}

impl<'a, 'o, 'i> Simulation<'a, 'o, 'i> {
    /// Creates a run in which no events have been processed yet.
    ///
    /// # Errors
    /// Returns an error if the strategy, machine and network are incompatible.
    pub fn new(
        setup: &Setup,
        inputs: Inputs<'i>,
        observers: &'a mut [&'o mut dyn Observer],
    ) -> Result<Simulation<'a, 'o, 'i>, RunError> {
        let Setup { grid, seed, replication, .. } = *setup;
        let draw = Stream::new(seed, replication, "allocation");
        let measured = setup.timing.then(|| Stream::new(seed, replication, "measured-attempts"));
        let observers = Observers::new(setup.begin, observers, measured);
        let (deliveries, routes) =
            (observers.want(Interest::DELIVERIES), observers.want(Interest::ROUTES));
        let seen = Seen { deliveries, routes };
        let traffic = setup
            .network
            .as_ref()
            .map(|network| Traffic::new(network, grid, seed, replication, seen));
        let mut machine = Machine::with_stream(grid, &setup.strategy, draw)?;
        let faults = inputs.failures;
        let faults = faults.map(|failing| Faults::new(failing, setup.begin, &mut machine));
        let mut dispatcher = Dispatcher::new(machine, setup.scheduler.build(())?);
        if let Some(network) = &setup.network {
            let forecast = Forecast::new(network, grid, seed, replication);
            dispatcher = dispatcher.with_prediction(Box::new(forecast));
        }
        inputs.reserved.into_iter().try_for_each(|reservation| dispatcher.reserve(reservation))?;
        let mut simulation = Simulation {
            now: setup.begin,
            ending: setup.ending,
            warmup: setup.warmup,
            open: false,
            finished: Vec::new(),
            dispatcher,
            slice: SliceWatch::new(setup.slice),
            agenda: Agenda::new(),
            jobs: Arrivals::listed(Box::new(std::iter::empty())),
            unfollowed: 0,
            faults: faults.transpose()?,
            traffic: traffic.transpose()?,
            mover: setup.migration.as_ref().map(Mover::new),
            watch: Watch::new(Bounds::default(), setup.ending),
            starts: 0,
            live: FxHashMap::default(),
            observers,
            completed: 0,
            arrived: 0,
            broken: 0,
            rejected: Vec::new(),
        };
        match inputs.links {
            None => simulation.jobs = Arrivals::listed(inputs.jobs),
            Some(links) => {
                let fits = |job: &Job| simulation.could_ever_fit(job).is_ok();
                let (jobs, unfollowed) = Arrivals::with_feedback(inputs.jobs, &links, fits);
                (simulation.jobs, simulation.unfollowed) = (jobs, unfollowed);
            }
        }
        simulation.count_anew();
        simulation.watch_slice();
        Ok(simulation)
    }

    /// Sets the bounds on the run.
    #[must_use]
    pub fn within(mut self, bounds: Bounds) -> Self {
        self.watch = Watch::new(bounds, self.ending);
        self
    }

    /// Runs to the end, with the scheduler making all decisions.
    ///
    /// # Errors
    /// Returns the same errors as [`run`], and [`RunError::Stopped`] once `stop` has been set.
    pub fn run(mut self, stop: &Stop) -> Result<Outcome, RunError> {
        while self.advance(stop)? {
            self.schedule()?;
        }
        self.check_all_started()?;
        Ok(self.finish())
    }

    /// Checks that no job was forgotten. At the end of a run that drains the queue, every waiting
    /// job must be refused by the idle machine or kept by the scheduler behind a refused job.
    fn check_all_started(&mut self) -> Result<(), RunError> {
        if self.ending != Ending::Drained || !self.dispatcher.running().is_empty() {
            return Ok(());
        }
        let (now, kept) = (self.now, self.dispatcher.standing(self.now));
        let waiting: Vec<Job> = self.dispatcher.queue().iter().cloned().collect();
        let is_behind = |place: usize| match &kept {
            None => place > 0,
            Some(standing) => matches!(standing.kept.get(place), Some(Kept::ByOrder(_))),
        };
        let (mut jobs, mut count) = ([0; 4], 0);
        for (_, job) in waiting.iter().enumerate().filter(|(place, _)| !is_behind(*place)) {
            if self.dispatcher.probe(job, now).is_ok() {
                if let Some(first) = jobs.get_mut(count as usize) {
                    *first = job.number;
                }
                count += 1;
            }
        }
        if count > 0 { Err(Endless::NeverStarted { jobs, count }.into()) } else { Ok(()) }
    }

    /// Advances to the next time at which the queue or the machine changes. Applies the changes,
    /// but starts no jobs. Returns false if the run has ended.
    ///
    /// # Errors
    /// Returns an error if the network deadlocks, `stop` has been set, a bound is reached, or the
    /// strategy fails.
    pub fn advance(&mut self, stop: &Stop) -> Result<bool, RunError> {
        let goes_on = self.step(stop)?;
        self.dispatcher.check()?;
        Ok(goes_on)
    }

    fn step(&mut self, stop: &Stop) -> Result<bool, RunError> {
        if self.open {
            self.watch_slice();
            self.settle()?;
            self.send();
            self.open = false;
        }
        while let Some(now) = self.next_instant()? {
            if stop.is_set() {
                return Err(RunError::Stopped);
            }
            self.watch.instant(now, self.jobs.peek())?;
            let only_messages = self.traffic.is_some() && self.next_own() != Some(now);
            self.now = now;
            self.observers.now = now;
            if let Some(traffic) = &self.traffic {
                for delivery in traffic.deliveries() {
                    self.observers.tell(&Fact::Delivered(delivery));
                }
            }
            if only_messages && self.finished.is_empty() {
                // Only messages have moved. Schedulers are called only after the queue or the
                // machine has changed.
                self.send();
                continue;
            }
            if self.depart_all() {
                return Ok(false);
            }
            self.fail_and_repair()?;
            while let Some(job) = self.jobs.next_at(now) {
                self.arrive(job)?;
            }
            self.open = true;
            return Ok(true);
        }
        Ok(false)
    }

    /// Starts the jobs that the scheduler chooses, and moves running jobs to make room, until no
    /// further start or move is possible.
    ///
    /// # Errors
    /// Returns an error if the scheduler starts a job that cannot start, or if the scheduler or the
    /// strategy fails.
    pub fn schedule(&mut self) -> Result<(), RunError> {
        loop {
            while let Some(start) = self.decide()? {
                self.start(start)?;
            }
            if !self.make_room()? {
                return Ok(());
            }
        }
    }

    /// Returns the job that the scheduler would start next, without starting it. Before the
    /// scheduler is called again, the caller must start the job, on the proposed nodes or on
    /// others.
    ///
    /// # Errors
    /// Returns an error if the scheduler or the strategy fails.
    pub fn decide(&mut self) -> Result<Option<Start>, RunError> {
        let decision = self.dispatcher.decide(self.now, &mut self.observers)?;
        let Some(decision) = decision else { return Ok(None) };
        let broken = decision.dispatcher().scheduler().broken_guarantees();
        if broken > self.broken {
            self.broken = broken;
            self.observers.tell(&Fact::GuaranteeBroken(decision.job()));
        }
        Ok(Some(decision.named().clone()))
    }

    /// Checks at the end of a time step that the run is making progress.
    fn settle(&mut self) -> Result<(), RunError> {
        let changes = self.faults.as_mut().and_then(Faults::next_time).is_some()
            || !self.dispatcher.calendar().is_empty();
        let running = self.dispatcher.running().len() as u64;
        let (queue, attempts) = (self.dispatcher.queue(), self.observers.attempts());
        Ok(self.watch.settled(self.completed, running, queue, !changes, attempts)?)
    }

    /// Restarts all averages at the current time.
    fn count_anew(&mut self) {
        if let Some(traffic) = &mut self.traffic {
            traffic.count_anew(self.now);
        }
        self.observers.tell(&Fact::CountingStarts);
    }

    /// Creates the messages that running jobs can send now.
    fn send(&mut self) {
        if let Some(traffic) = &mut self.traffic {
            traffic.create(self.now);
        }
    }

    /// Returns the time of the next event. Adds to `finished` the jobs whose last message is
    /// delivered at that time.
    fn next_instant(&mut self) -> Result<Option<Time>, RunError> {
        let own = self.next_own();
        if let Some(traffic) = &mut self.traffic {
            return Ok(traffic.advance(own, &mut self.finished)?);
        }
        let idle = own.is_none() && self.dispatcher.queue().is_empty();
        let fault = self.faults.as_mut().filter(|_| !idle).and_then(Faults::next_time);
        Ok([own, fault].into_iter().flatten().min())
    }

    /// Returns the time of the next known departure or arrival. If jobs are waiting, also considers
    /// the next time at which an advance reservation starts or ends.
    fn next_own(&mut self) -> Option<Time> {
        let arrival = self.jobs.peek().map(|job| job.arrival);
        let waits = !self.dispatcher.queue().is_empty();
        let change = self.dispatcher.calendar().next_change(self.now).filter(|_| waits);
        [self.agenda.next_time(), arrival, change].into_iter().flatten().min()
    }
}
