//! OpenAPI schemas of types that have a custom JSON format or come from other crates.

use std::borrow::Cow;

use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use super::JobName;

/// A box of nodes.
#[derive(ToSchema)]
#[expect(dead_code, reason = "only described")]
pub(crate) struct Part {
    /// The corner with the smallest coordinates.
    base: Vec<u16>,
    /// The sides.
    sides: Vec<u16>,
}

/// A planned move of a lease.
#[derive(ToSchema)]
#[expect(dead_code, reason = "only described")]
pub(crate) struct Move {
    /// The lease's number.
    job: u64,
    from: Vec<Part>,
    to: Vec<Part>,
}

/// A request's predicted start, and the accuracy of past forecasts. Times use RFC 3339 format.
#[derive(ToSchema)]
#[expect(dead_code, reason = "only described")]
pub(crate) struct Forecast {
    /// The 5% quantile of the start time; null if no start is predicted within 60 days.
    #[schema(format = DateTime)]
    earliest: Option<String>,
    /// The median of the predicted start.
    #[schema(format = DateTime)]
    median: Option<String>,
    /// The 95% quantile of the predicted start.
    #[schema(format = DateTime)]
    latest: Option<String>,
    /// The start if every job runs exactly as long as estimated and no more requests arrive.
    #[schema(format = DateTime)]
    plan: Option<String>,
    /// The reason why a time is missing: `unavailable` if the request cannot start until an
    /// unavailable node recovers, or `horizon` if no start is predicted within 60 days.
    obstacle: Option<&'static str>,
    /// The candidate box with the fewest unavailable nodes; null if the request needs no
    /// unavailable nodes.
    place: Option<Part>,
    /// True once at least 30 forecasts on this machine have been checked. Until then, the margin is
    /// wide and not based on data.
    calibrated: bool,
    /// The number of requests on this machine that started within their first predicted interval.
    kept: u64,
    /// The number of requests that started outside their first predicted interval.
    broken: u64,
    /// The number of this machine's jobs whose run time is known.
    runs: u64,
}

/// A request's placement freedom. Each value allows everything that the preceding ones allow.
#[derive(serde::Serialize, ToSchema)]
#[expect(dead_code, reason = "only described")]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Freedom {
    /// The box as requested.
    Box,
    /// The box in any orientation.
    Turned,
    /// Any box with the same number of nodes.
    AnyBox,
    /// Any connected set of nodes.
    Connected,
    /// Any set of nodes.
    Any,
}

/// A box's placement freedom.
#[derive(serde::Serialize, ToSchema)]
#[expect(dead_code, reason = "only described")]
#[serde(rename_all = "kebab-case")]
pub(crate) enum BoxFreedom {
    /// The box as requested.
    Box,
    /// The box in any orientation.
    Turned,
    /// Any box with the same number of nodes.
    AnyBox,
}

/// A job's name.
#[derive(serde::Serialize, ToSchema)]
#[expect(dead_code, reason = "only described")]
#[serde(untagged)]
enum Job {
    /// A number.
    Number(i64),
    /// A string.
    Text(String),
}

impl PartialSchema for JobName {
    fn schema() -> RefOr<Schema> {
        Job::schema()
    }
}

impl ToSchema for JobName {
    fn name() -> Cow<'static, str> {
        Job::name()
    }
}
