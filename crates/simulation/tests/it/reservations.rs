//! Tests of advance reservations in whole runs.

use pavior_kernel::Time;
use pavior_mesh::{Cuboid, Grid, JobId, Request};
use pavior_scheduling::AdvanceReservation;
use pavior_simulation::{Inputs, JobRecord, Recorder, Setup, Simulation, Stop};
use pavior_workload::{Job, Service};

use crate::messages::network;

const GRID: &str = "mesh:4x2";

fn job(number: u64, arrival: u64, sides: [u16; 3], run: u64) -> Job {
    Job {
        id: JobId(number),
        index: number,
        number,
        arrival: Time(arrival),
        request: Request::shape(sides),
        service: Service::Run(Time(run)),
        estimate: Time(run),
    }
}

fn reserved(x: u16, from: u64, to: u64) -> AdvanceReservation {
    let grid: Grid = GRID.parse().unwrap();
    let boxes = vec![Cuboid::new([x, 0, 0], [2, 2, 1])];
    AdvanceReservation::new(from, &grid, boxes, (Time(from), Time(to))).unwrap()
}

/// Returns the start of each job.
fn starts(scheduler: &str, jobs: Vec<Job>, reserved: Vec<AdvanceReservation>) -> Vec<u64> {
    let mut recorder = Recorder::default();
    let setup = Setup::new(GRID.parse().unwrap(), "tff", scheduler).unwrap();
    let inputs = Inputs::from(jobs).with_reserved(reserved);
    let run = setup.simulation(inputs).observe(&mut recorder);
    run.measure(&["utilization"]).unwrap().run().unwrap();
    let records = recorder.into_records();
    let start = |record: &JobRecord| record.stays().next().map(|stay| stay.start.0);
    records.iter().filter_map(start).collect()
}

/// A run must continue if the only remaining event is the end of a reservation. The first job needs
/// the whole machine, which is available from 30 on. The second job fits on the left half from 20
/// on, and would hold that half until 70.
#[test]
fn a_run_goes_on_when_a_reservation_ends() {
    let jobs = || vec![job(0, 0, [4, 2, 1], 5), job(1, 1, [2, 1, 1], 50)];
    for scheduler in ["fcfs", "scan-all", "easy", "conservative"] {
        let all = vec![reserved(0, 3, 20), reserved(2, 4, 30)];
        let expected = if scheduler == "scan-all" { [70, 20] } else { [30, 35] };
        assert_eq!(starts(scheduler, jobs(), all), expected, "{scheduler}");
        assert_eq!(starts(scheduler, jobs(), Vec::new()), [0, 5], "{scheduler}");
    }
}

#[test]
fn a_reservation_that_is_over_before_the_run_begins_changes_nothing() {
    let jobs = || vec![job(0, 100, [4, 2, 1], 5), job(1, 101, [2, 1, 1], 50)];
    for scheduler in ["fcfs", "easy", "conservative"] {
        assert_eq!(starts(scheduler, jobs(), vec![reserved(0, 3, 20)]), [100, 105]);
    }
}

/// A run with messages must also continue if the only remaining event is a reservation's end.
#[test]
fn a_run_with_messages_goes_on_when_a_reservation_ends() {
    let jobs = vec![Job { service: Service::Messages(3), ..job(0, 0, [4, 1, 1], 40) }];
    let network = network("ring", None);
    let setup = Setup::new(GRID.parse().unwrap(), "tff", "easy").unwrap().with_network(network);
    let mut observers = [];
    let inputs = Inputs::from(jobs).with_reserved(vec![reserved(0, 30, 70)]);
    let mut simulation = Simulation::new(&setup, inputs, &mut observers).unwrap();
    let mut started = None;
    while simulation.advance(&Stop::default()).unwrap() {
        simulation.schedule().unwrap();
        started = started.or((!simulation.running().is_empty()).then_some(simulation.now()));
    }
    assert_eq!(started, Some(Time(70)));
}
