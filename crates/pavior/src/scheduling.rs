//! Schedulers, and building blocks for your own service or simulator.
//!
//! - A [`Dispatcher`] keeps a machine, its queue and its running jobs consistent. The caller
//!   supplies the time and the events.
//! - A [`Scheduler`] receives the [`Queue`], the [`Running`] jobs and a [`MachineView`]. Use
//!   [`entry`] to register it under a name. The `own_scheduler` example implements one.
//! - A [`Calendar`] contains advance reservations of nodes.
//!
//! ```
//! use pavior::scheduling::{Dispatcher, Selection};
//! use pavior::workload::Job;
//! use pavior::{JobId, Machine, Request, Time};
//!
//! let scheduler = "easy".parse::<Selection>()?.build(())?;
//! let mut dispatcher = Dispatcher::new(Machine::new("mesh:4x4".parse()?, "tff")?, scheduler);
//! dispatcher.submit(Job::new(JobId(1), Time(0), Request::shape([4, 3]), Time(60)))?;
//! let started = dispatcher.start_next(Time(0), &mut ())?.expect("the machine is empty");
//! assert_eq!(started.placement.nodes(), 12);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub use pavior_scheduling::{
    AdvanceReservation, Attempt, AttemptObserver, BadReservation, BuildScheduler, Calendar,
    Decision, DispatchError, Dispatcher, Entry, Future, GrantError, Kept, KeyFunction, MachineView,
    PlannedMove, Prediction, Priority, Queue, Reach, Registry, RepeatedJob, Reserved, Running,
    RunningJob, Scheduler, SchedulerClosure, SchedulerKind, Selection, Standing, Start, StartError,
    Started, entry, run_forward, served, weighs_messages,
};
