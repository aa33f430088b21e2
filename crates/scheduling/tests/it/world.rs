//! A small simulation loop for these tests: the real one lives above this crate.

use std::collections::BTreeMap;

use pavior_allocation::{Machine, Placement};
use pavior_kernel::Time;
use pavior_mesh::{Grid, JobId, NodeId, Request};
use pavior_scheduling::{
    Attempt, AttemptObserver, MachineView, Prediction, Queue, Running, Scheduler, Start,
};
use pavior_workload::{Job, Service};

/// A job of these tests. Times are in ticks.
pub(crate) fn job(id: u64, arrival: u64, request: Request, run: u64, estimate: u64) -> Job {
    Job {
        id: JobId(id),
        number: id,
        arrival: Time(arrival),
        request,
        service: Service::Run(Time(run)),
        estimate: Time(estimate),
    }
}

/// A start, with what could be seen just before it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Started {
    pub(crate) job: JobId,
    pub(crate) at: Time,
    pub(crate) placement: Placement,
    /// All who waited, in the order of the queue, the job included.
    pub(crate) waiting: Vec<Job>,
}

/// What is looked at before every question to the scheduler, and after the last of an instant.
pub(crate) trait StartObserver {
    fn asked(&mut self, _: &World) {}
    fn settled(&mut self, _: &mut World) {}
}

/// NoObserver looks.
pub(crate) struct NoObserver;
impl StartObserver for NoObserver {}

pub(crate) struct World {
    pub(crate) now: Time,
    pub(crate) machine: Machine,
    pub(crate) queue: Queue,
    pub(crate) running: Running,
    pub(crate) started: Vec<Started>,
    pub(crate) attempts: u64,
    scheduler: Box<dyn Scheduler>,
    ends: BTreeMap<(Time, JobId), Time>,
    prediction: Option<Box<dyn Prediction>>,
    pub(crate) upsets: Vec<Upset>,
}

/// A node fails (true) or is repaired.
pub(crate) type Upset = (Time, NodeId, bool);

struct Count<'a>(&'a mut u64);

impl AttemptObserver for Count<'_> {
    fn ended(&mut self, _: Attempt) {
        *self.0 += 1;
    }
}

impl World {
    pub(crate) fn new(grid: &str, strategy: &str, scheduler: &str) -> World {
        let scheduler: pavior_scheduling::Selection = scheduler.parse().unwrap();
        World::with(grid, strategy, scheduler.build(()).unwrap())
    }

    pub(crate) fn with(grid: &str, strategy: &str, scheduler: Box<dyn Scheduler>) -> World {
        let grid: Grid = grid.parse().unwrap();
        World {
            now: Time::ZERO,
            machine: Machine::with_seed(grid, &strategy.parse().unwrap(), 1).unwrap(),
            queue: Queue::new(),
            running: Running::new(),
            started: Vec::new(),
            attempts: 0,
            scheduler,
            ends: BTreeMap::new(),
            prediction: None,
            upsets: Vec::new(),
        }
    }

    /// The same with a prediction.
    pub(crate) fn predicting(self, prediction: impl Prediction + 'static) -> World {
        World { prediction: Some(Box::new(prediction)), ..self }
    }

    /// Runs all jobs, which come in the order of arrival; those that never fit are left out.
    pub(crate) fn run(mut self, jobs: &[Job], watch: &mut dyn StartObserver) -> World {
        let mut jobs = jobs.iter().peekable();
        loop {
            let next_end = self.ends.keys().next().map(|key| key.0);
            let next_upset = self.upsets.first().map(|upset| upset.0);
            let next_job = jobs.peek().map(|job| job.arrival);
            let Some(now) = [next_end, next_upset, next_job].into_iter().flatten().min() else {
                return self;
            };
            self.now = now;
            while let Some((&key, &estimated)) = self.ends.iter().next()
                && key.0 == now
            {
                self.ends.remove(&key);
                self.running.depart(estimated, key.1).unwrap();
                self.machine.release(key.1).unwrap();
            }
            while self.upsets.first().is_some_and(|upset| upset.0 == now) {
                match self.upsets.remove(0) {
                    (_, node, true) => drop(self.machine.fail(node).unwrap()),
                    (_, node, false) => self.machine.repair(node).unwrap(),
                }
            }
            while let Some(job) = jobs.next_if(|job| job.arrival == now) {
                if self.machine.could_ever_fit(&job.request).is_ok() {
                    self.queue.push(job.clone());
                }
            }
            self.schedule(watch);
            self.machine.validate();
            watch.settled(&mut self);
        }
    }

    fn schedule(&mut self, watch: &mut dyn StartObserver) {
        while !self.queue.is_empty() {
            watch.asked(self);
            let mut count = Count(&mut self.attempts);
            let mut view = MachineView::new(&mut self.machine, &mut count);
            if let Some(prediction) = &mut self.prediction {
                view = view.with_prediction(&mut **prediction);
            }
            let start = self.scheduler.next(self.now, &self.queue, &self.running, &mut view);
            let Some(Start { index, placement }) = start else { return };
            let waiting: Vec<Job> = self.queue.iter().cloned().collect();
            let job = self.queue.take(index).unwrap();
            let granted = match placement {
                Some(placement) => self.machine.allocate_at(job.id, placement).unwrap(),
                None => self.machine.allocate(job.id, &job.request).unwrap(),
            };
            let placement = granted.clone();
            self.started.push(Started { job: job.id, at: self.now, placement, waiting });
            let Service::Run(run) = job.service else { unreachable!("these jobs run") };
            self.ends.insert((self.now + run, job.id), self.now + job.estimate);
            self.running.start(job, self.now);
        }
    }

    pub(crate) fn error(&self) -> Option<pavior_kernel::CallerError> {
        self.scheduler.error()
    }

    pub(crate) fn broken(&self) -> u64 {
        self.scheduler.broken_guarantees()
    }

    /// When a job started; it must have.
    pub(crate) fn start_of(&self, job: u64) -> Time {
        self.of(job).at
    }

    pub(crate) fn of(&self, job: u64) -> &Started {
        self.started.iter().find(|started| started.job == JobId(job)).unwrap()
    }

    /// The starts as (job, time), in the order of decision.
    pub(crate) fn starts(&self) -> Vec<(JobId, Time)> {
        self.started.iter().map(|started| (started.job, started.at)).collect()
    }
}

/// Each node fails for a while, all together in between; in the order of time.
pub(crate) fn fail_and_repair(nodes: &[u32]) -> Vec<Upset> {
    let upset = |(index, &node): (u64, &u32)| {
        [(Time(4 + 7 * index), NodeId(node), true), (Time(60 + 9 * index), NodeId(node), false)]
    };
    let mut upsets: Vec<Upset> = (0..).zip(nodes).flat_map(upset).collect();
    upsets.sort_by_key(|upset| upset.0);
    upsets
}

/// Runs the same jobs with the same upsets in two worlds, whose schedulers must start the same.
pub(crate) fn in_lock_step(one: World, other: World, jobs: &[Job], upsets: &[Upset]) {
    let run = |mut world: World| {
        world.upsets = upsets.to_vec();
        world.run(jobs, &mut NoObserver).started
    };
    let selection = one.machine.selection().to_string();
    let grid = *one.machine.grid();
    assert_eq!(run(one), run(other), "{selection} on {grid}");
}
