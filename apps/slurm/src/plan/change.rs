//! The changes that a plan can make.

use crate::names::{JobName, Licenses, NodeName, Note};

/// The priority of a job whose gate is open, above the priorities of all plugins and below Slurm's
/// special values.
pub(crate) const TOP_PRIORITY: u32 = 4_294_967_290;

/// A change to one job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    /// Opens the gate: sets the job's exact nodes and removes the license, in one update.
    Open { job: JobName, nodes: Vec<NodeName>, licenses: Licenses, comment: Note },
    /// Closes the gate: removes the nodes and sets the licenses, including the gate's, in one
    /// update. Slurm rejects this update if the job has started.
    Close { job: JobName, licenses: Licenses, wait_s: Option<u64>, priority: Priority },
    /// Requeues a job that has started on nodes other than its box.
    Requeue { job: JobName },
    /// Removes the license permanently and, if the gate is open, the nodes, in one update. The job
    /// gets the given priority, or else the one that Slurm computes.
    Strip { job: JobName, licenses: Licenses, opened: bool, priority: Option<u64> },
    /// Writes a note for the job's user.
    Comment { job: JobName, comment: Note },
}

/// The priority of a job whose gate is closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Priority {
    /// The priority that Slurm computes.
    Computed,
    /// The given priority.
    Fixed(u64),
    /// No priority, because setting any would release the held job.
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
