//! Job scheduling: which waiting job goes next.
//!
//! A [`Scheduler`] sees the [`Queue`] of waiting jobs, the [`Running`] ones with their estimated
//! ends, and a [`Desk`] at which it asks whether a job could start now. It never sees a strategy or
//! a clock: it is told the time.

mod desk;
mod queue;
pub mod registry;
mod running;
mod scheduler;
mod schedulers;
mod shared;

pub use desk::{Attempt, Desk, Witness};
pub use queue::Queue;
pub use registry::Selection;
pub use running::{Running, RunningJob};
pub use scheduler::{Scheduler, Spec, Start};
