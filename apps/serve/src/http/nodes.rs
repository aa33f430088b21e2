//! Nodes: failed, repaired, drained.

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::{Extension, State};
use axum::http::HeaderMap;

use super::body::{self, NodeBody, read};
use super::leases::{act, key};
use super::openapi::{NodeDocument, ProblemDocument};
use super::{App, Fault};
use crate::core::{Caller, Command, NodeChange, Reply};

/// A node has failed: a lease that holds it keeps it; then it is unavailable until it is repaired.
#[utoipa::path(post, path = "/v1/nodes/fail", tag = "nodes", request_body = NodeBody, responses(
    (status = 200, description = "its state now", body = NodeDocument),
    (status = "default", description = "not carried out", body = ProblemDocument, content_type = "application/problem+json")))]
pub(crate) async fn fail(
    State(app): State<Arc<App>>,
    Extension(caller): Extension<Caller>,
    headers: HeaderMap,
    bytes: Bytes,
) -> Result<Reply, Fault> {
    change(&app, caller, &headers, &bytes, NodeChange::Fail).await
}

/// A node is available again, whether it had failed or was drained.
#[utoipa::path(post, path = "/v1/nodes/repair", tag = "nodes", request_body = NodeBody, responses(
    (status = 200, description = "its state now", body = NodeDocument),
    (status = "default", description = "not carried out", body = ProblemDocument, content_type = "application/problem+json")))]
pub(crate) async fn repair(
    State(app): State<Arc<App>>,
    Extension(caller): Extension<Caller>,
    headers: HeaderMap,
    bytes: Bytes,
) -> Result<Reply, Fault> {
    change(&app, caller, &headers, &bytes, NodeChange::Repair).await
}

/// A node is to be free for maintenance: as a failure, but under another name.
#[utoipa::path(post, path = "/v1/nodes/drain", tag = "nodes", request_body = NodeBody, responses(
    (status = 200, description = "its state now", body = NodeDocument),
    (status = "default", description = "not carried out", body = ProblemDocument, content_type = "application/problem+json")))]
pub(crate) async fn drain(
    State(app): State<Arc<App>>,
    Extension(caller): Extension<Caller>,
    headers: HeaderMap,
    bytes: Bytes,
) -> Result<Reply, Fault> {
    change(&app, caller, &headers, &bytes, NodeChange::Drain).await
}

async fn change(
    app: &App,
    caller: Caller,
    headers: &HeaderMap,
    bytes: &Bytes,
    change: NodeChange,
) -> Result<Reply, Fault> {
    let read = read::<NodeBody>(bytes).and_then(|body| {
        let grid = app.grid(body.machine.as_deref());
        Ok((body::node(&body.node, grid)?, body.machine))
    });
    match (key(headers, &format!("node/{change:?}"), bytes), read) {
        (Err(problem), _) | (_, Err(problem)) => Ok(problem.reply()),
        (Ok(key), Ok((node, machine))) => {
            act(app, caller, key, Command::Node { machine, node, change }).await
        }
    }
}
