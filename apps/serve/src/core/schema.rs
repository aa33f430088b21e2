//! OpenAPI descriptions of answers that [`pavior::answers`] converts to JSON.

use utoipa::ToSchema;

/// A box of nodes.
#[derive(ToSchema)]
#[expect(dead_code, reason = "only described")]
pub(crate) struct Part {
    /// The corner with the smallest coordinates.
    base: Vec<u16>,
    /// The sides.
    sides: Vec<u16>,
}

/// The predicted start of a request, if known, and the accuracy of past forecasts. Times are in RFC
/// 3339.
#[derive(ToSchema)]
#[expect(dead_code, reason = "only described")]
pub(crate) struct Forecast {
    /// About 5 of 100 requests start earlier. This is null if the request does not start within 60
    /// days.
    #[schema(format = DateTime)]
    earliest: Option<String>,
    /// Half of the requests start earlier.
    #[schema(format = DateTime)]
    median: Option<String>,
    /// About 5 of 100 requests start later.
    #[schema(format = DateTime)]
    latest: Option<String>,
    /// The start if each job runs as long as estimated and no more requests arrive.
    #[schema(format = DateTime)]
    plan: Option<String>,
    /// The reason if no time is known: `unavailable` if the request cannot start until an
    /// unavailable node returns, `horizon` if it does not start within 60 days. Otherwise null.
    obstacle: Option<&'static str>,
    /// The place for the request with the fewest unavailable nodes, if it needs any.
    place: Option<Part>,
    /// True if at least 30 forecasts on this machine have been checked. Until then, the margin is
    /// wide and not based on data.
    calibrated: bool,
    /// The number of requests that waited on this machine and started in the interval predicted
    /// first.
    kept: u64,
    /// The number of requests that did not start within that interval, or can no longer do so.
    broken: u64,
    /// The number of known run times on this machine.
    runs: u64,
}
