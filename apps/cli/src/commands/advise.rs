//! `pavior advise`: runs the jobs in a log under alternative settings.

use std::path::Path;

use pavior::draw as report;
use pavior::experiments::advice::{
    Advice, AdviceError, Change, Measure, Run, advise, cell, notes, page, recommendations, value,
};
use pavior::experiments::{Environment, Keys, Specification};
use serde_json::{Value, json};

use crate::args::{AdviceFormat, AdviseArgs};
use crate::failure::Failure;
use crate::output::{self, Format, MAX_WIDTH, Table};
use crate::progress::Bar;
use crate::{files, log_notes, logs, pool, run_directory};

pub(crate) fn run(args: &AdviseArgs) -> Result<(), Failure> {
    let failures = args.parameters.typed("failures").map(Path::new);
    let inputs = [("", Some(&*args.log)), ("--failures", failures)];
    files::check_output("--out", args.out.as_deref(), &inputs)?;
    let mut settings = args.parameters.settings_for(&args.log);
    // Move `placed` to the end, so that omitting it does not change the indices of the other
    // settings.
    settings.sort_by_key(|setting| setting.key == "placed");
    let folder = logs::folder("");
    let advice = Bar::during("advise", |bar| {
        let environment = Environment { files: &folder, progress: bar, ..Environment::PLAIN };
        pool::install(args.pool.threads, || advise(&settings, args.slots.as_deref(), environment))
    })?;
    log_notes::print_log_notes(&folder);
    // If jobs cannot run on the nodes recorded in the log, print the reason with the advice.
    if advice.is_ok()
        && let Ok(specification) = Specification::from_settings(&settings, "advise", Keys::Options)
    {
        log_notes::print_placed(&specification, &folder).ok();
    }
    let advice = advice.map_err(|error| match error {
        AdviceError::Setting(error) => Failure::in_setting(&settings, error),
        AdviceError::Input(error) => Failure::from_input(error),
        other => Failure::usage(other),
    })?;
    let html = || report::html(&page(&advice, &provenance()));
    if let Some(path) = &args.out {
        files::write_whole(path, |out| out.write_all(html().as_bytes()))?;
    }
    let format = args.format.unwrap_or(match Format::default_here() {
        Format::Table => AdviceFormat::Table,
        _ => AdviceFormat::Json,
    });
    match format {
        AdviceFormat::Html => output::xml(&html()),
        AdviceFormat::Json => output::json(&to_json(&advice)),
        AdviceFormat::Csv => csv(&advice),
        AdviceFormat::Table => print_text(&advice),
    }
}

/// Returns the program version and the command line, for the page footer.
fn provenance() -> [String; 2] {
    [format!("Pavior {}", env!("CARGO_PKG_VERSION")), run_directory::command_line()]
}

/// Prints the advice as sentences followed by tables.
fn print_text(advice: &Advice) -> Result<(), Failure> {
    let Advice { jobs, machine, strategy, scheduler, present, .. } = advice;
    let never = present.rejected + present.stuck;
    let never = if never == 0 { String::new() } else { format!("; {never} of them never start") };
    output::text(
        &format!(
            "Current configuration: {jobs} jobs on {machine}, strategy {strategy}, scheduler \
             {scheduler}{never}"
        ),
        MAX_WIDTH,
    )?;
    for sentence in recommendations(advice) {
        output::text(&format!("- {sentence}"), MAX_WIDTH)?;
    }
    for by_size in [false, true] {
        output::text("", MAX_WIDTH)?;
        table(advice, by_size)?;
    }
    output::text("", MAX_WIDTH)?;
    for note in notes(advice) {
        output::text(&note, MAX_WIDTH)?;
    }
    output::text(
        "± is the half-width of the confidence interval; ~ marks a difference that is not \
         significant because its interval contains zero. --format json includes the command for \
         each number; --out FILE.html writes a page.",
        MAX_WIDTH,
    )
}

/// Prints each alternative's effect on either the mean wait times by job size or the other metrics.
fn table(advice: &Advice, by_size: bool) -> Result<(), Failure> {
    let what = if by_size { "wait (h) by nodes" } else { "difference" };
    let measures = advice.measures.iter().enumerate();
    let is_listed = |(_, measure): &(usize, &Measure)| measure.nodes.is_some() == by_size;
    let columns: Vec<(usize, &Measure)> = measures.filter(is_listed).collect();
    let title = |(_, measure): &(usize, &Measure)| {
        let title = measure.title.trim_end_matches(" nodes");
        let unit = if by_size { "" } else { measure.unit };
        format!("{title} {unit}").trim_end().to_string()
    };
    let titles: Vec<String> = columns.iter().map(title).collect();
    let header: Vec<&str> = [what].into_iter().chain(titles.iter().map(String::as_str)).collect();
    let mut table = Table::new(&header, 1);
    let values = columns.iter().map(|&(at, measure)| value(measure, advice.present.values[at]));
    table.row(["current value".to_string()].into_iter().chain(values).collect());
    for alternative in &advice.alternatives {
        let changes = &alternative.changes;
        let cells = columns.iter().map(|&(at, measure)| cell(measure, changes[at]));
        table.row([alternative.name.clone()].into_iter().chain(cells).collect());
    }
    table.print(MAX_WIDTH).map(drop)
}

/// Returns the complete advice as JSON, with each metric in its own unit.
fn to_json(advice: &Advice) -> Value {
    let keyed = |of: &dyn Fn(usize) -> Value| -> Value {
        let measures = advice.measures.iter().enumerate();
        measures.map(|(at, measure)| (measure.metric.clone(), of(at))).collect()
    };
    let run = |run: &Run| {
        json!({
            "command": run.command,
            "rejected": run.rejected,
            "never_started": run.stuck,
            "values": keyed(&|at| json!(run.values[at])),
        })
    };
    let change = |change: Option<Change>| {
        change.map(|change| json!({ "difference": change.difference, "interval": change.ends() }))
    };
    let alternatives = advice.alternatives.iter().map(|one| {
        let mut value = run(&one.run);
        value["name"] = json!(one.name);
        value["with"] = json!(one.words);
        value["differences"] = keyed(&|at| json!(change(one.changes[at])));
        value
    });
    json!({
        "log": advice.log,
        "jobs": advice.jobs,
        "machine": advice.machine,
        "strategy": advice.strategy,
        "scheduler": advice.scheduler,
        "level": advice.level,
        "recommendations": recommendations(advice),
        "notes": notes(advice),
        "present": run(&advice.present),
        "alternatives": alternatives.collect::<Vec<Value>>(),
    })
}

/// Prints one row per alternative and metric, with each metric in its own unit.
fn csv(advice: &Advice) -> Result<(), Failure> {
    let header = ["alternative", "metric", "value", "difference", "low", "high", "command"];
    let number = |value: Option<f64>| value.map_or(String::new(), |value| value.to_string());
    let mut rows = Vec::new();
    let present = ("current", &advice.present, None);
    let others = advice.alternatives.iter().map(|one| (&*one.name, &one.run, Some(&one.changes)));
    for (name, run, changes) in [present].into_iter().chain(others) {
        for (at, measure) in advice.measures.iter().enumerate() {
            let change = changes.and_then(|changes| changes[at]);
            let ends = change.and_then(|change| change.ends());
            rows.push(vec![
                name.to_string(),
                measure.metric.clone(),
                number(run.values[at]),
                number(change.map(|change| change.difference)),
                number(ends.map(|[low, _]| low)),
                number(ends.map(|[_, high]| high)),
                run.command.clone(),
            ]);
        }
    }
    output::csv(&header, &rows)
}
