//! Who holds what, as a user lists it.

use std::collections::HashSet;

use pavior_mesh::{Cuboid, Grid, JobId, NodeId, Occupancy};
use thiserror::Error;

use crate::{BuildError, Machine, Placement, Selection};

/// A machine's state without a strategy: jobs in the order of their grants, and failed nodes.
#[derive(Clone, Debug)]
pub struct State {
    grid: Grid,
    free: Occupancy,
    held: Vec<(JobId, Placement)>,
    failed: Vec<NodeId>,
}

/// Why a job cannot hold what it is said to hold.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Clash {
    /// The job is listed already.
    #[error("the job stands twice; all its parts belong into one line")]
    Repeated,
    /// A part does not lie on the machine.
    #[error("the part does not lie on the machine")]
    Outside {
        /// Its number in the list.
        part: usize,
    },
    /// A part shares nodes with one listed before.
    #[error("the part overlaps another")]
    Overlap {
        /// Its number in the list.
        part: usize,
        /// The job that holds some of it; the job itself if its parts overlap.
        holder: JobId,
    },
}

impl State {
    /// An empty, healthy machine.
    pub fn new(grid: Grid) -> State {
        State { grid, free: Occupancy::all_free(grid), held: Vec::new(), failed: Vec::new() }
    }

    /// The state of a machine; failed nodes in row-major order.
    pub fn of(machine: &Machine) -> State {
        State {
            grid: *machine.grid(),
            free: machine.free().clone(),
            held: machine.grants().into_iter().map(|(job, held)| (job, held.clone())).collect(),
            failed: machine.failed().collect(),
        }
    }

    /// A job holds these boxes.
    ///
    /// # Errors
    /// If it cannot; the state is unchanged.
    pub fn hold(&mut self, job: JobId, parts: &[Cuboid]) -> Result<(), Clash> {
        if self.held.iter().any(|(known, _)| *known == job) {
            return Err(Clash::Repeated);
        }
        for (index, part) in parts.iter().enumerate() {
            if !part.lies_on(&self.grid) {
                return Err(Clash::Outside { part: index });
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
        }
        let parts: Vec<Cuboid> = parts.iter().map(|part| part.canonical(&self.grid)).collect();
        for part in &parts {
            // A failed node may be marked as taken already.
            for node in part.nodes(&self.grid) {
                self.free.take_node(node);
            }
        }
        let placement = match parts[..] {
            [whole] => Placement::Whole(whole),
            _ => Placement::Parts(parts),
        };
        self.held.push((job, placement));
        Ok(())
    }

    /// A node has failed; a job that holds it keeps it. Failing twice changes nothing.
    pub fn fail(&mut self, node: NodeId) {
        if !self.failed.contains(&node) {
            self.failed.push(node);
            self.free.take_node(node);
        }
    }

    /// The grid.
    pub fn grid(&self) -> &Grid {
        &self.grid
    }

    /// The free, healthy nodes.
    pub fn free(&self) -> &Occupancy {
        &self.free
    }

    /// The jobs and what they hold, in the order of their grants.
    pub fn held(&self) -> &[(JobId, Placement)] {
        &self.held
    }

    /// The boxes that are held, in the order of their grants.
    pub fn busy_list(&self) -> Vec<Cuboid> {
        self.held.iter().flat_map(|(_, placement)| placement.parts().iter().copied()).collect()
    }

    /// The number of nodes that jobs hold.
    pub fn busy_nodes(&self) -> u32 {
        self.held.iter().map(|(_, placement)| placement.nodes()).sum()
    }

    /// The failed nodes that no job holds, in the order in which they were named.
    pub fn failed(&self) -> Vec<NodeId> {
        let held: HashSet<NodeId> =
            self.busy_list().iter().flat_map(|part| part.nodes(&self.grid)).collect();
        self.failed.iter().copied().filter(|node| !held.contains(node)).collect()
    }

    /// A machine in this state under a strategy, which is told of the jobs in the order of their
    /// grants, and of the failed nodes after them.
    ///
    /// # Errors
    /// If the strategy does not work on such a machine.
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
