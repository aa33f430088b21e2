//! Checks that the OpenAPI document is complete enough for client generators.

use serde_json::{Value, json};

use crate::server::{Setup, fresh};

fn document(tokens: Option<&str>) -> Value {
    let give = |setup: &mut Setup| tokens.into_iter().for_each(|text| setup.give_token_file(text));
    let (server, _) = fresh(give);
    server.client().get("/openapi.json").json()
}

/// Returns each documented route's method, path and operation.
pub(crate) fn routes(document: &Value) -> Vec<(String, String, Value)> {
    let mut routes = Vec::new();
    for (path, item) in document["paths"].as_object().expect("there are paths") {
        for (method, operation) in item.as_object().expect("a path has methods") {
            let path = path.replace("{id}", "1");
            routes.push((method.to_uppercase(), path, operation.clone()));
        }
    }
    assert!(routes.len() >= 22, "{}", routes.len());
    routes
}

/// Collects the paths of all array schemas that do not define a schema for their items.
fn lists_without_items(value: &Value, place: &str, found: &mut Vec<String>) {
    match value {
        Value::Array(list) => {
            for (index, one) in list.iter().enumerate() {
                lists_without_items(one, &format!("{place}/{index}"), found);
            }
        }
        Value::Object(members) => {
            let kind = members.get("type");
            let is_list = kind.is_some_and(|kind| {
                kind == "array" || kind.as_array().is_some_and(|all| all.contains(&json!("array")))
            });
            if is_list && !members.get("items").is_some_and(Value::is_object) {
                found.push(place.to_string());
            }
            for (name, one) in members {
                lists_without_items(one, &format!("{place}/{name}"), found);
            }
        }
        _ => {}
    }
}

#[test]
fn every_list_has_an_item_schema() {
    let mut found = Vec::new();
    lists_without_items(&document(None), "", &mut found);
    assert_eq!(found, Vec::<String>::new());
}

/// Returns the statuses of the problems that a route can return.
fn problems(method: &str, path: &str, operation: &Value) -> Vec<&'static str> {
    match path {
        "/healthz" => return vec!["400", "431"],
        "/readyz" => return vec!["400", "431", "503"],
        _ => {}
    }
    let mut all = vec!["400", "401", "403", "429", "431", "500", "503"];
    if method == "POST" {
        all.extend(["408", "413", "415"]);
    }
    let text = operation["parameters"].to_string();
    if text.contains("Idempotency-Key") {
        all.push("422");
    }
    let changes_leases = ["/end", "/renew", "/v1/hold"].iter().any(|end| path.ends_with(end));
    let asks = ["/v1/leases", "/v1/forecast"].map(|path| ("POST", path));
    if changes_leases || asks.contains(&(method, path)) {
        all.push("409");
    }
    if ["/v1/state", "/v1/machine", "/v1/watch"].contains(&path) {
        all.push("410");
    }
    let names_nothing =
        ["/v1/machines", "/v1/watch", "/metrics", "/v1/clock/confirm"].contains(&path);
    if !names_nothing && (path != "/v1/queue" || text.contains("machine")) {
        all.push("404");
    }
    all.sort_unstable();
    all
}

#[test]
fn every_route_lists_its_problems() {
    let document = document(None);
    for (method, path, operation) in routes(&document) {
        let responses = operation["responses"].as_object().unwrap();
        let listed: Vec<&str> = responses
            .keys()
            .map(String::as_str)
            .filter(|status| !status.starts_with('2'))
            .collect();
        assert_eq!(listed, problems(&method, &path, &operation), "{method} {path}");
        for status in listed {
            let content = &responses[status]["content"]["application/problem+json"];
            let schema = &content["schema"]["$ref"];
            assert_eq!(schema, "#/components/schemas/Problem", "{method} {path} {status}");
        }
    }
    assert!(document["components"]["schemas"]["Problem"]["properties"]["detail"].is_object());
}

#[test]
fn only_numbers_in_job_names_may_be_negative() {
    let document = document(None);
    let schemas = &document["components"]["schemas"];
    assert_eq!(schemas["Choice"]["properties"]["index"]["minimum"], 0);
    assert_eq!(schemas.to_string().matches(&i64::MIN.to_string()).count(), 1, "{}", schemas["Job"]);
}

#[test]
fn the_document_describes_authentication() {
    let token = json!([{ "token": [] }]);
    for (tokens, asked) in [(None, json!([{}, { "token": [] }])), (Some("secret\n"), token)] {
        let document = document(tokens);
        let scheme = &document["components"]["securitySchemes"]["token"];
        assert_eq!((&scheme["type"], &scheme["scheme"]), (&json!("http"), &json!("bearer")));
        for (method, path, operation) in routes(&document) {
            let is_open = ["/healthz", "/readyz"].contains(&path.as_str());
            let expected = if is_open { &Value::Null } else { &asked };
            assert_eq!(&operation["security"], expected, "{method} {path}");
        }
    }
}
