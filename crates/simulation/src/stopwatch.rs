//! A stopwatch for allocation attempts. No other library code reads a clock, and the readings never
//! affect results.
#![allow(clippy::disallowed_methods, reason = "the only clock of the libraries")]

use std::time::Instant;

/// The number of empty measurements taken to calibrate a stopwatch.
const EMPTY: usize = 1000;

/// A stopwatch that adds up measured times, excluding the overhead of the clock itself.
///
/// The overhead is the mean of the middle half of many empty measurements. It is determined when
/// the stopwatch is created, and it is subtracted from every measurement. With a coarse clock, a
/// short measurement may be off by one tick in either direction. Negative readings are kept so that
/// the mean over many readings is correct.
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
    /// Creates a calibrated stopwatch, set to zero.
    pub fn new() -> Stopwatch {
        let mut empty: Vec<u64> =
            (0..EMPTY).map(|_| Instant::now().elapsed().as_nanos() as u64).collect();
        empty.sort_unstable();
        let middle = &empty[EMPTY / 4..EMPTY * 3 / 4];
        let overhead_ns = middle.iter().sum::<u64>() as f64 / middle.len() as f64;
        Stopwatch { overhead_ns, total_ns: 0.0, count: 0, began: None }
    }

    /// Returns the overhead that is subtracted from each measurement, in nanoseconds.
    pub fn overhead_ns(&self) -> f64 {
        self.overhead_ns
    }

    /// Starts a measurement.
    pub fn begin(&mut self) {
        self.began = Some(Instant::now());
    }

    /// Ends a measurement. Returns its duration in nanoseconds, or 0 if none was in progress.
    pub fn end(&mut self) -> f64 {
        let Some(began) = self.began.take() else { return 0.0 };
        let measured = began.elapsed().as_nanos() as f64 - self.overhead_ns;
        self.total_ns += measured;
        self.count += 1;
        measured
    }

    /// Resets the stopwatch to zero.
    pub fn reset(&mut self) {
        (self.total_ns, self.count) = (0.0, 0);
    }

    /// Returns the mean of the measurements in nanoseconds, or `None` if there were none.
    pub fn mean_ns(&self) -> Option<f64> {
        (self.count > 0).then(|| (self.total_ns / self.count as f64).max(0.0))
    }
}
