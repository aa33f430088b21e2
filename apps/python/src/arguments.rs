//! Reads arguments in all the forms in which users may write them: machines given by name or by
//! sides, whole numbers, and numpy scalars.

use pavior::Grid;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::errors::{bad_name, value};
use crate::geometry;

/// Parses text into a type that implements `FromStr`. Raises `BadName` if the text is invalid.
pub(crate) fn read<T: std::str::FromStr<Err = pavior::BadName>>(text: &str) -> PyResult<T> {
    text.parse().map_err(|bad: pavior::BadName| bad_name(text, bad.reason, bad.span))
}

/// Formats any value for use in a message.
pub(crate) fn shown(given: &Bound<'_, PyAny>) -> String {
    let repr = given.repr().map_or_else(|_| "something".into(), |repr| repr.to_string());
    pavior::text::shown(&repr).to_string()
}

/// Converts a numpy scalar or array to a Python object. Returns anything else unchanged.
pub(crate) fn plain<'py>(given: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    if given.hasattr("tolist")? { given.call_method0("tolist") } else { Ok(given.clone()) }
}

/// Reads a non-negative whole number, given as an int, a numpy integer, or a float such as 1e4.
pub(crate) fn whole(given: &Bound<'_, PyAny>) -> PyResult<u64> {
    if let Ok(number) = given.extract::<u64>() {
        return Ok(number);
    }
    // A string does not count as a number, even if some number types could be parsed from it.
    let number = given.extract::<f64>().map_err(|_| {
        PyTypeError::new_err(format!("expected a whole number, not {}", shown(given)))
    })?;
    // Above 2^53, a float cannot represent every whole number.
    if number.fract() == 0.0 && (0.0..=9e15).contains(&number) {
        return Ok(number as u64);
    }
    let given = shown(given);
    Err(value(format!(
        "expected a whole number from 0 to 2^64 - 1 (a float: to 9e15), not {given}"
    )))
}

/// Returns the name of a machine, which may also be given as the sides of a mesh.
pub(crate) fn machine_name(given: &Bound<'_, PyAny>) -> PyResult<String> {
    if let Ok(name) = given.cast::<PyString>() {
        return Ok(name.to_str()?.to_string());
    }
    let sides = geometry::entries(given).ok_or_else(|| {
        PyTypeError::new_err(format!(
            "a machine must be a name, such as 'torus:8x8x8', or the sides of a mesh, such as (8, \
             8, 8), not {}",
            shown(given)
        ))
    })?;
    Ok(format!("mesh:{}", sides.iter().map(i64::to_string).collect::<Vec<_>>().join("x")))
}

/// Reads a machine, given as a name or as the sides of a mesh.
pub(crate) fn machine(given: &Bound<'_, PyAny>) -> PyResult<Grid> {
    read(&machine_name(given)?)
}
