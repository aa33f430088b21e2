//! The description of a forecast for OpenAPI.

use serde::Serialize;
use utoipa::ToSchema;

/// When a request will start, as far as that is known, and how good such answers have been. Times
/// are in RFC 3339.
#[derive(Serialize, ToSchema)]
#[schema(as = Forecast)]
pub(crate) struct StartSchema {
    /// Earlier than this in about 5 of 100 cases. A time is null where the request starts no sooner
    /// than 60 days from now.
    #[schema(format = DateTime)]
    earliest: Option<String>,
    /// Earlier and later equally often.
    #[schema(format = DateTime)]
    median: Option<String>,
    /// Later than this in about 5 of 100 cases.
    #[schema(format = DateTime)]
    latest: Option<String>,
    /// The start if each job runs as long as is said, and no more requests come.
    #[schema(format = DateTime)]
    plan: Option<String>,
    /// Why no time is known: `unavailable` if it cannot start until an unavailable node is back,
    /// `horizon` if it does not start within 60 days; else null.
    obstacle: Option<&'static str>,
    /// The place for the request with the fewest unavailable nodes, if it needs one of them.
    place: Option<super::reply::Part>,
    /// True if enough has been learned: 30 promises on this machine. Before, the margin is wide and
    /// nothing supports it.
    calibrated: bool,
    /// Requests that waited on this machine and started in the interval that was promised first.
    kept: u64,
    /// Those that did not, or wait too long already.
    broken: u64,
    /// Known run times of this machine.
    runs: u64,
}
