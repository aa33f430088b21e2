//! User-defined schedulers and priority functions, which the engine calls.

mod job;
mod scheduler;
mod turn;

pub(crate) use job::Job;
pub(crate) use scheduler::{Kind, Unit, register};
pub(crate) use turn::{MachineView, Queue, QueueIterator, Running};
