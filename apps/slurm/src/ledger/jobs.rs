//! Slurm jobs.

use crate::ledger::demands::Demands;
use crate::names::{JobName, Licenses, NodeName};

/// A job's identity: its name and, because Slurm may reuse numbers, its submission time.
pub(crate) type Key = (JobName, u64);

/// A job that is waiting, running or ending.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SlurmJob {
    pub(crate) name: JobName,
    /// The time at which the job was submitted or last requeued.
    pub(crate) submitted: u64,
    pub(crate) phase: Phase,
    /// Slurm's reason why the job is waiting.
    pub(crate) reason: String,
    pub(crate) priority: u64,
    pub(crate) nodes: u32,
    pub(crate) held: Vec<NodeName>,
    /// The nodes that the job requests by name.
    pub(crate) named: Vec<NodeName>,
    pub(crate) licenses: Licenses,
    pub(crate) partition: String,
    /// The QOS, or an empty string if Slurm has no accounting.
    pub(crate) qos: String,
    pub(crate) account: String,
    /// The user id.
    pub(crate) user: u32,
    /// The requested reservation, or an empty string.
    pub(crate) reservation: String,
    /// The job's demands, or the reason why they cannot be parsed.
    pub(crate) demands: Result<Demands, &'static str>,
    /// The time at which the job started or may start.
    pub(crate) start: Option<u64>,
    /// The time limit in seconds, or `None` if unlimited.
    pub(crate) limit: Option<u64>,
    /// The time at which Slurm ends or ended the job, if reported. This is the job's start plus its
    /// time limit plus the time for which it was suspended.
    pub(crate) end: Option<u64>,
    pub(crate) comment: String,
    /// True if the comment contains control characters, which the gate rejects. Such a job is not
    /// placed.
    pub(crate) bad_comment: bool,
}

impl SlurmJob {
    pub(crate) fn key(&self) -> Key {
        (self.name, self.submitted)
    }

    /// Returns the time by which the job will have released its nodes, if known. A waiting job is
    /// assumed to start now.
    pub(crate) fn release_time(&self, now: u64) -> Option<u64> {
        let from = |start: u64| self.limit.map(|limit| start.saturating_add(limit));
        match self.phase {
            Phase::Pending => from(now),
            Phase::Running => self.end.or_else(|| from(self.start.unwrap_or(now))),
            Phase::Completing => Some(now + 1),
        }
    }

    /// Returns the nodes that the job holds or will hold once it starts.
    pub(super) fn owned(&self) -> &[NodeName] {
        match self.phase {
            Phase::Pending => &self.named,
            Phase::Running | Phase::Completing => &self.held,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    Pending,
    /// The job holds nodes and is running or about to start.
    Running,
    /// The job is ending but still holds nodes.
    Completing,
}

#[cfg(test)]
impl SlurmJob {
    /// Creates a job in partition `p` that is waiting for its gate.
    pub(crate) fn waiting(name: &str, nodes: u32) -> SlurmJob {
        SlurmJob {
            name: name.parse().unwrap(),
            submitted: 100,
            phase: Phase::Pending,
            reason: "Licenses".into(),
            priority: 1,
            nodes,
            held: Vec::new(),
            named: Vec::new(),
            licenses: "pavior:1".parse().unwrap(),
            partition: "p".into(),
            qos: "normal".into(),
            account: "acc".into(),
            user: 1001,
            reservation: String::new(),
            demands: Ok(Demands::default()),
            start: None,
            limit: Some(600),
            end: None,
            comment: String::new(),
            bad_comment: false,
        }
    }
}
