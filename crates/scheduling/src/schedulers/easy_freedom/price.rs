//! What it costs all jobs that one of them takes longer.

use pavior_kernel::Time;

/// How long a machine of which two thirds are in use takes to make up for lost time, as a multiple
/// of that time: 1 / (1 - 2/3).
const RECOVERY: f64 = 3.0;

/// The price of added time.
///
/// If n of N nodes are busy for t longer, each other job is delayed by t n / N until the machine
/// has made up for it. These jobs are the ones that wait, and those that arrive within
/// `RECOVERY` times t.
#[derive(Clone, Copy, Debug)]
pub(super) struct Price {
    /// The nodes of the machine.
    pub(super) machine: u32,
    /// The number of other jobs that wait.
    pub(super) waiting: usize,
    /// Jobs that arrive in a unit of time.
    pub(super) rate: f64,
}

impl Price {
    /// What it costs the job itself and all others that it holds so many nodes for longer.
    pub(super) fn of(self, nodes: u32, added: Time) -> Time {
        let longer = added.ticks();
        let share = f64::from(nodes) / f64::from(self.machine);
        let delayed = self.waiting as f64 + self.rate * RECOVERY * longer;
        added.saturating_add(Time((longer * share * delayed) as u64))
    }
}

/// The mean rate of arrivals, as a scheduler sees it: it counts the jobs that wait, and those that
/// it has started.
#[derive(Default)]
pub(super) struct Arrivals {
    first: Option<Time>,
    started: usize,
}

impl Arrivals {
    /// Notes that a job starts.
    pub(super) fn start(&mut self) {
        self.started += 1;
    }

    /// The jobs after the first over the time since the first, while so many jobs wait. Zero at the
    /// first job's own time.
    pub(super) fn rate(&mut self, now: Time, waiting: usize) -> f64 {
        let elapsed = now.since(*self.first.get_or_insert(now)).ticks();
        let after_first = (self.started + waiting).saturating_sub(1) as f64;
        if elapsed > 0.0 { after_first / elapsed } else { 0.0 }
    }
}
