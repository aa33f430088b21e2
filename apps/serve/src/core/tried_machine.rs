//! A machine of a view that is changed and run forward, for answers about what would be.

use pavior_kernel::Time;
use pavior_mesh::{Cuboid, JobId, NodeId};
use pavior_scheduling::{AdvanceReservation, Dispatcher, Running};
use pavior_workload::Job;

use super::{BoardView, NodeState, ServedMachine, StateView};

impl ServedMachine {
    /// A machine of a view, to be tried out: with its leases, its queue and what is reserved ahead.
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

    /// The same machine with its queue, to run forward.
    pub(crate) fn into_dispatcher(self) -> Dispatcher {
        self.dispatcher
    }

    /// The leases, as running jobs.
    pub(crate) fn running(&self) -> &Running {
        self.dispatcher.running()
    }

    /// Ends a lease and lets its job wait again, as the last of the queue.
    pub(crate) fn requeue(&mut self, id: u64, now: Time) {
        if let Some((running, _)) = self.dispatcher.end(JobId(id)) {
            let job = Job { arrival: now, ..running.job };
            self.dispatcher.submit(job).expect("it has just ended");
        }
    }

    /// Keeps nodes free of jobs from one time to another, under a number that no reservation has.
    pub(crate) fn keep_free(
        &mut self,
        number: u64,
        parts: Vec<Cuboid>,
        time: (Time, Time),
    ) -> Result<(), String> {
        let kept = AdvanceReservation::new(number, &self.grid, parts, time);
        let reserved = kept.and_then(|kept| self.dispatcher.reserve(kept));
        reserved.map_err(|error| error.to_string())
    }

    /// Machine, queue and running jobs, to be run forward.
    pub(crate) fn dispatcher(&self) -> &Dispatcher {
        &self.dispatcher
    }
}
