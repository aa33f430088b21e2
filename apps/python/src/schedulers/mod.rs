//! Schedulers and priority functions of the caller's own, asked by the engine.

mod job;
mod scheduler;
mod turn;

pub(crate) use job::Job;
pub(crate) use scheduler::{Kind, Unit, register};
pub(crate) use turn::{MachineView, Queue, QueueIterator, Running};
