//! Conservative backfilling with geometry: every waiting job has a reservation, and none is delayed.
//!
//! A job is booked when it arrives: the earliest time t, and the nodes, at which the strategy places
//! it on a fork in which every node busy at any time of `[t, t + estimate)` is taken once, be it by
//! a running job until its expected end or by an earlier booking. It starts at its time, on its
//! nodes. When a job ends early, its nodes are free for the rest of its time, and every waiting job,
//! in the order of arrival, gives up its booking for an earlier one, which the strategy finds or
//! which has the same nodes; and so again, until no job moves. A job said to take no time is booked
//! for a tick.
//!
//! ```text
//!   x  0 1 2 3               a runs until 4; b, which asks for 4 nodes for 2, is booked for 4 to 6;
//!      a a c c   0 to 4      c (2 nodes for 4) ends by then and starts beside a; d (2 nodes for 5)
//!      b b b b   4 to 6      would run into b, and is booked for 6 to 11
//!      d d . .   6 to 11
//! ```
//!
//! With exact estimates no job starts later than its first booking, and none starves. When a running
//! job outruns what was expected of it (see `shared/ends.rs` for what then is), all bookings are
//! made anew, in the order of arrival. So they are when a node fails or is repaired, and what is
//! promised then counts as the first promise. A job that would not fit even if all others were gone
//! (because nodes failed) has no booking until a repair.
//!
//! With `depth=N` only the oldest N waiting jobs have bookings, as in practice; the others wait until
//! they are among them, whatever is free. That bounds the cost, and what is lost is that a younger job
//! starts beside them.
//!
//! Cost for q waiting jobs (at most the depth) and r running ones: the profile has T <= 2(q + r) + 1
//! segments; a booking costs O(T) look-ups, and at each time at which enough nodes are free throughout
//! O(T N/64) words and a search; an early end costs q bookings a pass, mostly one or two passes. The
//! strategy is forked once.
//!
//! Source: Feitelson & Mu'alem Weil, "Utilization and predictability in scheduling the IBM SP2 with
//! backfilling", IPPS 1998, for numbers of nodes. Reserving in space is ours.

use std::collections::{BTreeMap, BTreeSet};

use pavior_allocation::{Fork, Machine, Placement};
use pavior_kernel::{OptionSpec, Time, Values};
use pavior_mesh::JobId;
use pavior_workload::Job;

use crate::shared::ends::{by_expected_end, expected_end};
use crate::shared::profile::{Interval, Profile};
use crate::{BuildScheduler, Entry, MachineView, Queue, Running, Scheduler, SchedulerKind, Start};

pub(crate) static ENTRY: Entry = Entry {
    name: "conservative",
    title: "Conservative backfilling",
    source: "Feitelson & Mu'alem Weil 1998",
    options: &[OptionSpec {
        key: "depth",
        values: Values::Text("all or an integer from 1", is_depth),
        default: "all",
        meaning: "the number of waiting jobs, from the oldest, that have bookings",
        bare: false,
    }],
    variants: &["", "depth=3"],
    does: SchedulerKind {
        build: BuildScheduler::Function(|options| {
            let depth = options.get("depth").parse().unwrap_or(usize::MAX);
            Box::new(Conservative { plan: None, broken: 0, depth })
        }),
    },
};

fn is_depth(text: &str) -> bool {
    text == "all" || text.parse::<usize>().is_ok_and(|depth| depth > 0)
}

struct Conservative {
    plan: Option<Plan>,
    broken: u64,
    /// The most bookings.
    depth: usize,
}

/// Everything that is expected and booked, as of a state of the machine.
struct Plan {
    profile: Profile,
    /// The strategy on an empty machine.
    blank: Fork,
    /// The running jobs as the profile has them.
    running: BTreeMap<JobId, Held>,
    /// The waiting jobs', in the order of the queue.
    bookings: Vec<Booking>,
    state: u64,
    health: u64,
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

struct Slot {
    interval: Interval,
    placement: Placement,
}

impl Scheduler for Conservative {
    fn next(
        &mut self,
        now: Time,
        queue: &Queue,
        running: &Running,
        view: &mut MachineView<'_>,
    ) -> Option<Start> {
        let plan = match self.plan.take() {
            Some(mut plan) if plan.health == view.machine().health() => {
                plan.profile.advance(now);
                if plan.state != view.machine().state() {
                    plan.hear_departures(now, queue, running, view);
                }
                plan.rebook_overdue(now, queue, running, view);
                plan
            }
            _ => Plan::new(now, running, view.machine()),
        };
        let plan = self.plan.insert(plan);
        plan.book_arrivals(now, queue, self.depth, view);
        let index = plan.bookings.iter().position(|booking| booking.is_due(now))?;
        let booking = plan.bookings.remove(index);
        self.broken += u64::from(booking.promise < now);
        let Slot { interval, placement } = booking.slot.expect("it is due");
        plan.running.insert(booking.job, Held { placement: placement.clone(), until: interval.to });
        plan.state = view.machine().state() + 1;
        Some(Start::on(index, placement))
    }

    fn broken_guarantees(&self) -> u64 {
        self.broken
    }
}

impl Booking {
    fn is_due(&self, now: Time) -> bool {
        self.slot.as_ref().is_some_and(|slot| slot.interval.from <= now)
    }
}

impl Plan {
    /// The running jobs until their expected ends, and nothing booked yet.
    fn new(now: Time, running: &Running, machine: &Machine) -> Plan {
        let blank = machine.fork_empty();
        let mut plan = Plan {
            profile: Profile::new(now, blank.free().clone()),
            blank,
            running: BTreeMap::new(),
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
        self.running.insert(job, Held { placement: healthy, until });
    }

    /// The nodes of a placement that the empty machine has.
    fn healthy_part(&self, placement: &Placement) -> Placement {
        let free = self.blank.free();
        let parts = placement.parts();
        if parts.iter().all(|part| free.is_free(part)) {
            return placement.clone();
        }
        let healthy = |part| pavior_mesh::tile(free.grid(), part, |node| free.is_node_free(node));
        Placement::Parts(parts.iter().flat_map(healthy).collect())
    }

    /// Takes departed jobs out; after an early end, waiting jobs move up.
    fn hear_departures(
        &mut self,
        now: Time,
        queue: &Queue,
        running: &Running,
        view: &mut MachineView<'_>,
    ) {
        self.state = view.machine().state();
        let remaining: BTreeSet<JobId> = running.by_estimated_end().map(|job| job.job.id).collect();
        let profile = &mut self.profile;
        let mut early = false;
        self.running.retain(|job, held| {
            let stays = remaining.contains(job);
            if !stays && held.until > now {
                early = true;
                profile.give(&held.placement, Interval { from: now, to: held.until });
            }
            stays
        });
        if early {
            self.move_up(now, queue, view);
        }
        for (index, job) in queue.iter().enumerate().take(self.bookings.len()) {
            if self.bookings[index].slot.is_none() {
                self.book(now, index, job, view);
            }
        }
    }

    /// Waiting jobs, in the order of arrival, take earlier slots, until none has one: a job may have
    /// stood behind a younger one that moves up after it.
    fn move_up(&mut self, now: Time, queue: &Queue, view: &mut MachineView<'_>) {
        let mut moved = true;
        while moved {
            moved = false;
            for (index, job) in queue.iter().enumerate().take(self.bookings.len()) {
                let Some(slot) = self.bookings[index].slot.take() else { continue };
                self.profile.give(&slot.placement, slot.interval);
                let better = self.better(now, job, &slot, view);
                moved |= better.is_some();
                let slot = better.unwrap_or(slot);
                self.profile.take(&slot.placement, slot.interval);
                self.bookings[index].slot = Some(slot);
            }
            self.profile.tidy();
        }
    }

    /// An earlier slot than one that has been given back: where the strategy finds it, or else the
    /// same nodes as soon as they are free (a strategy that misses some might not find those).
    fn better(
        &mut self,
        now: Time,
        job: &Job,
        slot: &Slot,
        view: &mut MachineView<'_>,
    ) -> Option<Slot> {
        self.find(now, job, slot.interval.from, view).or_else(|| {
            let same = self.profile.earliest_of(&slot.placement, job.estimate, slot.interval.from);
            same.map(|interval| Slot { interval, placement: slot.placement.clone() })
        })
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
        let late: Vec<(JobId, Time)> = running
            .by_estimated_end()
            .filter(|job| self.running.get(&job.job.id).is_some_and(|held| held.until <= now))
            .map(|job| (job.job.id, expected_end(now, job)))
            .collect();
        let passed =
            |booking: &Booking| booking.slot.as_ref().is_some_and(|slot| slot.interval.from < now);
        if late.is_empty() && !self.bookings.iter().any(passed) {
            return;
        }
        for slot in self.bookings.iter_mut().filter_map(|booking| booking.slot.take()) {
            self.profile.give(&slot.placement, slot.interval);
        }
        self.profile.tidy();
        for (job, until) in late {
            let held = self.running.remove(&job).expect("it was just seen");
            self.hold(now, job, &held.placement, until);
        }
        for (index, job) in queue.iter().enumerate().take(self.bookings.len()) {
            self.book(now, index, job, view);
        }
    }

    /// Books the jobs that arrived since, or that came within the depth.
    fn book_arrivals(
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

    /// Books a job that has no slot.
    fn book(&mut self, now: Time, index: usize, job: &Job, view: &mut MachineView<'_>) {
        if let Some(slot) = self.find(now, job, Time::MAX, view) {
            self.profile.take(&slot.placement, slot.interval);
            let booking = &mut self.bookings[index];
            booking.promise = booking.promise.min(slot.interval.from);
            booking.slot = Some(slot);
        }
    }

    /// The earliest slot before `limit`. Asking about now is an attempt, asking about later is not.
    fn find(
        &mut self,
        now: Time,
        job: &Job,
        limit: Time,
        view: &mut MachineView<'_>,
    ) -> Option<Slot> {
        let (blank, request) = (&mut self.blank, &job.request);
        let needed = view.machine().needed(request);
        let ask = |at: Time, free: &_| {
            let place = |fork: &mut Fork| fork.find_within(free, request);
            if at == now { view.can_start_by(blank, place) } else { place(blank) }.ok()
        };
        let (at, placement) = self.profile.earliest(needed, job.estimate, limit, ask)?;
        Some(Slot { interval: Interval::new(at, job.estimate), placement })
    }
}
