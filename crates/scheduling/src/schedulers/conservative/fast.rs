//! The fast profile, which queries the strategy only when the answer may have changed.
//!
//! If a strategy finds every free box, or grants by count, then any request that it refuses would
//! also be refused if fewer nodes were free. For a job with a freedom, this holds for every
//! strategy except partition hardware ([`Machine::answers`]). For requests with this property:
//!
//! - A job can get an earlier slot only by using nodes that were freed since it was last tried.
//! - If a request was refused at all times before t, any later request that is at least as large
//!   and as long is also refused at those times, until nodes are freed (`refusals`). Refusals near
//!   a freed slot remain valid even then.
//!
//! For other requests, every time with enough free nodes is tried.
//!
//! When jobs move up in a round, each job is tried only near the slots freed since it was last
//! tried, and not at all if there are none. Slots that a job frees by moving are available to the
//! jobs behind it in this round, and to all jobs in the next round. A freed slot (`freed`) is
//! shortened when all its nodes are taken again at its beginning or end. Each freed slot also
//! records the jobs refused near it.
//!
//! Invariant: this profile finds the same slots as [`Plain`](super::plain::Plain).
//!
//! Cost: a few comparisons for each job and freed slot, plus a search of the timeline at each of
//! the remaining times.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::Arc;

use pavior_allocation::{Machine, Placement, Sides};
use pavior_kernel::Time;
use pavior_mesh::{JobId, Request};
use pavior_workload::Job;
use rustc_hash::FxHashMap;

use super::freed::{Freed, FreedNodes, FreedSlots, MayFit, disjoint};
use super::refusals::{Boxes, Demand, Refusals, RefusalsNearby, half};
use super::rule::Profile;
use super::slot::{Held, Interval, Slot, begins_near, first_begin_reaching};
use crate::{Calendar, MachineView};

/// The free nodes over time, stored in a form that makes it fast to find slots.
pub(super) trait Timeline: Send + Sync {
    /// A job's nodes.
    type Held: Held;
    /// See [`Profile::Taken`].
    type Taken;

    /// Creates a timeline in which all nodes are free from `now` on.
    fn new(now: Time, machine: &Machine) -> Self;

    /// Returns true if a request that was refused stays refused when more nodes are taken.
    fn is_monotone(request: &Request, machine: &Machine) -> bool;

    /// Returns boxes such that a request fits if and only if at least one of them is free. Returns
    /// `None` if there are too many boxes, or if other conditions also matter.
    fn boxes_for(request: &Request, machine: &Machine) -> Option<Vec<Sides>>;

    /// Returns the nodes of a running job, except failed nodes, which cannot be taken.
    fn held_by(&self, job: JobId, machine: &Machine) -> Self::Held;

    /// See [`Profile::close`].
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

    /// Takes a slot's nodes for the part of its interval that is not in the past.
    fn take(&mut self, slot: &Slot<Self::Held>);

    /// Releases a slot's nodes for the part of its interval that is not in the past.
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

    /// Returns the part of a slot's interval from the first to the last time at which any of its
    /// nodes is free.
    fn still_free(&self, slot: &Slot<Self::Held>) -> Interval;

    /// Returns true if a job that needs one of these boxes could use nodes from both slots.
    fn may_use_both(&self, boxes: &Boxes, one: &Slot<Self::Held>, other: &Slot<Self::Held>)
    -> bool;

    /// Returns the maximum number of free nodes at any time before `limit`.
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

/// The constraints on a job's slot.
pub(super) struct Wanted<'a, H> {
    pub(super) now: Time,
    pub(super) job: &'a Job,
    /// The interval in which the job may begin.
    pub(super) begins: Interval,
    /// The job's own slot, which counts as free.
    pub(super) own: Option<&'a Slot<H>>,
    /// The freed slots, if the job is known to be refused throughout `begins` without them.
    pub(super) freed: Option<FreedSlots<'a, H>>,
}

/// The maximum number of requests for which boxes are cached.
const MOST_REQUESTS: usize = 1 << 12;

/// A timeline with cached answers. If `KEEPS` is false, nothing is cached and every time is
/// searched for every job; tests compare the two variants.
pub(super) struct Fast<T: Timeline, const KEEPS: bool = true> {
    timeline: T,
    freed: FreedNodes<T::Held>,
    /// The maximum number of free nodes before the last freed slot ends. Cached during a round.
    most_free: Option<u64>,
    refusals: Refusals,
    /// The boxes for each request, which never change.
    boxes: FxHashMap<Request, Boxes>,
}

impl<T: Timeline, const KEEPS: bool> Profile for Fast<T, KEEPS> {
    type Held = T::Held;
    type Taken = T::Taken;

    fn new(now: Time, machine: &Machine) -> Fast<T, KEEPS> {
        Fast {
            timeline: T::new(now, machine),
            freed: FreedNodes::default(),
            most_free: None,
            refusals: Refusals::default(),
            boxes: FxHashMap::default(),
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
        self.freed.trim(slot.interval, |freed| self.timeline.still_free(freed));
    }

    fn give(&mut self, slot: Slot<T::Held>) {
        self.timeline.give(&slot);
        self.most_free = None;
        self.refusals.forget();
        self.freed.add(slot);
    }

    fn earliest(
        &mut self,
        now: Time,
        job: &Job,
        view: &mut MachineView<'_>,
    ) -> Option<Slot<T::Held>> {
        let demand = self.demand(job, view.machine());
        let begins = Interval { from: self.refusals.of(&demand).max(now), to: Time::MAX };
        let slot = self.timeline.find(&Wanted { now, job, begins, own: None, freed: None }, view);
        // Only monotone answers are cached.
        if Self::keeps(job, view.machine()) {
            let at = slot.as_ref().map_or(Time::MAX, |slot| slot.interval.from);
            self.refusals.learn(demand, at);
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
        self.most_free = None;
        self.freed.next_round()
    }

    fn given(&self) -> u64 {
        self.freed.given()
    }

    fn earlier(
        &mut self,
        now: Time,
        job: &Job,
        (own, tried): (&Slot<T::Held>, u64),
        view: &mut MachineView<'_>,
    ) -> Option<Slot<T::Held>> {
        let booked = own.interval.from;
        if !Self::keeps(job, view.machine()) {
            let begins = Interval { from: now, to: booked };
            let wanted = Wanted { now, job, begins, own: Some(own), freed: None };
            return self.timeline.find(&wanted, view);
        }
        // Slots that were released before the job was last tried cannot help the job.
        if self.freed.since(tried).is_empty() {
            return None;
        }
        let (timeline, end) = (&self.timeline, self.freed.end());
        let most = *self.most_free.get_or_insert_with(|| timeline.most_free(end));
        let demand = self.demand(job, view.machine());
        if demand.nodes > most {
            return None;
        }
        let near = near(&self.timeline, self.freed.since(tried), own, &demand);
        let nothing = || Cell::new(MayFit::Nothing);
        let slots: Vec<_> = near.iter().map(|near| (near.slot, nothing())).collect();
        let freed = Some(FreedSlots::new(&slots));
        let begins = disjoint(near.iter().map(|near| near.begins).collect());
        let timeline = &mut self.timeline;
        let found = begins.into_iter().find_map(|begins| {
            timeline.find(&Wanted { now, job, begins, own: Some(own), freed }, view)
        });
        let until = found.as_ref().map_or(booked, |slot| slot.interval.from);
        for (near, (_, fits)) in near.into_iter().zip(&slots) {
            near.learn(&demand, fits.get(), until);
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

impl<T: Timeline, const KEEPS: bool> Fast<T, KEEPS> {
    /// Returns true if this type caches answers for the job.
    fn keeps(job: &Job, machine: &Machine) -> bool {
        KEEPS && T::is_monotone(&job.request, machine)
    }

    fn demand(&mut self, job: &Job, machine: &Machine) -> Demand {
        let Job { request, estimate, .. } = *job;
        if self.boxes.len() >= MOST_REQUESTS && !self.boxes.contains_key(&request) {
            self.boxes.clear();
        }
        let boxes = || T::boxes_for(&request, machine).map(Arc::from);
        let boxes = self.boxes.entry(request).or_insert_with(boxes).clone();
        Demand { request, boxes, nodes: machine.needed(&request), estimate }
    }
}

/// A freed slot that may allow a job to begin earlier.
struct Near<'a, H> {
    slot: &'a Slot<H>,
    refused: &'a mut RefusalsNearby,
    /// The interval in which the job may begin.
    begins: Interval,
    /// True if the job is known to be refused at earlier times because it is too large.
    is_refused_by_size: bool,
}

impl<H> Near<'_, H> {
    /// Records the largest part of the job that may fit near the slot, and that the job is refused
    /// there before `until`.
    fn learn(self, demand: &Demand, fits: MayFit, until: Time) {
        let fits = if self.is_refused_by_size { MayFit::Job } else { fits };
        if self.begins.from >= until {
            return;
        }
        match fits {
            MayFit::Nothing => self.refused.learn_length(demand.estimate, until),
            MayFit::Node => self.refused.learn_size(demand.core(half), until),
            MayFit::Half => self.refused.learn_size(demand.core(|core| core), until),
            MayFit::Job => self.refused.learn_size(demand.clone(), until),
        }
    }
}

/// Returns the freed slots that may allow a job to begin before its own slot.
fn near<'a, T: Timeline>(
    timeline: &T,
    freed: &'a mut [Freed<T::Held>],
    own: &Slot<T::Held>,
    demand: &Demand,
) -> Vec<Near<'a, T::Held>> {
    let booked = own.interval.from;
    // A job that begins at `reaches_own` or later is still running when its own slot begins. Unlike
    // the refused jobs, it can then use nodes in that slot.
    let reaches_own = first_begin_reaching(booked, demand.estimate);
    let near = freed.iter_mut().filter_map(|Freed { slot, refused, .. }| {
        let begins = begins_near(slot.interval, demand.estimate).before(booked);
        if begins.is_empty() {
            return None;
        }
        let by_length = refused.of_length(demand.estimate).min(begins.to);
        let by_size =
            if by_length < begins.to { refused.of_size(demand, begins.to) } else { Time::ZERO };
        let mut until = by_length.max(by_size);
        if until > reaches_own && timeline.may_use_both(&demand.boxes, own, slot) {
            until = reaches_own;
        }
        let is_refused_by_size = by_size > by_length.max(begins.from);
        let begins = begins.after(until);
        (!begins.is_empty()).then_some(Near { slot, refused, begins, is_refused_by_size })
    });
    near.collect()
}
