//! EASY that chooses for each job how free it is to be placed: `tear=pays`.
//!
//! A job can wait for the box that it asks for, or start sooner on nodes that the box is torn into,
//! which takes it longer if it communicates. For each level of freedom, from `box` to the job's own
//! or else `any`, its cost is the time until something that the level allows is free, as the
//! estimated ends are replayed on a fork, and the predicted time t that the job takes longer there
//! ([`MachineView::added_time`]), for itself and for others: n nodes of N that are busy for t
//! longer delay each job by t n / N until the machine has made up for it. These are the q others
//! that wait, and those that come within 3 t: so long takes a machine of which two thirds are in
//! use. If a jobs come in a unit of time, t counts t (1 + (q + 3 a t) n / N). The least cost
//! decides; of equal ones the earliest start, then the least freedom.
//!
//! - The head starts if now is the cheapest. If not, the nodes of the cheapest way are reserved
//!   from its time on. The reservation is kept until the head changes, its time passes in vain, or
//!   another way, no later, costs less.
//! - Another job may start beside the reservation, or anywhere if it is predicted to end by the
//!   reserved time. Of what is so allowed, its cheapest way is looked for as the head's is, and it
//!   starts if that is now.
//!
//! ```text
//!   x  0 1 2 3 4 5    a ends at 4, b at 9. h asks for 4 in a row for 10, and takes half as long
//!      a a . b . .    again on two pieces. Torn it starts at 4, for 4 + 5; in a row it starts
//!      h h h b . h    at 9, for 9: torn is not dearer, and earlier. If it took twice as long
//!                     torn, it would wait.
//! ```
//!
//! No head starts later than first promised as long as estimates, with what tearing adds, are not
//! too short. Cost: as `easy`, but each level asks its own question; a job that could start now at
//! a cost replays the ends up to that cost.

use pavior_allocation::{Fork, Machine, Placement};
use pavior_kernel::Time;
use pavior_mesh::{JobId, Request};
use pavior_workload::Job;
use rustc_hash::FxHashMap;

use super::guarded::Guarded;
use crate::shared::arrivals::Arrivals;
use crate::shared::ends::by_expected_end;
use crate::shared::promise::HeadPromise;
use crate::shared::ways::{Moment, Price, Way, Ways};
use crate::{MachineView, Queue, Running, Scheduler, Start};

/// What was answered in one state.
type Answers = FxHashMap<Request, Option<Placement>>;

#[derive(Default)]
pub(super) struct Tearing {
    /// Nodes for the head, from a time on.
    reservation: Option<(JobId, Way)>,
    promise: HeadPromise,
    /// The machine's state that the answers are of, and in which the reservation is the best known.
    state: Option<u64>,
    here: Answers,
    /// What is left beside the reservation.
    guarded: Guarded,
    /// The oldest jobs, so many, that were passed over in this state beside this reservation. With
    /// time waiting gets cheaper; that fewer come than before is not looked at until the state
    /// changes.
    passed: usize,
    /// The jobs that had been withdrawn when these were passed.
    withdrawals: u64,
    arrivals: Arrivals,
}

impl Scheduler for Tearing {
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
        let state = Some(view.machine().state());
        let changed = self.state != state;
        if changed {
            self.state = state;
            self.here.clear();
            self.replan();
        }
        if self.withdrawals != queue.withdrawals() {
            self.withdrawals = queue.withdrawals();
            self.passed = 0;
        }
        let price = Price {
            machine: view.machine().grid().nodes(),
            waiting: queue.len() - 1,
            rate: self.arrivals.rate(now, queue.len()),
        };
        if let Some(start) = self.start_head(now, head, price, changed, running, view) {
            self.arrivals.start();
            self.promise.starts(head.id, now);
            self.reservation = None;
            return Some(start);
        }
        let start = self.backfill(now, queue, price, running, view);
        if let Some(start) = &start {
            self.arrivals.start();
            self.guarded.starts(queue.get(start.index)?.id);
            // The start keeps the reservation as good as it is; what is refused stays refused on
            // fewer nodes.
            self.state = Some(view.machine().state() + 1);
            self.here.retain(|_, answer| answer.is_none());
        }
        start
    }

    fn broken_guarantees(&self) -> u64 {
        self.promise.broken()
    }
}

impl Tearing {
    /// What depends on the reservation is to be looked at again.
    fn replan(&mut self) {
        self.guarded.forget();
        self.passed = 0;
    }

    /// Starts the head if now is the cheapest for it, or sees to it that it has the best
    /// reservation known.
    fn start_head(
        &mut self,
        now: Time,
        head: &Job,
        price: Price,
        changed: bool,
        running: &Running,
        view: &mut MachineView<'_>,
    ) -> Option<Start> {
        let kept = self.reservation.take().filter(|(job, _)| *job == head.id).map(|(_, way)| way);
        if let Some(kept) = kept.as_ref().filter(|kept| !changed && kept.at > now) {
            // While nothing changes, waiting gets cheaper.
            self.reservation = Some((head.id, kept.clone()));
            return None;
        }
        let mut ways = Ways::new(now, head, price);
        let mut present =
            Present { view, job: head, by: Time::MAX, on: On::Machine(&mut self.here) };
        ways.look(now, &mut present);
        let mut limit = Time::MAX;
        if let Some(kept) = kept {
            let free = view.machine().free();
            if kept.placement.parts().iter().all(|part| free.is_free(part)) {
                ways.offer(Way { at: now, ..kept.clone() });
                // It could start as promised. Though time costs more when more jobs wait, nothing
                // later will do.
                limit = now;
            }
            if kept.at > now {
                limit = kept.at;
                ways.offer(kept);
            }
        }
        if !ways.is_settled(now) {
            let later = Later::new(view.machine(), None, Time::MAX);
            replay(&mut ways, now, head, limit, running, view, later);
        }
        let best = ways.into_best();
        if let Some(way) = best.as_ref().filter(|way| way.at == now) {
            return Some(Start::on(0, way.placement.clone()));
        }
        if let Some(way) = best {
            self.promise.give(head.id, way.at);
            self.reservation = Some((head.id, way));
        }
        self.replan();
        None
    }

    fn backfill(
        &mut self,
        now: Time,
        queue: &Queue,
        price: Price,
        running: &Running,
        view: &mut MachineView<'_>,
    ) -> Option<Start> {
        for index in self.passed.max(1)..queue.len() {
            let job = queue.get(index)?;
            if let Some(placement) = self.candidate(now, job, price, running, view) {
                self.passed = index;
                return Some(Start::on(index, placement));
            }
            self.passed = index + 1;
        }
        None
    }

    /// Where a job starts now, if that is the cheapest for it.
    fn candidate(
        &mut self,
        now: Time,
        job: &Job,
        price: Price,
        running: &Running,
        view: &mut MachineView<'_>,
    ) -> Option<Placement> {
        let reserved = self.reservation.as_ref().map(|(_, way)| way);
        let by = reserved.map_or(Time::MAX, |way| way.at);
        let mut ways = Ways::new(now, job, price);
        let mut beside = None;
        if now.saturating_add(job.estimate) <= by {
            let on = On::Machine(&mut self.here);
            ways.look(now, &mut Present { view, job, by: by.since(now), on });
        }
        if ways.best().is_none() {
            let reserved = &reserved?.placement;
            let on = On::Beside(&mut self.guarded, reserved, running);
            ways.look(now, &mut Present { view, job, by: Time::MAX, on });
            beside = Some(reserved.clone());
        }
        let best = ways.best()?;
        if !ways.is_settled(now) {
            let limit = now.saturating_add(ways.cost(best));
            let by = if beside.is_some() { Time::MAX } else { by };
            let later = Later::new(view.machine(), beside, by);
            replay(&mut ways, now, job, limit, running, view, later);
        }
        ways.into_best().filter(|way| way.at == now).map(|way| way.placement)
    }
}

/// Looks at the moments before `limit` at which running jobs are expected to depart.
fn replay(
    ways: &mut Ways,
    now: Time,
    job: &Job,
    limit: Time,
    running: &Running,
    view: &mut MachineView<'_>,
    mut later: Later,
) {
    let jobs: Vec<_> = by_expected_end(now, running).collect();
    for together in jobs.chunk_by(|(a, _), (b, _)| a == b) {
        // What ends at this instant ends after the scheduler was asked.
        let at = together[0].0.max(now.saturating_add(Time(1)));
        if at >= limit || ways.is_settled(at) {
            return;
        }
        for (_, gone) in together {
            later.give(view.machine(), gone.job.id);
        }
        ways.look(at, &mut Then { at, later: &mut later, view, job });
    }
}

/// The present, in which every question is an attempt.
struct Present<'v, 'm, 'a> {
    view: &'v mut MachineView<'m>,
    job: &'a Job,
    /// How long the job may take.
    by: Time,
    on: On<'a>,
}

/// Where it is asked.
enum On<'a> {
    /// With what was answered before.
    Machine(&'a mut Answers),
    /// With what is reserved, and what runs.
    Beside(&'a mut Guarded, &'a Placement, &'a Running),
}

impl Moment for Present<'_, '_, '_> {
    fn place(&mut self, request: &Request) -> Option<Placement> {
        let view = &mut *self.view;
        match &mut self.on {
            On::Machine(known) => {
                known.entry(*request).or_insert_with(|| view.place(request).ok()).clone()
            }
            On::Beside(guarded, reserved, running) => {
                guarded.place(request, reserved, running, view)
            }
        }
    }

    fn added(&mut self, placement: &Placement) -> Option<Time> {
        let added = self.view.added_time(self.job, placement);
        Some(added).filter(|added| self.job.estimate.saturating_add(*added) <= self.by)
    }
}

/// What will be free later, as jobs depart.
struct Later {
    fork: Fork,
    /// Nodes that stay taken.
    reserved: Option<Placement>,
    /// When the job must have ended.
    by: Time,
}

impl Later {
    fn new(machine: &Machine, reserved: Option<Placement>, by: Time) -> Later {
        let mut fork = machine.fork();
        if let Some(reserved) = &reserved {
            fork.take_free(reserved);
        }
        Later { fork, reserved, by }
    }

    fn give(&mut self, machine: &Machine, job: JobId) {
        let held = machine.placement(job).expect("a running job holds nodes");
        self.fork.give(held).expect("the job held them");
        if let Some(reserved) = &self.reserved {
            self.fork.take_free(reserved);
        }
    }
}

/// A moment to come.
struct Then<'v, 'm, 'a> {
    at: Time,
    later: &'v mut Later,
    view: &'v mut MachineView<'m>,
    job: &'a Job,
}

impl Moment for Then<'_, '_, '_> {
    fn place(&mut self, request: &Request) -> Option<Placement> {
        self.later.fork.find(request).ok()
    }

    fn added(&mut self, placement: &Placement) -> Option<Time> {
        let added = self.view.added_time(self.job, placement);
        let end = self.at.saturating_add(self.job.estimate).saturating_add(added);
        Some(added).filter(|_| end <= self.later.by)
    }
}
