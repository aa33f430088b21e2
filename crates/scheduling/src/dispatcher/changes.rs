//! Changes to the queue, the running jobs, the machine and the calendar. Each method keeps all of
//! these consistent and records the effect on the scheduler's plan. A failed call changes nothing.

use pavior_allocation::{Machine, Placement, RelocateError, UnknownNode};
use pavior_kernel::Time;
use pavior_mesh::{JobId, NodeId, Occupancy, OccupancyError, Pool};
use pavior_workload::Job;

use super::{Change, Dispatcher, GrantError, RepeatedJob, allocate};
use crate::{AdvanceReservation, BadReservation, Queue, RunningJob};

impl Dispatcher {
    /// Adds a job at the end of the queue. Takes O(1) time.
    ///
    /// # Errors
    /// Returns an error if the job is already waiting or running.
    pub fn submit(&mut self, job: Job) -> Result<(), RepeatedJob> {
        self.enqueue(job, Queue::push)
    }

    /// Requeues a job that has lost its nodes, at the position determined by its arrival time.
    /// Takes O(q) time for q waiting jobs.
    ///
    /// # Errors
    /// Returns an error if the job is already waiting or running.
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

    /// Withdraws the job at the given queue index, so that it never runs. Returns `None` if there
    /// is no job at that index. Takes O(q) time for q waiting jobs.
    pub fn withdraw(&mut self, index: usize) -> Option<Job> {
        let job = self.queue.withdraw(index)?;
        self.plan.note(Change::Withdrawal);
        self.waiting.remove(&job.id);
        Some(job)
    }

    /// Starts a job that is not queued. The strategy places it, avoiding advance reservations.
    ///
    /// # Errors
    /// Returns an error if the job is already waiting or running, or if [`Machine::allocate`]
    /// fails.
    pub fn grant(&mut self, job: Job, now: Time) -> Result<&Placement, GrantError> {
        self.check_is_new(job.id)?;
        self.calendar.pass(now);
        let site = (&mut self.machine, &self.calendar, &mut self.beside);
        let granted = allocate(site, &job, now)?;
        self.plan.note(Change::Grant(job.id));
        self.running.start(job, now);
        Ok(granted)
    }

    /// Records that a job has held these nodes since `start`. Use this for jobs that are already
    /// running, and for jobs whose nodes were not chosen by the scheduler or the strategy. Advance
    /// reservations are not checked.
    ///
    /// # Errors
    /// Returns an error if the job is already waiting or running, or if [`Machine::allocate_at`]
    /// fails.
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

    /// Ends a running job, for whatever reason, and frees its nodes. Returns the job and its nodes,
    /// or `None` if the job is not running.
    #[expect(clippy::missing_panics_doc, reason = "every running job holds nodes")]
    pub fn end(&mut self, job: JobId) -> Option<(RunningJob, Placement)> {
        let gone = self.running.end(job)?;
        self.plan.note(Change::End);
        Some((gone, self.machine.release(job).expect("a running job holds nodes")))
    }

    /// Changes a running job's estimated run time, counted from the job's start. Does nothing if
    /// the job is not running.
    pub fn estimate_anew(&mut self, job: JobId, estimate: Time) {
        if self.running.estimate_anew(job, estimate) {
            self.plan.note(Change::Estimate);
        }
    }

    /// Moves a running job to other nodes, which may overlap the old ones. Returns the old nodes.
    ///
    /// # Errors
    /// Returns the errors of [`Machine::relocate`].
    pub fn relocate(&mut self, job: JobId, to: Placement) -> Result<Placement, RelocateError> {
        self.disturb(Change::Relocation, |machine| machine.relocate(job, to))
    }

    /// Marks a node as failed, and returns the job that holds the node, if any. The job keeps the
    /// node until the job ends. Marking a failed node again changes nothing.
    ///
    /// # Errors
    /// Returns an error if the machine has no such node.
    pub fn fail(&mut self, node: NodeId) -> Result<Option<JobId>, UnknownNode> {
        self.disturb(Change::Failure, |machine| machine.fail(node))
    }

    /// Marks a node as repaired. Repairing a healthy node changes nothing.
    ///
    /// # Errors
    /// Returns an error if the machine has no such node.
    pub fn repair(&mut self, node: NodeId) -> Result<(), UnknownNode> {
        self.disturb(Change::Failure, |machine| machine.repair(node))
    }

    /// Sets whether the switches that join the parts of placements work
    /// ([`Machine::set_switches`]).
    pub fn set_switches(&mut self, work: bool) {
        self.disturb(Change::Failure, |machine| machine.set_switches(work));
    }

    /// Calls `act`, and records `change` if the call changed the machine's health.
    fn disturb<T>(&mut self, change: Change, act: impl FnOnce(&mut Machine) -> T) -> T {
        let before = self.machine.health();
        let answer = act(&mut self.machine);
        if self.machine.health() != before {
            self.plan.note(change);
        }
        answer
    }

    /// Adds a pool that consists of the free nodes in `nodes`. Later requests can be restricted to
    /// this pool ([`Machine::add_pool`]).
    ///
    /// # Errors
    /// Returns an error if the nodes are on another grid.
    pub fn add_pool(&mut self, nodes: Occupancy) -> Result<Pool, OccupancyError> {
        self.machine.add_pool(nodes)
    }

    /// Adds an advance reservation. Jobs that hold reserved nodes keep them until they end.
    ///
    /// # Errors
    /// Returns an error if the nodes are on another grid.
    pub fn reserve(&mut self, reservation: AdvanceReservation) -> Result<(), BadReservation> {
        if reservation.others().grid() != self.machine.grid() {
            return Err(BadReservation::OtherMachine(*reservation.others().grid()));
        }
        self.plan.note(Change::Reservation);
        self.calendar.add(reservation);
        Ok(())
    }

    /// Removes an advance reservation. Returns `None` if no reservation has this number.
    pub fn give_up(&mut self, reservation: u64) -> Option<AdvanceReservation> {
        let gone = self.calendar.remove(reservation)?;
        self.plan.note(Change::Reservation);
        Some(gone)
    }
}
