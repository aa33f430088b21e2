//! Lookups of machines, and of their leases and waiting requests, in a state.

use std::sync::Arc;

use crate::core::{BoardView, Problem, Reason, StateView, WaitingRequest};

/// Returns a machine in a state, by default the first one.
pub(super) fn machine_in<'a>(
    view: &'a StateView,
    name: Option<&str>,
) -> Result<&'a BoardView, Problem> {
    index_in(view, name).map(|index| &view.boards[index])
}

/// Returns the index of a machine in a state, by default the first one.
pub(super) fn index_in(view: &StateView, name: Option<&str>) -> Result<usize, Problem> {
    machine_index(name, view.boards.iter().map(|board| &*board.spec.name))
}

/// Returns the index of a machine in a list of names, by default the first one.
pub(super) fn machine_index<'a>(
    name: Option<&str>,
    names: impl Iterator<Item = &'a str> + Clone,
) -> Result<usize, Problem> {
    let index = names.clone().position(|other| name.is_none_or(|name| name == other));
    index.ok_or_else(|| {
        let (name, names) = (name.unwrap_or_default(), names.collect::<Vec<_>>().join(", "));
        let detail = format!("there is no machine `{name}`; the machines are {names}");
        Problem::new(Reason::UnknownMachine, detail)
    })
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
