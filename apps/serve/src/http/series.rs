//! The route for utilization and the largest free box over time.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::extract::QueryParams;
use super::sampling::Interval;
use super::statuses::{Guarded, Missing};
use super::{App, Fault};
use crate::core::Instant;

/// A machine's metrics during an interval. Members whose names end in `_least` and `_most` are the
/// minimum and maximum during the interval.
#[derive(Serialize, ToSchema)]
pub(crate) struct Sample {
    /// The first record in the interval.
    seq: u64,
    #[schema(value_type = String, format = DateTime)]
    at: Instant,
    /// The time of the last record in the interval.
    #[schema(value_type = String, format = DateTime)]
    until: Instant,
    /// The number of nodes held by leases, at the end of the interval.
    busy: u64,
    busy_least: u64,
    busy_most: u64,
    /// The number of failed or drained nodes that no lease holds, at the end of the interval.
    unavailable: u64,
    unavailable_least: u64,
    unavailable_most: u64,
    /// The last computed number of nodes in the largest free box; null if it was not computed.
    largest_free: Option<u64>,
    largest_free_least: Option<u64>,
    largest_free_most: Option<u64>,
    /// The number of waiting requests, at the end of the interval.
    waiting: u64,
    waiting_least: u64,
    waiting_most: u64,
}

impl From<Interval> for Sample {
    fn from(interval: Interval) -> Sample {
        let Interval { seq, at_ms, until_ms, busy, unavailable, largest_free, waiting } = interval;
        Sample {
            seq,
            at: Instant(at_ms),
            until: Instant(until_ms),
            busy: busy.last.into(),
            busy_least: busy.least.into(),
            busy_most: busy.most.into(),
            unavailable: unavailable.last.into(),
            unavailable_least: unavailable.least.into(),
            unavailable_most: unavailable.most.into(),
            largest_free: largest_free.map(|range| range.last.into()),
            largest_free_least: largest_free.map(|range| range.least.into()),
            largest_free_most: largest_free.map(|range| range.most.into()),
            waiting: waiting.last.into(),
            waiting_least: waiting.least.into(),
            waiting_most: waiting.most.into(),
        }
    }
}

/// A machine's metrics over time.
#[derive(Serialize, ToSchema)]
#[schema(as = Series)]
pub(crate) struct SeriesReply {
    /// The samples, oldest first.
    samples: Vec<Sample>,
    /// The time of the reply (RFC 3339). The last sample is valid until then.
    #[schema(value_type = String, format = DateTime)]
    now: Instant,
}

/// The query parameter that selects a machine.
#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct SeriesQuery {
    /// The machine's name. Defaults to the first machine.
    machine: Option<String>,
}

/// Returns utilization and the largest free box over time, as a list of intervals. Each interval
/// has a minimum, a maximum and a last value.
#[utoipa::path(
    get, path = "/v1/series", tag = "machines", params(SeriesQuery),
    responses(
        (status = 200, description = "the samples, oldest first", body = SeriesReply),
        Guarded, Missing
    )
)]
pub(crate) async fn series(
    State(app): State<Arc<App>>,
    QueryParams(query): QueryParams<SeriesQuery>,
) -> Result<Json<SeriesReply>, Fault> {
    let index = app.machine_index(query.machine.as_deref())?;
    let samples = app.samples.intervals(index).into_iter().map(Sample::from).collect();
    Ok(Json(SeriesReply { samples, now: Instant(app.writer.clock.now_ms()) }))
}
