//! Leases, and requests that wait for one.

use std::fmt;

use pavior::{Cuboid, Freedom};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A client's name for a job: a JSON integer or string; 7 and "7" differ.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(untagged)]
pub enum JobName {
    /// An integer.
    Number(i64),
    /// An integer beyond the signed ones.
    Large(u64),
    /// A string.
    Text(String),
}

impl JobName {
    /// Returns the name that a JSON value is; `None` for anything but an integer or a string.
    pub fn read(value: &Value) -> Option<JobName> {
        let number = || value.as_i64().map(JobName::Number);
        let large = || value.as_u64().map(JobName::Large);
        value.as_str().map(|text| JobName::Text(text.to_string())).or_else(number).or_else(large)
    }
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

/// A box as the journal writes it: base and sides, three of each.
pub type Box3 = [[u16; 3]; 2];

/// Returns the boxes of a list as the journal writes them.
pub(crate) fn boxes(parts: &[Cuboid]) -> Vec<Box3> {
    parts.iter().map(|part| [part.base, part.sides]).collect()
}

/// Returns the boxes that the journal wrote so.
pub(crate) fn cuboids(boxes: &[Box3]) -> Vec<Cuboid> {
    boxes.iter().map(|&[base, sides]| Cuboid::new(base, sides)).collect()
}

/// Nodes that are held until they are given back, or a time passes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lease {
    /// Its number, which no other lease ever bears.
    pub id: u64,
    /// A fencing token below 2^53 that grows from holder to holder.
    pub epoch: u64,
    /// The machine.
    pub machine: String,
    /// The boxes, in the order of grant: base and sides, three of each.
    pub parts: Vec<[[u16; 3]; 2]>,
    /// The number of nodes that were asked for.
    pub requested: u32,
    /// The box that was asked for, if there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shape: Option<[u16; 3]>,
    /// The freedom to place it, if that was said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub freedom: Option<Freedom>,
    /// For whom; the empty name is the operator.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub tenant: String,
    /// The client's name for the job.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub job: Option<JobName>,
    /// When it was granted, in milliseconds since 1970.
    pub start_ms: u64,
    /// When it ends by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_ms: Option<u64>,
    /// The time to live that it was granted with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ttl_ms: Option<u64>,
    /// The time that the job is said to run, for schedulers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub estimate_ms: Option<u64>,
    /// When it was asked for, if it has waited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked_ms: Option<u64>,
}

impl Lease {
    /// Returns the boxes.
    pub fn cuboids(&self) -> Vec<Cuboid> {
        cuboids(&self.parts)
    }

    /// Returns the number of nodes.
    pub fn nodes(&self) -> u32 {
        self.cuboids().iter().map(Cuboid::volume).sum()
    }

    /// Returns the time when it ends by itself or its job is said to end, whichever comes first, in
    /// milliseconds since 1970; none if neither is known.
    pub(crate) fn end_ms(&self) -> Option<u64> {
        let said = self.estimate_ms.map(|length| self.start_ms.saturating_add(length));
        said.into_iter().chain(self.expires_ms).min()
    }
}

/// A request that waits in the queue.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WaitingRequest {
    /// The number that its lease will bear.
    pub id: u64,
    /// Its own fencing token, which its lease will not bear.
    pub epoch: u64,
    /// The machine.
    pub machine: String,
    /// The number of nodes.
    pub requested: u32,
    /// The box, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shape: Option<[u16; 3]>,
    /// How free it is to be placed, if that was said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub freedom: Option<Freedom>,
    /// For whom.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub tenant: String,
    /// The client's name for the job.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub job: Option<JobName>,
    /// When it was asked for.
    pub asked_ms: u64,
    /// The time to live, counted from the grant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ttl_ms: Option<u64>,
    /// The time that the job is said to run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub estimate_ms: Option<u64>,
}
