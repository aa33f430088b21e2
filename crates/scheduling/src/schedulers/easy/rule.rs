//! EASY's rule with node reservations, generic over a [`Search`].
//!
//! Each decision starts the head if possible. Otherwise, it reserves nodes for the head and starts
//! the first other job that is allowed to start.
//!
//! Invariant: at most one reservation is kept, and it belongs to the current head. The reserved
//! nodes are not given to a job that may still hold them when the reservation begins.
//!
//! Cost: one search for each change to the machine.

use pavior_allocation::{Machine, Placement};
use pavior_kernel::Time;
use pavior_mesh::JobId;
use pavior_workload::Job;

use crate::shared::ends::Expected;
use crate::shared::promise::HeadPromise;
use crate::{MachineView, Queue, Reserved, Running, Scheduler, Standing, Start};

/// Nodes reserved for the head, starting at `at`.
#[derive(Clone)]
pub(super) struct Reservation {
    pub(super) head: JobId,
    pub(super) at: Time,
    pub(super) placement: Placement,
}

/// A search for reservations and candidates. All implementations return the same results, but they
/// query the strategy differently.
pub(super) trait Search: Default + Send + Sync {
    /// Returns true if the strategy would place a job now.
    fn fits(&mut self, job: &Job, view: &mut MachineView<'_>) -> bool;

    /// Finds the earliest reservation before `limit` for which the strategy can place the head,
    /// given the running jobs' expected ends. Excludes nodes that are reserved in advance for any
    /// part of the head's run.
    ///
    /// Called with [`Time::MAX`] for the first reservation. Called again after each change to the
    /// machine that the scheduler did not cause, to look for an earlier reservation.
    fn earliest(
        &mut self,
        head: &Job,
        limit: Time,
        expected: &Expected<'_>,
        view: &mut MachineView<'_>,
    ) -> Option<Reservation>;

    /// Returns the oldest job behind the head that may start now. A job that would end by the
    /// reserved time may start wherever the strategy places it. Any other job may start only
    /// outside the reserved nodes.
    fn backfill(
        &mut self,
        now: Time,
        queue: &Queue,
        reservation: Option<&Reservation>,
        view: &mut MachineView<'_>,
    ) -> Option<Start>;
}

/// EASY with node reservations.
#[derive(Default)]
pub(super) struct Easy<S> {
    /// True if overruns by jobs that overtook the head do not postpone the head's promise.
    holds: bool,
    search: S,
    reservation: Option<Reservation>,
    /// The machine's state after the last decision. The state changes whenever a job ends.
    state: u64,
    promise: HeadPromise,
}

impl<S: Search> Scheduler for Easy<S> {
    fn next(
        &mut self,
        now: Time,
        queue: &Queue,
        running: &Running,
        view: &mut MachineView<'_>,
    ) -> Option<Start> {
        let head = queue.get(0)?;
        if self.promise.voided_by(view.health()) {
            self.reservation = None;
        }
        self.give_way(now, running, view);
        if let Some(start) = self.start_head(head, view) {
            self.promise.starts(head.id, now);
            self.reservation = None;
            return Some(start);
        }
        let expected = Expected::of(now, running).holding(self.holds.then_some(head));
        self.reserve(head, &expected, view);
        let reservation = self.reservation.as_ref();
        let start = self.search.backfill(now, queue, reservation, view)?;
        // Starting a job changes the state, but not the reservation.
        self.state = view.state() + 1;
        Some(start)
    }

    fn standing(&self, now: Time, queue: &Queue, _: &Machine) -> Option<Standing> {
        let head = queue.get(0)?;
        let reservation = self.reservation.as_ref().filter(|kept| kept.head == head.id);
        let reserved = reservation.map(|kept| Reserved {
            job: head.id,
            from: kept.at,
            to: kept.at.saturating_add(head.estimate),
            nodes: u64::from(kept.placement.nodes()),
            placement: Some(kept.placement.clone()),
        });
        Some(Standing::behind_head(now, queue, reserved, |_| false))
    }

    fn broken_guarantees(&self) -> u64 {
        self.promise.broken()
    }
}

impl<S: Search> Easy<S> {
    pub(super) fn new(holds: bool) -> Easy<S> {
        Easy { holds, ..Easy::default() }
    }

    /// Drops the reservation and voids the promise if a job that was granted nodes outside the
    /// queue is expected to hold a reserved node at the reserved time.
    fn give_way(&mut self, now: Time, running: &Running, view: &MachineView<'_>) {
        let Some(kept) = &self.reservation else { return };
        let machine = view.machine();
        let meets = |job: &JobId| {
            let runs_on = running.get(*job).is_some_and(|job| job.expected_end(now) > kept.at);
            let held = machine.placement(*job).filter(|_| runs_on);
            let parts = held.map_or(&[][..], Placement::parts);
            let mut reserved = kept.placement.parts().iter();
            reserved.any(|one| parts.iter().any(|part| part.intersects(machine.grid(), one)))
        };
        if view.granted().iter().any(meets) {
            self.reservation = None;
            self.promise.void();
        }
    }

    /// Starts the head where the strategy places it or, failing that, on its reserved nodes if all
    /// of them are free and available to it.
    fn start_head(&mut self, head: &Job, view: &mut MachineView<'_>) -> Option<Start> {
        if self.search.fits(head, view) {
            return Some(Start::at(0));
        }
        let kept = self.reservation.as_ref().filter(|kept| kept.head == head.id)?;
        let free = view.machine().free();
        let all_free = kept.placement.parts().iter().all(|part| free.is_free(part));
        let is_open = all_free && view.in_the_way(head, &kept.placement).is_none();
        is_open.then(|| Start::on(0, kept.placement.clone()))
    }

    /// Reserves nodes for the head. Keeps a valid reservation unless an earlier one is possible.
    fn reserve(&mut self, head: &Job, expected: &Expected<'_>, view: &mut MachineView<'_>) {
        let now = expected.now;
        let kept = self.reservation.take().filter(|kept| kept.head == head.id && kept.at > now);
        if kept.is_some() && self.state == view.state() {
            self.reservation = kept;
            return;
        }
        let limit = kept.as_ref().map_or(Time::MAX, |kept| kept.at);
        let earlier = self.search.earliest(head, limit, expected, view);
        let earlier = earlier.map(|one| Reservation { at: expected.reserved(one.at), ..one });
        self.reservation = earlier.or(kept);
        self.state = view.state();
        if let Some(reservation) = &self.reservation {
            self.promise.give(head.id, reservation.at);
        }
    }
}
