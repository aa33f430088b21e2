//! Leases and waiting requests.

use std::fmt;

use pavior::{Cuboid, Freedom, Placement, Request, Sides, Time};
use serde::{Deserialize, Serialize};

use super::served_machine::{UNLIMITED, micros};

/// A client's name for a job: a JSON integer or string. 7 and "7" are different names.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(untagged)]
pub enum JobName {
    /// An integer.
    Number(i64),
    /// An integer that is too large for `i64`.
    Large(u64),
    /// A string.
    Text(String),
}

impl fmt::Display for JobName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            JobName::Number(number) => number.fmt(f),
            JobName::Large(number) => number.fmt(f),
            JobName::Text(text) => text.fmt(f),
        }
    }
}

/// A box in the journal's format: the three base coordinates, then the three sides.
pub type Box3 = [[u16; 3]; 2];

/// Converts a list of boxes to the journal's format.
pub(crate) fn boxes(parts: &[Cuboid]) -> Vec<Box3> {
    parts.iter().map(|part| [part.base, part.sides]).collect()
}

/// Converts boxes from the journal's format.
pub(crate) fn cuboids(boxes: &[Box3]) -> Vec<Cuboid> {
    boxes.iter().map(|&[base, sides]| Cuboid::new(base, sides)).collect()
}

/// Nodes held by a job until the lease expires or is ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lease {
    /// The lease's number, which is never reused.
    pub id: u64,
    /// The fencing token, below 2^53. Each later lease has a greater token.
    pub epoch: u64,
    /// The machine's name.
    pub machine: String,
    /// The boxes in the order in which they were granted, each as three base coordinates and three
    /// sides.
    pub parts: Vec<Box3>,
    /// The requested number of nodes.
    pub requested: u32,
    /// The requested box, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shape: Option<[u16; 3]>,
    /// The requested freedom, if specified.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub freedom: Option<Freedom>,
    /// The tenant that holds the lease; empty for the operator.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub tenant: String,
    /// The client's name for the job.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub job: Option<JobName>,
    /// The time when the lease was granted, in milliseconds since 1970.
    pub start_ms: u64,
    /// The time when the lease expires.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_ms: Option<u64>,
    /// The time to live given in the request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ttl_ms: Option<u64>,
    /// The expected run time of the job, for schedulers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub estimate_ms: Option<u64>,
    /// The time when the lease was requested, if the request had to wait.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked_ms: Option<u64>,
}

impl Lease {
    /// Returns the boxes.
    pub fn cuboids(&self) -> Vec<Cuboid> {
        cuboids(&self.parts)
    }

    pub(crate) fn placement(&self) -> Placement {
        match self.parts[..] {
            [[base, sides]] => Placement::Whole(Cuboid::new(base, sides)),
            _ => Placement::Parts(self.cuboids()),
        }
    }

    /// Returns the number of nodes.
    pub fn nodes(&self) -> u32 {
        self.cuboids().iter().map(Cuboid::volume).sum()
    }

    /// Returns the time when the lease expires or its job is expected to end, whichever comes
    /// first, in milliseconds since 1970; `None` if neither is known.
    pub(crate) fn end_ms(&self) -> Option<u64> {
        let estimated = self.estimate_ms.map(|length| self.start_ms.saturating_add(length));
        estimated.into_iter().chain(self.expires_ms).min()
    }

    /// Returns the time when schedulers expect the lease to end, in milliseconds since 1970.
    pub(crate) fn expected_end_ms(&self) -> u64 {
        self.start_ms.saturating_add(self.estimate().0 / 1000)
    }

    pub(crate) fn estimate(&self) -> Time {
        estimate(self.estimate_ms, self.length_ms())
    }

    /// Returns the time from the lease's start to its expiry, if the lease expires.
    pub(crate) fn length_ms(&self) -> Option<u64> {
        self.expires_ms.map(|end| end.saturating_sub(self.start_ms))
    }

    /// Returns the request for the strategy.
    pub(crate) fn request(&self) -> Request {
        request(self.requested, self.shape, self.freedom)
    }
}

/// A request in the queue.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WaitingRequest {
    /// The number of the request. The lease will get the same number.
    pub id: u64,
    /// The request's own fencing token. The lease will get a different token.
    pub epoch: u64,
    /// The machine's name.
    pub machine: String,
    /// The number of nodes.
    pub requested: u32,
    /// The box, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shape: Option<[u16; 3]>,
    /// The requested freedom, if specified.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub freedom: Option<Freedom>,
    /// The tenant that made the request.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub tenant: String,
    /// The client's name for the job.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub job: Option<JobName>,
    /// The time when the request was made.
    pub asked_ms: u64,
    /// The time to live, counted from the grant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ttl_ms: Option<u64>,
    /// The expected run time of the job.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub estimate_ms: Option<u64>,
}

impl WaitingRequest {
    pub(crate) fn estimate(&self) -> Time {
        estimate(self.estimate_ms, self.ttl_ms)
    }

    /// Returns the request for the strategy.
    pub(crate) fn request(&self) -> Request {
        request(self.requested, self.shape, self.freedom)
    }
}

/// Returns the run time that schedulers assume: the estimate or, failing that, the time to
/// live.
pub(crate) fn estimate(stated_ms: Option<u64>, ttl_ms: Option<u64>) -> Time {
    stated_ms.or(ttl_ms).map_or(UNLIMITED, micros)
}

fn request(nodes: u32, shape: Option<Sides>, freedom: Option<Freedom>) -> Request {
    shape
        .map_or_else(|| Request::nodes(nodes), |shape| Request::hinted(nodes, shape))
        .with_freedom(freedom)
}
