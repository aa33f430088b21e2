//! The service's clock: confirmed by the operator where it is in doubt.

use std::sync::Arc;

use axum::extract::State;

use super::extract::{Change, ChangeHeaders};
use super::statuses::Changed;
use super::{App, Fault};
use crate::core::reply::Clock;
use crate::core::{Command, Problem, Reason, Reply};

/// Confirms the clock: times go on from it, and leases end by time again (operator).
///
/// A clock that is far after the last record at a start is in doubt (`/readyz`). Leases that were
/// granted or renewed in doubt keep the time that they had left; others end if their time has
/// passed. A clock that is not in doubt stays as it is.
#[utoipa::path(
    post, path = "/v1/clock/confirm", tag = "service",
    params(ChangeHeaders),
    responses((status = 200, description = "the time before and now", body = Clock), Changed)
)]
pub(crate) async fn confirm(State(app): State<Arc<App>>, change: Change) -> Result<Reply, Fault> {
    let command = |bytes: &axum::body::Bytes| {
        let text = bytes.trim_ascii();
        if text.is_empty() || text == b"{}" {
            return Ok(Command::ConfirmClock);
        }
        Err(Problem::new(Reason::BadValue, "this request has no body, or an empty object"))
    };
    change.carry_out(&app, "clock/confirm", command).await
}
