//! EASY backfilling that also chooses each job's freedom, that is, how far its nodes may differ
//! from the requested box.
//!
//! A job can wait for its box, or start sooner on other nodes, where it takes longer if it
//! communicates. Each level of freedom, from `box` to the job's own level (by default `any`), has a
//! cost, which is the sum of two times:
//!
//! - the time until a placement at this level is free, found by replaying the running jobs'
//!   expected ends on a fork, and
//! - the cost, to all jobs, of the extra time t that the job is predicted to take with this
//!   placement ([`MachineView::added_time`]). For q other waiting jobs, `a` arrivals per unit of
//!   time, and a job with n of N nodes, this cost is t (1 + (q + 3 a t) n / N) (`price.rs`).
//!
//! The scheduler chooses the level with the lowest cost. Ties go to the earliest start, then to the
//! tightest level.
//!
//! 1. The head starts if its cheapest option is to start now. Otherwise, that option's nodes are
//!    reserved from its start time on. The reservation lasts until the head changes, until the
//!    reserved time passes and the head has not started, or until an option that is no later costs
//!    less.
//! 2. The other jobs are tried in order of arrival. A job may start outside the reservation or, if
//!    it is predicted to end by the reserved time, anywhere. It starts if its cheapest option is to
//!    start now.
//!
//! ```text
//!   x  0 1 2 3 4 5    a ends at 4, b at 9. h requests 4 in a row for 10, and takes 50% longer in
//!      a a . b . .    two pieces. In two, it can start at 4, which costs 4 + 5; in a row, it can
//!      h h h b . h    start at 9, which costs 9. Ties go to the earlier start, so it starts at 4.
//! ```
//!
//! A job's cheapest option is found in `start_options.rs`. If estimates, including the extra time,
//! are never too short, no head starts later than first promised. Run times are predicted only for
//! logs that specify a communication share. Without predictions, there is no extra time, and no
//! job waits for its box.
//!
//! Cost: as for `easy`, but with a separate query for each level. If a job could start now but with
//! extra time, the expected ends are replayed until waiting would cost as much as starting now.
//!
//! Source: this project.

mod price;
mod start_options;

use pavior_allocation::{Fork, Machine, Placement};
use pavior_kernel::Time;
use pavior_mesh::{JobId, Request};
use pavior_workload::Job;
use rustc_hash::FxHashMap;

use crate::shared::beside::BesideReservation;
use crate::shared::ends::{Expected, instants};
use crate::shared::promise::HeadPromise;
use crate::{
    BuildScheduler, Entry, MachineView, Queue, Reach, Running, Scheduler, SchedulerKind, Start,
};
use price::{Arrivals, Price};
use start_options::{MachineAt, StartOption, StartOptions};

pub(crate) static ENTRY: Entry = Entry {
    name: "easy-freedom",
    title: "EASY backfilling with per-job freedom",
    source: "",
    options: &[],
    variants: &[""],
    does: SchedulerKind { build: BuildScheduler::Function(|_| Box::new(EasyFreedom::default())) },
};

/// Returns true if a scheduler takes communication times into account. Only `easy-freedom` does.
/// Even then, communication times are predicted only for logs that specify a communication share.
pub fn weighs_messages(selection: &crate::Selection) -> bool {
    selection.entry.name == ENTRY.name
}

/// Cached answers for one state of the machine, by request and reach.
type Answers = FxHashMap<(Request, Reach), Option<Placement>>;

#[derive(Default)]
struct EasyFreedom {
    /// The head's id, and the option reserved for it.
    reservation: Option<(JobId, StartOption)>,
    promise: HeadPromise,
    /// The machine state for which `answers` and the reservation are valid.
    state: Option<u64>,
    answers: Answers,
    beside: BesideReservation,
    /// The number of jobs skipped at the front of the queue in this state and with this
    /// reservation. Time alone does not let these jobs start, because waiting only gets cheaper. A
    /// lower arrival rate could let them start, but it is applied only when the state changes.
    passed: usize,
    /// The value of [`Queue::withdrawals`] when jobs were last skipped.
    withdrawals: u64,
    /// The time at which jobs were last skipped, or zero without advance reservations.
    at: Time,
    arrivals: Arrivals,
}

impl Scheduler for EasyFreedom {
    fn next(
        &mut self,
        now: Time,
        queue: &Queue,
        running: &Running,
        view: &mut MachineView<'_>,
    ) -> Option<Start> {
        let head = queue.get(0)?;
        if self.promise.voided_in(view) {
            self.reservation = None;
        }
        let (state, at) = view.moment();
        let state = Some(state);
        let changed = self.state != state;
        if changed {
            self.state = state;
            self.answers.clear();
            self.forget_candidates();
        }
        if (self.withdrawals, self.at) != (queue.withdrawals(), at) {
            (self.withdrawals, self.at) = (queue.withdrawals(), at);
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
        if start.is_some() {
            self.arrivals.start();
            // Starting a job changes the state but not the reservation. With fewer free nodes,
            // refused requests stay refused.
            self.state = Some(view.state() + 1);
            self.answers.retain(|_, answer| answer.is_none());
        }
        start
    }

    fn broken_guarantees(&self) -> u64 {
        self.promise.broken()
    }
}

impl EasyFreedom {
    /// Clears the cached results for jobs behind the head.
    fn forget_candidates(&mut self) {
        self.beside.forget();
        self.passed = 0;
    }

    /// Starts the head if starting now is its cheapest option; otherwise, reserves that option.
    fn start_head(
        &mut self,
        now: Time,
        head: &Job,
        price: Price,
        changed: bool,
        running: &Running,
        view: &mut MachineView<'_>,
    ) -> Option<Start> {
        let kept = self.reservation.take().filter(|(job, _)| *job == head.id);
        let kept = kept.map(|(_, option)| option);
        if let Some(kept) = kept.as_ref().filter(|kept| !changed && kept.at > now) {
            // If only time has passed, waiting has only become cheaper.
            self.reservation = Some((head.id, kept.clone()));
            return None;
        }
        let mut options = StartOptions::new(now, head, price);
        let on = Nodes::Free(&mut self.answers);
        options.consider(now, &mut MachineNow { view, job: head, longest: Time::MAX, on });
        let mut limit = Time::MAX;
        if let Some(kept) = kept {
            let free = view.machine().free();
            let all_free = kept.placement.parts().iter().all(|part| free.is_free(part));
            if all_free && view.in_the_way(head, &kept.placement).is_none() {
                options.add(StartOption { at: now, ..kept.clone() });
                // The head can start as promised, so later times are not considered, even if extra
                // time costs more now because more jobs are waiting.
                limit = now;
            }
            if kept.at > now {
                limit = kept.at;
                options.add(kept);
            }
        }
        if !options.is_decided(now) {
            let later = LaterNodes::new(view.machine(), None, Time::MAX);
            replay(&mut options, now, head, limit, running, view, later);
        }
        let best = options.into_best();
        if let Some(option) = best.as_ref().filter(|option| option.at == now) {
            return Some(Start::on(0, option.placement.clone()));
        }
        if let Some(option) = best {
            self.promise.give(head.id, option.at);
            self.reservation = Some((head.id, option));
        }
        self.forget_candidates();
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

    /// Returns the nodes for a job behind the head, if starting now is its cheapest option.
    fn candidate(
        &mut self,
        now: Time,
        job: &Job,
        price: Price,
        running: &Running,
        view: &mut MachineView<'_>,
    ) -> Option<Placement> {
        let reserved = self.reservation.as_ref().map(|(_, option)| option);
        let reserved_from = reserved.map_or(Time::MAX, |option| option.at);
        let mut options = StartOptions::new(now, job, price);
        let mut beside = None;
        if now.saturating_add(job.estimate) <= reserved_from {
            let on = Nodes::Free(&mut self.answers);
            let longest = reserved_from.since(now);
            options.consider(now, &mut MachineNow { view, job, longest, on });
        }
        if options.best().is_none() {
            let reserved = &reserved?.placement;
            let on = Nodes::Unreserved(&mut self.beside, reserved);
            options.consider(now, &mut MachineNow { view, job, longest: Time::MAX, on });
            beside = Some(reserved.clone());
        }
        let best = options.best()?;
        if !options.is_decided(now) {
            let limit = now.saturating_add(options.cost(best));
            let end_by = if beside.is_some() { Time::MAX } else { reserved_from };
            let later = LaterNodes::new(view.machine(), beside.as_ref(), end_by);
            replay(&mut options, now, job, limit, running, view, later);
        }
        let best = options.into_best().filter(|option| option.at == now);
        best.map(|option| option.placement)
    }
}

/// Considers each time before `limit` at which a running job or an advance reservation is expected
/// to end.
fn replay(
    options: &mut StartOptions,
    now: Time,
    job: &Job,
    limit: Time,
    running: &Running,
    view: &mut MachineView<'_>,
    mut nodes: LaterNodes,
) {
    let jobs: Vec<_> = Expected::of(now, running).by_end().collect();
    let mut given = 0;
    for instant in instants(now, &jobs, view.calendar()) {
        // Jobs that are expected to end now will end only after the scheduler has been called.
        let at = instant.at.max(now.saturating_add(Time(1)));
        if at >= limit || options.is_decided(at) {
            return;
        }
        for (_, ended) in &jobs[given..instant.ended] {
            nodes.give(view.machine(), ended.job.id);
        }
        given = instant.ended;
        options.consider(at, &mut MachineLater { at, nodes: &mut nodes, view, job });
    }
}

/// The current machine. Every query counts as an attempt.
struct MachineNow<'v, 'm, 'a> {
    view: &'v mut MachineView<'m>,
    job: &'a Job,
    /// The maximum run time, including any extra time.
    longest: Time,
    on: Nodes<'a>,
}

/// The nodes on which a job may start now.
enum Nodes<'a> {
    /// All free nodes, with cached answers.
    Free(&'a mut Answers),
    /// The free unreserved nodes, with the reservation.
    Unreserved(&'a mut BesideReservation, &'a Placement),
}

impl MachineAt for MachineNow<'_, '_, '_> {
    fn place(&mut self, request: &Request) -> Option<Placement> {
        let view = &mut *self.view;
        let job = Job { request: *request, ..self.job.clone() };
        match &mut self.on {
            Nodes::Free(known) => {
                let answer = known.entry((*request, view.reach(&job)));
                answer.or_insert_with(|| view.place(&job).ok()).clone()
            }
            Nodes::Unreserved(beside, reserved) => beside.place(&job, reserved, view),
        }
    }

    fn added_time(&mut self, placement: &Placement) -> Option<Time> {
        let added = self.view.added_time(self.job, placement);
        Some(added).filter(|added| self.job.estimate.saturating_add(*added) <= self.longest)
    }
}

/// The nodes that are expected to be free once some running jobs have ended.
struct LaterNodes {
    /// A fork in which reserved nodes stay taken.
    fork: Fork,
    /// The time by which the job must have ended.
    end_by: Time,
}

impl LaterNodes {
    fn new(machine: &Machine, reserved: Option<&Placement>, end_by: Time) -> LaterNodes {
        let mut fork = machine.fork();
        if let Some(reserved) = reserved {
            fork.take_free(reserved);
        }
        LaterNodes { fork, end_by }
    }

    fn give(&mut self, machine: &Machine, job: JobId) {
        let held = machine.placement(job).expect("a running job holds nodes");
        self.fork.give(held).expect("the job held them");
    }
}

/// The machine at some later time.
struct MachineLater<'v, 'm, 'a> {
    at: Time,
    nodes: &'v mut LaterNodes,
    view: &'v mut MachineView<'m>,
    job: &'a Job,
}

impl MachineAt for MachineLater<'_, '_, '_> {
    fn place(&mut self, request: &Request) -> Option<Placement> {
        let fork = &mut self.nodes.fork;
        let Some(calendar) = self.view.calendar() else { return fork.find(request).ok() };
        let mut open = fork.free().clone();
        calendar.keep_open(self.at, self.job.estimate, &mut open);
        fork.find_within(&open, request).ok()
    }

    fn added_time(&mut self, placement: &Placement) -> Option<Time> {
        let added = self.view.added_time(self.job, placement);
        let end = self.at.saturating_add(self.job.estimate).saturating_add(added);
        Some(added).filter(|_| end <= self.nodes.end_by)
    }
}
