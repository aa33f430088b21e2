//! EASY's fast search, which caches answers and queries the strategy only when it must.
//!
//! - The earliest reservation is found by bisection if the strategy allows it (`replay.rs`).
//! - A single fork represents the machine with the reserved nodes taken (`shared/beside.rs`).
//!
//! ```text
//!   cached                                   until
//!   refused requests                         the machine changes
//!   skipped candidates                       the machine or the reservation changes, a job is
//!                                            withdrawn, or time passes while nodes are reserved
//!                                            in advance
//!   the machine before the reserved time     a job that was to run at that time ends, and the head
//!                                            fits on its nodes; a new search follows
//!   the fork with the reserved nodes taken   the reservation changes
//! ```
//!
//! Invariant: a skipped job could not start now.
//!
//! Cost: O(log r) searches for a reservation, or O(r) if answers are not monotone. Checking a
//! candidate that was refused before takes O(1). Any other candidate requires a search.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

use pavior_kernel::Time;
use pavior_workload::Job;

use super::eve::Eve;
use super::replay::replay;
use super::rule::{Reservation, Search};
use crate::shared::beside::BesideReservation;
use crate::shared::ends::Expected;
use crate::shared::refused::Refused;
use crate::{MachineView, Queue, Start};

#[derive(Default)]
pub(super) struct Fast {
    /// The requests refused by the machine.
    refused: Refused,
    beside: BesideReservation,
    /// The machine just before the reserved time, if answers are monotone.
    eve: Option<Eve>,
    passed: Passed,
}

/// The candidates skipped since the machine or the reservation last changed.
#[derive(Default)]
struct Passed {
    /// The number of skipped jobs at the front of the queue.
    jobs: usize,
    /// Jobs that were tried on the whole machine because they would have ended by the reserved
    /// time. Each entry contains the latest start time at which the job would still end by the
    /// reserved time, and the job's index. Once that start time has passed, the job must be tried
    /// on the unreserved nodes only.
    in_time: BinaryHeap<Reverse<(Time, usize)>>,
    /// The value of [`Queue::withdrawals`] when jobs were last skipped. Withdrawals change indices.
    withdrawals: u64,
    /// The time at which the jobs were skipped, or zero without advance reservations.
    at: Time,
}

impl Passed {
    /// Removes and returns the indices of the jobs that can no longer end by the reserved time,
    /// oldest first.
    fn take_late(&mut self, now: Time) -> Vec<usize> {
        let mut late = Vec::new();
        while let Some(first) = self.in_time.peek_mut().filter(|first| first.0.0 < now) {
            late.push(PeekMut::pop(first).0.1);
        }
        late.sort_unstable();
        late
    }
}

impl Search for Fast {
    fn fits(&mut self, job: &Job, view: &mut MachineView<'_>) -> bool {
        self.refused.in_state(view.state());
        self.refused.can_start(job, view)
    }

    fn earliest(
        &mut self,
        head: &Job,
        limit: Time,
        expected: &Expected<'_>,
        view: &mut MachineView<'_>,
    ) -> Option<Reservation> {
        self.passed = Passed::default();
        view.remember_changes();
        let machine = view.machine();
        let is_first = limit == Time::MAX;
        // With advance reservations, the head may fit on freed nodes before they are reserved.
        let is_known = view.calendar().is_none() && machine.answers(&head.request).are_monotone();
        let mut eve = self.eve.take().filter(|_| is_known && !is_first);
        if eve.as_mut().is_some_and(|eve| eve.refuses(head, limit, expected, machine)) {
            self.eve = eve;
            return None;
        }
        let (found, before) = replay(head, expected, view, limit);
        self.eve =
            before.filter(|_| is_known).map(|fork| Eve::new(fork, expected.running(), machine));
        if is_first || found.is_some() {
            self.beside.forget();
        }
        found
    }

    fn backfill(
        &mut self,
        now: Time,
        queue: &Queue,
        reservation: Option<&Reservation>,
        view: &mut MachineView<'_>,
    ) -> Option<Start> {
        let withdrawals = queue.withdrawals();
        let (_, at) = view.moment();
        if (self.passed.withdrawals, self.passed.at) != (withdrawals, at) {
            self.passed = Passed { withdrawals, at, ..Passed::default() };
        }
        let reserved_from = reservation.map_or(Time::MAX, |reservation| reservation.at);
        // First try the jobs that are now late, and then the jobs not yet examined.
        let late = self.passed.take_late(now);
        let new = self.passed.jobs.max(1)..queue.len();
        for index in late.into_iter().chain(new) {
            let job = queue.get(index)?;
            let start = if now.saturating_add(job.estimate) <= reserved_from {
                self.passed.in_time.push(Reverse((reserved_from - job.estimate, index)));
                self.refused.can_start(job, view).then(|| Start::at(index))
            } else {
                let reserved = &reservation?.placement;
                let placement = self.beside.place(job, reserved, view);
                placement.map(|placement| Start::on(index, placement))
            };
            if start.is_some() {
                self.passed = Passed::default();
                return start;
            }
            self.passed.jobs = self.passed.jobs.max(index + 1);
        }
        None
    }
}
