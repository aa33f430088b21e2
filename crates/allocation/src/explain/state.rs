//! A machine's state, with its running jobs and their nodes.

use std::collections::HashSet;

use pavior_mesh::{Cuboid, Grid, JobId, NodeId, Occupancy};
use thiserror::Error;

use crate::{BuildError, Machine, Placement, Selection};

/// A machine's state without its strategy: the jobs in grant order and the failed nodes.
#[derive(Clone, Debug)]
pub struct State {
    grid: Grid,
    free: Occupancy,
    held: Vec<(JobId, Placement)>,
    /// The jobs that hold nodes. Used only for membership tests.
    jobs: HashSet<JobId>,
    failed: Vec<NodeId>,
}

/// The reason that a job cannot hold the given nodes.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Clash {
    /// The job is already listed.
    #[error("the job appears twice; list all its parts on one line")]
    Repeated,
    /// A part is not on the machine.
    #[error("the part is not on the machine")]
    Outside {
        /// The part's number in the list.
        part: usize,
    },
    /// A part shares nodes with an earlier part or job.
    #[error("the part overlaps another part")]
    Overlap {
        /// The part's number in the list.
        part: usize,
        /// The job that already holds some of these nodes, or the new job itself if its own parts
        /// overlap.
        holder: JobId,
    },
}

impl State {
    /// Creates the state of an empty, healthy machine.
    pub fn new(grid: Grid) -> State {
        let (held, jobs) = (Vec::new(), HashSet::new());
        State { grid, free: Occupancy::all_free(grid), held, jobs, failed: Vec::new() }
    }

    /// Returns a machine's state, with failed nodes in row-major order.
    pub fn of(machine: &Machine) -> State {
        let grants = machine.grants();
        State {
            grid: *machine.grid(),
            free: machine.free().clone(),
            jobs: grants.iter().map(|(job, _)| *job).collect(),
            held: grants.into_iter().map(|(job, held)| (job, held.clone())).collect(),
            failed: machine.failed().collect(),
        }
    }

    /// Adds a job that holds the given boxes. Takes O(rows of the boxes) time, plus O(parts of all
    /// jobs) if some of the boxes' nodes are not free.
    ///
    /// # Errors
    /// Returns an error if the job cannot hold the boxes. In that case, nothing changes.
    pub fn hold(&mut self, job: JobId, parts: &[Cuboid]) -> Result<(), Clash> {
        if self.jobs.contains(&job) {
            return Err(Clash::Repeated);
        }
        for index in 0..parts.len() {
            if let Err(clash) = self.take_part(job, parts, index) {
                self.give_back(&parts[..index]);
                return Err(clash);
            }
        }
        let parts: Vec<Cuboid> = parts.iter().map(|part| part.canonical(&self.grid)).collect();
        let placement = match parts[..] {
            [whole] => Placement::Whole(whole),
            _ => Placement::Parts(parts),
        };
        self.held.push((job, placement));
        self.jobs.insert(job);
        Ok(())
    }

    /// Marks a job's part at `index` as busy. All earlier parts must already be marked. Takes
    /// O(rows of the part) time, plus O(parts of all jobs) if some of the part's nodes are not
    /// free.
    fn take_part(&mut self, job: JobId, parts: &[Cuboid], index: usize) -> Result<(), Clash> {
        let part = &parts[index];
        if !part.lies_on(&self.grid) {
            return Err(Clash::Outside { part: index });
        }
        if self.free.take(part).is_ok() {
            return Ok(());
        }
        let before = parts[..index].iter().map(|part| (job, part));
        let others = self
            .held
            .iter()
            .flat_map(|(job, held)| held.parts().iter().map(move |part| (*job, part)));
        let hit = others.chain(before).find(|(_, other)| other.intersects(&self.grid, part));
        if let Some((holder, _)) = hit {
            return Err(Clash::Overlap { part: index, holder });
        }
        // Failed nodes have already been taken.
        for node in part.nodes(&self.grid) {
            self.free.take_node(node);
        }
        Ok(())
    }

    /// Frees the given parts, except for failed nodes.
    fn give_back(&mut self, parts: &[Cuboid]) {
        let grid = self.grid;
        for node in parts.iter().flat_map(|part| part.nodes(&grid)) {
            if !self.failed.contains(&node) {
                self.free.give(&Cuboid::node(grid.point(node))).expect("it was just taken");
            }
        }
    }

    /// Marks a node as failed without taking it from its job. Does nothing if the node has already
    /// failed.
    pub fn fail(&mut self, node: NodeId) {
        if !self.failed.contains(&node) {
            self.failed.push(node);
            self.free.take_node(node);
        }
    }

    /// Returns the grid.
    pub fn grid(&self) -> &Grid {
        &self.grid
    }

    /// Returns the free, healthy nodes.
    pub fn free(&self) -> &Occupancy {
        &self.free
    }

    /// Returns the jobs and their placements, in grant order.
    pub fn held(&self) -> &[(JobId, Placement)] {
        &self.held
    }

    /// Returns the boxes that jobs hold, in grant order.
    pub fn busy_list(&self) -> Vec<Cuboid> {
        self.held.iter().flat_map(|(_, placement)| placement.parts().iter().copied()).collect()
    }

    /// Returns the number of nodes that jobs hold.
    pub fn busy_nodes(&self) -> u32 {
        self.held.iter().map(|(_, placement)| placement.nodes()).sum()
    }

    /// Returns the failed nodes that no job holds, in the order in which they were marked.
    #[expect(clippy::missing_panics_doc, reason = "no two parts overlap")]
    pub fn failed(&self) -> Vec<NodeId> {
        if self.failed.is_empty() {
            return Vec::new();
        }
        let mut unheld = Occupancy::all_free(self.grid);
        for (_, held) in &self.held {
            unheld.take_all(held.parts()).expect("no two parts overlap");
        }
        self.failed.iter().copied().filter(|&node| unheld.is_node_free(node)).collect()
    }

    /// Creates a machine in this state with the given strategy. The strategy sees the jobs in grant
    /// order, and then the failed nodes.
    ///
    /// # Errors
    /// Returns an error if the strategy does not work on this machine.
    #[expect(
        clippy::missing_panics_doc,
        reason = "a state holds disjoint boxes and nodes of its grid"
    )]
    pub fn machine(&self, selection: &Selection, seed: u64) -> Result<Machine, BuildError> {
        let mut machine = Machine::with_seed(self.grid, selection, seed)?;
        for (job, placement) in &self.held {
            let granted = machine.allocate_at(*job, placement.clone());
            granted.expect("no two parts overlap, and no node has failed yet");
        }
        for &node in &self.failed {
            machine.fail(node).expect("the node lies on the machine");
        }
        Ok(machine)
    }
}
