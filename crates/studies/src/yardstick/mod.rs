//! The yardstick: fixed sets of jobs, lower bounds that no schedule for these jobs can beat, and
//! the gaps between these bounds and the results of strategies and schedulers.

mod board;
mod bootstrap;
pub mod bounds;
mod findings;
mod parts;
mod set;

pub use board::{Board, Certificate, IncompleteRun, Row, in_boxes, judge_all, keeps_boxes, write};
pub use findings::{BoardEvidence, Findings, Judged};
pub use parts::{Parts, parts};
pub use set::{Instance, ScenarioInfo, Yardstick, YardstickError};

/// The amount of computation to spend.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effort {
    /// The number of scenarios to run, counting from the first.
    pub scenarios: usize,
    /// The number of jobs per scenario, counting from the first.
    pub jobs: usize,
    /// The number of buckets in a price curve.
    pub buckets: usize,
    /// The maximum number of steps for improving the prices.
    pub steps: u32,
}

impl Effort {
    /// The effort for a complete run.
    pub const FULL: Effort =
        Effort { scenarios: usize::MAX, jobs: usize::MAX, buckets: 200, steps: 300 };
    /// The effort for a small run that takes only a few seconds.
    pub const QUICK: Effort = Effort { scenarios: 3, jobs: 60, buckets: 50, steps: 60 };
}
