//! Time series of values that change during a run, with one row per change.

use arrow_array::ArrayRef;
use arrow_array::types::{Float64Type, UInt32Type};
use pavior::simulation::{Fate, JobRecord, Stay};
use pavior::workload::TimeUnit;
use pavior::{Cuboid, Grid, Occupancy, Time};
use pyo3::prelude::*;

use crate::records::span;
use crate::table::{Table, column};

/// A time, and the value from that time on.
type Sample = (Time, u32);

/// Creates a table with the columns `time` and `value`.
pub(crate) fn table(samples: &[Sample], unit: TimeUnit) -> PyResult<Table> {
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("time", column::<Float64Type>(samples.iter().map(|&(at, _)| unit.units(at)))),
        ("value", column::<UInt32Type>(samples.iter().map(|&(_, value)| value))),
    ];
    Table::new(columns, unit.name)
}

/// Returns the number of nodes held by jobs over time.
pub(crate) fn busy(jobs: &[JobRecord]) -> Vec<Sample> {
    let mut changes = Vec::new();
    for Stay { start, end, placement } in jobs.iter().flat_map(JobRecord::stays) {
        let nodes: i64 = placement.parts().iter().map(|part| i64::from(part.volume())).sum();
        changes.push((start, nodes));
        changes.extend(end.map(|end| (end, -nodes)));
    }
    summed(changes)
}

/// Returns the number of waiting jobs over time.
pub(crate) fn queue(jobs: &[JobRecord]) -> Vec<Sample> {
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

/// Returns the running sum of changes, merging simultaneous ones.
fn summed(mut changes: Vec<(Time, i64)>) -> Vec<Sample> {
    changes.sort_unstable();
    let mut value = 0;
    let mut samples: Vec<Sample> = Vec::new();
    for instant in changes.chunk_by(|a, b| a.0 == b.0) {
        value += instant.iter().map(|&(_, change)| change).sum::<i64>();
        if samples.last().map_or(0, |&(_, last)| i64::from(last)) != value {
            samples.push((instant[0].0, value as u32));
        }
    }
    samples
}

/// Returns the number of nodes in the largest free box over time, beginning at time 0.
pub(crate) fn largest_free(jobs: &[JobRecord], grid: Grid) -> Vec<Sample> {
    // At equal times, departures precede starts.
    let mut changes: Vec<(Time, bool, &Cuboid)> = Vec::new();
    for Stay { start, end, placement } in jobs.iter().flat_map(JobRecord::stays) {
        // A job that departs or moves at its start time never occupies these nodes.
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
    let mut samples = vec![(Time::ZERO, grid.nodes())];
    for instant in changes.chunk_by(|a, b| a.0 == b.0) {
        for &(_, starts, part) in instant {
            // These calls cannot fail, because recorded boxes were free when they were granted.
            let _ = if starts { free.take(part) } else { free.give(part) };
        }
        let value = free.largest_free().map_or(0, |largest| largest.volume());
        if samples.last().is_none_or(|&(_, last)| last != value) {
            samples.push((instant[0].0, value));
        }
    }
    samples
}
