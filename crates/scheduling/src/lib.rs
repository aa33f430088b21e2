//! Job scheduling: which waiting job goes next.
//!
//! A [`Scheduler`] sees the [`Queue`] of waiting jobs, the [`Running`] ones with their estimated
//! ends, and a [`MachineView`] which it asks whether a job could start now. It never sees a
//! strategy or a clock: it is told the time. What is reserved ahead ([`Calendar`]) is taken in each
//! question to the view, for each job that would reach into it.
//!
//! A [`Dispatcher`] keeps queue, running jobs, machine and scheduler together, and starts what the
//! scheduler names. Each door and the simulator are built on it.

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
