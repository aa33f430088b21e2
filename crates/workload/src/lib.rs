//! Workloads: jobs from synthetic streams and from traces.

mod job;

pub use job::{Job, Service, Unit};
