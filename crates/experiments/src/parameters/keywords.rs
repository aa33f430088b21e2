//! The parameters of a run as keywords of `pavior.simulate` in Python: its signature and help, and
//! its declaration for type checkers.

use pavior_kernel::Family;
use pavior_network::PatternKind;
use pavior_workload::{ArrivalProcess, ServiceDistribution, ShapeRule, SideDistribution};

use super::{ALL, Applies, CONTROLS, Control, Heading, Parameter, ValueType};

/// The longest line.
const WIDE: usize = 100;

const INTRODUCTION: &str = "\
Runs jobs on a machine once; what happened is told in tables.

Every keyword is a parameter of experiment files, `_` for `-`, and means what \
docs/parameters.md says. One that does not apply, such as `load` where a log is replayed, raises \
`ValueError`; so does a list of several values, which is for `Experiment`. Times are in seconds \
where a log is replayed, else in units of time; a `datetime.timedelta` is a number of seconds. \
Ctrl-C ends a run within half a second.
";

/// A keyword of `simulate`.
struct Keyword {
    name: String,
    /// Its type, as a declaration has it.
    declared: String,
    /// Its type, unit and default, in words.
    told: String,
    default: String,
    meaning: String,
    heading: Heading,
}

/// Keywords that are no parameters, or take more in Python than in a file.
const OF_PYTHON: [(&str, &str, &str, &str, &str, Heading); 6] = [
    (
        "machine",
        "MachineName",
        "str, or sides of a mesh as an int or a sequence of ints",
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
        "which nodes a job gets; `pavior strategies` lists the names",
        Heading::General,
    ),
    (
        "scheduler",
        "str | type[Scheduler] | KeyFunction",
        "str, a subclass of `Scheduler` or `Priority`, or a function that gives a job its key",
        "'fcfs'",
        "which job goes next; `pavior schedulers` lists the names",
        Heading::General,
    ),
    (
        "trace",
        "Trace | str | os.PathLike[str] | None",
        "Trace, or a path to a .swf, .sim or .json, also .gz",
        "None",
        "a job log, replayed to the last departure; without one, jobs are drawn",
        Heading::Log,
    ),
    (
        "replication",
        "int",
        "int",
        "0",
        "which of the independent replications is run: another one draws other jobs",
        Heading::Replications,
    ),
    (
        "progress",
        "bool | Callable[[Progress], object] | None",
        "bool, or a function of a `Progress`",
        "None",
        "True shows on standard error how far the run is, False does not; None does after two \
         seconds on a terminal; a function is called every half second",
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
    let is_own = |name: &str| OF_PYTHON.iter().any(|own| own.0 == name);
    let ours = ALL.iter().filter(|parameter| parameter.applies != Applies::Snapshot);
    let ours = ours.filter(|parameter| !is_own(parameter.name)).map(parameter);
    let controls = ["metrics", "timing"].map(|name| {
        let named = CONTROLS.iter().find(|control| control.name == name);
        control(named.expect("both are on the list"))
    });
    own.chain(ours).chain(controls).collect()
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
        _ => "None".to_string(),
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

/// The names that a parameter takes, each with options of its own, where they fit a line or two.
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

/// A control that concerns a single run, too.
fn control(control: &Control) -> Keyword {
    let (declared, told, default) = match control.default {
        "true" => ("bool", "bool", "True"),
        _ => ("str | Sequence[str] | None", "str or a sequence of str", "None"),
    };
    Keyword {
        name: control.name.replace('-', "_"),
        declared: declared.to_string(),
        told: format!("{told}; default {default}"),
        default: default.to_string(),
        meaning: control.meaning.to_string(),
        heading: Heading::Results,
    }
}

/// The signature and the help of `pavior.simulate`, as CPython reads them from a function's text.
pub fn help() -> String {
    let named = |keyword: &Keyword| format!("{}={}", keyword.name, keyword.default);
    let mut all: Vec<String> = keywords().iter().map(named).collect();
    // Machine, strategy and scheduler may stand without their names.
    all.insert(3, "*".to_string());
    let mut text = String::new();
    wrapped(&mut text, &format!("simulate({})", all.join(", ")), "", "    ");
    text += "--\n\n";
    text + &described()
}

/// The declaration of `pavior.simulate` for type checkers, with its help.
pub fn declaration() -> String {
    let mut text = "def simulate(\n".to_string();
    for (number, keyword) in keywords().iter().enumerate() {
        if number == 3 {
            text += "    *,\n";
        }
        let Keyword { name, declared, default, .. } = keyword;
        let line = format!("    {name}: {declared} = {},\n", default.replace('\'', "\""));
        if line.len() > WIDE + 1 && declared.starts_with("Literal[") {
            let words = declared.trim_start_matches("Literal[").trim_end_matches(']');
            let default = default.replace('\'', "\"");
            text += &format!("    {name}: Literal[\n        {words}\n    ] = {default},\n");
        } else {
            text += &line;
        }
    }
    text += ") -> Result:\n    \"\"\"";
    let described = described();
    let lines = described.trim_end().lines().enumerate();
    let indented = lines.map(|(number, line)| match (number, line) {
        (0, line) => line.to_string(),
        (_, "") => String::new(),
        (_, line) => format!("    {line}"),
    });
    text + &indented.collect::<Vec<_>>().join("\n") + "\n    \"\"\"\n"
}

/// What `simulate` does, and each keyword under its heading.
fn described() -> String {
    let mut text = String::new();
    for paragraph in INTRODUCTION.trim_end().split('\n') {
        wrapped(&mut text, paragraph, "", "");
    }
    let keywords = keywords();
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

/// Adds a paragraph in lines that leave room for an indentation.
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
