//! The yardstick: sets of jobs that are the same for everybody, lower bounds on what any schedule
//! of them comes to, and how far above them strategies and schedulers are.

mod board;
mod bootstrap;
pub mod bounds;
mod findings;
mod parts;
mod set;

pub use board::{Board, Certificate, Row, in_boxes, judge_all, keeps_boxes, write};
pub use findings::{Evidence, Findings, Judged};
pub use parts::{Parts, parts};
pub use set::{Instance, Yardstick, YardstickError};

/// How much is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effort {
    /// The first scenarios that are taken.
    pub scenarios: usize,
    /// The first jobs that are taken of each.
    pub jobs: usize,
    /// The buckets of a curve of prices.
    pub buckets: usize,
    /// The steps by which prices are improved.
    pub steps: u32,
}

impl Effort {
    /// All of it.
    pub const FULL: Effort =
        Effort { scenarios: usize::MAX, jobs: usize::MAX, buckets: 200, steps: 300 };
    /// A part that takes seconds.
    pub const QUICK: Effort = Effort { scenarios: 3, jobs: 60, buckets: 50, steps: 60 };
}
