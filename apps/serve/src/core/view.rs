//! Immutable views of the state for readers.

use std::sync::Arc;

use pavior::scheduling::Standing;
use pavior::{Grid, NodeId, Occupancy};
use serde::Serialize;

use super::served_machine::ServedMachine;
use super::state::find_machine;
use super::{Lease, Leases, MachineSpec, Problem, Reservation, ServiceState, WaitingRequest};

/// The state after a record.
#[derive(Clone, Debug)]
pub struct StateView {
    /// The number of the last record.
    pub seq: u64,
    /// The time of the last record.
    pub now_ms: u64,
    /// The machines.
    pub boards: Vec<BoardView>,
    /// The leases by number.
    pub leases: Leases,
    /// The waiting requests, by machine, in queue order.
    pub waiting: Vec<Arc<WaitingRequest>>,
    /// The advance reservations, by number.
    pub reservations: Vec<Arc<Reservation>>,
}

/// A machine's state after a record.
#[derive(Clone, Debug)]
pub struct BoardView {
    /// The configuration.
    pub spec: MachineSpec,
    /// The grid.
    pub grid: Grid,
    /// The free, healthy nodes.
    pub free: Occupancy,
    /// The number of nodes held by leases.
    pub busy: u32,
    /// The number of failed or drained nodes not held by a lease.
    pub unavailable: u32,
    /// The row-major indexes of the failed nodes, including those held by a lease.
    pub failed: Vec<u32>,
    /// The row-major indexes of the drained nodes, including those held by a lease.
    pub drained: Vec<u32>,
    /// The scheduler's current plans, if any, for the waiting requests, in queue order.
    pub standing: Option<Standing>,
}

/// Node counts. A node held by a lease counts as busy regardless of its state, so
/// `free + busy + failed + drained` is the number of nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "http", derive(utoipa::ToSchema), schema(as = Counts))]
pub struct NodeCounts {
    /// Free, healthy nodes.
    pub free: u64,
    /// Nodes held by leases.
    pub busy: u64,
    /// Failed nodes that no lease holds.
    pub failed: u64,
    /// Drained nodes that no lease holds.
    pub drained: u64,
}

impl ServiceState {
    /// Returns a view, which shares leases with the state. Takes O(nodes/64 + waiting requests).
    pub fn view(&self) -> StateView {
        let boards = self.boards.iter().map(|board| BoardView {
            spec: board.spec.clone(),
            grid: board.grid,
            free: board.machine().free().clone(),
            busy: board.machine().busy_nodes(),
            unavailable: board.machine().failed_nodes(),
            failed: board.failed.iter().map(|node| node.0).collect(),
            drained: board.drained.iter().map(|node| node.0).collect(),
            standing: board.standing(self.now_ms),
        });
        let waiting = self.boards.iter().flat_map(ServedMachine::waiting);
        StateView {
            seq: self.seq,
            now_ms: self.now_ms,
            boards: boards.collect(),
            leases: self.leases.clone(),
            waiting: waiting.map(|id| self.waiting[&id].clone()).collect(),
            reservations: self.reservations.values().cloned().collect(),
        }
    }
}

impl StateView {
    /// Returns the index of the named machine, or of the first machine if no name is given.
    ///
    /// # Errors
    /// Returns a problem, which lists the existing machines, if no machine has this name.
    pub fn find_board(&self, name: Option<&str>) -> Result<usize, Problem> {
        find_machine(self.boards.iter().map(|board| &board.spec), name)
    }

    /// Returns the number of leases on a machine, given its index.
    pub fn lease_count(&self, index: usize) -> u64 {
        self.leases.held().filter(|held| held.board == index).count() as u64
    }

    /// Returns the leases on a machine, in the order in which they were granted.
    pub fn leases_on<'a>(&'a self, board: &BoardView) -> Vec<&'a Lease> {
        let leases = self.leases.by_grant(Some(&board.spec.name));
        leases.into_iter().map(|lease| &**lease).collect()
    }

    /// Returns the advance reservations on a machine, in order of number.
    pub fn reservations_on<'a>(
        &'a self,
        board: &'a BoardView,
    ) -> impl Iterator<Item = &'a Reservation> {
        let all = self.reservations.iter().map(|reservation| &**reservation);
        all.filter(|reservation| reservation.machine == board.spec.name)
    }

    /// Returns the requests waiting for a machine, in queue order.
    pub fn waiting_on<'a>(
        &'a self,
        board: &'a BoardView,
    ) -> impl Iterator<Item = &'a Arc<WaitingRequest>> {
        self.waiting.iter().filter(|request| request.machine == board.spec.name)
    }

    /// Counts a machine's nodes by state. If any nodes are drained, scans the boxes of every lease.
    pub fn counts(&self, board: &BoardView) -> NodeCounts {
        let mut drained = board.drained.len() as u64;
        if drained > 0 {
            let mut undrained = Occupancy::all_free(board.grid);
            for &node in &board.drained {
                undrained.take_node(NodeId(node));
            }
            let index = self.find_board(Some(&board.spec.name)).ok();
            let leases = self.leases.held().filter(|held| Some(held.board) == index);
            let parts = leases.flat_map(|held| held.placement.parts());
            let held = parts.map(|part| u64::from(part.volume() - undrained.free_in(part)));
            drained -= held.sum::<u64>();
        }
        NodeCounts {
            free: board.free.count().into(),
            busy: board.busy.into(),
            failed: u64::from(board.unavailable) - drained,
            drained,
        }
    }

    /// Returns a machine's grid.
    pub fn grid(&self, machine: &str) -> Option<&Grid> {
        self.find_board(Some(machine)).ok().map(|board| &self.boards[board].grid)
    }
}
