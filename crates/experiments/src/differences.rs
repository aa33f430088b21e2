//! Comparisons of each strategy with the baseline on the same jobs.

use std::collections::HashMap;
use std::io::Write;

use crate::results::{number, shown, target_missed, values};
use crate::{Paired, Samples, Specification, parameters};

/// A strategy compared with the baseline at one point.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// The values of the parameters shown in tables.
    pub values: Vec<String>,
    /// The baseline strategy.
    pub baseline: String,
    /// The metric being compared.
    pub metric: &'static str,
    /// The metric's unit.
    pub unit: &'static str,
    /// True if both strategies rejected the same jobs. Otherwise, the means cover different jobs.
    pub same_jobs: bool,
    /// True if either point missed its precision target.
    pub target_missed: bool,
    /// The difference and the ratio, with confidence intervals.
    pub paired: Paired,
}

/// Returns all comparisons with the baseline, ordered by point and metric.
pub fn differences(specification: &Specification, samples: &Samples) -> Vec<Difference> {
    let Some(baseline) = &specification.baseline else { return Vec::new() };
    let strategy = parameters::STRATEGY.index();
    let key = |index: usize| -> Vec<Option<&str>> {
        let point = &specification.points[index];
        (0..parameters::ALL.len()).filter(|&i| i != strategy).map(|i| point.at(i)).collect()
    };
    let bases: HashMap<Vec<Option<&str>>, usize> = (0..specification.points.len())
        .filter(|&index| specification.points[index].at(strategy) == Some(baseline))
        .map(|index| (key(index), index))
        .collect();
    let shown = shown(specification);
    let mut all = Vec::new();
    for (index, point) in specification.points.iter().enumerate() {
        let Some(&base) = bases.get(&key(index)).filter(|&&base| base != index) else { continue };
        let pairs = || samples[index].iter().zip(&samples[base]);
        let missed = |index: usize| target_missed(specification, &samples[index]);
        let target_missed = missed(index) || missed(base);
        let same_jobs = pairs().all(|(a, b)| a.rejected_set == b.rejected_set);
        for (metric, spec) in specification.metrics.iter().enumerate() {
            let both = pairs().filter_map(|(a, b)| Some((a.values[metric]?, b.values[metric]?)));
            let (a, b): (Vec<f64>, Vec<f64>) = both.unzip();
            let Some(paired) = Paired::of(&a, &b) else { continue };
            all.push(Difference {
                values: values(point, &shown),
                baseline: baseline.clone(),
                metric: spec.name,
                unit: spec.unit.word(point.unit()),
                same_jobs,
                target_missed,
                paired,
            });
        }
    }
    all
}

/// Writes comparisons as CSV.
///
/// # Errors
/// Returns an error if the writer fails.
pub fn write_differences(
    specification: &Specification,
    all: &[Difference],
    out: &mut dyn Write,
) -> Result<(), csv::Error> {
    let mut writer = csv::Writer::from_writer(out);
    let mut header: Vec<String> =
        shown(specification).iter().map(|&index| parameters::ALL[index].column()).collect();
    let rest = [
        "baseline",
        "metric",
        "pairs",
        "difference",
        "difference_ci95",
        "ratio",
        "ratio_ci95",
        "unit",
        "same_jobs",
        "target_missed",
    ];
    header.extend(rest.map(String::from));
    writer.write_record(&header)?;
    for one in all {
        let Paired { pairs, difference, difference_ci95, ratio, ratio_ci95 } = one.paired;
        let rest = [
            one.baseline.clone(),
            one.metric.to_string(),
            pairs.to_string(),
            difference.to_string(),
            number(difference_ci95),
            number(ratio),
            number(ratio_ci95),
            one.unit.to_string(),
            one.same_jobs.to_string(),
            one.target_missed.to_string(),
        ];
        writer.write_record(one.values.iter().chain(&rest))?;
    }
    Ok(writer.flush()?)
}
