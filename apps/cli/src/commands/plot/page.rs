//! `pavior plot --html`: a page that plays a schedule.

use std::io::{BufRead, BufReader};
use std::path::Path;

use pavior_draw::Placed;
use pavior_mesh::{Grid, Occupancy};
use pavior_viewer::{CurvePoint, ScheduledJob};
use serde_json::Value;

use crate::failure::Failure;
use crate::files;

/// The most instants at which the largest free box is looked for.
const SAMPLES: usize = 400;
/// The most jobs that a browser plays.
const JOBS: usize = 200_000;

/// The page of a file of placements that were read from it.
pub(super) fn of(path: &Path, grid: &Grid, placed: &[Placed]) -> Result<String, Failure> {
    let wrong = |reason: String| Failure::usage(format!("{}: {reason}", files::shown(path)));
    if placed.is_empty() {
        return Err(wrong("there is no placement to draw".to_string()));
    }
    if placed.len() > JOBS {
        let reason = format!("{} jobs; a page plays at most {JOBS}", placed.len());
        return Err(wrong(reason));
    }
    let names = names(path)?;
    let last = placed.iter().filter_map(|one| one.end).fold(0.0, f64::max);
    let jobs: Vec<ScheduledJob> = placed
        .iter()
        .zip(names)
        .map(|(one, (name, submit))| ScheduledJob {
            name,
            submit: submit.unwrap_or(one.start),
            start: one.start,
            end: one.end.unwrap_or(last.max(one.start)),
            nodes: one.parts.iter().map(pavior_mesh::Cuboid::volume).sum(),
            parts: one.parts.iter().map(|part| coordinates(grid, part)).collect(),
        })
        .collect();
    if let Some(job) = jobs.iter().find(|job| !(job.start.is_finite() && job.end.is_finite())) {
        return Err(wrong(format!("job {}: a time is not finite", job.name)));
    }
    let samples = samples(grid, placed, &jobs).map_err(wrong)?;
    Ok(pavior_viewer::schedule(&grid.to_string(), &jobs, &samples))
}

fn coordinates(grid: &Grid, part: &pavior_mesh::Cuboid) -> (Vec<u16>, Vec<u16>) {
    (part.base[..grid.axes()].to_vec(), part.sides[..grid.axes()].to_vec())
}

/// The names of the jobs and when they were submitted, line by line.
fn names(path: &Path) -> Result<Vec<(Value, Option<f64>)>, Failure> {
    let mut names = Vec::new();
    for line in BufReader::new(files::open(path)?).lines() {
        let line = line?;
        if let Ok(mut value) = serde_json::from_str::<Value>(&line) {
            // A job that has moved does not wait again.
            let waits = value.get("moved").is_none();
            let submit = value.get("submit").and_then(Value::as_f64).filter(|_| waits);
            names.push((value["job"].take(), submit));
        }
    }
    Ok(names)
}

/// The machine after evenly chosen starts and ends.
fn samples(
    grid: &Grid,
    placed: &[Placed],
    jobs: &[ScheduledJob],
) -> Result<Vec<CurvePoint>, String> {
    // At one instant, jobs end before others start.
    let ends = jobs.iter().enumerate().map(|(index, job)| (job.end, false, index));
    let starts = jobs.iter().enumerate().map(|(index, job)| (job.start, true, index));
    // A job of no length holds nothing at any instant.
    let lasts = |&(_, _, index): &(f64, bool, usize)| jobs[index].end > jobs[index].start;
    let mut events: Vec<_> = ends.chain(starts).filter(lasts).collect();
    events.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    let every = events.len().div_ceil(SAMPLES).max(1);
    let mut free = Occupancy::all_free(*grid);
    let mut samples = Vec::new();
    for (number, &(at, starts, index)) in events.iter().enumerate() {
        for part in &placed[index].parts {
            let change = if starts { free.take(part) } else { free.give(part) };
            change.map_err(|error| format!("job {}: {error}", jobs[index].name))?;
        }
        let ends_here = events.get(number + 1).is_none_or(|next| next.0 > at);
        if ends_here && (number % every == 0 || number + 1 == events.len() || every == 1) {
            let largest_free = free.largest_free().map_or(0, |cuboid| cuboid.volume());
            samples.push(CurvePoint { at, busy: grid.nodes() - free.count(), largest_free });
        }
    }
    Ok(samples)
}
