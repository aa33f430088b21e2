//! A search for the head's earliest reservation that makes few queries.
//!
//! Times with too few free nodes are skipped. If answers are monotone (a request that is refused is
//! also refused with fewer free nodes), the remaining times are bisected. If answers depend only on
//! the free nodes, a single fork moves between these times; otherwise, each query uses a new fork.
//! Without bisection, each time is tried in turn on one fork.
//!
//! If the head would overlap an advance reservation, the reserved nodes count as taken. The times
//! are therefore searched in intervals during which the head overlaps the same reservations. Within
//! each of these intervals, the free nodes only increase.

use pavior_allocation::{Answers, Fork, Machine, Placement};
use pavior_kernel::Time;
use pavior_workload::Job;

use super::rule::Reservation;
use crate::shared::ends::{End, Expected, Instant, instants};
use crate::{AdvanceReservation, MachineView};

/// Finds the head's earliest reservation before `limit`. If there are no advance reservations, also
/// returns a fork as of just before the reservation (or `limit`). In this fork, every job that is
/// expected to end earlier has ended.
pub(super) fn replay(
    head: &Job,
    expected: &Expected<'_>,
    view: &MachineView<'_>,
    limit: Time,
) -> (Option<Reservation>, Option<Fork>) {
    let machine = view.machine();
    let jobs: Vec<_> = expected.by_end().collect();
    let times = instants(expected.now, &jobs, view.calendar());
    let inside = &times[..times.partition_point(|time| time.at < limit)];
    let first = first_by_count(inside, &jobs, head, machine);
    let mut walk = Walk::new(&jobs, machine);
    let (found, eve) = match view.calendar() {
        None => {
            let found = Stretch { head, reserved: None }.search(&mut walk, inside, first);
            let end = found.as_ref().map_or(inside.len(), |(index, _)| *index);
            let before = end.checked_sub(1).map_or(0, |last| inside[last].ended);
            walk.go_to(before);
            (found.map(|(index, placement)| (inside[index], placement)), Some(walk.fork))
        }
        Some(calendar) => {
            let meets = |at| calendar.met(at, head.estimate).map(AdvanceReservation::number);
            let alike = |a: &Instant, b: &Instant| meets(a.at).eq(meets(b.at));
            let found = inside[first..].chunk_by(alike).find_map(|times| {
                let reserved = calendar.reserved(times[0].at, head.estimate);
                let found = Stretch { head, reserved }.search(&mut walk, times, 0)?;
                Some((times[found.0], found.1))
            });
            (found, None)
        }
    };
    let reservation =
        found.map(|(time, placement)| Reservation { head: head.id, at: time.at, placement });
    (reservation, eve)
}

/// Returns the index of the first time at which enough nodes are free for the head.
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

/// A fork of the machine in which running jobs can be ended in order and later restored.
struct Walk<'a> {
    jobs: &'a [End<'a>],
    machine: &'a Machine,
    fork: Fork,
    /// The number of jobs that have ended.
    ended: usize,
    /// True if the fork has been queried, in which case a new fork might answer differently.
    was_asked: bool,
    /// True if the nodes reserved in advance are permanently marked as taken on the fork.
    is_reserved: bool,
}

impl<'a> Walk<'a> {
    fn new(jobs: &'a [End<'a>], machine: &'a Machine) -> Walk<'a> {
        Walk { jobs, machine, fork: machine.fork(), ended: 0, was_asked: false, is_reserved: false }
    }

    /// Moves to the state after the first `ended` jobs have ended. Uses a new fork if answers
    /// depend on more than the free nodes.
    fn go_to(&mut self, ended: usize) {
        let is_other = self.was_asked && !self.machine.is_determined();
        if self.is_reserved || is_other || (ended < self.ended && !self.go_back(ended)) {
            *self = Walk::new(self.jobs, self.machine);
        }
        release(&mut self.fork, &self.jobs[self.ended..ended], self.machine);
        self.ended = ended;
    }

    /// Restores jobs that have ended. Returns false if failed nodes make this impossible.
    fn go_back(&mut self, ended: usize) -> bool {
        let taken = self.jobs[ended..self.ended].iter().all(|(_, job)| {
            let held = self.machine.placement(job.job.id);
            held.is_some_and(|held| self.fork.take(held).is_ok())
        });
        self.ended = ended;
        taken
    }
}

/// An interval of start times at which the head overlaps the same advance reservations.
struct Stretch<'a> {
    head: &'a Job,
    /// The nodes reserved at some time during the head's run.
    reserved: Option<Placement>,
}

impl Stretch<'_> {
    /// Returns the index of the first time, starting at `first`, at which the strategy can place
    /// the head, along with the placement.
    fn search(
        &self,
        walk: &mut Walk<'_>,
        times: &[Instant],
        first: usize,
    ) -> Option<(usize, Placement)> {
        let answers = walk.machine.answers(&self.head.request);
        if !answers.are_monotone() {
            return self.try_each(walk, times, first);
        }
        // Without advance reservations, a head that is granted by count fits as soon as enough
        // nodes are free.
        let by_count = answers == Answers::Count && self.reserved.is_none();
        let probe = if by_count { first } else { usize::midpoint(first, times.len()) };
        self.bisect(walk, times, first, probe)
    }

    /// Returns the strategy's placement for the head, avoiding advance reservations.
    fn find(&self, walk: &mut Walk<'_>, time: &Instant) -> Option<Placement> {
        walk.go_to(time.ended);
        if let Some(reserved) = &self.reserved {
            walk.fork.take_free(reserved);
            walk.is_reserved = true;
        }
        walk.was_asked = true;
        walk.fork.find(&self.head.request).ok()
    }

    /// Searches by bisection, trying `probe` first.
    fn bisect(
        &self,
        walk: &mut Walk<'_>,
        times: &[Instant],
        first: usize,
        mut probe: usize,
    ) -> Option<(usize, Placement)> {
        let (mut first, mut end) = (first, times.len());
        let mut found = None;
        while first < end {
            match self.find(walk, &times[probe]) {
                Some(placement) => {
                    found = Some((probe, placement));
                    end = probe;
                }
                None => first = probe + 1,
            }
            probe = usize::midpoint(first, end);
        }
        found
    }

    /// Tries the times one by one. Uses a single fork if there are no advance reservations.
    fn try_each(
        &self,
        walk: &mut Walk<'_>,
        times: &[Instant],
        first: usize,
    ) -> Option<(usize, Placement)> {
        (first..times.len()).find_map(|index| {
            walk.was_asked = false;
            Some((index, self.find(walk, &times[index])?))
        })
    }
}

/// Releases the nodes of jobs that have ended.
pub(super) fn release(fork: &mut Fork, ends: &[End<'_>], machine: &Machine) {
    for (_, ended) in ends {
        fork.give(machine.placement(ended.job.id).expect("a running job holds nodes"))
            .expect("the job held them");
    }
}
