//! What is expected of the running jobs, and what is booked for the waiting ones.
//!
//! Questions are put only where the answer can be new. A strategy that misses nothing, and one that
//! grants by count, refuses on fewer nodes what it refused on more. So a booking can gain only where
//! nodes became free since it was last tried, and a request that was refused before some time is refused
//! before it to every later job that asks for the same for as long. For other strategies every
//! time at which enough nodes are free is tried.

mod question;

use std::collections::{BTreeMap, BTreeSet};

use pavior_allocation::{Fork, Machine, Placement};
use pavior_kernel::Time;
use pavior_mesh::{JobId, tile_rows};
use pavior_workload::Job;

use super::ends::by_expected_end;
use super::growth::Growth;
use super::profile::{Interval, Profile, Room, Search, Slot};
use crate::{MachineView, Queue, Running};
use question::{JobQuestion, Known};

/// Everything that is expected and booked, as of a state of the machine.
pub(crate) struct Plan {
    profile: Profile,
    /// The strategy on an empty machine.
    blank: Fork,
    known: Known,
    /// The running jobs as the profile has them, and their expected ends.
    running: BTreeMap<JobId, Held>,
    ends: BTreeSet<(Time, JobId)>,
    /// The waiting jobs', in the order of the queue.
    bookings: Vec<Booking>,
    pub(crate) state: u64,
    pub(crate) health: u64,
}

struct Held {
    placement: Placement,
    until: Time,
}

struct Booking {
    job: JobId,
    /// None for a job that does not fit what is left of the machine.
    slot: Option<Slot>,
    /// The first time promised.
    promise: Time,
}

/// A booking whose time has come.
pub(crate) struct Due {
    /// The job's place in the queue.
    pub(crate) index: usize,
    pub(crate) placement: Placement,
    /// The first time promised.
    pub(crate) promise: Time,
}

impl Plan {
    /// The running jobs until their expected ends, and nothing booked yet.
    pub(crate) fn new(now: Time, running: &Running, machine: &Machine) -> Plan {
        let blank = machine.fork_empty();
        let mut plan = Plan {
            profile: Profile::new(now, blank.free().clone()),
            blank,
            known: Known::of(machine),
            running: BTreeMap::new(),
            ends: BTreeSet::new(),
            bookings: Vec::new(),
            state: machine.state(),
            health: machine.health(),
        };
        for (until, job) in by_expected_end(now, running) {
            let id = job.job.id;
            let placement = machine.placement(id).expect("a running job holds nodes");
            let until = until.max(now.saturating_add(Time(1)));
            plan.hold(now, id, placement, until);
        }
        plan
    }

    /// A running job keeps its nodes until a time. A failed node that it holds is free in no
    /// profile, and stays so.
    fn hold(&mut self, now: Time, job: JobId, placement: &Placement, until: Time) {
        let healthy = self.healthy_part(placement);
        self.profile.take(&healthy, Interval { from: now, to: until });
        self.runs(job, Held { placement: healthy, until });
    }

    fn runs(&mut self, job: JobId, held: Held) {
        self.ends.insert((held.until, job));
        self.running.insert(job, held);
    }

    /// The nodes of a placement that the empty machine has.
    fn healthy_part(&self, placement: &Placement) -> Placement {
        let free = self.blank.free();
        let parts = placement.parts();
        if parts.iter().all(|part| free.is_free(part)) {
            return placement.clone();
        }
        let healthy = |part| tile_rows(free.grid(), part, |from, length| free.window(from, length));
        Placement::Parts(parts.iter().flat_map(healthy).collect())
    }

    /// Brings the plan to a later time: departed jobs leave, and late ones stay longer.
    pub(crate) fn advance(
        &mut self,
        now: Time,
        queue: &Queue,
        running: &Running,
        view: &mut MachineView<'_>,
    ) {
        self.profile.advance(now);
        if self.state != view.machine().state() {
            self.take_out_departed(now, queue, view);
        }
        self.rebook_overdue(now, queue, running, view);
    }

    /// Takes departed jobs out; after an early end, waiting jobs move up.
    fn take_out_departed(&mut self, now: Time, queue: &Queue, view: &mut MachineView<'_>) {
        self.state = view.machine().state();
        let machine = view.machine();
        let (profile, ends) = (&mut self.profile, &mut self.ends);
        let mut growth = Growth::default();
        self.running.retain(|job, held| {
            let stays = machine.placement(*job).is_some();
            if !stays {
                ends.remove(&(held.until, *job));
            }
            if !stays && held.until > now {
                let rest = Interval { from: now, to: held.until };
                profile.give(&held.placement, rest);
                growth.add(held.placement.clone(), rest);
            }
            stays
        });
        if !growth.is_empty() {
            self.known.refusals.forget();
            self.move_up(now, growth, queue, view);
            self.known.refusals.forget();
        }
        if !self.known.monotone {
            for (index, job) in queue.iter().enumerate().take(self.bookings.len()) {
                if self.bookings[index].slot.is_none() {
                    self.book(now, index, job, view);
                }
            }
        }
    }

    /// Waiting jobs, in the order of arrival, take earlier slots, until none has one: a job may have
    /// stood behind a younger one that moves up after it.
    fn move_up(
        &mut self,
        now: Time,
        mut growth: Growth,
        queue: &Queue,
        view: &mut MachineView<'_>,
    ) {
        while !growth.is_empty() {
            let mut moved = Growth::default();
            let mut most = self.profile.most_free(growth.end());
            for (index, job) in queue.iter().enumerate().take(self.bookings.len()) {
                let needed = view.machine().needed(&job.request);
                if self.known.monotone && needed > u64::from(most) {
                    continue;
                }
                if let Some(left) = self.try_earlier(now, index, job, &growth, view) {
                    moved.add(left.placement.clone(), left.interval);
                    growth.add(left.placement, left.interval);
                    most = self.profile.most_free(growth.end());
                }
            }
            growth = moved;
        }
    }

    /// Moves a booking to an earlier time if there is one, and says what it leaves.
    fn try_earlier(
        &mut self,
        now: Time,
        index: usize,
        job: &Job,
        growth: &Growth,
        view: &mut MachineView<'_>,
    ) -> Option<Slot> {
        let slot = self.bookings[index].slot.take()?;
        let booked = slot.interval.from;
        let begins: Vec<Interval> = if self.known.monotone {
            let before = |begins: Interval| Interval { to: begins.to.min(booked), ..begins };
            growth.begins(job.estimate).map(before).collect()
        } else {
            vec![Interval { from: now, to: booked }]
        };
        let known = Some(growth).filter(|_| self.known.monotone);
        let mut better =
            begins.iter().find_map(|begins| self.find(now, job, *begins, Some(&slot), known, view));
        if better.is_none() && !self.known.monotone {
            // A strategy that misses some might not find the same nodes.
            let same = self.profile.earlier_on_same(&slot, job.estimate);
            better = same.map(|interval| Slot { interval, placement: slot.placement.clone() });
        }
        let Some(better) = better else {
            self.bookings[index].slot = Some(slot);
            return None;
        };
        self.profile.give(&slot.placement, slot.interval);
        self.profile.take(&better.placement, better.interval);
        self.bookings[index].slot = Some(better);
        Some(slot)
    }

    /// Running jobs that outran what was expected stay longer. If there are any, or a booking's time
    /// has passed, all bookings are made anew.
    fn rebook_overdue(
        &mut self,
        now: Time,
        queue: &Queue,
        running: &Running,
        view: &mut MachineView<'_>,
    ) {
        let any_late = self.ends.first().is_some_and(|(until, _)| *until <= now);
        let passed =
            |booking: &Booking| booking.slot.as_ref().is_some_and(|slot| slot.interval.from < now);
        if !any_late && !self.bookings.iter().any(passed) {
            return;
        }
        for job in running.by_estimated_end() {
            if let Some(held) = self.running.get_mut(&job.job.id)
                && held.until <= now
            {
                self.ends.remove(&(held.until, job.job.id));
                held.until = job.expected_end(now);
                self.ends.insert((held.until, job.job.id));
            }
        }
        self.profile = Profile::new(now, self.blank.free().clone());
        for held in self.running.values() {
            self.profile.take(&held.placement, Interval { from: now, to: held.until });
        }
        self.known.refusals.forget();
        for booking in &mut self.bookings {
            booking.slot = None;
        }
        for (index, job) in queue.iter().enumerate().take(self.bookings.len()) {
            self.book(now, index, job, view);
        }
    }

    /// Books the jobs that arrived since, or that came within the depth.
    pub(crate) fn book_arrivals(
        &mut self,
        now: Time,
        queue: &Queue,
        depth: usize,
        view: &mut MachineView<'_>,
    ) {
        for index in self.bookings.len()..queue.len().min(depth) {
            let job = queue.get(index).expect("the index is within the queue");
            self.bookings.push(Booking { job: job.id, slot: None, promise: Time::MAX });
            self.book(now, index, job, view);
        }
    }

    /// Takes out the first booking whose time has come: its job runs from now on.
    pub(crate) fn start_due(&mut self, now: Time) -> Option<Due> {
        let is_due =
            |booking: &Booking| booking.slot.as_ref().is_some_and(|slot| slot.interval.from <= now);
        let index = self.bookings.iter().position(is_due)?;
        let Booking { job, slot, promise } = self.bookings.remove(index);
        let Slot { interval, placement } = slot.expect("it is due");
        self.runs(job, Held { placement: placement.clone(), until: interval.to });
        Some(Due { index, placement, promise })
    }

    /// Books a job that has no slot.
    fn book(&mut self, now: Time, index: usize, job: &Job, view: &mut MachineView<'_>) {
        let refusals = &self.known.refusals;
        let from = refusals.earliest(&job.request, job.estimate).max(now);
        let slot = self.find(now, job, Interval { from, to: Time::MAX }, None, None, view);
        if self.known.monotone {
            let at = slot.as_ref().map_or(Time::MAX, |slot| slot.interval.from);
            self.known.refusals.learn(&job.request, job.estimate, at);
        }
        if let Some(slot) = slot {
            self.profile.take(&slot.placement, slot.interval);
            let booking = &mut self.bookings[index];
            booking.promise = booking.promise.min(slot.interval.from);
            booking.slot = Some(slot);
        }
    }

    /// The earliest slot that begins in a stretch of time, before the job's own if it has one; of a job that was
    /// refused all of them before something grew, only where that may help.
    fn find(
        &mut self,
        now: Time,
        job: &Job,
        begins: Interval,
        own: Option<&Slot>,
        growth: Option<&Growth>,
        view: &mut MachineView<'_>,
    ) -> Option<Slot> {
        let Plan { blank, known, profile, .. } = self;
        let room = Room { nodes: view.machine().needed(&job.request), estimate: job.estimate };
        let search = Search { room, begins, own, monotone: known.monotone };
        let mut question = JobQuestion::new(now, job, growth, blank, known, view);
        let (at, placement) = profile.earliest(&search, &mut question)?;
        Some(Slot { interval: Interval::new(at, job.estimate), placement })
    }
}
