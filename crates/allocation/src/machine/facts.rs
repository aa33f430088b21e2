//! What a machine says of itself: its nodes, jobs and counters.
//!
//! Cost: O(1) where nothing else is said.

use pavior_kernel::CallerError;
use pavior_mesh::{Grid, JobId, NodeId, Occupancy};

use super::{Held, Machine};
use crate::{Placement, Selection, Work};

impl Machine {
    /// The grid.
    pub fn grid(&self) -> &Grid {
        &self.grid
    }

    /// The free, healthy nodes.
    pub fn free(&self) -> &Occupancy {
        &self.free
    }

    /// The strategy's name and options.
    pub fn selection(&self) -> &Selection {
        &self.selection
    }

    /// The number of nodes that jobs hold.
    pub fn busy_nodes(&self) -> u32 {
        self.busy
    }

    /// The number of failed nodes that no job holds: nodes = free + busy + failed.
    pub fn failed_nodes(&self) -> u32 {
        self.grid.nodes() - self.free.count() - self.busy
    }

    /// What has gone wrong in the strategy, or in a fork of it. A strategy that has failed refuses
    /// whatever it is asked.
    pub fn error(&self) -> Option<CallerError> {
        self.strategy.error()
    }

    /// A number that changes whenever an answer could change: each grant and each release of a job
    /// adds exactly one, as does each failure and repair of a node.
    pub fn state(&self) -> u64 {
        self.state
    }

    /// The jobs that hold what switches join, by job. O(j log j) for j jobs.
    pub fn switched_jobs(&self) -> Vec<JobId> {
        let joined = |(_, held): &(&JobId, &Held)| self.strategy.uses_switches(&held.placement);
        let mut jobs: Vec<JobId> = self.held.iter().filter(joined).map(|(&job, _)| job).collect();
        jobs.sort_unstable();
        jobs
    }

    /// The number of failures and repairs of nodes, and of the switches that join them, and of
    /// moves of jobs so far.
    pub fn health(&self) -> u64 {
        self.health
    }

    /// How much the strategy has looked at so far, for answers and for its own index. What it says
    /// of the empty machine ([`Machine::could_ever_fit`]) is not counted.
    pub fn work(&self) -> Work {
        self.strategy.work()
    }

    /// The number of jobs that hold nodes.
    pub fn jobs(&self) -> usize {
        self.held.len()
    }

    /// Every job and what it holds, in the order of the grants. O(j log j) for j jobs.
    pub fn grants(&self) -> Vec<(JobId, &Placement)> {
        self.held_by(|_, held| held.state)
    }

    /// The failed nodes in row-major order, also those that a job still holds. O(N).
    pub fn failed(&self) -> impl Iterator<Item = NodeId> + '_ {
        (0..self.grid.nodes()).map(NodeId).filter(|&node| !self.healthy.is_node_free(node))
    }

    /// What a job holds.
    pub fn placement(&self, job: JobId) -> Option<&Placement> {
        self.held.get(&job).map(|held| &held.placement)
    }

    /// The number of nodes that a job holds, 0 if it holds none. O(1).
    pub fn nodes_of(&self, job: JobId) -> u32 {
        self.held.get(&job).map_or(0, |held| held.nodes)
    }

    /// Every job and what it holds, by job. O(j log j) for j jobs.
    pub fn held(&self) -> Vec<(JobId, &Placement)> {
        self.held_by(|job, _| job.0)
    }

    /// Every job and what it holds, in the order of the keys.
    fn held_by(&self, key: fn(JobId, &Held) -> u64) -> Vec<(JobId, &Placement)> {
        let all = self.held.iter();
        let mut keyed: Vec<_> =
            all.map(|(&job, held)| (key(job, held), job, &held.placement)).collect();
        keyed.sort_unstable_by_key(|&(key, ..)| key);
        keyed.into_iter().map(|(_, job, placement)| (job, placement)).collect()
    }

    /// The healthy nodes, held or not: those that have not failed, or were repaired.
    pub fn healthy(&self) -> &Occupancy {
        &self.healthy
    }

    /// The job that holds a node. O(1) for a free node, else O(boxes of all jobs).
    pub fn holder(&self, node: NodeId) -> Option<JobId> {
        // No job holds a free node: then the table is not looked through.
        if node.0 >= self.grid.nodes() || self.free.is_node_free(node) {
            return None;
        }
        let point = self.grid.point(node);
        let holds = |placement: &Placement| {
            placement.parts().iter().any(|part| part.contains(&self.grid, point))
        };
        // Only one job can hold a node, so the order of the table does not matter.
        self.held.iter().find(|(_, held)| holds(&held.placement)).map(|(&job, _)| job)
    }

    /// Holds every index against the truth. For tests.
    ///
    /// # Panics
    /// Where they disagree.
    pub fn validate(&self) {
        let mut truth = self.healthy.clone();
        let mut busy = 0;
        for part in self.held.values().flat_map(|held| held.placement.parts()) {
            for node in part.nodes(&self.grid) {
                truth.take_node(node);
                busy += 1;
            }
        }
        assert_eq!(self.free, truth, "occupancy and holders disagree");
        assert_eq!(self.busy, busy, "a node is held twice, or the count is off");
        self.strategy.validate(&self.free);
    }
}
