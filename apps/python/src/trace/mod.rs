//! Job logs, read from files or tables.

mod columns;

use std::path::PathBuf;
use std::sync::Arc;

use arrow_array::ArrayRef;
use arrow_array::types::{Float64Type, UInt16Type, UInt32Type, UInt64Type};
use pavior::experiments::{Catalogue, Given, Setting, parameters, read_log};
use pavior::files::Limits;
use pavior::workload::TimeUnit;
use pavior::workload::traces::{self, Names, Record, Tags};
use pavior::{Freedom, Time};
use pyo3::exceptions::{PyDeprecationWarning, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::arguments::shown;
use crate::errors::{bad_name, log_error, value};
use crate::excerpt::number;
use crate::interrupt::interruptible;
use crate::run_request::{settings, unexpected};
use crate::table::{Table, batches, column, words};
use columns::{Columns, Row};

/// A log of jobs, from a file or a table.
///
/// A file is given by its path. `log_format` names its format; by default, the text or the file
/// name determines the format. `first` limits the number of job lines read. `filter` keeps jobs
/// whose fields have the given values, such as `partition=gpu,queue=1`. `status` keeps jobs whose
/// field 11 has one of the given values. `lenient` skips malformed lines, which otherwise raise
/// `ValueError`. `dependencies` also keeps jobs that follow another job and have no submit time.
/// `processors_per_node` divides sizes given in processors, and `nodes_from` is the SWF column that
/// contains nodes. `pieces` keeps partial jobs (status 2, 3 or 4) even if the log also contains the
/// whole job.
///
/// A table is any Arrow table (polars, pandas, pyarrow, `Table`) with the columns `submit`, `run`
/// and `nodes`. The columns `job`, `estimate`, `x`, `y`, `z`, `freedom`, `user`, `queue` and
/// `partition` are optional, and the last three may contain names. Times are numbers of seconds,
/// timestamps or durations.
#[pyclass(frozen, module = "pavior")]
pub(crate) struct Trace {
    pub(crate) trace: Arc<traces::Trace>,
}

impl Trace {
    fn of_file(py: Python<'_>, path: PathBuf, options: &[Setting]) -> PyResult<Trace> {
        let (mut given, catalogue) = (Given::default(), Catalogue::default());
        for Setting { key, values } in options {
            let parameter = parameters::of_reading(key).ok_or_else(|| unexpected("Trace", key))?;
            let text = values.join(",");
            let value = parameter.reading(&text, &catalogue);
            let value =
                value.map_err(|bad| bad_name(&text, format!("{key}: {}", bad.reason), bad.span))?;
            value.put(&mut given);
        }
        let read = move || read_log(&path, &given.reading(), Limits::LINES);
        let trace = interruptible(py, || (), read)?.map_err(|error| log_error(py, &error))?;
        Ok(Trace { trace: Arc::new(trace) })
    }

    fn of_table(table: &Bound<'_, PyAny>) -> PyResult<Trace> {
        let (mut records, mut names) = (Vec::new(), Names::default());
        for batch in batches(table)? {
            let columns = Columns::new(&batch, &mut names)?;
            for in_batch in 0..batch.num_rows() {
                records.push(columns.record(Row { in_batch, in_table: records.len() })?);
            }
        }
        if records.is_empty() {
            return Err(value("a log must have at least one job"));
        }
        records.sort_by_key(|record| record.submit);
        let mut trace = traces::Trace::of_records(records);
        trace.names = names;
        Ok(Trace { trace: Arc::new(trace) })
    }

    /// Describes the number of jobs, their sizes, and the time span that they cover.
    fn summary(&self) -> String {
        let records = &self.trace.records;
        let nodes = || records.iter().map(|record| record.nodes);
        let (least, most) = (nodes().min().unwrap_or(0), nodes().max().unwrap_or(0));
        let submit =
            |record: Option<&Record>| record.map_or(0.0, |it| TimeUnit::SECOND.units(it.submit));
        let days = (submit(records.last()) - submit(records.first())) / 86_400.0;
        let (jobs, days) = (records.len(), number(days));
        format!("Trace of {jobs} jobs with {least} to {most} nodes, submitted over {days} days")
    }
}

#[pymethods]
impl Trace {
    #[new]
    #[pyo3(signature = (source, **options))]
    #[pyo3(text_signature = "(source, *, first=None, filter=None, status=None, lenient=False, \
                             dependencies=False, **more)")]
    fn new(source: &Bound<'_, PyAny>, options: Option<&Bound<'_, PyDict>>) -> PyResult<Trace> {
        let options = options.map_or(Ok(Vec::new()), settings)?;
        if let Ok(path) = source.extract::<PathBuf>() {
            return Trace::of_file(source.py(), path, &options);
        }
        if !source.hasattr("__arrow_c_stream__")? {
            return Err(PyTypeError::new_err(format!(
                "a log must be a path or an Arrow table, such as a Polars DataFrame, not {}",
                shown(source)
            )));
        }
        for Setting { key, values } in options {
            if parameters::of_reading(&key).is_none() {
                return Err(unexpected("Trace", &key));
            }
            if values != ["false"] {
                return Err(value(
                    "options such as first, filter, status and lenient apply only to files; for a \
                     table, select its rows beforehand",
                ));
            }
        }
        Trace::of_table(source)
    }

    /// Deprecated; use `Trace(path)`.
    #[staticmethod]
    #[pyo3(signature = (path, **options))]
    #[pyo3(text_signature = "(path, *, first=None, filter=None, status=None, lenient=False)")]
    fn read(py: Python<'_>, path: PathBuf, options: Option<&Bound<'_, PyDict>>) -> PyResult<Trace> {
        let words = c"Trace.read(path) is deprecated; use Trace(path)";
        PyErr::warn(py, &py.get_type::<PyDeprecationWarning>(), words, 1)?;
        Trace::of_file(py, path, &options.map_or(Ok(Vec::new()), settings)?)
    }

    /// Deprecated; use `Trace(table)`.
    #[staticmethod]
    fn from_arrow(table: &Bound<'_, PyAny>) -> PyResult<Trace> {
        let py = table.py();
        let words = c"Trace.from_arrow(table) is deprecated; use Trace(table)";
        PyErr::warn(py, &py.get_type::<PyDeprecationWarning>(), words, 1)?;
        Trace::of_table(table)
    }

    fn __len__(&self) -> usize {
        self.trace.records.len()
    }

    /// The jobs in order of submission. The columns are `job`, `submit`, `run`, `estimate` (in
    /// seconds), `nodes`, `x`, `y`, `z`, `freedom`, `user`, `queue` and `partition`. Unknown values
    /// are null.
    #[getter]
    fn jobs(&self) -> PyResult<Table> {
        let records = || self.trace.records.iter();
        let seconds = |time: Time| TimeUnit::SECOND.units(time);
        let side = |axis: usize| -> ArrayRef {
            column::<UInt16Type>(records().map(|record| Some(record.shape?[axis])))
        };
        let tag = |of: fn(&Tags) -> i64| -> ArrayRef {
            column::<UInt64Type>(records().map(|record| u64::try_from(of(&record.tags)).ok()))
        };
        let times = |of: fn(&Record) -> Option<Time>| -> ArrayRef {
            column::<Float64Type>(records().map(|record| of(record).map(seconds)))
        };
        Table::new(
            vec![
                ("job", column::<UInt64Type>(records().map(|record| record.number))),
                ("submit", times(|record| Some(record.submit))),
                ("run", times(|record| Some(record.run))),
                ("estimate", times(|record| record.estimate)),
                ("nodes", column::<UInt32Type>(records().map(|record| record.nodes))),
                ("x", side(0)),
                ("y", side(1)),
                ("z", side(2)),
                ("freedom", words(records().map(|record| record.freedom.map(Freedom::word)))),
                ("user", tag(|tags| tags.user)),
                ("queue", tag(|tags| tags.queue)),
                ("partition", tag(|tags| tags.partition)),
            ],
            TimeUnit::SECOND.name,
        )
    }

    /// Shows the first and last jobs.
    fn _repr_html_(&self) -> PyResult<String> {
        Ok(self.jobs()?.excerpt(20).html(&self.summary()))
    }

    fn __repr__(&self) -> String {
        format!("<{}>", self.summary())
    }
}
