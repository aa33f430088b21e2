//! Simulations in which jobs arrive, wait, hold nodes and depart. Observers compute metrics from
//! these events.
//!
//! A [`Setup`] combines a machine, a strategy and a scheduler. Adding jobs turns it into a
//! [`SimulationBuilder`]. An [`Observer`] receives every [`Fact`] about a run but cannot affect the
//! run; the `own_metric` example implements one. Simulations start no threads and open no files,
//! and only the `allocation_ns` metric reads a clock.
//!
//! ```
//! use pavior::simulation::Setup;
//! use pavior::workload::{Synthetic, SyntheticJobs};
//!
//! let grid = "mesh:16x16".parse()?;
//! let jobs = SyntheticJobs::new(&Synthetic::at_load(1.5), &grid, 1, 0)?.take(1000);
//! let run = Setup::new(grid, "tff", "easy")?.simulation(jobs);
//! let measured = run.measure(&["turnaround", "utilization"])?.run()?;
//! assert!(measured.value("utilization") > Some(0.3));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub use pavior_simulation::{
    ARRIVALS_IN_VAIN, BadFailing, Bounds, CHANGES_IN_VAIN, ChannelRecorder, Contention, Ending,
    Endless, Fact, Failing, Fate, Histories, INTERRUPTIONS_IN_VAIN, Inputs, Interest, JobRecord,
    Measured, Migration, NetworkSetup, Observer, Outcome, Place, Recorder, Restart, RunError,
    Setup, Simulation, SimulationBuilder, Spares, Stay, Stop, Stopwatch, run,
};

pub mod metrics {
    //! The list of metrics, and everything needed to write your own as a [`MetricSpec`].
    //!
    //! ```
    //! use pavior::simulation::metrics;
    //!
    //! assert_eq!(metrics::named("utilization")?.name, "utilization");
    //! assert!(metrics::named("utilisation").is_err());
    //! # Ok::<(), pavior::BadName>(())
    //! ```

    pub use pavior_simulation::metrics::{
        ALL, ALLOCATION_NS, ALLOCATION_NS_MEANING, Context, Metric, MetricSpec, Unit, named,
    };
}
