//! Job scheduling: choosing which waiting job starts next.
//!
//! A [`Scheduler`] receives the [`Queue`] of waiting jobs, the [`Running`] jobs with their
//! estimated ends, and a [`MachineView`] for checking whether a job could start now. Schedulers
//! have no access to strategies or clocks; the caller passes in the time. For a job that would
//! overlap an advance reservation ([`Calendar`]), the reserved nodes count as taken.
//!
//! A [`Dispatcher`] combines the queue, the running jobs, the machine and the scheduler, and starts
//! the jobs that the scheduler chooses. The simulator and all interfaces are built on it.
#![cfg_attr(not(test), deny(clippy::disallowed_macros, clippy::disallowed_methods))]

mod beside_calendar;
mod calendar;
mod dispatcher;
mod forward;
mod kind;
mod machine_view;
mod prediction;
mod priority;
mod queue;
mod running;
mod scheduler;
mod schedulers;
mod shared;
mod standing;

pub use calendar::{AdvanceReservation, BadReservation, Calendar, Reach};
pub use dispatcher::{
    Decision, DispatchError, Dispatcher, GrantError, RepeatedJob, StartError, Started,
};
pub use forward::{Future, PlannedMove, run_forward};
pub use kind::{
    BuildScheduler, Entry, Registry, SchedulerClosure, SchedulerKind, Selection, entry, served,
};
pub use machine_view::{Attempt, AttemptObserver, MachineView};
pub use prediction::Prediction;
pub use priority::{KeyFunction, Priority};
pub use queue::Queue;
pub use running::{Running, RunningJob};
pub use scheduler::{Scheduler, Start};
pub use schedulers::weighs_messages;
pub use standing::{Kept, Reserved, Standing};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
