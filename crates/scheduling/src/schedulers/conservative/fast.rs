//! The fast profile: it asks only where the answer can be new.
//!
//! A strategy that misses nothing, and one that grants by count, refuses on fewer nodes whatever it
//! refuses on more. So does any strategy, apart from partition hardware, for a job with a freedom
//! ([`Machine::answers`]). For such requests:
//!
//! - A job can gain an earlier slot only on nodes that were freed since it was last tried.
//! - A request that was refused before some time is refused before it to every later job that asks
//!   for the same or for larger boxes, for as long or longer, until nodes are freed (`refusals`).
//!
//! For other requests every time at which enough nodes are free is tried.
//!
//! In a round of moving up, each job is asked about what was freed since it was last tried, and not
//! at all if nothing was.
//! What a job frees by moving counts for the jobs behind it in this round (`freed`), and for all
//! jobs in the next round (`newly_freed`). A refusal in a round holds but near what is freed later
//! in it.
//!
//! Invariant: the slots found are those of [`Plain`](super::plain::Plain).
//!
//! Cost: that of the timeline, for the times that are left.

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

/// What is free when, kept so that a slot is found quickly.
pub(super) trait Timeline: Send + Sync {
    /// What a job takes.
    type Held: Held;
    /// As [`Profile::Taken`].
    type Taken;

    /// Nothing is taken from now on.
    fn new(now: Time, machine: &Machine) -> Self;

    /// Whether a request is refused where more is taken if it is refused where less is.
    fn is_monotone(request: &Request, machine: &Machine) -> bool;

    /// The boxes of which one must be free for a request; `None` if they are many, or if something
    /// else decides it.
    fn boxes_for(request: &Request, machine: &Machine) -> Option<Vec<Sides>>;

    /// What a running job takes. Failed nodes can be taken by none.
    fn held_by(&self, job: JobId, machine: &Machine) -> Self::Held;

    /// As [`Profile::close`].
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

    /// Takes a slot, as far as it is not past.
    fn take(&mut self, slot: &Slot<Self::Held>);

    /// Gives back a slot, as far as it is not past.
    fn give(&mut self, slot: &Slot<Self::Held>);

    /// As [`Profile::taken_by`].
    fn taken_by(&self, slot: &Slot<Self::Held>) -> Self::Taken;

    /// As [`Profile::needs_any`].
    fn needs_any(
        &self,
        booked: &Slot<Self::Held>,
        nodes: &Self::Taken,
        taken: &Slot<Self::Held>,
    ) -> bool;

    /// The most nodes that are free at any time before `limit`.
    fn most_free(&self, limit: Time) -> u64;

    /// The earliest slot for a job.
    fn find(
        &mut self,
        wanted: &Wanted<'_, Self::Held>,
        view: &mut MachineView<'_>,
    ) -> Option<Slot<Self::Held>>;

    /// As [`Profile::start`].
    fn start(
        &mut self,
        slot: &Slot<Self::Held>,
        job: &Job,
        view: &mut MachineView<'_>,
    ) -> Option<(Self::Held, Option<Placement>)>;
}

/// The slot that a job looks for.
pub(super) struct Wanted<'a, H> {
    pub(super) now: Time,
    pub(super) job: &'a Job,
    /// When it may begin.
    pub(super) begins: Interval,
    /// The job's own slot, which is free to it.
    pub(super) own: Option<&'a Slot<H>>,
    /// The nodes without which the job was refused at all these times, if that is known.
    pub(super) freed: Option<FreedSince<'a, H>>,
}

/// A timeline, and what is known of its answers.
pub(super) struct Fast<T: Timeline> {
    timeline: T,
    /// What was freed since the last round began: for the next round.
    newly_freed: FreedNodes<T::Held>,
    /// Within rounds of moving up: what was freed since the round before began. Empty between them.
    freed: FreedNodes<T::Held>,
    /// The number of slots that were given so far; `freed` has the last of them.
    given: u64,
    /// Within a round: the most nodes that are free before the end of all that was freed.
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
            // What was refused in a round counts for that round alone.
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
        // What was given before the job was last tried is of no use to it.
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
        // A job that begins later still runs when its own slot begins. There it has nodes that the
        // refused jobs did not have, so that their refusals say nothing.
        let until = refused.until.min(first_begin_reaching(booked, job.estimate));
        let (timeline, freed) = (&mut self.timeline, &self.freed);
        // Before that time it is searched for only near what was freed since.
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
    /// Returns the time before which a job is known to be refused. What is not monotone is never
    /// learnt, and so never known.
    fn refused(&mut self, job: &Job, machine: &Machine) -> RefusedUntil {
        let boxes_for = |request: &Request| T::boxes_for(request, machine);
        self.refusals.of(job, self.freed.len(), boxes_for)
    }

    fn learn(&mut self, job: &Job, at: Time, machine: &Machine) {
        let boxes_for = |request: &Request| T::boxes_for(request, machine);
        self.refusals.learn(job, at, self.freed.len(), boxes_for);
    }
}

/// The first time at which a job can begin and still run at a given time.
pub(super) fn first_begin_reaching(at: Time, estimate: Time) -> Time {
    let length = estimate.max(Time(1));
    if at < length { Time::ZERO } else { at.since(length).saturating_add(Time(1)) }
}
