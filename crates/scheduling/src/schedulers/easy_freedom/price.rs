//! The cost that one job's extra time imposes on all jobs.

use pavior_kernel::Time;

/// The time that a machine with two thirds of its nodes busy takes to make up for lost time, as a
/// multiple of the time lost: 1 / (1 - 2/3).
const RECOVERY: f64 = 3.0;

/// The parameters that determine the cost of extra time.
///
/// If n of N nodes are busy for an extra time t, every other job is delayed by t n / N until the
/// machine has caught up. This affects the jobs that are waiting now and the jobs that arrive
/// within `RECOVERY` times t.
#[derive(Clone, Copy, Debug)]
pub(super) struct Price {
    /// The number of nodes in the machine.
    pub(super) machine: u32,
    /// The number of other waiting jobs.
    pub(super) waiting: usize,
    /// The number of arrivals per unit of time.
    pub(super) rate: f64,
}

impl Price {
    /// Returns the total cost, to the job itself and to all others, if the job holds `nodes` nodes
    /// for an extra time of `added`.
    pub(super) fn of(self, nodes: u32, added: Time) -> Time {
        let longer = added.ticks();
        let share = f64::from(nodes) / f64::from(self.machine);
        let delayed = self.waiting as f64 + self.rate * RECOVERY * longer;
        added.saturating_add(Time((longer * share * delayed) as u64))
    }
}

/// The mean arrival rate, computed from the waiting and started jobs.
#[derive(Default)]
pub(super) struct Arrivals {
    first: Option<Time>,
    started: usize,
}

impl Arrivals {
    /// Records that a job has started.
    pub(super) fn start(&mut self) {
        self.started += 1;
    }

    /// Returns the number of jobs after the first, divided by the time since the first job arrived,
    /// or zero if no time has passed. `waiting` is the number of waiting jobs.
    pub(super) fn rate(&mut self, now: Time, waiting: usize) -> f64 {
        let elapsed = now.since(*self.first.get_or_insert(now)).ticks();
        let after_first = (self.started + waiting).saturating_sub(1) as f64;
        if elapsed > 0.0 { after_first / elapsed } else { 0.0 }
    }
}
