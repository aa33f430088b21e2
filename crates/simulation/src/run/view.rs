//! What a caller that steps a run sees of it.

use pavior_allocation::Machine;
use pavior_kernel::Time;
use pavior_scheduling::{MachineView, Queue, Running};

use super::Simulation;

impl Simulation<'_, '_, '_> {
    /// The present instant.
    pub fn now(&self) -> Time {
        self.now
    }

    /// The jobs that wait.
    pub fn queue(&self) -> &Queue {
        &self.queue
    }

    /// The jobs that hold nodes.
    pub fn running(&self) -> &Running {
        &self.running
    }

    /// The machine.
    pub fn machine(&self) -> &Machine {
        &self.machine
    }

    /// Whether jobs are still to arrive or to depart: else nothing but failures and repairs of nodes is
    /// to come.
    pub fn goes_on(&mut self) -> bool {
        !self.running.is_empty() || self.jobs.peek().is_some()
    }

    /// Jobs that have departed.
    pub fn completed(&self) -> u64 {
        self.completed
    }

    /// What a scheduler sees of the machine: every question asked there is an attempt.
    pub fn view(&mut self) -> MachineView<'_> {
        let view = MachineView::new(&mut self.machine, &mut self.observers);
        match &mut self.forecast {
            Some(forecast) => view.with_prediction(&mut **forecast),
            None => view,
        }
    }

    /// Whether the job at a place of the queue could start now; false where the queue has no such
    /// place. An attempt, as when a scheduler asks.
    pub fn can_start(&mut self, index: usize) -> bool {
        let Some(request) = self.queue.get(index).map(|job| job.request) else { return false };
        self.view().can_start(&request).is_ok()
    }
}
