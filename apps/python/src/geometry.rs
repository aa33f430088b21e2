//! Points, shapes and boxes, with one entry per axis of the machine.

use pavior::{Coordinates, Cuboid, Grid, NodeId, Sides};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyList, PySequence, PyString, PyTuple};

use crate::arguments::shown;
use crate::errors::value;

/// Reads whole numbers from an argument, which can be an int, text such as `4x4`, or a sequence of
/// ints. Returns `None` for anything else.
pub(crate) fn entries(argument: &Bound<'_, PyAny>) -> Option<Vec<i64>> {
    let all = |members: &mut dyn Iterator<Item = Bound<'_, PyAny>>| {
        members.map(|member| member.extract::<i64>().ok()).collect()
    };
    if let Ok(tuple) = argument.cast::<PyTuple>() {
        return all(&mut tuple.iter());
    }
    if let Ok(list) = argument.cast::<PyList>() {
        return all(&mut list.iter());
    }
    if let Ok(text) = argument.cast::<PyString>() {
        let parts = text.to_str().ok()?.split(['x', 'X', ',']);
        return parts.map(|part| part.trim().parse().ok()).collect();
    }
    if let Ok(number) = argument.extract::<i64>() {
        return Some(vec![number]);
    }
    // A numpy array is not registered as a sequence, so we recognize it by its `tolist` method.
    // Sets and dictionaries are rejected because they are neither sequences nor arrays.
    let is_ordered = argument.cast::<PySequence>().is_ok() || argument.hasattr("tolist").ok()?;
    let members = argument.try_iter().ok().filter(|_| is_ordered)?;
    members.map(|member| member.ok()?.extract::<i64>().ok()).collect()
}

/// Reads one to three whole numbers from an argument. For missing axes, uses `fill`.
pub(crate) fn numbers(
    argument: &Bound<'_, PyAny>,
    what: &str,
    fill: u16,
) -> PyResult<([u16; 3], usize)> {
    let entries = entries(argument).ok_or_else(|| {
        let given = shown(argument);
        PyTypeError::new_err(format!(
            "{what} must consist of whole numbers, such as (4, 4), not {given}"
        ))
    })?;
    let count = entries.len();
    if !(1..=3).contains(&count) {
        return Err(value(format!("{what} must have 1 to 3 entries, one per axis, not {count}")));
    }
    let mut all = [fill; 3];
    for (entry, number) in all.iter_mut().zip(entries) {
        *entry = u16::try_from(number).map_err(|_| {
            value(format!("{what} must have entries from 0 to 65535, not {number}"))
        })?;
    }
    Ok((all, count))
}

/// Reads numbers as [`numbers`] does, but requires exactly one for each axis of the machine.
fn on(grid: &Grid, argument: &Bound<'_, PyAny>, what: &str, fill: u16) -> PyResult<[u16; 3]> {
    let (all, count) = numbers(argument, what, fill)?;
    if count == grid.axes() {
        return Ok(all);
    }
    Err(value(format!("{what} on {grid} must have {} entries, not {count}", grid.axes())))
}

/// Reads the sides of a box on a machine, one per axis.
pub(crate) fn sides(grid: &Grid, argument: &Bound<'_, PyAny>) -> PyResult<Sides> {
    let sides = on(grid, argument, "a shape", 1)?;
    if sides.contains(&0) {
        return Err(value("each side of a shape must be at least 1"));
    }
    Ok(sides)
}

/// Reads the base of a box, with one coordinate per axis. The base may be outside the machine.
pub(crate) fn point(grid: &Grid, argument: &Bound<'_, PyAny>) -> PyResult<Coordinates> {
    on(grid, argument, "a base", 0)
}

pub(crate) fn node(grid: &Grid, argument: &Bound<'_, PyAny>) -> PyResult<NodeId> {
    let point = on(grid, argument, "a node", 0)?;
    if !grid.contains(point) {
        return Err(value(format!("{} is not a node of {grid}", words(&point[..grid.axes()]))));
    }
    Ok(grid.id(point))
}

fn words(numbers: &[u16]) -> String {
    let shown: Vec<String> = numbers.iter().map(u16::to_string).collect();
    format!("({})", shown.join(", "))
}

/// Returns the first `axes` numbers of a point or of a box's sides as a tuple.
pub(crate) fn tuple(
    py: Python<'_>,
    numbers: [u16; 3],
    axes: usize,
) -> PyResult<Bound<'_, PyTuple>> {
    PyTuple::new(py, &numbers[..axes])
}

/// A class and its constructor arguments, for `pickle`.
type Reduced<'py> = (Bound<'py, PyAny>, (Bound<'py, PyTuple>, Bound<'py, PyTuple>));

/// A box of nodes, defined by its sides and by its base, which is the corner with the smallest
/// coordinates before wrapping.
#[pyclass(frozen, eq, hash, module = "pavior")]
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Box {
    pub(crate) cuboid: Cuboid,
    pub(crate) axes: usize,
}

impl Box {
    pub(crate) fn new_on(grid: &Grid, cuboid: Cuboid) -> Box {
        Box { cuboid, axes: grid.axes() }
    }

    /// Formats the box as a Python expression.
    pub(crate) fn words(&self) -> String {
        let Cuboid { base, sides } = &self.cuboid;
        format!("Box({}, {})", words(&base[..self.axes]), words(&sides[..self.axes]))
    }

    /// Converts the box for use on a machine, which must have as many axes as the box.
    pub(crate) fn on(&self, grid: &Grid) -> PyResult<Cuboid> {
        let (needed, given) = (grid.axes(), self.axes);
        if needed == given {
            return Ok(self.cuboid);
        }
        Err(value(format!("a box on {grid} must have {needed} coordinates, not {given}")))
    }
}

#[pymethods]
impl Box {
    #[new]
    fn new(base: &Bound<'_, PyAny>, sides: &Bound<'_, PyAny>) -> PyResult<Box> {
        let (base, count): (Coordinates, usize) = numbers(base, "a base", 0)?;
        let (sides, axes): (Sides, usize) = numbers(sides, "a shape", 1)?;
        if count != axes {
            return Err(value(format!(
                "expected {axes} coordinates, one for each side, but found {count}"
            )));
        }
        if sides.contains(&0) {
            return Err(value("each side of a box must be at least 1"));
        }
        Ok(Box { cuboid: Cuboid::new(base, sides), axes })
    }

    /// The corner with the smallest coordinates, before wrapping.
    #[getter]
    fn base<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        tuple(py, self.cuboid.base, self.axes)
    }

    /// The sides, in nodes.
    #[getter]
    fn sides<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        tuple(py, self.cuboid.sides, self.axes)
    }

    /// Returns the number of nodes.
    fn nodes(&self) -> u64 {
        self.cuboid.sides.iter().map(|&side| u64::from(side)).product()
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Reduced<'py>> {
        let (py, this) = (slf.py(), slf.get());
        Ok((slf.get_type().into_any(), (this.base(py)?, this.sides(py)?)))
    }

    fn __repr__(&self) -> String {
        self.words()
    }
}
