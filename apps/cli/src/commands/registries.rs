//! `pavior strategies`, `schedulers`, `patterns` and `metrics`: print the registries.

use pavior::Grid;
use pavior::names::OptionSpec;
use pavior::simulation::metrics;
use pavior::strategies::claim::{Claim, Grants};
use pavior::strategies::{Registry, Selection};
use serde_json::{Value, json};

use crate::args::FormatArgs;
use crate::failure::Failure;
use crate::output::{self, Format, Table};

pub(crate) fn strategies(args: &FormatArgs) -> Result<(), Failure> {
    let defaults = Registry::new().entries().map(Selection::defaults);
    let mut entries: Vec<Value> = defaults.map(|selection| strategy(&selection)).collect();
    for (name, stands_for) in Registry::new().aliases() {
        let selection: Selection = stands_for.parse().expect("aliases are valid");
        let mut entry = strategy(&selection);
        let is_open = |option: &&OptionSpec| selection.options.get(option.key) == option.default;
        entry["name"] = json!(name);
        let open: Vec<OptionSpec> =
            selection.entry.options.iter().filter(is_open).copied().collect();
        entry["options"] = json!(options(&open));
        entry["title"] = json!(format!("{} ({stands_for})", selection.entry.title));
        entries.push(entry);
    }
    print(
        args,
        &entries,
        &["name", "axes", "topologies", "recognition", "turns", "title", "source"],
    )
}

fn strategy(selection: &Selection) -> Value {
    let spec = &selection.entry;
    let claim = Claim::of(selection);
    let (axes, topologies) = supported(selection);
    let grants = match claim.grants {
        Grants::Exact => "exact",
        Grants::RoundsUp { .. } => "rounds-up",
    };
    json!({
        "name": spec.name,
        "title": spec.title,
        "source": spec.source,
        "axes": axes,
        "topologies": topologies,
        "contiguous": spec.does.contiguous,
        "recognition": claim.recognition.word(),
        "turns": spec.does.turns,
        "grants": grants,
        "options": options(spec.options),
    })
}

/// Tries all numbers of axes and all topologies, and returns those that a strategy supports.
fn supported(selection: &Selection) -> (Vec<usize>, Vec<&'static str>) {
    let grid = |axes: usize, wrap: bool| {
        Grid::new(&vec![8; axes], &vec![wrap; axes]).expect("a small grid")
    };
    let works = |axes: usize, wrap: bool| selection.supports(&grid(axes, wrap)).is_ok();
    let axes = (1..=3).filter(|&axes| works(axes, false) || works(axes, true)).collect();
    let topologies = [("mesh", false), ("torus", true)]
        .into_iter()
        // Supporting only one-dimensional rings does not count as supporting tori.
        .filter(|&(_, wrap)| (2..=3).any(|axes| works(axes, wrap)))
        .map(|(name, _)| name)
        .collect();
    (axes, topologies)
}

pub(crate) fn schedulers(args: &FormatArgs) -> Result<(), Failure> {
    let entries: Vec<Value> = pavior::scheduling::Registry::new()
        .entries()
        .map(|spec| {
            json!({
                "name": spec.name,
                "title": spec.title,
                "source": spec.source,
                "options": options(spec.options),
            })
        })
        .collect();
    print(args, &entries, &["name", "title", "source", "options"])
}

pub(crate) fn patterns(args: &FormatArgs) -> Result<(), Failure> {
    let entries: Vec<Value> = pavior::network::patterns::PatternRegistry::new()
        .entries()
        .map(|spec| {
            json!({
                "name": spec.name,
                "title": spec.title,
                "source": spec.source,
                "meaning": spec.does.meaning,
                "options": options(spec.options),
            })
        })
        .collect();
    print(args, &entries, &["name", "meaning", "options"])
}

pub(crate) fn metrics(args: &FormatArgs) -> Result<(), Failure> {
    let entry = |name: &str, meaning: &str, unit: &str, standard: bool| {
        json!({
            "name": name, "title": meaning, "unit": unit, "standard": standard, "options": [],
        })
    };
    let mut entries: Vec<Value> = metrics::ALL
        .iter()
        .map(|spec| entry(spec.name, spec.meaning, spec.unit.general_word(), spec.standard))
        .collect();
    entries.push(entry(metrics::ALLOCATION_NS, metrics::ALLOCATION_NS_MEANING, "ns", true));
    print(args, &entries, &["name", "unit", "title"])
}

fn options(specs: &[OptionSpec]) -> Vec<Value> {
    let option = |spec: &OptionSpec| {
        json!({
            "key": spec.key,
            "values": spec.values.to_string(),
            "default": spec.default,
            "meaning": spec.meaning,
        })
    };
    specs.iter().map(option).collect()
}

/// Prints registry entries. Tables show only the given columns.
fn print(args: &FormatArgs, entries: &[Value], columns: &[&str]) -> Result<(), Failure> {
    match args.format() {
        Format::Json => output::json(&Value::Array(entries.to_vec())),
        Format::Csv => {
            let first = entries.first().and_then(Value::as_object);
            let keys: Vec<&str> = first.into_iter().flatten().map(|(key, _)| &**key).collect();
            let row = |entry: &Value| keys.iter().map(|key| cell(&entry[key])).collect();
            output::csv(&keys, &entries.iter().map(row).collect::<Vec<_>>())
        }
        Format::Table => {
            let row = |entry: &Value| columns.iter().map(|column| cell(&entry[column])).collect();
            let table = Table::new(columns, columns.len()).with_rows(entries.iter().map(row));
            let width = output::width();
            let is_whole = table.width() <= width;
            table.print(width)?;
            let cut = format!("Truncated to {width} columns; use --format json to see everything.");
            if is_whole { Ok(()) } else { output::text(&cut, width) }
        }
    }
}

/// Formats a field as a table cell.
fn cell(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Bool(yes) => if *yes { "yes" } else { "no" }.to_string(),
        Value::Array(items) => items.iter().map(cell).collect::<Vec<_>>().join(" "),
        Value::Object(object) => {
            let part = |key: &str| object.get(key).map(cell).unwrap_or_default();
            format!("{}={}", part("key"), part("values"))
        }
        other => other.to_string(),
    }
}
