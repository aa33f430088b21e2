//! What a call asks for.

use pavior_mesh::{Freedom, Grid, Request, UnknownFreedom};
use pavior_workload::{Ask, Shaper};
use pyo3::prelude::*;

use crate::errors::value;
use crate::geometry;

/// A shape or a number of nodes, and how free it is to be placed.
pub(super) struct Asked {
    ask: Ask,
    freedom: Option<Freedom>,
}

impl Asked {
    pub(super) fn of(
        grid: &Grid,
        shape: Option<&Bound<'_, PyAny>>,
        nodes: Option<u64>,
        freedom: Option<&str>,
    ) -> PyResult<Asked> {
        let sides = shape.map(|shape| geometry::numbers(shape, "a shape", 1)).transpose()?;
        let sides = sides.map(|(sides, count)| (sides.map(u64::from), count));
        let given = sides.as_ref().map(|(sides, count)| &sides[..*count]);
        let read = |word: &str| word.parse().map_err(|error: UnknownFreedom| value(error));
        Ok(Asked {
            ask: Ask::read(given, nodes, grid).map_err(value)?,
            freedom: freedom.map(read).transpose()?,
        })
    }

    pub(super) fn request(&self, shaper: &mut Shaper) -> Request {
        self.ask.request(shaper).with_freedom(self.freedom)
    }
}
