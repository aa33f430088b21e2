//! The choices offered by the page, taken from the registries.

use pavior::experiments::parameters;
use pavior::names::OptionSpec;
use serde_json::{Value, json};

/// Lists strategies, schedulers, patterns and parameters with their descriptions.
pub(crate) fn all() -> Value {
    let strategies = pavior::strategies::Registry::new();
    let strategies = strategies.entries().map(|entry| {
        let mut one = named(entry.name, entry.title, entry.source, entry.options);
        one["contiguous"] = json!(entry.does.contiguous);
        one
    });
    let schedulers = pavior::scheduling::Registry::new();
    let schedulers = schedulers
        .entries()
        .map(|entry| named(entry.name, entry.title, entry.source, entry.options));
    let patterns = pavior::network::patterns::PatternRegistry::new();
    let patterns = patterns
        .entries()
        .map(|entry| named(entry.name, entry.does.meaning, entry.source, entry.options));
    let parameters = parameters::ALL.iter().map(|one| {
        json!({
            "name": one.name,
            "meaning": one.meaning,
            "unit": one.unit,
            "heading": one.heading.title(),
            "default": one.default.join(","),
        })
    });
    json!({
        "strategies": strategies.collect::<Vec<_>>(),
        "schedulers": schedulers.collect::<Vec<_>>(),
        "patterns": patterns.collect::<Vec<_>>(),
        "parameters": parameters.collect::<Vec<_>>(),
    })
}

fn named(name: &str, title: &str, source: &str, options: &[OptionSpec]) -> Value {
    let options = options.iter().map(
        |one| json!({ "key": one.key, "values": one.values.to_string(), "meaning": one.meaning }),
    );
    let options: Vec<Value> = options.collect();
    json!({ "name": name, "title": title, "source": source, "options": options })
}
