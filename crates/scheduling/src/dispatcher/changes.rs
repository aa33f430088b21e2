//! Changes to queue, running jobs, machine and calendar. Each keeps the tables in agreement, and
//! notes what it means for the scheduler's plan. A call that fails has changed nothing.

use pavior_allocation::{Machine, Placement, RelocateError, UnknownNode};
use pavior_kernel::Time;
use pavior_mesh::{JobId, NodeId, Occupancy, OccupancyError, Pool};
use pavior_workload::Job;

use super::{Change, Dispatcher, GrantError, RepeatedJob, allocate};
use crate::{AdvanceReservation, BadReservation, Queue, RunningJob};

impl Dispatcher {
    /// Adds a job at the end of the queue. O(1).
    ///
    /// # Errors
    /// If a job of its number waits or runs already.
    pub fn submit(&mut self, job: Job) -> Result<(), RepeatedJob> {
        self.enqueue(job, Queue::push)
    }

    /// Puts a job that has lost its nodes back into the queue, where its arrival places it. O(q)
    /// for q waiting jobs.
    ///
    /// # Errors
    /// If a job of its number waits or runs already.
    pub fn resubmit(&mut self, job: Job) -> Result<(), RepeatedJob> {
        self.enqueue(job, Queue::reinsert)
    }

    fn enqueue(&mut self, job: Job, add: fn(&mut Queue, Job)) -> Result<(), RepeatedJob> {
        self.check_is_new(job.id)?;
        self.plan.note(Change::Submission);
        self.waiting.insert(job.id);
        add(&mut self.queue, job);
        Ok(())
    }

    fn check_is_new(&self, job: JobId) -> Result<(), RepeatedJob> {
        let is_known = self.waiting.contains(&job) || self.running.get(job).is_some();
        if is_known { Err(RepeatedJob(job)) } else { Ok(()) }
    }

    /// Takes out the job at a place of the queue that no longer wants to run; `None` if there is
    /// none. O(q) for q waiting jobs.
    pub fn withdraw(&mut self, index: usize) -> Option<Job> {
        let job = self.queue.withdraw(index)?;
        self.plan.note(Change::Withdrawal);
        self.waiting.remove(&job.id);
        Some(job)
    }

    /// Starts a job that has not waited, where the strategy puts it beside what is reserved ahead.
    ///
    /// # Errors
    /// If it waits or runs already, or as [`Machine::allocate`].
    pub fn grant(&mut self, job: Job, now: Time) -> Result<&Placement, GrantError> {
        self.check_is_new(job.id)?;
        self.calendar.pass(now);
        let site = (&mut self.machine, &self.calendar, &mut self.beside);
        let granted = allocate(site, &job, now)?;
        self.plan.note(Change::Grant(job.id));
        self.running.start(job, now);
        Ok(granted)
    }

    /// Notes that a job holds given nodes since `start`: it runs already, or its nodes were chosen
    /// by others than scheduler and strategy. Nothing is asked about what is reserved ahead.
    ///
    /// # Errors
    /// If it waits or runs already, or as [`Machine::allocate_at`].
    pub fn hold(
        &mut self,
        job: Job,
        start: Time,
        placement: Placement,
    ) -> Result<&Placement, GrantError> {
        self.check_is_new(job.id)?;
        let held = self.machine.allocate_at(job.id, placement)?;
        self.plan.note(Change::Grant(job.id));
        self.running.start(job, start);
        Ok(held)
    }

    /// Ends a running job, however it ends, and frees its nodes. Returns the job and what it held;
    /// `None` if it does not run.
    #[expect(clippy::missing_panics_doc, reason = "every running job holds nodes")]
    pub fn end(&mut self, job: JobId) -> Option<(RunningJob, Placement)> {
        let gone = self.running.end(job)?;
        self.plan.note(Change::End);
        Some((gone, self.machine.release(job).expect("a running job holds nodes")))
    }

    /// Changes how long a running job is estimated to run, from its start on; does nothing if it
    /// does not run.
    pub fn estimate_anew(&mut self, job: JobId, estimate: Time) {
        if self.running.estimate_anew(job, estimate) {
            self.plan.note(Change::Estimate);
        }
    }

    /// Moves a running job to other nodes; its own old nodes count as free for it. Returns what it
    /// held.
    ///
    /// # Errors
    /// As [`Machine::relocate`].
    pub fn relocate(&mut self, job: JobId, to: Placement) -> Result<Placement, RelocateError> {
        self.disturb(Change::Relocation, |machine| machine.relocate(job, to))
    }

    /// Marks a node as failed, and returns the job that holds it. The job keeps it until it ends.
    /// Failing twice changes nothing.
    ///
    /// # Errors
    /// If the machine has no such node.
    pub fn fail(&mut self, node: NodeId) -> Result<Option<JobId>, UnknownNode> {
        self.disturb(Change::Failure, |machine| machine.fail(node))
    }

    /// Marks a node as healthy again. Repairing a healthy node changes nothing.
    ///
    /// # Errors
    /// If the machine has no such node.
    pub fn repair(&mut self, node: NodeId) -> Result<(), UnknownNode> {
        self.disturb(Change::Failure, |machine| machine.repair(node))
    }

    /// Sets whether the switches work that join parts of placements ([`Machine::set_switches`]).
    pub fn set_switches(&mut self, work: bool) {
        self.disturb(Change::Failure, |machine| machine.set_switches(work));
    }

    /// Changes the health of the machine, or where jobs are; notes it if something has changed.
    fn disturb<T>(&mut self, change: Change, act: impl FnOnce(&mut Machine) -> T) -> T {
        let before = self.machine.health();
        let answer = act(&mut self.machine);
        if self.machine.health() != before {
            self.plan.note(change);
        }
        answer
    }

    /// Adds a pool: nodes (those free in `nodes`) that requests of later jobs may be confined to
    /// ([`Machine::add_pool`]).
    ///
    /// # Errors
    /// If the nodes are those of another grid.
    pub fn add_pool(&mut self, nodes: Occupancy) -> Result<Pool, OccupancyError> {
        self.machine.add_pool(nodes)
    }

    /// Reserves nodes ahead. Jobs that hold them keep them until they end.
    ///
    /// # Errors
    /// If the nodes are those of another grid.
    pub fn reserve(&mut self, reservation: AdvanceReservation) -> Result<(), BadReservation> {
        if reservation.others().grid() != self.machine.grid() {
            return Err(BadReservation::OtherMachine(*reservation.others().grid()));
        }
        self.plan.note(Change::Reservation);
        self.calendar.add(reservation);
        Ok(())
    }

    /// Gives up a reservation; `None` if there is none of that number.
    pub fn give_up(&mut self, reservation: u64) -> Option<AdvanceReservation> {
        let gone = self.calendar.remove(reservation)?;
        self.plan.note(Change::Reservation);
        Some(gone)
    }
}
