//! The input to a plan: the ledger, the current time and the site's rules.

use pavior::{JobId, Time};

use crate::Config;
use crate::ledger::site::Site;
use crate::ledger::usage::Usage;
use crate::ledger::{Condition, Ledger, SlurmJob};

/// The time that we assume Slurm takes to power off a node, in seconds. The actual time is
/// unknown. A short estimate keeps other jobs from taking the node from the first job in the queue.
pub(crate) const POWER_OFF_S: u64 = 1;

/// A ledger and the time at which it was read.
#[derive(Clone, Copy)]
pub(crate) struct World<'a> {
    pub(crate) config: &'a Config,
    pub(crate) ledger: &'a Ledger,
    /// Seconds since 1970.
    pub(crate) now: u64,
}

/// The site's rules that a plan must follow.
#[derive(Clone, Copy)]
pub(crate) struct Rules<'a> {
    pub(crate) site: &'a Site,
    pub(crate) usage: &'a Usage,
}

impl<'a> World<'a> {
    /// Returns the job with this number, which is the job's index in the ledger. Returns `None` for
    /// the placeholder that holds nodes while they are powered off.
    pub(crate) fn job(&self, job: JobId) -> Option<&'a SlurmJob> {
        self.ledger.jobs.get(job.0 as usize)
    }

    /// Returns each node's condition. A node that Slurm does not list is unavailable.
    pub(crate) fn conditions(&self) -> Vec<Condition> {
        let mut conditions = vec![Condition::Unavailable; self.config.grid.nodes() as usize];
        for node in &self.ledger.nodes {
            if let Some(id) = self.config.nodes.get(&node.name) {
                conditions[id.index()] = node.condition;
            }
        }
        conditions
    }

    /// Returns the time by which a job will have released its nodes, if known.
    pub(crate) fn end(&self, job: JobId) -> Option<Time> {
        match self.job(job) {
            Some(job) => job.release_time(self.now).map(Time),
            None => Some(Time(self.now + POWER_OFF_S)),
        }
    }
}
