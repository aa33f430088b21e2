//! Parameters that apply to every run.

use pavior_mesh::Grid;

use super::{Applies, COMMON, Heading, Parameter, ValueType, count, number, parsed, selected};

/// The maximum number of completions in a run. A longer run would take more than a day.
pub(super) const MOST_JOBS: u64 = 1_000_000_000;

/// The maximum number of waiting jobs. Storing this many takes about a gigabyte of memory.
const MOST_WAITING: u64 = 10_000_000;

/// The machine.
pub const MACHINE: Parameter = Parameter {
    name: "machine",
    alias: Some("machines"),
    meaning: "the machine: mesh:16x16, torus:8x8x8 or grid:8wx4x4w",
    default: &["mesh:16x16"],
    read: |text, _| selected(text.parse::<Grid>(), |given| &mut given.machine),
    ..COMMON
};

/// The strategy, which decides which nodes a job gets.
pub const STRATEGY: Parameter = Parameter {
    name: "strategy",
    alias: Some("strategies"),
    meaning: "the rule that chooses a job's nodes; see `pavior strategies`",
    default: &["ff", "tff", "tbl", "gabl", "mbs"],
    read: |text, catalogue| {
        selected(catalogue.strategies.select(text), |given| &mut given.strategy)
    },
    ..COMMON
};

/// The scheduler, which decides which job starts next.
pub const SCHEDULER: Parameter = Parameter {
    name: "scheduler",
    alias: Some("schedulers"),
    meaning: "the rule that chooses the next job; see `pavior schedulers`",
    applies: Applies::Runs,
    default: &["fcfs"],
    read: |text, catalogue| {
        selected(catalogue.schedulers.select(text), |given| &mut given.scheduler)
    },
    ..COMMON
};

pub(super) const FREEDOM: Parameter = Parameter {
    name: "freedom",
    meaning: "the placements that jobs accept: box, turned, any-box, connected or any; may depend \
              on a job's size (box:16,connected), on a column (box:queue=2) or on a share of jobs \
              (any:25%)",
    applies: Applies::Runs,
    read: |text, _| parsed(text, |given| &mut given.freedom),
    ..COMMON
};

pub(super) const SEED: Parameter = Parameter {
    name: "seed",
    alias: Some("seeds"),
    meaning: "the seed for all random numbers",
    heading: Heading::Replications,
    kind: ValueType::Count,
    default: &["1"],
    read: |text, _| count(text, 0..=u64::MAX, |given| &mut given.seed),
    ..COMMON
};

pub(super) const WARMUP: Parameter = Parameter {
    name: "warmup",
    meaning: "the number of completed jobs to ignore before averaging begins",
    heading: Heading::Replications,
    applies: Applies::Runs,
    kind: ValueType::Count,
    unit: "jobs",
    default: &["0"],
    read: |text, _| count(text, 0..=MOST_JOBS, |given| &mut given.warmup),
    ..COMMON
};

pub(super) const SLOWDOWN_BOUND: Parameter = Parameter {
    name: "slowdown-bound",
    meaning: "the minimum run time used in the bounded slowdown; default: 10 s (logs) or 1 unit",
    heading: Heading::Results,
    applies: Applies::Runs,
    kind: ValueType::Number,
    unit: "units of time",
    read: |text, _| number(text, |value| value >= 0.0, ">= 0", |given| &mut given.slowdown_bound),
    ..COMMON
};

const BOUND: Parameter = Parameter {
    heading: Heading::Replications,
    applies: Applies::Runs,
    kind: ValueType::Count,
    ..COMMON
};

pub(super) const MAX_WAITING: Parameter = Parameter {
    name: "max-waiting",
    applies: Applies::Synthetic,
    meaning: "ends a run of synthetic jobs with an error when more than this many jobs are \
              waiting; default: 1000000",
    unit: "jobs",
    read: |text, _| count(text, 1..=MOST_WAITING, |given| &mut given.max_waiting),
    ..BOUND
};

pub(super) const MAX_TIME: Parameter = Parameter {
    name: "max-time",
    meaning: "ends a run with an error at this time; default: the largest possible time",
    kind: ValueType::Number,
    unit: "units of time",
    read: |text, _| number(text, |value| value > 0.0, "above 0", |given| &mut given.max_time),
    ..BOUND
};

pub(super) const MAX_INTERRUPTIONS: Parameter = Parameter {
    name: "max-interruptions",
    meaning: "ends a run with an error if any job loses nodes more than this many times; default: \
        10000",
    unit: "times",
    read: |text, _| count(text, 0..=u64::MAX, |given| &mut given.max_interruptions),
    ..BOUND
};
