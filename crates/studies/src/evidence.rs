//! Looks up results at the points that statements refer to.

use std::collections::BTreeMap;
use std::sync::Arc;

use pavior::experiments::parameters::{self, Parameter};
use pavior::experiments::{
    Catalogue, Median, Paired, Point, Samples, Specification, half_width, mean, target_missed,
};
use pavior::names::unknown_name;
use pavior::simulation::metrics::ALLOCATION_NS;

/// A number with the half-width of its 95% confidence interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The estimated number.
    pub value: f64,
    /// The half-width of the interval, or `None` if there are too few runs.
    pub ci95: Option<f64>,
    /// For a median, the distances to the lower and upper ends of the interval.
    pub sides: Option<[f64; 2]>,
    /// The number of replications that the estimate is based on.
    pub runs: u64,
    /// True if any of the points involved missed its precision target.
    pub missed: bool,
}

impl Estimate {
    /// Returns the ends of the interval. Without an interval, both ends equal the number.
    pub fn ends(self) -> [f64; 2] {
        let [below, above] = self.sides.unwrap_or([self.ci95.unwrap_or(0.0); 2]);
        [self.value - below, self.value + above]
    }

    /// Returns a number's distance from the interval, which is negative if the number is inside.
    pub fn outside(self, number: f64) -> f64 {
        let [below, above] = self.sides.unwrap_or([self.ci95.unwrap_or(0.0); 2]);
        let apart = number - self.value;
        let reach = if apart < 0.0 { below } else { above };
        apart.abs() - reach
    }
}

/// An experiment's samples, which can be looked up by parameter values.
pub(super) struct PointEvidence<'e> {
    specification: &'e Specification,
    samples: &'e Samples,
}

/// A metric in an experiment: either one from the simulation or the measured allocation time.
/// Measured times are represented by their median over the runs, because interruptions hardly
/// affect the median.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Observed {
    /// An observed metric, by index.
    Metric(usize),
    /// The time per attempt, in nanoseconds.
    Time,
    /// The time per attempt multiplied by the metric with this index. For example, `allocation_ns *
    /// attempts` is the total time of all attempts in a run.
    TimeBy(usize),
}

impl Observed {
    pub(super) fn is_measured(self) -> bool {
        !matches!(self, Observed::Metric(_))
    }
}

/// Two points, by index.
pub(super) type Pair = [usize; 2];

impl<'e> PointEvidence<'e> {
    pub(super) fn new(specification: &'e Specification, samples: &'e Samples) -> PointEvidence<'e> {
        PointEvidence { specification, samples }
    }

    /// Returns a parameter's values at the points that match `picks`, as text and, if possible, as
    /// numbers. Numbers are sorted in ascending order, and words are in point order.
    pub(super) fn values(
        &self,
        parameter: &str,
        picks: &BTreeMap<String, String>,
    ) -> Result<Vec<(Option<f64>, String)>, String> {
        let parameter = known(parameter)?.name;
        let wanted = canonical(picks)?;
        let points = self.specification.points.iter().filter(|point| point.has(&borrowed(&wanted)));
        let mut values: Vec<(Option<f64>, String)> = Vec::new();
        for value in points.filter_map(|point| point.get(parameter)) {
            if !values.iter().any(|(_, known)| known == value) {
                values.push((value.parse().ok(), value.to_string()));
            }
        }
        if values.iter().all(|(number, _)| number.is_some()) {
            values.sort_by(|a, b| a.0.unwrap_or(0.0).total_cmp(&b.0.unwrap_or(0.0)));
        }
        Ok(values)
    }

    /// Returns the index of the only point that matches `picks`. An empty value matches points at
    /// which the parameter is not set.
    pub(super) fn point(&self, picks: &BTreeMap<String, String>) -> Result<usize, String> {
        let wanted = canonical(picks)?;
        let wanted = borrowed(&wanted);
        let points = &self.specification.points;
        let mut found = (0..points.len()).filter(|&index| points[index].has(&wanted));
        let words = || {
            let words = wanted.iter().map(|(key, value)| format!("{key}={value}"));
            words.collect::<Vec<_>>().join(" ")
        };
        match (found.next(), found.next()) {
            (Some(point), None) => Ok(point),
            (None, _) => Err(format!("the experiment has no point with {}", words())),
            _ => Err(format!("the experiment has more than one point with {}", words())),
        }
    }

    /// Returns the only point that matches `picks`.
    pub(super) fn at(&self, picks: &BTreeMap<String, String>) -> Result<&'e Point, String> {
        self.point(picks).map(|index| &self.specification.points[index])
    }

    /// Finds a metric by name, or a product of the form `allocation_ns * NAME`.
    pub(super) fn metric(&self, name: &str) -> Result<Observed, String> {
        let specification = self.specification;
        let index = |name: &str| {
            let mut known: Vec<&str> = specification.metrics.iter().map(|spec| spec.name).collect();
            let index = known.iter().position(|known| *known == name);
            known.extend(specification.timing.then_some(ALLOCATION_NS));
            index.ok_or_else(|| unknown_name("experiment metric", name, &known).reason)
        };
        match name.strip_prefix(ALLOCATION_NS).filter(|_| specification.timing) {
            None => index(name).map(Observed::Metric),
            Some("") => Ok(Observed::Time),
            Some(rest) => match rest.trim_start().strip_prefix('*') {
                Some(factor) => index(factor.trim()).map(Observed::TimeBy),
                None => index(name).map(Observed::Metric),
            },
        }
    }

    fn estimate(
        &self,
        (value, ci95): (f64, Option<f64>),
        runs: usize,
        points: &[usize],
    ) -> Estimate {
        let missed = |&point: &usize| target_missed(self.specification, &self.samples[point]);
        let missed = points.iter().any(missed);
        Estimate { value, ci95, sides: None, runs: runs as u64, missed }
    }

    /// Returns a metric's values at a point, one per replication.
    fn sample(&self, metric: Observed, point: usize) -> Vec<Option<f64>> {
        let samples = self.samples[point].iter();
        match metric {
            Observed::Time => samples.map(|run| run.allocation_ns).collect(),
            Observed::TimeBy(index) => {
                samples.map(|run| Some(run.allocation_ns? * run.values[index]?)).collect()
            }
            Observed::Metric(index) => samples.map(|run| run.values[index]).collect(),
        }
    }

    /// Returns a metric's values at two points, one pair per replication. Omits replications in
    /// which either value is missing.
    fn pairs(&self, metric: Observed, [a, b]: Pair) -> (Vec<f64>, Vec<f64>) {
        let (a, b) = (self.sample(metric, a), self.sample(metric, b));
        a.into_iter().zip(b).filter_map(|(a, b)| Some((a?, b?))).unzip()
    }

    /// Returns a metric's mean at a point, or its median if the metric is a measured time.
    pub(super) fn mean(&self, metric: Observed, point: usize) -> Option<Estimate> {
        let sample: Vec<f64> = self.sample(metric, point).into_iter().flatten().collect();
        self.middle(metric, &sample, &[point])
    }

    /// Returns the mean or, for a measured time, the median of a sample with one number per run.
    fn middle(&self, metric: Observed, sample: &[f64], points: &[usize]) -> Option<Estimate> {
        if !metric.is_measured() {
            let middle = (mean(sample)?, half_width(sample, 0.95));
            return Some(self.estimate(middle, sample.len(), points));
        }
        let Median { value, interval } = Median::of(sample)?;
        let sides = interval.map(|[low, high]| [value - low, high - value]);
        let half = sides.map(|[below, above]| f64::midpoint(below, above));
        let estimate = self.estimate((value, half), sample.len(), points);
        // Measured times have no precision target.
        Some(Estimate { sides, missed: false, ..estimate })
    }

    /// Returns the ratio of a metric's values at two points that use the same jobs.
    pub(super) fn ratio(&self, metric: Observed, pair: Pair) -> Option<Estimate> {
        self.compared(metric, pair, |x, y| x / y, |all| Some((all.ratio?, all.ratio_ci95)))
    }

    /// Returns the difference between a metric's values at two points that use the same jobs.
    pub(super) fn difference(&self, metric: Observed, pair: Pair) -> Option<Estimate> {
        let of_all = |all: Paired| Some((all.difference, all.difference_ci95));
        self.compared(metric, pair, |x, y| x - y, of_all)
    }

    /// Compares two points. Measured times are compared run by run; other metrics are compared over
    /// all runs together.
    fn compared(
        &self,
        metric: Observed,
        pair: Pair,
        of_run: fn(f64, f64) -> f64,
        of_all: fn(Paired) -> Option<(f64, Option<f64>)>,
    ) -> Option<Estimate> {
        let (xs, ys) = self.pairs(metric, pair);
        if metric.is_measured() {
            let each: Vec<f64> = xs.iter().zip(&ys).map(|(x, y)| of_run(*x, *y)).collect();
            return self.middle(metric, &each, &pair);
        }
        Some(self.estimate(of_all(Paired::of(&xs, &ys)?)?, xs.len(), &pair))
    }

    /// Computes `of`, a ratio or difference of two values, in each run. Returns the mean increase
    /// of the result from `low` to `high`.
    pub(super) fn growth(
        &self,
        metric: Observed,
        of: fn(f64, f64) -> f64,
        high: Pair,
        low: Pair,
    ) -> Option<Estimate> {
        let each = |pair| {
            let (xs, ys) = self.pairs(metric, pair);
            xs.into_iter().zip(ys).map(move |(x, y)| of(x, y))
        };
        let growth: Vec<f64> = each(high).zip(each(low)).map(|(high, low)| high - low).collect();
        self.middle(metric, &growth, &[high, low].concat())
    }
}

fn known(name: &str) -> Result<&'static Parameter, String> {
    let found = parameters::ALL.iter().find(|parameter| parameter.is_called(name));
    found.ok_or_else(|| {
        let known: Vec<&str> = parameters::ALL.iter().map(|known| known.name).collect();
        unknown_name("parameter", name, &known).reason
    })
}

/// Converts values to the canonical form used by points.
fn canonical(picks: &BTreeMap<String, String>) -> Result<Vec<(&'static str, Arc<str>)>, String> {
    let one = |(key, value): (&String, &String)| {
        let parameter = known(key)?;
        let value = if value.is_empty() {
            String::new().into()
        } else {
            parameter
                .canonical(value, &Catalogue::default())
                .map_err(|bad| format!("{key}: {}", bad.reason))?
        };
        Ok((parameter.name, value))
    };
    picks.iter().map(one).collect()
}

/// Borrows values in the form that [`Point::has`] takes.
fn borrowed<'v>(values: &'v [(&'static str, Arc<str>)]) -> Vec<(&'v str, &'v str)> {
    values.iter().map(|(key, value)| (*key, &**value)).collect()
}
