//! An experiment's results as a table, with one line per point and metric.
//!
//! Writing a table as CSV and reading it back does not change it. Figures are drawn from this table
//! alone.

use std::fmt;
use std::io::{Read, Write};
use std::sync::Arc;

use pavior_simulation::metrics::ALLOCATION_NS;
use serde_json::{Map, Value, json};

use crate::confidence::{decimals, half_width, mean};
use crate::{Median, Point, Sample, Samples, Specification, parameters};

/// The results of an experiment, or of part of one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// The names of the parameters that have a column, in column order.
    pub columns: Vec<String>,
    /// The lines of the table.
    pub rows: Vec<Line>,
}

/// A line of the table, with the results for one metric at one point.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// The values of the parameters that have a column. A value is empty if its parameter does not
    /// apply. All lines for the same point share these values.
    pub values: Arc<[String]>,
    /// The number of replications.
    pub replications: u64,
    /// True if a precision target was set and not met.
    pub target_missed: bool,
    /// True if more than a tenth of the arrivals, over all replications, were still waiting at the
    /// end.
    pub overloaded: bool,
    /// The name of the metric.
    pub metric: String,
    /// The mean and its confidence interval.
    pub summary: Summary,
    /// The median, for measured times only.
    pub median: Option<Median>,
    /// The unit of the metric.
    pub unit: String,
}

/// The mean of a metric over all replications, with its confidence interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Summary {
    /// The mean, or `None` if the metric does not apply.
    pub mean: Option<f64>,
    /// The half-width of the 95% confidence interval, or `None` for fewer than two replications.
    pub ci95: Option<f64>,
}

impl Summary {
    pub(crate) fn of(sample: &[f64]) -> Summary {
        Summary { mean: mean(sample), ci95: half_width(sample, 0.95) }
    }
}

/// Formats the mean and the half-width of its interval, to four significant digits of the mean. The
/// precision in the format string is the maximum number of decimals; the default is six.
impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(mean) = self.mean else { return f.write_str("-") };
        let decimals = decimals(mean, f);
        match self.ci95 {
            Some(ci95) => write!(f, "{mean:.decimals$} ± {ci95:.decimals$}"),
            None => write!(f, "{mean:.decimals$}"),
        }
    }
}

/// The measured time of an allocation attempt, over all replications. The value for each
/// replication is the mean of its timed attempts or, in a snapshot, their median.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeasuredTime {
    /// The median, which is robust to interrupted runs.
    pub median: Median,
    /// The mean, which a single interrupted run can skew by any amount.
    pub summary: Summary,
}

/// A metric at a point: its name, its unit, its mean and, if the metric is a time, its median.
type Measured = (&'static str, &'static str, Summary, Option<Median>);

/// The columns that do not correspond to parameters.
const OTHERS: [&str; 7] =
    ["replications", "target_missed", "overloaded", "metric", "mean", "ci95", "unit"];

/// The results for a point.
#[derive(Clone, Debug)]
pub struct PointResult<'a> {
    /// The point.
    pub point: &'a Point,
    /// The replications.
    pub samples: &'a [Sample],
    /// True if a precision target was set and not met.
    pub target_missed: bool,
    /// The number of jobs waiting at the end, over all replications.
    pub waiting: u64,
    /// True if more than a tenth of the arrivals, over all replications, were still waiting at the
    /// end.
    pub overloaded: bool,
    /// The names, units and values of all metrics.
    pub metrics: Vec<(&'static str, &'static str, Summary)>,
    /// The measured time of an attempt, or `None` if it was not measured. This time is not part of
    /// the results.
    pub allocation_ns: Option<MeasuredTime>,
}

impl PointResult<'_> {
    /// Returns all metrics with their names and units. If `timing` is true, the measured time comes
    /// last.
    pub fn all_metrics(
        &self,
        timing: bool,
    ) -> impl Iterator<Item = (&'static str, &'static str, Summary)> + '_ {
        let nothing = Summary { mean: None, ci95: None };
        let time = self.allocation_ns.map_or(nothing, |time| time.summary);
        self.metrics.iter().copied().chain(timing.then_some((ALLOCATION_NS, "ns", time)))
    }

    fn json(&self, timing: bool) -> Value {
        let metric = |(name, unit, summary): (&str, &str, Summary)| {
            let mut value = summary.mean.map_or(
                Value::Null,
                |mean| json!({ "mean": mean, "ci95": summary.ci95, "unit": unit }),
            );
            if let Some(time) = self.allocation_ns.filter(|_| name == ALLOCATION_NS) {
                value["median"] = json!(time.median.value);
                value["median_ci95"] = json!(time.median.interval);
            }
            (name.to_string(), value)
        };
        let text = |name: &str| self.point.get(name).unwrap_or_default();
        json!({
            "machine": text("machine"),
            "strategy": text("strategy"),
            "scheduler": text("scheduler"),
            "load": self.point.get("load").and_then(|load| load.parse::<f64>().ok()),
            "replications": self.samples.len(),
            "overloaded": self.overloaded,
            "metrics": self.all_metrics(timing).map(metric).collect::<Map<String, Value>>(),
        })
    }
}

impl Specification {
    /// Returns the results for every point that ran, in point order.
    pub fn results<'a>(
        &'a self,
        samples: &'a Samples,
    ) -> impl Iterator<Item = PointResult<'a>> + 'a {
        let run = self.points.iter().zip(samples).filter(|(_, samples)| !samples.is_empty());
        run.map(|(point, samples)| self.result(point, samples))
    }

    /// Returns the results as the JSON document that `pavior simulate --format json` prints. Values
    /// that do not apply are null.
    pub fn to_json(&self, samples: &Samples) -> Value {
        let rows: Vec<PointResult<'_>> = self.results(samples).collect();
        let seed = rows.first().and_then(|row| row.point.get("seed")?.parse::<u64>().ok());
        let mut document = json!({
            "schema": 1,
            "version": env!("CARGO_PKG_VERSION"),
            "seed": seed,
            "results": rows.iter().map(|row| row.json(self.timing)).collect::<Vec<_>>(),
        });
        if self.skips_unsupported {
            document["skipped"] = json!(self.left_out);
        }
        document
    }

    /// Describes the points where more than a tenth of the arrivals were still waiting at the end.
    /// Names at most five of these points.
    pub fn overloaded_in_words(&self, samples: &Samples) -> Option<String> {
        let varying = crate::point::varying(&self.points);
        let name = |one: &PointResult<'_>| {
            let values = varying.iter().filter_map(|&parameter| one.point.at(parameter));
            values.collect::<Vec<_>>().join(" ")
        };
        let results: Vec<PointResult<'_>> = self.results(samples).collect();
        let names: Vec<String> = results.iter().filter(|one| one.overloaded).map(name).collect();
        let more = names.len().checked_sub(5).filter(|&more| more > 0);
        let more = more.map_or(String::new(), |more| format!(" and {more} more"));
        let named = names[..names.len().min(5)].join(", ");
        let points = format!("{} of {} points", names.len(), results.len());
        (!names.is_empty()).then(|| {
            format!(
                "{points} overloaded (over 10% of arrivals still waiting at the end, so times \
                 depend on the run length): {named}{more}."
            )
        })
    }

    fn result<'a>(&self, point: &'a Point, samples: &'a [Sample]) -> PointResult<'a> {
        let arrived: u64 = samples.iter().map(|run| run.arrived).sum();
        let waiting: u64 = samples.iter().map(|run| run.waiting).sum();
        let unit = point.unit();
        let metrics = self.metrics.iter().enumerate().map(|(index, spec)| {
            let sample: Vec<f64> = samples.iter().filter_map(|run| run.values[index]).collect();
            (spec.name, spec.unit.word(unit), Summary::of(&sample))
        });
        let times: Vec<f64> = samples.iter().filter_map(|run| run.allocation_ns).collect();
        PointResult {
            point,
            samples,
            target_missed: target_missed(self, samples),
            waiting,
            overloaded: waiting * 10 > arrived,
            metrics: metrics.collect(),
            allocation_ns: of_times(&times),
        }
    }
}

/// Summarizes measured times, one per replication. Returns `None` if there are no times.
fn of_times(times: &[f64]) -> Option<MeasuredTime> {
    Median::of(times).map(|median| MeasuredTime { median, summary: Summary::of(times) })
}

impl Table {
    /// Builds a table of the points that ran.
    pub fn of(specification: &Specification, samples: &Samples) -> Table {
        Table::build(specification, samples, |result| {
            let line = |&(name, unit, summary): &(_, _, _)| (name, unit, summary, None);
            result.metrics.iter().map(line).collect()
        })
    }

    /// Builds a table of measured times, which are not part of the results.
    pub fn measured(specification: &Specification, samples: &Samples) -> Table {
        Table::build(specification, samples, |result| {
            let times = result.allocation_ns.iter();
            times.map(|time| (ALLOCATION_NS, "ns", time.summary, Some(time.median))).collect()
        })
    }

    fn build(
        specification: &Specification,
        samples: &Samples,
        lines: impl Fn(&PointResult<'_>) -> Vec<Measured>,
    ) -> Table {
        let shown = shown(specification);
        let mut rows = Vec::new();
        for result in specification.results(samples) {
            let values: Arc<[String]> = values(result.point, &shown).into();
            for (metric, unit, summary, median) in lines(&result) {
                rows.push(Line {
                    values: Arc::clone(&values),
                    replications: result.samples.len() as u64,
                    // A measured time has no precision target.
                    target_missed: result.target_missed && metric != ALLOCATION_NS,
                    overloaded: result.overloaded,
                    metric: metric.to_string(),
                    summary,
                    median,
                    unit: unit.to_string(),
                });
            }
        }
        let columns = shown.iter().map(|&index| parameters::ALL[index].column()).collect();
        Table { columns, rows }
    }

    /// Writes the table as CSV.
    ///
    /// # Errors
    /// Returns an error if the writer fails.
    pub fn to_csv(&self, out: &mut dyn Write) -> Result<(), csv::Error> {
        let mut writer = csv::Writer::from_writer(out);
        writer.write_record(self.columns.iter().map(String::as_str).chain(OTHERS))?;
        for row in &self.rows {
            let rest = [
                row.replications.to_string(),
                row.target_missed.to_string(),
                row.overloaded.to_string(),
                row.metric.clone(),
                number(row.summary.mean),
                number(row.summary.ci95),
                row.unit.clone(),
            ];
            writer.write_record(row.values.iter().chain(&rest))?;
        }
        Ok(writer.flush()?)
    }

    /// Reads a table, such as one printed by `simulate`. Treats unknown columns as parameters.
    ///
    /// # Errors
    /// Returns an error message that names the line if the text is not a valid table.
    pub fn from_csv(input: impl Read) -> Result<Table, String> {
        let mut reader = csv::Reader::from_reader(input);
        let header = reader.headers().map_err(|error| error.to_string())?.clone();
        let find = |name: &str| header.iter().position(|column| column == name);
        let need = |name: &str| find(name).ok_or_else(|| format!("no such column: `{name}`"));
        let (metric, at_mean, ci95) = (need("metric")?, need("mean")?, need("ci95")?);
        let (replications, unit) = (find("replications"), find("unit"));
        let (missed, overloaded) = (find("target_missed"), find("overloaded"));
        let shown: Vec<usize> =
            (0..header.len()).filter(|&index| !OTHERS.contains(&&header[index])).collect();
        let columns = shown.iter().map(|&index| header[index].to_string()).collect();
        let mut rows = Vec::new();
        for record in reader.records() {
            let record = record.map_err(|error| error.to_string())?;
            let line = record.position().map_or(0, csv::Position::line);
            let float = |index: usize| match record[index].trim() {
                "" => Ok(None),
                text => text
                    .parse::<f64>()
                    .map(Some)
                    .map_err(|_| format!("line {line}: `{text}` is not a number")),
            };
            let yes = |index: Option<usize>| index.is_some_and(|index| &record[index] == "true");
            rows.push(Line {
                values: shown.iter().map(|&index| record[index].to_string()).collect(),
                replications: replications.map_or(Ok(0), |index| {
                    record[index].parse().map_err(|_| {
                        format!("line {line}: `{}` is not a whole number", &record[index])
                    })
                })?,
                target_missed: yes(missed),
                overloaded: yes(overloaded),
                metric: record[metric].to_string(),
                summary: Summary { mean: float(at_mean)?, ci95: float(ci95)? },
                median: None,
                unit: unit.map(|index| record[index].to_string()).unwrap_or_default(),
            });
        }
        Ok(Table { columns, rows })
    }

    /// Reads the measured times for replications, and returns a table of their medians. The table
    /// is empty if the input is empty.
    ///
    /// # Errors
    /// Returns an error message if the text does not contain measured times.
    pub fn from_timings(input: impl Read) -> Result<Table, String> {
        let mut reader = csv::Reader::from_reader(input);
        let header = reader.headers().map_err(|error| error.to_string())?.clone();
        let others = ["point", "replication", ALLOCATION_NS];
        let shown: Vec<usize> =
            (0..header.len()).filter(|&index| !others.contains(&&header[index])).collect();
        let columns = shown.iter().map(|&index| header[index].to_string()).collect();
        let Some(measured) = header.iter().position(|column| column == ALLOCATION_NS) else {
            return Ok(Table::default());
        };
        let mut points: Vec<(Vec<String>, Vec<f64>)> = Vec::new();
        for record in reader.records() {
            let record = record.map_err(|error| error.to_string())?;
            let Ok(time) = record[measured].parse() else { continue };
            let values: Vec<String> =
                shown.iter().map(|&index| record[index].to_string()).collect();
            match points.last_mut() {
                Some((last, times)) if *last == values => times.push(time),
                _ => points.push((values, vec![time])),
            }
        }
        let line = |(values, times): (Vec<String>, Vec<f64>)| Line {
            values: values.into(),
            replications: times.len() as u64,
            target_missed: false,
            overloaded: false,
            metric: ALLOCATION_NS.to_string(),
            summary: Summary::of(&times),
            median: Median::of(&times),
            unit: "ns".to_string(),
        };
        Ok(Table { columns, rows: points.into_iter().map(line).collect() })
    }

    /// Returns a parameter's value in a line, or `None` if the table has no such column.
    pub fn value<'t>(&self, row: &'t Line, column: &str) -> Option<&'t str> {
        let index = self.columns.iter().position(|name| name == column)?;
        Some(&row.values[index])
    }
}

/// Returns true if these samples miss a precision target.
pub fn target_missed(specification: &Specification, samples: &[Sample]) -> bool {
    let of = |&target: &usize| samples.iter().filter_map(|run| run.values[target]).collect();
    let targets: Vec<Vec<f64>> = specification.targets.iter().map(of).collect();
    let targets: Vec<&[f64]> = targets.iter().map(Vec::as_slice).collect();
    specification.policy.missed(&targets)
}

/// Returns the parameters shown in tables: the machine, strategy, scheduler and load, followed by
/// the parameters that vary and those that figures use.
pub(crate) fn shown(specification: &Specification) -> Vec<usize> {
    let mut shown: Vec<usize> =
        [parameters::MACHINE, parameters::STRATEGY, parameters::SCHEDULER, parameters::LOAD]
            .map(|parameter| parameter.index())
            .to_vec();
    let named = specification
        .figures
        .iter()
        .flat_map(|figure| figure.series.iter().copied().chain([figure.x]));
    for index in crate::point::varying(&specification.points).into_iter().chain(named) {
        if !shown.contains(&index) {
            shown.push(index);
        }
    }
    shown
}

/// Returns a point's values for the given parameters, or empty strings for any that do not apply.
pub(crate) fn values(point: &Point, shown: &[usize]) -> Vec<String> {
    shown.iter().map(|&index| point.at(index).unwrap_or_default().to_string()).collect()
}

/// Formats a number with enough digits to read back the same value. Returns an empty string if
/// there is no number.
pub(crate) fn number(value: Option<f64>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}
