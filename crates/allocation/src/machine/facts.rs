//! A machine's nodes, jobs and counters.
//!
//! Cost: O(1) unless stated otherwise.

use pavior_kernel::CallerError;
use pavior_mesh::{Grid, JobId, NodeId, Occupancy};

use super::{Held, Machine};
use crate::{Placement, Selection, Work};

impl Machine {
    /// Returns the grid.
    pub fn grid(&self) -> &Grid {
        &self.grid
    }

    /// Returns the free, healthy nodes.
    pub fn free(&self) -> &Occupancy {
        &self.free
    }

    /// Returns the strategy's name and options.
    pub fn selection(&self) -> &Selection {
        &self.selection
    }

    /// Returns the number of nodes held by jobs.
    pub fn busy_nodes(&self) -> u32 {
        self.busy
    }

    /// Returns the number of failed nodes that no job holds. Every node therefore counts as exactly
    /// one of free, busy or failed.
    pub fn failed_nodes(&self) -> u32 {
        self.grid.nodes() - self.free.count() - self.busy
    }

    /// Returns the error reported by the strategy or one of its forks. A failed strategy refuses
    /// every request.
    pub fn error(&self) -> Option<CallerError> {
        self.strategy.error()
    }

    /// Returns a number that changes whenever an answer could change. Each grant, each release, and
    /// each node failure or repair increases it by exactly one.
    pub fn state(&self) -> u64 {
        self.state
    }

    /// Returns the jobs whose placements use switches, in job order. Takes O(j log j) time for j
    /// jobs.
    pub fn switched_jobs(&self) -> Vec<JobId> {
        let joined = |(_, held): &(&JobId, &Held)| self.strategy.uses_switches(&held.placement);
        let mut jobs: Vec<JobId> = self.held.iter().filter(joined).map(|(&job, _)| job).collect();
        jobs.sort_unstable();
        jobs
    }

    /// Returns the total number of job moves, failures and repairs (of nodes and switches) so far.
    pub fn health(&self) -> u64 {
        self.health
    }

    /// Returns the work that the strategy has done so far to answer requests and maintain its
    /// index. Queries about the empty machine ([`Machine::could_ever_fit`]) are not counted.
    pub fn work(&self) -> Work {
        self.strategy.work()
    }

    /// Returns the number of jobs that hold nodes.
    pub fn jobs(&self) -> usize {
        self.held.len()
    }

    /// Returns every job and its placement, in grant order. Takes O(j log j) time for j jobs.
    pub fn grants(&self) -> Vec<(JobId, &Placement)> {
        self.held_by(|_, held| held.state)
    }

    /// Returns the failed nodes in row-major order, including those that a job still holds. Takes
    /// O(N) time for N nodes.
    pub fn failed(&self) -> impl Iterator<Item = NodeId> + '_ {
        (0..self.grid.nodes()).map(NodeId).filter(|&node| !self.healthy.is_node_free(node))
    }

    /// Returns a job's placement.
    pub fn placement(&self, job: JobId) -> Option<&Placement> {
        self.held.get(&job).map(|held| &held.placement)
    }

    /// Returns the number of nodes that a job holds, which may be 0. Takes O(1) time.
    pub fn nodes_of(&self, job: JobId) -> u32 {
        self.held.get(&job).map_or(0, |held| held.nodes)
    }

    /// Returns every job and its placement, in job order. Takes O(j log j) time for j jobs.
    pub fn held(&self) -> Vec<(JobId, &Placement)> {
        self.held_by(|job, _| job.0)
    }

    /// Returns every job and its placement, ordered by a key.
    fn held_by(&self, key: fn(JobId, &Held) -> u64) -> Vec<(JobId, &Placement)> {
        let all = self.held.iter();
        let mut keyed: Vec<_> =
            all.map(|(&job, held)| (key(job, held), job, &held.placement)).collect();
        keyed.sort_unstable_by_key(|&(key, ..)| key);
        keyed.into_iter().map(|(_, job, placement)| (job, placement)).collect()
    }

    /// Returns the healthy nodes, including those that jobs hold. A repaired node is healthy.
    pub fn healthy(&self) -> &Occupancy {
        &self.healthy
    }

    /// Returns the job that holds a node. Takes O(1) time for a free node, and O(boxes of all jobs)
    /// for any other node.
    pub fn holder(&self, node: NodeId) -> Option<JobId> {
        // No job holds a free node, so the table need not be searched.
        if node.0 >= self.grid.nodes() || self.free.is_node_free(node) {
            return None;
        }
        let point = self.grid.point(node);
        let holds = |placement: &Placement| {
            placement.parts().iter().any(|part| part.contains(&self.grid, point))
        };
        // At most one job can hold a node, so the table's order does not matter.
        self.held.iter().find(|(_, held)| holds(&held.placement)).map(|(&job, _)| job)
    }

    /// Checks every index against the actual state. Used by tests.
    ///
    /// # Panics
    /// Panics if an index differs from the actual state.
    pub fn validate(&self) {
        let mut truth = self.healthy.clone();
        let mut busy = 0;
        for part in self.held.values().flat_map(|held| held.placement.parts()) {
            for node in part.nodes(&self.grid) {
                truth.take_node(node);
                busy += 1;
            }
        }
        assert_eq!(self.free, truth, "the free nodes do not match the jobs' nodes");
        assert_eq!(self.busy, busy, "a node has two holders, or the count is wrong");
        self.strategy.validate(&self.free);
    }
}
