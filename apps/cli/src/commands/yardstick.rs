//! `pavior yardstick`: measures how far the results of strategies and schedulers are from proven
//! bounds.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use pavior::draw::{Chart, ChartAxis, Mark, Marks, Series, svg};
use pavior::experiments::{Catalogue, InputFiles};
use pavior_studies::in_words;
use pavior_studies::yardstick::{
    self, Board, BoardEvidence, Effort, Findings, IncompleteRun, Instance, Judged, Parts, Row,
    ScenarioInfo, Yardstick, YardstickError,
};

use crate::args::YardstickArgs;
use crate::failure::Failure;
use crate::output::{self, Format, Table};
use crate::progress::Bar;
use crate::{files, logs, pool};

pub(crate) fn run(args: &YardstickArgs) -> Result<(), Failure> {
    let out = &args.out;
    if !pavior::files::is_empty(out)? {
        let message =
            format!("{} is not empty; use --out to choose another directory", files::shown(out));
        return Err(Failure::usage(message));
    }
    let catalogue = Catalogue::default();
    for name in &args.strategy {
        let selected = catalogue.strategies.select(name);
        selected.map_err(|error| Failure::option("--strategy", name, 0, &error))?;
    }
    let _lock = files::lock(out)?;
    let effort = if args.quick { Effort::QUICK } else { Effort::FULL };
    let yardstick = Yardstick::built_in();
    let folder = args.logs.as_ref().map(logs::folder);
    let instances = yardstick.draw(folder.as_ref().map(|logs| logs as &dyn InputFiles), effort);
    let instances = instances.map_err(Failure::usage)?;
    let judge = |bar: &Bar| -> Result<_, YardstickError> {
        let board = yardstick::judge_all(&instances, &catalogue, &args.strategy, effort, bar)?;
        let parts = yardstick::parts(&instances, &catalogue, &board)?;
        Ok((board, parts))
    };
    let threads = args.pool.threads;
    let results = Bar::during("yardstick", |bar| pool::install(threads, || judge(bar)))?;
    let (board, parts) = results.map_err(Failure::usage)?;
    let whole = args.strategy.is_empty();
    let evidence = BoardEvidence { yardstick: &yardstick, board: &board, parts: &parts, whole };
    let judged = Findings::built_in().judge(&evidence).map_err(Failure::other)?;
    write(out, &instances, &evidence, &judged)?;
    print_notes(args, &yardstick, &board, &judged);
    let format = args.output.format();
    print_board(format, &board)?;
    let has_verdicts = format == Format::Table && !judged.rows.is_empty();
    if has_verdicts { print_verdicts(&judged) } else { Ok(()) }
}

/// Writes the board, and each scenario's jobs and certificates.
fn write(
    out: &Path,
    instances: &[Instance],
    BoardEvidence { board, parts, .. }: &BoardEvidence<'_>,
    judged: &Judged,
) -> Result<(), Failure> {
    for instance in instances {
        let folder = out.join(&instance.name);
        fs::create_dir_all(&folder)?;
        let jobs = &instance.workload;
        files::write_whole(&folder.join("jobs.json"), |out| out.write_all(jobs))?;
    }
    for certificate in &board.certificates {
        let path = out.join(&certificate.scenario).join("bounds.json");
        files::write_whole(&path, |out| {
            serde_json::to_writer(&mut *out, certificate)?;
            writeln!(out)
        })?;
    }
    let table = |name: &str, columns: &[&str], rows: &mut dyn Iterator<Item = Vec<String>>| {
        files::write_whole(&out.join(name), |out| {
            yardstick::write(columns, rows, out).map_err(std::io::Error::other)
        })
    };
    table("board.csv", &Row::COLUMNS, &mut board.rows.iter().map(Row::cells))?;
    table("parts.csv", &Parts::COLUMNS, &mut parts.iter().map(Parts::cells))?;
    table("statements.csv", &Judged::COLUMNS, &mut judged.cells())?;
    let drawn = svg(&figure(board));
    files::write_whole(&out.join("board.svg"), |out| out.write_all(drawn.as_bytes()))?;
    eprintln!("written to {}", files::shown(out));
    Ok(())
}

/// Charts turnaround relative to its proven bound in each scenario, for three runs: the best run,
/// the best run that grants only boxes, and the run with the simplest rules.
fn figure(board: &Board) -> Chart {
    let catalogue = Catalogue::default();
    let mut categories: Vec<String> = board.rows.iter().map(|row| row.scenario.clone()).collect();
    categories.dedup();
    let series = |name: &str, is_of: &dyn Fn(&Row) -> bool| {
        let least = |(x, scenario): (usize, &String)| {
            // Rows are sorted by turnaround.
            let row = board.rows.iter().find(|row| row.scenario == *scenario && is_of(row))?;
            Some(Mark { x: x as f64, y: row.turnaround / row.bound, interval: None })
        };
        let points = categories.iter().enumerate().filter_map(least).collect();
        Series { name: name.to_string(), points }
    };
    let series = vec![
        series("best run", &|_| true),
        series("best box-only run", &|row| yardstick::in_boxes(&catalogue, row)),
        series("ff under fcfs", &|row| row.strategy == "ff" && row.scheduler == "fcfs"),
    ];
    Chart {
        title: "Mean turnaround relative to its proven lower bound".to_string(),
        x: ChartAxis::plain("scenario", false),
        y: ChartAxis::plain("turnaround / bound", true),
        categories,
        marks: Marks::Bars,
        series,
        stated: Vec::new(),
        note: "A ratio of 1 meets the bound. The optimal ratio is between 1 and the best run's \
               ratio."
            .to_string(),
    }
}

/// Prints the skipped scenarios, and the number of statements that hold.
fn print_notes(args: &YardstickArgs, yardstick: &Yardstick, board: &Board, judged: &Judged) {
    let log =
        |scenario: ScenarioInfo<'_>| scenario.log.map(|log| format!("{} ({log})", scenario.name));
    let left_out: Vec<String> = yardstick.scenarios().filter_map(log).collect();
    if args.logs.is_none() && !args.quick {
        eprintln!(
            "note: --logs FOLDER was not given, so these scenarios are skipped: {}",
            left_out.join(", ")
        );
    }
    let mut incomplete: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for IncompleteRun { scenario, strategy } in &board.incomplete {
        let scenarios = incomplete.entry(strategy).or_default();
        if scenarios.last() != Some(&&**scenario) {
            scenarios.push(scenario);
        }
    }
    for (strategy, scenarios) in incomplete {
        let scenarios = scenarios.join(", ");
        eprintln!(
            "note: {strategy} is not compared on {scenarios}, because it rejects more than 2% of \
             the jobs there"
        );
    }
    if !judged.left_out.is_empty() {
        let names = judged.left_out.join(", ");
        eprintln!("note: statements not evaluated because their runs were skipped: {names}");
    }
    if !judged.counts.is_empty() {
        eprintln!("statements.csv: {}", in_words(&judged.counts));
    }
}

/// Prints the statements about the board.
fn print_verdicts(judged: &Judged) -> Result<(), Failure> {
    output::plain("\n")?;
    let mut table = Table::new(&["statement", "verdict", "ours", "stated", "meaning"], 2);
    table = table.with_words(3).with_words(4);
    for row in &judged.rows {
        let verdict = row.verdict.word().to_string();
        table.row(vec![row.id.clone(), verdict, row.number(), row.paper.clone(), row.note.clone()]);
    }
    table.print(output::width()).map(drop)
}

fn print_board(format: Format, board: &Board) -> Result<(), Failure> {
    let rows = || -> Vec<Vec<String>> { board.rows.iter().map(Row::cells).collect() };
    match format {
        Format::Csv => output::csv(&Row::COLUMNS, &rows()),
        Format::Json => output::json(&output::objects(&Row::COLUMNS, 3, &rows())),
        Format::Table => {
            let header = ["scenario", "jobs", "best", "under", "hours", "bound", "gap", "ratio"];
            let mut table = Table::new(&header, 1).with_words(2).with_words(3);
            for runs in board.rows.chunk_by(|a, b| a.scenario == b.scenario) {
                let cells = runs[0].cells();
                let mut cells = [0, 3, 1, 2, 4, 5, 6, 7].map(|column| cells[column].clone());
                // Runs are sorted by turnaround.
                let ties = runs[1..].iter().filter(|run| run.turnaround <= runs[0].turnaround);
                match ties.count() {
                    0 => {}
                    more => cells[3] += &format!(" (+{more})"),
                }
                table.row(cells.to_vec());
            }
            table.print(output::width()).map(drop)
        }
    }
}
