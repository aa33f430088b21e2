//! Experiments: many runs, until their means can be trusted.
//!
//! A [`Comparison`] runs every combination of strategies, schedulers and loads over the same jobs
//! (common random numbers), in parallel, in independent replications, and summarises each metric by
//! its mean and confidence interval. Results depend on the arguments alone, never on the number of
//! threads.

pub mod bench;
mod chart;
mod comparison;
mod confidence;
mod differences;
mod formula;
mod journal;
mod orders;
mod paired;
pub mod papers;
pub mod parameters;
mod point;
mod publish;
mod replications;
mod results;
mod sample;
mod scenario;
mod source;
mod specification;
pub mod still;
mod sweep;

pub use chart::chart;
pub use comparison::{Combination, Comparison, Progress, Row, Summary};
pub use confidence::{Policy, half_width, median, student_t};
pub use differences::{Difference, differences, write_differences};
pub use formula::Formula;
pub use journal::{JournalEntry, NoStore, Store};
pub use orders::Orders;
pub use paired::Paired;
pub use point::Point;
pub use publish::{Provenance, Publication};
pub use results::{Line, Table};
pub use sample::Sample;
pub use scenario::{LogRequest, Logs, Scenario, check_network};
pub use source::{FailureSource, MakeJobs, NodeEvents, Source, SyntheticSource, TraceSource};
pub use specification::{Axis, Figure, Specification, SpecificationError, schema};
pub use sweep::{NoProgress, Samples, Shard, SweepError};
