//! Copies of machines in a view, which can be changed and simulated for hypothetical questions.

use pavior::NodeId;
use pavior::scheduling::Dispatcher;

use super::{BoardView, NodeState, ServedMachine, StateView};

impl ServedMachine {
    /// Returns a copy of a machine with its leases, queue and advance reservations.
    ///
    /// # Errors
    /// Returns an error if the view is inconsistent.
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

    /// Returns the machine, queue and running jobs, for simulation.
    pub(crate) fn dispatcher(&self) -> &Dispatcher {
        &self.dispatcher
    }
}
