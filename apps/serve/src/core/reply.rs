//! What the service answers, as it goes to the caller.

use std::fmt;
use std::time::Duration;

use pavior_kernel::Date;
use pavior_mesh::{Coordinates, Cuboid, Freedom, Grid};
use serde::{Serialize, Serializer};
use serde_json::{Value, json};

use super::{JobName, Lease, WaitingRequest};

/// A status and a body of JSON; a status of 400 or more carries a problem.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    /// The HTTP status.
    pub status: u16,
    /// The body.
    pub body: String,
}

impl Reply {
    /// A reply.
    ///
    /// # Panics
    /// If the body has keys that are no text.
    pub fn new(status: u16, body: &impl Serialize) -> Reply {
        Reply { status, body: serde_json::to_string(body).expect("bodies can be written") }
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

/// A time as every reply writes it (RFC 3339 in UTC, with milliseconds), from milliseconds since
/// 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Instant(pub u64);

impl fmt::Display for Instant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.3}", Date(Duration::from_millis(self.0)))
    }
}

impl Serialize for Instant {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// A box as callers see it.
#[derive(Serialize)]
struct ShownPart<'a> {
    base: &'a [u16],
    sides: &'a [u16],
}

/// A lease as callers see it.
#[derive(Serialize)]
struct ShownLease<'a> {
    id: u64,
    state: &'static str,
    epoch: u64,
    machine: &'a str,
    nodes: u32,
    requested: u32,
    parts: Vec<ShownPart<'a>>,
    expires: Option<Instant>,
    start: Instant,
    tenant: Option<&'a str>,
    job: Option<&'a JobName>,
}

/// A lease that is no more, as callers see it.
#[derive(Serialize)]
struct ShownEnd {
    id: u64,
    ended: bool,
    nodes: u32,
}

impl Lease {
    /// The lease as callers see it.
    pub fn shown(&self, grid: &Grid) -> impl Serialize {
        let axes = grid.axes();
        ShownLease {
            id: self.id,
            state: "held",
            epoch: self.epoch,
            machine: &self.machine,
            nodes: self.nodes(),
            requested: self.requested,
            parts: self
                .parts
                .iter()
                .map(|[base, sides]| ShownPart { base: &base[..axes], sides: &sides[..axes] })
                .collect(),
            expires: self.expires_ms.map(Instant),
            start: Instant(self.start_ms),
            tenant: tenant(&self.tenant),
            job: self.job.as_ref(),
        }
    }

    /// The same as a value, to add to.
    pub fn json(&self, grid: &Grid) -> Value {
        json!(self.shown(grid))
    }
}

impl WaitingRequest {
    /// The request as callers see it.
    pub fn json(&self, grid: &Grid) -> Value {
        json!({
            "id": self.id,
            "state": "waiting",
            "epoch": (self.epoch > 0).then_some(self.epoch),
            "machine": self.machine,
            "requested": self.requested,
            "shape": self.shape.map(|shape| shape[..grid.axes()].to_vec()),
            "freedom": self.freedom.map(Freedom::word),
            "asked": Instant(self.asked_ms),
            "tenant": tenant(&self.tenant),
            "job": self.job,
        })
    }
}

/// The reply to an end.
pub(crate) fn ended(id: u64, nodes: u32) -> Reply {
    Reply::new(200, &ShownEnd { id, ended: true, nodes })
}

/// A tenant as callers see it: the operator has no name.
fn tenant(name: &str) -> Option<&str> {
    (!name.is_empty()).then_some(name)
}
