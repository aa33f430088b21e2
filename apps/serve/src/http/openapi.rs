//! The OpenAPI document, and the bodies of replies as it describes them.

use axum::Json;
use axum::response::IntoResponse;
use serde::Serialize;
use serde_json::Value;
use utoipa::{OpenApi, ToSchema};

use super::{batch, explain, leases, metrics, nodes, reads, series, unblock, watch};

/// A box of nodes.
#[derive(Serialize, ToSchema)]
#[schema(as = Part)]
pub(crate) struct PartDocument {
    base: Vec<u16>,
    sides: Vec<u16>,
}

/// Nodes that are held.
#[derive(Serialize, ToSchema)]
#[schema(as = Lease)]
pub(crate) struct LeaseDocument {
    id: u64,
    /// `held`.
    state: String,
    /// The fencing token: it grows from holder to holder of a node.
    epoch: u64,
    machine: String,
    /// The number of nodes that are held.
    nodes: u64,
    /// The number of nodes that were asked for.
    requested: u64,
    /// Boxes that do not overlap.
    parts: Vec<PartDocument>,
    /// When it ends by itself (RFC 3339), or null.
    expires: Option<String>,
    /// When it began.
    start: String,
    tenant: Option<String>,
    #[schema(value_type = Option<super::body::JobSchema>)]
    job: Option<Value>,
}

/// A request that waits.
#[derive(Serialize, ToSchema)]
#[schema(as = Waiting)]
pub(crate) struct WaitingDocument {
    /// The number that its lease will have.
    id: u64,
    /// `waiting`.
    state: String,
    machine: String,
    requested: u64,
    shape: Option<Vec<u16>>,
    asked: String,
    tenant: Option<String>,
    #[schema(value_type = Option<super::body::JobSchema>)]
    job: Option<Value>,
}

/// A lease that is no more.
#[derive(Serialize, ToSchema)]
#[schema(as = Ended)]
pub(crate) struct EndedDocument {
    id: u64,
    ended: bool,
    /// The nodes that were given back.
    nodes: u64,
}

/// A node's state.
#[derive(Serialize, ToSchema)]
#[schema(as = Node)]
pub(crate) struct NodeDocument {
    node: Vec<u16>,
    /// `healthy`, `failed` or `drained`.
    state: String,
    failed: bool,
    /// The lease that holds it.
    lease: Option<u64>,
    #[schema(value_type = Option<super::body::JobSchema>)]
    job: Option<Value>,
}

/// Why a request is not carried out (RFC 9457).
#[derive(Serialize, ToSchema)]
#[schema(as = Problem)]
pub(crate) struct ProblemDocument {
    /// `urn:pavior:problem:` and the reason.
    r#type: String,
    title: String,
    status: u16,
    /// What is wrong here, in a sentence.
    detail: String,
    /// A word for programs, such as `no-free-submesh` or `stale-epoch`.
    reason: String,
    /// What stands in the way of a refused request: counts, nearest, largest free and blocked boxes.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    diagnosis: Option<Value>,
}

/// The answers to a batch.
#[derive(Serialize, ToSchema)]
pub(crate) struct AnswersDocument {
    answers: Vec<AnswerDocument>,
}

/// The answer to a command of a batch.
#[derive(Serialize, ToSchema)]
pub(crate) struct AnswerDocument {
    status: u16,
    #[schema(value_type = Object)]
    body: Value,
}

#[derive(OpenApi)]
#[openapi(
    info(title = "Pavior", description = "Leases of nodes on meshes and tori"),
    paths(
        leases::create,
        leases::end,
        leases::renew,
        leases::hold,
        batch::batch,
        nodes::fail,
        nodes::repair,
        nodes::drain,
        reads::leases,
        reads::lease,
        reads::machine,
        reads::machines,
        reads::queue,
        reads::state,
        reads::healthz,
        reads::readyz,
        series::series,
        explain::explain,
        explain::what_if,
        unblock::unblock,
        watch::watch,
        metrics::metrics,
    )
)]
struct Document;

/// The OpenAPI document.
pub(crate) async fn document() -> impl IntoResponse {
    let mut document = Document::openapi();
    document.info.version = env!("CARGO_PKG_VERSION").to_string();
    Json(document)
}
