//! Measured time of allocation attempts. The only place in the simulation that reads a clock; what
//! it reads never influences a run.

use std::time::Instant;

/// Sums measured times, less the clock's own overhead.
///
/// The overhead is calibrated when the watch is made: the least of many empty measurements, which is
/// what every measurement contains besides what it measures.
#[derive(Clone, Debug)]
pub struct Stopwatch {
    overhead_ns: u64,
    total_ns: u64,
    count: u64,
    began: Option<Instant>,
}

impl Default for Stopwatch {
    fn default() -> Self {
        Self::new()
    }
}

impl Stopwatch {
    /// A watch at zero, calibrated.
    pub fn new() -> Stopwatch {
        let empty = || Instant::now().elapsed().as_nanos() as u64;
        let overhead_ns = (0..200).map(|_| empty()).min().unwrap_or(0);
        Stopwatch { overhead_ns, total_ns: 0, count: 0, began: None }
    }

    /// A measurement begins.
    pub fn begin(&mut self) {
        self.began = Some(Instant::now());
    }

    /// It ends.
    pub fn end(&mut self) {
        if let Some(began) = self.began.take() {
            let elapsed = began.elapsed().as_nanos() as u64;
            self.total_ns += elapsed.saturating_sub(self.overhead_ns);
            self.count += 1;
        }
    }

    /// Back to zero.
    pub fn reset(&mut self) {
        (self.total_ns, self.count) = (0, 0);
    }

    /// The mean in nanoseconds; none if nothing was measured.
    pub fn mean_ns(&self) -> Option<f64> {
        (self.count > 0).then(|| self.total_ns as f64 / self.count as f64)
    }
}
