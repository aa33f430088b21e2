//! The loop.

use std::iter::Peekable;

use pavior_allocation::{BuildError, Machine};
use pavior_kernel::{Agenda, Stream, Time};
use pavior_mesh::{Grid, JobId};
use pavior_network::{BadSettings, Deadlock};
use pavior_scheduling::{MachineView, Queue, Running, RunningJob, Scheduler, Start};
use pavior_workload::{Change, Job, NodeEvent, Service};
use rustc_hash::FxHashMap;
use thiserror::Error;

use crate::faults::Faults;
use crate::observers::Observers;
use crate::traffic::Traffic;
use crate::{Fact, Interest, NetworkSetup, Observer, Restart};

/// What a run is made of, besides its jobs.
#[derive(Clone)]
pub struct Setup {
    /// The machine.
    pub grid: Grid,
    /// Who allocates.
    pub strategy: pavior_allocation::Selection,
    /// Who schedules.
    pub scheduler: pavior_scheduling::Selection,
    /// The network, if jobs send messages; a tick is then a cycle.
    pub network: Option<NetworkSetup>,
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

/// What comes from outside in the key of a run.
pub struct Inputs<'i> {
    /// The jobs, in the order of arrival.
    pub jobs: Box<dyn Iterator<Item = Job> + 'i>,
    /// Failures and repairs in the order of time, and what becomes of jobs on failed nodes. Not
    /// together with a network.
    pub failures: Option<(Box<dyn Iterator<Item = NodeEvent> + Send>, Restart)>,
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

/// Why a run cannot be made, or cannot go on.
#[derive(Debug, Error)]
pub enum RunError {
    /// The strategy does not work on the machine.
    #[error(transparent)]
    Strategy(#[from] BuildError),
    /// The network cannot be built so.
    #[error(transparent)]
    Network(#[from] BadSettings),
    /// Messages wait for each other in a circle.
    #[error(transparent)]
    Deadlock(#[from] Deadlock),
}

/// Departures come first in an instant.
const DEPARTURES: u8 = 0;

/// The end of a job that was started as number `start` of the run's starts; a job that fails and
/// starts again makes its earlier departure void.
struct Departure {
    job: JobId,
    estimated_end: Time,
    start: u64,
}

/// Runs a simulation.
///
/// # Errors
/// If strategy, machine and network do not go together, or the network deadlocks.
pub fn run(
    setup: &Setup,
    inputs: Inputs<'_>,
    observers: &mut [&mut dyn Observer],
) -> Result<Outcome, RunError> {
    let Setup { grid, seed, replication, .. } = *setup;
    let draw = Stream::new(seed, replication, "allocation");
    let each = observers.iter().any(|watcher| watcher.interest().includes(Interest::DELIVERIES));
    let traffic =
        setup.network.as_ref().map(|network| Traffic::new(network, grid, seed, replication, each));
    let mut simulation = Simulation {
        now: setup.begin,
        machine: Machine::with_stream(grid, &setup.strategy, draw)?,
        scheduler: setup.scheduler.build(),
        queue: Queue::new(),
        running: Running::new(),
        agenda: Agenda::new(),
        jobs: inputs.jobs.peekable(),
        faults: inputs.failures.map(|(events, restart)| Faults::new(events, restart, setup.begin)),
        traffic: traffic.transpose()?,
        waiting_for_messages: FxHashMap::default(),
        starts: 0,
        live: FxHashMap::default(),
        observers: Observers::new(setup.begin, observers, setup.timing),
        completed: 0,
        arrived: 0,
        broken: 0,
        rejected: Vec::new(),
    };
    simulation.count_anew();
    simulation.go(setup)?;
    if simulation.completed < setup.warmup {
        // The warm-up never ended: nothing counts.
        simulation.count_anew();
    }
    if let Some(traffic) = &mut simulation.traffic {
        simulation.observers.tell(&Fact::Carried(traffic.totals(simulation.now)));
    }
    simulation.observers.tell(&Fact::Ended);
    Ok(simulation.outcome())
}

struct Simulation<'a, 'o, 'i> {
    now: Time,
    machine: Machine,
    scheduler: Box<dyn Scheduler>,
    queue: Queue,
    running: Running,
    agenda: Agenda<Departure>,
    jobs: Peekable<Box<dyn Iterator<Item = Job> + 'i>>,
    faults: Option<Faults>,
    traffic: Option<Traffic>,
    /// Estimated ends of the jobs whose departure comes from the network.
    waiting_for_messages: FxHashMap<JobId, Time>,
    /// The number of starts so far, and, where nodes fail, the latest start of each running job.
    starts: u64,
    live: FxHashMap<JobId, u64>,
    observers: Observers<'a, 'o>,
    completed: u64,
    arrived: u64,
    /// Guarantees that the scheduler has broken so far.
    broken: u64,
    rejected: Vec<JobId>,
}

impl Simulation<'_, '_, '_> {
    /// Instant by instant, until the ending.
    fn go(&mut self, setup: &Setup) -> Result<(), RunError> {
        let mut finished = Vec::new();
        while let Some(now) = self.next_instant(&mut finished)? {
            self.now = now;
            self.observers.now = now;
            if let Some(traffic) = &self.traffic {
                for delivery in traffic.deliveries() {
                    self.observers.tell(&Fact::Delivered(delivery));
                }
            }
            let only_messages = self.traffic.is_some() && self.next_own() != Some(now);
            if only_messages && finished.is_empty() {
                // Only messages have moved. Schedulers are asked about changes of queue and machine.
                self.send();
                continue;
            }
            for job in finished.drain(..) {
                let estimated_end =
                    self.waiting_for_messages.remove(&job).expect("it waited for messages");
                self.agenda.schedule(now, DEPARTURES, Departure { job, estimated_end, start: 0 });
            }
            while self.agenda.next_time() == Some(now) {
                let (_, departure) = self.agenda.pop().expect("it was just seen");
                if self.is_void(&departure) {
                    continue;
                }
                self.depart(&departure);
                if setup.warmup > 0 && self.completed == setup.warmup {
                    self.count_anew();
                }
                if setup.ending == Ending::Completions(self.completed) {
                    return Ok(());
                }
            }
            self.fail_and_repair();
            while let Some(job) = self.jobs.next_if(|job| job.arrival == now) {
                self.arrive(job);
            }
            self.schedule();
            self.send();
        }
        Ok(())
    }

    /// Averages start here.
    fn count_anew(&mut self) {
        if let Some(traffic) = &mut self.traffic {
            traffic.count_anew(self.now);
        }
        self.observers.tell(&Fact::CountingStarts);
    }

    /// Running jobs create what they can send.
    fn send(&mut self) {
        if let Some(traffic) = &mut self.traffic {
            traffic.create(self.now);
        }
    }

    /// The next time at which anything happens; jobs whose last message is delivered then are put
    /// into `finished`.
    fn next_instant(&mut self, finished: &mut Vec<JobId>) -> Result<Option<Time>, RunError> {
        let own = self.next_own();
        if let Some(traffic) = &mut self.traffic {
            return Ok(traffic.advance(own, finished)?);
        }
        let idle = own.is_none() && self.queue.is_empty();
        let fault = self.faults.as_mut().filter(|_| !idle).and_then(Faults::next_time);
        Ok([own, fault].into_iter().flatten().min())
    }

    /// The time of the next departure or arrival that is known.
    fn next_own(&mut self) -> Option<Time> {
        let arrival = self.jobs.peek().map(|job| job.arrival);
        [self.agenda.next_time(), arrival].into_iter().flatten().min()
    }

    fn is_void(&self, departure: &Departure) -> bool {
        self.faults.is_some() && self.live.get(&departure.job) != Some(&departure.start)
    }

    fn fail_and_repair(&mut self) {
        let now = self.now;
        while let Some(event) = self.faults.as_mut().and_then(|faults| faults.at(now)) {
            if event.change == Change::Repair {
                self.machine.repair(event.node);
            } else if let Some(job) = self.machine.fail(event.node) {
                self.interrupt(job);
            }
        }
    }

    /// A running job loses a node: it gives up the others, and waits again.
    fn interrupt(&mut self, job: JobId) {
        self.live.remove(&job);
        let RunningJob { job, start } = self.running.interrupt(job);
        let placement = self.machine.release(job.id).expect("a running job holds nodes");
        self.observers.tell(&Fact::Interrupted {
            job: &job,
            start,
            placement: &placement,
            free: self.machine.free(),
        });
        let faults = self.faults.as_ref().expect("only failures interrupt");
        let rest = faults.rest_of(job, self.now.since(start));
        self.queue.reinsert(rest);
    }

    fn arrive(&mut self, job: Job) {
        self.arrived += 1;
        match self.machine.could_ever_fit(&job.request) {
            Ok(()) => {
                self.observers.tell(&Fact::Arrived(&job));
                self.queue.push(job);
            }
            Err(refusal) => {
                self.observers.tell(&Fact::Rejected(&job, refusal));
                self.rejected.push(job.id);
            }
        }
    }

    fn schedule(&mut self) {
        while !self.queue.is_empty() {
            let mut view = MachineView::new(&mut self.machine, &mut self.observers);
            let start = self.scheduler.next(self.now, &self.queue, &self.running, &mut view);
            let Some(start) = start else { return };
            let broken = self.scheduler.broken_guarantees();
            if broken > self.broken {
                self.broken = broken;
                let late = self.queue.get(start.index).expect("a scheduler starts jobs that wait");
                self.observers.tell(&Fact::GuaranteeBroken(late));
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
        self.observers.tell(&Fact::Started { job: &job, placement, free });
        self.starts += 1;
        let estimated_end = self.now.saturating_add(job.estimate);
        let sends =
            self.traffic.as_mut().is_some_and(|traffic| traffic.start(self.now, &job, placement));
        if sends {
            self.waiting_for_messages.insert(job.id, estimated_end);
        } else {
            let length = match job.service {
                Service::Run(length) => length,
                // A job without a message holds its nodes for one cycle.
                Service::Messages(_) | Service::Iterations(_) => Time(1),
            };
            let departure = Departure { job: job.id, estimated_end, start: self.starts };
            self.agenda.schedule(self.now.saturating_add(length), DEPARTURES, departure);
        }
        if self.faults.is_some() {
            self.live.insert(job.id, self.starts);
        }
        self.running.start(job, self.now);
    }

    fn depart(&mut self, departure: &Departure) {
        let gone = self.running.depart(departure.estimated_end, departure.job);
        self.live.remove(&departure.job);
        let placement = self.machine.release(gone.job.id).expect("a running job holds nodes");
        self.completed += 1;
        self.observers.tell(&Fact::Departed {
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
            allocation_ns: self.observers.attempt_ns(),
        }
    }
}
