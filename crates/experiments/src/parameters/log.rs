//! Parameters for job logs.

use pavior_kernel::BadName;
use pavior_workload::traces::Filter;

use super::{
    Applies, COMMON, Heading, Parameter, Reading, ValueType, count, number, parsed, selected,
    switch, verbatim,
};

const LOG: Parameter = Parameter { heading: Heading::Log, applies: Applies::Log, ..COMMON };

/// The names of the parameters for reading a log, separated by spaces.
const READING: &str = "first filter status lenient dependencies processors-per-node nodes-from \
                       pieces log-format";

/// Returns the log-reading parameter with this name.
pub fn of_reading(key: &str) -> Option<&'static Parameter> {
    let is_one = |name| READING.split(' ').any(|one| one == name);
    super::ALL.iter().find(|parameter| is_one(parameter.name) && parameter.is_called(key))
}

/// A job log to replay.
pub const TRACE: Parameter = Parameter {
    name: "trace",
    alias: Some("traces"),
    meaning: "a job log (- for standard input), replayed until its last job departs",
    read: |text, _| Ok(verbatim(text, |given| &mut given.trace)),
    ..LOG
};

pub(super) const SHAPE_RULE: Parameter = Parameter {
    name: "shape-rule",
    meaning: "the rule that turns a node count into a box",
    default: &["compact"],
    read: |text, catalogue| {
        selected(catalogue.shape_rules.select(text), |given| &mut given.shape_rule)
    },
    ..LOG
};

pub(super) const ARRIVAL_SCALE: Parameter = Parameter {
    name: "arrival-scale",
    meaning: "multiplies the times between arrivals by this factor",
    kind: ValueType::Number,
    default: &["1"],
    read: |text, _| {
        number(
            text,
            |value| value > 0.0 && value <= 1e6,
            "above 0 and at most 1e6",
            |given| &mut given.arrival_scale,
        )
    },
    ..LOG
};

pub(super) const FIRST: Parameter = Parameter {
    name: "first",
    meaning: "reads at most this many job lines",
    kind: ValueType::Count,
    unit: "lines",
    read: |text, _| count(text, 1..=u64::MAX, |given| &mut given.first),
    ..LOG
};

pub(super) const FILTER: Parameter = Parameter {
    name: "filter",
    meaning: "keeps only jobs whose fields have these values, such as partition=gpu,queue=1",
    read: |text, _| parsed(text, |given| &mut given.filter),
    ..LOG
};

pub(super) const STATUS: Parameter = Parameter {
    name: "status",
    meaning: "keeps only jobs with one of these comma-separated statuses: names, or numeric codes \
              as in field 11 of the log",
    read: |text, _| {
        Filter::of_status(text)
            .map(|filter| Reading::new(text, filter, |given| &mut given.status))
            .map_err(|bad| BadName { span: 0..text.len(), ..bad })
    },
    ..LOG
};

pub(super) const ESTIMATES: Parameter = Parameter {
    name: "estimates",
    meaning: "the run-time estimates given to schedulers: log, exact or factor:2",
    default: &["log"],
    read: |text, _| parsed(text, |given| &mut given.estimates),
    ..LOG
};

pub(super) const KILL: Parameter = Parameter {
    name: "kill",
    meaning: "kills logged jobs when they reach their estimates; time added by messages and moves \
              does not count",
    kind: ValueType::Switch,
    default: &["false"],
    read: |text, _| switch(text, |given| &mut given.kill),
    ..LOG
};

pub(super) const DEPENDENCIES: Parameter = Parameter {
    name: "dependencies",
    meaning: "submits each job only after its predecessors in the log (fields 17 and 18) have \
              ended",
    kind: ValueType::Switch,
    read: |text, _| switch(text, |given| &mut given.dependencies),
    ..LOG
};

pub(super) const LENIENT: Parameter = Parameter {
    name: "lenient",
    meaning: "skips and counts malformed lines instead of stopping at the first",
    kind: ValueType::Switch,
    default: &["false"],
    read: |text, _| switch(text, |given| &mut given.lenient),
    ..LOG
};

pub(super) const PROCESSORS_PER_NODE: Parameter = Parameter {
    name: "processors-per-node",
    meaning: "the number of processors per node; 1 treats sizes as node counts, regardless of the \
        header",
    kind: ValueType::Count,
    read: |text, _| count(text, 1..=1_000_000, |given| &mut given.processors_per_node),
    ..LOG
};

pub(super) const NODES_FROM: Parameter = Parameter {
    name: "nodes-from",
    meaning: "the SWF column (counting from 1) that contains the node count: 4, 2x4 or text:2x4",
    kind: ValueType::Count,
    read: |text, _| count(text, 1..=1000, |given| &mut given.nodes_from),
    ..LOG
};

pub(super) const PIECES: Parameter = Parameter {
    name: "pieces",
    meaning: "keeps partial jobs (status 2, 3 or 4) even if the log also contains the whole job",
    kind: ValueType::Switch,
    read: |text, _| switch(text, |given| &mut given.pieces),
    ..LOG
};

pub(super) const PLACED: Parameter = Parameter {
    name: "placed",
    meaning: "adds a result row for the placements recorded in the log; the value is a node-name \
              pattern, such as n{x}-{y} or n[0-9]",
    read: |text, _| Ok(verbatim(text, |given| &mut given.placed)),
    ..LOG
};

pub(super) const LOG_FORMAT: Parameter = Parameter {
    name: "log-format",
    meaning: "the log format, if it cannot be detected from the contents or the file name",
    read: |text, _| parsed(text, |given| &mut given.log_format),
    ..LOG
};
