//! What is expected of the running jobs, and what is booked for the waiting ones: nodes, or numbers
//! of them.
//!
//! Questions are put only where the answer can be new. A strategy that misses nothing, and one that
//! grants by count, refuses on fewer nodes what it refused on more; so does every strategy to a job
//! with a freedom, partition hardware apart ([`Machine::answers`]). So a booking can gain only
//! where nodes became free since it was last tried, and a request that was refused before some time
//! is refused before it to every later job that asks for the same for as long. For other requests
//! every time at which enough nodes are free is tried.

mod by_count;
mod by_nodes;
mod ledger;
mod question;

use std::collections::{BTreeMap, BTreeSet};

use pavior_allocation::Machine;
use pavior_kernel::Time;
use pavior_mesh::JobId;
use pavior_workload::Job;

use super::ends::by_expected_end;
use super::growth::{Growth, Refusals};
use super::slot::{Interval, Slot};
use crate::{Kept, MachineView, Queue, Reserved, Running, Standing, Start};
pub(crate) use by_count::ByCount;
pub(crate) use by_nodes::ByNodes;
pub(crate) use ledger::{Ledger, Wish};

/// Everything that is expected and booked, as of a state of the machine.
pub(crate) struct Plan<L: Ledger> {
    ledger: L,
    refusals: Refusals,
    /// The running jobs as the ledger has them, and their expected ends.
    running: BTreeMap<JobId, Stay<L>>,
    ends: BTreeSet<(Time, JobId)>,
    /// The waiting jobs', in the order of the queue.
    bookings: Vec<Booking<L>>,
    /// The jobs that had been withdrawn when the bookings were last looked at.
    withdrawals: u64,
    pub(crate) state: u64,
    pub(crate) health: u64,
}

struct Stay<L: Ledger> {
    held: L::Held,
    until: Time,
}

struct Booking<L: Ledger> {
    job: JobId,
    /// None for a job that does not fit what is left of the machine.
    slot: Option<Slot<L::Held>>,
    /// The first time promised.
    promise: Time,
}

impl<L: Ledger> Plan<L> {
    /// The running jobs until their expected ends, and nothing booked yet.
    pub(crate) fn new(now: Time, queue: &Queue, running: &Running, machine: &Machine) -> Plan<L> {
        let mut plan = Plan {
            ledger: L::new(now, machine),
            refusals: Refusals::default(),
            running: BTreeMap::new(),
            ends: BTreeSet::new(),
            bookings: Vec::new(),
            withdrawals: queue.withdrawals(),
            state: machine.state(),
            health: machine.health(),
        };
        for (until, job) in by_expected_end(now, running) {
            let id = job.job.id;
            let held = plan.ledger.held_by(id, machine);
            let until = until.max(now.saturating_add(Time(1)));
            plan.ledger.take(&held, Interval { from: now, to: until });
            plan.runs(id, Stay { held, until });
        }
        plan
    }

    /// The bookings. A job whose time has come, or that has none, waits for the machine alone;
    /// those beyond the depth are not looked at.
    pub(crate) fn standing(&self, now: Time, queue: &Queue) -> Standing {
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
                nodes: L::nodes(&slot.held),
                placement: L::placement(&slot.held),
            }));
        }
        let ends = self.running.values().map(|stay| (stay.until, L::nodes(&stay.held)));
        standing.ends = ends.collect();
        standing
    }

    fn runs(&mut self, job: JobId, holds: Stay<L>) {
        self.ends.insert((holds.until, job));
        self.running.insert(job, holds);
    }

    /// Brings the plan to a later time: departed jobs leave, and late ones stay longer.
    pub(crate) fn advance(
        &mut self,
        now: Time,
        queue: &Queue,
        running: &Running,
        view: &mut MachineView<'_>,
    ) {
        self.ledger.advance(now);
        if self.state != view.machine().state() {
            self.take_out_departed(now, queue, view);
        }
        if self.withdrawals != queue.withdrawals() {
            self.take_out_withdrawn(now, queue, view);
        }
        self.rebook_overdue(now, queue, running, view);
    }

    /// Whether every running job is in the plan. One that was started beside the scheduler is not.
    pub(crate) fn knows_all(&self, running: &Running) -> bool {
        running.len() <= self.running.len()
    }

    /// Takes the bookings of withdrawn jobs out, and the others move up.
    fn take_out_withdrawn(&mut self, now: Time, queue: &Queue, view: &mut MachineView<'_>) {
        self.withdrawals = queue.withdrawals();
        let mut waiting = queue.iter().map(|job| job.id).peekable();
        let mut growth = Growth::default();
        let ledger = &mut self.ledger;
        // Bookings are in the order of the queue.
        self.bookings.retain(|booking| {
            let stays = waiting.next_if_eq(&booking.job).is_some();
            if let Some(slot) =
                booking.slot.as_ref().filter(|slot| !stays && slot.interval.to > now)
            {
                let rest = Interval { from: slot.interval.from.max(now), to: slot.interval.to };
                ledger.give(&slot.held, rest);
                growth.add(slot.held.clone(), rest);
            }
            stays
        });
        if !growth.is_empty() {
            self.refusals.forget();
            self.move_up(now, growth, queue, view);
            self.refusals.forget();
        }
    }

    /// Takes departed jobs out; after an early end, waiting jobs move up.
    fn take_out_departed(&mut self, now: Time, queue: &Queue, view: &mut MachineView<'_>) {
        self.state = view.machine().state();
        let machine = view.machine();
        let (ledger, ends) = (&mut self.ledger, &mut self.ends);
        let mut growth = Growth::default();
        self.running.retain(|job, stay| {
            let stays = machine.placement(*job).is_some();
            if !stays {
                ends.remove(&(stay.until, *job));
            }
            if !stays && stay.until > now {
                let rest = Interval { from: now, to: stay.until };
                ledger.give(&stay.held, rest);
                growth.add(stay.held.clone(), rest);
            }
            stays
        });
        if !growth.is_empty() {
            self.refusals.forget();
            self.move_up(now, growth, queue, view);
            self.refusals.forget();
        }
        for (index, job) in queue.iter().enumerate().take(self.bookings.len()) {
            let is_booked = self.bookings[index].slot.is_some();
            if !is_booked && !L::is_monotone(&job.request, view.machine()) {
                self.book(now, index, job, view);
            }
        }
    }

    /// Waiting jobs, in the order of arrival, take earlier slots, until none has one: a job may
    /// have stood behind a younger one that moves up after it.
    fn move_up(
        &mut self,
        now: Time,
        mut growth: Growth<L::Held>,
        queue: &Queue,
        view: &mut MachineView<'_>,
    ) {
        while !growth.is_empty() {
            let mut moved = Growth::default();
            let mut refusals = Refusals::default();
            let mut most = self.ledger.most_free(growth.end());
            for (index, job) in queue.iter().enumerate().take(self.bookings.len()) {
                let needed = view.machine().needed(&job.request);
                if needed > most && L::is_monotone(&job.request, view.machine()) {
                    continue;
                }
                if let Some(left) = self.try_earlier(now, index, job, &growth, &mut refusals, view)
                {
                    refusals.forget();
                    moved.add(left.held.clone(), left.interval);
                    growth.add(left.held, left.interval);
                    most = self.ledger.most_free(growth.end());
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
        growth: &Growth<L::Held>,
        refusals: &mut Refusals,
        view: &mut MachineView<'_>,
    ) -> Option<Slot<L::Held>> {
        let slot = self.bookings[index].slot.take()?;
        let booked = slot.interval.from;
        let (begins, growth): (Vec<Interval>, _) = if L::is_monotone(&job.request, view.machine()) {
            let refused = refusals.earliest(&job.request, job.estimate);
            // While its own slot lasts, this job has nodes that the others did not have.
            let length = job.estimate.max(Time(1));
            let refused = refused.min(if length <= booked {
                booked.since(length).saturating_add(Time(1))
            } else {
                Time::ZERO
            });
            let asked = |begins: Interval| Interval {
                from: begins.from.max(refused),
                to: begins.to.min(booked),
            };
            (growth.begins(job.estimate).map(asked).collect(), Some(growth))
        } else {
            (vec![Interval { from: now, to: booked }], None)
        };
        let mut find = |begins| {
            let wish = Wish { now, job, begins, own: Some(&slot), growth };
            self.ledger.find(&wish, view)
        };
        let Some(better) = begins.into_iter().find_map(&mut find) else {
            self.bookings[index].slot = Some(slot);
            refusals.learn(&job.request, job.estimate, booked);
            return None;
        };
        self.ledger.give(&slot.held, slot.interval);
        self.ledger.take(&better.held, better.interval);
        self.bookings[index].slot = Some(better);
        Some(slot)
    }

    /// Running jobs that outran what was expected stay longer. If there are any, or a booking's
    /// time has passed, all bookings are made anew.
    fn rebook_overdue(
        &mut self,
        now: Time,
        queue: &Queue,
        running: &Running,
        view: &mut MachineView<'_>,
    ) {
        let any_late = self.ends.first().is_some_and(|(until, _)| *until <= now);
        let passed = |booking: &Booking<L>| {
            booking.slot.as_ref().is_some_and(|slot| slot.interval.from < now)
        };
        if !any_late && !self.bookings.iter().any(passed) {
            return;
        }
        for job in running.by_estimated_end() {
            if let Some(stay) = self.running.get_mut(&job.job.id)
                && stay.until <= now
            {
                self.ends.remove(&(stay.until, job.job.id));
                stay.until = job.expected_end(now);
                self.ends.insert((stay.until, job.job.id));
            }
        }
        self.ledger.clear(now);
        for stay in self.running.values() {
            self.ledger.take(&stay.held, Interval { from: now, to: stay.until });
        }
        self.refusals.forget();
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

    /// Takes out the first booking whose time has come and whose job can start: it runs from now
    /// on. With it the first time promised.
    pub(crate) fn start_due(
        &mut self,
        now: Time,
        queue: &Queue,
        view: &mut MachineView<'_>,
    ) -> Option<(Start, Time)> {
        for (index, job) in queue.iter().enumerate().take(self.bookings.len()) {
            let due = self.bookings[index].slot.as_ref().filter(|slot| slot.interval.from <= now);
            let Some(slot) = due else { continue };
            let until = slot.interval.to;
            if let Some((held, placement)) = self.ledger.start(slot, job, view) {
                let promise = self.bookings.remove(index).promise;
                self.runs(job.id, Stay { held, until });
                return Some((Start { index, placement }, promise));
            }
        }
        None
    }

    /// Books a job that has no slot.
    fn book(&mut self, now: Time, index: usize, job: &Job, view: &mut MachineView<'_>) {
        let from = self.refusals.earliest(&job.request, job.estimate).max(now);
        let begins = Interval { from, to: Time::MAX };
        let slot = self.ledger.find(&Wish { now, job, begins, own: None, growth: None }, view);
        if L::is_monotone(&job.request, view.machine()) {
            let at = slot.as_ref().map_or(Time::MAX, |slot| slot.interval.from);
            self.refusals.learn(&job.request, job.estimate, at);
        }
        if let Some(slot) = slot {
            self.ledger.take(&slot.held, slot.interval);
            let booking = &mut self.bookings[index];
            booking.promise = booking.promise.min(slot.interval.from);
            booking.slot = Some(slot);
        }
    }
}
