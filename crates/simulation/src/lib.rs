//! Simulates jobs that arrive, wait, hold nodes and depart, and computes metrics from the run.
//!
//! Data flows in one direction: workload, queue, scheduler, machine, facts, metrics. Observers
//! cannot affect a run.
//!
//! Simultaneous events are processed in this order: departures, repairs, failures, and arrivals (in
//! workload order). The scheduler then starts jobs until it chooses none. A zero-length job departs
//! in another pass at the same time.
#![cfg_attr(not(test), deny(clippy::disallowed_macros, clippy::disallowed_methods))]

mod bounds;
mod builder;
mod channels;
mod facts;
mod faults;
pub mod metrics;
mod migration;
mod observers;
mod pace;
mod placed;
mod record;
mod run;
mod setup;
mod stopwatch;
mod traffic;

pub use bounds::{ARRIVALS_IN_VAIN, Bounds, CHANGES_IN_VAIN, Endless, INTERRUPTIONS_IN_VAIN};
pub use builder::{Measured, SimulationBuilder};
pub use channels::ChannelRecorder;
pub use facts::{Fact, Interest, Observer};
pub use faults::{BadFailing, Failing, Restart, Spares};
pub use migration::Migration;
pub use pace::{INTERRUPTIONS_A_JOB, INTERRUPTIONS_BEYOND, WORK_IN_VAIN, WORK_OF_AN_INSTANT};
pub use placed::Place;
pub use record::{Fate, JobRecord, Recorder, Stay};
pub use run::{Simulation, run};
pub use setup::{Ending, Inputs, Outcome, RunError, Setup, Stop};
pub use stopwatch::Stopwatch;
pub use traffic::{Contention, Histories, NetworkSetup};
