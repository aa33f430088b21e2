//! Smallest Job First: only the smallest waiting job may start.
//!
//! The measure of size is an option, because the literature uses the same name for three rules:
//! `size` (nodes requested), `area` (nodes x estimated run time) and `time` (estimated run time, as
//! in [SSD](super::ssd)). Ties go to the older job. If the smallest job does not fit, it blocks all
//! others. Large jobs starve while smaller ones keep arriving. A decision takes one query and O(log
//! q) time for q waiting jobs, or O(q log q) after a failure.
//!
//! Source: Majumdar, Eager & Bunt, "Scheduling in multiprogrammed parallel systems", SIGMETRICS
//! 1988, for the rules "smallest number of processes first" and "smallest cumulative demand first".

use pavior_kernel::{OptionSpec, Options, Values};
use pavior_workload::Job;

use crate::priority::LeastFirst;
use crate::{BuildScheduler, Entry, SchedulerKind};

pub(crate) static ENTRY: Entry = Entry {
    name: "sjf",
    title: "Smallest job first",
    source: "Majumdar, Eager & Bunt 1988",
    options: &[BY],
    variants: &["", "area", "time"],
    does: SchedulerKind {
        build: BuildScheduler::Function(|options| Box::new(LeastFirst::new(size_of(options)))),
    },
};

pub(super) const BY: OptionSpec = OptionSpec {
    key: "by",
    values: Values::OneOf(&["size", "area", "time"]),
    default: "size",
    meaning: "the job size: nodes, nodes x estimate, or estimate",
    bare: true,
};

/// Returns the selected size measure.
pub(super) fn size_of(options: &Options) -> fn(&Job) -> u128 {
    match options.get("by") {
        "size" => |job| u128::from(job.request.nodes),
        "area" => |job| u128::from(job.request.nodes) * u128::from(job.estimate.0),
        _ => |job| u128::from(job.estimate.0),
    }
}
