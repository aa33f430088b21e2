//! The service's health.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde::Serialize;
use utoipa::ToSchema;

use super::statuses::{NotReady, Open};
use super::{App, Fault};
use crate::writer::{ClockDoubt, Unavailable};

/// The service's status.
#[derive(Default, Serialize, ToSchema)]
#[expect(clippy::struct_field_names, reason = "the JSON member has this name")]
pub(crate) struct Status {
    /// Either `ok` or `ready`.
    status: &'static str,
    /// The number of the last record, if the service is ready.
    #[serde(skip_serializing_if = "Option::is_none")]
    seq: Option<u64>,
    /// `in-doubt` if the clock is far ahead of the last record; no lease expires until the doubt is
    /// resolved.
    #[serde(skip_serializing_if = "Option::is_none")]
    clock: Option<&'static str>,
    /// The reason why the clock is in doubt, and how to resolve it.
    #[serde(skip_serializing_if = "Option::is_none")]
    detail: Option<String>,
}

/// Reports that the process is alive.
#[utoipa::path(
    get, path = "/healthz", tag = "service",
    responses((status = 200, description = "the process is running", body = Status), Open)
)]
pub(crate) async fn healthz() -> Json<Status> {
    Json(Status { status: "ok", ..Status::default() })
}

/// Reports whether the service can make decisions and, if not, why.
#[utoipa::path(
    get, path = "/readyz", tag = "service",
    responses((status = 200, description = "the service is ready", body = Status), Open, NotReady)
)]
pub(crate) async fn readyz(State(app): State<Arc<App>>) -> Result<Json<Status>, Fault> {
    let stopping = app.stopping.borrow().then_some(Unavailable::Stopping);
    if let Some(why) = app.writer.unavailable().or(stopping) {
        return Err(why.into());
    }
    // Check this last, because it asks the database whether another server has taken over.
    app.writer.confirm().await?;
    let doubt = app.writer.clock_doubt();
    Ok(Json(Status {
        status: "ready",
        seq: Some(app.writer.seq()),
        clock: doubt.map(|_| "in-doubt"),
        detail: doubt.as_ref().map(ClockDoubt::sentence),
    }))
}
