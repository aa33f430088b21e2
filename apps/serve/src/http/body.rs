//! Request bodies and their parsing.

use std::fmt;
use std::marker::PhantomData;

use axum::body::Bytes;
use pavior::text::message;
use pavior::time::{BadDate, Date};
use pavior::{Cuboid, Freedom, Grid, UnknownFreedom, json};
use serde::de::value::MapAccessDeserializer;
use serde::de::{DeserializeOwned, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use utoipa::ToSchema;

use crate::core::{Ask, JobName, LeaseRequest, Problem};

/// The maximum time to live and estimate, in seconds: a century.
const MAX_SECONDS: f64 = 3.2e9;
/// The maximum size of a tenant, job or reservation name, in bytes.
pub(crate) const MAX_NAME_BYTES: usize = 255;

pub(super) const BAD_TENANT: &str =
    "a tenant name must be 1 to 255 letters, digits or any of . _ : @ -";

/// The members of a body that describe the requested nodes.
pub(super) struct NodesRequested<'a> {
    pub(super) shape: Option<&'a [u64]>,
    pub(super) nodes: Option<u64>,
    pub(super) freedom: Option<&'a str>,
}

impl NodesRequested<'_> {
    pub(super) fn ask(&self, grid: &Grid) -> Result<Ask, Problem> {
        Ask::read(self.shape, self.nodes, grid).or_else(|fault| bad(fault.to_string()))
    }

    pub(super) fn freedom(&self) -> Result<Option<Freedom>, Problem> {
        let unknown = |error: UnknownFreedom| Problem::bad(error.to_string());
        self.freedom.map(str::parse).transpose().map_err(unknown)
    }
}

/// Defines a body type whose members describe the requested nodes, plus additional members.
macro_rules! request_body {
    ($(#[$meta:meta])* $name:ident($freedom:ident) { $($members:tt)* }) => {
        $(#[$meta])*
        #[derive(Clone, Debug, Default, Deserialize, ToSchema)]
        #[serde(deny_unknown_fields)]
        pub(crate) struct $name {
            /// The sides of the box, one per axis of the machine.
            #[schema(example = json!([2, 3]), min_items = 1, max_items = 3)]
            pub(super) shape: Option<Vec<u64>>,
            /// The number of nodes, as an alternative to `shape`.
            #[schema(minimum = 1)]
            pub(super) nodes: Option<u64>,
            /// The placement freedom. By default, the strategy decides; in plans to move leases,
            /// the default is `turned`.
            #[schema(value_type = Option<$crate::core::schema::$freedom>)]
            pub(super) freedom: Option<String>,
            /// The machine's name. Defaults to the first machine.
            pub(super) machine: Option<String>,
            $($members)*
        }

        impl<'a> From<&'a $name> for $crate::http::body::NodesRequested<'a> {
            fn from(body: &'a $name) -> Self {
                let (shape, freedom) = (body.shape.as_deref(), body.freedom.as_deref());
                Self { shape, nodes: body.nodes, freedom }
            }
        }
    };
}
pub(super) use request_body;

request_body! {
    /// A request for a shape or a number of nodes.
    LeaseBody(Freedom) {
        /// The number of seconds until the lease expires. By default, the lease does not expire.
        #[schema(exclusive_minimum = 0, maximum = 3.2e9)]
        pub(crate) ttl_s: Option<f64>,
        /// The job's estimated run time in seconds, for use by schedulers.
        #[schema(exclusive_minimum = 0, maximum = 3.2e9)]
        pub(crate) estimate_s: Option<f64>,
        /// The tenant that receives the lease. Only the operator may name another tenant.
        #[schema(min_length = 1, max_length = 255, pattern = r"^[A-Za-z0-9._:@-]+$")]
        pub(crate) tenant: Option<String>,
        /// The client's name for the job: an integer or a string.
        pub(crate) job: Option<JobName>,
        /// True to wait in the queue if the request cannot start now.
        #[serde(default)]
        pub(crate) wait: bool,
    }
}

/// A box. Its base and sides each have one number per axis of the machine.
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
    /// The boxes, which must not overlap.
    #[schema(min_items = 1)]
    #[serde(deserialize_with = "objects")]
    pub(crate) parts: Vec<BoxBody>,
    /// As in a lease request.
    #[schema(exclusive_minimum = 0, maximum = 3.2e9)]
    pub(crate) ttl_s: Option<f64>,
    /// As in a lease request.
    #[schema(min_length = 1, max_length = 255, pattern = r"^[A-Za-z0-9._:@-]+$")]
    pub(crate) tenant: Option<String>,
    /// As in a lease request.
    pub(crate) machine: Option<String>,
    /// As in a lease request.
    pub(crate) job: Option<JobName>,
}

/// A lease's fencing token.
#[derive(Clone, Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct EndBody {
    /// The lease's epoch. Optional for a waiting request.
    pub(crate) epoch: Option<u64>,
}

/// A lease's fencing token and new time to live.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RenewBody {
    /// The lease's epoch.
    pub(crate) epoch: u64,
    /// The new time to live, in seconds from now. Defaults to the original time to live.
    #[schema(exclusive_minimum = 0, maximum = 3.2e9)]
    pub(crate) ttl_s: Option<f64>,
}

/// A node on a machine.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NodeBody {
    /// The coordinates, one per axis of the machine.
    #[schema(example = json!([1, 1]), min_items = 1, max_items = 3)]
    pub(crate) node: Vec<u64>,
    /// The machine's name. Defaults to the first machine.
    pub(crate) machine: Option<String>,
}

/// Parses a body, which must be an object without duplicate keys.
pub(crate) fn parse<T: DeserializeOwned>(bytes: &Bytes) -> Result<T, Problem> {
    let malformed = |error: &dyn fmt::Display| Problem::bad(message(&format!("the body: {error}")));
    // Serde rejects duplicates of known fields, and unknown fields are errors anyway.
    serde_json::from_slice(bytes).map(|Object(body)| body).or_else(|error| {
        // In JSON, 4.0 is also an integer. Convert such numbers only if parsing fails.
        let mut body: Value = json::read(bytes).map_err(|error| malformed(&error))?;
        if !floats_to_integers(&mut body) {
            return Err(malformed(&error));
        }
        serde_json::from_value(body).map(|Object(body)| body).map_err(|error| malformed(&error))
    })
}

/// A value that must be an object, because Serde would also accept a list of values in field order.
struct Object<T>(T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Object<T>, D::Error> {
        struct ObjectVisitor<T>(PhantomData<T>);

        impl<'de, T: Deserialize<'de>> Visitor<'de> for ObjectVisitor<T> {
            type Value = T;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<T, A::Error> {
                T::deserialize(MapAccessDeserializer::new(map))
            }
        }

        from.deserialize_map(ObjectVisitor(PhantomData)).map(Object)
    }
}

/// Parses a member that is an object.
pub(super) fn object<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    from: D,
) -> Result<T, D::Error> {
    Object::deserialize(from).map(|Object(value)| value)
}

/// Parses a member that is a list of objects.
pub(super) fn objects<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    from: D,
) -> Result<Vec<T>, D::Error> {
    Ok(Vec::deserialize(from)?.into_iter().map(|Object(value)| value).collect())
}

/// Converts numbers without a fractional part to integers. Returns true if there are any.
fn floats_to_integers(value: &mut Value) -> bool {
    // Unlike `any`, this does not stop at the first one.
    let convert = |found: bool, value: &mut Value| floats_to_integers(value) || found;
    match value {
        Value::Number(number) if number.is_f64() => {
            let is_integer = |float: &f64| float.fract() == 0.0 && float.abs() < 9e15;
            let Some(float) = number.as_f64().filter(is_integer) else { return false };
            *number = (float as i64).into();
            true
        }
        Value::Array(list) => list.iter_mut().fold(false, convert),
        Value::Object(members) => members.values_mut().fold(false, convert),
        _ => false,
    }
}

fn bad<T>(detail: impl Into<String>) -> Result<T, Problem> {
    Err(Problem::bad(detail))
}

impl LeaseBody {
    pub(crate) fn request(self, grid: &Grid) -> Result<LeaseRequest, Problem> {
        let nodes = NodesRequested::from(&self);
        let (ask, freedom) = (nodes.ask(grid)?, nodes.freedom()?);
        Ok(LeaseRequest {
            machine: self.machine,
            ask,
            freedom,
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
            // The boxes replace the number of nodes.
            ..LeaseRequest::of(Ask::Nodes(1))
        };
        Ok((request, parts))
    }
}

impl BoxBody {
    pub(crate) fn cuboid(&self, grid: &Grid) -> Result<Cuboid, Problem> {
        let axes = grid.axes();
        let vector = |name: &str, list: &[u64], min: u16| {
            let is_valid = |&number: &u64| (min.into()..=u16::MAX.into()).contains(&number);
            if list.len() != axes || !list.iter().all(is_valid) {
                let max = u16::MAX;
                return bad(format!(
                    "\"{name}\" must be a list of {axes} integers from {min} to {max}"
                ));
            }
            let mut vector = [min; 3];
            for (entry, &number) in vector.iter_mut().zip(list) {
                *entry = number as u16;
            }
            Ok(vector)
        };
        Ok(Cuboid::new(vector("base", &self.base, 0)?, vector("sides", &self.sides, 1)?))
    }
}

/// Parses a time in a body and returns it in milliseconds since 1970.
pub(crate) fn instant(member: &str, text: &str) -> Result<u64, Problem> {
    let instant = text.parse().map(|Date(since)| since.as_millis() as u64);
    instant.or_else(|error: BadDate| bad(format!("\"{member}\": {error}")))
}

/// Checks that a request body is empty or an empty object.
pub(crate) fn check_empty(bytes: &Bytes) -> Result<(), Problem> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Empty {}

    if bytes.trim_ascii().is_empty() || parse::<Empty>(bytes).is_ok() {
        return Ok(());
    }
    bad("the request body must be empty or an empty object")
}

/// Converts seconds from a request body to milliseconds, with a minimum of one.
pub(crate) fn millis(member: &str, seconds: Option<f64>) -> Result<Option<u64>, Problem> {
    match seconds {
        None => Ok(None),
        Some(seconds) if seconds > 0.0 && seconds <= MAX_SECONDS => {
            Ok(Some(((seconds * 1000.0).round() as u64).max(1)))
        }
        Some(_) => bad(format!(
            "\"{member}\" must be a number of seconds above 0 and at most {MAX_SECONDS}"
        )),
    }
}

fn tenant(name: Option<String>) -> Result<Option<String>, Problem> {
    match name {
        Some(name) if !is_tenant(&name) => bad(BAD_TENANT),
        other => Ok(other),
    }
}

/// Returns true if this is a valid tenant name.
pub(crate) fn is_tenant(name: &str) -> bool {
    let allowed = |c: char| c.is_ascii_alphanumeric() || "._:@-".contains(c);
    (1..=MAX_NAME_BYTES).contains(&name.len()) && name.chars().all(allowed)
}

fn job(name: Option<JobName>) -> Result<Option<JobName>, Problem> {
    match name {
        Some(JobName::Text(text)) if text.len() > MAX_NAME_BYTES => {
            bad(format!("\"job\" must not exceed {MAX_NAME_BYTES} bytes"))
        }
        other => Ok(other),
    }
}
