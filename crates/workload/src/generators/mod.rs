//! Workload models, which generate complete logs. Each model is in its own file.

mod gamma;
mod lublin;

use pavior_kernel::{Entry, Family, Options};

use crate::traces::Record;

pub use lublin::{Class, Lublin, LublinJobs};

/// The implementation of a workload model.
pub struct Generator {
    /// Generates an endless stream of jobs in submission order, given a number of nodes, a seed and
    /// a replication.
    pub generate: fn(&Options, u32, u64, u64) -> Box<dyn Iterator<Item = Record> + Send>,
}

impl Family for Generator {
    const NOUN: &'static str = "workload model";

    fn builtin() -> &'static [&'static Entry<Generator>] {
        &[&lublin::ENTRY]
    }
}
