//! The OpenAPI document.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde_json::{Value, json};
use utoipa::OpenApi;

use super::{App, Fault};
use super::{batch, explain, leases, metrics, nodes, reads, series, unblock, watch};

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
    let mut document = serde_json::to_value(document).map_err(|error| Fault::internal(&error))?;
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

/// Says of a schema what types cannot say: how many coordinates there are and how large they may
/// be, and that a request has a shape or a number of nodes.
fn refine(schema: &mut Value, (least, most): (Option<usize>, Option<usize>)) {
    let is_asked = schema.get("additionalProperties").is_some_and(|more| more == false);
    let Some(members) = schema.get_mut("properties").and_then(Value::as_object_mut) else { return };
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
    if is_asked && members.contains_key("shape") && members.contains_key("nodes") {
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
