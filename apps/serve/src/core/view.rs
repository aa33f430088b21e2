//! What readers look at: a state as it was at one record, shared and never changed.

use std::sync::Arc;

use pavior_mesh::{Grid, Occupancy};
use pavior_scheduling::Standing;

use super::board::Board;
use super::{Lease, MachineSpec, ServiceState, WaitingRequest};

/// A state as it was at one record.
#[derive(Clone, Debug)]
pub struct StateView {
    /// The number of the last record.
    pub seq: u64,
    /// The time of the last record.
    pub now_ms: u64,
    /// The machines.
    pub boards: Vec<BoardView>,
    /// The leases by number.
    pub leases: Vec<Arc<Lease>>,
    /// The waiting requests, machine by machine in the order of the queue.
    pub waiting: Vec<Arc<WaitingRequest>>,
}

/// A machine as it was at one record.
#[derive(Clone, Debug)]
pub struct BoardView {
    /// How it is configured.
    pub spec: MachineSpec,
    /// The grid.
    pub grid: Grid,
    /// The free, healthy nodes.
    pub free: Occupancy,
    /// The number of nodes that leases hold.
    pub busy: u32,
    /// The number of unavailable nodes that no lease holds.
    pub unavailable: u32,
    /// The nodes that have failed, by their row-major numbers.
    pub failed: Vec<u32>,
    /// The nodes that are drained.
    pub drained: Vec<u32>,
    /// What the scheduler has in mind for the waiting requests, in the order of the queue, if it
    /// was asked in this state; and whether nothing was granted beside it since.
    pub standing: Option<(Standing, bool)>,
}

impl ServiceState {
    /// The state as readers look at it. O(leases + nodes/64).
    pub fn view(&self) -> StateView {
        let boards = self.boards.iter().map(|board| BoardView {
            spec: board.spec.clone(),
            grid: board.grid,
            free: board.machine.free().clone(),
            busy: board.machine.busy_nodes(),
            unavailable: board.machine.failed_nodes(),
            failed: board.failed.iter().map(|node| node.0).collect(),
            drained: board.drained.iter().map(|node| node.0).collect(),
            standing: board.standing(self.now_ms),
        });
        let waiting = self.boards.iter().flat_map(Board::waiting);
        StateView {
            seq: self.seq,
            now_ms: self.now_ms,
            boards: boards.collect(),
            leases: self.leases.values().cloned().collect(),
            waiting: waiting.map(|id| self.waiting[&id].clone()).collect(),
        }
    }
}

impl StateView {
    /// The place of a machine; the first if no name is given.
    pub fn board_index(&self, name: Option<&str>) -> Option<usize> {
        match name {
            None => (!self.boards.is_empty()).then_some(0),
            Some(name) => self.boards.iter().position(|board| board.spec.name == name),
        }
    }

    /// The leases of a machine, in the order of their grants.
    pub fn leases_on<'a>(&'a self, board: &BoardView) -> Vec<&'a Lease> {
        let on = self.leases.iter().filter(|lease| lease.machine == board.spec.name);
        let mut leases: Vec<&Lease> = on.map(|lease| &**lease).collect();
        leases.sort_by_key(|lease| lease.epoch);
        leases
    }

    /// The grid of a machine.
    pub fn grid(&self, machine: &str) -> Option<&Grid> {
        self.board_index(Some(machine)).map(|board| &self.boards[board].grid)
    }
}
