//! Request bodies and their parsing.

use std::fmt;

use axum::body::Bytes;
use pavior::text::message;
use pavior::time::{BadDate, Date};
use pavior::{Coordinates, Cuboid, Freedom, Grid, UnknownFreedom, json};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use utoipa::ToSchema;

use crate::core::schema;
use crate::core::{Ask, JobName, LeaseRequest, Problem, Reason};

/// The maximum time to live or estimate in seconds: a century.
const LONGEST_S: f64 = 3.2e9;
/// The maximum length of a tenant's or job's name, in bytes.
const NAME: usize = 255;

/// A request for a shape or a number of nodes.
#[derive(Clone, Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct LeaseBody {
    /// The sides of the box, one per axis of the machine.
    #[schema(value_type = Option<Vec<u64>>, example = json!([2, 3]), min_items = 1, max_items = 3)]
    pub(crate) shape: Option<Vec<u64>>,
    /// The number of nodes, instead of a shape.
    #[schema(minimum = 1)]
    pub(crate) nodes: Option<u64>,
    /// The freedom in the placement; by default, the strategy decides.
    #[schema(value_type = Option<schema::Freedom>)]
    pub(crate) freedom: Option<String>,
    /// Seconds until the lease expires; by default, it does not expire.
    #[schema(exclusive_minimum = 0, maximum = 3.2e9)]
    pub(crate) ttl_s: Option<f64>,
    /// The estimated run time in seconds, for schedulers.
    #[schema(exclusive_minimum = 0, maximum = 3.2e9)]
    pub(crate) estimate_s: Option<f64>,
    /// The tenant; only the operator may name another one.
    #[schema(min_length = 1, max_length = 255, pattern = r"^[A-Za-z0-9._:@-]+$")]
    pub(crate) tenant: Option<String>,
    /// The machine; by default the first one.
    pub(crate) machine: Option<String>,
    /// The client's name for the job: an integer or a string.
    pub(crate) job: Option<JobName>,
    /// True to wait in the queue if the request cannot start now.
    #[serde(default)]
    pub(crate) wait: bool,
}

/// A box. Its base and sides have one number per axis of the machine.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct BoxBody {
    /// The corner with the smallest coordinates.
    #[schema(min_items = 1, max_items = 3)]
    base: Vec<u64>,
    /// The sides.
    #[schema(min_items = 1, max_items = 3)]
    sides: Vec<u64>,
}

/// Nodes that are already in use.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct HoldBody {
    /// The boxes, which must be disjoint.
    #[schema(min_items = 1)]
    pub(crate) parts: Vec<BoxBody>,
    /// As in a lease.
    #[schema(exclusive_minimum = 0, maximum = 3.2e9)]
    pub(crate) ttl_s: Option<f64>,
    /// As in a lease.
    #[schema(min_length = 1, max_length = 255, pattern = r"^[A-Za-z0-9._:@-]+$")]
    pub(crate) tenant: Option<String>,
    /// As in a lease.
    pub(crate) machine: Option<String>,
    /// As in a lease.
    pub(crate) job: Option<JobName>,
}

/// The fencing token of a lease.
#[derive(Clone, Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct EndBody {
    /// The epoch of the lease; optional for a waiting request.
    pub(crate) epoch: Option<u64>,
}

/// The fencing token of a lease, and its new duration.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RenewBody {
    /// The epoch of the lease.
    pub(crate) epoch: u64,
    /// Seconds from now; by default, the original duration of the lease.
    #[schema(exclusive_minimum = 0, maximum = 3.2e9)]
    pub(crate) ttl_s: Option<f64>,
}

/// A node of a machine.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NodeBody {
    /// The coordinates, one per axis of the machine.
    #[schema(example = json!([1, 1]), min_items = 1, max_items = 3)]
    pub(crate) node: Vec<u64>,
    /// The machine; by default the first one.
    pub(crate) machine: Option<String>,
}

/// Parses a body, which must be an object without duplicate keys.
pub(crate) fn read<T: DeserializeOwned>(bytes: &Bytes) -> Result<T, Problem> {
    let bad = |detail: &dyn fmt::Display| Problem::bad(message(&format!("the body: {detail}")));
    // Serde would also accept a list of the values in order.
    if bytes.trim_ascii_start().first() == Some(&b'[') {
        return Err(bad(&"expected an object, found a list"));
    }
    // This also detects duplicate keys, because all keys are known.
    serde_json::from_slice(bytes).or_else(|error| {
        // JSON also allows 4.0 as an integer. Only a body with such numbers is parsed again.
        let mut body: Value = json::read(bytes).map_err(|error| bad(&error))?;
        whole(&mut body);
        serde_json::from_value(body).map_err(|_| bad(&error))
    })
}

/// Parses a number in a query: at most 2^63 - 1, as the OpenAPI document states for all integers.
pub(crate) fn in_query<'de, D: Deserializer<'de>>(from: D) -> Result<Option<u64>, D::Error> {
    let number = Option::<u64>::deserialize(from)?;
    match number.filter(|&number| i64::try_from(number).is_err()) {
        Some(_) => Err(serde::de::Error::custom("the number is too large")),
        None => Ok(number),
    }
}

/// Converts numbers without a fractional part to integers.
fn whole(value: &mut Value) {
    match value {
        Value::Number(number) => {
            let small = |number: &f64| number.fract() == 0.0 && number.abs() < 9e15;
            if let Some(given) = number.as_f64().filter(small).filter(|_| number.is_f64()) {
                *number = (given as i64).into();
            }
        }
        Value::Array(list) => list.iter_mut().for_each(whole),
        Value::Object(members) => members.values_mut().for_each(whole),
        _ => {}
    }
}

fn bad<T>(detail: impl Into<String>) -> Result<T, Problem> {
    Err(Problem::bad(detail))
}

impl LeaseBody {
    pub(crate) fn request(self, grid: &Grid) -> Result<LeaseRequest, Problem> {
        let ask = ask(self.shape.as_deref(), self.nodes, grid)?;
        Ok(LeaseRequest {
            machine: self.machine,
            ask,
            freedom: freedom(self.freedom.as_deref())?,
            ttl_ms: millis("ttl_s", self.ttl_s)?,
            estimate_ms: millis("estimate_s", self.estimate_s)?,
            tenant: tenant(self.tenant)?,
            job: job(self.job)?,
            wait: self.wait,
        })
    }
}

impl HoldBody {
    pub(crate) fn request(self, grid: &Grid) -> Result<(LeaseRequest, Vec<Cuboid>), Problem> {
        let parts = self.parts.iter().map(|part| part.cuboid(grid)).collect::<Result<_, _>>()?;
        let request = LeaseRequest {
            machine: self.machine,
            ttl_ms: millis("ttl_s", self.ttl_s)?,
            tenant: tenant(self.tenant)?,
            job: job(self.job)?,
            ..LeaseRequest::of(Ask::Nodes(1))
        };
        Ok((request, parts))
    }
}

impl BoxBody {
    pub(crate) fn cuboid(&self, grid: &Grid) -> Result<Cuboid, Problem> {
        let axes = grid.axes();
        let numbers = |what: &str, list: &[u64], least: u64| {
            let right = |&number: &u64| number >= least && u16::try_from(number).is_ok();
            if list.len() != axes || !list.iter().all(right) {
                let most = u16::MAX;
                return bad(format!("\"{what}\" must be {axes} integers from {least} to {most}"));
            }
            let mut numbers = [least as u16; 3];
            for (number, &given) in numbers.iter_mut().zip(list) {
                *number = given as u16;
            }
            Ok(numbers)
        };
        Ok(Cuboid::new(numbers("base", &self.base, 0)?, numbers("sides", &self.sides, 1)?))
    }
}

pub(crate) fn ask(shape: Option<&[u64]>, nodes: Option<u64>, grid: &Grid) -> Result<Ask, Problem> {
    Ask::read(shape, nodes, grid).or_else(|fault| bad(fault.to_string()))
}

pub(crate) fn freedom(word: Option<&str>) -> Result<Option<Freedom>, Problem> {
    let read = |word: &str| word.parse().or_else(|error: UnknownFreedom| bad(error.to_string()));
    word.map(read).transpose()
}

/// Checks a node's coordinates.
pub(crate) fn node(coordinates: &[u64], grid: &Grid) -> Result<Coordinates, Problem> {
    let axes = grid.axes();
    if coordinates.len() != axes {
        return bad(format!("\"node\" must have {axes} coordinates"));
    }
    let mut point = [0; 3];
    for (own, &given) in point.iter_mut().zip(coordinates) {
        *own = u16::try_from(given).unwrap_or(u16::MAX);
    }
    if !grid.contains(point) {
        let detail = format!("node {coordinates:?} is outside {grid}");
        return Err(Problem::new(Reason::UnknownNode, detail));
    }
    Ok(point)
}

/// Parses the time in the member `what`, in milliseconds since 1970.
pub(crate) fn instant(what: &str, text: &str) -> Result<u64, Problem> {
    let read = text.parse().map(|Date(since)| since.as_millis() as u64);
    read.or_else(|error: BadDate| bad(format!("\"{what}\": {error}")))
}

/// Checks that a request body is empty or an empty object.
pub(crate) fn nothing(bytes: &Bytes) -> Result<(), Problem> {
    match bytes.trim_ascii() {
        b"" | b"{}" => Ok(()),
        _ => bad("the body must be empty or an empty object"),
    }
}

/// Converts seconds in a body to milliseconds, at least one.
pub(crate) fn millis(what: &str, seconds: Option<f64>) -> Result<Option<u64>, Problem> {
    match seconds {
        None => Ok(None),
        Some(seconds) if seconds > 0.0 && seconds <= LONGEST_S => {
            Ok(Some(((seconds * 1000.0).round() as u64).max(1)))
        }
        Some(_) => {
            bad(format!("\"{what}\" must be a number of seconds above 0 and at most {LONGEST_S}"))
        }
    }
}

fn tenant(name: Option<String>) -> Result<Option<String>, Problem> {
    match name {
        Some(name) if !is_tenant(&name) => {
            bad("a tenant name must be 1 to 255 letters, digits or . _ : @ -")
        }
        other => Ok(other),
    }
}

/// Returns true if a tenant may have this name.
pub(crate) fn is_tenant(name: &str) -> bool {
    let allowed = |c: char| c.is_ascii_alphanumeric() || "._:@-".contains(c);
    (1..=NAME).contains(&name.len()) && name.chars().all(allowed)
}

fn job(name: Option<JobName>) -> Result<Option<JobName>, Problem> {
    match name {
        Some(JobName::Text(text)) if text.len() > NAME => {
            bad(format!("\"job\" may have at most {NAME} bytes"))
        }
        other => Ok(other),
    }
}
