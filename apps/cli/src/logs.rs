//! Job logs: files to jobs.

use std::path::Path;
use std::sync::Arc;

use pavior_experiments::{Source, TraceSource};
use pavior_mesh::{Grid, Request};
use pavior_workload::traces::{Filter, Format, ReadError, ReadOptions, Replay, Trace, TraceJobs};
use pavior_workload::{Job, NodeEvent, Selection, ShapeRule, Shaper, TimeUnit, read_failures};

use crate::args::{LogArgs, ReadArgs};
use crate::failure::{Failure, Place};
use crate::{files, input};

/// Reads a log; its name says its format.
pub(crate) fn read(path: &Path, args: &ReadArgs) -> Result<Trace, Failure> {
    let filter: Filter = args
        .filter
        .as_deref()
        .map_or(Ok(Filter::default()), |typed| input::name("--filter", typed))?;
    let status = args.status.as_deref().map_or(Ok(Filter::default()), |typed| {
        Filter::of_status(typed).map_err(|bad| Failure::option("--status", typed, 0, &bad))
    })?;
    let options =
        ReadOptions { lenient: args.lenient, first: args.first, filter: filter.and(&status) };
    read_with(path, &options)
}

/// Reads a log with options that are read already.
pub(crate) fn read_with(path: &Path, options: &ReadOptions) -> Result<Trace, Failure> {
    let reader = files::open(path)?;
    let Some(format) = Format::of_file(&path.to_string_lossy()) else {
        return Err(Failure::usage(format!(
            "{}: the name does not say the format; logs end in .swf, .sim or .json, or in one of \
             these and .gz",
            path.display()
        )));
    };
    let trace = format.read(reader, options);
    trace.map_err(|error| fault(path, error))
}

/// Reads a log, of which at least one job must be left.
fn read_some(path: &Path, args: &ReadArgs) -> Result<Trace, Failure> {
    let trace = read(path, args)?;
    if trace.records.is_empty() {
        return Err(Failure::usage(format!(
            "{}: no job is left of {} job lines ({} filtered out, the others skipped)",
            path.display(),
            trace.report.job_lines,
            trace.report.filtered
        )));
    }
    Ok(trace)
}

/// What the jobs of a log ask for, in the order of arrival.
pub(crate) fn requests(
    path: &Path,
    rule: &Selection<ShapeRule>,
    args: &ReadArgs,
    grid: Grid,
    seed: u64,
) -> Result<Vec<Request>, Failure> {
    let trace = read_some(path, args)?;
    let shaper = Shaper::new(rule, &grid, seed, 0);
    let jobs = TraceJobs::new(&trace.records, shaper, Replay::default());
    Ok(jobs.map(|job| job.request).collect())
}

/// The options that say what to read of a log, each with whether it is given.
pub(crate) fn given(args: &ReadArgs) -> [(&'static str, bool); 4] {
    [
        ("--first", args.first.is_some()),
        ("--filter", args.filter.is_some()),
        ("--status", args.status.is_some()),
        ("--lenient", args.lenient),
    ]
}

/// Refuses an option of logs where there is none.
pub(crate) fn refuse(given: impl IntoIterator<Item = (&'static str, bool)>) -> Result<(), Failure> {
    match given.into_iter().find(|(_, given)| *given) {
        Some((option, _)) => {
            Err(Failure::usage(format!("{option} is for job logs; name one with --trace")))
        }
        None => Ok(()),
    }
}

/// A log as the workload of a simulation.
pub(crate) fn source(path: &Path, args: &LogArgs, grid: Grid) -> Result<Box<dyn Source>, Failure> {
    let rule: Selection<ShapeRule> =
        input::name("--shape-rule", args.shape_rule.as_deref().unwrap_or("compact"))?;
    let arrival_scale = args.arrival_scale.unwrap_or(1.0);
    if !(arrival_scale > 0.0 && arrival_scale <= 1e6) {
        return Err(Failure::usage(format!(
            "--arrival-scale {arrival_scale}: it is a number above 0, at most 1e6"
        )));
    }
    let estimates = args.estimates.as_deref().unwrap_or("log");
    let estimates = input::name("--estimates", estimates)?;
    let replay = Replay { arrival_scale, kill: args.kill, estimates };
    let trace = read_some(path, &args.read)?;
    let begin = trace.records[0].submit;
    let make = move |seed: u64, replication: u64| -> Arc<Vec<Job>> {
        let shaper = Shaper::new(&rule, &grid, seed, replication);
        Arc::new(TraceJobs::new(&trace.records, shaper, replay.clone()).collect())
    };
    Ok(Box::new(TraceSource::new(Box::new(make), begin)))
}

fn fault(path: &Path, error: ReadError) -> Failure {
    let name = path.display();
    match error {
        ReadError::Line(fault) | ReadError::AllMalformed { first: fault, .. } => {
            let from = format!("{name}:{}:{}:", fault.line, fault.column);
            Failure::Usage {
                message: fault.reason.clone(),
                place: Some(Place { from, line: fault.text.clone(), span: fault.span.clone() }),
            }
        }
        other => Failure::usage(format!("cannot read {name}: {other}")),
    }
}

/// A list of failures and repairs.
pub(crate) fn failures(
    path: &Path,
    grid: &Grid,
    unit: TimeUnit,
) -> Result<Vec<NodeEvent>, Failure> {
    read_failures(files::open(path)?, grid, unit).map_err(|error| fault(path, error))
}
