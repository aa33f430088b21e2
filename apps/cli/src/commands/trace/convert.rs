//! `pavior trace convert`: converts a log to another format.

use std::sync::Arc;

use pavior::experiments::read_log;
use pavior::files::FileUses;
use pavior::workload::traces::{Format, link_sessions};
use pavior::workload::{Selection, ShapeRule, Shaper};

use super::Log;
use crate::args::ConvertArgs;
use crate::failure::Failure;
use crate::log_notes::print_note;
use crate::{files, input};

pub(super) fn run(args: &ConvertArgs) -> Result<(), Failure> {
    FileUses::new().reads("", &args.from).writes("", &args.to).check()?;
    let options = args.read.given()?.reading();
    let mut trace = Arc::new(read_log(&args.from, &options, files::lines())?);
    let grid = args.machine.as_deref().map(input::machine).transpose()?;
    if let Some(grid) = grid {
        trace = trace.for_machine(grid.nodes().into());
    }
    // There are no other references to the log, so this does not copy it.
    let mut trace = Arc::unwrap_or_clone(trace);
    trace.notes().for_each(print_note);
    if trace.records.is_empty() {
        return Err(Failure::usage(format!(
            "{}: none of the {} job lines remain ({} filtered out, the rest skipped)",
            files::shown(&args.from),
            trace.report.job_lines,
            trace.report.filtered
        )));
    }
    if let Some(grid) = grid {
        let rule: Selection<ShapeRule> = input::name("--shape-rule", &args.shape_rule)?;
        let mut shaper = Shaper::new(&rule, &grid, args.seed, 0);
        for record in trace.records.iter_mut().filter(|record| record.shape.is_none()) {
            record.shape = shaper.shape(record.nodes);
        }
    }
    if let Some(within) = args.sessions {
        if Format::of_file(&args.to.to_string_lossy()) != Some(Format::Swf) {
            let reason = "--sessions writes fields 17 and 18, which only .swf logs have";
            return Err(Failure::usage(reason));
        }
        let linked = link_sessions(&mut trace.records, within);
        eprintln!("{linked} of {} jobs follow another job in their session", trace.records.len());
        if trace.records.iter().all(|record| record.wait.is_none()) {
            eprintln!(
                "note: the log has no wait times, so each job is assumed to start when it was \
                 submitted"
            );
        }
    }
    let largest = trace.records.iter().map(|record| u64::from(record.nodes)).max();
    let log = Log {
        nodes: trace.header.machine_size().or(largest).unwrap_or(0),
        header: trace.header,
        records: trace.records,
        version: args.batsim,
    };
    log.write(&args.to)?;
    let report = &trace.report;
    let omitted = report.job_lines - report.kept;
    eprintln!("{} jobs written to {}", report.kept, files::shown(&args.to));
    if omitted > 0 {
        eprintln!("{omitted} of {} job lines skipped or filtered out", report.job_lines);
    }
    Ok(())
}
