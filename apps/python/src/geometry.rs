//! Points, shapes and boxes, with as many entries as the machine has axes.

use pavior_mesh::{Coordinates, Cuboid, Grid, NodeId, Sides};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyInt, PySequence, PyTuple};

use crate::errors::value;

/// Up to three whole numbers of an argument, the axes that it leaves out filled up.
fn numbers(argument: &Bound<'_, PyAny>, what: &str, fill: u16) -> PyResult<([u16; 3], usize)> {
    let mut all = [fill; 3];
    let mut set = |index: usize, entry: &Bound<'_, PyAny>| -> PyResult<()> {
        let number: i64 = entry.extract()?;
        let number = u16::try_from(number)
            .map_err(|_| PyValueError::new_err(format!("{what}: {number} is not in 0..65535")))?;
        all[index] = number;
        Ok(())
    };
    let wrong = |count: usize| {
        PyValueError::new_err(format!("{what} has 1 to 3 entries, one an axis, not {count}"))
    };
    if let Ok(tuple) = argument.cast::<PyTuple>() {
        let count = tuple.len();
        if !(1..=3).contains(&count) {
            return Err(wrong(count));
        }
        for (index, entry) in tuple.iter().enumerate() {
            set(index, &entry)?;
        }
        return Ok((all, count));
    }
    let sequence = argument.cast::<PySequence>().map_err(|_| {
        PyTypeError::new_err(format!("{what} is a sequence of whole numbers, such as (4, 4)"))
    })?;
    let count = sequence.len()?;
    if !(1..=3).contains(&count) {
        return Err(wrong(count));
    }
    for index in 0..count {
        set(index, &sequence.get_item(index)?)?;
    }
    Ok((all, count))
}

/// The entries of a plain tuple of so many whole numbers in range, which is what most callers give;
/// None for whatever else, which [`numbers`] reads or refuses.
fn plain(argument: &Bound<'_, PyAny>, axes: usize) -> Option<[u16; 3]> {
    let tuple = argument.cast_exact::<PyTuple>().ok().filter(|tuple| tuple.len() == axes)?;
    let mut all = [1; 3];
    for (index, number) in all[..axes].iter_mut().enumerate() {
        let entry = tuple.get_borrowed_item(index).ok()?;
        if !entry.is_exact_instance_of::<PyInt>() {
            return None;
        }
        *number = u16::try_from(entry.extract::<i64>().ok()?).ok()?;
    }
    Some(all)
}

/// The sides of a box on a machine, one an axis.
pub(crate) fn sides(grid: &Grid, argument: &Bound<'_, PyAny>) -> PyResult<Sides> {
    if let Some(sides) = plain(argument, grid.axes())
        && !sides.contains(&0)
    {
        return Ok(sides);
    }
    let (sides, count) = numbers(argument, "a shape", 1)?;
    if count != grid.axes() {
        return Err(value(format!("a shape on {grid} has {} sides, not {count}", grid.axes())));
    }
    if sides.contains(&0) {
        return Err(value("a side of a shape is at least 1"));
    }
    Ok(sides)
}

/// The base of a box on a machine: one coordinate an axis, not necessarily a node.
pub(crate) fn point(grid: &Grid, argument: &Bound<'_, PyAny>) -> PyResult<Coordinates> {
    let (point, count) = numbers(argument, "a base", 0)?;
    if count != grid.axes() {
        return Err(value(format!(
            "a base on {grid} has {} coordinates, not {count}",
            grid.axes()
        )));
    }
    Ok(point)
}

/// A node of a machine.
pub(crate) fn node(grid: &Grid, argument: &Bound<'_, PyAny>) -> PyResult<NodeId> {
    let (point, count) = numbers(argument, "a node", 0)?;
    if count != grid.axes() {
        return Err(value(format!(
            "a node of {grid} has {} coordinates, not {count}",
            grid.axes()
        )));
    }
    if (0..3).any(|axis| point[axis] >= grid.side(axis)) {
        return Err(value(format!("{} is no node of {grid}", words(&point[..count]))));
    }
    Ok(grid.id(point))
}

fn words(numbers: &[u16]) -> String {
    let shown: Vec<String> = numbers.iter().map(u16::to_string).collect();
    format!("({})", shown.join(", "))
}

/// The first entries of a point or of sides as a tuple.
pub(crate) fn tuple(
    py: Python<'_>,
    numbers: [u16; 3],
    axes: usize,
) -> PyResult<Bound<'_, PyTuple>> {
    PyTuple::new(py, &numbers[..axes])
}

/// A class and what it is called with, for `pickle`.
type Reduced<'py> = (Bound<'py, PyAny>, (Bound<'py, PyTuple>, Bound<'py, PyTuple>));

/// A box of nodes: its base, the corner of least coordinates before wrapping, and its sides.
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

    /// The box as Python would write it.
    pub(crate) fn words(&self) -> String {
        format!(
            "Box({}, {})",
            words(&self.cuboid.base[..self.axes]),
            words(&self.cuboid.sides[..self.axes])
        )
    }

    /// The box on a machine, whose number of axes it must have.
    pub(crate) fn on(&self, grid: &Grid) -> PyResult<Cuboid> {
        if self.axes == grid.axes() {
            Ok(self.cuboid)
        } else {
            Err(value(format!(
                "a box on {grid} has {} coordinates, not {}",
                grid.axes(),
                self.axes
            )))
        }
    }
}

#[pymethods]
impl Box {
    #[new]
    fn new(base: &Bound<'_, PyAny>, sides: &Bound<'_, PyAny>) -> PyResult<Box> {
        let (base, count): (Coordinates, usize) = numbers(base, "a base", 0)?;
        let (sides, axes): (Sides, usize) = numbers(sides, "a shape", 1)?;
        if count != axes {
            return Err(value(format!("{count} coordinates do not go with {axes} sides")));
        }
        if sides.contains(&0) {
            return Err(value("a side of a box is at least 1"));
        }
        Ok(Box { cuboid: Cuboid::new(base, sides), axes })
    }

    /// The corner of least coordinates, before wrapping.
    #[getter]
    fn base<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        tuple(py, self.cuboid.base, self.axes)
    }

    /// The lengths in nodes.
    #[getter]
    fn sides<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        tuple(py, self.cuboid.sides, self.axes)
    }

    /// The number of nodes.
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
