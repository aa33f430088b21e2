//! `pavior trace convert`: converts a log to another format.

use std::sync::Arc;

use pavior::experiments::read_log;
use pavior::files::FileUses;
use pavior::workload::traces::{Format, Header, Record, Trace, link_sessions};
use pavior::workload::{Selection, ShapeRule, Shaper};
use pavior::{Grid, Time};

use super::{Log, LogFile};
use crate::args::ConvertArgs;
use crate::failure::Failure;
use crate::log_notes::print_note;
use crate::{files, input};

pub(super) fn run(args: &ConvertArgs) -> Result<(), Failure> {
    FileUses::new().reads("", &args.from).writes("", &args.to).check()?;
    let to = LogFile::new(&args.to)?;
    if args.sessions.is_some() && to.format != Format::Swf {
        let reason = "--sessions writes fields 17 and 18, which only .swf logs have";
        return Err(Failure::usage(reason));
    }
    let grid = args.machine.as_deref().map(input::machine).transpose()?;
    let rule: Selection<ShapeRule> = input::name("--shape-rule", &args.shape_rule)?;
    let Trace { header, mut records, report, .. } = read(args, grid)?;
    if let Some(grid) = grid {
        let mut shaper = Shaper::new(&rule, &grid, args.seed, 0);
        for record in records.iter_mut().filter(|record| record.shape.is_none()) {
            record.shape = shaper.shape(record.nodes);
        }
    }
    if to.format == Format::Swf && records.iter().any(|record| record.shape.is_some()) {
        eprintln!("note: .swf logs cannot contain shapes, so the jobs' shapes are not written");
    }
    if let Some(within) = args.sessions {
        add_sessions(&mut records, within);
    }
    let nodes = machine_size(grid, &header, &records);
    to.write(&Log { header, records, nodes, version: args.batsim })?;
    let omitted = report.job_lines - report.kept;
    eprintln!("wrote {} jobs to {}", report.kept, files::shown(&args.to));
    if omitted > 0 {
        eprintln!("{omitted} of {} job lines were skipped or filtered out", report.job_lines);
    }
    Ok(())
}

/// Reads a log as it would be replayed on a machine. An empty log is an error.
fn read(args: &ConvertArgs, grid: Option<Grid>) -> Result<Trace, Failure> {
    let options = args.read.given()?.reading();
    let mut trace = Arc::new(read_log(&args.from, &options, files::lines())?);
    if let Some(grid) = grid {
        trace = trace.for_machine(grid.nodes().into());
    }
    // There are no other references to the log, so this does not copy it.
    let trace = Arc::unwrap_or_clone(trace);
    trace.notes().for_each(print_note);
    if trace.records.is_empty() {
        return Err(Failure::usage(format!(
            "{}: none of the {} job lines remain ({} were filtered out, and the rest skipped)",
            files::shown(&args.from),
            trace.report.job_lines,
            trace.report.filtered
        )));
    }
    Ok(trace)
}

/// Returns the number of nodes of the given machine or, if none is given, of the machine in the
/// log's header. If the header does not state a machine size, returns the size of the largest job.
fn machine_size(grid: Option<Grid>, header: &Header, records: &[Record]) -> u64 {
    let largest = || records.iter().map(|record| u64::from(record.nodes)).max();
    let given = grid.map(|grid| u64::from(grid.nodes()));
    given.or_else(|| header.machine_size()).or_else(largest).unwrap_or(0)
}

fn add_sessions(records: &mut [Record], within: Time) {
    let linked = link_sessions(records, within);
    eprintln!("{linked} of {} jobs follow another job in the same session", records.len());
    if records.iter().all(|record| record.wait.is_none()) {
        eprintln!(
            "note: the log has no wait times, so each job is assumed to have started when it was \
             submitted"
        );
    }
}
