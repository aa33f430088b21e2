//! Workloads: jobs from synthetic streams and from traces.

mod job;
mod registry;
mod shape;
mod synthetic;
pub mod traces;

pub use job::{Job, Service, Unit};
pub use registry::{Kind, Selection, Spec};
pub use shape::{ShapeRule, Shaper};
pub use synthetic::{
    Arrivals, DrawService, DrawSides, Gaps, ServiceDistribution, SideDistribution, Synthetic,
    SyntheticError, SyntheticJobs,
};
