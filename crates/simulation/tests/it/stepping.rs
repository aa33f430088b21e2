//! Tests of stepping through a run, and of stopping one early.

use pavior_allocation::Placement;
use pavior_mesh::{Cuboid, JobId, NodeId};
use pavior_scheduling::{Start, StartError};
use pavior_simulation::{Ending, Inputs, Recorder, RunError, Setup, Simulation, Stop, run};

use crate::{job, setup};

fn mesh() -> Setup {
    setup("mesh:4x4", "ff", "fcfs", Ending::Drained)
}

/// Generates jobs of several shapes that arrive faster than the machine can run them.
fn inputs<'i>() -> Inputs<'i> {
    let one = |number: u64| {
        let shape = [1 + (number % 4) as u16, 1 + (number % 3) as u16, 1];
        job(number, number * 2, shape, 5 + number % 7)
    };
    Inputs::from((0..40).map(one))
}

#[test]
fn a_caller_that_decides_as_fcfs_does_gets_the_same_run() {
    let mut recorder = Recorder::default();
    let whole = run(&mesh(), inputs(), &mut [&mut recorder]).unwrap();
    let mut stepped = Recorder::default();
    let outcome = {
        let mut observers: [&mut dyn pavior_simulation::Observer; 1] = [&mut stepped];
        let mut simulation = Simulation::new(&mesh(), inputs(), &mut observers).unwrap();
        while simulation.advance(&Stop::default()).unwrap() {
            while simulation.can_start(0) {
                simulation.start(Start::at(0)).unwrap();
            }
        }
        simulation.finish()
    };
    assert_eq!(outcome, whole);
    assert_eq!(stepped.into_records(), recorder.into_records());
}

#[test]
fn a_start_that_cannot_be_made_is_an_error_and_changes_nothing() {
    let jobs = [job(0, 0, [4, 3, 1], 10), job(1, 0, [4, 2, 1], 10)];
    let inputs = Inputs::from(jobs);
    let mut observers = [];
    let mut simulation = Simulation::new(&mesh(), inputs, &mut observers).unwrap();
    assert!(simulation.advance(&Stop::default()).unwrap());
    simulation.start(Start::at(0)).unwrap();
    let free = simulation.machine().free().clone();
    assert!(!simulation.can_start(0) && !simulation.can_start(1));
    let not_made = |made: Result<(), RunError>| match made {
        Err(RunError::Start(error)) => error,
        other => panic!("{other:?}"),
    };
    let beyond = StartError::NotWaiting { index: 1, waiting: 1 };
    assert_eq!(not_made(simulation.start(Start::at(1))), beyond);
    assert_eq!(not_made(simulation.start(Start::at(0))), StartError::DoesNotFit(JobId(1)));
    assert_eq!((simulation.queue().len(), simulation.machine().free()), (1, &free));
}

#[test]
fn a_run_that_is_stopped_has_no_outcome() {
    let stop = Stop::default();
    stop.clone().set();
    let stopped = mesh().simulation(inputs()).until(&stop).run();
    assert!(matches!(stopped, Err(RunError::Stopped)));
}

#[test]
fn a_caller_may_ask_the_scheduler_and_place_the_job_itself() {
    let mut observers = [];
    let mut simulation = Simulation::new(&mesh(), inputs(), &mut observers).unwrap();
    let mut placed = 0;
    while simulation.advance(&Stop::default()).unwrap() {
        while let Some(Start { index, .. }) = simulation.decide().unwrap() {
            // The strategy places a job at the first free base; this caller uses the last one.
            let job = simulation.queue().get(index).unwrap();
            let shape = job.request.shape.unwrap();
            let grid = *simulation.machine().grid();
            let free = simulation.machine().free().clone();
            let boxes = (0..grid.nodes()).map(|id| Cuboid::new(grid.point(NodeId(id)), shape));
            let mut free = boxes.filter(|at| at.lies_on(&grid) && free.is_free(at));
            let last = free.next_back().unwrap();
            simulation.start(Start::on(index, Placement::Whole(last))).unwrap();
            placed += 1;
        }
        assert_eq!(simulation.goes_on(), simulation.completed() < 40);
    }
    assert_eq!((placed, simulation.goes_on()), (40, false));
    assert_eq!(simulation.finish().waiting, 0);
}

#[test]
fn a_run_moves_to_another_thread() {
    let mut simulation = Simulation::new(&mesh(), inputs(), &mut []).unwrap();
    assert!(simulation.advance(&Stop::default()).unwrap());
    let run = move || {
        simulation.schedule().unwrap();
        while simulation.advance(&Stop::default()).unwrap() {
            simulation.schedule().unwrap();
        }
        simulation.completed()
    };
    assert_eq!(std::thread::spawn(run).join().unwrap(), 40);
}
