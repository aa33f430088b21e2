//! What a call asks for, and why it is denied.

use pavior_allocation::{AllocateError, Refusal};
use pavior_mesh::{Grid, Request, Sides};
use pavior_workload::Shaper;
use pyo3::prelude::*;

use crate::errors::{failed, other, value};
use crate::geometry;

/// What a call asks for.
pub(super) enum Asked {
    Shape(Sides),
    Nodes(u32),
}

impl Asked {
    /// What a call asks for: a shape or a number of nodes.
    pub(super) fn of(
        grid: &Grid,
        shape: Option<&Bound<'_, PyAny>>,
        nodes: Option<u32>,
    ) -> PyResult<Asked> {
        match (shape, nodes) {
            (Some(shape), None) => Ok(Asked::Shape(geometry::sides(grid, shape)?)),
            (None, Some(0)) => Err(value("a request is for at least 1 node")),
            (None, Some(nodes)) => Ok(Asked::Nodes(nodes)),
            _ => Err(value("give a shape or a number of nodes")),
        }
    }

    pub(super) fn request(&self, shaper: &mut Shaper) -> Request {
        match *self {
            Asked::Shape(sides) => Request::shape(sides),
            Asked::Nodes(nodes) => shaper.request(nodes),
        }
    }
}

/// Why a request is not granted: its reason, or another error.
pub(super) enum Denied {
    Refused(Refusal),
    Error(PyErr),
}

impl Denied {
    pub(super) fn of(py: Python<'_>, error: AllocateError) -> Denied {
        match error {
            AllocateError::Refused(refusal) => Denied::Refused(refusal),
            AllocateError::Failed(error) => Denied::Error(failed(py, &error)),
            error @ AllocateError::RepeatedJob(_) => Denied::Error(other(py, error.to_string())),
        }
    }
}

impl From<PyErr> for Denied {
    fn from(error: PyErr) -> Denied {
        Denied::Error(error)
    }
}
