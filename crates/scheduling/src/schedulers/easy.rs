//! EASY backfilling: the head is promised a start; others may go first if they do not break it.
//!
//! If the head fits it starts. If not, it is given a reservation, and the others are tried in the
//! order of arrival. There are two ways to reserve.
//!
//! `geometry` (the default): a reservation is a placement and a time. It is found by replaying the
//! estimated departures, in order, on a fork of the machine, until the strategy itself places the
//! head there. A candidate that ends by then may start wherever the strategy puts it; one that
//! would end later is placed by the strategy on a fork in which the reservation's free nodes are
//! taken. With exact estimates no head starts later than first promised, whatever the strategy,
//! because the reserved nodes are free at the reserved time and the head can always be put there.
//!
//! `count` is the classic rule, which looks at numbers of nodes alone: the shadow time is the
//! earliest at which, by estimated ends, the head fits by count; extra is what is free then, less
//! the head's; a candidate that fits now starts if it ends by the shadow time or needs at most the
//! extra nodes, which it then uses up. With a strategy that grants by count this keeps its
//! promises. With a contiguous one it does not: enough free nodes at the shadow time may be
//! scattered.
//!
//! ```text
//!   x  0 1 2 3 4 5    a ends at 4, b at 9. The head h asks for 3 in a row, the candidate c for 1
//!      a a . . b b    until 20. By count h fits at 4, with 1 to spare: c starts, first fit, at 2.
//!      . . c . b b    At 4 three are free, but h must wait for b. Geometry reserves 0 to 2 for h
//!      a a h c b b    at 4, and puts c at 3.
//! ```
//!
//! `tear=pays` decides for each job how free it is to be placed: see `easy/tearing.rs`.
//!
//! Departures from the rule as usually told. A reservation is kept until the head changes, a
//! departure gives it an earlier one, or its time passes in vain because a running job outran its
//! estimate (see `shared/ends.rs` for what is then expected). The head starts on reserved nodes as
//! soon as all of them are free, also before the reserved time. A head that would not fit even if
//! all jobs were gone (because nodes failed) has no reservation and delays no other. Promises do
//! not cover failures of nodes.
//!
//! Only the head is safe: others starve no longer than it takes them to become the head. Cost, when
//! the head changes or a job departs that was to run at the reserved time: O(log r) searches on
//! forks for r running jobs with a strategy that refuses on fewer nodes what it refuses on more,
//! else O(r) on one, after every departure; then O(q) look-ups for q waiting jobs, and a search for
//! each different request among them, on the machine or on a fork beside the reservation: see
//! `easy/guarded.rs`. An arrival in between costs O(log q).
//!
//! Source: Lifka, "The ANL/IBM SP scheduling system", JSSPP 1995; Mu'alem & Feitelson, IEEE TPDS
//! 12(6), 2001, for the rule by count. Reserving in space is ours.

mod guarded;
mod replay;
mod tearing;

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

use pavior_allocation::Machine;
use pavior_kernel::{OptionSpec, Time, Values};
use pavior_mesh::JobId;
use pavior_workload::Job;

use crate::shared::ends::by_expected_end;
use crate::shared::promise::HeadPromise;
use crate::shared::refused::Refused;
use crate::{
    BuildScheduler, Entry, MachineView, Queue, Reserved, Running, Scheduler, SchedulerKind,
    Standing, Start,
};
use guarded::Guarded;
use replay::{Reservation, replay};
use tearing::Tearing;

pub(crate) static ENTRY: Entry = Entry {
    name: "easy",
    title: "EASY backfilling",
    source: "Lifka 1995; Mu'alem & Feitelson 2001",
    options: &[
        OptionSpec {
            key: "reserve",
            values: Values::OneOf(&["geometry", "count"]),
            default: "geometry",
            meaning: "whether the head's reservation is nodes at a time, or a number of nodes",
            bare: true,
        },
        OptionSpec {
            key: "tear",
            values: Values::OneOf(&["asked", "pays"]),
            default: "asked",
            meaning: "whether jobs are as free to be placed as they ask, or as costs each the \
                      least predicted time, by reservations of nodes",
            bare: false,
        },
    ],
    variants: &["", "count", "tear=pays"],
    does: SchedulerKind {
        build: BuildScheduler::Function(|options| {
            match (options.get("tear"), options.get("reserve")) {
                ("pays", _) => Box::new(Tearing::default()),
                (_, "count") => Box::new(ByCount::default()),
                _ => Box::new(ByGeometry::default()),
            }
        }),
    },
};

/// Whether a scheduler weighs the messages of jobs: `easy:tear=pays`. Only of logs with a share of
/// communication is foretold what these take; elsewhere it tears as if there were none.
pub fn weighs_messages(selection: &crate::Selection) -> bool {
    selection.entry.name == ENTRY.name && selection.options.get("tear") == "pays"
}

#[derive(Default)]
struct ByGeometry {
    reservation: Option<Reservation>,
    /// The machine's state for which the reservation is the best known.
    state: u64,
    /// The jobs that were expected to run at the reserved time when it was found: with a strategy
    /// that refuses on fewer nodes what it refuses on more, no earlier time is found as long as all
    /// of them run.
    staying: Vec<JobId>,
    promise: HeadPromise,
    /// What was refused on the machine itself.
    refused: Refused,
    guarded: Guarded,
    passed: Passed,
    /// The jobs that had been withdrawn when these were passed.
    withdrawals: u64,
}

/// The candidates that need not be looked at again while state and reservation last: the oldest
/// `jobs`.
#[derive(Default)]
struct Passed {
    jobs: usize,
    /// Those among them that would have ended in time, each with the last time at which it would.
    /// After that it is to be asked about on other nodes.
    in_time: BinaryHeap<Reverse<(Time, usize)>>,
}

impl Passed {
    /// Takes out those that no longer end in time, the oldest first.
    fn take_late(&mut self, now: Time) -> Vec<usize> {
        let mut late = Vec::new();
        while let Some(first) = self.in_time.peek_mut().filter(|first| first.0.0 < now) {
            late.push(PeekMut::pop(first).0.1);
        }
        late.sort_unstable();
        late
    }
}

impl Scheduler for ByGeometry {
    fn next(
        &mut self,
        now: Time,
        queue: &Queue,
        running: &Running,
        view: &mut MachineView<'_>,
    ) -> Option<Start> {
        let head = queue.get(0)?;
        if self.promise.voided_by(view.machine().health()) {
            self.reservation = None;
        }
        self.refused.in_state(view.machine().state());
        let start = self.start_head(head, view);
        if start.is_some() {
            self.promise.starts(head.id, now);
            self.reservation = None;
            return start;
        }
        self.reserve(now, head, running, view.machine());
        if self.withdrawals != queue.withdrawals() {
            self.withdrawals = queue.withdrawals();
            self.passed = Passed::default();
        }
        let start = self.backfill(now, queue, running, view)?;
        // The start keeps the reservation as good as it is.
        self.state = view.machine().state() + 1;
        self.guarded.starts(queue.get(start.index)?.id);
        Some(start)
    }

    fn standing(&self, now: Time, queue: &Queue, _: &Machine) -> Option<Standing> {
        let head = queue.get(0)?;
        let reserved = self.reservation.as_ref().filter(|reserved| reserved.head == head.id);
        let reserved = reserved.map(|reserved| Reserved {
            job: head.id,
            from: reserved.at,
            to: reserved.at.saturating_add(head.estimate),
            nodes: u64::from(reserved.placement.nodes()),
            placement: Some(reserved.placement.clone()),
        });
        Some(Standing::behind_head(now, queue, reserved, |_| false))
    }

    fn broken_guarantees(&self) -> u64 {
        self.promise.broken()
    }
}

impl ByGeometry {
    /// Where the strategy puts it, or else on its reserved nodes.
    fn start_head(&mut self, head: &Job, view: &mut MachineView<'_>) -> Option<Start> {
        let ask = |request: &_| view.can_start(request).ok();
        if self.refused.ask(&head.request, ask).is_some() {
            return Some(Start::at(0));
        }
        let reserved = self.reservation.as_ref().filter(|reserved| reserved.head == head.id)?;
        let free = view.machine().free();
        let all_free = reserved.placement.parts().iter().all(|part| free.is_free(part));
        all_free.then(|| Start::on(0, reserved.placement.clone()))
    }

    /// Sees to it that the reservation is the head's, and the best known.
    fn reserve(&mut self, now: Time, head: &Job, running: &Running, machine: &Machine) {
        let kept = self.reservation.as_ref().filter(|old| old.head == head.id && old.at > now);
        if kept.is_some() && self.state == machine.state() {
            return;
        }
        let limit = kept.map_or(Time::MAX, |kept| kept.at);
        let all_stay = || self.staying.iter().all(|&job| machine.placement(job).is_some());
        if kept.is_none() || !machine.answers(&head.request).are_monotone() || !all_stay() {
            let (better, staying) = replay(now, head, running, machine, limit);
            if limit == Time::MAX || better.is_some() {
                self.reservation = better;
                self.guarded.forget();
            }
            self.staying = staying;
        }
        if let Some(reserved) = &self.reservation {
            self.promise.give(head.id, reserved.at);
        }
        self.state = machine.state();
        self.passed = Passed::default();
    }

    fn backfill(
        &mut self,
        now: Time,
        queue: &Queue,
        running: &Running,
        view: &mut MachineView<'_>,
    ) -> Option<Start> {
        let limit = self.reservation.as_ref().map_or(Time::MAX, |reserved| reserved.at);
        let late = self.passed.take_late(now);
        let new = self.passed.jobs.max(1)..queue.len();
        for index in late.into_iter().chain(new) {
            let job = queue.get(index)?;
            let start = if now.saturating_add(job.estimate) <= limit {
                self.passed.in_time.push(Reverse((limit - job.estimate, index)));
                let ask = |request: &_| view.can_start(request).ok();
                self.refused.ask(&job.request, ask).map(|()| Start::at(index))
            } else {
                let reserved = &self.reservation.as_ref()?.placement;
                let placement = self.guarded.place(&job.request, reserved, running, view);
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

#[derive(Default)]
struct ByCount {
    promise: HeadPromise,
    refused: Refused,
    /// The machine's state, the head, and its shadow: while they last, the oldest `passed` jobs
    /// need not be looked at again. One that no longer ends by the shadow time was refused in this
    /// state. A shadow time of now, where enough nodes are free for the head but scattered, moves
    /// on with the time.
    same: Option<(u64, JobId, Option<Time>, u64)>,
    passed: usize,
    /// The jobs that had been withdrawn when these were passed.
    withdrawals: u64,
    /// The head's reservation, as of the last question.
    shadow: Option<Shadow>,
}

/// A number of nodes for the head, from a time on.
#[derive(Clone, Copy)]
struct Shadow {
    head: JobId,
    at: Time,
    needed: u64,
    /// What is free then beside them.
    extra: u64,
}

impl Scheduler for ByCount {
    fn next(
        &mut self,
        now: Time,
        queue: &Queue,
        running: &Running,
        view: &mut MachineView<'_>,
    ) -> Option<Start> {
        let head = queue.get(0)?;
        self.promise.voided_by(view.machine().health());
        self.refused.in_state(view.machine().state());
        let ask = |request: &_| view.can_start(request).ok();
        if self.refused.ask(&head.request, ask).is_some() {
            self.promise.starts(head.id, now);
            return Some(Start::at(0));
        }
        let shadow = shadow(now, head, running, view.machine());
        if let Some(shadow) = shadow {
            self.promise.give(head.id, shadow.at);
        }
        self.shadow = shadow;
        // What a backfilled job uses up shows in the next shadow: it is then running.
        let (at, extra) = shadow.map_or((Time::MAX, u64::MAX), |shadow| (shadow.at, shadow.extra));
        let later = Some(at).filter(|at| *at > now);
        let same = Some((view.machine().state(), head.id, later, extra));
        if self.same != same || self.withdrawals != queue.withdrawals() {
            (self.same, self.passed) = (same, 1);
            self.withdrawals = queue.withdrawals();
        }
        for index in self.passed..queue.len() {
            let job = queue.get(index)?;
            let ends_in_time = now.saturating_add(job.estimate) <= at;
            if ends_in_time || view.machine().needed(&job.request) <= extra {
                let ask = |request: &_| view.can_start(request).ok();
                if self.refused.ask(&job.request, ask).is_some() {
                    return Some(Start::at(index));
                }
            }
            self.passed = index + 1;
        }
        None
    }

    fn standing(&self, now: Time, queue: &Queue, machine: &Machine) -> Option<Standing> {
        let head = queue.get(0)?;
        let shadow = self.shadow.filter(|shadow| shadow.head == head.id);
        let reserved = shadow.map(|shadow| Reserved {
            job: head.id,
            from: shadow.at,
            to: shadow.at.saturating_add(head.estimate),
            nodes: shadow.needed,
            placement: None,
        });
        let extra = shadow.map_or(u64::MAX, |shadow| shadow.extra);
        let leaves_enough = |job: &Job| machine.needed(&job.request) <= extra;
        Some(Standing::behind_head(now, queue, reserved, leaves_enough))
    }

    fn broken_guarantees(&self) -> u64 {
        self.promise.broken()
    }
}

/// When the head fits by count, and how many nodes are left over then.
fn shadow(now: Time, head: &Job, running: &Running, machine: &Machine) -> Option<Shadow> {
    let needed = machine.needed(&head.request);
    let shadow = |at, free| Shadow { head: head.id, at, needed, extra: free - needed };
    let mut free = u64::from(machine.free().count());
    if free >= needed {
        return Some(shadow(now, free));
    }
    let mut ends = by_expected_end(now, running);
    while let Some((at, gone)) = ends.next() {
        free += u64::from(machine.nodes_of(gone.job.id));
        let more = ends.peek().is_some_and(|(next, _)| *next == at);
        if free >= needed && !more {
            return Some(shadow(at, free));
        }
    }
    None
}
