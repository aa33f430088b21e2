//! Presents the results of `pavior bench` as JSON, CSV, a table and a chart.

use pavior::draw::{Chart, ChartAxis, Mark, Marks, Series, Unit};
use pavior::experiments::LeftOut;
use pavior::experiments::bench::{Answers, BATCH, Bench, BenchResults, BenchRow, Times};
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::output::{self, Table};

/// The source of a request stream.
pub(super) struct StreamLabel {
    pub(super) sides: Option<String>,
    pub(super) trace: Option<String>,
    pub(super) description: String,
}

/// The results, and everything needed to print them.
pub(super) struct Report {
    pub(super) bench: Bench,
    pub(super) stream: StreamLabel,
    pub(super) results: BenchResults,
    /// The skipped strategies, or `None` if an unsupported strategy is an error.
    pub(super) skipped: Option<Vec<LeftOut>>,
}

impl Report {
    pub(super) fn json(&self) -> Value {
        let object = |row: &BenchRow| -> Value { fields(row).into_iter().collect() };
        let results: Vec<Value> = self.results.rows.iter().map(object).collect();
        let mut document = json!({
            "schema": 1,
            "version": env!("CARGO_PKG_VERSION"),
            "seed": self.bench.seed,
            "machine": self.bench.grid.to_string(),
            "sides": self.stream.sides,
            "trace": self.stream.trace,
            "fill": self.bench.fill,
            "rounds": self.bench.rounds,
            "batch_attempts": BATCH,
            "clock_overhead_ns": self.results.clock_overhead_ns,
            "results": results,
        });
        if let Some(skipped) = &self.skipped {
            document["skipped"] = json!(skipped);
        }
        document
    }

    fn left_out(&self) -> Option<String> {
        let skipped = self.skipped.as_ref().filter(|skipped| !skipped.is_empty())?;
        let all: Vec<String> = skipped.iter().map(LeftOut::words).collect();
        Some(format!("Left out: {}.", all.join("; ")))
    }

    pub(super) fn csv(&self) -> Result<(), Failure> {
        let names = fields(&self.results.rows[0]).into_iter().map(|(name, _)| name);
        let header: Vec<&str> = ["machine"].into_iter().chain(names).collect();
        let cell = |(_, value): (&str, Value)| match value {
            Value::Null => String::new(),
            Value::String(text) => text,
            other => other.to_string(),
        };
        let machine = self.bench.grid.to_string();
        let line = |row: &BenchRow| -> Vec<String> {
            [machine.clone()].into_iter().chain(fields(row).into_iter().map(cell)).collect()
        };
        let lines: Vec<Vec<String>> = self.results.rows.iter().map(line).collect();
        output::csv(&header, &lines)
    }

    pub(super) fn table(&self) -> Result<(), Failure> {
        let header = [
            "strategy", "answer", "attempts", "m", "work", "median", "mean", "p99", "whole",
            "ratio",
        ];
        let mut table = Table::new(&header, 2);
        for row in &self.results.rows {
            let mut ratio = significant(row.ratio);
            if let Some(ci95) = row.ratio_ci95 {
                ratio += &format!(" ± {ci95:.*}", decimal_places(row.ratio));
            }
            let summary = [significant(row.busy_submeshes), significant(row.whole_mean_ns), ratio];
            table.row(table_row(row.strategy.to_string(), "all", &row.all, summary));
            for (name, answers) in [("granted", &row.granted), ("refused", &row.refused)] {
                table.row(table_row(String::new(), name, answers, Default::default()));
            }
        }
        let width = output::width();
        output::text(&format!("{}; nanoseconds per attempt", self.setup()), width)?;
        let cut = table.print(width)?;
        for note in self.notes(cut) {
            output::text(&note, width)?;
        }
        Ok(())
    }

    /// Describes the machine, the requests and the measurement.
    fn setup(&self) -> String {
        let fill = self.bench.fill.map_or("near saturation".to_string(), |fill| {
            format!("at most {}% of the nodes busy", (fill * 1e6).round() / 1e4)
        });
        let rounds = output::count(self.bench.rounds as u64, "round");
        format!(
            "{}, {}, {fill}, {rounds}, seed {}",
            self.bench.grid, self.stream.description, self.bench.seed
        )
    }

    /// Returns notes that help interpret the table.
    fn notes(&self, cut: usize) -> Vec<String> {
        let mut notes = vec![format!(
            "m: mean number of boxes held; work: mean number of units examined; whole: time \
             including grants and releases; ratio: time relative to {}.",
            self.results.rows[0].strategy
        )];
        let rows = self.results.rows.iter().filter(|row| row.rejected > 0);
        let rejected: Vec<String> =
            rows.map(|row| format!("{} {}", row.strategy, row.rejected)).collect();
        if !rejected.is_empty() {
            notes.push(format!("Requests that can never be granted: {}.", rejected.join(", ")));
        }
        notes.extend(self.left_out());
        if cut > 0 {
            notes.push(format!(
                "Hidden: {}; use a wider terminal or --format json.",
                output::count(cut as u64, "more column")
            ));
        }
        notes
    }

    /// Creates a bar chart of the medians, with whiskers that extend to the 99th percentile.
    pub(super) fn chart(&self) -> Chart {
        let rows = &self.results.rows;
        let series = |name: &str, answers: fn(&BenchRow) -> &Answers| {
            let mark = |(place, row): (usize, &BenchRow)| {
                let times = answers(row).times?;
                // A time below the clock's resolution still gets a visible bar.
                let y = times.median_ns.max(0.1);
                Some(Mark { x: place as f64, y, interval: Some([y, times.p99_ns.max(y)]) })
            };
            Series { name: name.into(), points: rows.iter().enumerate().filter_map(mark).collect() }
        };
        let left_out = self.left_out().map_or(String::new(), |sentence| format!(". {sentence}"));
        let y = ChartAxis {
            label: "median and 99th percentile".into(),
            logarithmic: true,
            unit: Unit::Nanoseconds,
        };
        Chart {
            title: format!("Time per allocation attempt on {}", self.bench.grid),
            x: ChartAxis::plain("", false),
            y,
            categories: rows.iter().map(|row| row.strategy.to_string()).collect(),
            marks: Marks::Bars,
            series: vec![
                series("granted", |row| &row.granted),
                series("refused", |row| &row.refused),
            ],
            stated: Vec::new(),
            note: format!("{}; {} attempts each{left_out}", self.setup(), self.bench.attempts),
        }
    }
}

/// Returns the table row for one kind of answer. The last parameter contains the cells that apply
/// to all answers: the boxes held, the time including grants and releases, and the ratio.
fn table_row(
    strategy: String,
    name: &str,
    answers: &Answers,
    [held, whole, ratio]: [String; 3],
) -> Vec<String> {
    let [median, mean, p99] = time_cells(answers.times);
    let (count, work) = (answers.count.to_string(), work_per_attempt(answers));
    vec![strategy, name.to_string(), count, held, work, median, mean, p99, whole, ratio]
}

/// Returns a row's fields with their names in JSON and CSV.
fn fields(row: &BenchRow) -> Vec<(&'static str, Value)> {
    let attempts = row.all.count as f64;
    let mut fields = vec![
        ("strategy", json!(row.strategy.to_string())),
        ("warmup_attempts", json!(row.warmup)),
        ("attempts", json!(row.all.count)),
        ("granted", json!(row.granted.count)),
        ("refused", json!(row.refused.count)),
        ("success_share", json!(row.granted.count as f64 / attempts)),
        ("rejected_requests", json!(row.rejected)),
        ("busy_submeshes", json!(row.busy_submeshes)),
        ("boxes_per_attempt", json!(row.all.work.boxes as f64 / attempts)),
        ("words_per_attempt", json!(row.all.work.words as f64 / attempts)),
        ("upkeep_per_attempt", json!(row.upkeep)),
    ];
    let kinds = [
        (&row.all, ["attempt_median_ns", "attempt_mean_ns", "attempt_p99_ns"]),
        (&row.granted, ["granted_median_ns", "granted_mean_ns", "granted_p99_ns"]),
        (&row.refused, ["refused_median_ns", "refused_mean_ns", "refused_p99_ns"]),
    ];
    for (answers, names) in kinds {
        let times = answers.times.map_or([None; 3], |times| as_array(times).map(Some));
        for (name, time) in names.into_iter().zip(times) {
            fields.push((name, json!(time.map(round_to_tenth))));
        }
    }
    fields.push(("whole_mean_ns", json!(round_to_tenth(row.whole_mean_ns))));
    fields.push(("ratio", json!(row.ratio)));
    fields.push(("ratio_ci95", json!(row.ratio_ci95)));
    fields
}

/// Rounds a time to a tenth of a nanosecond, the best resolution of the clock.
fn round_to_tenth(ns: f64) -> f64 {
    (ns * 10.0).round() / 10.0
}

fn as_array(times: Times) -> [f64; 3] {
    [times.median_ns, times.mean_ns, times.p99_ns]
}

fn time_cells(times: Option<Times>) -> [String; 3] {
    let cells = times.map(|times| as_array(times).map(significant));
    cells.unwrap_or_else(|| ["-"; 3].map(String::from))
}

/// Formats the average number of boxes and words examined per attempt.
fn work_per_attempt(answers: &Answers) -> String {
    let units = answers.work.boxes + answers.work.words;
    if answers.count == 0 { "-".into() } else { significant(units as f64 / answers.count as f64) }
}

/// Formats a number with three significant digits, but keeps the entire integer part and at most
/// four decimals.
fn significant(value: f64) -> String {
    format!("{value:.*}", decimal_places(value))
}

fn decimal_places(value: f64) -> usize {
    let size = value.abs();
    if size == 0.0 { 0 } else { (2.0 - size.log10().floor()).clamp(0.0, 4.0) as usize }
}
