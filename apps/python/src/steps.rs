//! Values that change during a run, with one row per change.

use arrow_array::ArrayRef;
use arrow_array::types::{Float64Type, UInt32Type};
use pavior::simulation::{Fate, JobRecord, Stay};
use pavior::workload::TimeUnit;
use pavior::{Cuboid, Grid, Occupancy, Time};
use pyo3::prelude::*;

use crate::records::{parts, span};
use crate::table::{Table, column};

/// A time and the value from then on.
type Step = (Time, u32);

/// Creates a table with the columns `time` and `value`.
pub(crate) fn table(steps: &[Step], unit: TimeUnit) -> PyResult<Table> {
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("time", column::<Float64Type>(steps.iter().map(|&(at, _)| unit.units(at)))),
        ("value", column::<UInt32Type>(steps.iter().map(|&(_, value)| value))),
    ];
    Table::new(columns, unit.name)
}

/// Returns the number of nodes that jobs hold, over time.
pub(crate) fn busy(jobs: &[JobRecord]) -> Vec<Step> {
    let nodes =
        |job: &JobRecord| -> i64 { parts(job).iter().map(|part| i64::from(part.volume())).sum() };
    let mut changes = Vec::new();
    for job in jobs {
        let Some((start, end)) = span(job) else { continue };
        changes.push((start, nodes(job)));
        changes.extend(end.map(|end| (end, -nodes(job))));
    }
    summed(changes)
}

/// Returns the number of waiting jobs over time.
pub(crate) fn queue(jobs: &[JobRecord]) -> Vec<Step> {
    let mut changes = Vec::new();
    for job in jobs {
        if matches!(job.fate, Fate::Rejected(_)) {
            continue;
        }
        changes.push((job.job.arrival, 1));
        changes.extend(span(job).map(|(start, _)| (start, -1)));
    }
    summed(changes)
}

/// Returns the running sum of changes. Simultaneous changes are merged.
fn summed(mut changes: Vec<(Time, i64)>) -> Vec<Step> {
    changes.sort_unstable();
    let mut value = 0;
    let mut steps: Vec<Step> = Vec::new();
    for instant in changes.chunk_by(|a, b| a.0 == b.0) {
        value += instant.iter().map(|&(_, change)| change).sum::<i64>();
        if steps.last().map_or(0, |&(_, last)| i64::from(last)) != value {
            steps.push((instant[0].0, value as u32));
        }
    }
    steps
}

/// Returns the number of nodes in the largest free box, over time.
pub(crate) fn largest_free(jobs: &[JobRecord], grid: Grid) -> Vec<Step> {
    // Departures precede starts at the same time.
    let mut changes: Vec<(Time, bool, &Cuboid)> = Vec::new();
    for Stay { start, end, placement } in jobs.iter().flat_map(JobRecord::stays) {
        // A job that departs or moves immediately never holds its nodes.
        if end == Some(start) {
            continue;
        }
        for part in placement.parts() {
            changes.push((start, true, part));
            changes.extend(end.map(|end| (end, false, part)));
        }
    }
    changes.sort_by_key(|&(at, starts, _)| (at, starts));
    let mut free = Occupancy::all_free(grid);
    let mut steps = vec![(Time::ZERO, grid.nodes())];
    for instant in changes.chunk_by(|a, b| a.0 == b.0) {
        for &(_, starts, part) in instant {
            // A record's boxes were free when they were granted.
            let _ = if starts { free.take(part) } else { free.give(part) };
        }
        let value = free.largest_free().map_or(0, |largest| largest.volume());
        if steps.last().is_none_or(|&(_, last)| last != value) {
            steps.push((instant[0].0, value));
        }
    }
    steps
}
