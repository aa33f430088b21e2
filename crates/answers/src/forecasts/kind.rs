//! Job properties that are known before the job runs.

use pavior_kernel::Time;

/// A job's properties known before it runs. They are used to find similar past jobs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Kind {
    /// The number of the user who submitted the job, if known.
    pub user: Option<u64>,
    /// The number of nodes.
    pub nodes: u32,
    /// The user's run-time estimate, if given.
    pub estimate: Option<Time>,
}

impl Kind {
    /// Returns the job's size class. Each class spans a factor of four.
    pub(crate) fn size_class(&self) -> u32 {
        self.nodes.max(1).ilog2() / 2
    }
}
