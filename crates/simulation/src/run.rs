//! The loop.

use std::iter::Peekable;

use pavior_allocation::{BuildError, Machine, Placement};
use pavior_kernel::{Agenda, Stream, Time};
use pavior_mesh::{Grid, JobId};
use pavior_scheduling::{Attempt, Desk, Queue, Running, Scheduler, Start, Witness};
use pavior_workload::{Job, Service};

use crate::{Fact, Observer, Stopwatch};

/// What a run is made of, besides its jobs.
#[derive(Clone)]
pub struct Setup {
    /// The machine.
    pub grid: Grid,
    /// Who allocates.
    pub strategy: pavior_allocation::Selection,
    /// Who schedules.
    pub scheduler: pavior_scheduling::Selection,
    /// The seed of all streams.
    pub seed: u64,
    /// The number of the replication.
    pub replication: u64,
    /// When averages start: time 0, or the first arrival of a log.
    pub begin: Time,
    /// Completions after which averages start anew.
    pub warmup: u64,
    /// When the run ends.
    pub ending: Ending,
    /// Whether attempts are timed.
    pub timing: bool,
}

/// When a run ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// At this completion (the warm-up's included).
    Completions(u64),
    /// When all jobs have departed.
    Drained,
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// When it ended.
    pub end: Time,
    /// Jobs that arrived, rejected ones included.
    pub arrived: u64,
    /// Jobs that were waiting at the end.
    pub waiting: u64,
    /// Jobs rejected, in the order of arrival.
    pub rejected: Vec<JobId>,
    /// Measured time per attempt, clock overhead removed, in nanoseconds.
    pub allocation_ns: Option<f64>,
}

/// Events that are scheduled ahead, in the order in which an instant takes them.
const DEPARTURES: u8 = 0;

struct Departure {
    job: JobId,
    estimated_end: Time,
}

/// Runs a simulation. `jobs` come in the order of arrival.
///
/// # Errors
/// If the strategy does not work on the machine.
pub fn run(
    setup: &Setup,
    jobs: impl Iterator<Item = Job>,
    observers: &mut [&mut dyn Observer],
) -> Result<Outcome, BuildError> {
    let draw = Stream::new(setup.seed, setup.replication, "allocation");
    let machine = Machine::with_stream(setup.grid, &setup.strategy, draw)?;
    let mut simulation = Simulation {
        now: setup.begin,
        machine,
        scheduler: setup.scheduler.build(),
        queue: Queue::new(),
        running: Running::new(),
        agenda: Agenda::new(),
        jobs: jobs.peekable(),
        audience: Audience { now: setup.begin, observers, watch: None },
        completed: 0,
        arrived: 0,
        broken: 0,
        rejected: Vec::new(),
    };
    simulation.audience.watch = setup.timing.then(Stopwatch::new);
    simulation.audience.tell(&Fact::CountingStarts);
    simulation.go(setup);
    simulation.audience.tell(&Fact::Ended);
    Ok(simulation.outcome())
}

struct Simulation<'a, 'o, J: Iterator<Item = Job>> {
    now: Time,
    machine: Machine,
    scheduler: Box<dyn Scheduler>,
    queue: Queue,
    running: Running,
    agenda: Agenda<Departure>,
    jobs: Peekable<J>,
    audience: Audience<'a, 'o>,
    completed: u64,
    arrived: u64,
    /// Guarantees that the scheduler has broken so far.
    broken: u64,
    rejected: Vec<JobId>,
}

impl<J: Iterator<Item = Job>> Simulation<'_, '_, J> {
    /// Instant by instant, until the ending.
    fn go(&mut self, setup: &Setup) {
        while let Some(now) = self.next_instant() {
            self.now = now;
            self.audience.now = now;
            while self.agenda.next_time() == Some(now) {
                let (_, departure) = self.agenda.pop().expect("it was just seen");
                self.depart(&departure);
                if setup.warmup > 0 && self.completed == setup.warmup {
                    self.audience.tell(&Fact::CountingStarts);
                }
                if setup.ending == Ending::Completions(self.completed) {
                    return;
                }
            }
            while let Some(job) = self.jobs.next_if(|job| job.arrival == now) {
                self.arrive(job);
            }
            self.schedule();
        }
    }

    fn next_instant(&mut self) -> Option<Time> {
        let arrival = self.jobs.peek().map(|job| job.arrival);
        match (self.agenda.next_time(), arrival) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        }
    }

    fn arrive(&mut self, job: Job) {
        self.arrived += 1;
        match self.machine.could_ever_fit(&job.request) {
            Ok(()) => {
                self.audience.tell(&Fact::Arrived(&job));
                self.queue.push(job);
            }
            Err(refusal) => {
                self.audience.tell(&Fact::Rejected(&job, refusal));
                self.rejected.push(job.id);
            }
        }
    }

    fn schedule(&mut self) {
        while !self.queue.is_empty() {
            let mut desk = Desk::new(&mut self.machine, &mut self.audience);
            let start = self.scheduler.next(self.now, &self.queue, &self.running, &mut desk);
            let Some(start) = start else { return };
            let broken = self.scheduler.broken_guarantees();
            if broken > self.broken {
                self.broken = broken;
                let late = self.queue.get(start.index).expect("a scheduler starts jobs that wait");
                self.audience.tell(&Fact::GuaranteeBroken(late));
            }
            self.start(start);
        }
    }

    fn start(&mut self, Start { index, placement }: Start) {
        let job = self.queue.take(index);
        let granted = match placement {
            Some(placement) => self.machine.allocate_at(job.id, placement).is_ok(),
            None => self.machine.allocate(job.id, &job.request).is_ok(),
        };
        assert!(granted, "a scheduler starts jobs that fit, on free nodes");
        let placement = self.machine.placement(job.id).expect("it was just granted");
        let free = self.machine.free();
        self.audience.tell(&Fact::Started { job: &job, placement, free });
        let Service::Run(length) = job.service else {
            unreachable!("jobs with messages are run with a network")
        };
        let departure =
            Departure { job: job.id, estimated_end: self.now.saturating_add(job.estimate) };
        self.agenda.schedule(self.now + length, DEPARTURES, departure);
        self.running.start(job, self.now);
    }

    fn depart(&mut self, departure: &Departure) {
        let gone = self.running.depart(departure.estimated_end, departure.job);
        let placement: Placement =
            self.machine.release(gone.job.id).expect("a running job holds nodes");
        self.completed += 1;
        self.audience.tell(&Fact::Departed {
            job: &gone.job,
            start: gone.start,
            placement: &placement,
            free: self.machine.free(),
        });
    }

    fn outcome(self) -> Outcome {
        Outcome {
            end: self.now,
            arrived: self.arrived,
            waiting: self.queue.len() as u64,
            rejected: self.rejected,
            allocation_ns: self.audience.watch.and_then(|watch| watch.mean_ns()),
        }
    }
}

/// The observers, and the watch.
struct Audience<'a, 'o> {
    now: Time,
    observers: &'a mut [&'o mut dyn Observer],
    watch: Option<Stopwatch>,
}

impl Audience<'_, '_> {
    fn tell(&mut self, fact: &Fact<'_>) {
        if let (Fact::CountingStarts, Some(watch)) = (fact, &mut self.watch) {
            watch.reset();
        }
        for observer in self.observers.iter_mut() {
            if observer.interest().covers(fact) {
                observer.see(self.now, fact);
            }
        }
    }
}

impl Witness for Audience<'_, '_> {
    fn begins(&mut self) {
        if let Some(watch) = &mut self.watch {
            watch.begin();
        }
    }

    fn ended(&mut self, attempt: Attempt) {
        if let Some(watch) = &mut self.watch {
            watch.end();
        }
        self.tell(&Fact::Attempted(attempt));
    }
}
