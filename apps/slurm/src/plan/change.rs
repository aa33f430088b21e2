//! The changes that a plan can contain.

use crate::names::{JobName, Licenses, NodeName, Note};

/// The priority of a job whose gate is open. It is higher than any priority that a plugin computes
/// and lower than Slurm's special values.
pub(crate) const TOP_PRIORITY: u32 = 4_294_967_290;

/// A change to a single job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    /// Opens the gate by setting the job's exact nodes and removing the license in a single update.
    Open { job: JobName, nodes: Vec<NodeName>, licenses: Licenses, comment: Note },
    /// Closes the gate by removing the nodes and setting the licenses, including the gate's, in a
    /// single update. Slurm rejects the update if the job has started.
    Close { job: JobName, licenses: Licenses, wait_s: Option<u64>, priority: Priority },
    /// Requeues a job that has started on nodes outside its box.
    Requeue { job: JobName },
    /// Permanently removes the license. If the gate is open, `priority` is given, and the same
    /// update removes the nodes.
    Strip { job: JobName, licenses: Licenses, priority: Option<Priority> },
    /// Writes a note to the job's user.
    Comment { job: JobName, comment: Note },
}

/// The priority that a job gets when its gate closes or is removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Priority {
    /// The priority that Slurm computes.
    Computed,
    /// A given priority.
    Fixed(u64),
    /// No priority, because setting one would release the held job.
    Held,
}

impl Change {
    /// Returns the change's name for logs and metrics.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Change::Open { .. } => "open",
            Change::Close { .. } => "close",
            Change::Strip { .. } => "strip",
            Change::Requeue { .. } => "requeue",
            Change::Comment { .. } => "note",
        }
    }

    pub(crate) fn job(&self) -> JobName {
        match *self {
            Change::Open { job, .. }
            | Change::Close { job, .. }
            | Change::Strip { job, .. }
            | Change::Requeue { job }
            | Change::Comment { job, .. } => job,
        }
    }
}
