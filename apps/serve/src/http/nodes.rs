//! Nodes: failed, repaired, drained.

use std::sync::Arc;

use axum::extract::State;

use super::body::{self, NodeBody, read};
use super::extract::{Change, ChangeHeaders};
use super::statuses::Named;
use super::{App, Fault};
use crate::core::reply::Node;
use crate::core::{Command, NodeChange, Reply};

/// A node has failed: a lease that holds it keeps it; then it is unavailable until it is repaired.
#[utoipa::path(
    post, path = "/v1/nodes/fail", tag = "nodes",
    request_body = NodeBody, params(ChangeHeaders),
    responses((status = 200, description = "its state now", body = Node), Named)
)]
pub(crate) async fn fail(State(app): State<Arc<App>>, change: Change) -> Result<Reply, Fault> {
    carry_out(&app, change, NodeChange::Fail).await
}

/// A node is available again, whether it had failed or was drained.
#[utoipa::path(
    post, path = "/v1/nodes/repair", tag = "nodes",
    request_body = NodeBody, params(ChangeHeaders),
    responses((status = 200, description = "its state now", body = Node), Named)
)]
pub(crate) async fn repair(State(app): State<Arc<App>>, change: Change) -> Result<Reply, Fault> {
    carry_out(&app, change, NodeChange::Repair).await
}

/// A node is to be free for maintenance: as a failure, but under another name.
#[utoipa::path(
    post, path = "/v1/nodes/drain", tag = "nodes",
    request_body = NodeBody, params(ChangeHeaders),
    responses((status = 200, description = "its state now", body = Node), Named)
)]
pub(crate) async fn drain(State(app): State<Arc<App>>, change: Change) -> Result<Reply, Fault> {
    carry_out(&app, change, NodeChange::Drain).await
}

async fn carry_out(app: &App, asked: Change, change: NodeChange) -> Result<Reply, Fault> {
    let command = |bytes: &_| {
        let NodeBody { node, machine } = read(bytes)?;
        let node = body::node(&node, app.grid(machine.as_deref()))?;
        Ok(Command::Node { machine, node, change })
    };
    asked.carry_out(app, &format!("node/{change:?}"), command).await
}
