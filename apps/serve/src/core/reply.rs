//! What the service answers, as it goes to the caller.

use std::sync::Arc;

use pavior_mesh::{Coordinates, Cuboid, Grid};
use serde_json::{Value, json};

use super::{Lease, Waiting};

/// A status and a body of JSON; a status of 400 or more carries a problem.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    /// The HTTP status.
    pub status: u16,
    /// The body.
    pub body: Arc<str>,
}

impl Reply {
    /// A reply.
    pub fn new(status: u16, body: &Value) -> Reply {
        Reply { status, body: body.to_string().into() }
    }
}

/// Boxes with as many coordinates as the machine has axes.
pub fn parts(grid: &Grid, parts: &[Cuboid]) -> Vec<Value> {
    let axes = grid.axes();
    let part = |part: &Cuboid| json!({ "base": &part.base[..axes], "sides": &part.sides[..axes] });
    parts.iter().map(part).collect()
}

/// A node with as many coordinates as the machine has axes.
pub fn point(grid: &Grid, point: Coordinates) -> Value {
    json!(&point[..grid.axes()])
}

/// A time as people and programs write it.
pub(crate) fn instant(ms: Option<u64>) -> Value {
    ms.map_or(Value::Null, |ms| {
        let time = std::time::UNIX_EPOCH + std::time::Duration::from_millis(ms);
        Value::String(humantime::format_rfc3339_millis(time).to_string())
    })
}

impl Lease {
    /// The lease as callers see it.
    pub fn json(&self, grid: &Grid) -> Value {
        json!({
            "id": self.id,
            "state": "held",
            "epoch": self.epoch,
            "machine": self.machine,
            "nodes": self.nodes(),
            "requested": self.requested,
            "parts": parts(grid, &self.cuboids()),
            "expires": instant(self.expires_ms),
            "start": instant(Some(self.start_ms)),
            "tenant": tenant(&self.tenant),
            "job": self.job,
        })
    }
}

impl Waiting {
    /// The request as callers see it.
    pub fn json(&self, grid: &Grid) -> Value {
        json!({
            "id": self.id,
            "state": "waiting",
            "machine": self.machine,
            "requested": self.requested,
            "shape": self.shape.map(|shape| shape[..grid.axes()].to_vec()),
            "asked": instant(Some(self.asked_ms)),
            "tenant": tenant(&self.tenant),
            "job": self.job,
        })
    }
}

fn tenant(name: &str) -> Value {
    if name.is_empty() { Value::Null } else { name.into() }
}
