//! Looks up machines, leases and waiting requests in a given state.

use std::sync::Arc;

use crate::core::{BoardView, Problem, StateView, WaitingRequest, find_machine};

/// Returns the named machine in a state, or the first machine if no name is given.
pub(super) fn machine_in<'a>(
    view: &'a StateView,
    name: Option<&str>,
) -> Result<&'a BoardView, Problem> {
    index_in(view, name).map(|index| &view.boards[index])
}

/// Returns the index of the named machine, or of the first machine if no name is given.
pub(super) fn index_in(view: &StateView, name: Option<&str>) -> Result<usize, Problem> {
    find_machine(view.boards.iter().map(|board| &board.spec), name)
}

/// Returns the number of leases on a machine.
pub(super) fn lease_count(view: &StateView, index: usize) -> u64 {
    view.leases.held().filter(|held| held.board == index).count() as u64
}

/// Returns the requests waiting for a machine, in queue order.
pub(super) fn waiting_for<'a>(
    view: &'a StateView,
    board: &'a BoardView,
) -> impl Iterator<Item = &'a Arc<WaitingRequest>> {
    view.waiting.iter().filter(|request| request.machine == board.spec.name)
}
