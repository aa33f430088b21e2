//! Reads a request from the arguments of a call.

use pavior::workload::{Ask, Shaper};
use pavior::{Freedom, Grid, Request, UnknownFreedom};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::arguments::whole;
use crate::errors::value;
use crate::geometry;

/// A shape or a number of nodes, and the freedom in placing the job.
pub(super) struct NodeRequest {
    ask: Ask,
    freedom: Option<Freedom>,
}

impl NodeRequest {
    /// Reads the arguments of a call. An int given as the shape is a number of nodes.
    pub(super) fn of(
        grid: &Grid,
        shape: Option<&Bound<'_, PyAny>>,
        nodes: Option<&Bound<'_, PyAny>>,
        freedom: Option<&str>,
    ) -> PyResult<NodeRequest> {
        let is_count = |given: &Bound<'_, PyAny>| given.extract::<i64>().is_ok();
        let (shape, nodes) = match (shape, nodes) {
            (Some(count), None) if count.cast::<PyTuple>().is_err() && is_count(count) => {
                (None, Some(count))
            }
            both => both,
        };
        let sides = shape.map(|shape| geometry::numbers(shape, "a shape", 1)).transpose()?;
        let sides = sides.map(|(sides, axes)| sides.map(u64::from)[..axes].to_vec());
        let nodes = nodes.map(whole).transpose()?;
        let read = |word: &str| {
            let plain = word.to_ascii_lowercase().replace('_', "-");
            plain.parse().map_err(|error: UnknownFreedom| value(error))
        };
        Ok(NodeRequest {
            ask: Ask::read(sides.as_deref(), nodes, grid).map_err(value)?,
            freedom: freedom.map(read).transpose()?,
        })
    }

    pub(super) fn request(&self, shaper: &mut Shaper) -> Request {
        self.ask.request(shaper).with_freedom(self.freedom)
    }
}
