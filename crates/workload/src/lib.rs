//! Workloads: jobs from synthetic streams and from traces.

mod failures;
mod generators;
pub mod inspect;
mod job;
mod registry;
mod shape;
mod synthetic;
pub mod traces;

pub use failures::{BadMean, Change, Failures, NodeEvent, read_failures};
pub use generators::{Class, Generator, Lublin, LublinJobs};
pub use job::{Job, Service, Unit};
pub use registry::{Kind, Selection, Spec};
pub use shape::{ShapeRule, Shaper};
pub use synthetic::{
    Arrivals, DrawService, DrawSides, Gaps, ServiceDistribution, SideDistribution, Synthetic,
    SyntheticError, SyntheticJobs,
};
