//! Measured time of allocation attempts. The only place that reads a clock; what it reads never
//! influences a result.

use std::time::Instant;

/// Empty measurements that calibrate a watch.
const EMPTY: usize = 1000;

/// Sums measured times, less the clock's own overhead.
///
/// The overhead is calibrated when the watch is made: the mean of the middle half of many empty
/// measurements, which is what every measurement contains besides what it measures. A clock that
/// ticks every ten nanoseconds reads short times as one tick too many or too few. Readings below 0
/// are kept as they are, so that the mean of many is right.
#[derive(Clone, Debug)]
pub struct Stopwatch {
    overhead_ns: f64,
    total_ns: f64,
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
        let mut empty: Vec<u64> =
            (0..EMPTY).map(|_| Instant::now().elapsed().as_nanos() as u64).collect();
        empty.sort_unstable();
        let middle = &empty[EMPTY / 4..EMPTY * 3 / 4];
        let overhead_ns = middle.iter().sum::<u64>() as f64 / middle.len() as f64;
        Stopwatch { overhead_ns, total_ns: 0.0, count: 0, began: None }
    }

    /// What is taken off each measurement, in nanoseconds.
    pub fn overhead_ns(&self) -> f64 {
        self.overhead_ns
    }

    /// A measurement begins.
    pub fn begin(&mut self) {
        self.began = Some(Instant::now());
    }

    /// It ends. Returns what was measured, in nanoseconds; 0 if nothing had begun.
    pub fn end(&mut self) -> f64 {
        let Some(began) = self.began.take() else { return 0.0 };
        let measured = began.elapsed().as_nanos() as f64 - self.overhead_ns;
        self.total_ns += measured;
        self.count += 1;
        measured
    }

    /// Back to zero.
    pub fn reset(&mut self) {
        (self.total_ns, self.count) = (0.0, 0);
    }

    /// The mean in nanoseconds; none if nothing was measured.
    pub fn mean_ns(&self) -> Option<f64> {
        (self.count > 0).then(|| (self.total_ns / self.count as f64).max(0.0))
    }
}
