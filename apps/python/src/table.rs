//! Tables in Arrow memory, which are passed to and from Python without copying.
//!
//! The Arrow PyCapsule interface does not require an Arrow library in Python. In both directions,
//! tables are passed as capsules that contain C streams.

use std::collections::HashMap;
use std::ffi::CStr;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::ffi_stream::{FFI_ArrowArrayStream, RecordBatchStreamReader};
use arrow_array::types::{ArrowPrimitiveType, Float32Type, Float64Type, Int32Type, Int64Type};
use arrow_array::types::{Int8Type, Int16Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type};
use arrow_array::{Array, ArrayRef, BooleanArray, Int64Array, PrimitiveArray, RecordBatch};
use arrow_array::{RecordBatchIterator, StringArray};
use arrow_schema::{DataType, Schema, TimeUnit};
use pyo3::IntoPyObjectExt;
use pyo3::exceptions::{PyKeyError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{IntoPyDict, PyCapsule, PyDict, PyIterator, PyList};

use crate::errors::value;
use crate::excerpt::Excerpt;

const STREAM: &CStr = c"arrow_array_stream";

/// A table stored in Arrow memory, which polars, pyarrow, pandas and DuckDB can read without
/// copying it.
#[pyclass(frozen, module = "pavior")]
pub(crate) struct Table {
    batch: RecordBatch,
    unit: String,
}

impl Table {
    /// Creates a table with the given columns, whose times are in `unit`.
    ///
    /// # Errors
    /// Returns an error if the columns differ in length.
    pub(crate) fn new(columns: Vec<(&str, ArrayRef)>, unit: &str) -> PyResult<Table> {
        // Make all columns nullable, so that schemas are equal and tables can be concatenated.
        let columns = columns.into_iter().map(|(name, column)| (name, column, true));
        let batch = RecordBatch::try_from_iter_with_nullable(columns).map_err(value)?;
        let metadata = HashMap::from([("unit".to_string(), unit.to_string())]);
        let schema = Schema::clone(&batch.schema()).with_metadata(metadata);
        let batch = batch.with_schema(Arc::new(schema)).map_err(value)?;
        Ok(Table { batch, unit: unit.to_string() })
    }
}

#[pymethods]
impl Table {
    /// The time unit: `s`, `time_unit` or `cycle`.
    #[getter]
    fn unit(&self) -> &str {
        &self.unit
    }

    /// The names of the columns.
    #[getter]
    fn columns(&self) -> Vec<String> {
        self.batch.schema().fields().iter().map(|field| field.name().clone()).collect()
    }

    fn __len__(&self) -> usize {
        self.batch.num_rows()
    }

    /// Returns the values of a column as Python objects. Raises `KeyError` for an unknown column.
    fn __getitem__<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyList>> {
        let column = self.batch.column_by_name(name).ok_or_else(|| {
            let known = self.columns().join(", ");
            PyKeyError::new_err(format!("no such column: {name:?}; the columns are {known}"))
        })?;
        PyList::new(py, objects(py, column)?)
    }

    /// Returns an iterator over the rows, each as a dictionary keyed by column name.
    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyIterator>> {
        let columns = self.batch.columns().iter().map(|column| objects(py, column));
        let (names, columns) = (self.columns(), columns.collect::<PyResult<Vec<_>>>()?);
        let row = |row: usize| -> PyResult<Bound<'py, PyDict>> {
            let values = names.iter().zip(&columns).map(|(name, column)| (name, &column[row]));
            values.into_py_dict(py)
        };
        let rows = (0..self.batch.num_rows()).map(row).collect::<PyResult<Vec<_>>>()?;
        PyList::new(py, rows)?.try_iter()
    }

    /// Returns the table as an Arrow C stream. `requested_schema` is ignored.
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let _ = requested_schema;
        let batches = RecordBatchIterator::new([Ok(self.batch.clone())], self.batch.schema());
        let stream = FFI_ArrowArrayStream::new(Box::new(batches));
        PyCapsule::new_with_value(py, stream, STREAM)
    }

    /// Returns the table as a polars data frame.
    fn to_polars<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("polars")?.call_method1("DataFrame", (slf,))
    }

    /// Returns the table as a pyarrow table.
    fn to_pyarrow<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("pyarrow")?.call_method1("table", (slf,))
    }

    /// Returns the table as a pandas data frame.
    fn to_pandas<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        Table::to_pyarrow(slf)?.call_method0("to_pandas")
    }

    /// Returns the first and last rows as HTML.
    fn _repr_html_(&self) -> String {
        Excerpt::of(&self.batch, 20).html(&self.summary())
    }

    fn __repr__(&self) -> String {
        format!("<{}>\n{}", self.summary(), Excerpt::of(&self.batch, 10).text())
    }
}

impl Table {
    /// Returns at most `most` rows as text.
    pub(crate) fn excerpt(&self, most: usize) -> Excerpt {
        Excerpt::of(&self.batch, most)
    }

    fn summary(&self) -> String {
        let (rows, columns) = (self.batch.num_rows(), self.batch.num_columns());
        format!("Table with {rows} rows and {columns} columns; times in {}", self.unit)
    }
}

/// Creates a column of numbers. Missing numbers become null.
pub(crate) fn column<T: ArrowPrimitiveType>(
    values: impl IntoIterator<Item = impl Into<Option<T::Native>>>,
) -> ArrayRef {
    Arc::new(values.into_iter().map(Into::into).collect::<PrimitiveArray<T>>())
}

/// Creates a column of strings. Missing strings become null.
pub(crate) fn words<'t>(texts: impl Iterator<Item = impl Into<Option<&'t str>>>) -> ArrayRef {
    Arc::new(texts.map(Into::into).collect::<StringArray>())
}

pub(crate) fn flags(flags: impl Iterator<Item = bool>) -> ArrayRef {
    Arc::new(flags.map(Some).collect::<BooleanArray>())
}

/// Converts values to Python objects. Missing values become None.
fn all<'py, T: IntoPyObject<'py>>(
    py: Python<'py>,
    values: impl Iterator<Item = Option<T>>,
) -> PyResult<Vec<Bound<'py, PyAny>>> {
    let object = |value: Option<T>| value.into_bound_py_any(py);
    values.map(object).collect()
}

fn objects<'py>(py: Python<'py>, column: &ArrayRef) -> PyResult<Vec<Bound<'py, PyAny>>> {
    let lists = |list: &dyn Fn(usize) -> ArrayRef| {
        let list = |row| Ok(PyList::new(py, objects(py, &list(row))?)?.into_any());
        (0..column.len()).map(list).collect()
    };
    match column.data_type() {
        DataType::Float64 => all(py, column.as_primitive::<Float64Type>().iter()),
        DataType::UInt64 => all(py, column.as_primitive::<UInt64Type>().iter()),
        DataType::UInt32 => all(py, column.as_primitive::<UInt32Type>().iter()),
        DataType::UInt16 => all(py, column.as_primitive::<UInt16Type>().iter()),
        DataType::Int64 => all(py, column.as_primitive::<Int64Type>().iter()),
        DataType::Boolean => all(py, column.as_boolean().iter()),
        DataType::Utf8 => all(py, column.as_string::<i32>().iter()),
        DataType::Dictionary(..) => {
            let dictionary = column.as_dictionary::<UInt8Type>();
            let words = dictionary.values().as_string::<i32>();
            all(py, dictionary.keys_iter().map(|key| Some(words.value(key?))))
        }
        DataType::List(_) => lists(&|row| column.as_list::<i32>().value(row)),
        DataType::FixedSizeList(..) => lists(&|row| column.as_fixed_size_list().value(row)),
        other => Err(PyTypeError::new_err(format!(
            "a column of type {other} cannot be converted to Python objects"
        ))),
    }
}

/// Replaces the null columns of a polars data frame, which polars exports with a buffer that the C
/// interface does not allow, by columns of null numbers. Returns any other table unchanged.
fn without_null_type<'py>(table: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let py = table.py();
    let polars = py.import("sys")?.getattr("modules")?.call_method1("get", ("polars",))?;
    if polars.is_none() || !table.is_instance(&polars.getattr("DataFrame")?)? {
        return Ok(table.clone());
    }
    let types = PyDict::new(py);
    types.set_item(polars.getattr("Null")?, polars.getattr("Int64")?)?;
    table.call_method1("cast", (types,))
}

/// Returns the batches in any object that has `__arrow_c_stream__`, such as a polars, pyarrow or
/// pandas table, or a [`Table`].
pub(crate) fn batches(table: &Bound<'_, PyAny>) -> PyResult<Vec<RecordBatch>> {
    let capsule = without_null_type(table)?.call_method0("__arrow_c_stream__")?;
    let capsule = capsule.cast::<PyCapsule>()?;
    let stream = capsule.pointer_checked(Some(STREAM))?.cast::<FFI_ArrowArrayStream>();
    #[expect(unsafe_code, reason = "the C stream interface is raw by definition")]
    // SAFETY: according to the PyCapsule interface, a capsule with this name contains a valid C
    // stream, and the name was checked above. `from_raw` moves the stream out and marks the
    // capsule's copy as released.
    let reader = unsafe { RecordBatchStreamReader::from_raw(stream.as_ptr()) }.map_err(value)?;
    reader.map(|batch| batch.map_err(value)).collect()
}

/// Returns a column of text, which may be dictionary-encoded, or `None` if there is no such
/// column. If all values are null, the column may have any type.
pub(crate) fn texts(batch: &RecordBatch, name: &str) -> PyResult<Option<Vec<Option<String>>>> {
    let Some(column) = batch.column_by_name(name) else { return Ok(None) };
    let of = |column: &ArrayRef| -> Option<Vec<Option<String>>> {
        let owned = |text: Option<&str>| text.map(str::to_string);
        Some(match column.data_type() {
            DataType::Utf8 => column.as_string::<i32>().iter().map(owned).collect(),
            DataType::LargeUtf8 => column.as_string::<i64>().iter().map(owned).collect(),
            DataType::Utf8View => column.as_string_view().iter().map(owned).collect(),
            _ if is_null(column) => vec![None; column.len()],
            _ => return None,
        })
    };
    let words = match column.as_any_dictionary_opt() {
        None => of(column),
        Some(dictionary) => of(dictionary.values()).map(|words| {
            let keys = dictionary.normalized_keys().into_iter().enumerate();
            keys.map(|(row, key)| words.get(key).filter(|_| column.is_valid(row))?.clone())
                .collect()
        }),
    };
    words.map(Some).ok_or_else(|| {
        let found = column.data_type();
        value(format!("the {name:?} column must contain text, not {found}"))
    })
}

/// Returns true if all values in a column are null.
fn is_null(column: &ArrayRef) -> bool {
    column.logical_null_count() == column.len()
}

/// Returns a column of numbers of any type, or of times converted to seconds. Returns `None` if
/// there is no such column. If all values are null, the column may have any type. For any other
/// type, the error says that the column must contain `expected`.
pub(crate) fn numbers(
    batch: &RecordBatch,
    name: &str,
    expected: &str,
) -> PyResult<Option<Vec<Option<f64>>>> {
    fn all<T: ArrowPrimitiveType>(column: &ArrayRef, to: fn(T::Native) -> f64) -> Vec<Option<f64>> {
        column.as_primitive::<T>().iter().map(|value| value.map(to)).collect()
    }
    let Some(column) = batch.column_by_name(name) else { return Ok(None) };
    Ok(Some(match column.data_type() {
        DataType::Float64 => all::<Float64Type>(column, |value| value),
        DataType::Float32 => all::<Float32Type>(column, f64::from),
        DataType::Int8 => all::<Int8Type>(column, f64::from),
        DataType::Int16 => all::<Int16Type>(column, f64::from),
        DataType::Int32 => all::<Int32Type>(column, f64::from),
        DataType::Int64 => all::<Int64Type>(column, |value| value as f64),
        DataType::UInt8 => all::<UInt8Type>(column, f64::from),
        DataType::UInt16 => all::<UInt16Type>(column, f64::from),
        DataType::UInt32 => all::<UInt32Type>(column, f64::from),
        DataType::UInt64 => all::<UInt64Type>(column, |value| value as f64),
        DataType::Timestamp(unit, _) | DataType::Duration(unit) => {
            let a_second = match unit {
                TimeUnit::Second => 1.0,
                TimeUnit::Millisecond => 1e3,
                TimeUnit::Microsecond => 1e6,
                TimeUnit::Nanosecond => 1e9,
            };
            let ticks = column.to_data();
            let ticks = Int64Array::from(
                ticks.into_builder().data_type(DataType::Int64).build().map_err(value)?,
            );
            ticks.iter().map(|tick| tick.map(|tick| tick as f64 / a_second)).collect()
        }
        _ if is_null(column) => vec![None; column.len()],
        other => {
            return Err(value(format!("the {name:?} column must contain {expected}, not {other}")));
        }
    }))
}
