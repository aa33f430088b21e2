//! The rule of conservative backfilling, over any [`Profile`] of what is taken when.
//!
//! Each decision first brings the plan up to date: it takes out what has ended or was withdrawn,
//! moves jobs up, and books anew what is late. Then it books the jobs that have arrived, and starts
//! the first job whose time has come.
//!
//! Invariant: the profile has taken exactly the slots of the running jobs, what is reserved ahead,
//! and the bookings. Bookings are those of the first jobs of the queue, in its order.
//!
//! Cost: O(q) for q bookings, and the profile's answers.

use std::collections::{BTreeMap, BTreeSet};

use pavior_allocation::{Machine, Placement};
use pavior_kernel::Time;
use pavior_mesh::JobId;
use pavior_workload::Job;

use super::slot::{Held, Interval, Slot};
use crate::shared::ends::Expected;
use crate::{Calendar, Kept, MachineView, Queue, Reserved, Running, Scheduler, Standing, Start};

/// What is taken when, on a machine whose nodes neither fail nor are repaired.
///
/// All profiles give the same slots. They differ in what they ask of the strategy.
pub(super) trait Profile: Send + Sync {
    /// What a job takes.
    type Held: Held;
    /// The nodes of a slot, in a form in which others are quickly compared with them.
    type Taken;

    /// Nothing is taken from now on.
    fn new(now: Time, machine: &Machine) -> Self;

    /// What a running job takes.
    fn held_by(&self, job: JobId, machine: &Machine) -> Self::Held;

    /// Takes what is reserved ahead and not taken by the running jobs, whose slots are given. It is
    /// asked again whenever a running job has given something back.
    fn close(
        &mut self,
        calendar: &Calendar,
        running: &BTreeMap<JobId, Slot<Self::Held>>,
        machine: &Machine,
    );

    /// Forgets all that was taken.
    fn clear(&mut self, now: Time);

    /// Forgets what was before now.
    fn advance(&mut self, now: Time);

    /// Takes a slot.
    fn take(&mut self, slot: &Slot<Self::Held>);

    /// Gives back a slot, or the rest of one.
    fn give(&mut self, slot: Slot<Self::Held>);

    /// The earliest slot that a job may have from now on. It is not taken.
    fn earliest(
        &mut self,
        now: Time,
        job: &Job,
        view: &mut MachineView<'_>,
    ) -> Option<Slot<Self::Held>>;

    /// The nodes of a slot.
    fn taken_by(&self, slot: &Slot<Self::Held>) -> Self::Taken;

    /// Whether a booking cannot stay if a slot with these nodes, which overlaps it in time, is
    /// taken. The slot is not taken yet. The bookings that overlap it are asked about from the
    /// youngest to the oldest, and those that cannot stay are given back at once.
    fn needs_any(
        &self,
        booked: &Slot<Self::Held>,
        nodes: &Self::Taken,
        taken: &Slot<Self::Held>,
    ) -> bool;

    /// Begins a round of moving up. Says whether anything was given since the last round began.
    fn next_round(&mut self) -> bool;

    /// The number of slots that were given so far, if it matters.
    fn given(&self) -> u64;

    /// The earliest slot of a job before its own, which is free to it. It is asked in rounds, for
    /// the jobs in the order of arrival. With its own slot it has the number of slots that were
    /// given when the job was last tried.
    fn earlier(
        &mut self,
        now: Time,
        job: &Job,
        own: (&Slot<Self::Held>, u64),
        view: &mut MachineView<'_>,
    ) -> Option<Slot<Self::Held>>;

    /// Starts a job in its slot: what it takes, and where it is put unless that is the strategy's
    /// to say. `None` if it cannot start.
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
    /// The most bookings.
    depth: usize,
    /// True if overruns of jobs that overtook the oldest waiting one do not move bookings.
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

/// What is expected of the running jobs, and what is booked for the waiting ones.
pub(super) struct Plan<P: Profile> {
    pub(super) profile: P,
    /// The running jobs' slots, which end when the jobs are expected to.
    pub(super) running: BTreeMap<JobId, Slot<P::Held>>,
    /// The running jobs by expected end.
    ends: BTreeSet<(Time, JobId)>,
    /// The waiting jobs' bookings, in the order of the queue.
    pub(super) bookings: Vec<Booking<P::Held>>,
    /// [`Queue::withdrawals`] and [`Queue::returns`] when the bookings were last looked at.
    withdrawals: u64,
    returns: u64,
    /// The machine's state after the last decision. In any other state a job has ended since.
    state: u64,
    health: u64,
}

pub(super) struct Booking<H> {
    job: JobId,
    /// None for a job that does not fit on the empty machine, or before the end of time.
    pub(super) slot: Option<Slot<H>>,
    /// The first time promised.
    pub(super) promise: Time,
    /// [`Profile::given`] when the job was last tried.
    tried: u64,
}

impl<P: Profile> Plan<P> {
    /// The running jobs until their expected ends, and no bookings yet.
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

    /// Takes what is reserved ahead.
    fn close(&mut self, view: &MachineView<'_>) {
        if let Some(calendar) = view.calendar() {
            self.profile.close(calendar, &self.running, view.machine());
        }
    }

    /// The plan after what has changed since the last decision; `None` if it is void.
    fn updated(
        mut self,
        queue: &Queue,
        expected: &Expected<'_>,
        view: &mut MachineView<'_>,
    ) -> Option<Plan<P>> {
        let now = expected.now;
        self.profile.advance(now);
        // A job that comes back to the middle of the queue moves the places of others.
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
        // A job that its caller chose may lie on booked nodes.
        (expected.running().len() <= self.running.len()).then_some(self)
    }

    pub(super) fn runs(&mut self, job: JobId, slot: Slot<P::Held>) {
        self.ends.insert((slot.interval.to, job));
        self.running.insert(job, slot);
    }

    /// Takes out the jobs that have ended, and gives back what is to come of their slots. A job
    /// that was given nodes anew has ended before.
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

    /// Takes out the bookings of withdrawn jobs.
    fn remove_withdrawn(&mut self, now: Time, queue: &Queue) {
        self.withdrawals = queue.withdrawals();
        let mut waiting = queue.iter().map(|job| job.id).peekable();
        let profile = &mut self.profile;
        // Bookings are in the order of the queue.
        self.bookings.retain(|booking| {
            let waits = waiting.next_if_eq(&booking.job).is_some();
            if let Some(slot) = booking.slot.as_ref().filter(|_| !waits) {
                give_rest(profile, now, slot);
            }
            waits
        });
    }

    /// Books the jobs that have no slot. There may be one for them now.
    fn book_others(&mut self, now: Time, queue: &Queue, view: &mut MachineView<'_>) {
        for (index, job) in queue.iter().enumerate().take(self.bookings.len()) {
            if self.bookings[index].slot.is_none() {
                self.book(now, index, job, view);
            }
        }
    }

    /// Gives waiting jobs, in the order of arrival, earlier slots, until there is none for any. A
    /// job may gain by a younger one that has moved up.
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

    /// If a running job has outrun what was expected, or the time of a booking has passed, makes
    /// all bookings anew.
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

    /// Starts the first job whose time has come and that can start. Also says the first time that
    /// it was promised.
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

    /// The bookings. A job waits for the machine alone if its time has come or it has no slot. Jobs
    /// beyond the depth are not looked at.
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

/// Gives back what is to come of a slot.
pub(super) fn give_rest<P: Profile>(profile: &mut P, now: Time, slot: &Slot<P::Held>) {
    let Interval { from, to } = slot.interval;
    if to > now {
        let interval = Interval { from: from.max(now), to };
        profile.give(Slot { interval, held: slot.held.clone() });
    }
}
