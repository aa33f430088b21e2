//! Converts boxes, arrays and refusals to Python objects.

use pavior::{Cuboid, Grid, NodeId, Occupancy, Refusal};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString, PyTuple};

use crate::geometry::Box;

/// Returns the distinct names of refusals, in a fixed order.
pub(crate) fn reasons() -> Vec<&'static str> {
    let mut words: Vec<&str> = Refusal::ALL.map(Refusal::word).to_vec();
    words.dedup();
    words
}

pub(crate) fn boxes<'py>(
    py: Python<'py>,
    grid: &Grid,
    parts: &[Cuboid],
) -> PyResult<Bound<'py, PyTuple>> {
    let boxes: Vec<Box> = parts.iter().map(|&part| Box::new_on(grid, part)).collect();
    PyTuple::new(py, boxes)
}

/// Creates a numpy array `[z, y, x]` (one axis per axis of the machine) from values in node order.
pub(crate) fn array<'py>(
    py: Python<'py>,
    grid: &Grid,
    bytes: &[u8],
    kind: &str,
) -> PyResult<Bound<'py, PyAny>> {
    let numpy = py.import("numpy")?;
    let flat = numpy.call_method1("frombuffer", (PyBytes::new(py, bytes), kind))?;
    let shape: Vec<u16> = (0..grid.axes()).rev().map(|axis| grid.side(axis)).collect();
    flat.call_method1("reshape", (PyTuple::new(py, shape)?,))?.call_method0("copy")
}

/// Creates an array `[z, y, x]` that is True where nodes are free.
pub(crate) fn free_nodes<'py>(py: Python<'py>, free: &Occupancy) -> PyResult<Bound<'py, PyAny>> {
    array(py, free.grid(), &free_bytes(free), "bool")
}

/// Returns one byte per node, which is 1 if the node is free.
pub(crate) fn free_bytes(free: &Occupancy) -> Vec<u8> {
    bytes_at(free.grid(), free.iter())
}

/// Returns one byte per node, which is 1 for the given nodes.
pub(crate) fn bytes_at(grid: &Grid, nodes: impl Iterator<Item = NodeId>) -> Vec<u8> {
    let mut bytes = vec![0; grid.nodes() as usize];
    nodes.for_each(|node| bytes[node.index()] = 1);
    bytes
}

/// Returns the name of a refusal as an interned string.
pub(crate) fn word(py: Python<'_>, refusal: Refusal) -> Py<PyAny> {
    PyString::intern(py, refusal.word()).into_any().unbind()
}
