//! What a call asks for, and why it is denied.

use pavior_allocation::{AllocateError, Refusal};
use pavior_mesh::{Freedom, Grid, Request, Sides, UnknownFreedom};
use pavior_workload::Shaper;
use pyo3::prelude::*;

use crate::errors::{failed, other, value};
use crate::geometry;

/// What a call asks for, and how free it is to be placed.
pub(super) struct Asked {
    what: What,
    freedom: Option<Freedom>,
}

enum What {
    Shape(Sides),
    Nodes(u32),
}

impl Asked {
    /// What a call asks for: a shape or a number of nodes, and a word of freedom, if any.
    pub(super) fn of(
        grid: &Grid,
        shape: Option<&Bound<'_, PyAny>>,
        nodes: Option<u32>,
        freedom: Option<&str>,
    ) -> PyResult<Asked> {
        let what = match (shape, nodes) {
            (Some(shape), None) => What::Shape(geometry::sides(grid, shape)?),
            (None, Some(0)) => return Err(value("a request is for at least 1 node")),
            (None, Some(nodes)) => What::Nodes(nodes),
            _ => return Err(value("give a shape or a number of nodes")),
        };
        let read = |word: &str| word.parse().map_err(|error: UnknownFreedom| value(error));
        Ok(Asked { what, freedom: freedom.map(read).transpose()? })
    }

    pub(super) fn request(&self, shaper: &mut Shaper) -> Request {
        let request = match self.what {
            What::Shape(sides) => Request::shape(sides),
            What::Nodes(nodes) => shaper.request(nodes),
        };
        request.with_freedom(self.freedom)
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
