//! The conservative backfilling rule, generic over a [`Profile`] of the taken nodes.
//!
//! Each decision first updates the plan: it removes jobs that have ended or were withdrawn, moves
//! jobs up, and rebooks jobs if any are late. It then books the jobs that have arrived, and starts
//! the first job that is due and can start.
//!
//! Invariant: the profile has taken exactly the slots of the running jobs, the advance
//! reservations, and the bookings. The bookings belong to the first jobs in the queue, in queue
//! order.
//!
//! Cost: O(q) for q bookings, plus the profile's queries.

use std::collections::{BTreeMap, BTreeSet};

use pavior_allocation::{Machine, Placement};
use pavior_kernel::Time;
use pavior_mesh::JobId;
use pavior_workload::Job;

use super::slot::{Held, Interval, Slot};
use crate::shared::ends::Expected;
use crate::{Calendar, Kept, MachineView, Queue, Reserved, Running, Scheduler, Standing, Start};

/// The nodes that are taken over time, assuming no failures or repairs.
///
/// All profiles find the same slots; they differ in how they query the strategy.
pub(super) trait Profile: Send + Sync {
    /// A job's nodes.
    type Held: Held;
    /// A slot's nodes, in a form that is fast to compare with other slots.
    type Taken;

    /// Creates a profile in which no nodes are taken from `now` on.
    fn new(now: Time, machine: &Machine) -> Self;

    /// Returns the nodes of a running job.
    fn held_by(&self, job: JobId, machine: &Machine) -> Self::Held;

    /// Takes the reserved nodes, except those that the given slots of running jobs already occupy.
    /// Called again whenever a running job has released nodes.
    fn close(
        &mut self,
        calendar: &Calendar,
        running: &BTreeMap<JobId, Slot<Self::Held>>,
        machine: &Machine,
    );

    /// Releases everything.
    fn clear(&mut self, now: Time);

    /// Drops everything before `now`.
    fn advance(&mut self, now: Time);

    /// Takes a slot.
    fn take(&mut self, slot: &Slot<Self::Held>);

    /// Releases a slot, or the rest of it if it has already begun.
    fn give(&mut self, slot: Slot<Self::Held>);

    /// Returns the earliest possible slot for a job from now on. Does not take the slot.
    fn earliest(
        &mut self,
        now: Time,
        job: &Job,
        view: &mut MachineView<'_>,
    ) -> Option<Slot<Self::Held>>;

    /// Returns a slot's nodes.
    fn taken_by(&self, slot: &Slot<Self::Held>) -> Self::Taken;

    /// Returns true if a booking that overlaps the slot `taken` in time must give way before the
    /// slot's nodes can be taken. The caller checks all overlapping bookings from youngest to
    /// oldest, and releases each one that must give way before checking the next.
    fn needs_any(
        &self,
        booked: &Slot<Self::Held>,
        nodes: &Self::Taken,
        taken: &Slot<Self::Held>,
    ) -> bool;

    /// Begins a round of moving jobs up. Returns true if anything has been released since the
    /// previous round began.
    fn next_round(&mut self) -> bool;

    /// Returns the number of slots released so far, or 0 if the profile does not count them.
    fn given(&self) -> u64;

    /// Returns the earliest slot to which a job can move up, counting the job's own slot as free.
    /// Called in each round, in order of the jobs' arrival. `tried` is the number of slots that had
    /// been released when the job was last tried.
    fn earlier(
        &mut self,
        now: Time,
        job: &Job,
        own: (&Slot<Self::Held>, u64),
        view: &mut MachineView<'_>,
    ) -> Option<Slot<Self::Held>>;

    /// Starts a job in its slot. Returns the nodes that the job holds, and also its placement
    /// unless the strategy has yet to choose one. Returns `None` if the job cannot start.
    fn start(
        &mut self,
        slot: &Slot<Self::Held>,
        job: &Job,
        view: &mut MachineView<'_>,
    ) -> Option<(Self::Held, Option<Placement>)>;
}

/// Conservative backfilling.
pub(super) struct Conservative<P: Profile> {
    plan: Option<Plan<P>>,
    broken: u64,
    /// The maximum number of bookings.
    depth: usize,
    /// True if overruns by jobs that overtook the oldest waiting job do not postpone bookings.
    holds: bool,
}

impl<P: Profile> Conservative<P> {
    pub(super) fn new(depth: usize, holds: bool) -> Conservative<P> {
        Conservative { plan: None, broken: 0, depth, holds }
    }
}

impl<P: Profile> Scheduler for Conservative<P> {
    fn next(
        &mut self,
        now: Time,
        queue: &Queue,
        running: &Running,
        view: &mut MachineView<'_>,
    ) -> Option<Start> {
        let plan = self.plan.take().filter(|plan| plan.health == view.health());
        let oldest = queue.get(0).filter(|_| self.holds);
        let expected = Expected::of(now, running).holding(oldest);
        let plan = plan.and_then(|plan| plan.updated(queue, &expected, view));
        let plan = plan.unwrap_or_else(|| Plan::new(queue, &expected, view));
        let plan = self.plan.insert(plan);
        for index in plan.bookings.len()..queue.len().min(self.depth) {
            let job = queue.get(index)?;
            plan.bookings.push(Booking { job: job.id, slot: None, promise: Time::MAX, tried: 0 });
            plan.book(now, index, job, view);
        }
        let (start, promise) = plan.start_due(now, queue, view)?;
        self.broken += u64::from(promise < now);
        plan.state = view.state() + 1;
        Some(start)
    }

    fn standing(&self, now: Time, queue: &Queue, _: &Machine) -> Option<Standing> {
        Some(self.plan.as_ref()?.standing(now, queue))
    }

    fn broken_guarantees(&self) -> u64 {
        self.broken
    }
}

/// The expected slots of the running jobs, and the bookings of the waiting jobs.
pub(super) struct Plan<P: Profile> {
    pub(super) profile: P,
    /// The slots of the running jobs, up to their expected ends.
    pub(super) running: BTreeMap<JobId, Slot<P::Held>>,
    /// The running jobs by expected end.
    ends: BTreeSet<(Time, JobId)>,
    /// The waiting jobs' bookings, in queue order.
    pub(super) bookings: Vec<Booking<P::Held>>,
    /// The values of [`Queue::withdrawals`] and [`Queue::returns`] when bookings were last updated.
    withdrawals: u64,
    returns: u64,
    /// The machine's state after the last decision. The state changes whenever a job ends.
    state: u64,
    health: u64,
}

pub(super) struct Booking<H> {
    job: JobId,
    /// The slot, or `None` if the job does not fit on the empty machine or before `Time::MAX`.
    pub(super) slot: Option<Slot<H>>,
    /// The first promised start.
    pub(super) promise: Time,
    /// The value of [`Profile::given`] when the job was last tried.
    tried: u64,
}

impl<P: Profile> Plan<P> {
    /// Creates a plan with the running jobs up to their expected ends, but without any bookings.
    fn new(queue: &Queue, expected: &Expected<'_>, view: &MachineView<'_>) -> Plan<P> {
        let now = expected.now;
        let machine = view.machine();
        let mut plan = Plan {
            profile: P::new(now, machine),
            running: BTreeMap::new(),
            ends: BTreeSet::new(),
            bookings: Vec::new(),
            withdrawals: queue.withdrawals(),
            returns: queue.returns(),
            state: view.state(),
            health: view.health(),
        };
        for (end, job) in expected.by_end() {
            let to = end.max(now.saturating_add(Time(1)));
            let held = plan.profile.held_by(job.job.id, machine);
            let slot = Slot { interval: Interval { from: now, to }, held };
            plan.profile.take(&slot);
            plan.runs(job.job.id, slot);
        }
        plan.close(view);
        plan
    }

    /// Takes the nodes reserved in advance.
    fn close(&mut self, view: &MachineView<'_>) {
        if let Some(calendar) = view.calendar() {
            self.profile.close(calendar, &self.running, view.machine());
        }
    }

    /// Applies the changes since the last decision. Returns `None` if the plan is void.
    fn updated(
        mut self,
        queue: &Queue,
        expected: &Expected<'_>,
        view: &mut MachineView<'_>,
    ) -> Option<Plan<P>> {
        let now = expected.now;
        self.profile.advance(now);
        // Requeuing a job in the middle of the queue changes the indices of the jobs behind it.
        let (withdrawn, returned) =
            (self.withdrawals != queue.withdrawals(), self.returns != queue.returns());
        if returned {
            return None;
        }
        if withdrawn {
            self.remove_withdrawn(now, queue);
        }
        let changed = self.state != view.state();
        let mut given_way = Vec::new();
        if changed {
            self.remove_ended(now, view);
            given_way = self.take_granted(expected, view)?;
            self.close(view);
        }
        if withdrawn || changed {
            for index in given_way {
                self.book(now, index, queue.get(index)?, view);
            }
            self.move_up(now, queue, view);
            self.book_others(now, queue, view);
        }
        self.rebook_if_late(queue, expected, view);
        // A job that was started by the caller, not the scheduler, may occupy booked nodes.
        (expected.running().len() <= self.running.len()).then_some(self)
    }

    pub(super) fn runs(&mut self, job: JobId, slot: Slot<P::Held>) {
        self.ends.insert((slot.interval.to, job));
        self.running.insert(job, slot);
    }

    /// Removes jobs that have ended and releases what remains of their slots, even if such a job
    /// has since been granted nodes again.
    fn remove_ended(&mut self, now: Time, view: &MachineView<'_>) {
        self.state = view.state();
        let machine = view.machine();
        let (profile, ends) = (&mut self.profile, &mut self.ends);
        for job in view.granted() {
            if let Some(slot) = self.running.remove(job) {
                ends.remove(&(slot.interval.to, *job));
                give_rest(profile, now, &slot);
            }
        }
        self.running.retain(|job, slot| {
            let runs = machine.placement(*job).is_some();
            if !runs {
                ends.remove(&(slot.interval.to, *job));
                give_rest(profile, now, slot);
            }
            runs
        });
    }

    /// Removes the bookings of withdrawn jobs.
    fn remove_withdrawn(&mut self, now: Time, queue: &Queue) {
        self.withdrawals = queue.withdrawals();
        let mut waiting = queue.iter().map(|job| job.id).peekable();
        let profile = &mut self.profile;
        // Bookings are in queue order.
        self.bookings.retain(|booking| {
            let waits = waiting.next_if_eq(&booking.job).is_some();
            if let Some(slot) = booking.slot.as_ref().filter(|_| !waits) {
                give_rest(profile, now, slot);
            }
            waits
        });
    }

    /// Books jobs that previously had no slot but may get one now.
    fn book_others(&mut self, now: Time, queue: &Queue, view: &mut MachineView<'_>) {
        for (index, job) in queue.iter().enumerate().take(self.bookings.len()) {
            if self.bookings[index].slot.is_none() {
                self.book(now, index, job, view);
            }
        }
    }

    /// Repeatedly moves waiting jobs to earlier slots, in order of arrival, until no job can move.
    /// Repetition helps because a job may benefit when a younger one moves up.
    fn move_up(&mut self, now: Time, queue: &Queue, view: &mut MachineView<'_>) {
        while self.profile.next_round() {
            for (index, job) in queue.iter().enumerate().take(self.bookings.len()) {
                let booking = &mut self.bookings[index];
                let Some(own) = &booking.slot else { continue };
                let tried = std::mem::replace(&mut booking.tried, self.profile.given());
                if let Some(better) = self.profile.earlier(now, job, (own, tried), view) {
                    self.profile.give(own.clone());
                    self.profile.take(&better);
                    self.bookings[index].slot = Some(better);
                }
            }
        }
    }

    /// Remakes all bookings if a running job has outrun its expected end, or if a booked time has
    /// passed.
    fn rebook_if_late(
        &mut self,
        queue: &Queue,
        expected: &Expected<'_>,
        view: &mut MachineView<'_>,
    ) {
        let now = expected.now;
        let any_outran = self.ends.first().is_some_and(|(end, _)| *end <= now);
        let has_passed = |booking: &Booking<P::Held>| {
            booking.slot.as_ref().is_some_and(|slot| slot.interval.from < now)
        };
        if !any_outran && !self.bookings.iter().any(has_passed) {
            return;
        }
        for job in expected.running().by_estimated_end() {
            if let Some(slot) = self.running.get_mut(&job.job.id)
                && slot.interval.to <= now
            {
                self.ends.remove(&(slot.interval.to, job.job.id));
                slot.interval.to = expected.end(job);
                self.ends.insert((slot.interval.to, job.job.id));
            }
        }
        self.profile.clear(now);
        for slot in self.running.values() {
            self.profile.take(slot);
        }
        self.close(view);
        for booking in &mut self.bookings {
            booking.slot = None;
        }
        for (index, job) in queue.iter().enumerate().take(self.bookings.len()) {
            self.book(now, index, job, view);
        }
    }

    /// Books a job that has no slot.
    fn book(&mut self, now: Time, index: usize, job: &Job, view: &mut MachineView<'_>) {
        let booking = &mut self.bookings[index];
        booking.tried = self.profile.given();
        if let Some(slot) = self.profile.earliest(now, job, view) {
            self.profile.take(&slot);
            booking.promise = booking.promise.min(slot.interval.from);
            booking.slot = Some(slot);
        }
    }

    /// Starts the first due job that can start. Also returns that job's first promised start.
    fn start_due(
        &mut self,
        now: Time,
        queue: &Queue,
        view: &mut MachineView<'_>,
    ) -> Option<(Start, Time)> {
        for (index, job) in queue.iter().enumerate().take(self.bookings.len()) {
            let due = self.bookings[index].slot.as_ref().filter(|slot| slot.interval.from <= now);
            let Some(slot) = due else { continue };
            let interval = slot.interval;
            if let Some((held, placement)) = self.profile.start(slot, job, view) {
                let promise = self.bookings.remove(index).promise;
                self.runs(job.id, Slot { interval, held });
                return Some((Start { index, placement }, promise));
            }
        }
        None
    }

    /// Returns the bookings as a plan. A job that is due or has no slot is kept waiting only by the
    /// machine. Jobs beyond the depth are not examined.
    fn standing(&self, now: Time, queue: &Queue) -> Standing {
        let mut standing = Standing::default();
        for (place, job) in queue.iter().enumerate() {
            let Some(booking) = self.bookings.get(place) else {
                standing.kept.push(Kept::ByOrder(None));
                continue;
            };
            let later = booking.slot.as_ref().is_some_and(|slot| slot.interval.from > now);
            standing.kept.push(if later { Kept::ByReservations } else { Kept::ByMachine });
            standing.reserved.extend(booking.slot.as_ref().map(|slot| Reserved {
                job: job.id,
                from: slot.interval.from,
                to: slot.interval.to,
                nodes: slot.held.nodes(),
                placement: slot.held.placement(),
            }));
        }
        let ends = self.running.values().map(|slot| (slot.interval.to, slot.held.nodes()));
        standing.ends = ends.collect();
        standing
    }
}

/// Releases the rest of a slot.
pub(super) fn give_rest<P: Profile>(profile: &mut P, now: Time, slot: &Slot<P::Held>) {
    let Interval { from, to } = slot.interval;
    if to > now {
        let interval = Interval { from: from.max(now), to };
        profile.give(Slot { interval, held: slot.held.clone() });
    }
}
