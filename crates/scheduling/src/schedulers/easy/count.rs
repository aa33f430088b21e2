//! EASY by count, in which the head's reservation is a number of nodes.
//!
//! The shadow time is the earliest time at which, according to expected ends, enough nodes are free
//! for the head. The extra nodes are those that are free at that time and that the head does not
//! need. Another job starts if it fits now and either ends by the shadow time or needs no more than
//! the extra nodes. If it ends later, the nodes it needs are no longer extra.
//!
//! Nodes that are reserved in advance for any part of the head's run do not count as free.

use pavior_allocation::Machine;
use pavior_kernel::Time;
use pavior_mesh::JobId;
use pavior_workload::Job;

use super::replay::release;
use crate::shared::ends::{Expected, Instant, instants};
use crate::shared::promise::HeadPromise;
use crate::shared::refused::Refused;
use crate::{Calendar, MachineView, Queue, Reserved, Running, Scheduler, Standing, Start};

#[derive(Default)]
pub(super) struct EasyByCount {
    /// True if overruns by jobs that overtook the head do not postpone the head's promise.
    holds: bool,
    promise: HeadPromise,
    refused: Refused,
    /// The head's reservation, as of the last decision.
    shadow: Option<Shadow>,
    /// The number of jobs skipped at the front of the queue. While `passed_in` and `withdrawals`
    /// stay the same, these jobs need not be examined again, even as time passes: the machine
    /// refused all jobs that could end by the shadow time, and starting later helps no other job.
    passed: usize,
    passed_in: Option<PassedIn>,
    /// The value of [`Queue::withdrawals`] when jobs were last skipped.
    withdrawals: u64,
}

/// The limits that the head's reservation imposes on other jobs.
#[derive(Clone, Copy)]
struct Shadow {
    head: JobId,
    at: Time,
    needed: u64,
    /// The number of nodes that are free at the shadow time and not needed by the head.
    extra: u64,
}

/// The state in which jobs were skipped.
#[derive(PartialEq, Eq)]
struct PassedIn {
    state: u64,
    head: JobId,
    /// The shadow time if it is in the future. `None` if it is the current time, that is, if enough
    /// nodes are free for the head but are too scattered.
    later: Option<Time>,
    extra: u64,
    /// The time at which the jobs were skipped, or zero without advance reservations.
    at: Time,
}

impl EasyByCount {
    pub(super) fn new(holds: bool) -> EasyByCount {
        EasyByCount { holds, ..EasyByCount::default() }
    }
}

impl Scheduler for EasyByCount {
    fn next(
        &mut self,
        now: Time,
        queue: &Queue,
        running: &Running,
        view: &mut MachineView<'_>,
    ) -> Option<Start> {
        let head = queue.get(0)?;
        // Node failures and grants outside the queue void the promise.
        self.promise.voided_in(view);
        let (state, moment) = view.moment();
        self.refused.in_state(state);
        if self.refused.can_start(head, view) {
            self.promise.starts(head.id, now);
            return Some(Start::at(0));
        }
        let expected = Expected::of(now, running).holding(self.holds.then_some(head));
        // Jobs started under the previous shadow are now running and count toward the new one.
        self.shadow = match view.calendar() {
            None => shadow(head, &expected, view.machine()),
            Some(calendar) => shadow_beside(head, &expected, view.machine(), calendar),
        };
        if let Some(shadow) = &mut self.shadow {
            shadow.at = expected.reserved(shadow.at);
        }
        if let Some(shadow) = self.shadow {
            self.promise.give(head.id, shadow.at);
        }
        // Without a shadow, all other jobs can start freely.
        let (at, extra) =
            self.shadow.map_or((Time::MAX, u64::MAX), |shadow| (shadow.at, shadow.extra));
        let later = Some(at).filter(|at| *at > now);
        let passed_in = Some(PassedIn { state, head: head.id, later, extra, at: moment });
        if self.passed_in != passed_in || self.withdrawals != queue.withdrawals() {
            (self.passed_in, self.passed) = (passed_in, 1);
            self.withdrawals = queue.withdrawals();
        }
        for index in self.passed..queue.len() {
            let job = queue.get(index)?;
            let ends_in_time = now.saturating_add(job.estimate) <= at;
            let may_start = ends_in_time || view.machine().needed(&job.request) <= extra;
            if may_start && self.refused.can_start(job, view) {
                return Some(Start::at(index));
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

/// Returns the shadow time and the extra nodes, or `None` if there are never enough free nodes.
fn shadow(head: &Job, expected: &Expected<'_>, machine: &Machine) -> Option<Shadow> {
    let needed = machine.needed(&head.request);
    let shadow = |at, free| Shadow { head: head.id, at, needed, extra: free - needed };
    let mut free = u64::from(machine.free().count());
    if free >= needed {
        return Some(shadow(expected.now, free));
    }
    let mut ends = expected.by_end();
    while let Some((at, ended)) = ends.next() {
        free += u64::from(machine.nodes_of(ended.job.id));
        let more = ends.peek().is_some_and(|(next, _)| *next == at);
        if free >= needed && !more {
            return Some(shadow(at, free));
        }
    }
    None
}

/// Works like [`shadow`], but takes advance reservations into account: a node counts only if it is
/// free at the shadow time and not reserved during the head's run. Takes O((r + R) R N/64) time for
/// r running jobs and R reservations.
fn shadow_beside(
    head: &Job,
    expected: &Expected<'_>,
    machine: &Machine,
    calendar: &Calendar,
) -> Option<Shadow> {
    let needed = machine.needed(&head.request);
    let (now, ends) = (expected.now, expected.by_end().collect::<Vec<_>>());
    let mut fork = machine.fork();
    let mut ended = 0;
    let present = Instant { at: now, ended };
    [present].into_iter().chain(instants(now, &ends, Some(calendar))).find_map(|instant| {
        release(&mut fork, &ends[ended..instant.ended], machine);
        ended = instant.ended;
        let mut open = fork.free().clone();
        calendar.keep_open(instant.at, head.estimate, &mut open);
        let extra = u64::from(open.count()).checked_sub(needed)?;
        Some(Shadow { head: head.id, at: instant.at, needed, extra })
    })
}
