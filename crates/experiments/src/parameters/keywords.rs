//! The parameters as Python keywords: the signature, help and type-checker declaration of
//! `pavior.simulate`, and the types and help of the keywords of `pavior.Experiment`.

use pavior_kernel::Family;
use pavior_network::PatternKind;
use pavior_workload::{ArrivalProcess, ServiceDistribution, ShapeRule, SideDistribution};

use super::{ALL, Applies, CONTROLS, Control, ControlKind, Heading, Parameter, ValueType};

/// The maximum line length.
const WIDE: usize = 100;

const INTRODUCTION: &str = "\
Runs one simulation and returns its results as tables.

Every keyword is an experiment-file parameter, spelled with `_` instead of `-` and described in \
docs/parameters.md. Raises `ValueError` for a parameter that does not apply, such as `load` when a \
log is replayed, and for a list of several values, which only `Experiment` accepts. Raises \
`BadName` for an unknown name. Times are in seconds for a log and in units of time otherwise; a \
`datetime.timedelta` is converted to seconds. Ctrl-C ends a run within half a second.
";

/// The beginning of the module that declares an experiment's keywords. The rest is generated.
const EXPERIMENT: &str = "\
\"\"\"The keywords of `Experiment`: generated from the list of parameters.\"\"\"

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Literal, TypedDict

from pavior._native import Trace
from pavior._scheduler import Scheduler
from pavior._strategy import Strategy
from pavior._types import KeyFunction, MachineName, Numbers, Several, Time

__all__ = [\"Parameters\"]


class Parameters(TypedDict, total=False):
    \"\"\"";

const OF_EXPERIMENT: &str = "Every keyword is an experiment-file parameter, with `_` in place of \
                             `-`; see docs/parameters.md. A keyword takes a value, a sequence of \
                             values or, for numbers, a range: `{'from': 0.5, 'to': 2, 'steps': \
                             4}`. Every combination of values is a point. Passing None is the same \
                             as omitting the keyword.";

/// Keys in experiment files whose values are tables.
const TABLES: [(&str, &str, Heading); 2] = [
    ("figure", "the figures in the report, each a dict; see docs/experiments.md", Heading::Results),
    (
        "sweep",
        "parts of the experiment, each a dict of parameters that override the experiment's own",
        Heading::Replications,
    ),
];

struct Keyword {
    name: String,
    /// The type, as in a declaration.
    declared: String,
    /// The type, the unit and the default, in words.
    told: String,
    default: String,
    meaning: String,
    heading: Heading,
}

/// A keyword's name, type, type in words, default, meaning and heading.
type OfPython = (&'static str, &'static str, &'static str, &'static str, &'static str, Heading);

/// Keywords that are not parameters, or that accept more kinds of values in Python than in files.
const OF_PYTHON: [OfPython; 6] = [
    (
        "machine",
        "MachineName",
        "str, or the sides of a mesh as an int or a sequence of ints",
        "'mesh:16x16'",
        "the machine: 'mesh:16x16', 'torus:8x8x8', 'grid:8wx4x4w' (w: a side that wraps), \
         or (16, 16)",
        Heading::General,
    ),
    (
        "strategy",
        "str | type[Strategy]",
        "str, or a subclass of `Strategy`",
        "'tff'",
        "the rule that chooses a job's nodes; `pavior strategies` lists the names",
        Heading::General,
    ),
    (
        "scheduler",
        "str | type[Scheduler] | KeyFunction",
        "str, a subclass of `Scheduler` or `Priority`, or a function that returns a job's key",
        "'fcfs'",
        "the rule that chooses the next job; `pavior schedulers` lists the names",
        Heading::General,
    ),
    (
        "trace",
        "Trace | str | os.PathLike[str] | None",
        "Trace, or a path to a .swf, .sim, .json or .sacct file, optionally gzipped",
        "None",
        "a job log, replayed until its last job departs; without a log, jobs are synthetic",
        Heading::Log,
    ),
    (
        "replication",
        "int",
        "int",
        "0",
        "the number of the replication to run; each replication has different jobs",
        Heading::Replications,
    ),
    (
        "progress",
        "bool | Callable[[Progress], object] | None",
        "bool, or a function that takes a `Progress`",
        "None",
        "True shows progress on standard error; None does so only if that is a terminal, and only \
         after two seconds; False does not. A function is called every half second",
        Heading::Results,
    ),
];

fn keywords() -> Vec<Keyword> {
    let own = OF_PYTHON.iter().map(|&(name, declared, kind, default, meaning, heading)| Keyword {
        name: name.to_string(),
        declared: declared.to_string(),
        told: format!("{kind}; default {default}"),
        default: default.to_string(),
        meaning: meaning.to_string(),
        heading,
    });
    let is_own = |name: &str| of_python(name).is_some();
    // `placed` adds a second run, so it is available only in experiments.
    let is_one_run = |one: &&Parameter| one.applies != Applies::Snapshot && one.name != "placed";
    let ours = ALL.iter().filter(is_one_run);
    let ours = ours.filter(|parameter| !is_own(parameter.name)).map(parameter);
    let controls = ["metrics", "timing"].map(|name| {
        let named = CONTROLS.iter().find(|control| control.name == name);
        control(named.expect("both are on the list"))
    });
    own.chain(ours).chain(controls).collect()
}

fn of_python(name: &str) -> Option<&'static OfPython> {
    OF_PYTHON.iter().find(|own| own.0 == name)
}

/// Returns the keywords for an experiment: all parameters and their aliases, and all controls
/// except the name, which is a separate argument.
fn of_experiment() -> Vec<Keyword> {
    let ours = ALL.iter().flat_map(|one| {
        let mut keyword = parameter(one);
        if let Some((_, declared, told, _, meaning, _)) = of_python(one.name) {
            keyword.declared = (*declared).to_string();
            keyword.told = format!("{told}; default {}", keyword.default);
            keyword.meaning = (*meaning).to_string();
        }
        keyword.declared = several(&keyword.declared, one.kind);
        let alias = one.alias.map(|alias| Keyword {
            name: alias.replace('-', "_"),
            declared: keyword.declared.clone(),
            told: keyword.told.clone(),
            default: keyword.default.clone(),
            meaning: format!("another name for `{}`", keyword.name),
            heading: keyword.heading,
        });
        [Some(keyword), alias].into_iter().flatten()
    });
    let controls = CONTROLS.iter().filter(|one| one.name != "name").map(control);
    let tables = TABLES.map(|(name, meaning, heading)| Keyword {
        name: name.to_string(),
        declared: "Sequence[Mapping[str, object]] | None".to_string(),
        told: "a sequence of dicts; default None".to_string(),
        default: "None".to_string(),
        meaning: meaning.to_string(),
        heading,
    });
    ours.chain(controls).chain(tables).collect()
}

/// Converts the type of a single value to a type that accepts one or more values.
fn several(declared: &str, kind: ValueType) -> String {
    let one = declared.trim_end_matches(" | None");
    let ranges = matches!(kind, ValueType::Number | ValueType::Count);
    format!("{}[{one}] | None", if ranges { "Numbers" } else { "Several" })
}

fn parameter(parameter: &Parameter) -> Keyword {
    let Parameter { kind, unit, default, meaning, .. } = parameter;
    let is_time = *unit == "units of time" && *kind == ValueType::Number;
    let (declared, told) = match kind {
        ValueType::Text => ("str".to_string(), "str".to_string()),
        ValueType::Number if is_time => ("Time".to_string(), "float or timedelta".to_string()),
        ValueType::Number => ("float".to_string(), "float".to_string()),
        ValueType::Count => ("int".to_string(), "int".to_string()),
        ValueType::Switch => ("bool".to_string(), "bool".to_string()),
        ValueType::Choice(words) => {
            let named = words.iter().map(|(word, _)| format!("\"{word}\""));
            let told = words.iter().map(|(word, meaning)| format!("'{word}' ({meaning})"));
            let declared = named.collect::<Vec<_>>().join(", ");
            (format!("Literal[{declared}]"), told.collect::<Vec<_>>().join(", "))
        }
    };
    let default = match (kind, default) {
        (ValueType::Number | ValueType::Count, [one]) => (*one).to_string(),
        (ValueType::Switch, ["false"]) => "False".to_string(),
        (ValueType::Switch, [_]) => "True".to_string(),
        (_, [one]) => format!("'{one}'"),
        (_, []) => "None".to_string(),
        (_, several) => format!("'{}'", several.join("', '")),
    };
    let declared = if default == "None" { format!("{declared} | None") } else { declared };
    let unit = if unit.is_empty() { String::new() } else { format!(", in {unit}") };
    let told = names(parameter.name).map_or(told, |names| format!("str: {}", names.join(", ")));
    Keyword {
        name: parameter.column(),
        declared,
        told: format!("{told}{unit}; default {default}"),
        default,
        meaning: (*meaning).to_string(),
        heading: parameter.heading,
    }
}

/// Returns the names that a parameter accepts, with or without options, or `None` if there are too
/// many to list.
fn names(parameter: &str) -> Option<Vec<String>> {
    fn all<F: Family>() -> Vec<String> {
        F::builtin().iter().map(|entry| format!("'{}'", entry.name)).collect()
    }
    Some(match parameter {
        "sides" => all::<SideDistribution>(),
        "service" => all::<ServiceDistribution>(),
        "arrivals" => all::<ArrivalProcess>(),
        "shape-rule" => all::<ShapeRule>(),
        "pattern" => all::<PatternKind>(),
        _ => return None,
    })
}

fn control(control: &Control) -> Keyword {
    let (declared, told) = match control.kind {
        ControlKind::Word | ControlKind::Text => ("str", "str"),
        ControlKind::Switch => ("bool", "bool"),
        ControlKind::Count => ("int", "int"),
        ControlKind::Share => ("float", "float"),
        ControlKind::Metrics => ("str | Sequence[str]", "str or a sequence of str"),
        ControlKind::Formulas => ("Mapping[str, str]", "a dict of formulas"),
    };
    let default = match (control.kind, control.default) {
        (_, "") => "None",
        (_, "true") => "True",
        (_, "false") => "False",
        (_, other) => other,
    };
    let is_left = if default == "None" { " | None" } else { "" };
    Keyword {
        name: control.name.replace('-', "_"),
        declared: format!("{declared}{is_left}"),
        told: format!("{told}; default {default}"),
        default: default.to_string(),
        meaning: control.meaning.to_string(),
        heading: control.heading.unwrap_or(Heading::Results),
    }
}

/// Returns the signature and docstring of `pavior.simulate` in the text format that CPython parses.
pub fn help() -> String {
    let named = |keyword: &Keyword| format!("{}={}", keyword.name, keyword.default);
    let mut all: Vec<String> = keywords().iter().map(named).collect();
    // The machine, strategy, and scheduler may be passed as positional arguments.
    all.insert(3, "*".to_string());
    let mut text = String::new();
    wrapped(&mut text, &format!("simulate({})", all.join(", ")), "", "    ");
    text += "--\n\n";
    text + &described(INTRODUCTION, &keywords())
}

/// Returns the declaration of `pavior.simulate` for type checkers, with its help.
pub fn declaration() -> String {
    let mut text = "def simulate(\n".to_string();
    for (number, keyword) in keywords().iter().enumerate() {
        if number == 3 {
            text += "    *,\n";
        }
        let Keyword { name, declared, default, .. } = keyword;
        declare(&mut text, name, declared, &format!(" = {},", default.replace('\'', "\"")));
    }
    text += ") -> Result:\n    \"\"\"";
    document(&mut text, &described(INTRODUCTION, &keywords()));
    text
}

/// Returns the module that declares the keywords of `pavior.Experiment`, with their help.
pub fn experiment() -> String {
    let mut text = EXPERIMENT.to_string();
    let keywords = of_experiment();
    document(&mut text, &described(OF_EXPERIMENT, &keywords));
    text.push('\n');
    for Keyword { name, declared, .. } in &keywords {
        let is_open = declared.ends_with("| None");
        declare(
            &mut text,
            name,
            &format!("{declared}{}", if is_open { "" } else { " | None" }),
            "",
        );
    }
    text
}

/// Adds the declaration of a keyword, wrapping it if it is too long for one line.
fn declare(text: &mut String, name: &str, declared: &str, rest: &str) {
    let line = format!("    {name}: {declared}{rest}");
    if line.len() > WIDE
        && let Some((before, words)) = declared.split_once("Literal[")
        && let Some((words, after)) = words.split_once(']')
    {
        *text += &format!("    {name}: {before}Literal[\n        {words}\n    ]{after}{rest}\n");
    } else {
        *text += &line;
        text.push('\n');
    }
}

/// Adds the docstring for the preceding declaration, and ends the declaration.
fn document(text: &mut String, described: &str) {
    let lines = described.trim_end().lines().enumerate();
    let indented = lines.map(|(number, line)| match (number, line) {
        (0, line) => line.to_string(),
        (_, "") => String::new(),
        (_, line) => format!("    {line}"),
    });
    *text += &indented.collect::<Vec<_>>().join("\n");
    *text += "\n    \"\"\"\n";
}

/// Describes a call, and lists each keyword under its heading.
fn described(introduction: &str, keywords: &[Keyword]) -> String {
    let mut text = String::new();
    for paragraph in introduction.trim_end().split('\n') {
        wrapped(&mut text, paragraph, "", "");
    }
    for heading in Heading::ALL {
        let mut of_heading = keywords.iter().filter(|one| one.heading == heading).peekable();
        if of_heading.peek().is_some() {
            text += &format!("\nParameters: {}\n", heading.title());
        }
        for Keyword { name, meaning, told, .. } in of_heading {
            wrapped(&mut text, &format!("{name}: {meaning}"), "    ", "        ");
            wrapped(&mut text, &format!("({told})"), "        ", "        ");
        }
    }
    text
}

/// Adds a paragraph, wrapped to leave room for indentation.
fn wrapped(text: &mut String, paragraph: &str, first: &str, others: &str) {
    let mut line = first.to_string();
    let mut is_empty = true;
    for word in paragraph.split(' ').filter(|word| !word.is_empty()) {
        if !is_empty && line.chars().count() + 1 + word.chars().count() > WIDE - 5 {
            *text += &line;
            text.push('\n');
            line = others.to_string();
            is_empty = true;
        }
        if !is_empty {
            line.push(' ');
        }
        line += word;
        is_empty = false;
    }
    *text += line.trim_end();
    text.push('\n');
}
