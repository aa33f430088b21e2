//! The head's reservation: the first nodes that it has as running jobs depart when expected.

use pavior_allocation::{Answers, Fork, Machine, Placement};
use pavior_kernel::Time;
use pavior_mesh::JobId;
use pavior_workload::Job;

use crate::shared::ends::by_expected_end;
use crate::{Running, RunningJob};

/// Nodes for the head, from a time on.
pub(super) struct Reservation {
    pub(super) head: JobId,
    pub(super) at: Time,
    pub(super) placement: Placement,
}

/// The first placement of the head, before `limit`, as running jobs depart when expected; and the
/// running jobs that are expected to stay until then or `limit`.
pub(super) fn replay(
    now: Time,
    head: &Job,
    running: &Running,
    machine: &Machine,
    limit: Time,
) -> (Option<Reservation>, Vec<JobId>) {
    let jobs: Vec<_> = by_expected_end(now, running).collect();
    let moments: Vec<_> = jobs.chunk_by(|(a, _), (b, _)| a == b).collect();
    let inside = moments.partition_point(|moment| moment[0].0 < limit);
    // Where too few nodes are free by count no strategy is asked.
    let needed = machine.needed(&head.request);
    let mut free = u64::from(machine.free().count());
    let few = moments[..inside].iter().take_while(|moment| {
        let held = |(_, gone): &(_, &RunningJob)| u64::from(machine.nodes_of(gone.job.id));
        free += moment.iter().map(held).sum::<u64>();
        free < needed
    });
    let mut from = few.count();
    let mut found = None;
    let mut until = inside;
    let answers = machine.answers(&head.request);
    if answers.are_monotone() {
        // What is refused at a moment was refused before. Where the head is granted by count, it is
        // asked for first where enough nodes are free, and need not be asked for again.
        let by_count = answers == Answers::Count;
        let mut probe = if by_count { from } else { inside.saturating_sub(1) };
        while from < until {
            match place_at(&moments[..=probe], head, machine) {
                Some(placement) => {
                    found = Some((probe, placement));
                    until = probe;
                }
                None => from = probe + 1,
            }
            probe = usize::midpoint(from, until);
        }
    } else {
        found = first_place(&moments[..inside], from, head, machine);
    }
    let until = found.as_ref().map_or(inside, |(moment, _)| *moment);
    let stay = moments[until..].iter().copied().flatten().map(|(_, job)| job.job.id).collect();
    let reserved = found.map(|(moment, placement)| Reservation {
        head: head.id,
        at: moments[moment][0].0,
        placement,
    });
    (reserved, stay)
}

/// Where the strategy puts the head when the jobs of these moments have departed.
fn place_at(
    moments: &[&[(Time, &RunningJob)]],
    head: &Job,
    machine: &Machine,
) -> Option<Placement> {
    let mut fork = machine.fork();
    for moment in moments {
        depart(&mut fork, moment, machine);
    }
    fork.find(&head.request).ok()
}

/// The first moment from one on at which the strategy places the head.
fn first_place(
    moments: &[&[(Time, &RunningJob)]],
    from: usize,
    head: &Job,
    machine: &Machine,
) -> Option<(usize, Placement)> {
    let mut fork = machine.fork();
    moments.iter().enumerate().find_map(|(index, moment)| {
        depart(&mut fork, moment, machine);
        (index >= from).then(|| fork.find(&head.request).ok()).flatten().map(|found| (index, found))
    })
}

/// Gives back what the jobs of a moment hold.
fn depart(fork: &mut Fork, moment: &[(Time, &RunningJob)], machine: &Machine) {
    for (_, gone) in moment {
        fork.give(machine.placement(gone.job.id).expect("a running job holds nodes"))
            .expect("the job held them");
    }
}
