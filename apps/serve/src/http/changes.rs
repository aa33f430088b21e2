//! Routes that change leases, nodes and the clock.

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::{Path, State};
use pavior::text::message;
use serde::Deserialize;
use utoipa::{IntoParams, ToSchema};

use super::body::{self, EndBody, HoldBody, LeaseBody, NodeBody, RenewBody, millis, parse};
use super::extract::{Change, ChangeHeaders, QueryParams};
use super::statuses::{Changed, Conflict, Named};
use super::{App, Fault};
use crate::core::reply::{Clock, Ended, LeaseReply, Node, Waiting};
use crate::core::{Command, NodeState, Problem, Reason, Reply, node_coordinates};

/// The query parameters of a request for nodes.
#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct CreateQuery {
    /// True to wait in the queue if the request cannot start now; same as `wait` in the body.
    wait: Option<bool>,
    /// The level of detail in a refusal.
    #[param(inline)]
    diagnosis: Option<DiagnosisDetail>,
}

/// The level of detail in a refusal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
enum DiagnosisDetail {
    /// The reason and a diagnosis.
    Full,
    /// Only the reason, at no cost beyond the placement attempt itself.
    None,
}

/// Requests nodes.
///
/// If the request is granted, the reply is the lease. If it is refused, the reply is the reason and
/// a diagnosis (omitted with `diagnosis=none`). With `wait`, a request that cannot start now is
/// queued: the status is 202, and `/v1/watch` reports the lease when the request starts. Without
/// `wait`, a request takes free nodes immediately, even if other requests are waiting.
#[utoipa::path(
    post, path = "/v1/leases", tag = "leases",
    request_body = LeaseBody,
    params(CreateQuery, ChangeHeaders),
    responses(
        (status = 201, description = "the lease", body = LeaseReply),
        (status = 202, description = "the request is waiting", body = Waiting),
        Named, Conflict
    )
)]
pub(crate) async fn create(
    State(app): State<Arc<App>>,
    QueryParams(query): QueryParams<CreateQuery>,
    mut change: Change,
) -> Result<Reply, Fault> {
    let command = |bytes: &_| {
        let mut body: LeaseBody = parse(bytes)?;
        body.wait |= query.wait.unwrap_or(false);
        let grid = *app.named_grid(body.machine.as_deref())?;
        body.request(&grid).map(Command::Lease)
    };
    change.is_diagnosed = query.diagnosis != Some(DiagnosisDetail::None);
    change.carry_out(&app, "lease", command).await
}

/// Ends a lease, or removes a waiting request from the queue.
#[utoipa::path(
    post, path = "/v1/leases/{id}/end", tag = "leases",
    request_body = Option<EndBody>,
    params(("id" = u64, Path, description = "the lease"), ChangeHeaders),
    responses((status = 200, description = "the lease has ended", body = Ended), Named, Conflict)
)]
pub(crate) async fn end(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
    change: Change,
) -> Result<Reply, Fault> {
    let command = |bytes: &Bytes| {
        let EndBody { epoch } = match bytes.trim_ascii() {
            b"" | b"null" => EndBody::default(),
            _ => parse(bytes)?,
        };
        Ok(Command::End { id: lease_id(&id)?, epoch })
    };
    change.carry_out(&app, &format!("end/{id}"), command).await
}

/// Restarts a lease's time to live.
#[utoipa::path(
    post, path = "/v1/leases/{id}/renew", tag = "leases",
    request_body = RenewBody,
    params(("id" = u64, Path, description = "the lease"), ChangeHeaders),
    responses(
        (status = 200, description = "the extended lease", body = LeaseReply), Named, Conflict
    )
)]
pub(crate) async fn renew(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
    change: Change,
) -> Result<Reply, Fault> {
    let command = |bytes: &_| {
        let RenewBody { epoch, ttl_s } = parse(bytes)?;
        Ok(Command::Renew { id: lease_id(&id)?, epoch, ttl_ms: millis("ttl_s", ttl_s)? })
    };
    change.carry_out(&app, &format!("renew/{id}"), command).await
}

/// Creates a lease on nodes that are already in use.
#[utoipa::path(
    post, path = "/v1/hold", tag = "leases",
    request_body = HoldBody, params(ChangeHeaders),
    responses((status = 201, description = "the lease", body = LeaseReply), Named, Conflict)
)]
pub(crate) async fn hold(State(app): State<Arc<App>>, change: Change) -> Result<Reply, Fault> {
    let command = |bytes: &_| {
        let body: HoldBody = parse(bytes)?;
        let grid = *app.named_grid(body.machine.as_deref())?;
        let (request, parts) = body.request(&grid)?;
        Ok(Command::Hold { request, parts })
    };
    change.carry_out(&app, "hold", command).await
}

/// Parses the lease number in a URL.
pub(crate) fn lease_id(id: &str) -> Result<u64, Problem> {
    parse_id(id, "lease", Reason::UnknownLease)
}

/// Parses an object's number in a URL, or returns a problem with the reason `unknown`.
pub(crate) fn parse_id(id: &str, kind: &str, unknown: Reason) -> Result<u64, Problem> {
    let problem = |_| Problem::new(unknown, format!("no such {kind}: `{}`", message(id)));
    id.parse().map_err(problem)
}

/// Marks a node as failed. A lease that holds the node keeps it. Once the lease ends, the node is
/// unavailable until the node is repaired.
#[utoipa::path(
    post, path = "/v1/nodes/fail", tag = "nodes",
    request_body = NodeBody, params(ChangeHeaders),
    responses((status = 200, description = "the node's state", body = Node), Named)
)]
pub(crate) async fn fail(State(app): State<Arc<App>>, change: Change) -> Result<Reply, Fault> {
    change_node(&app, change, "node/Fail", NodeState::Failed).await
}

/// Marks a failed or drained node as available again.
#[utoipa::path(
    post, path = "/v1/nodes/repair", tag = "nodes",
    request_body = NodeBody, params(ChangeHeaders),
    responses((status = 200, description = "the node's state", body = Node), Named)
)]
pub(crate) async fn repair(State(app): State<Arc<App>>, change: Change) -> Result<Reply, Fault> {
    change_node(&app, change, "node/Repair", NodeState::Healthy).await
}

/// Drains a node for maintenance. The node is treated like a failed node but is reported as
/// drained.
#[utoipa::path(
    post, path = "/v1/nodes/drain", tag = "nodes",
    request_body = NodeBody, params(ChangeHeaders),
    responses((status = 200, description = "the node's state", body = Node), Named)
)]
pub(crate) async fn drain(State(app): State<Arc<App>>, change: Change) -> Result<Reply, Fault> {
    change_node(&app, change, "node/Drain", NodeState::Drained).await
}

async fn change_node(
    app: &App,
    change: Change,
    route: &str,
    state: NodeState,
) -> Result<Reply, Fault> {
    let command = |bytes: &_| {
        let NodeBody { node, machine } = parse(bytes)?;
        let node = node_coordinates(&node, app.named_grid(machine.as_deref())?)?;
        Ok(Command::Node { machine, node, state })
    };
    change.carry_out(app, route, command).await
}

/// Confirms the clock, so that time continues from it and leases expire again (operator only).
///
/// A clock that is far ahead of the last record at startup is in doubt, as `/readyz` reports. After
/// confirmation, leases granted or renewed while the clock was in doubt keep their remaining time;
/// other overdue leases end. If the clock is not in doubt, confirming it has no effect.
#[utoipa::path(
    post, path = "/v1/clock/confirm", tag = "service",
    params(ChangeHeaders),
    responses((status = 200, description = "the old and new times", body = Clock), Changed)
)]
pub(crate) async fn confirm(State(app): State<Arc<App>>, change: Change) -> Result<Reply, Fault> {
    let command = |bytes: &Bytes| {
        body::check_empty(bytes)?;
        Ok(Command::ConfirmClock)
    };
    change.carry_out(&app, "clock/confirm", command).await
}
