//! The documentation page on parameters, generated from the lists.

use std::fmt::Write;

use super::{ALL, Applies, CONTROLS, Control, ControlKind, Heading, Parameter, ValueType};

const INTRODUCTION: &str = "\
# Parameters

A run is defined by a *point*: one value for each of these parameters. They are options of
`pavior simulate` (`--arrival-scale 0.5`) and keys in experiment files (`arrival-scale = 0.5`; an
underscore may replace a dash). In a file, a value may be a list or, for numbers, a range, and each
combination of values is a point. `simulate` accepts comma-separated lists of strategies,
schedulers and loads, but does not take snapshots. Long values are listed below their table.

This page is generated from the list in `crates/experiments/src/parameters`;
`PAVIOR_UPDATE=1 cargo test -p pavior-experiments made_from_the_list` regenerates both this page
and the keyword arguments of Python's `pavior.simulate`.
";

/// The maximum length of a description that is shown in full in a table.
const IN_A_CELL: usize = 80;

/// Returns the page as Markdown.
pub fn page() -> String {
    let mut page = INTRODUCTION.to_string();
    for heading in Heading::ALL {
        let rows = ALL.iter().filter(|parameter| parameter.heading == heading).map(row);
        let controls = CONTROLS.iter().filter(|control| control.heading == Some(heading));
        let rows: Vec<Row> = rows.chain(controls.map(control)).collect();
        table(&mut page, heading.title(), &rows);
    }
    let others = CONTROLS.iter().filter(|control| control.heading.is_none());
    table(&mut page, "Experiment files only", &others.map(control).collect::<Vec<_>>());
    page
}

/// A table row, and the part of its description that is too long for the table.
struct Row {
    line: String,
    /// The rest of the description, as a list item with a line break. Empty if there is no rest.
    below: String,
}

fn table(page: &mut String, title: &str, rows: &[Row]) {
    let lines: String = rows.iter().map(|row| row.line.as_str()).collect();
    let below: String = rows.iter().map(|row| row.below.as_str()).collect();
    let below = if below.is_empty() { below } else { format!("\n{below}") };
    // Writing to a string cannot fail.
    let _ = write!(
        page,
        "\n## {title}\n\n\
         | name | values | default | meaning | for |\n|---|---|---|---|---|\n{lines}{below}"
    );
}

/// Splits a long description at its first colon or semicolon. A short description is not split.
fn parted(meaning: &str) -> (&str, Option<&str>) {
    let cut = [": ", "; "].iter().filter_map(|mark| meaning.find(mark)).min();
    match cut {
        Some(cut) if meaning.len() > IN_A_CELL => (&meaning[..cut], Some(&meaning[cut + 2..])),
        _ => (meaning, None),
    }
}

fn row(parameter: &Parameter) -> Row {
    let Parameter { name, alias, meaning, kind, unit, applies, default, .. } = parameter;
    let alias = alias.map(|alias| format!(", `{alias}`")).unwrap_or_default();
    let (meaning, rest) = parted(meaning);
    let mut below = rest.map(|rest| format!("- `{name}`: {rest}\n")).unwrap_or_default();
    let values = match kind {
        ValueType::Text => "text".to_string(),
        ValueType::Number => "number".to_string(),
        ValueType::Count => "whole number".to_string(),
        ValueType::Switch => "true or false".to_string(),
        ValueType::Choice(words) => {
            if below.is_empty() {
                below = format!("- `{name}`:\n");
            }
            for (word, meaning) in *words {
                let _ = writeln!(below, "  - `{word}`: {meaning}");
            }
            words.iter().map(|(word, _)| format!("`{word}`")).collect::<Vec<_>>().join(", ")
        }
    };
    let unit = if unit.is_empty() { String::new() } else { format!(", {unit}") };
    let applies = match applies {
        Applies::Always => "all",
        Applies::Runs => "simulations of jobs",
        Applies::Synthetic => "synthetic jobs",
        Applies::Messages => "jobs that send messages",
        Applies::Communication => "logs with communication",
        Applies::Log => "logs",
        Applies::Snapshot => "snapshots",
    };
    let default = default.iter().map(|value| format!("`{value}`")).collect::<Vec<_>>().join(", ");
    let line =
        format!("| `{name}`{alias} | {values}{unit} | {default} | {meaning} | {applies} |\n");
    Row { line, below }
}

fn control(control: &Control) -> Row {
    let Control { name, meaning, kind, default, .. } = control;
    let values = match kind {
        ControlKind::Word => "word of letters, digits, `-` and `_`",
        ControlKind::Text => "text",
        ControlKind::Switch => "true or false",
        ControlKind::Count => "whole number from 1 to 1000000",
        ControlKind::Share => "number between 0 and 1",
        ControlKind::Metrics => "metric names",
        ControlKind::Formulas => "table of formulas",
    };
    let default = if default.is_empty() { String::new() } else { format!("`{default}`") };
    let (meaning, rest) = parted(meaning);
    let line = format!("| `{name}` | {values} | {default} | {meaning} | the whole experiment |\n");
    Row { line, below: rest.map(|rest| format!("- `{name}`: {rest}\n")).unwrap_or_default() }
}
