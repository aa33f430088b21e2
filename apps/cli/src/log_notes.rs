//! Prints notes on standard error about the logs that a run reads.

use pavior::experiments::{Folder, PlacedCounts, Point, Scenario, Specification};
use pavior::simulation::Histories;
use pavior::workload::traces::{Dependencies, Note, Record};

use crate::failure::Failure;

/// Prints each log's notes, the number of lines skipped, and the dependencies followed.
pub(crate) fn print_log_notes(folder: &Folder) {
    for log in folder.logs() {
        log.notes().for_each(print_note);
        let report = &log.report;
        let skipped = report.job_lines - report.kept - report.filtered;
        if skipped > 0 {
            let lines = report.job_lines;
            eprintln!(
                "note: {skipped} of {lines} job lines were skipped; `pavior trace inspect` shows \
                 why"
            );
        }
        if report.follows {
            eprintln!("note: {}", describe_dependencies(&log.records));
        }
    }
}

/// Describes the dependent jobs and their ignored predecessors.
fn describe_dependencies(records: &[Record]) -> String {
    let found = Dependencies::of(records);
    let Dependencies { links, jobs, missing, later, cycles, .. } = &found;
    if found.is_empty() {
        return "no job in the log refers to a preceding job (fields 17 and 18 in SWF, \
                `SubmitLine` in sacct); `pavior trace convert --sessions 20m` writes an .swf log \
                with such references"
            .to_string();
    }
    let (all, followed) = (records.len(), links.len());
    let mut text = format!("{jobs} of {all} jobs name a preceding job: {followed} followed");
    if *missing > 0 {
        text += &format!(", {missing} filtered out, skipped or not in the log");
    }
    if *later > 0 {
        text += &format!(", {later} not earlier in the log");
    }
    if *cycles > 0 {
        text += &format!(" ({cycles} {})", if *cycles == 1 { "cycle" } else { "cycles" });
    }
    text
}

/// If jobs depend on others, reports how many dependencies are ignored because of rejected jobs.
pub(crate) fn print_rejected(
    specification: &Specification,
    folder: &Folder,
) -> Result<(), Failure> {
    if !folder.logs().iter().any(|log| log.report.follows) {
        return Ok(());
    }
    let mut max_unfollowed = 0;
    for point in &specification.points {
        let scenario = Scenario::new(point.settings(), false, folder, &Histories::default());
        let unfollowed = scenario.map_err(Failure::from_input)?.unfollowed();
        // The caller reports the same error for the run itself.
        max_unfollowed = max_unfollowed.max(unfollowed.unwrap_or(0));
    }
    if max_unfollowed > 0 {
        let prefix = if specification.points.len() == 1 { "" } else { "up to " };
        let count = format!("{prefix}{max_unfollowed}");
        let are = if max_unfollowed == 1 { "dependency is" } else { "dependencies are" };
        eprintln!("note: {count} {are} ignored because the preceding job can never fit");
    }
    Ok(())
}

/// Reports, for each point that uses the nodes recorded in the log, how many jobs run on those
/// nodes.
pub(crate) fn print_placed(specification: &Specification, folder: &Folder) -> Result<(), Failure> {
    let is_placed = |point: &&Point| {
        point.settings().jobs().and_then(|jobs| jobs.log()?.placed.as_ref()).is_some()
    };
    for point in specification.points.iter().filter(is_placed) {
        let scenario = Scenario::new(point.settings(), false, folder, &Histories::default());
        if let Some(counts) = scenario.map_err(Failure::from_input)?.placed() {
            eprintln!("note: {}", describe_places(&counts));
        }
    }
    Ok(())
}

/// Describes how many jobs run on the nodes recorded in the log.
fn describe_places(counts: &PlacedCounts) -> String {
    let &PlacedCounts { placed, unknown, elsewhere, overlapping, sharing } = counts;
    let all = placed + unknown + elsewhere;
    let mut text = format!("{placed} of {all} jobs run on the nodes recorded in the log");
    for (count, words) in [
        (unknown, "without recorded nodes or a start time"),
        (elsewhere, "with recorded nodes outside the machine"),
        (overlapping, "starting on a node that another job holds"),
        (sharing, "starting on a router that another job uses"),
    ] {
        if count > 0 {
            text += &format!(", {count} {words}");
        }
    }
    text
}

/// Prints a note about a log.
pub(crate) fn print_note(note: &Note) {
    let text = &note.text;
    match note.count {
        0 | 1 if note.line == 0 => eprintln!("note: {text}"),
        1 => eprintln!("note: {text} (line {})", note.line),
        count => eprintln!("note: {text} ({count} lines, starting with line {})", note.line),
    }
}
