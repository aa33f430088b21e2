//! `pavior bench`: measures the time per allocation.

use pavior::Request;
use pavior::draw::{Chart, ChartAxis, Mark, Marks, Series, Unit};
use pavior::experiments::bench::{Answers, BATCH, Bench, BenchResults, BenchRow, Times};
use pavior::experiments::{LeftOut, Setting};
use pavior::strategies::Selection;
use serde_json::{Map, Value, json};

use crate::args::BenchArgs;
use crate::commands::simulate;
use crate::failure::Failure;
use crate::output::{self, Format, Table};
use crate::progress::Bar;
use crate::{files, input};

/// The minimum number of requests drawn before the stream repeats.
const DRAWN: usize = 100_000;

/// A stream of requests, with its description.
struct Stream {
    requests: Vec<Request>,
    sides: Option<String>,
    trace: Option<String>,
    words: String,
}

pub(crate) fn run(args: &BenchArgs) -> Result<(), Failure> {
    let grid = input::machine(&args.machine)?;
    let (strategies, left_out) = input::strategies(&args.strategy, &grid, args.skip_unsupported)?;
    let skipped = args.skip_unsupported.then_some(left_out);
    if let Some(fill) = args.fill.filter(|fill| !(*fill > 0.0 && *fill <= 1.0)) {
        return Err(Failure::usage(format!("--fill {fill}: must be above 0 and at most 1")));
    }
    if let Some(path) = &args.results.chart {
        files::check_writable(path)?;
        files::check_drawing("--chart", path, &["svg"])?;
    }
    let stream = stream(args, &strategies[0])?;
    let bench = Bench {
        grid,
        strategies,
        requests: stream.requests.clone(),
        attempts: args.rounds.attempts,
        warmup: args.rounds.warmup,
        fill: args.fill,
        rounds: args.rounds.rounds,
        seed: args.rounds.seed,
    };
    let bar = Bar::new("bench");
    let results = bench.run(&bar);
    bar.finish();
    let results = results.map_err(Failure::usage)?;
    let report = Report { bench, stream, results, skipped };
    if let Some(path) = &args.results.chart {
        let svg = pavior::draw::svg(&report.chart());
        files::write_whole(path, |out| out.write_all(svg.as_bytes()))?;
    }
    match Format::or_default(args.results.format) {
        Format::Json => output::json(&report.json()),
        Format::Csv => report.csv(),
        Format::Table => report.table(),
    }
}

/// Creates the stream of requests, from a log or by drawing.
fn stream(args: &BenchArgs, strategy: &Selection) -> Result<Stream, Failure> {
    let mut settings = args.requests.settings();
    settings.push(Setting::new("machine", &args.machine));
    settings.push(Setting::new("strategy", strategy.to_string()));
    settings.push(Setting::new("seed", args.rounds.seed.to_string()));
    let scenario = simulate::scenario(&settings)?;
    let requests = scenario.jobs(0).map(|job| job.request);
    if let Some(trace) = args.requests.typed("trace") {
        let requests: Vec<Request> = requests.collect();
        let words = format!("the {} requests of {trace}", requests.len());
        return Ok(Stream { requests, sides: None, trace: Some(trace.to_string()), words });
    }
    let sides = args.requests.given()?.sides.map(|sides| sides.to_string()).unwrap_or_default();
    // This is more than enough, unless the warm-up is extremely long.
    let requests = requests.take(args.rounds.attempts.max(DRAWN)).collect();
    let words = format!("sides {sides}");
    Ok(Stream { requests, sides: Some(sides), trace: None, words })
}

struct Report {
    bench: Bench,
    stream: Stream,
    results: BenchResults,
    /// The strategies left out, or `None` if the command fails when a strategy does not work.
    skipped: Option<Vec<LeftOut>>,
}

impl Report {
    fn json(&self) -> Value {
        let results: Vec<Value> = self
            .results
            .rows
            .iter()
            .map(|row| {
                let cells = cells(row).into_iter().map(|(key, value)| (key.to_string(), value));
                Value::Object(cells.collect::<Map<_, _>>())
            })
            .collect();
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

    /// Describes the strategies left out.
    fn left_out(&self) -> Option<String> {
        let skipped = self.skipped.as_ref().filter(|skipped| !skipped.is_empty())?;
        let all: Vec<String> = skipped.iter().map(LeftOut::words).collect();
        Some(format!("Left out: {}.", all.join("; ")))
    }

    fn csv(&self) -> Result<(), Failure> {
        let mut header = vec!["machine"];
        let mut lines = Vec::new();
        for row in &self.results.rows {
            let cells = cells(row);
            header.truncate(1);
            header.extend(cells.iter().map(|(key, _)| *key));
            let mut line = vec![self.bench.grid.to_string()];
            line.extend(cells.into_iter().map(|(_, value)| match value {
                Value::Null => String::new(),
                Value::String(text) => text,
                other => other.to_string(),
            }));
            lines.push(line);
        }
        output::csv(&header, &lines)
    }

    fn table(&self) -> Result<(), Failure> {
        let header = [
            "strategy", "answer", "attempts", "m", "work", "median", "mean", "p99", "whole",
            "ratio",
        ];
        let mut table = Table::new(&header, 2);
        for row in &self.results.rows {
            let ratio = match row.ratio_ci95 {
                Some(ci95) => {
                    format!("{} ± {ci95:.*}", digits(row.ratio), decimals(row.ratio))
                }
                None => digits(row.ratio),
            };
            let [median, mean, p99] = times(row.all.times);
            table.row(vec![
                row.strategy.to_string(),
                "all".into(),
                row.all.count.to_string(),
                digits(row.busy_submeshes),
                work(&row.all),
                median,
                mean,
                p99,
                digits(row.whole_mean_ns),
                ratio,
            ]);
            for (answer, answers) in [("granted", &row.granted), ("refused", &row.refused)] {
                let [median, mean, p99] = times(answers.times);
                let none = String::new;
                let count = answers.count.to_string();
                let work = work(answers);
                let name = answer.to_string();
                let cells = [none(), name, count, none(), work, median, mean, p99, none(), none()];
                table.row(cells.to_vec());
            }
        }
        let width = output::width();
        output::text(&self.heading(), width)?;
        let cut = table.print(width)?;
        for note in self.notes(cut) {
            output::text(&note, width)?;
        }
        Ok(())
    }

    fn heading(&self) -> String {
        let fill = self.bench.fill.map_or("near saturation".to_string(), |fill| {
            format!("at most {} % of the nodes held", fill * 100.0)
        });
        format!(
            "{}, {}, {fill}, {} rounds, seed {}; nanoseconds per attempt",
            self.bench.grid, self.stream.words, self.bench.rounds, self.bench.seed
        )
    }

    /// Returns the notes that a reader needs to interpret the table.
    fn notes(&self, cut: usize) -> Vec<String> {
        let mut notes = vec![format!(
            "m: boxes held; work: units examined; whole: including grants and releases; ratio: \
             relative to {}.",
            self.results.rows[0].strategy
        )];
        let rejected: Vec<String> = self
            .results
            .rows
            .iter()
            .filter(|row| row.rejected > 0)
            .map(|row| format!("{} {}", row.strategy, row.rejected))
            .collect();
        if !rejected.is_empty() {
            notes.push(format!("Requests that are never granted: {}.", rejected.join(", ")));
        }
        notes.extend(self.left_out());
        if cut > 0 {
            notes.push(format!("{cut} more columns: use a wider terminal or --format json."));
        }
        notes
    }

    /// Creates a bar chart of the medians, with intervals that extend to the 99th percentile.
    fn chart(&self) -> Chart {
        let rows = &self.results.rows;
        let series = |name: &str, of: fn(&BenchRow) -> &Answers| {
            let mark = |(place, row): (usize, &BenchRow)| {
                let times = of(row).times?;
                // A time below the clock's resolution still gets a visible bar.
                let y = times.median_ns.max(0.1);
                Some(Mark { x: place as f64, y, interval: Some([y, times.p99_ns]) })
            };
            Series { name: name.into(), points: rows.iter().enumerate().filter_map(mark).collect() }
        };
        let of = format!("{} attempts each", self.bench.attempts);
        let left_out = self.left_out().map_or(String::new(), |sentence| format!(". {sentence}"));
        let y = ChartAxis {
            label: "median, to 99th percentile".into(),
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
            note: self.heading().replace("nanoseconds per attempt", &of) + &left_out,
        }
    }
}

/// Returns the cells of a row, with the names used in JSON and CSV.
fn cells(row: &BenchRow) -> Vec<(&'static str, Value)> {
    let attempts = row.all.count as f64;
    let mut cells = vec![
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
        let times = answers.times.map(|times| [times.median_ns, times.mean_ns, times.p99_ns]);
        for (index, name) in names.into_iter().enumerate() {
            cells.push((name, json!(times.map(|times| tenth(times[index])))));
        }
    }
    cells.push(("whole_mean_ns", json!(tenth(row.whole_mean_ns))));
    cells.push(("ratio", json!(row.ratio)));
    cells.push(("ratio_ci95", json!(row.ratio_ci95)));
    cells
}

/// Rounds a time to a tenth of a nanosecond, the best resolution of the clock.
fn tenth(ns: f64) -> f64 {
    (ns * 10.0).round() / 10.0
}

fn times(times: Option<Times>) -> [String; 3] {
    let all = times.map(|times| [times.median_ns, times.mean_ns, times.p99_ns]);
    [0, 1, 2].map(|index| all.map_or("-".to_string(), |all| digits(all[index])))
}

/// Formats the work per attempt, which is the number of boxes plus the number of words.
fn work(answers: &Answers) -> String {
    let units = answers.work.boxes + answers.work.words;
    if answers.count == 0 { "-".into() } else { digits(units as f64 / answers.count as f64) }
}

/// Formats a number with three significant digits, or with all digits before the decimal point.
fn digits(value: f64) -> String {
    format!("{value:.*}", decimals(value))
}

fn decimals(value: f64) -> usize {
    let size = value.abs();
    if size == 0.0 { 0 } else { (2.0 - size.log10().floor()).clamp(0.0, 4.0) as usize }
}
