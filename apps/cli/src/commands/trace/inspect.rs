//! `pavior trace inspect`: summarizes a log.

mod examples;
mod format;
mod page;
mod replay;
mod table;

use pavior::experiments::summarize_log;
use pavior::files::FileUses;
use pavior::text::{cell, message};
use pavior::workload::inspect::LogSummary;
use serde_json::json;

use self::examples::Example;
use self::format::{quantiles, round, with_lines};
use crate::args::InspectArgs;
use crate::failure::Failure;
use crate::output::{self, Format};
use crate::{files, input};

struct Inspection<'s> {
    name: String,
    summary: &'s LogSummary,
    examples: Vec<Example>,
    /// The command that replays the log.
    replay: Option<String>,
}

pub(super) fn run(args: &InspectArgs) -> Result<(), Failure> {
    let page_file = args.html.as_deref().filter(|path| path.as_os_str() != "-");
    if let Some(path) = page_file {
        files::check_drawing("--html", path, &["html"])?;
        FileUses::new().reads("", &args.file).writes("--html", path).check()?;
    }
    let machine = args.machine.as_deref().map(input::machine).transpose()?;
    let nodes = machine.map(|grid| u64::from(grid.nodes()));
    let options = args.read.given()?.reading();
    let summary = summarize_log(&args.file, &options, files::lines(), nodes)?;
    let inspection = Inspection {
        name: files::shown(&args.file),
        summary: &summary,
        examples: examples::examples(&args.file, &summary)?,
        replay: replay::command(args, machine.as_ref(), &summary),
    };
    if args.html.is_some() {
        let page = pavior::draw::html(&page::page(&inspection));
        return match page_file {
            Some(path) => Ok(files::write_whole(path, |out| out.write_all(page.as_bytes()))?),
            None => output::xml(&page),
        };
    }
    match args.output.format() {
        Format::Json => {
            let mut value = serde_json::to_value(&summary)
                .map_err(|error| Failure::Other(format!("cannot write JSON: {error}")))?;
            value["examples"] = json!(inspection.examples);
            value["replay"] = json!(inspection.replay);
            output::json(&value)
        }
        Format::Csv => csv(&summary),
        Format::Table => output::plain(&table::table(&inspection)),
    }
}

/// Prints the summary's values, one per line.
fn csv(summary: &LogSummary) -> Result<(), Failure> {
    let mut rows: Vec<Vec<String>> =
        facts(summary).into_iter().map(|(key, value)| vec![key.to_string(), value]).collect();
    for (name, spread) in [("sizes", &summary.sizes), ("runs", &summary.runs)] {
        for (key, value) in quantiles(spread) {
            rows.push(vec![format!("{name}_{key}"), value.to_string()]);
        }
    }
    output::csv(&["key", "value"], &rows)
}

/// Returns the single-line values in a summary, each with its name.
fn facts(summary: &LogSummary) -> Vec<(&'static str, String)> {
    let optional = |value: Option<f64>| value.map_or("-".to_string(), round);
    let format = summary.format.map_or("-", pavior::workload::traces::Format::title).to_string();
    let mut facts = vec![
        ("format", format),
        ("lines", summary.lines.to_string()),
        ("job_lines", summary.job_lines.to_string()),
        ("kept", summary.kept.to_string()),
        ("filtered", summary.filtered.to_string()),
    ];
    facts.extend(summary.skipped.iter().map(|skip| (skip.reason, with_lines(&skip.found))));
    facts.extend([
        ("zero_length", summary.zero_length.to_string()),
        ("submits_back", with_lines(&summary.submits_back)),
        ("with_estimate", summary.with_estimate.to_string()),
        ("over_estimate", summary.over_estimate.to_string()),
        ("repeated_numbers", summary.repeated_numbers.to_string()),
        ("header_nodes", optional(summary.header_nodes.map(|nodes| nodes as f64))),
        ("header_processors", optional(summary.header_processors.map(|count| count as f64))),
        ("greatest_use", optional(summary.greatest_use.map(|nodes| nodes as f64))),
        ("machine_size", summary.machine_size.map_or("-".into(), |size| size.to_string())),
        ("larger_than_machine", summary.larger_than_machine.to_string()),
        ("first_submit", round(summary.first_submit)),
        ("last_submit", round(summary.last_submit)),
        ("span", round(summary.span)),
        ("mean_interarrival", optional(summary.mean_interarrival)),
        ("load", optional(summary.load)),
        ("power_of_two", round(summary.power_of_two)),
        ("power_of_two_parallel", optional(summary.power_of_two_parallel)),
        ("with_preceding_job", dependencies(summary)),
    ]);
    facts.extend(summary.notes.iter().map(|note| ("note", message(&cell(&note.text)))));
    facts
}

/// Describes the dependent jobs and the predecessors that are ignored.
fn dependencies(summary: &LogSummary) -> String {
    let found = &summary.dependencies;
    let counts = [
        (found.followed, "followed"),
        (found.missing, "missing"),
        (found.later, "later in the log"),
        (found.cycles, "cycles"),
        (found.without_submit, "without a submit time"),
    ];
    let counts = counts.iter().filter(|(count, _)| *count > 0);
    let words: Vec<String> = counts.map(|(count, words)| format!("{count} {words}")).collect();
    if words.is_empty() {
        return found.jobs.to_string();
    }
    format!("{} ({})", found.jobs, words.join(", "))
}
