//! A small simulation loop for these tests, since the real one is in a higher-level crate.

use std::collections::BTreeSet;

use pavior_allocation::{Machine, Placement};
use pavior_kernel::Time;
use pavior_mesh::{Cuboid, JobId, NodeId, Request};
use pavior_scheduling::{
    AdvanceReservation, Attempt, AttemptObserver, Dispatcher, Prediction, Scheduler, Selection,
};
use pavior_workload::{Job, Service};

/// Creates a job for these tests. Times are in ticks.
pub(crate) fn job(id: u64, arrival: u64, request: Request, run: u64, estimate: u64) -> Job {
    Job {
        id: JobId(id),
        index: id,
        number: id,
        arrival: Time(arrival),
        request,
        service: Service::Run(Time(run)),
        estimate: Time(estimate),
    }
}

/// Creates a request for the given number of nodes in one row.
pub(crate) fn row(nodes: u16) -> Request {
    Request::shape([nodes, 1, 1])
}

/// Creates a scheduler by its name.
pub(crate) fn named(scheduler: &str) -> Box<dyn Scheduler> {
    scheduler.parse::<Selection>().unwrap().build(()).unwrap()
}

/// The start of a job, and the jobs that were waiting just before it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Started {
    pub(crate) job: JobId,
    pub(crate) at: Time,
    pub(crate) placement: Placement,
    /// All waiting jobs, in queue order, including this one.
    pub(crate) waiting: Vec<Job>,
}

/// An observer that is called before every call to the scheduler, and again when the scheduler has
/// started all jobs that it can.
pub(crate) trait StartObserver {
    fn asked(&mut self, _: &World) {}
    fn settled(&mut self, _: &mut World) {}
}

impl StartObserver for () {}

pub(crate) struct World {
    pub(crate) now: Time,
    pub(crate) dispatcher: Dispatcher,
    pub(crate) started: Vec<Started>,
    pub(crate) attempts: u64,
    ends: BTreeSet<(Time, JobId)>,
    upsets: Vec<Upset>,
    asides: Vec<(Time, Aside)>,
    /// The advance reservations, which no job that starts may overlap.
    reserved: Vec<AdvanceReservation>,
}

/// An action by the caller that bypasses the scheduler.
#[derive(Clone, Debug)]
pub(crate) enum Aside {
    /// A job is granted nodes if the strategy finds any.
    Grant(Job),
    /// The job at this queue index, if any, is withdrawn.
    Withdraw(usize),
}

/// The time of a failure or repair, the node, and a flag that is true for a failure.
pub(crate) type Upset = (Time, NodeId, bool);

struct Count<'a>(&'a mut u64);

impl AttemptObserver for Count<'_> {
    fn ended(&mut self, _: Attempt) {
        *self.0 += 1;
    }
}

impl World {
    pub(crate) fn new(grid: &str, strategy: &str, scheduler: &str) -> World {
        World::with(grid, strategy, named(scheduler))
    }

    pub(crate) fn with(grid: &str, strategy: &str, scheduler: Box<dyn Scheduler>) -> World {
        let machine = Machine::new(grid.parse().unwrap(), strategy).unwrap();
        World {
            now: Time::ZERO,
            dispatcher: Dispatcher::new(machine, scheduler),
            started: Vec::new(),
            attempts: 0,
            ends: BTreeSet::new(),
            upsets: Vec::new(),
            asides: Vec::new(),
            reserved: Vec::new(),
        }
    }

    /// Adds advance reservations.
    pub(crate) fn reserving(mut self, reserved: &[AdvanceReservation]) -> World {
        for one in reserved {
            self.dispatcher.reserve(one.clone()).unwrap();
        }
        World { reserved: reserved.to_vec(), ..self }
    }

    /// Sets the node failures and repairs, which must be in order of time.
    pub(crate) fn failing(self, upsets: &[Upset]) -> World {
        World { upsets: upsets.to_vec(), ..self }
    }

    /// Sets the caller's actions that bypass the scheduler. These actions must be in order of time.
    pub(crate) fn beside(self, asides: &[(Time, Aside)]) -> World {
        World { asides: asides.to_vec(), ..self }
    }

    fn turn_aside(&mut self, aside: Aside) {
        match aside {
            Aside::Withdraw(place) => drop(self.dispatcher.withdraw(place)),
            Aside::Grant(job) => {
                let Service::Run(run) = job.service else { unreachable!("these jobs run") };
                let id = job.id;
                if self.dispatcher.grant(job, self.now).is_ok() {
                    self.ends.insert((self.now + run, id));
                }
            }
        }
    }

    /// Adds a job that holds the first nodes of a row when the run begins.
    pub(crate) fn holding(mut self, job: Job) -> World {
        let Service::Run(run) = job.service else { unreachable!("these jobs run") };
        let nodes = Cuboid::new([0; 3], [job.request.nodes as u16, 1, 1]);
        self.ends.insert((self.now + run, job.id));
        self.dispatcher.hold(job, self.now, Placement::Whole(nodes)).unwrap();
        self
    }

    /// Adds a prediction.
    pub(crate) fn predicting(self, prediction: impl Prediction + Send + 'static) -> World {
        World { dispatcher: self.dispatcher.with_prediction(Box::new(prediction)), ..self }
    }

    /// Runs all jobs, which must be in order of arrival. Skips jobs that can never fit.
    pub(crate) fn run(self, jobs: &[Job]) -> World {
        self.run_watched(jobs, &mut ())
    }

    /// Works like [`World::run`], but reports to an observer.
    pub(crate) fn run_watched(mut self, jobs: &[Job], watch: &mut dyn StartObserver) -> World {
        let mut jobs = jobs.iter().peekable();
        loop {
            let next_end = self.ends.first().map(|key| key.0);
            let next_upset = self.upsets.first().map(|upset| upset.0);
            let next_job = jobs.peek().map(|job| job.arrival);
            let waits = !self.dispatcher.queue().is_empty();
            let change = self.dispatcher.calendar().next_change(self.now).filter(|_| waits);
            let next_aside = self.asides.first().map(|aside| aside.0);
            let next =
                [next_end, next_upset, next_job, next_aside, change].into_iter().flatten().min();
            let Some(now) = next else { return self };
            self.now = now;
            while let Some(&(end, job)) = self.ends.first()
                && end == now
            {
                self.ends.pop_first();
                self.dispatcher.end(job).unwrap();
            }
            let dispatcher = &mut self.dispatcher;
            while self.upsets.first().is_some_and(|upset| upset.0 == now) {
                match self.upsets.remove(0) {
                    (_, node, true) => drop(dispatcher.fail(node).unwrap()),
                    (_, node, false) => dispatcher.repair(node).unwrap(),
                }
            }
            while self.asides.first().is_some_and(|aside| aside.0 == now) {
                let aside = self.asides.remove(0).1;
                self.turn_aside(aside);
            }
            while let Some(job) = jobs.next_if(|job| job.arrival == now) {
                if self.dispatcher.could_ever_fit(&job.request).is_ok() {
                    self.dispatcher.submit(job.clone()).unwrap();
                }
            }
            self.schedule(watch);
            self.dispatcher.machine().validate();
            watch.settled(&mut self);
        }
    }

    fn schedule(&mut self, watch: &mut dyn StartObserver) {
        while !self.dispatcher.queue().is_empty() {
            watch.asked(self);
            let waiting: Vec<Job> = self.dispatcher.queue().iter().cloned().collect();
            let mut count = Count(&mut self.attempts);
            // A scheduler that returns an error starts nothing; tests check the error.
            let Ok(Some(start)) = self.dispatcher.start_next(self.now, &mut count) else { return };
            let Service::Run(run) = start.job.service else { unreachable!("these jobs run") };
            self.ends.insert((self.now + run, start.job.id));
            let (job, placement) = (start.job.id, start.placement.clone());
            let end = self.now + start.job.estimate.max(Time(1));
            let grid = self.dispatcher.machine().grid();
            for one in self.reserved.iter().filter(|one| one.from() < end && self.now < one.to()) {
                let mut parts = placement.parts().iter();
                let meets =
                    parts.any(|own| one.boxes().iter().any(|box_| own.intersects(grid, box_)));
                assert!(!meets, "{job:?} at {:?} runs into {one:?}", self.now);
            }
            self.started.push(Started { job, at: self.now, placement, waiting });
        }
    }

    /// Returns the earliest time at which a request fits if all running jobs end as estimated,
    /// along with its placement.
    pub(crate) fn first_fit(&self, request: &Request) -> Option<(Time, Placement)> {
        let mut copy = self.dispatcher.machine().clone();
        let mut at = self.now;
        for running in self.dispatcher.running().by_estimated_end() {
            // The nodes of all jobs that end at the same time are freed before the next query.
            if running.estimated_end() > at {
                if copy.probe(request).is_ok() {
                    break;
                }
                at = running.estimated_end();
            }
            copy.release(running.job.id).unwrap();
        }
        copy.probe(request).ok().map(|placement| (at, placement))
    }

    pub(crate) fn error(&self) -> Option<pavior_kernel::CallerError> {
        self.dispatcher.scheduler().error()
    }

    pub(crate) fn broken(&self) -> u64 {
        self.dispatcher.scheduler().broken_guarantees()
    }

    /// Returns the start time of a job that has started.
    pub(crate) fn start_of(&self, job: u64) -> Time {
        self.of(job).at
    }

    pub(crate) fn of(&self, job: u64) -> &Started {
        self.started.iter().find(|started| started.job == JobId(job)).unwrap()
    }

    /// Returns the starts as (job, time), in the order in which they were decided.
    pub(crate) fn starts(&self) -> Vec<(JobId, Time)> {
        self.started.iter().map(|started| (started.job, started.at)).collect()
    }
}

/// Creates a failure and a later repair for each node, in order of time.
pub(crate) fn fail_and_repair(nodes: &[u32]) -> Vec<Upset> {
    let upset = |(index, &node): (u64, &u32)| {
        [(Time(4 + 7 * index), NodeId(node), true), (Time(60 + 9 * index), NodeId(node), false)]
    };
    let mut upsets: Vec<Upset> = (0..).zip(nodes).flat_map(upset).collect();
    upsets.sort_by_key(|upset| upset.0);
    upsets
}

/// Runs the same jobs with the same failures in two worlds, whose schedulers must start the same
/// jobs.
pub(crate) fn in_lock_step(one: World, other: World, jobs: &[Job], upsets: &[Upset]) {
    let run = |world: World| world.failing(upsets).run(jobs).started;
    let machine = one.dispatcher.machine();
    let (selection, grid) = (machine.selection().to_string(), *machine.grid());
    assert_eq!(run(one), run(other), "{selection} on {grid}");
}
