//! How often jobs arrive.

use pavior_kernel::Time;

/// The mean rate of arrivals, as a scheduler sees them: it counts the jobs that wait and those that
/// it starts.
#[derive(Default)]
pub(crate) struct Arrivals {
    first: Option<Time>,
    started: usize,
}

impl Arrivals {
    /// A job has been started, which waits no longer.
    pub(crate) fn start(&mut self) {
        self.started += 1;
    }

    /// Jobs behind the first over the time since it came, per unit of time, while so many jobs
    /// wait; zero at that moment.
    pub(crate) fn rate(&mut self, now: Time, waiting: usize) -> f64 {
        let elapsed = now.since(*self.first.get_or_insert(now)).ticks();
        let behind = (self.started + waiting).saturating_sub(1) as f64;
        if elapsed > 0.0 { behind / elapsed } else { 0.0 }
    }
}
