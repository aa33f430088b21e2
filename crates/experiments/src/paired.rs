//! Differences and ratios between two samples for the same jobs.

use crate::confidence::{half_width, mean};
use crate::student_t;

/// A comparison of two samples, replication by replication.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Paired {
    /// The number of pairs.
    pub pairs: u64,
    /// The mean of a - b.
    pub difference: f64,
    /// The half-width of the 95% confidence interval for the difference, or `None` for a single
    /// pair.
    pub difference_ci95: Option<f64>,
    /// The mean of a divided by the mean of b, or `None` if the mean of b is 0.
    pub ratio: Option<f64>,
    /// The half-width of the 95% confidence interval for the ratio.
    pub ratio_ci95: Option<f64>,
}

impl Paired {
    /// Compares `a` with `b`. Their values must be in the same order. Surplus values in the longer
    /// slice are ignored. Returns `None` if there are no pairs.
    ///
    /// The interval for the difference is the Student's t interval of the paired differences. The
    /// interval for the ratio r is the interval of the residuals a - r b, divided by the mean of b.
    /// Effects common to both samples therefore cancel. The method is the delta method for paired
    /// samples (Cochran, Sampling Techniques, 1977, ch. 6).
    ///
    /// ```
    /// # mod pavior { pub use pavior_experiments as experiments; }
    /// use pavior::experiments::Paired;
    /// let paired = Paired::of(&[2.0, 4.0, 6.0], &[1.0, 2.0, 3.0]).unwrap();
    /// assert_eq!((paired.difference, paired.ratio), (2.0, Some(2.0)));
    /// // a is exactly twice b: the ratio is certain, the difference is not.
    /// assert_eq!(paired.ratio_ci95, Some(0.0));
    /// assert!(paired.difference_ci95.unwrap() > 2.0);
    /// ```
    pub fn of(a: &[f64], b: &[f64]) -> Option<Paired> {
        let n = a.len().min(b.len());
        let (a, b) = (&a[..n], &b[..n]);
        let (mean_a, mean_b) = (mean(a)?, mean(b)?);
        let differences: Vec<f64> = a.iter().zip(b).map(|(a, b)| a - b).collect();
        let ratio = (mean_b != 0.0).then(|| mean_a / mean_b);
        let ratio_ci95 = ratio.filter(|_| n >= 2).map(|ratio| {
            let squares = a.iter().zip(b).map(|(a, b)| (a - ratio * b).powi(2)).sum::<f64>();
            let deviation = (squares / (n as f64 - 1.0) / n as f64).sqrt();
            student_t(0.95, n - 1) * deviation / mean_b.abs()
        });
        Some(Paired {
            pairs: n as u64,
            difference: mean(&differences)?,
            difference_ci95: half_width(&differences, 0.95),
            ratio,
            ratio_ci95,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_cancel_what_they_share() {
        // The values vary widely, but in each replication, the two samples differ by one.
        let b = [10.0, 50.0, 20.0, 90.0];
        let a: Vec<f64> = b.iter().map(|b| b + 1.0).collect();
        let paired = Paired::of(&a, &b).unwrap();
        assert_eq!((paired.difference, paired.difference_ci95), (1.0, Some(0.0)));
        assert!((paired.ratio.unwrap() - 174.0 / 170.0).abs() < 1e-12);
        assert!(paired.ratio_ci95.unwrap() < 0.04);
    }

    #[test]
    fn intervals_hold_what_they_promise() {
        // Draw 400 samples of 8 pairs each, with a true difference of 2 and a true ratio of 1.5.
        // About 95% of the intervals must contain the true value.
        let (mut differences, mut ratios) = (0, 0);
        for seed in 0..400 {
            let mut draw = pavior_kernel::Stream::new(seed, 0, "paired");
            let shared: Vec<f64> = (0..8).map(|_| 3.0 + 2.0 * draw.unit()).collect();
            let b: Vec<f64> = shared.iter().map(|s| s + 0.5 * (draw.unit() - 0.5)).collect();
            let a: Vec<f64> = shared.iter().map(|s| 1.5 * s + 0.5 * (draw.unit() - 0.5)).collect();
            let paired = Paired::of(&a, &b).unwrap();
            let near = |value: f64, width: Option<f64>, truth: f64| {
                i32::from((value - truth).abs() <= width.unwrap())
            };
            differences += near(paired.difference, paired.difference_ci95, 2.0);
            ratios += near(paired.ratio.unwrap(), paired.ratio_ci95, 1.5);
        }
        assert!((365..=395).contains(&differences), "{differences}");
        assert!((360..=395).contains(&ratios), "{ratios}");
    }

    #[test]
    fn short_and_empty_samples() {
        assert_eq!(Paired::of(&[], &[1.0]), None);
        let one = Paired::of(&[3.0, 9.0], &[0.0]).unwrap();
        assert_eq!((one.pairs, one.difference, one.ratio), (1, 3.0, None));
        assert_eq!((one.difference_ci95, one.ratio_ci95), (None, None));
    }
}
