//! The head's earliest reservation, found in few questions.

use pavior_allocation::{Answers, Fork, Machine, Placement};
use pavior_kernel::Time;
use pavior_mesh::JobId;
use pavior_workload::Job;

use super::rule::Reservation;
use crate::shared::ends::by_expected_end;
use crate::{Running, RunningJob};

/// Running jobs that are expected to end at one time, with that time.
type EndsTogether<'a> = [(Time, &'a RunningJob)];

/// The head's earliest reservation before `limit`; and the running jobs that are expected to run
/// until then, or else until `limit`.
///
/// Times at which too few nodes are free by count are left out. If the strategy refuses on fewer
/// nodes whatever it refuses on more, the others are bisected, with a fork for each question.
/// Otherwise each time is tried in turn, on one fork.
pub(super) fn replay(
    now: Time,
    head: &Job,
    running: &Running,
    machine: &Machine,
    limit: Time,
) -> (Option<Reservation>, Vec<JobId>) {
    let jobs: Vec<_> = by_expected_end(now, running).collect();
    let times: Vec<&EndsTogether<'_>> = jobs.chunk_by(|(a, _), (b, _)| a == b).collect();
    let inside = times.partition_point(|ends| ends[0].0 < limit);
    let first = first_by_count(&times[..inside], head, machine);
    let answers = machine.answers(&head.request);
    let found = if answers.are_monotone() {
        // A head that is granted by count is granted at the first of these times.
        let probe = if answers == Answers::Count { first } else { inside.saturating_sub(1) };
        bisect(&times[..inside], first, probe, head, machine)
    } else {
        try_each(&times[..inside], first, head, machine)
    };
    let until = found.as_ref().map_or(inside, |(time, _)| *time);
    let staying = times[until..].iter().copied().flatten().map(|(_, job)| job.job.id).collect();
    let reservation = found.map(|(time, placement)| Reservation {
        head: head.id,
        at: times[time][0].0,
        placement,
    });
    (reservation, staying)
}

/// The first time at which enough nodes for the head are free by count.
fn first_by_count(times: &[&EndsTogether<'_>], head: &Job, machine: &Machine) -> usize {
    let needed = machine.needed(&head.request);
    let mut free = u64::from(machine.free().count());
    let too_few = times.iter().take_while(|ends| {
        let held = |(_, ended): &(_, &RunningJob)| u64::from(machine.nodes_of(ended.job.id));
        free += ends.iter().map(held).sum::<u64>();
        free < needed
    });
    too_few.count()
}

/// The first time, from `first` on, at which the strategy places the head. `probe` is tried before
/// the others.
fn bisect(
    times: &[&EndsTogether<'_>],
    first: usize,
    mut probe: usize,
    head: &Job,
    machine: &Machine,
) -> Option<(usize, Placement)> {
    let (mut first, mut end) = (first, times.len());
    let mut found = None;
    while first < end {
        let mut fork = machine.fork();
        for ends in &times[..=probe] {
            release(&mut fork, ends, machine);
        }
        match fork.find(&head.request) {
            Ok(placement) => {
                found = Some((probe, placement));
                end = probe;
            }
            Err(_) => first = probe + 1,
        }
        probe = usize::midpoint(first, end);
    }
    found
}

/// As [`bisect`], one time after the other.
fn try_each(
    times: &[&EndsTogether<'_>],
    first: usize,
    head: &Job,
    machine: &Machine,
) -> Option<(usize, Placement)> {
    let mut fork = machine.fork();
    times.iter().enumerate().find_map(|(time, ends)| {
        release(&mut fork, ends, machine);
        let found = if time < first { None } else { fork.find(&head.request).ok() };
        found.map(|placement| (time, placement))
    })
}

/// Gives back the nodes of jobs that end.
pub(super) fn release(fork: &mut Fork, ends: &EndsTogether<'_>, machine: &Machine) {
    for (_, ended) in ends {
        fork.give(machine.placement(ended.job.id).expect("a running job holds nodes"))
            .expect("the job held them");
    }
}
