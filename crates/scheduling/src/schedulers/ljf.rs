//! Largest Job First: only the largest waiting job may start.
//!
//! This is the reverse of [SJF](super::sjf), with the same size measures: `size` (nodes requested),
//! `area` (nodes x estimated run time) and `time` (estimated run time). Ties go to the older job.
//! If the largest job does not fit, it blocks all others until enough jobs have ended. Small jobs
//! starve while larger ones keep arriving. A decision takes one query and O(log q) time for q
//! waiting jobs, or O(q log q) after a failure.
//!
//! Source: Li & Cheng, "Job scheduling in a partitionable mesh using a two-dimensional buddy system
//! partitioning scheme", IEEE TPDS 2(4), 1991, where a batch of jobs is sorted by size.

use std::cmp::Reverse;

use super::sjf::{BY, size_of};
use crate::priority::LeastFirst;
use crate::{BuildScheduler, Entry, SchedulerKind};

pub(crate) static ENTRY: Entry = Entry {
    name: "ljf",
    title: "Largest job first",
    source: "Li & Cheng 1991",
    options: &[BY],
    variants: &["", "area", "time"],
    does: SchedulerKind {
        build: BuildScheduler::Function(|options| {
            let size = size_of(options);
            Box::new(LeastFirst::new(move |job| Reverse(size(job))))
        }),
    },
};
