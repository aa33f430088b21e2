//! Points, shapes and boxes, with as many entries as the machine has axes.

use pavior_mesh::{Coordinates, Cuboid, Grid, NodeId, Sides};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PySequence, PyTuple};

use crate::errors::value;

/// Up to three whole numbers of an argument, the axes that it leaves out filled up.
pub(crate) fn numbers(
    argument: &Bound<'_, PyAny>,
    what: &str,
    fill: u16,
) -> PyResult<([u16; 3], usize)> {
    let sequence = argument.cast::<PySequence>().map_err(|_| {
        PyTypeError::new_err(format!("{what} is a sequence of whole numbers, such as (4, 4)"))
    })?;
    let count = sequence.len()?;
    if !(1..=3).contains(&count) {
        return Err(value(format!("{what} has 1 to 3 entries, one an axis, not {count}")));
    }
    let mut all = [fill; 3];
    for (index, entry) in all[..count].iter_mut().enumerate() {
        let number: i64 = sequence.get_item(index)?.extract()?;
        *entry = u16::try_from(number)
            .map_err(|_| value(format!("{what}: {number} is not in 0..65535")))?;
    }
    Ok((all, count))
}

/// As [`numbers`], one an axis of a machine.
fn on(grid: &Grid, argument: &Bound<'_, PyAny>, what: &str, fill: u16) -> PyResult<[u16; 3]> {
    let (all, count) = numbers(argument, what, fill)?;
    if count == grid.axes() {
        return Ok(all);
    }
    Err(value(format!("{what} on {grid} has {} entries, not {count}", grid.axes())))
}

/// The sides of a box on a machine, one an axis.
pub(crate) fn sides(grid: &Grid, argument: &Bound<'_, PyAny>) -> PyResult<Sides> {
    let sides = on(grid, argument, "a shape", 1)?;
    if sides.contains(&0) {
        return Err(value("a side of a shape is at least 1"));
    }
    Ok(sides)
}

/// The base of a box on a machine: one coordinate an axis, not necessarily a node.
pub(crate) fn point(grid: &Grid, argument: &Bound<'_, PyAny>) -> PyResult<Coordinates> {
    on(grid, argument, "a base", 0)
}

/// A node of a machine.
pub(crate) fn node(grid: &Grid, argument: &Bound<'_, PyAny>) -> PyResult<NodeId> {
    let point = on(grid, argument, "a node", 0)?;
    if !grid.contains(point) {
        return Err(value(format!("{} is no node of {grid}", words(&point[..grid.axes()]))));
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
