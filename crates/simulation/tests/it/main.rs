//! Tests of simulation through the public interface.

mod builder;
mod communication;
mod dependencies;
mod endless;
mod failures;
mod fairness;
mod instants;
mod messages;
mod migration;
mod reference;
mod reservations;
mod slices;
mod stepping;

use pavior_kernel::Time;
use pavior_mesh::{JobId, Request};
use pavior_simulation::{Ending, Inputs, JobRecord, Outcome, Recorder, Setup, run};
use pavior_workload::{Job, Service};

/// Creates a job that arrives at `arrival`, requests a box, and runs for `run` ticks.
fn job(id: u64, arrival: u64, shape: [u16; 3], run: u64) -> Job {
    Job {
        id: JobId(id),
        index: id,
        number: id,
        arrival: Time(arrival),
        request: Request::shape(shape),
        service: Service::Run(Time(run)),
        estimate: Time(run),
    }
}

/// Runs a simulation. Returns the records of its jobs, and the outcome.
fn recorded(setup: &Setup, inputs: Inputs<'_>) -> (Vec<JobRecord>, Outcome) {
    let mut recorder = Recorder::default();
    let outcome = run(setup, inputs, &mut [&mut recorder]).unwrap();
    (recorder.into_records(), outcome)
}

fn setup(machine: &str, strategy: &str, scheduler: &str, ending: Ending) -> Setup {
    let setup = Setup::new(machine.parse().unwrap(), strategy, scheduler).unwrap();
    setup.with_ending(ending)
}
