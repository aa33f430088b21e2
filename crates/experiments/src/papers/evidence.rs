//! What the samples say of points that statements name.

use pavior_simulation::metrics::ALLOCATION_NS;

use crate::confidence::{half_width, mean, median};
use crate::results::target_missed;
use crate::{Paired, Samples, Specification};

/// A number with the half-width of its 95 % confidence interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The number.
    pub value: f64,
    /// The half-width; none where there are too few runs for one.
    pub ci95: Option<f64>,
    /// The replications that it is made of.
    pub runs: u64,
    /// Whether a point that it is made of missed its target of precision.
    pub missed: bool,
}

impl Estimate {
    /// The half-width, 0 where there is none.
    pub fn width(self) -> f64 {
        self.ci95.unwrap_or(0.0)
    }
}

/// The samples of an experiment, asked by the values of parameters.
pub struct Evidence<'e> {
    specification: &'e Specification,
    samples: &'e Samples,
}

/// The values of parameters that pick one point, such as `[("strategy", "tbl"), ("load", "4.6")]`.
pub type Pick<'p> = &'p [(&'p str, &'p str)];

impl<'e> Evidence<'e> {
    /// The evidence of samples.
    pub fn new(specification: &'e Specification, samples: &'e Samples) -> Evidence<'e> {
        Evidence { specification, samples }
    }

    /// The loads of the points that have these values, ascending.
    pub fn loads(&self, pick: Pick<'_>) -> Vec<String> {
        self.values("load", pick)
    }

    /// The values of a parameter of numbers at the points that have these values, ascending.
    pub fn values(&self, parameter: &str, pick: Pick<'_>) -> Vec<String> {
        let points = self.specification.points.iter().filter(|point| point.has(pick));
        let mut values: Vec<(f64, String)> = points
            .filter_map(|point| point.get(parameter))
            .filter_map(|value| Some((value.parse().ok()?, value.to_string())))
            .collect();
        values.sort_by(|a, b| a.0.total_cmp(&b.0));
        values.dedup();
        values.into_iter().map(|(_, value)| value).collect()
    }

    /// The index of a point.
    ///
    /// # Panics
    /// If no point or more than one has these values: statements name points of their own experiment.
    fn point(&self, pick: Pick<'_>) -> usize {
        let points = &self.specification.points;
        let mut found = (0..points.len()).filter(|&index| points[index].has(pick));
        let (Some(point), None) = (found.next(), found.next()) else {
            panic!("{pick:?} is not one point of the experiment");
        };
        point
    }

    /// An estimate from so many runs of these points.
    fn estimate(
        &self,
        (value, ci95): (f64, Option<f64>),
        runs: usize,
        points: &[Pick<'_>],
    ) -> Estimate {
        let missed =
            |pick: &Pick<'_>| target_missed(self.specification, &self.samples[self.point(pick)]);
        Estimate { value, ci95, runs: runs as u64, missed: points.iter().any(missed) }
    }

    /// The values of a metric at a point, replication by replication.
    fn sample(&self, metric: &str, pick: Pick<'_>) -> Vec<Option<f64>> {
        let samples = self.samples[self.point(pick)].iter();
        if metric == ALLOCATION_NS {
            return samples.map(|run| run.allocation_ns).collect();
        }
        let index = self.specification.metrics.iter().position(|spec| spec.name == metric);
        let index = index.expect("statements name metrics of their own experiment");
        samples.map(|run| run.values[index]).collect()
    }

    /// The pairs of two points, replication by replication.
    fn pairs(&self, metric: &str, a: Pick<'_>, b: Pick<'_>) -> (Vec<f64>, Vec<f64>) {
        let (a, b) = (self.sample(metric, a), self.sample(metric, b));
        a.into_iter().zip(b).filter_map(|(a, b)| Some((a?, b?))).unzip()
    }

    /// The mean of a metric at a point.
    pub fn mean(&self, metric: &str, pick: Pick<'_>) -> Option<Estimate> {
        let sample: Vec<f64> = self.sample(metric, pick).into_iter().flatten().collect();
        let mean = (mean(&sample)?, half_width(&sample, 0.95));
        Some(self.estimate(mean, sample.len(), &[pick]))
    }

    /// The ratio of two points, over the same jobs.
    pub fn ratio(&self, metric: &str, a: Pick<'_>, b: Pick<'_>) -> Option<Estimate> {
        let (xs, ys) = self.pairs(metric, a, b);
        let paired = Paired::of(&xs, &ys)?;
        Some(self.estimate((paired.ratio?, paired.ratio_ci95), xs.len(), &[a, b]))
    }

    /// The difference of two points, over the same jobs.
    pub fn difference(&self, metric: &str, a: Pick<'_>, b: Pick<'_>) -> Option<Estimate> {
        let (xs, ys) = self.pairs(metric, a, b);
        let paired = Paired::of(&xs, &ys)?;
        Some(self.estimate((paired.difference, paired.difference_ci95), xs.len(), &[a, b]))
    }

    /// How much greater the ratio `a / b` is at `high` than at `low`, the mean of the runs' own
    /// differences; each gives the points `[a, b]`.
    pub fn ratio_growth(
        &self,
        metric: &str,
        high: [Pick<'_>; 2],
        low: [Pick<'_>; 2],
    ) -> Option<Estimate> {
        let ratios = |[a, b]: [Pick<'_>; 2]| {
            let (xs, ys) = self.pairs(metric, a, b);
            xs.into_iter().zip(ys).map(|(x, y)| x / y)
        };
        let growth: Vec<f64> =
            ratios(high).zip(ratios(low)).map(|(high, low)| high - low).collect();
        let points = [high, low].concat();
        Some(self.estimate((mean(&growth)?, half_width(&growth, 0.95)), growth.len(), &points))
    }

    /// The median of the runs' ratios of measured times: a run that was interrupted hardly moves it.
    pub fn measured_ratio(&self, a: Pick<'_>, b: Pick<'_>) -> Option<Estimate> {
        let (xs, ys) = self.pairs(ALLOCATION_NS, a, b);
        let ratios: Vec<f64> = xs.iter().zip(&ys).map(|(x, y)| x / y).collect();
        Some(self.estimate(median(&ratios)?, ratios.len(), &[a, b]))
    }

    /// The median of the runs' differences of measured times.
    pub fn measured_difference(&self, a: Pick<'_>, b: Pick<'_>) -> Option<Estimate> {
        let differences = self.measured_differences([a, b]);
        Some(self.estimate(median(&differences)?, differences.len(), &[a, b]))
    }

    /// The median of how much the difference of measured times `a - b` is greater at `high` than at
    /// `low`, run by run; each gives the points `[a, b]`.
    pub fn measured_growth(&self, high: [Pick<'_>; 2], low: [Pick<'_>; 2]) -> Option<Estimate> {
        let (above, below) = (self.measured_differences(high), self.measured_differences(low));
        let growth: Vec<f64> = above.iter().zip(&below).map(|(high, low)| high - low).collect();
        let points = [high, low].concat();
        Some(self.estimate(median(&growth)?, growth.len(), &points))
    }

    fn measured_differences(&self, [a, b]: [Pick<'_>; 2]) -> Vec<f64> {
        let (xs, ys) = self.pairs(ALLOCATION_NS, a, b);
        xs.into_iter().zip(ys).map(|(x, y)| x - y).collect()
    }
}
