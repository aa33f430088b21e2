//! Exports an experiment's results as Arrow tables and as the files that the command line writes.
//!
//! Each table has one column for every parameter that is set at any point. The remaining columns
//! contain means, samples or paired differences.

use std::sync::Arc;

use arrow_array::ArrayRef;
use arrow_array::types::{Float64Type, UInt64Type};
use pavior::experiments::parameters::{self, ValueType};
use pavior::experiments::{
    Line, Paired, Provenance, Publication, Samples, Table as Means, differences,
};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::definition::Definition;
use crate::errors::value;
use crate::table::{Table, column, flags, words};

/// The results of an experiment.
#[pyclass(frozen, module = "pavior._native")]
pub(crate) struct Results {
    shared: Arc<Definition>,
    pub(crate) samples: Samples,
    unit: &'static str,
}

impl Results {
    pub(crate) fn new(shared: Arc<Definition>, samples: Samples) -> PyResult<Results> {
        let unit = shared.experiment.points.first().map(|point| point.unit().name);
        let unit = unit.ok_or_else(|| value("an experiment must have at least one point"))?;
        Ok(Results { shared, samples, unit })
    }

    /// Returns the result files for the experiment's directory.
    pub(crate) fn publications(&self) -> PyResult<Vec<Publication>> {
        let from = Provenance {
            version: env!("CARGO_PKG_VERSION").to_string(),
            command: "pavior experiment experiment.toml".to_string(),
        };
        Ok(self.shared.experiment.publish(&self.samples, &from, Vec::new(), Vec::new())?)
    }
}

#[pymethods]
impl Results {
    /// The means, as in `results.csv`, with one row per point and metric.
    #[getter]
    fn means(&self) -> PyResult<Table> {
        let Means { columns: names, rows } = Means::of(&self.shared.experiment, &self.samples);
        let values: Vec<&[String]> = rows.iter().map(|row| &row.values[..]).collect();
        let mut columns = parameter_columns(&names, &values);
        columns.extend([
            ("replications", column::<UInt64Type>(rows.iter().map(|row| row.replications))),
            ("target_missed", flags(rows.iter().map(|row| row.target_missed))),
            ("overloaded", flags(rows.iter().map(|row| row.overloaded))),
        ]);
        columns.extend(metric_columns(&rows));
        Table::new(columns, self.unit)
    }

    /// A short form of `means`, without constant columns. It contains the parameters that vary,
    /// followed by the metrics that apply.
    #[getter]
    fn brief(&self) -> PyResult<Table> {
        let Means { columns: names, mut rows } = Means::of(&self.shared.experiment, &self.samples);
        rows.retain(|row| row.summary.mean.is_some());
        let order = |metric: &str| {
            self.shared.experiment.metrics.iter().position(|spec| spec.name == metric)
        };
        // The measured time is not one of the experiment's metrics, so sort it last.
        rows.sort_by_key(|row| order(&row.metric).unwrap_or(usize::MAX));
        let values: Vec<&[String]> = rows.iter().map(|row| &row.values[..]).collect();
        let varies = |at: usize| values.iter().any(|row| row[at] != values[0][at]);
        let columns = parameter_columns(&names, &values).into_iter().enumerate();
        let columns = columns.filter(|(at, _)| varies(*at)).map(|(_, column)| column);
        let mut columns: Vec<(&str, ArrayRef)> = columns.collect();
        columns.extend(metric_columns(&rows));
        Table::new(columns, self.unit)
    }

    /// The samples, with one row per replication. Each row contains the point, the values of its
    /// parameters, and all metrics.
    #[getter]
    fn replications(&self) -> PyResult<Table> {
        let specification = &self.shared.experiment;
        let names = Means::of(specification, &self.samples).columns;
        let known: Vec<&str> =
            names.iter().map(|name| parameter_of(name).map_or("", |it| it.name)).collect();
        let mut all = Vec::new();
        for (index, point) in specification.points.iter().enumerate() {
            let samples = self.samples[index].iter().enumerate();
            all.extend(samples.map(|(number, sample)| (index, number, point, sample)));
        }
        let values: Vec<Vec<String>> = all
            .iter()
            .map(|(_, _, point, _)| {
                known.iter().map(|name| point.get(name).unwrap_or_default().to_string()).collect()
            })
            .collect();
        let values: Vec<&[String]> = values.iter().map(Vec::as_slice).collect();
        let points = all.iter().map(|&(point, ..)| point as u64);
        let numbers = all.iter().map(|&(_, number, ..)| number as u64);
        let mut columns: Vec<(&str, ArrayRef)> = vec![("point", column::<UInt64Type>(points))];
        columns.extend(parameter_columns(&names, &values));
        columns.push(("replication", column::<UInt64Type>(numbers)));
        for (at, spec) in specification.metrics.iter().enumerate() {
            let values = all.iter().map(|(.., sample)| sample.values[at]);
            columns.push((spec.name, column::<Float64Type>(values)));
        }
        Table::new(columns, self.unit)
    }

    /// The paired differences from the baseline, as in `differences.csv`, with one row per point
    /// and metric.
    #[getter]
    fn differences(&self) -> PyResult<Table> {
        let specification = &self.shared.experiment;
        let all = differences(specification, &self.samples);
        let names = Means::of(specification, &self.samples).columns;
        let values: Vec<&[String]> = all.iter().map(|one| one.values.as_slice()).collect();
        let mut columns = parameter_columns(&names, &values);
        let number = |of: fn(&Paired) -> Option<f64>| -> ArrayRef {
            column::<Float64Type>(all.iter().map(|one| of(&one.paired)))
        };
        columns.extend([
            ("baseline", words(all.iter().map(|one| one.baseline.as_str()))),
            ("metric", words(all.iter().map(|one| one.metric))),
            ("pairs", column::<UInt64Type>(all.iter().map(|one| one.paired.pairs))),
            ("difference", number(|paired| Some(paired.difference))),
            ("difference_ci95", number(|paired| paired.difference_ci95)),
            ("ratio", number(|paired| paired.ratio)),
            ("ratio_ci95", number(|paired| paired.ratio_ci95)),
            ("unit", words(all.iter().map(|one| one.unit))),
            ("same_jobs", flags(all.iter().map(|one| one.same_jobs))),
            ("target_missed", flags(all.iter().map(|one| one.target_missed))),
        ]);
        Table::new(columns, self.unit)
    }

    /// Returns the names and the exact contents of the files that the command line would write.
    fn files<'py>(&self, py: Python<'py>) -> PyResult<Vec<(String, Bound<'py, PyBytes>)>> {
        let file = |file: Publication| (file.name, PyBytes::new(py, &file.bytes));
        Ok(self.publications()?.into_iter().map(file).collect())
    }
}

fn parameter_of(column: &str) -> Option<&'static parameters::Parameter> {
    parameters::ALL.iter().find(|known| known.column() == column)
}

/// Creates the parameter columns from rows of values. Empty text becomes null.
fn parameter_columns<'n>(names: &'n [String], rows: &[&[String]]) -> Vec<(&'n str, ArrayRef)> {
    let of = |(at, name): (usize, &'n String)| -> (&'n str, ArrayRef) {
        let texts =
            || rows.iter().map(move |row| Some(row[at].as_str()).filter(|text| !text.is_empty()));
        let array: ArrayRef = match parameter_of(name).map(|known| known.kind) {
            Some(ValueType::Number | ValueType::Count) => {
                let number = |text: Option<&str>| text.and_then(|text| text.parse::<f64>().ok());
                column::<Float64Type>(texts().map(number))
            }
            _ => words(texts()),
        };
        (name, array)
    };
    names.iter().enumerate().map(of).collect()
}

fn metric_columns(rows: &[Line]) -> [(&'static str, ArrayRef); 4] {
    [
        ("metric", words(rows.iter().map(|row| row.metric.as_str()))),
        ("mean", column::<Float64Type>(rows.iter().map(|row| row.summary.mean))),
        ("ci95", column::<Float64Type>(rows.iter().map(|row| row.summary.ci95))),
        ("unit", words(rows.iter().map(|row| row.unit.as_str()))),
    ]
}
