//! What is known of a job before it runs.

use pavior_kernel::Time;

/// What is known of a job before it runs: by it, jobs of the past are told to be like it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Kind {
    /// A number for its user, if that is known.
    pub user: Option<u64>,
    /// The number of nodes.
    pub nodes: u32,
    /// How long its user says that it runs; none if nothing was said.
    pub estimate: Option<Time>,
}

impl Kind {
    /// The class of sizes, by powers of four.
    pub(crate) fn size_class(&self) -> u32 {
        self.nodes.max(1).ilog2() / 2
    }
}
