//! Means, confidence intervals, and the stopping rule for replications.

use std::fmt;

use crate::student_t;

/// The number of independent replications, or a rule for determining that number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Policy {
    /// A fixed number.
    Fixed(u64),
    /// At least `least` replications, plus batches of [`Policy::BATCH`]. Replication ends after
    /// `most` replications, or as soon as every target metric has a confidence interval whose
    /// relative half-width is at most `relative`.
    Precision {
        /// The relative half-width, for example 0.05.
        relative: f64,
        /// The confidence level, for example 0.95.
        confidence: f64,
        /// The minimum number of replications.
        least: u64,
        /// The maximum number of replications.
        most: u64,
    },
}

impl Policy {
    /// The number of replications added at a time, and the default value of `least`.
    pub const BATCH: u64 = 5;

    /// The maximum number of replications per point. Any larger number is assumed to be a mistake.
    pub const MOST: u64 = 1_000_000;

    /// Returns the number of replications to add after `done` replications. There is one sample per
    /// metric with a precision target. Returns 0 if no more replications are needed.
    pub fn more(&self, done: u64, samples: &[&[f64]]) -> u64 {
        match *self {
            Policy::Fixed(count) => count.saturating_sub(done),
            Policy::Precision { least, most, .. } if done < least => {
                least.min(most).saturating_sub(done)
            }
            Policy::Precision { most, .. } if self.missed(samples) => {
                Self::BATCH.min(most.saturating_sub(done))
            }
            Policy::Precision { .. } => 0,
        }
    }

    /// Returns true if these samples miss a precision target. A metric that never applies (an empty
    /// sample) has no target.
    pub fn missed(&self, samples: &[&[f64]]) -> bool {
        let Policy::Precision { relative, confidence, .. } = *self else { return false };
        let precise = |sample: &&[f64]| {
            let mean = mean(sample).unwrap_or(0.0);
            sample.is_empty()
                || half_width(sample, confidence)
                    .is_some_and(|width| width <= relative * mean.abs())
        };
        !samples.iter().all(precise)
    }
}

/// Returns the arithmetic mean, or `None` for an empty sample.
pub fn mean(sample: &[f64]) -> Option<f64> {
    (!sample.is_empty()).then(|| sample.iter().sum::<f64>() / sample.len() as f64)
}

/// Returns the half-width of the two-sided confidence interval for the mean of independent samples,
/// based on Student's t. Returns `None` for fewer than two samples.
///
/// ```
/// # mod pavior { pub use pavior_experiments as experiments; }
/// let width = pavior::experiments::half_width(&[9.0, 10.0, 11.0], 0.95).unwrap();
/// assert!((width - 4.303 / 3f64.sqrt()).abs() < 1e-3);
/// ```
pub fn half_width(sample: &[f64], confidence: f64) -> Option<f64> {
    if sample.len() < 2 {
        return None;
    }
    let n = sample.len() as f64;
    let mean = mean(sample)?;
    let variance = sample.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (n - 1.0);
    Some(student_t(confidence, sample.len() - 1) * (variance / n).sqrt())
}

/// A median and its 95% confidence interval, based on order statistics.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Median {
    /// The median.
    pub value: f64,
    /// The ends of the interval, which are two of the samples. `None` if there are fewer than six
    /// samples: even the extremes would then enclose the median with less than 95% probability.
    pub interval: Option<[f64; 2]>,
}

impl Median {
    /// Computes the median of a sample. Returns `None` if the sample is empty.
    ///
    /// The samples must be independent, but may have any distribution. For example, an interruption
    /// can add any amount of time to a measurement.
    ///
    /// ```
    /// # mod pavior { pub use pavior_experiments as experiments; }
    /// use pavior::experiments::Median;
    /// let times = [3.0, 1.0, 9000.0, 2.0, 4.0, 5.0, 3.0, 2.5, 3.5];
    /// let median = Median::of(&times).unwrap();
    /// assert_eq!((median.value, median.interval), (3.0, Some([2.0, 5.0])));
    /// ```
    pub fn of(sample: &[f64]) -> Option<Median> {
        let mut sorted = sample.to_vec();
        sorted.sort_by(f64::total_cmp);
        let n = sorted.len();
        let middle = *sorted.get(n / 2)?;
        let value = if n % 2 == 0 { sorted[n / 2 - 1].midpoint(middle) } else { middle };
        // Find the innermost ranks that enclose the median with a probability of at least 0.95.
        // Ranks 1 + k and n - k miss it with a probability of 2 P(Binomial(n, 1/2) <= k).
        let (mut term, mut below) = (libm::pow(0.5, n as f64), 0.0);
        let mut interval = None;
        for k in 0..n / 2 {
            below += term;
            if 2.0 * below > 0.05 {
                break;
            }
            interval = Some([sorted[k], sorted[n - 1 - k]]);
            term *= (n - k) as f64 / (k + 1) as f64;
        }
        Some(Median { value, interval })
    }
}

/// Returns the median and its distance to the farther end of its 95% confidence interval. The
/// interval is based on order statistics or, for two to five samples, on Student's t.
///
/// This is useful for measured times: a single interruption by another process can skew a mean by
/// any amount, but hardly affects a median.
///
/// ```
/// # mod pavior { pub use pavior_experiments as experiments; }
/// let values = [3.0, 1.0, 900.0, 2.0, 4.0, 5.0, 3.0];
/// let (median, width) = pavior::experiments::median(&values).unwrap();
/// assert_eq!((median, width), (3.0, Some(897.0)));
/// ```
pub fn median(sample: &[f64]) -> Option<(f64, Option<f64>)> {
    let Median { value, interval } = Median::of(sample)?;
    let width = interval.map(|[low, high]| (value - low).max(high - value));
    Some((value, width.or_else(|| half_width(sample, 0.95))))
}

/// Formats the median with the ends of its interval, to four significant digits of the median. The
/// precision in the format string is the maximum number of decimals; the default is six.
impl fmt::Display for Median {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let decimals = decimals(self.value, f);
        write!(f, "{:.decimals$}", self.value)?;
        let Some([low, high]) = self.interval else { return Ok(()) };
        write!(f, " [{low:.decimals$}, {high:.decimals$}]")
    }
}

/// Returns the number of decimals for four significant digits, up to the format's precision.
pub(crate) fn decimals(number: f64, format: &fmt::Formatter<'_>) -> usize {
    let most = format.precision().unwrap_or(6);
    let digits = if number == 0.0 { 0.0 } else { libm::floor(libm::log10(number.abs())) };
    ((3.0 - digits).max(0.0) as usize).min(most)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians_have_the_printed_ranks() {
        // Ranks of the median's 95% interval, from published tables. For n = 10, they are 2 and 9.
        // For n = 20, they are 6 and 15. For n = 5, there are none.
        for (n, rank) in [(6, 1), (10, 2), (20, 6), (40, 14)] {
            let sample: Vec<f64> = (1..=n).map(f64::from).collect();
            let (median, width) = median(&sample).unwrap();
            assert!((median - width.unwrap() - f64::from(rank)).abs() < 1e-9, "{n}");
        }
        let of = |n: i32| Median::of(&(1..=n).map(f64::from).collect::<Vec<_>>()).unwrap().interval;
        assert_eq!([of(5), of(6), of(9)], [None, Some([1.0, 6.0]), Some([2.0, 8.0])]);
        assert_eq!([of(10), of(20)], [Some([2.0, 9.0]), Some([6.0, 15.0])]);
        let few = [1.0, 2.0, 6.0];
        assert_eq!(median(&few), Some((2.0, half_width(&few, 0.95))));
        assert_eq!(median(&[4.0]), Some((4.0, None)));
        assert_eq!(median(&[]), None);
    }

    #[test]
    fn estimates_have_four_digits_in_at_most_so_many_decimals() {
        let small = crate::Summary { mean: Some(0.001_234_56), ci95: Some(0.0001) };
        assert_eq!(small.to_string(), "0.001235 ± 0.000100");
        assert_eq!(format!("{small:.4}"), "0.0012 ± 0.0001");
        let large = Median { value: 12_345.6, interval: Some([12_000.0, 13_000.4]) };
        assert_eq!(format!("{large:.4}"), "12346 [12000, 13000]");
    }

    #[test]
    fn a_policy_stops_at_precision_or_at_the_most() {
        let policy = Policy::Precision { relative: 0.05, confidence: 0.95, least: 5, most: 12 };
        assert_eq!(policy.more(0, &[&[]]), 5);
        let precise = [10.0, 10.1, 9.9, 10.0, 10.0];
        assert_eq!(policy.more(5, &[&precise, &precise]), 0);
        let wide = [1.0, 9.0, 3.0, 20.0, 2.0];
        assert_eq!(policy.more(5, &[&precise, &wide]), 5);
        assert_eq!(policy.more(10, &[&wide]), 2);
        assert_eq!(policy.more(12, &[&wide]), 0);
        assert_eq!(policy.more(5, &[&[]]), 0);
        assert!(policy.missed(&[&wide]) && !policy.missed(&[&precise]));
        assert_eq!(Policy::Fixed(3).more(0, &[]), 3);
        assert_eq!(Policy::Fixed(3).more(3, &[]), 0);
    }
}
