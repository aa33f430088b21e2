//! The OpenAPI document.

use std::collections::HashMap;
use std::ops::RangeInclusive;
use std::sync::{Arc, LazyLock};

use axum::Json;
use axum::extract::State;
use axum::http::Method;
use serde_json::{Value, json};
use utoipa::openapi::path::{Operation, ParameterIn};
use utoipa::openapi::{OpenApi, RefOr};

use super::problem::ProblemReply;
use super::{Access, App, Fault, api_routes};

/// The OpenAPI document, without the parts that depend on the service's options.
static DOCUMENT: LazyLock<OpenApi> = LazyLock::new(|| {
    #[derive(utoipa::OpenApi)]
    #[openapi(
        info(title = "Pavior", description = "Node leases on meshes and tori"),
        components(schemas(ProblemReply))
    )]
    struct Document;

    let mut document = <Document as utoipa::OpenApi>::openapi();
    document.info.version = env!("CARGO_PKG_VERSION").to_string();
    for router in api_routes() {
        document.merge(router.into_openapi());
    }
    document
});

type Parameters = HashMap<&'static str, HashMap<Method, Vec<&'static str>>>;

/// Each route's query parameters, by path and method.
static PARAMETERS: LazyLock<Parameters> = LazyLock::new(|| {
    let mut parameters = Parameters::new();
    for (path, item) in &DOCUMENT.paths.paths {
        for (method, operation) in [(Method::GET, &item.get), (Method::POST, &item.post)] {
            if let Some(operation) = operation {
                let names = query_parameters(operation);
                parameters.entry(path.as_str()).or_default().insert(method, names);
            }
        }
    }
    // The page reads this parameter; the service ignores it.
    parameters.insert("/", HashMap::from([(Method::GET, vec!["flat"])]));
    parameters
});

fn query_parameters(operation: &Operation) -> Vec<&str> {
    let parameters = operation.parameters.iter().flatten();
    let names = parameters.filter_map(|parameter| match parameter {
        RefOr::T(parameter) if parameter.parameter_in == ParameterIn::Query => {
            Some(parameter.name.as_str())
        }
        _ => None,
    });
    names.collect()
}

/// Returns a route's query parameters.
pub(crate) fn parameters(method: &Method, path: &str) -> &'static [&'static str] {
    let method = if method == Method::HEAD { &Method::GET } else { method };
    let parameters = PARAMETERS.get(path).and_then(|methods| methods.get(method));
    parameters.map_or(&[], Vec::as_slice)
}

/// Returns the document, adapted to the machines' numbers of axes and to the required
/// authentication.
pub(crate) async fn document(State(app): State<Arc<App>>) -> Result<Json<Value>, Fault> {
    let mut document = serde_json::to_value(&*DOCUMENT).map_err(|error| Fault::internal(&error))?;
    let axes = || app.machines.iter().map(|(_, grid)| grid.axes());
    let axes = axes().min().unwrap_or(1)..=axes().max().unwrap_or(3);
    if let Some(schemas) = document["components"]["schemas"].as_object_mut() {
        for schema in schemas.values_mut() {
            widen_integers(schema);
            constrain_coordinates(schema, &axes);
            require_shape_or_nodes(schema);
        }
        // A command in a batch has exactly one member, named after the command.
        if let Some(commands) = schemas["Operation"]["oneOf"].as_array_mut() {
            for command in commands {
                command["additionalProperties"] = false.into();
            }
        }
    }
    add_security(&mut document, &app.access);
    Ok(Json(document))
}

/// Describes how callers authenticate: with a bearer token, with a certificate if the service
/// requests one, or not at all.
fn add_security(document: &mut Value, access: &Access) {
    let token = "a token from --token-file";
    let mut schemes = json!({
        "token": { "type": "http", "scheme": "bearer", "description": token },
    });
    let mut ways = vec![json!({ "token": [] })];
    if access.requests_certificates() {
        let certificate = "a client certificate issued by a CA in --client-ca";
        schemes["certificate"] = json!({ "type": "mutualTLS", "description": certificate });
        ways.push(json!({ "certificate": [] }));
    }
    if !access.requires_authentication() {
        ways.insert(0, json!({}));
    }
    document["components"]["securitySchemes"] = schemes;
    let Some(paths) = document["paths"].as_object_mut() else { return };
    let [_, public] = api_routes().map(|router| router.into_openapi().paths.paths);
    for (_, item) in paths.iter_mut().filter(|(path, _)| !public.contains_key(*path)) {
        for (_, operation) in item.as_object_mut().into_iter().flatten() {
            operation["security"] = ways.clone().into();
        }
    }
}

/// Widens integers in bodies to 64 bits, because `int64` would exclude the upper half of their
/// range. Integers without a minimum, such as those in job names, may also be negative.
fn widen_integers(schema: &mut Value) {
    match schema {
        Value::Object(members) => {
            if members.get("format").is_some_and(|format| format == "int64") {
                members.remove("format");
                members.insert("maximum".to_string(), u64::MAX.into());
                members.entry("minimum").or_insert(i64::MIN.into());
            }
            members.values_mut().for_each(widen_integers);
        }
        Value::Array(list) => list.iter_mut().for_each(widen_integers),
        _ => {}
    }
}

/// Limits the number and range of coordinates, which Rust types cannot express.
fn constrain_coordinates(schema: &mut Value, axes: &RangeInclusive<usize>) {
    let Some(members) = schema.get_mut("properties").and_then(Value::as_object_mut) else { return };
    for (name, min) in [("shape", 1), ("base", 0), ("sides", 1), ("node", 0)] {
        let Some(list) = members.get_mut(name).filter(|list| list["items"].is_object()) else {
            continue;
        };
        (list["minItems"], list["maxItems"]) = (json!(axes.start()), json!(axes.end()));
        list["items"]["minimum"] = json!(min);
        if name == "base" || name == "sides" {
            list["items"]["maximum"] = json!(u16::MAX);
        }
    }
    for name in ["fail", "repair"] {
        if let Some(list) = members.get_mut(name) {
            let nodes = &mut list["items"];
            (nodes["minItems"], nodes["maxItems"]) = (json!(axes.start()), json!(axes.end()));
        }
    }
}

/// Requires a request to have either a shape or a number of nodes.
fn require_shape_or_nodes(schema: &mut Value) {
    let is_request = schema.get("additionalProperties").is_some_and(|more| more == false);
    let Some(members) = schema.get("properties").and_then(Value::as_object) else { return };
    let may_wait = members.contains_key("waiting");
    if !is_request || !members.contains_key("shape") || !members.contains_key("nodes") {
        return;
    }
    // Client generators would turn `oneOf` into two types and drop all other members.
    let is_given = |name: &str| {
        let given = json!({ "not": { "type": "null" } });
        json!({ "properties": { name: given }, "required": [name] })
    };
    let is_null = |name: &str| json!({ "properties": { name: { "type": "null" } } });
    let (mut then, mut otherwise) = (is_null("nodes"), is_given("nodes"));
    if may_wait {
        // As a third option, a request may name a waiting request.
        then["properties"]["waiting"] = json!({ "type": "null" });
        otherwise = json!({
            "if": otherwise, "then": is_null("waiting"), "else": is_given("waiting"),
        });
    }
    schema["if"] = is_given("shape");
    schema["then"] = then;
    schema["else"] = otherwise;
}
