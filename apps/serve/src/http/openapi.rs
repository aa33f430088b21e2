//! The OpenAPI document, and the bodies of replies as it describes them.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde::Serialize;
use serde_json::{Value, json};
use utoipa::{OpenApi, ToSchema};

use super::leases::internal;
use super::{App, Fault};
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

/// A lease, or a request that waits for one.
#[derive(Serialize, ToSchema)]
#[schema(as = LeaseOrWaiting)]
#[serde(untagged)]
#[expect(dead_code, reason = "it is a description only")]
pub(crate) enum EitherDocument {
    /// Nodes that are held.
    Held(LeaseDocument),
    /// Nodes that are asked for.
    Waiting(WaitingDocument),
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

/// The OpenAPI document of this service: how many coordinates there are depends on its machines.
pub(crate) async fn document(State(app): State<Arc<App>>) -> Result<Json<Value>, Fault> {
    let mut document = Document::openapi();
    document.info.version = env!("CARGO_PKG_VERSION").to_string();
    let mut document = serde_json::to_value(document).map_err(|error| internal(&error))?;
    let axes: Vec<usize> = app.machines.iter().map(|(_, grid)| grid.axes()).collect();
    let bounds = (axes.iter().min().copied(), axes.iter().max().copied());
    if let Some(schemas) = document["components"]["schemas"].as_object_mut() {
        for schema in schemas.values_mut() {
            widen(schema);
            refine(schema, bounds);
        }
        // A command of a batch stands under one name, alone.
        if let Some(commands) = schemas["Operation"]["oneOf"].as_array_mut() {
            for one in commands {
                one["additionalProperties"] = false.into();
            }
        }
    }
    Ok(Json(document))
}

/// Integers of bodies have 64 bits without a sign; `int64` says less.
fn widen(schema: &mut Value) {
    match schema {
        Value::Object(members) => {
            if members.get("format").is_some_and(|format| format == "int64") {
                members.remove("format");
                members.insert("maximum".to_string(), u64::MAX.into());
                members.entry("minimum").or_insert(i64::MIN.into());
            }
            members.values_mut().for_each(widen);
        }
        Value::Array(list) => list.iter_mut().for_each(widen),
        _ => {}
    }
}

/// Says of a schema what types cannot say: how many coordinates there are and how large they may be,
/// and that a request has a shape or a number of nodes.
fn refine(schema: &mut Value, (least, most): (Option<usize>, Option<usize>)) {
    let Some(members) = schema["properties"].as_object_mut() else { return };
    for (name, from) in [("shape", 1), ("base", 0), ("sides", 1), ("node", 0)] {
        let Some(list) = members.get_mut(name).filter(|list| list["items"].is_object()) else {
            continue;
        };
        (list["minItems"], list["maxItems"]) = (json!(least), json!(most));
        list["items"]["minimum"] = json!(from);
        if name == "base" || name == "sides" {
            list["items"]["maximum"] = json!(u16::MAX);
        }
    }
    for name in ["fail", "repair"] {
        if let Some(list) = members.get_mut(name) {
            (list["items"]["minItems"], list["items"]["maxItems"]) = (json!(least), json!(most));
        }
    }
    let both = members.contains_key("shape") && members.contains_key("nodes");
    if both {
        let only = |has: &str, kind: &str, lacks: &str| {
            json!({
                "required": [has],
                "properties": { has: { "type": kind }, lacks: { "type": "null" } },
            })
        };
        schema["oneOf"] =
            json!([only("shape", "array", "nodes"), only("nodes", "integer", "shape")]);
    }
}
