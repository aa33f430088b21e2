//! A machine of a view that is changed and run forward, for answers about what would be.

use pavior::NodeId;
use pavior::scheduling::Dispatcher;

use super::{BoardView, NodeState, ServedMachine, StateView};

impl ServedMachine {
    /// Returns a machine of a view, to be tried out: with its leases, its queue and what is
    /// reserved ahead.
    ///
    /// # Errors
    /// If the view contradicts itself.
    pub(crate) fn of(view: &StateView, board: &BoardView, seed: u64) -> Result<Self, String> {
        let made = ServedMachine::new(&board.spec, seed);
        let mut machine = made.map_err(|error| error.to_string())?;
        for lease in view.leases_on(board) {
            machine.hold(lease)?;
        }
        for (nodes, state) in
            [(&board.failed, NodeState::Failed), (&board.drained, NodeState::Drained)]
        {
            for &node in nodes {
                machine.set_node(NodeId(node), state);
            }
        }
        for reservation in view.reservations_on(board) {
            machine.reserve(reservation)?;
        }
        for waiting in view.waiting.iter().filter(|one| one.machine == board.spec.name) {
            machine.wait(waiting);
        }
        Ok(machine)
    }

    /// Returns machine, queue and running jobs, to be run forward.
    pub(crate) fn dispatcher(&self) -> &Dispatcher {
        &self.dispatcher
    }
}
