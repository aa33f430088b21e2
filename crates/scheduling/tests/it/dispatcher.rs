//! Tests of the guarantees that a dispatcher gives its callers.

use pavior_allocation::{Machine, Placement};
use pavior_kernel::{CallerError, Time};
use pavior_mesh::{Cuboid, JobId, NodeId, Request};
use pavior_scheduling::{
    DispatchError, Dispatcher, GrantError, MachineView, Queue, RepeatedJob, Running, Scheduler,
    Start, StartError,
};
use pavior_workload::Job;

use crate::world;

fn job(id: u64, sides: [u16; 3]) -> Job {
    world::job(id, id, Request::shape(sides), 10, 10)
}

fn on(base: [u16; 3], sides: [u16; 3]) -> Placement {
    Placement::Whole(Cuboid::new(base, sides))
}

fn mesh(scheduler: Box<dyn Scheduler>) -> Dispatcher {
    Dispatcher::new(Machine::new("mesh:4x4".parse().unwrap(), "tff").unwrap(), scheduler)
}

fn named(scheduler: &str) -> Dispatcher {
    mesh(world::named(scheduler))
}

/// Returns the visible state of a dispatcher.
fn shown(dispatcher: &Dispatcher) -> (usize, usize, usize, u32) {
    let machine = dispatcher.machine();
    machine.validate();
    let (waiting, running) = (dispatcher.queue().len(), dispatcher.running().len());
    (waiting, running, machine.jobs(), machine.free().count())
}

#[test]
fn a_start_that_cannot_be_made_changes_nothing() {
    let mut dispatcher = named("fcfs");
    dispatcher.hold(job(1, [4, 3, 1]), Time(0), on([0; 3], [4, 3, 1])).unwrap();
    dispatcher.submit(job(2, [4, 2, 1])).unwrap();
    let before = shown(&dispatcher);
    let mut start = |start| dispatcher.choose(Time(2), start)?.start().map(drop);
    assert_eq!(start(Start::at(1)), Err(StartError::NotWaiting { index: 1, waiting: 1 }));
    assert_eq!(start(Start::at(0)), Err(StartError::DoesNotFit(JobId(2))));
    let taken = start(Start::on(0, on([0; 3], [4, 2, 1])));
    assert!(matches!(taken, Err(StartError::BadPlacement { job: JobId(2), .. })), "{taken:?}");
    // The job requests eight nodes, so it must not start on four.
    let few = start(Start::on(0, on([0, 3, 0], [4, 1, 1])));
    assert_eq!(few, Err(StartError::TooFewNodes { job: JobId(2), asked: 8, given: 4 }));
    assert_eq!(shown(&dispatcher), before);
}

#[test]
fn what_cannot_be_held_or_granted_changes_nothing() {
    let mut dispatcher = named("fcfs");
    dispatcher.grant(job(1, [4, 3, 1]), Time(0)).unwrap();
    let before = shown(&dispatcher);
    let again = dispatcher.hold(job(1, [1, 1, 1]), Time(0), on([0, 3, 0], [1; 3]));
    assert_eq!(again.err(), Some(GrantError::Repeated(RepeatedJob(JobId(1)))));
    assert!(dispatcher.hold(job(2, [1, 1, 1]), Time(0), on([0; 3], [1; 3])).is_err());
    assert!(dispatcher.grant(job(2, [4, 2, 1]), Time(0)).is_err());
    assert!(dispatcher.end(JobId(2)).is_none() && dispatcher.withdraw(0).is_none());
    dispatcher.estimate_anew(JobId(2), Time(1));
    assert_eq!(shown(&dispatcher), before);
}

#[test]
fn a_job_ends_whatever_it_was_said_to_run() {
    let mut dispatcher = named("fcfs");
    dispatcher.grant(job(1, [4, 3, 1]), Time(0)).unwrap();
    dispatcher.grant(job(2, [1, 1, 1]), Time(0)).unwrap();
    dispatcher.estimate_anew(JobId(1), Time(30));
    let ends =
        dispatcher.running().by_estimated_end().map(pavior_scheduling::RunningJob::estimated_end);
    assert_eq!(ends.collect::<Vec<_>>(), [Time(10), Time(30)]);
    let (gone, placement) = dispatcher.end(JobId(1)).unwrap();
    assert_eq!((gone.job.id, gone.start, placement.nodes()), (JobId(1), Time(0), 12));
    assert_eq!(shown(&dispatcher), (0, 1, 1, 15));
}

#[test]
fn a_dispatcher_made_again_goes_on_as_the_first_one() {
    let mut first = named("easy");
    for (id, sides) in [(1, [4, 2, 1]), (2, [4, 4, 1]), (3, [4, 1, 1]), (4, [2, 1, 1])] {
        first.submit(job(id, sides)).unwrap();
    }
    let mut starts = Vec::new();
    while let Some(started) = first.start_next(Time(4), &mut ()).unwrap() {
        starts.push((started.job.clone(), started.placement.clone()));
    }
    let mut again = named("easy");
    for (job, placement) in starts {
        again.hold(job, Time(4), placement).unwrap();
    }
    for job in first.queue().iter() {
        again.submit(job.clone()).unwrap();
    }
    assert_eq!(shown(&first), shown(&again));
    for dispatcher in [&mut first, &mut again] {
        for id in [1, 3, 4] {
            dispatcher.end(JobId(id)).unwrap();
        }
        let started = dispatcher.start_next(Time(14), &mut ()).unwrap().unwrap();
        assert_eq!((started.job.id, started.free.count()), (JobId(2), 0));
    }
}

#[test]
fn what_the_scheduler_has_in_mind_holds_until_something_changes() {
    let asked = || {
        let mut dispatcher = named("easy");
        dispatcher.hold(job(1, [4, 3, 1]), Time(0), on([0; 3], [4, 3, 1])).unwrap();
        dispatcher.submit(job(2, [4, 4, 1])).unwrap();
        assert_eq!(dispatcher.standing(Time(2)), None, "it was not asked");
        assert!(dispatcher.decide(Time(2), &mut ()).unwrap().is_none());
        assert!(dispatcher.standing(Time(2)).is_some());
        dispatcher
    };
    let changes: [fn(&mut Dispatcher); 7] = [
        |dispatcher| assert!(dispatcher.grant(job(3, [1, 1, 1]), Time(3)).is_ok()),
        |dispatcher| {
            let corner = on([3, 3, 0], [1, 1, 1]);
            assert!(dispatcher.hold(job(3, [1, 1, 1]), Time(3), corner).is_ok());
        },
        |dispatcher| dispatcher.submit(job(3, [1, 1, 1])).unwrap(),
        |dispatcher| drop(dispatcher.end(JobId(1))),
        |dispatcher| dispatcher.estimate_anew(JobId(1), Time(30)),
        |dispatcher| assert!(dispatcher.fail(NodeId(15)).is_ok()),
        |dispatcher| assert!(dispatcher.withdraw(0).is_some()),
    ];
    for change in changes {
        let mut dispatcher = asked();
        change(&mut dispatcher);
        assert_eq!(dispatcher.standing(Time(3)), None);
    }
}

#[test]
fn a_job_that_passes_the_queue_voids_what_was_promised() {
    for scheduler in ["easy", "easy:plain", "easy:count", "conservative", "conservative:count"] {
        let mut dispatcher = named(scheduler);
        dispatcher.hold(job(1, [4, 3, 1]), Time(0), on([0; 3], [4, 3, 1])).unwrap();
        dispatcher.submit(job(2, [4, 4, 1])).unwrap();
        let planned = |dispatcher: &mut Dispatcher, now| {
            assert!(dispatcher.decide(now, &mut ()).unwrap().is_none(), "{scheduler}");
            let standing = dispatcher.standing(now).unwrap();
            standing.reserved.iter().find(|one| one.job == JobId(2)).map(|one| one.from)
        };
        let estimate = job(1, [4, 3, 1]).estimate;
        assert_eq!(planned(&mut dispatcher, Time(2)), Some(estimate), "{scheduler}");
        // A granted job that ends before a reservation begins has no effect on the reservation.
        dispatcher.grant(job(4, [1, 1, 1]), Time(0)).unwrap();
        assert_eq!(planned(&mut dispatcher, Time(2)), Some(estimate), "{scheduler}");
        let long = Job { estimate: Time(1000), ..job(3, [1, 1, 1]) };
        dispatcher.grant(long, Time(3)).unwrap();
        assert_eq!(planned(&mut dispatcher, Time(3)), Some(Time(1003)), "{scheduler}");
        assert_eq!(dispatcher.scheduler().broken_guarantees(), 0, "{scheduler}");
    }
}

/// A custom scheduler that violates its contract or fails.
enum Own {
    Starts(usize),
    Fails(Option<CallerError>),
}

impl Scheduler for Own {
    fn next(&mut self, _: Time, _: &Queue, _: &Running, _: &mut MachineView<'_>) -> Option<Start> {
        match self {
            Own::Starts(index) => Some(Start::at(*index)),
            Own::Fails(error) => {
                *error = Some(CallerError::new("a service is away"));
                None
            }
        }
    }

    fn error(&self) -> Option<CallerError> {
        if let Own::Fails(error) = self { error.clone() } else { None }
    }
}

#[test]
fn what_is_wrong_with_a_scheduler_is_an_error() {
    let start = |scheduler| {
        let mut dispatcher = mesh(Box::new(scheduler));
        dispatcher.submit(job(1, [1, 1, 1])).unwrap();
        dispatcher.start_next(Time(1), &mut ()).map(drop).unwrap_err()
    };
    let wrong = start(Own::Starts(7));
    assert!(matches!(wrong, DispatchError::Start(StartError::NotWaiting { .. })), "{wrong}");
    assert_eq!(start(Own::Fails(None)).to_string(), "a service is away");
}
