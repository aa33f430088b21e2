//! Schedulers and priority functions that the caller wrote and the engine calls.

mod job;
mod scheduler;
mod turn;

pub(crate) use job::Job;
pub(crate) use scheduler::{Kind, Unit, register};
pub(crate) use turn::{MachineView, Queue, QueueIterator, Running};
