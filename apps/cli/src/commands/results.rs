//! The results of a comparison: a table, JSON or CSV.

use pavior_experiments::{Combination, Comparison, Row, Summary};
use pavior_simulation::metrics::{ALLOCATION_NS, Unit};
use serde_json::{Map, Value, json};

use crate::failure::Failure;
use crate::output::{self, Format, Table};

/// The metrics that a table shows, unless others are named.
const SHOWN: [&str; 6] = [
    "turnaround",
    "utilization",
    "waiting",
    "busy_submeshes",
    "external_fragmentation",
    "slowdown",
];

/// Prints rows; `named` says that the user named the metrics, so that a table shows them all.
pub(crate) fn print(
    format: Format,
    named: bool,
    comparison: &Comparison<'_>,
    rows: &[Row],
) -> Result<(), Failure> {
    match format {
        Format::Json => output::json(&to_json(comparison, rows)),
        Format::Csv => to_csv(comparison, rows),
        Format::Table => to_table(named, comparison, rows),
    }
}

/// The metrics of a row with their names and units, the measured one last.
fn metrics<'a>(
    comparison: &'a Comparison<'_>,
    row: &'a Row,
) -> impl Iterator<Item = (&'static str, &'static str, Summary)> + 'a {
    let time = comparison.source.unit();
    let observed = comparison.metrics.iter().zip(&row.metrics);
    let observed = observed.map(move |(spec, summary)| (spec.name, spec.unit.word(time), *summary));
    let measured = (ALLOCATION_NS, Unit::Nanoseconds.word(time), row.allocation_ns);
    observed.chain(comparison.timing.then_some(measured))
}

fn to_json(comparison: &Comparison<'_>, rows: &[Row]) -> Value {
    let result = |row: &Row| {
        let metrics: Map<String, Value> = metrics(comparison, row)
            .map(|(name, unit, summary)| {
                // What does not apply is null.
                let value = summary.mean.map_or(
                    Value::Null,
                    |mean| json!({ "mean": mean, "ci95": summary.ci95, "unit": unit }),
                );
                (name.to_string(), value)
            })
            .collect();
        json!({
            "machine": comparison.grid.to_string(),
            "strategy": row.combination.strategy.to_string(),
            "scheduler": row.combination.scheduler.to_string(),
            "load": row.combination.load,
            "replications": row.replications,
            "overloaded": row.overloaded,
            "metrics": metrics,
        })
    };
    json!({
        "schema": 1,
        "version": env!("CARGO_PKG_VERSION"),
        "seed": comparison.seed,
        "results": rows.iter().map(result).collect::<Vec<_>>(),
    })
}

fn to_csv(comparison: &Comparison<'_>, rows: &[Row]) -> Result<(), Failure> {
    let header = [
        "machine",
        "strategy",
        "scheduler",
        "load",
        "replications",
        "overloaded",
        "metric",
        "mean",
        "ci95",
        "unit",
    ];
    let number = |value: Option<f64>| value.map(|value| value.to_string()).unwrap_or_default();
    let mut lines = Vec::new();
    for row in rows {
        for (name, unit, summary) in metrics(comparison, row) {
            lines.push(vec![
                comparison.grid.to_string(),
                row.combination.strategy.to_string(),
                row.combination.scheduler.to_string(),
                number(row.combination.load),
                row.replications.to_string(),
                row.overloaded.to_string(),
                name.to_string(),
                number(summary.mean),
                number(summary.ci95),
                unit.to_string(),
            ]);
        }
    }
    output::csv(&header, &lines)
}

fn to_table(named: bool, comparison: &Comparison<'_>, rows: &[Row]) -> Result<(), Failure> {
    let (schedulers, loads) = (comparison.schedulers.len() > 1, comparison.loads.len() > 1);
    let mut header = vec!["strategy"];
    header.extend(schedulers.then_some("scheduler"));
    let words = header.len();
    header.extend(loads.then_some("load"));
    let available: Vec<&str> = rows
        .first()
        .map(|row| metrics(comparison, row).map(|(name, ..)| name).collect())
        .unwrap_or_default();
    let columns: Vec<&str> = if named {
        available.clone()
    } else {
        let measured = [ALLOCATION_NS];
        let shown = SHOWN.iter().take(3).chain(&measured).chain(&SHOWN[3..]);
        shown.copied().filter(|name| available.contains(name)).collect()
    };
    header.extend(&columns);
    let mut table = Table::new(&header, words);
    for row in rows {
        let combination = &row.combination;
        let mut cells = vec![combination.strategy.to_string()];
        cells.extend(schedulers.then(|| combination.scheduler.to_string()));
        cells.extend(loads.then(|| combination.load.map(|l| l.to_string()).unwrap_or_default()));
        for column in &columns {
            let found = metrics(comparison, row).find(|(name, ..)| name == column);
            cells.push(found.map_or(String::new(), |(_, _, summary)| cell(summary)));
        }
        table.row(cells);
    }
    let width = output::width();
    output::text(&headline(comparison, rows), width)?;
    let cut = table.print(width)?;
    let left = available.len() - columns.len() + cut;
    footnotes(comparison, rows, left).iter().try_for_each(|line| output::text(line, width))
}

/// A mean with its confidence interval, to four significant digits of the mean.
fn cell(summary: Summary) -> String {
    let Some(mean) = summary.mean else { return "-".to_string() };
    let digits = if mean == 0.0 { 0.0 } else { mean.abs().log10().floor() };
    let decimals = (3.0 - digits).clamp(0.0, 4.0) as usize;
    match summary.ci95 {
        Some(ci95) => format!("{mean:.decimals$} ± {ci95:.decimals$}"),
        None => format!("{mean:.decimals$}"),
    }
}

fn headline(comparison: &Comparison<'_>, rows: &[Row]) -> String {
    let mut line = format!("{}, times in {}", comparison.grid, comparison.source.unit().name);
    if comparison.schedulers.len() == 1 {
        line += &format!(", {}", comparison.schedulers[0]);
    }
    if let [Some(load)] = comparison.loads[..] {
        line += &format!(", load {load}");
    }
    let (least, most) = rows.iter().fold((u64::MAX, 0), |(least, most), row| {
        (least.min(row.replications), most.max(row.replications))
    });
    line += &if least == most {
        format!(", {most} replication{}", if most == 1 { "" } else { "s" })
    } else {
        format!(", {least} to {most} replications")
    };
    line += &format!(", seed {}", comparison.seed);
    if most > 1 { line + "; mean ± half-width of the 95 % confidence interval" } else { line }
}

/// What a reader must know to read the table right.
fn footnotes(comparison: &Comparison<'_>, rows: &[Row], left: usize) -> Vec<String> {
    let mut notes = Vec::new();
    let (several_schedulers, several_loads) =
        (comparison.schedulers.len() > 1, comparison.loads.len() > 1);
    let names = |wanted: &dyn Fn(&Row) -> bool| {
        if rows.len() > 1 && rows.iter().all(wanted) {
            return "all of them".to_string();
        }
        let mut names: Vec<String> = rows
            .iter()
            .filter(|row| wanted(row))
            .map(|row| {
                let Combination { strategy, scheduler, load } = &row.combination;
                let scheduler = several_schedulers.then(|| format!(" under {scheduler}"));
                let load = load.filter(|_| several_loads).map(|load| format!(" at load {load}"));
                [Some(strategy.to_string()), scheduler, load].into_iter().flatten().collect()
            })
            .collect();
        names.dedup();
        names.join(", ")
    };
    let overloaded = names(&|row| row.overloaded);
    if !overloaded.is_empty() {
        notes.push(format!(
            "Overloaded (over 10 % of arrivals still waiting at the end, so times depend on the \
             length of the run): {overloaded}."
        ));
    }
    let missed = names(&|row| row.target_missed);
    if !missed.is_empty() {
        notes.push(format!("The target of precision was not met by: {missed}."));
    }
    let differ = comparison.loads.iter().any(|&load| {
        let mut same_load = rows.iter().filter(|row| row.combination.load == load);
        let first = same_load.next();
        same_load.any(|row| Some(&row.rejected) != first.map(|first| &first.rejected))
    });
    if differ {
        notes.push(
            "The strategies rejected different jobs, so their means are over different jobs."
                .into(),
        );
    }
    if left > 0 {
        notes.push(format!("{left} more metrics: --format json, or --metrics NAME,NAME."));
    }
    notes
}
