//! The JSON schema for experiment files, generated from the list of parameters.

use pavior_simulation::metrics::{self, ALLOCATION_NS};
use serde_json::{Map, Value, json};

use crate::Policy;
use crate::parameters::{self, CONTROLS, Control, ControlKind, Parameter, ValueType};

/// Returns the JSON schema (draft 2020-12) used by editors and validators.
pub fn schema() -> Value {
    let mut properties = controls();
    let swept = parameters();
    properties.extend(swept.clone());
    let mut of_sweep = swept;
    let cap = json!({ "type": "integer", "minimum": 1 });
    let meaning = "with `precision`: the maximum number of replications per point in this sweep";
    of_sweep.insert("max-replications".to_string(), described(cap, meaning));
    let sweep = json!({
        "type": "object",
        "additionalProperties": false,
        "properties": of_sweep,
    });
    properties.insert(
        "sweep".to_string(),
        described(
            json!({ "type": "array", "items": sweep }),
            "values that override the top level; the experiment runs every point of every sweep",
        ),
    );
    properties.insert("figure".to_string(), json!({ "type": "array", "items": figure() }));
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Pavior experiment",
        "type": "object",
        "additionalProperties": false,
        "properties": properties,
    })
}

fn described(mut schema: Value, meaning: &str) -> Value {
    schema["description"] = json!(meaning);
    schema
}

fn controls() -> Map<String, Value> {
    let one = |control: &Control| {
        let schema = match control.kind {
            ControlKind::Word => json!({ "type": "string", "pattern": "^[A-Za-z0-9_-]{1,80}$" }),
            ControlKind::Text => json!({ "type": "string" }),
            ControlKind::Switch => json!({ "type": "boolean" }),
            ControlKind::Count => {
                json!({ "type": "integer", "minimum": 1, "maximum": Policy::MOST })
            }
            ControlKind::Share => {
                json!({ "type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1 })
            }
            ControlKind::Metrics => one_or_more(&metric()),
            ControlKind::Formulas => {
                json!({ "type": "object", "additionalProperties": { "type": "string" } })
            }
        };
        (control.name.to_string(), described(schema, control.meaning))
    };
    CONTROLS.iter().map(one).collect()
}

fn metric() -> Value {
    let all = metrics::ALL.iter().chain(crate::snapshot::METRICS);
    let names = all.map(|spec| spec.name).chain([ALLOCATION_NS]);
    // The `slots` metric takes an option, so the schema uses a pattern to match it.
    let names: Vec<String> = names
        .filter(|name| *name != "slots")
        .flat_map(|name| [name.to_string(), format!("+{name}")])
        .collect();
    let slots = json!({ "type": "string", "pattern": "^\\+?slots:[0-9]+(x[0-9]+){0,2}$" });
    json!({ "oneOf": [{ "enum": names }, slots] })
}

fn one_or_more(item: &Value) -> Value {
    json!({ "oneOf": [item, { "type": "array", "items": item, "minItems": 1 }] })
}

fn parameters() -> Map<String, Value> {
    let one = |parameter: &Parameter| {
        let item = match parameter.kind {
            ValueType::Text => json!({ "type": "string" }),
            ValueType::Number => json!({ "type": "number" }),
            ValueType::Count => json!({ "type": "integer", "minimum": 0 }),
            ValueType::Switch => json!({ "type": "boolean" }),
            ValueType::Choice(words) => {
                // A choice may also be written as a number, as in `lanes = 2`.
                let words = words.iter().flat_map(|(word, _)| {
                    [word.parse::<u64>().ok().map(|number| json!(number)), Some(json!(word))]
                });
                json!({ "enum": words.flatten().collect::<Vec<Value>>() })
            }
        };
        let mut choices =
            vec![item.clone(), json!({ "type": "array", "items": item, "minItems": 1 })];
        if matches!(parameter.kind, ValueType::Number | ValueType::Count) {
            choices.push(json!({
                "type": "object",
                "additionalProperties": false,
                "required": ["from", "to", "steps"],
                "properties": {
                    "from": { "type": "number" },
                    "to": { "type": "number" },
                    "steps": { "type": "integer", "minimum": 2, "maximum": 10_000 },
                    "scale": { "enum": ["linear", "log"] },
                },
            }));
        }
        let mut schema = described(json!({ "oneOf": choices }), parameter.meaning);
        match parameter.default {
            [] => {}
            [one] => schema["default"] = json!(one),
            several => schema["default"] = json!(several),
        }
        schema
    };
    let names = |parameter: &'static Parameter| {
        [Some(parameter.name), parameter.alias].into_iter().flatten()
    };
    parameters::ALL
        .iter()
        .flat_map(|parameter| names(parameter).map(move |name| (name.to_string(), one(parameter))))
        .collect()
}

fn figure() -> Value {
    let text = || json!({ "type": "string" });
    let parameter: Vec<&str> = parameters::ALL.iter().map(|known| known.name).collect();
    let parameter = json!({ "enum": parameter });
    let value = json!({ "type": ["string", "number", "boolean"] });
    let stated = json!({
        "type": "object",
        "additionalProperties": false,
        "required": ["x", "y"],
        "properties": { "x": value, "y": { "type": "number" }, "of": text() },
    });
    json!({
        "type": "object",
        "additionalProperties": false,
        "required": ["name", "y"],
        "properties": {
            "name": described(text(), "the base name of the figure's files"),
            "title": text(),
            "x": described(parameter.clone(), "the parameter on the x axis; default: load"),
            "y": described(text(), "the metric"),
            "series": described(one_or_more(&parameter), "the parameters that distinguish the \
             lines"),
            "where": described(
                json!({ "type": "object", "additionalProperties": one_or_more(&value) }),
                "the points to draw: parameter = value or list of values",
            ),
            "log": described(one_or_more(&json!({ "enum": ["x", "y"] })), "logarithmic axes"),
            "x-label": text(),
            "y-label": text(),
            "labels": described(
                json!({ "type": "object", "additionalProperties": { "type": "string" } }),
                "legend labels: value = label",
            ),
            "stated": described(
                one_or_more(&stated),
                "values stated in a paper, drawn as crosses: y at x or, if `of` names a series, y \
                 times its value at x",
            ),
        },
    })
}
