//! `pavior yardstick`: how far above proven bounds strategies and schedulers are.

use std::collections::BTreeMap;
use std::fs;

use pavior_experiments::{Catalogue, InputFiles};
use pavior_studies::yardstick::{self, Board, Effort, Instance, Row, Yardstick, YardstickError};
use serde_json::Value;

use crate::args::YardstickArgs;
use crate::failure::Failure;
use crate::output::{self, Format, Table};
use crate::progress::Bar;
use crate::{files, logs, pool};

pub(crate) fn run(args: &YardstickArgs) -> Result<(), Failure> {
    let out = &args.out;
    if !pavior_files::is_empty(out)? {
        let message = format!("{} is not empty; --out chooses another folder", files::shown(out));
        return Err(Failure::usage(message));
    }
    let catalogue = Catalogue::default();
    for name in &args.strategy {
        let selected = catalogue.strategies.select(name);
        selected.map_err(|error| Failure::option("--strategy", name, 0, &error))?;
    }
    let effort = if args.quick { Effort::QUICK } else { Effort::FULL };
    let yardstick = Yardstick::built_in();
    let folder = args.logs.as_ref().map(logs::folder);
    let instances = yardstick.draw(folder.as_ref().map(|logs| logs as &dyn InputFiles), effort);
    let instances = instances.map_err(of_yardstick)?;
    let bar = Bar::new("yardstick");
    let board = pool::install(args.threads, || {
        yardstick::judge_all(&instances, &catalogue, &args.strategy, effort, &bar)
    })?;
    bar.finish();
    let board = board.map_err(of_yardstick)?;
    write(args, &instances, &board)?;
    notes(args, &yardstick, &board);
    tell(Format::or_default(args.format), &board)
}

#[expect(clippy::needless_pass_by_value, reason = "it is handed to `map_err`")]
fn of_yardstick(error: YardstickError) -> Failure {
    Failure::usage(error.to_string())
}

/// The board, and the jobs and certificates of each scenario.
fn write(args: &YardstickArgs, instances: &[Instance], board: &Board) -> Result<(), Failure> {
    for instance in instances {
        let folder = args.out.join(&instance.name);
        fs::create_dir_all(&folder)?;
        let jobs = &instance.workload;
        files::write_whole(&folder.join("jobs.json"), |out| out.write_all(jobs))?;
    }
    for certificate in &board.certificates {
        let path = args.out.join(&certificate.scenario).join("bounds.json");
        files::write_whole(&path, |out| {
            serde_json::to_writer(&mut *out, certificate)?;
            writeln!(out)
        })?;
    }
    let table = args.out.join("board.csv");
    files::write_whole(&table, |out| {
        yardstick::write(&board.rows, out).map_err(std::io::Error::other)
    })?;
    eprintln!("written to {}", files::shown(&args.out));
    Ok(())
}

/// What the board leaves out.
fn notes(args: &YardstickArgs, yardstick: &Yardstick, board: &Board) {
    let log = |(name, _, log): (&str, &str, Option<&str>)| Some(format!("{name} ({})", log?));
    let left_out: Vec<String> = yardstick.scenarios().filter_map(log).collect();
    if args.logs.is_none() && !args.quick {
        eprintln!("note: left out without --logs FOLDER: {}", left_out.join(", "));
    }
    let mut undone: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (scenario, strategy, _, _) in &board.undone {
        let scenarios = undone.entry(strategy).or_default();
        if scenarios.last() != Some(&&**scenario) {
            scenarios.push(scenario);
        }
    }
    for (strategy, scenarios) in undone {
        let scenarios = scenarios.join(", ");
        eprintln!(
            "note: {strategy} is not compared on {scenarios}: it rejects over 2 % of the jobs"
        );
    }
}

fn tell(format: Format, board: &Board) -> Result<(), Failure> {
    let rows: Vec<Vec<String>> = board.rows.iter().map(Row::cells).collect();
    match format {
        Format::Csv => output::csv(&Row::COLUMNS, &rows),
        Format::Json => {
            let object = |row: &Vec<String>| -> Value {
                let pairs = Row::COLUMNS.iter().zip(row);
                pairs.map(|(name, cell)| (name.to_string(), typed(cell))).collect()
            };
            output::json(&rows.iter().map(object).collect())
        }
        Format::Table => {
            let header = ["scenario", "jobs", "best", "under", "hours", "bound", "gap", "ratio"];
            let mut table = Table::new(&header, 1);
            let mut last = "";
            for (row, cells) in board.rows.iter().zip(&rows) {
                if row.scenario != last {
                    let order = [0, 3, 1, 2, 4, 5, 6, 7];
                    table.row(order.map(|column| cells[column].clone()).to_vec());
                }
                last = &row.scenario;
            }
            table.print(output::width()).map(drop)
        }
    }
}

/// A cell as JSON: a number, nothing, or a word.
fn typed(cell: &str) -> Value {
    match (cell, cell.parse::<f64>()) {
        ("", _) => Value::Null,
        (_, Ok(number)) => number.into(),
        (_, Err(_)) => cell.into(),
    }
}
