//! Prints the results of `simulate` as a table, JSON or CSV.

use pavior::experiments::{Point, PointResult, Samples, Specification, Summary};
use pavior::simulation::metrics::ALLOCATION_NS;

use crate::failure::Failure;
use crate::output::{self, Format, Table};

/// The metrics shown in a table by default. The measured time is excluded, because it varies.
const DEFAULT_METRICS: [&str; 6] = [
    "turnaround",
    "utilization",
    "waiting",
    "busy_submeshes",
    "external_fragmentation",
    "slowdown",
];

/// A metric with its name and unit.
type Metric = (&'static str, &'static str, Summary);

struct Results<'a> {
    specification: &'a Specification,
    rows: Vec<PointResult<'a>>,
}

/// Prints results. In a table, shows all metrics in `named`, the list that the user specified.
pub(crate) fn print(
    format: Format,
    named: Option<&str>,
    specification: &Specification,
    samples: &Samples,
) -> Result<(), Failure> {
    let rows = specification.results(samples).collect();
    let results = Results { specification, rows };
    match format {
        Format::Json => output::json(&specification.to_json(samples)),
        Format::Csv => results.csv(),
        Format::Table => results.table(named),
    }
}

/// Warns about jobs that never started. A log is replayed until the last departure. Any job that is
/// still waiting then needs either nodes that are never repaired or a placement that the strategy
/// never finds. Results that omit such jobs cannot be compared, because they cover different jobs.
///
/// # Errors
/// Returns an error if some jobs never started and there are several results. The caller reports
/// this error after writing the results.
pub(crate) fn check_stuck_jobs(
    specification: &Specification,
    samples: &Samples,
) -> Result<(), Failure> {
    let mut any_stuck = false;
    for row in specification.results(samples) {
        if row.waiting > 0 && row.point.settings().jobs().is_some_and(|jobs| jobs.log().is_some()) {
            let [strategy, scheduler] =
                ["strategy", "scheduler"].map(|name| value(row.point, name));
            let waiting = row.waiting;
            eprintln!(
                "warning: {strategy}, {scheduler}: {waiting} jobs never started and are missing \
                 from all results"
            );
            any_stuck = true;
        }
    }
    if any_stuck && specification.points.len() > 1 {
        return Err(Failure::Other(
            "the results cover different jobs and cannot be compared, because some of them omit \
             jobs that never started"
                .into(),
        ));
    }
    Ok(())
}

fn value<'p>(point: &'p Point, name: &str) -> &'p str {
    point.get(name).unwrap_or_default()
}

impl Results<'_> {
    /// Returns the metrics in a row, with the measured time last.
    fn metrics<'r>(&'r self, row: &'r PointResult<'_>) -> impl Iterator<Item = Metric> + 'r {
        row.all_metrics(self.specification.timing)
    }

    fn csv(&self) -> Result<(), Failure> {
        let parameters = ["machine", "strategy", "scheduler", "load"];
        let rest = ["replications", "overloaded", "metric", "mean", "ci95", "unit"];
        let number = |value: Option<f64>| value.map(|value| value.to_string()).unwrap_or_default();
        let mut lines = Vec::new();
        for row in &self.rows {
            for (name, unit, summary) in self.metrics(row) {
                let mut line: Vec<String> =
                    parameters.iter().map(|name| value(row.point, name).to_string()).collect();
                line.extend([
                    row.samples.len().to_string(),
                    row.overloaded.to_string(),
                    name.to_string(),
                    number(summary.mean),
                    number(summary.ci95),
                    unit.to_string(),
                ]);
                lines.push(line);
            }
        }
        output::csv(&[&parameters[..], &rest].concat(), &lines)
    }

    /// Prints a table of the metrics in `named` or, if it is `None`, of the default ones.
    fn table(&self, named: Option<&str>) -> Result<(), Failure> {
        let available: Vec<&str> = match self.rows.first() {
            Some(row) => self.metrics(row).map(|(name, ..)| name).collect(),
            None => Vec::new(),
        };
        let metrics: Vec<&str> = match named {
            Some(named) => added_first(&available, named),
            None => DEFAULT_METRICS.into_iter().filter(|name| available.contains(name)).collect(),
        };
        let width = output::width();
        output::text(&self.headline(), width)?;
        let omitted = self.columns(&metrics).print(width)?;
        let hidden = available.len() - metrics.len() + omitted;
        if metrics.contains(&ALLOCATION_NS) {
            let note = "allocation_ns: median over the replications; its 95% confidence interval, \
                        in brackets, requires at least six replications.";
            output::text(note, width)?;
        }
        self.footnotes(hidden).iter().try_for_each(|line| output::text(line, width))
    }

    /// Returns a table with one row per combination. Omits parameters that do not vary, and the
    /// count of rejected jobs if it is zero.
    fn columns(&self, metrics: &[&str]) -> Table {
        let parameters: Vec<&str> =
            ["scheduler", "load"].into_iter().filter(|name| self.varies(name)).collect();
        let words = if parameters.contains(&"scheduler") { 2 } else { 1 };
        let shows_rejected = self.rows.iter().any(has_rejected) && !metrics.contains(&"rejected");
        let rejected: &[&str] = if shows_rejected { &["rejected"] } else { &[] };
        let header = [&["strategy"][..], &parameters, rejected, metrics].concat();
        let row = |row: &PointResult<'_>| {
            let names = ["strategy"].iter().chain(&parameters);
            let mut cells: Vec<String> =
                names.map(|name| value(row.point, name).to_string()).collect();
            cells.extend(shows_rejected.then(|| mean_rejected(row)));
            cells.extend(metrics.iter().map(|metric| self.cell(row, metric)));
            cells
        };
        Table::new(&header, words).with_rows(self.rows.iter().map(row))
    }

    /// Formats a metric with at most four decimals.
    fn cell(&self, row: &PointResult<'_>, metric: &str) -> String {
        let time = row.allocation_ns.filter(|_| metric == ALLOCATION_NS);
        let found = self.metrics(row).find(|(name, ..)| *name == metric);
        match (time, found) {
            (Some(time), _) => format!("{:.4}", time.median),
            (None, Some((_, _, summary))) => format!("{summary:.4}"),
            (None, None) => String::new(),
        }
    }

    /// Returns true if the rows have different values of a parameter.
    fn varies(&self, name: &str) -> bool {
        self.rows.iter().any(|row| row.point.get(name) != self.rows[0].point.get(name))
    }

    fn headline(&self) -> String {
        let Some(first) = self.rows.first() else { return String::new() };
        let mut line =
            format!("{}, times in {}", value(first.point, "machine"), first.point.unit().name);
        if !self.varies("scheduler") {
            line += &format!(", {}", value(first.point, "scheduler"));
        }
        if let Some(load) = first.point.get("load").filter(|_| !self.varies("load")) {
            line += &format!(", load {load}");
        }
        let counts = || self.rows.iter().map(|row| row.samples.len());
        let (least, most) = (counts().min().unwrap_or(0), counts().max().unwrap_or(0));
        line += &if least == most {
            format!(", {most} replication{}", if most == 1 { "" } else { "s" })
        } else {
            format!(", {least} to {most} replications")
        };
        line += &format!(", seed {}", value(first.point, "seed"));
        if most > 1 { line + "; mean ± half-width of the 95% confidence interval" } else { line }
    }

    /// Returns notes that help interpret the table.
    fn footnotes(&self, hidden: usize) -> Vec<String> {
        let mut notes = Vec::from_iter(self.specification.left_out_in_words());
        let overloaded = self.names(|row| row.overloaded);
        if !overloaded.is_empty() {
            notes.push(format!(
                "Overloaded (over 10% of arrivals were still waiting at the end, so the times \
                 depend on the run length): {overloaded}."
            ));
        }
        let missed = self.names(|row| row.target_missed);
        if !missed.is_empty() {
            notes.push(format!("Precision target not met: {missed}."));
        }
        let turned_away = self.names(has_rejected);
        if !turned_away.is_empty() {
            notes.push(format!(
                "Jobs that could never be placed were rejected and are excluded from all means of: \
                 {turned_away}."
            ));
        }
        if self.rejected_sets_differ() {
            notes.push(
                "The sets of rejected jobs differ, so the means cover different jobs; a lower mean \
                 may merely reflect easier jobs."
                    .into(),
            );
        }
        if hidden > 0 {
            notes.push(format!(
                "{hidden} more metrics are hidden; use --format json or --metrics NAME,NAME."
            ));
        }
        notes
    }

    /// Returns the names of the combinations in the selected rows.
    fn names(&self, wanted: impl Fn(&PointResult<'_>) -> bool) -> String {
        if self.rows.len() > 1 && self.rows.iter().all(&wanted) {
            return "all rows".to_string();
        }
        let (schedulers, loads) = (self.varies("scheduler"), self.varies("load"));
        let mut names: Vec<String> = Vec::new();
        for PointResult { point, .. } in self.rows.iter().filter(|row| wanted(row)) {
            let mut name = value(point, "strategy").to_string();
            if schedulers {
                name += &format!(" under {}", value(point, "scheduler"));
            }
            if loads {
                name += &format!(" at load {}", value(point, "load"));
            }
            names.push(name);
        }
        names.join(", ")
    }

    /// Returns true if two rows with the same load rejected different jobs.
    fn rejected_sets_differ(&self) -> bool {
        let rejected = |row: &PointResult<'_>| -> Vec<u64> {
            row.samples.iter().map(|sample| sample.rejected_set).collect()
        };
        self.rows.chunk_by(|a, b| a.point.get("load") == b.point.get("load")).any(|rows| {
            let first = rejected(&rows[0]);
            rows[1..].iter().any(|row| rejected(row) != first)
        })
    }
}

/// Returns true if jobs were rejected. Snapshots are ignored, because a request refused in a
/// snapshot might be granted later.
fn has_rejected(row: &PointResult<'_>) -> bool {
    !row.point.is_snapshot() && row.samples.iter().any(|run| run.rejected > 0)
}

/// Formats the mean number of rejected jobs per run.
fn mean_rejected(row: &PointResult<'_>) -> String {
    let sum: u64 = row.samples.iter().map(|run| run.rejected).sum();
    let mean = sum as f64 / row.samples.len().max(1) as f64;
    if mean.fract() == 0.0 { mean.to_string() } else { format!("{mean:.1}") }
}

/// Returns the metrics in display order. Metrics that the user added to the defaults (`+NAME`) come
/// first, so that a narrow table does not omit them.
fn added_first<'m>(available: &[&'m str], named: &str) -> Vec<&'m str> {
    let added: Vec<&str> = named.split(',').filter_map(|name| name.strip_prefix('+')).collect();
    let mut columns = available.to_vec();
    let place = |column: &&str| added.iter().position(|name| name == column);
    columns.sort_by_key(|column| place(column).unwrap_or(added.len()));
    columns
}
