//! The free nodes as presented to a strategy.

use pavior::boxes::picture;
use pavior::strategies::BaseSet;
use pavior::{Cuboid, Occupancy};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::arrays::{array, bytes_at, free_nodes};
use crate::geometry::{self, Box as PyBox};

/// The nodes that are free when a strategy is called.
#[pyclass(frozen, module = "pavior")]
pub(crate) struct Free {
    pub(super) nodes: Occupancy,
}

#[pymethods]
impl Free {
    /// The sides of the machine.
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        geometry::tuple(py, self.nodes.grid().sides(), self.nodes.grid().axes())
    }

    /// One bool per axis: True if the axis wraps. All axes of a torus wrap; those of a mesh do not.
    #[getter]
    fn wraps<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let grid = self.nodes.grid();
        PyTuple::new(py, (0..grid.axes()).map(|axis| grid.wraps(axis)))
    }

    /// The number of free nodes.
    #[getter]
    fn count(&self) -> u32 {
        self.nodes.count()
    }

    /// Returns True if every node in a box is free. Returns False if the box extends beyond the
    /// machine.
    fn is_free(&self, base: &Bound<'_, PyAny>, sides: &Bound<'_, PyAny>) -> PyResult<bool> {
        let grid = self.nodes.grid();
        let cuboid = Cuboid::new(geometry::point(grid, base)?, geometry::sides(grid, sides)?);
        Ok(cuboid.lies_on(grid) && self.nodes.is_free(&cuboid))
    }

    /// Returns an array `[z, y, x]` that is True at the bases of free boxes with these sides.
    /// Requires numpy.
    fn bases<'py>(&self, py: Python<'py>, sides: &Bound<'_, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let grid = *self.nodes.grid();
        let sides = geometry::sides(&grid, sides)?;
        let mut bases = BaseSet::new(grid);
        bases.compute(&self.nodes, sides);
        let nodes = bases.row_major().map(|base| grid.id(base));
        array(py, &grid, &bytes_at(&grid, nodes), "bool")
    }

    /// Returns the largest free box, or None if no node is free.
    fn largest(&self) -> Option<PyBox> {
        let largest = self.nodes.largest_free();
        largest.map(|cuboid| PyBox::new_on(self.nodes.grid(), cuboid))
    }

    /// Draws the machine with the origin at the lower left. A free node is `.`, and a busy node is
    /// `#`.
    fn __repr__(&self) -> String {
        let (count, grid) = (self.nodes.count(), self.nodes.grid());
        let drawn = picture::draw(&self.nodes);
        format!("<Free: {count} of {} nodes of {grid}>\n{}", grid.nodes(), drawn.trim_end())
    }

    /// Returns an array `[z, y, x]` that is True at free nodes. Requires numpy.
    fn occupancy<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        free_nodes(py, &self.nodes)
    }
}
