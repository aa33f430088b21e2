//! Tests that any sequence of calls keeps the queue, the running jobs and the machine consistent,
//! and that a failing call changes nothing.

use std::collections::BTreeSet;

use pavior_allocation::{Machine, Placement};
use pavior_kernel::Time;
use pavior_mesh::{Cuboid, Freedom, Grid, JobId, NodeId, Occupancy, Pool, Request};
use pavior_scheduling::{
    AdvanceReservation, Decision, Dispatcher, MachineView, Queue, Running, Scheduler, Start,
};
use pavior_workload::Job;
use proptest::prelude::*;

use crate::workloads::schedulers;
use crate::world;

/// Small machines and their strategies. On the last one, switches connect the parts of placements.
const MACHINES: [(&str, &str); 5] = [
    ("mesh:4x3", "tff"),
    ("torus:4x3", "mbs"),
    ("mesh:4x3", "random"),
    ("mesh:4x3", "tbl"),
    ("torus:4x4x8", "tpu"),
];

/// A call's number and its possible arguments: jobs, a box, a small number and a flag.
type Call = (u8, Vec<Job>, Cuboid, u64, bool);

/// The queue, the running jobs and their nodes, the failed nodes, and the number of current
/// reservations.
type Tables = (Vec<Job>, String, Vec<(JobId, Placement)>, Vec<NodeId>, usize);

fn call() -> impl Strategy<Value = Call> {
    let jobs = prop::collection::vec(job(), 1..4);
    (0u8..23, jobs, cuboid(), 0u64..20, any::<bool>())
}

fn cuboid() -> impl Strategy<Value = Cuboid> {
    let sides = (1u16..5, 0u16..4, 1u16..3).prop_map(|(w, d, h)| [w, d, h]);
    (0u16..5, 0u16..4, sides).prop_map(|(x, y, sides)| Cuboid::new([x, y, 0], sides))
}

fn job() -> impl Strategy<Value = Job> {
    let freedoms = [None, Some(Freedom::Turned), Some(Freedom::AnyBox), Some(Freedom::Any)];
    let pool = prop::option::weighted(0.2, (0u32..2).prop_map(Pool));
    let request = (cuboid(), any::<bool>(), prop::sample::select(freedoms.to_vec()), pool);
    (0u64..6, request, 0u64..20, 0u64..30).prop_map(|(id, request, arrival, estimate)| {
        let (Cuboid { sides, .. }, shaped, freedom, pool) = request;
        let shape = Request::shape(sides);
        let request = if shaped { shape } else { Request::nodes(shape.nodes) };
        let request = Request { freedom, ..request }.within(pool);
        world::job(id, arrival, request, estimate, estimate)
    })
}

/// A scheduler that chooses arbitrary queue indices and nodes.
struct Careless(u64);

impl Scheduler for Careless {
    fn next(&mut self, _: Time, _: &Queue, _: &Running, _: &mut MachineView<'_>) -> Option<Start> {
        self.0 += 1;
        let (index, side) = (self.0 as usize % 4, self.0 as u16 % 5);
        let on = Placement::Whole(Cuboid::new([side, 0, 0], [side, 2, 1]));
        (self.0 % 3 > 0).then(|| Start { index, placement: (self.0 % 3 > 1).then_some(on) })
    }
}

fn scheduler(index: u64) -> Box<dyn Scheduler> {
    let names = schedulers();
    match names.get(index as usize % (names.len() + 1)) {
        Some(name) => world::named(name),
        None => Box::new(Careless(index)),
    }
}

/// A dispatcher and the current time.
struct Subject {
    dispatcher: Dispatcher,
    now: Time,
}

impl Subject {
    /// Creates a dispatcher for a machine on which a job is already running.
    fn new((grid, strategy): (&str, &str), first: u64) -> Subject {
        let mut machine = Machine::new(grid.parse().unwrap(), strategy).unwrap();
        machine.allocate(JobId(1), &Request::shape([2, 1, 1])).unwrap();
        Subject { dispatcher: Dispatcher::new(machine, scheduler(first)), now: Time(5) }
    }

    /// Makes the given call on the dispatcher. Returns false if the call fails.
    fn make(&mut self, call: Call) -> bool {
        let (dispatcher, now) = (&mut self.dispatcher, self.now);
        let (number, ref jobs, part, small, choice) = call;
        let (job, on) = (jobs[0].clone(), Placement::Whole(part));
        let (id, node, index) = (job.id, NodeId(small as u32), small as usize % 4);
        match number {
            0..4 => dispatcher.submit(job).is_ok(),
            4 => dispatcher.resubmit(job).is_ok(),
            5 => dispatcher.withdraw(index).is_some(),
            // Starts the job only if `choice` is true.
            6 => match dispatcher.decide(now, &mut ()) {
                Ok(Some(decision)) => choice && decision.start().is_ok(),
                other => other.is_ok(),
            },
            7..10 => dispatcher.start_next(now, &mut ()).is_ok(),
            10 => {
                let start = Start { index, placement: choice.then_some(on) };
                dispatcher.choose(now, start).and_then(Decision::start).is_ok()
            }
            11 => dispatcher.grant(job, now).is_ok(),
            12 => dispatcher.hold(job, now, on).is_ok(),
            13 => dispatcher.end(id).is_some(),
            14 => dispatcher.relocate(id, on).is_ok(),
            15 if choice => dispatcher.fail(node).is_ok(),
            15 => dispatcher.repair(node).is_ok(),
            16 if choice => dispatcher.give_up(small % 3).is_some(),
            _ => self.turn(call),
        }
    }

    /// Makes a call that `make` does not handle directly.
    fn turn(&mut self, (number, mut jobs, part, small, choice): Call) -> bool {
        let (dispatcher, now) = (&mut self.dispatcher, self.now);
        let grid = *dispatcher.machine().grid();
        match number {
            16 => {
                let other: Grid = "mesh:9x9".parse().unwrap();
                let grid = if small % 5 == 0 { other } else { grid };
                let time = (now + Time(small), now + Time(small + u64::from(part.base[0])));
                let made = AdvanceReservation::new(small % 3, &grid, vec![part], time);
                return made.and_then(|made| dispatcher.reserve(made)).is_ok();
            }
            17 => dispatcher.estimate_anew(jobs[0].id, Time(small)),
            18 if choice => dispatcher.set_switches(small % 2 == 0),
            18 => {
                let mut nodes = Occupancy::all_free(grid);
                (0..grid.nodes()).step_by(1 + usize::from(part.base[0])).for_each(|node| {
                    nodes.take_node(NodeId(node));
                });
                return dispatcher.add_pool(nodes).is_ok();
            }
            19 => {
                let (job, request) = (&jobs[0], &jobs[0].request);
                let _ = (dispatcher.probe(job, now), dispatcher.probe_unreserved(request));
                let _ = (dispatcher.could_ever_fit(request), dispatcher.standing(now));
            }
            20 if choice => *dispatcher = dispatcher.fork(scheduler(small), |job| job.estimate),
            20 => {
                *dispatcher = dispatcher.fork_in(scheduler(small), 3);
                self.now = Time(now.0 * 3);
            }
            // Copy the machine with waiting and running jobs supplied by the caller.
            21 => {
                let (mut queue, mut running) = (Queue::new(), Running::new());
                jobs.drain(..jobs.len() / 2).for_each(|job| queue.push(job));
                for job in jobs {
                    running.start(job, now);
                }
                let (mut unwatched, other) = ((), scheduler(small));
                let made = dispatcher.view(now, &mut unwatched).what_if(&queue, &running, other);
                return made.map(|made| *dispatcher = made).is_ok();
            }
            _ => self.now = now + Time(small / 2),
        }
        true
    }

    /// Returns the tables, which a failing call must not change.
    fn shown(&self) -> Tables {
        let (dispatcher, machine) = (&self.dispatcher, self.dispatcher.machine());
        let running: Vec<_> = dispatcher.running().by_estimated_end().collect();
        let held = machine.held().into_iter().map(|(id, placement)| (id, placement.clone()));
        let reserved = dispatcher.calendar().iter().filter(|one| one.to() > self.now).count();
        let queue = dispatcher.queue().iter().cloned().collect();
        (queue, format!("{running:?}"), held.collect(), machine.failed().collect(), reserved)
    }

    /// Panics if the tables are inconsistent.
    fn check(&self) {
        let (dispatcher, machine) = (&self.dispatcher, self.dispatcher.machine());
        machine.validate();
        let runs: BTreeSet<JobId> =
            dispatcher.running().by_estimated_end().map(|one| one.job.id).collect();
        let held: BTreeSet<JobId> = machine.held().into_iter().map(|(id, _)| id).collect();
        let waits: BTreeSet<JobId> = dispatcher.queue().iter().map(|job| job.id).collect();
        assert_eq!(runs, held, "exactly the running jobs hold nodes");
        assert_eq!(dispatcher.running().len(), runs.len(), "each runs once");
        assert_eq!(dispatcher.queue().len(), waits.len(), "each waits once");
        assert!(waits.is_disjoint(&runs), "no job waits and runs");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(pavior_trials::size(300, 1000, 1000)))]

    #[test]
    fn no_caller_brings_the_tables_out_of_agreement(
        machine in prop::sample::select(MACHINES.to_vec()),
        first in 0u64..20,
        calls in prop::collection::vec(call(), 1..60),
    ) {
        let mut subject = Subject::new(machine, first);
        subject.check();
        for call in calls {
            let before = subject.shown();
            if !subject.make(call) {
                prop_assert_eq!(before, subject.shown());
            }
            subject.check();
        }
    }
}
