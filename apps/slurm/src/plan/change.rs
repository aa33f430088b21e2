//! Changes made by a plan.

use crate::names::{JobName, Licences, NodeName, Note};

/// The priority of a job whose gate is open: above the priorities from any plugin, and below
/// Slurm's special values.
pub(crate) const TOP: u32 = 4_294_967_290;

/// A change to one job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    /// Sets exactly the job's nodes and removes the license, in one update.
    Open { job: JobName, nodes: Vec<NodeName>, licences: Licences, comment: Note },
    /// Takes the nodes back and sets the licenses, including that of the gate, in one update that
    /// Slurm rejects if the job has started.
    Close { job: JobName, licences: Licences, wait_s: Option<u64>, priority: Priority },
    /// Ends a job that started on nodes other than its box, and queues it again.
    Requeue { job: JobName },
    /// Removes the license permanently and, if the job is opened, its nodes, in one update. The job
    /// gets the given priority, or else Slurm's.
    Strip { job: JobName, licences: Licences, opened: bool, priority: Option<u64> },
    /// Writes a note to the job's user.
    Comment { job: JobName, comment: Note },
}

/// The priority of a job whose gate is closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Priority {
    /// The priority that Slurm computes.
    Slurms,
    /// The given priority.
    Is(u64),
    /// No priority, because any priority would release the held job.
    Held,
}

impl Change {
    /// Returns a word for logs and metrics.
    pub(crate) fn word(&self) -> &'static str {
        match self {
            Change::Open { .. } => "open",
            Change::Close { .. } => "close",
            Change::Strip { .. } => "strip",
            Change::Requeue { .. } => "requeue",
            Change::Comment { .. } => "tell",
        }
    }

    /// Returns the job.
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
