//! The results of a single run, as tables, text and HTML.

use arrow_array::ArrayRef;
use arrow_array::types::Float64Type;
use pavior::experiments::{Point, RunRecord, Sample, Specification};
use pavior::simulation::{Fate, JobRecord};
use pavior::workload::TimeUnit;
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;

use crate::errors::value;
use crate::excerpt::{Excerpt, cell, number};
use crate::table::{Table, column, words};
use crate::{records, series};

/// The value of a metric in a run; `None` if the metric does not apply.
struct Metric {
    name: &'static str,
    value: Option<f64>,
    unit: &'static str,
    meaning: &'static str,
}

/// The results of a single run.
#[pyclass(frozen, name = "Result", module = "pavior")]
pub(crate) struct Outcome {
    point: Point,
    metrics: Vec<Metric>,
    record: RunRecord,
    jobs: PyOnceLock<Py<Table>>,
    placements: PyOnceLock<Py<Table>>,
}

impl Outcome {
    /// Returns the table in a cell, creating it on first access.
    fn table_in(
        &self,
        py: Python<'_>,
        cell: &PyOnceLock<Py<Table>>,
        make: fn(&[JobRecord], TimeUnit) -> PyResult<Table>,
    ) -> PyResult<Py<Table>> {
        let table = cell.get_or_try_init(py, || {
            Py::new(py, py.detach(|| make(&self.record.jobs, self.point.unit()))?)
        })?;
        Ok(table.clone_ref(py))
    }
}

#[pymethods]
impl Outcome {
    /// A table with one row per metric: `metric`, `value` (null if it does not apply), `unit`.
    #[getter]
    fn metrics(&self) -> PyResult<Table> {
        let all = || self.metrics.iter();
        let columns: Vec<(&str, ArrayRef)> = vec![
            ("metric", words(all().map(|one| one.name))),
            ("value", column::<Float64Type>(all().map(|one| one.value))),
            ("unit", words(all().map(|one| one.unit))),
        ];
        Table::new(columns, self.unit())
    }

    /// A table with one row per job, in order of arrival. Its columns are `job`, `submit`, `start`,
    /// `end`, `nodes`, `granted_nodes`, `fate`, `reason` and `boxes`. Repeated accesses return the
    /// same table.
    #[getter]
    fn jobs(&self, py: Python<'_>) -> PyResult<Py<Table>> {
        self.table_in(py, &self.jobs, records::jobs)
    }

    /// A table with one row per box that a job held. Repeated accesses return the same table.
    #[getter]
    fn placements(&self, py: Python<'_>) -> PyResult<Py<Table>> {
        self.table_in(py, &self.placements, records::placements)
    }

    /// Returns a time series with the columns `time` and `value`, and one row per change. `metric`
    /// is `busy` (nodes held by jobs), `queue` (waiting jobs) or `largest_free` (nodes in the
    /// largest free box). Before the first row, the value is 0. The series is not available for
    /// runs with node failures.
    fn steps(&self, py: Python<'_>, metric: &str) -> PyResult<Table> {
        let settings = self.point.settings();
        if settings.jobs().is_some_and(|jobs| jobs.failures.is_some()) {
            return Err(value("steps are not available for runs with node failures"));
        }
        let grid = settings.machine;
        let jobs = &self.record.jobs;
        let samples = py.detach(|| match metric {
            "busy" => Some(series::busy(jobs)),
            "queue" => Some(series::queue(jobs)),
            "largest_free" => Some(series::largest_free(jobs, grid)),
            _ => None,
        });
        let unknown = || {
            let metric = pavior::text::shown(metric);
            value(format!("metric must be busy, queue or largest_free, not `{metric}`"))
        };
        series::table(&samples.ok_or_else(unknown)?, self.point.unit())
    }

    /// The time of the last departure, in units of time, or 0 if no job departed.
    #[getter]
    fn end(&self) -> f64 {
        let end = self.record.jobs.iter().filter_map(|job| records::span(job)?.1).max();
        end.map_or(0.0, |end| self.point.unit().units(end))
    }

    /// The time unit: `s`, `time_unit` or `cycle`.
    #[getter]
    fn unit(&self) -> &'static str {
        self.point.unit().name
    }

    /// Returns the value of a metric, or None if the metric does not apply. Raises `KeyError` if
    /// the metric was not measured.
    fn __getitem__(&self, metric: &str) -> PyResult<Option<f64>> {
        let found = self.metrics.iter().find(|one| one.name == metric);
        found.map(|one| one.value).ok_or_else(|| {
            let known: Vec<&str> = self.metrics.iter().map(|one| one.name).collect();
            PyKeyError::new_err(format!(
                "{} was not measured; measured metrics: {}",
                pavior::text::shown(metric),
                known.join(", ")
            ))
        })
    }

    /// Describes the run, with a table of the metrics that apply and their meanings.
    fn _repr_html_(&self) -> String {
        self.excerpt(4).html(&self.summary())
    }

    fn __repr__(&self) -> String {
        format!("<{}>\n{}", self.summary(), self.excerpt(3).text())
    }
}

impl Outcome {
    pub(crate) fn new(
        specification: &Specification,
        point: Point,
        sample: Sample,
        record: RunRecord,
    ) -> Outcome {
        let unit = point.unit();
        let metrics = specification.metrics.iter().zip(sample.values);
        let mut metrics: Vec<Metric> = metrics
            .map(|(spec, value)| {
                let unit = spec.unit.word(unit);
                Metric { name: spec.name, value, unit, meaning: spec.meaning }
            })
            .collect();
        if specification.timing {
            let (name, value, unit) = ("allocation_ns", sample.allocation_ns, "ns");
            let meaning = "measured time per allocation attempt";
            metrics.push(Metric { name, value, unit, meaning });
        }
        let (jobs, placements) = (PyOnceLock::new(), PyOnceLock::new());
        Outcome { point, metrics, record, jobs, placements }
    }

    /// Returns the metrics that apply, with the first `columns` of these columns: name, value,
    /// unit, meaning.
    fn excerpt(&self, columns: usize) -> Excerpt {
        let row = |one: &Metric| {
            let [name, unit, meaning] = [one.name, one.unit, one.meaning].map(str::to_string);
            Some([name, number(one.value?), unit, meaning][..columns].to_vec())
        };
        let heads = &["metric", "value", "unit", "meaning"][..columns];
        let rows = self.metrics.iter().filter_map(row).collect();
        Excerpt::of_texts(heads, &[false, true, false, false][..columns], rows)
    }

    fn summary(&self) -> String {
        let jobs = &self.record.jobs;
        let count = |is: fn(&Fate) -> bool| jobs.iter().filter(|job| is(&job.fate)).count();
        let mut words = Vec::new();
        for (number, what) in [
            (count(|fate| matches!(fate, Fate::Started { end: Some(_), .. })), "departed"),
            (count(|fate| matches!(fate, Fate::Started { end: None, .. })), "still running"),
            (count(|fate| matches!(fate, Fate::Waiting)), "still waiting"),
            (count(|fate| matches!(fate, Fate::Rejected(_))), "rejected"),
        ] {
            if number > 0 {
                words.push(format!("{number} {what}"));
            }
        }
        let get = |name| cell(self.point.get(name).unwrap_or_default());
        let [machine, strategy, scheduler] = ["machine", "strategy", "scheduler"].map(get);
        let end = format!("{} {}", number(self.end()), self.unit());
        let (count, words) = (jobs.len(), words.join(", "));
        format!(
            "Results for {count} jobs on {machine} under {strategy} and {scheduler} over {end}: \
             {words}"
        )
    }
}
