//! The OpenAPI document.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

use axum::Json;
use axum::extract::State;
use axum::http::Method;
use serde_json::{Value, json};
use utoipa::openapi::path::{Operation, ParameterIn};
use utoipa::openapi::{OpenApi, RefOr};

use super::problem::Problem;
use super::{App, Fault, api_routes};

/// The document without the parts that depend on the service's options.
static DOCUMENT: LazyLock<OpenApi> = LazyLock::new(|| {
    #[derive(utoipa::OpenApi)]
    #[openapi(
        info(title = "Pavior", description = "Leases of nodes on meshes and tori"),
        components(schemas(Problem))
    )]
    struct Document;

    let mut document = <Document as utoipa::OpenApi>::openapi();
    document.info.version = env!("CARGO_PKG_VERSION").to_string();
    for router in api_routes() {
        document.merge(router.into_openapi());
    }
    document
});

/// The routes that require no authentication.
const OPEN: [&str; 2] = ["/healthz", "/readyz"];

/// The query parameters of each route, by method and path.
static PARAMETERS: LazyLock<HashMap<(Method, String), Vec<String>>> = LazyLock::new(|| {
    let mut known = HashMap::new();
    for (path, item) in &DOCUMENT.paths.paths {
        for (method, operation) in [(Method::GET, &item.get), (Method::POST, &item.post)] {
            if let Some(operation) = operation {
                known.insert((method, path.clone()), in_query(operation));
            }
        }
    }
    // Read by the page, ignored by the service.
    known.insert((Method::GET, "/".to_string()), vec!["flat".to_string()]);
    known
});

fn in_query(operation: &Operation) -> Vec<String> {
    let all = operation.parameters.iter().flatten();
    all.filter_map(|one| match one {
        RefOr::T(one) if one.parameter_in == ParameterIn::Query => Some(one.name.clone()),
        _ => None,
    })
    .collect()
}

/// Returns the query parameters of a route.
pub(crate) fn parameters(method: &Method, path: &str) -> Vec<&'static str> {
    let method = if method == Method::HEAD { &Method::GET } else { method };
    let known = PARAMETERS.get(&(method.clone(), path.to_string()));
    known.into_iter().flatten().map(String::as_str).collect()
}

/// Returns the document, adapted to the machines' number of axes and to the required
/// authentication.
pub(crate) async fn document(State(app): State<Arc<App>>) -> Result<Json<Value>, Fault> {
    let mut document = serde_json::to_value(&*DOCUMENT).map_err(|error| Fault::internal(&error))?;
    let axes: Vec<usize> = app.machines.iter().map(|(_, grid)| grid.axes()).collect();
    let bounds = (axes.iter().min().copied(), axes.iter().max().copied());
    if let Some(schemas) = document["components"]["schemas"].as_object_mut() {
        for schema in schemas.values_mut() {
            widen(schema);
            refine(schema, bounds);
        }
        // A command in a batch has only the member that names it.
        if let Some(commands) = schemas["Operation"]["oneOf"].as_array_mut() {
            for one in commands {
                one["additionalProperties"] = false.into();
            }
        }
    }
    secure(&mut document, app.access.asks(), app.access.certificates());
    Ok(Json(document))
}

/// Describes how callers authenticate: with a bearer token, with a certificate if the service
/// requests one, or not at all.
fn secure(document: &mut Value, asks: bool, certificates: bool) {
    let token = "a token from --token-file";
    let mut schemes = json!({
        "token": { "type": "http", "scheme": "bearer", "description": token },
    });
    let mut ways = vec![json!({ "token": [] })];
    if certificates {
        let certificate = "a client certificate issued by a CA in --client-ca";
        schemes["certificate"] = json!({ "type": "mutualTLS", "description": certificate });
        ways.push(json!({ "certificate": [] }));
    }
    if !asks {
        ways.insert(0, json!({}));
    }
    document["components"]["securitySchemes"] = schemes;
    let Some(paths) = document["paths"].as_object_mut() else { return };
    for (_, item) in paths.iter_mut().filter(|(path, _)| !OPEN.contains(&path.as_str())) {
        for (_, operation) in item.as_object_mut().into_iter().flatten() {
            operation["security"] = ways.clone().into();
        }
    }
}

/// Widens integers in bodies to unsigned 64 bits, because `int64` would exclude the upper half.
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

/// Adds constraints that types cannot express: the number and range of coordinates, and the choice
/// between a shape and a number of nodes.
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
    let waits = members.contains_key("waiting");
    if is_asked && members.contains_key("shape") && members.contains_key("nodes") {
        // Client generators would turn `oneOf` into two types and drop all other members.
        let only = |name: &str, kind: Value| json!({ "properties": { name: kind } });
        let mut shape = only("shape", json!({ "not": { "type": "null" } }));
        shape["required"] = json!(["shape"]);
        let mut nodes = only("nodes", json!({ "not": { "type": "null" } }));
        nodes["required"] = json!(["nodes"]);
        let mut none = json!({ "properties": { "nodes": { "type": "null" } } });
        if waits {
            // A waiting request is a third choice.
            none["properties"]["waiting"] = json!({ "type": "null" });
            let mut waiting = only("waiting", json!({ "not": { "type": "null" } }));
            waiting["required"] = json!(["waiting"]);
            let alone = only("waiting", json!({ "type": "null" }));
            nodes = json!({ "if": nodes, "then": alone, "else": waiting });
        }
        schema["if"] = shape;
        schema["then"] = none;
        schema["else"] = nodes;
    }
}
