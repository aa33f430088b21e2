//! The error of a mean over the jobs in one run, estimated by the moving block bootstrap.
//!
//! The waits of successive jobs are correlated, so the ordinary standard error is far too small,
//! and a log cannot be replicated. The moving block bootstrap (Künsch, Annals of Statistics 17(3),
//! 1989) therefore draws blocks of consecutive jobs with replacement until a sample has as many
//! jobs as the run. The error is estimated from the spread of the sample means.
//!
//! Each block is as long as the square root of the number of jobs, and 999 samples are drawn. The
//! error is half the distance between the 2.5th and 97.5th percentiles of the sample means. Every
//! run makes the same draws. Cost: O(jobs log jobs), plus 999 times the number of blocks.

use pavior_kernel::{Stream, Time};
use pavior_mesh::JobId;
use pavior_workload::Job;

use super::{Context, Metric};
use crate::{Fact, Interest, Observer};

const SAMPLES: u64 = 999;
/// The indices of the interval's ends among the sorted sample means.
const ENDS: [usize; 2] = [24, 974];
/// The minimum number of jobs needed to estimate correlation.
const FEWEST: usize = 100;

/// A time for each completed job, for example its wait, and the error of the mean time.
pub(super) struct BlockError {
    context: Context,
    /// A function that takes a job, its start and its end, and returns the time to average.
    time: fn(&Job, Time, Time) -> Time,
    /// Each job's arrival time and id, and the time to average.
    times: Vec<((Time, JobId), f64)>,
}

impl BlockError {
    pub(super) fn of(context: &Context, time: fn(&Job, Time, Time) -> Time) -> Box<dyn Metric> {
        Box::new(BlockError { context: *context, time, times: Vec::new() })
    }
}

impl Observer for BlockError {
    fn interest(&self) -> Interest {
        Interest::DEPARTURES
    }

    fn see(&mut self, now: Time, fact: &Fact<'_>) {
        match fact {
            Fact::CountingStarts => self.times.clear(),
            Fact::Departed { job, start, .. } => {
                let time = (self.time)(job, *start, now);
                self.times.push(((job.arrival, job.id), self.context.time.units(time)));
            }
            _ => {}
        }
    }
}

impl Metric for BlockError {
    fn value(&self) -> Option<f64> {
        let mut times = self.times.clone();
        times.sort_unstable_by_key(|&(arrived, _)| arrived);
        half_width(times.iter().map(|&(_, time)| time))
    }
}

/// Returns the half-width of the 95% interval for the mean of successive values, or `None` if there
/// are fewer than 100 values.
fn half_width(values: impl ExactSizeIterator<Item = f64>) -> Option<f64> {
    let count = values.len();
    if count < FEWEST {
        return None;
    }
    let mut sums = vec![0.0];
    sums.extend(values.scan(0.0, |sum, value| {
        *sum += value;
        Some(*sum)
    }));
    let length = count.isqrt();
    let blocks = count.div_ceil(length);
    let mut draw = Stream::new(1, 0, "block-bootstrap");
    let mut means: Vec<f64> = (0..SAMPLES)
        .map(|_| {
            let block = |_| {
                let first = draw.below((count - length + 1) as u64) as usize;
                sums[first + length] - sums[first]
            };
            let total: f64 = (0..blocks).map(block).sum();
            total / (blocks * length) as f64
        })
        .collect();
    means.sort_unstable_by(f64::total_cmp);
    let [low, high] = ENDS.map(|at| means[at]);
    Some((high - low) / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_values_have_no_error_and_few_have_none_that_is_known() {
        assert_eq!(half_width(std::iter::repeat_n(7.0, 500)), Some(0.0));
        assert_eq!(half_width(std::iter::repeat_n(7.0, 99)), None);
    }

    /// Checks that, for independent values, the interval is that of a normal distribution, with
    /// 1.96 standard errors on each side.
    #[test]
    fn independent_values_have_the_error_of_the_normal_law() {
        let mut draw = Stream::new(3, 0, "values");
        let values: Vec<f64> = (0..10_000).map(|_| draw.unit()).collect();
        let expected = 1.96 * (1.0_f64 / 12.0).sqrt() / 100.0;
        let found = half_width(values.into_iter()).unwrap();
        assert!((found / expected - 1.0).abs() < 0.15, "{found} for {expected}");
    }

    /// Each value occurs a hundred times in a row, so only one in a hundred is independent. The
    /// error should be ten times as large, minus the part that blocks of 100 cannot capture.
    #[test]
    fn values_that_depend_on_each_other_have_a_greater_one() {
        let mut draw = Stream::new(3, 0, "values");
        let distinct: Vec<f64> = (0..100).map(|_| draw.unit()).collect();
        let values: Vec<f64> = (0..10_000).map(|at| distinct[at / 100]).collect();
        let independent = 1.96 * (1.0_f64 / 12.0).sqrt() / 100.0;
        let found = half_width(values.into_iter()).unwrap() / independent;
        assert!((6.0..11.0).contains(&found), "{found}");
    }
}
