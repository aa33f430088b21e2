//! Experiments: many runs, until their means can be trusted.
//!
//! A [`Comparison`] runs every combination of strategies, schedulers and loads over the same jobs
//! (common random numbers), in parallel, in independent replications, and summarises each metric by
//! its mean and confidence interval. Results depend on the arguments alone, never on the number of
//! threads.

mod comparison;
mod confidence;
mod source;

pub use comparison::{Combination, Comparison, Progress, Row, Summary};
pub use confidence::{Policy, half_width, student_t};
pub use source::{FailureSource, MakeJobs, NodeEvents, Source, SyntheticSource, TraceSource};
