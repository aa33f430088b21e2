//! The state of a run that callers can inspect between steps.

use pavior_allocation::Machine;
use pavior_kernel::Time;
use pavior_scheduling::{MachineView, Queue, Running};

use super::Simulation;
use crate::{Fact, Outcome};

impl Simulation<'_, '_, '_> {
    /// Returns the current time.
    pub fn now(&self) -> Time {
        self.now
    }

    /// Returns the waiting jobs.
    pub fn queue(&self) -> &Queue {
        self.dispatcher.queue()
    }

    /// Returns the running jobs.
    pub fn running(&self) -> &Running {
        self.dispatcher.running()
    }

    /// Returns the machine.
    pub fn machine(&self) -> &Machine {
        self.dispatcher.machine()
    }

    /// Returns true if any job is running or has yet to arrive. Otherwise, only failures and
    /// repairs are left.
    pub fn goes_on(&mut self) -> bool {
        !self.running().is_empty() || self.jobs.peek().is_some()
    }

    /// Returns the number of dependencies on jobs that will be rejected. Such dependencies do not
    /// delay the jobs that depend on them.
    pub fn unfollowed(&self) -> u64 {
        self.unfollowed
    }

    /// Returns the number of jobs that have departed.
    pub fn completed(&self) -> u64 {
        self.completed
    }

    /// Returns the machine as the scheduler sees it. Queries through this view count as allocation
    /// attempts.
    pub fn view(&mut self) -> MachineView<'_> {
        self.dispatcher.view(self.now, &mut self.observers)
    }

    /// Returns true if a job exists at the given queue index and could start now. Counts as an
    /// allocation attempt.
    pub fn can_start(&mut self, index: usize) -> bool {
        let Some(job) = self.queue().get(index).cloned() else { return false };
        self.view().can_start(&job).is_ok()
    }

    /// Notifies observers that the run has ended, and returns the outcome.
    pub fn finish(mut self) -> Outcome {
        if self.completed < self.warmup {
            // The warm-up has not ended, so nothing has been counted.
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
            unfollowed: self.unfollowed,
            allocation_ns: self.observers.attempt_ns(),
        }
    }
}
