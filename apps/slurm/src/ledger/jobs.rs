//! Slurm jobs.

use crate::ledger::demands::Demands;
use crate::names::{JobName, Licenses, NodeName};

/// The time, in seconds, that we assume a job takes to release its nodes if it is completing or
/// past its time limit. The actual time is unknown.
const END_S: u64 = 1;

/// A job's identity, which consists of its name and submission time. The name alone is not enough,
/// because Slurm may reuse numbers. Keys are ordered by submission time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct JobKey {
    submitted: u64,
    name: JobName,
}

/// The error for a comment that contains control characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ControlCharacters;

/// A job that is waiting, running or completing. Times are in seconds since 1970.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SlurmJob {
    pub(crate) name: JobName,
    /// The time at which the job was submitted or last requeued.
    pub(crate) submitted: u64,
    pub(crate) phase: Phase,
    /// The reason for waiting, as reported by Slurm.
    pub(crate) reason: String,
    /// The priority in Slurm, which is 0 if a user or operator is holding the job.
    pub(crate) priority: u64,
    /// The number of nodes that the job requests or, once it has started, holds.
    pub(crate) nodes: u32,
    /// The nodes that Slurm has allocated to the job.
    pub(crate) held_nodes: Vec<NodeName>,
    /// The nodes that the job requests by name.
    pub(crate) requested_nodes: Vec<NodeName>,
    /// The requested licenses, including the gate's.
    pub(crate) licenses: Licenses,
    /// The partition's name.
    pub(crate) partition: String,
    /// The QOS, or an empty string if Slurm has no accounting.
    pub(crate) qos: String,
    /// The account, or an empty string if Slurm has no accounting.
    pub(crate) account: String,
    /// The user id.
    pub(crate) user: u32,
    /// The requested reservation, or an empty string.
    pub(crate) reservation: String,
    /// The job's demands, or a description of the first demand that cannot be parsed.
    pub(crate) demands: Result<Demands, &'static str>,
    /// The time at which the job started or may start.
    pub(crate) start: Option<u64>,
    /// The time limit in seconds, or `None` if unlimited.
    pub(crate) limit: Option<u64>,
    /// The time at which Slurm will end or has ended the job, if reported. It is the sum of the
    /// job's start, its time limit and the time for which it was suspended.
    pub(crate) end: Option<u64>,
    /// The comment. A job whose comment contains control characters is not placed; the gate rejects
    /// such comments.
    pub(crate) comment: Result<String, ControlCharacters>,
}

impl SlurmJob {
    pub(crate) fn key(&self) -> JobKey {
        JobKey { submitted: self.submitted, name: self.name }
    }

    /// Returns the time by which the job will have released its nodes, if known. Assumes that a
    /// waiting job starts now.
    pub(crate) fn release_time(&self, now: u64) -> Option<u64> {
        let from = |start: u64| self.limit.map(|limit| start.saturating_add(limit));
        let earliest = now.saturating_add(END_S);
        match self.phase {
            Phase::Pending => from(now),
            Phase::Running => {
                let end = self.end.or_else(|| from(self.start.unwrap_or(now)));
                end.map(|end| end.max(earliest))
            }
            Phase::Completing => Some(earliest),
        }
    }

    /// Returns the nodes that the job holds or will hold once it starts.
    pub(super) fn owned(&self) -> &[NodeName] {
        match self.phase {
            Phase::Pending => &self.requested_nodes,
            Phase::Running | Phase::Completing => &self.held_nodes,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    Pending,
    /// The job holds nodes and is running, suspended, stopped or about to start.
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
            held_nodes: Vec::new(),
            requested_nodes: Vec::new(),
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
            comment: Ok(String::new()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_releases_its_nodes_at_its_end_but_not_in_the_past() {
        let job = |phase: Phase, start: Option<u64>, limit: Option<u64>, end: Option<u64>| {
            let job = SlurmJob { phase, start, limit, end, ..SlurmJob::waiting("7", 1) };
            job.release_time(100)
        };
        assert_eq!(job(Phase::Pending, Some(500), Some(60), None), Some(160));
        assert_eq!(job(Phase::Pending, None, None, None), None);
        assert_eq!(job(Phase::Running, Some(80), Some(60), Some(150)), Some(150));
        assert_eq!(job(Phase::Running, Some(80), Some(60), None), Some(140));
        assert_eq!(job(Phase::Running, Some(80), None, None), None);
        // Slurm has not ended these jobs yet.
        assert_eq!(job(Phase::Running, Some(80), Some(10), Some(90)), Some(101));
        assert_eq!(job(Phase::Running, Some(80), Some(10), None), Some(101));
        assert_eq!(job(Phase::Completing, Some(80), Some(60), Some(150)), Some(101));
    }

    #[test]
    fn a_job_owns_the_requested_nodes_until_it_starts() {
        let [held_nodes, requested_nodes] = ["n1", "n2"].map(|name| vec![name.parse().unwrap()]);
        let waits = SlurmJob { held_nodes, requested_nodes, ..SlurmJob::waiting("7", 1) };
        assert_eq!(waits.owned(), waits.requested_nodes);
        for phase in [Phase::Running, Phase::Completing] {
            let job = SlurmJob { phase, ..waits.clone() };
            assert_eq!(job.owned(), job.held_nodes);
        }
    }
}
