//! The paired circular block bootstrap, which computes a confidence interval for the difference in
//! turnaround between two runs.
//!
//! The waits of successive jobs are correlated, and so are the differences between their waits in
//! two runs. The block bootstrap (Kunsch 1989) preserves this dependence by drawing whole blocks of
//! neighboring jobs. The jobs, in order of submission, form a circle (Politis and Romano 1992), so
//! that every job is equally likely to be drawn. Because the drawn values are per-job differences
//! between the two runs, effects common to both runs cancel.
//!
//! The block length is computed from the differences by the rule of Politis and White (2004), as
//! corrected by Patton, Politis and White (2009). This length minimizes the mean squared error of
//! the estimated variance of the mean. It is proportional to the cube root of the number of jobs,
//! and grows with the range over which jobs depend on each other. For n jobs, it is at least the
//! cube root of n, and at most the smaller of n / 3 and three times the square root of n.
//!
//! The half-width is the distance from the mean within which 95% of the drawn means lie (the
//! symmetric interval of Hall 1988). Blocks vary less around the mean of all jobs than around the
//! true mean. For independent jobs, the variance of a drawn mean is therefore too small by a factor
//! of exactly 1 - block/jobs; the half-width is corrected for this.

use pavior::Stream;
use pavior::experiments::advice::Change;

/// The confidence level of each interval.
const LEVEL: f64 = 0.95;
/// The number of resamples per interval. The 1,900th of 1,999 distances is the 95% quantile.
const RESAMPLES: usize = 1999;
/// The minimum number of jobs. The dependence between fewer jobs cannot be estimated.
const FEWEST: usize = 300;
/// The seed for all intervals. With a common seed, equal differences always have equal intervals.
const SEED: u64 = 1;

/// Returns the amount by which the mean of `other` exceeds that of `present`, given values for the
/// same jobs in order of submission. Returns `None` if there are no jobs, and no interval if there
/// are fewer than 300. Takes O(resamples x jobs / block) time, about 1 ms for 400 jobs.
pub(super) fn change(other: &[f64], present: &[f64]) -> Option<Change> {
    let pairs = other.iter().zip(present);
    let mut differences: Vec<f64> = pairs.map(|(other, present)| other - present).collect();
    let jobs = differences.len();
    let difference = differences.iter().sum::<f64>() / jobs as f64;
    for own in &mut differences {
        *own -= difference;
    }
    let half_width = (jobs >= FEWEST).then(|| half_width(&differences));
    (jobs > 0).then_some(Change { difference, half_width })
}

/// Returns the half-width of the interval for a mean, given the deviations from that mean.
fn half_width(values: &[f64]) -> f64 {
    let jobs = values.len();
    let block = block(values);
    // The cumulative sums cover the circle twice, so every block is a contiguous range.
    let mut sums = vec![0.0];
    let mut sum = 0.0;
    sums.extend(values.iter().chain(values).map(|value| {
        sum += value;
        sum
    }));
    let mut draw = Stream::new(SEED, 0, "bootstrap");
    let mut distance = |_: usize| {
        let (mut left, mut total) = (jobs, 0.0);
        while left > 0 {
            let (first, length) = (draw.below(jobs as u64) as usize, block.min(left));
            total += sums[first + length] - sums[first];
            left -= length;
        }
        f64::abs(total / jobs as f64)
    };
    let mut distances: Vec<f64> = (0..RESAMPLES).map(&mut distance).collect();
    let rank = (LEVEL * (RESAMPLES + 1) as f64) as usize - 1;
    let (_, &mut kept, _) = distances.select_nth_unstable_by(rank, f64::total_cmp);
    kept * (jobs as f64 / (jobs - block) as f64).sqrt()
}

/// Returns the number of jobs per block, given values whose mean is 0.
fn block(values: &[f64]) -> usize {
    let jobs = values.len() as f64;
    let least = libm::cbrt(jobs).ceil();
    let most = (3.0 * jobs.sqrt()).min(jobs / 3.0).ceil();
    // After this many consecutive small correlations, all later ones are also assumed to be small.
    let quiet = (libm::log10(jobs).sqrt().ceil() as usize).max(5);
    let far = jobs.sqrt().ceil() as usize + quiet;
    let product = |lag: usize| {
        let pairs = values.iter().zip(&values[lag..]);
        pairs.map(|(one, other)| one * other).sum::<f64>() / jobs
    };
    let products: Vec<f64> = (0..=far + quiet).map(product).collect();
    let small = 2.0 * (libm::log10(jobs) / jobs).sqrt() * products[0];
    let is_small = |lag: usize| products[lag].abs() <= small;
    let reach = (0..=far).find(|reach| (1..=quiet).all(|more| is_small(reach + more)));
    let last = || (1..=far).rev().find(|&lag| !is_small(lag));
    let window = (2 * reach.or_else(last).unwrap_or(1).max(1)).min(far);
    // The flat-top window is 1 over its first half and then falls linearly to 0.
    let weight = |lag: usize| (2.0 * (1.0 - lag as f64 / window as f64)).min(1.0);
    let sum = |of: &dyn Fn(usize) -> f64| -> f64 {
        (1..=window).map(|lag| 2.0 * weight(lag) * products[lag] * of(lag)).sum()
    };
    let spectrum = products[0] + sum(&|_| 1.0);
    let slope = sum(&|lag| lag as f64);
    let wanted = libm::cbrt(1.5 * (slope / spectrum) * (slope / spectrum) * jobs).ceil();
    // If all values are equal, any block length will do.
    if wanted.is_finite() { wanted.max(least).min(most) as usize } else { least as usize }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a zero-mean autoregressive sequence: `kept` times the previous value, plus noise.
    fn sequence(seed: u64, kept: f64, count: usize) -> Vec<f64> {
        let mut draw = Stream::new(seed, 0, "sequence");
        let mut last = 0.0;
        let mut next = |_: usize| {
            // The sum of twelve uniform values is nearly normal.
            let new: f64 = (0..12).map(|_| draw.unit()).sum::<f64>() - 6.0;
            last = kept * last + new;
            last
        };
        (0..count + 200).map(&mut next).skip(200).collect()
    }

    /// Returns how many of 400 intervals contain the true difference, and the mean block length.
    fn held(kept: f64) -> (usize, f64) {
        let present = vec![5.0; 400];
        let (mut held, mut blocks) = (0, 0);
        for seed in 0..400 {
            let own = sequence(seed, kept, 400);
            blocks += block(&own);
            let other: Vec<f64> = own.iter().map(|value| value + 5.0).collect();
            let change = change(&other, &present).unwrap();
            held += usize::from(change.difference.abs() <= change.half_width.unwrap());
        }
        (held, blocks as f64 / 400.0)
    }

    /// Counts the intervals that contain the true value. At a level of 95%, 380 of 400 intervals
    /// should contain this value. If each value depends strongly on the previous one, 400 values
    /// carry only as much information as a few independent ones, and fewer intervals contain the
    /// true value. docs/yardstick.md lists the counts.
    #[test]
    fn intervals_hold_what_they_promise_unless_values_depend_strongly_on_each_other() {
        let expected = [
            (0.0, 380, "8.0"),
            (0.95, 316, "32.8"),
            (0.5, 371, "9.1"),
            (0.8, 357, "19.9"),
            (0.9, 340, "27.6"),
        ];
        for (kept, count, length) in expected.into_iter().take(pavior_trials::size(2, 5, 5)) {
            let (held, block) = held(kept);
            assert_eq!((held, format!("{block:.1}").as_str()), (count, length), "{kept}");
        }
    }

    #[test]
    fn what_is_certain_has_no_width_and_the_same_values_the_same_interval() {
        let present = sequence(1, 0.9, 400);
        let other: Vec<f64> = present.iter().map(|value| value + 0.1).collect();
        let certain = change(&other, &present).unwrap();
        assert!((certain.difference - 0.1).abs() < 1e-12 && certain.half_width.unwrap() < 1e-12);
        let same = change(&present, &present).unwrap();
        assert_eq!((same.difference, same.half_width), (0.0, Some(0.0)));
        let nothing = vec![0.0; 400];
        let first = change(&present, &nothing).unwrap();
        assert_eq!(Some(first), change(&present, &nothing));
        // The expected value is exact because the draws are the same on every machine.
        assert_eq!(format!("{:.6}", first.half_width.unwrap()), "0.629509");
        // Doubling the values doubles the width. The sign does not matter.
        let twice: Vec<f64> = present.iter().map(|value| -2.0 * value).collect();
        let twice = change(&twice, &nothing).unwrap();
        assert!((twice.half_width.unwrap() - 2.0 * first.half_width.unwrap()).abs() < 1e-9);
    }

    #[test]
    fn few_jobs_have_a_difference_without_an_interval() {
        assert_eq!(change(&[], &[]), None);
        let few = change(&[2.0; 299], &[1.0; 299]).unwrap();
        assert_eq!((few.difference, few.half_width), (1.0, None));
        assert!(change(&[2.0; 300], &[1.0; 300]).unwrap().half_width.is_some());
    }
}
