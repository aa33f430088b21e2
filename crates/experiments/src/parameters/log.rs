//! Parameters of job logs.

use pavior_kernel::BadName;
use pavior_workload::Selection;
use pavior_workload::traces::{Estimates, Filter};

use super::{Applies, COMMON, Heading, Parameter, ValueType, canonical, count, number, switch};

const LOG: Parameter = Parameter { heading: Heading::Log, applies: Applies::Log, ..COMMON };

pub(super) const TRACE: Parameter = Parameter {
    name: "trace",
    alias: Some("traces"),
    meaning: "a job log (.swf, .sim or .json, also .gz), replayed to the last departure",
    ..LOG
};

pub(super) const SHAPE_RULE: Parameter = Parameter {
    name: "shape-rule",
    meaning: "how a number of nodes becomes a box",
    default: &["compact"],
    read: |text, catalogue| Ok(catalogue.shape_rules.select(text)?.to_string()),
    ..LOG
};

pub(super) const ARRIVAL_SCALE: Parameter = Parameter {
    name: "arrival-scale",
    meaning: "multiplies the times between arrivals",
    kind: ValueType::Number,
    default: &["1"],
    read: |text, _| number(text, |value| value > 0.0 && value <= 1e6, "above 0, at most 1e6"),
    ..LOG
};

pub(super) const FIRST: Parameter = Parameter {
    name: "first",
    meaning: "reads this many job lines only",
    kind: ValueType::Count,
    unit: "lines",
    read: |text, _| count(text, 1..=u64::MAX),
    ..LOG
};

pub(super) const FILTER: Parameter = Parameter {
    name: "filter",
    meaning: "keeps jobs whose fields have these values, such as partition=2,queue=1",
    read: canonical::<Filter>,
    ..LOG
};

pub(super) const STATUS: Parameter = Parameter {
    name: "status",
    meaning: "keeps jobs with these status values (field 11), separated by commas",
    read: |text, _| {
        Filter::of_status(text)
            .map(|_| text.to_string())
            .map_err(|bad| BadName { span: 0..text.len(), ..bad })
    },
    ..LOG
};

pub(super) const ESTIMATES: Parameter = Parameter {
    name: "estimates",
    meaning: "what schedulers are told of run times: log, exact or factor:2",
    default: &["log"],
    read: canonical::<Selection<Estimates>>,
    ..LOG
};

pub(super) const KILL: Parameter = Parameter {
    name: "kill",
    meaning: "cuts logged run times at their estimates; what messages and moves add comes on top",
    kind: ValueType::Switch,
    default: &["false"],
    read: switch,
    ..LOG
};

pub(super) const LENIENT: Parameter = Parameter {
    name: "lenient",
    meaning: "skips and counts lines that cannot be read, instead of stopping",
    kind: ValueType::Switch,
    default: &["false"],
    read: switch,
    ..LOG
};
