//! The head's earliest reservation, found in few questions.
//!
//! Times at which too few nodes are free by count are left out. If the strategy refuses on fewer
//! nodes whatever it refuses on more, the others are bisected, with a fork for each question.
//! Otherwise each time is tried in turn, on one fork.
//!
//! Nodes that are reserved ahead are taken if the head would reach into the reservation. So times
//! are searched in stretches in which the head meets the same reservations: within one of them,
//! free nodes only grow.

use pavior_allocation::{Answers, Fork, Machine, Placement};
use pavior_kernel::Time;
use pavior_mesh::JobId;
use pavior_workload::Job;

use super::rule::Reservation;
use crate::shared::ends::{End, Instant, by_expected_end, instants};
use crate::{AdvanceReservation, MachineView, Running};

/// The head's earliest reservation before `limit`; and the running jobs that are expected to run
/// until then, or else until `limit`.
pub(super) fn replay(
    now: Time,
    head: &Job,
    running: &Running,
    view: &MachineView<'_>,
    limit: Time,
) -> (Option<Reservation>, Vec<JobId>) {
    let machine = view.machine();
    let jobs: Vec<_> = by_expected_end(now, running).collect();
    let times = instants(now, &jobs, view.calendar());
    let inside = &times[..times.partition_point(|time| time.at < limit)];
    let first = first_by_count(inside, &jobs, head, machine);
    let found = match view.calendar() {
        None => Stretch { jobs: &jobs, head, machine, reserved: None }.search(inside, first),
        Some(calendar) => {
            let meets = |at| calendar.met(at, head.estimate).map(AdvanceReservation::number);
            let alike = |a: &Instant, b: &Instant| meets(a.at).eq(meets(b.at));
            inside[first..].chunk_by(alike).find_map(|times| {
                let reserved = calendar.reserved(times[0].at, head.estimate);
                Stretch { jobs: &jobs, head, machine, reserved }.search(times, 0)
            })
        }
    };
    let before_limit = || jobs.partition_point(|end| end.0 < limit);
    let ended = found
        .as_ref()
        .map_or_else(before_limit, |(time, _)| jobs.partition_point(|end| end.0 < time.at));
    let staying = jobs[ended..].iter().map(|(_, job)| job.job.id).collect();
    let reservation =
        found.map(|(time, placement)| Reservation { head: head.id, at: time.at, placement });
    (reservation, staying)
}

/// The first time at which enough nodes for the head are free by count.
fn first_by_count(times: &[Instant], jobs: &[End<'_>], head: &Job, machine: &Machine) -> usize {
    let needed = machine.needed(&head.request);
    let mut free = u64::from(machine.free().count());
    let mut counted = 0;
    let too_few = times.iter().take_while(|time| {
        let held = |(_, ended): &End<'_>| u64::from(machine.nodes_of(ended.job.id));
        free += jobs[counted..time.ended].iter().map(held).sum::<u64>();
        counted = time.ended;
        free < needed
    });
    too_few.count()
}

/// A stretch of time in which the head meets the same reservations ahead.
struct Stretch<'a> {
    jobs: &'a [End<'a>],
    head: &'a Job,
    machine: &'a Machine,
    /// What is reserved ahead for some time of the head's run.
    reserved: Option<Placement>,
}

impl Stretch<'_> {
    /// The first time, from `first` on, at which the strategy places the head.
    fn search(&self, times: &[Instant], first: usize) -> Option<(Instant, Placement)> {
        let answers = self.machine.answers(&self.head.request);
        if !answers.are_monotone() {
            return self.try_each(times, first);
        }
        // A head that is granted by count is granted at the first of these times, if nothing is
        // reserved ahead.
        let by_count = answers == Answers::Count && self.reserved.is_none();
        let probe = if by_count { first } else { times.len().saturating_sub(1) };
        self.bisect(times, first, probe)
    }

    /// The nodes that are free once so many jobs have ended. The fork is without what is reserved.
    fn fork(&self, ended: usize) -> Fork {
        let mut fork = self.machine.fork();
        release(&mut fork, &self.jobs[..ended], self.machine);
        fork
    }

    /// Where the strategy places the head, which is placed beside what is reserved.
    fn find(&self, mut fork: Fork) -> Option<Placement> {
        if let Some(reserved) = &self.reserved {
            fork.take_free(reserved);
        }
        fork.find(&self.head.request).ok()
    }

    /// By bisection; `probe` is tried before the others.
    fn bisect(
        &self,
        times: &[Instant],
        first: usize,
        mut probe: usize,
    ) -> Option<(Instant, Placement)> {
        let (mut first, mut end) = (first, times.len());
        let mut found = None;
        while first < end {
            match self.find(self.fork(times[probe].ended)) {
                Some(placement) => {
                    found = Some((times[probe], placement));
                    end = probe;
                }
                None => first = probe + 1,
            }
            probe = usize::midpoint(first, end);
        }
        found
    }

    /// One time after the other.
    fn try_each(&self, times: &[Instant], first: usize) -> Option<(Instant, Placement)> {
        if self.reserved.is_some() {
            let mut later = times[first..].iter();
            return later.find_map(|time| Some((*time, self.find(self.fork(time.ended))?)));
        }
        let mut fork = self.machine.fork();
        let mut ended = 0;
        times.iter().enumerate().find_map(|(index, time)| {
            release(&mut fork, &self.jobs[ended..time.ended], self.machine);
            ended = time.ended;
            let found = if index < first { None } else { fork.find(&self.head.request).ok() };
            found.map(|placement| (*time, placement))
        })
    }
}

/// Gives back the nodes of jobs that end.
pub(super) fn release(fork: &mut Fork, ends: &[End<'_>], machine: &Machine) {
    for (_, ended) in ends {
        fork.give(machine.placement(ended.job.id).expect("a running job holds nodes"))
            .expect("the job held them");
    }
}
