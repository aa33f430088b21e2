//! The fast profile, which asks only questions whose answers may have changed.
//!
//! If a strategy finds every free box, or grants by count, a request that it refuses is also
//! refused when fewer nodes are free. For a job with a freedom, this is true of any strategy except
//! partition hardware ([`Machine::answers`]). For such requests:
//!
//! - A job can get an earlier slot only on nodes that were freed since it was last tried.
//! - If a request was refused before some time, every later request for the same or larger boxes,
//!   for as long or longer, is also refused before that time, until nodes are freed (`refusals`).
//!
//! For other requests, every time when enough nodes are free is tried.
//!
//! In a round of moving up, each job is tried only near the nodes freed since it was last tried,
//! and not at all if there are none. Nodes that a job frees by moving are available to the jobs
//! behind it in this round (`freed`), and to all jobs in the next round (`newly_freed`). A refusal
//! in a round remains valid except near nodes that are freed later in the round.
//!
//! Invariant: the slots found are those of [`Plain`](super::plain::Plain).
//!
//! Cost: that of the timeline, for the remaining times.

use std::collections::BTreeMap;

use pavior_allocation::{Machine, Placement, Sides};
use pavior_kernel::Time;
use pavior_mesh::{JobId, Request};
use pavior_workload::Job;

use super::freed::{FreedNodes, FreedSince};
use super::refusals::{Refusals, RefusedUntil};
use super::rule::Profile;
use super::slot::{Held, Interval, Slot};
use crate::{Calendar, MachineView};

/// The free nodes over time, in a form that allows slots to be found quickly.
pub(super) trait Timeline: Send + Sync {
    /// The nodes of a job.
    type Held: Held;
    /// See [`Profile::Taken`].
    type Taken;

    /// Creates a timeline in which no nodes are taken from now on.
    fn new(now: Time, machine: &Machine) -> Self;

    /// Returns true if a request that is refused in some state is also refused when more nodes are
    /// taken.
    fn is_monotone(request: &Request, machine: &Machine) -> bool;

    /// Returns the boxes of which one must be free for a request. `None` if there are many, or if
    /// other conditions also matter.
    fn boxes_for(request: &Request, machine: &Machine) -> Option<Vec<Sides>>;

    /// Returns the nodes of a running job. Failed nodes cannot be taken.
    fn held_by(&self, job: JobId, machine: &Machine) -> Self::Held;

    /// See [`Profile::close`].
    fn close(
        &mut self,
        calendar: &Calendar,
        running: &BTreeMap<JobId, Slot<Self::Held>>,
        machine: &Machine,
    );

    /// Clears everything that was taken.
    fn clear(&mut self, now: Time);

    /// Drops everything before now.
    fn advance(&mut self, now: Time);

    /// Takes the part of a slot that is not in the past.
    fn take(&mut self, slot: &Slot<Self::Held>);

    /// Releases the part of a slot that is not in the past.
    fn give(&mut self, slot: &Slot<Self::Held>);

    /// See [`Profile::taken_by`].
    fn taken_by(&self, slot: &Slot<Self::Held>) -> Self::Taken;

    /// See [`Profile::needs_any`].
    fn needs_any(
        &self,
        booked: &Slot<Self::Held>,
        nodes: &Self::Taken,
        taken: &Slot<Self::Held>,
    ) -> bool;

    /// Returns the maximum number of nodes that are free at any time before `limit`.
    fn most_free(&self, limit: Time) -> u64;

    /// Finds the earliest slot for a job.
    fn find(
        &mut self,
        wanted: &Wanted<'_, Self::Held>,
        view: &mut MachineView<'_>,
    ) -> Option<Slot<Self::Held>>;

    /// See [`Profile::start`].
    fn start(
        &mut self,
        slot: &Slot<Self::Held>,
        job: &Job,
        view: &mut MachineView<'_>,
    ) -> Option<(Self::Held, Option<Placement>)>;
}

/// The conditions for a job's slot.
pub(super) struct Wanted<'a, H> {
    pub(super) now: Time,
    pub(super) job: &'a Job,
    /// The period in which the job may begin.
    pub(super) begins: Interval,
    /// The job's own slot, which counts as free.
    pub(super) own: Option<&'a Slot<H>>,
    /// The freed nodes without which the job was refused at all these times, if known.
    pub(super) freed: Option<FreedSince<'a, H>>,
}

/// A timeline with cached answers.
pub(super) struct Fast<T: Timeline> {
    timeline: T,
    /// The nodes freed since the last round began, for use in the next round.
    newly_freed: FreedNodes<T::Held>,
    /// In a round of moving up: the nodes freed since the previous round began. Empty between
    /// rounds.
    freed: FreedNodes<T::Held>,
    /// The number of slots released so far. `freed` has the last of these slots.
    given: u64,
    /// In a round: the maximum number of nodes that are free before the end of all freed slots.
    most_free: Option<u64>,
    refusals: Refusals,
}

impl<T: Timeline> Profile for Fast<T> {
    type Held = T::Held;
    type Taken = T::Taken;

    fn new(now: Time, machine: &Machine) -> Fast<T> {
        Fast {
            timeline: T::new(now, machine),
            newly_freed: FreedNodes::default(),
            freed: FreedNodes::default(),
            given: 0,
            most_free: None,
            refusals: Refusals::default(),
        }
    }

    fn held_by(&self, job: JobId, machine: &Machine) -> T::Held {
        self.timeline.held_by(job, machine)
    }

    fn close(
        &mut self,
        calendar: &Calendar,
        running: &BTreeMap<JobId, Slot<T::Held>>,
        machine: &Machine,
    ) {
        self.timeline.close(calendar, running, machine);
    }

    fn clear(&mut self, now: Time) {
        self.timeline.clear(now);
        self.refusals.forget();
    }

    fn advance(&mut self, now: Time) {
        self.timeline.advance(now);
    }

    fn take(&mut self, slot: &Slot<T::Held>) {
        self.timeline.take(slot);
    }

    fn give(&mut self, slot: Slot<T::Held>) {
        self.timeline.give(&slot);
        self.given += 1;
        self.most_free = None;
        let within_a_round = !self.freed.is_empty();
        if within_a_round {
            self.freed.add(slot.clone());
            self.refusals.outdate();
        } else {
            self.refusals.forget();
        }
        self.newly_freed.add(slot);
    }

    fn earliest(
        &mut self,
        now: Time,
        job: &Job,
        view: &mut MachineView<'_>,
    ) -> Option<Slot<T::Held>> {
        let from = self.refused(job, view.machine()).until.max(now);
        let begins = Interval { from, to: Time::MAX };
        let slot = self.timeline.find(&Wanted { now, job, begins, own: None, freed: None }, view);
        if T::is_monotone(&job.request, view.machine()) {
            let at = slot.as_ref().map_or(Time::MAX, |slot| slot.interval.from);
            self.learn(job, at, view.machine());
        }
        slot
    }

    fn taken_by(&self, slot: &Slot<T::Held>) -> T::Taken {
        self.timeline.taken_by(slot)
    }

    fn needs_any(&self, booked: &Slot<T::Held>, nodes: &T::Taken, taken: &Slot<T::Held>) -> bool {
        self.timeline.needs_any(booked, nodes, taken)
    }

    fn next_round(&mut self) -> bool {
        let freed = std::mem::take(&mut self.newly_freed);
        let before = std::mem::replace(&mut self.freed, freed);
        self.most_free = None;
        if !before.is_empty() {
            // Refusals in a round are valid in that round only.
            self.refusals.forget();
        }
        !self.freed.is_empty()
    }

    fn given(&self) -> u64 {
        self.given
    }

    fn earlier(
        &mut self,
        now: Time,
        job: &Job,
        (own, tried): (&Slot<T::Held>, u64),
        view: &mut MachineView<'_>,
    ) -> Option<Slot<T::Held>> {
        let booked = own.interval.from;
        if !T::is_monotone(&job.request, view.machine()) {
            let begins = Interval { from: now, to: booked };
            let wanted = Wanted { now, job, begins, own: Some(own), freed: None };
            return self.timeline.find(&wanted, view);
        }
        // Slots released before the job was last tried cannot help it.
        let new = usize::try_from(self.given - tried).unwrap_or(usize::MAX);
        let first = self.freed.len().saturating_sub(new);
        if first == self.freed.len() {
            self.learn(job, booked, view.machine());
            return None;
        }
        let (timeline, freed) = (&mut self.timeline, &self.freed);
        let most = *self.most_free.get_or_insert_with(|| timeline.most_free(freed.end()));
        if view.machine().needed(&job.request) > most {
            return None;
        }
        let refused = self.refused(job, view.machine());
        // A job that begins later is still running when its own slot begins. From then on, it can
        // use nodes that the refused jobs could not, so their refusals do not apply.
        let until = refused.until.min(first_begin_reaching(booked, job.estimate));
        let (timeline, freed) = (&mut self.timeline, &self.freed);
        // Before that time, only places near the nodes freed since then are searched.
        let since = refused.freed.max(first);
        let refused = freed
            .begins_since(since, job.estimate)
            .map(|begins| (Interval { to: begins.to.min(until), ..begins }, freed.since(since)));
        let others = freed.begins_since(first, job.estimate).map(|begins| {
            let from = begins.from.max(until);
            (Interval { from, to: begins.to.min(booked) }, freed.since(first))
        });
        let found = refused.chain(others).find_map(|(begins, freed)| {
            let wanted = Wanted { now, job, begins, own: Some(own), freed: Some(freed) };
            if begins.from < begins.to { timeline.find(&wanted, view) } else { None }
        });
        if found.is_none() {
            self.learn(job, booked, view.machine());
        }
        found
    }

    fn start(
        &mut self,
        slot: &Slot<T::Held>,
        job: &Job,
        view: &mut MachineView<'_>,
    ) -> Option<(T::Held, Option<Placement>)> {
        self.timeline.start(slot, job, view)
    }
}

impl<T: Timeline> Fast<T> {
    /// Returns the time before which a job is known to be refused. Answers that are not monotone
    /// are never cached, so no such time is known for those jobs.
    fn refused(&mut self, job: &Job, machine: &Machine) -> RefusedUntil {
        let boxes_for = |request: &Request| T::boxes_for(request, machine);
        self.refusals.of(job, self.freed.len(), boxes_for)
    }

    fn learn(&mut self, job: &Job, at: Time, machine: &Machine) {
        let boxes_for = |request: &Request| T::boxes_for(request, machine);
        self.refusals.learn(job, at, self.freed.len(), boxes_for);
    }
}

/// Returns the earliest time when a job can begin and still be running at a given time.
pub(super) fn first_begin_reaching(at: Time, estimate: Time) -> Time {
    let length = estimate.max(Time(1));
    if at < length { Time::ZERO } else { at.since(length).saturating_add(Time(1)) }
}
