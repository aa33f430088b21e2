//! What a caller that steps a run sees of it.

use pavior_allocation::Machine;
use pavior_kernel::Time;
use pavior_scheduling::{MachineView, Queue, Running};

use super::Simulation;
use crate::{Fact, Outcome};

impl Simulation<'_, '_, '_> {
    /// The present instant.
    pub fn now(&self) -> Time {
        self.now
    }

    /// The jobs that wait.
    pub fn queue(&self) -> &Queue {
        self.dispatcher.queue()
    }

    /// The jobs that hold nodes.
    pub fn running(&self) -> &Running {
        self.dispatcher.running()
    }

    /// The machine.
    pub fn machine(&self) -> &Machine {
        self.dispatcher.machine()
    }

    /// Whether jobs are still to arrive or to depart: else nothing but failures and repairs of
    /// nodes is to come.
    pub fn goes_on(&mut self) -> bool {
        !self.running().is_empty() || self.jobs.peek().is_some()
    }

    /// Jobs that have departed.
    pub fn completed(&self) -> u64 {
        self.completed
    }

    /// What a scheduler sees of the machine: every question asked there is an attempt.
    pub fn view(&mut self) -> MachineView<'_> {
        self.dispatcher.view(self.now, &mut self.observers)
    }

    /// Whether the job at a place of the queue could start now; false where the queue has no such
    /// place. An attempt, as when a scheduler asks.
    pub fn can_start(&mut self, index: usize) -> bool {
        let Some(job) = self.queue().get(index).cloned() else { return false };
        self.view().can_start(&job).is_ok()
    }

    /// Tells observers that the run is over, and how it ended.
    pub fn finish(mut self) -> Outcome {
        if self.completed < self.warmup {
            // The warm-up never ended: nothing counts.
            self.count_anew();
        }
        if let Some(totals) = self.traffic.as_mut().and_then(|traffic| traffic.totals(self.now)) {
            self.observers.tell(&Fact::Carried(totals));
        }
        self.observers.tell(&Fact::Ended);
        Outcome {
            end: self.now,
            arrived: self.arrived,
            waiting: self.queue().len() as u64,
            rejected: self.rejected,
            allocation_ns: self.observers.attempt_ns(),
        }
    }
}
