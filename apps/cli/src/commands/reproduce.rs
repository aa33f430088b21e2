//! `pavior reproduce`: the papers' experiments, figure by figure and number by number.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use pavior_experiments::papers::{self, Paper, Statement};
use pavior_experiments::{Provenance, Publication, Shard};
use serde_json::{Value, json};

use crate::args::ReproduceArgs;
use crate::commands::experiment::{self, Folder};
use crate::fault::Fault;
use crate::output::{self, Format, Table};
use crate::store::{Directory, Run};

pub(crate) fn run(args: &ReproduceArgs) -> Result<(), Fault> {
    let out =
        args.out.clone().unwrap_or_else(|| PathBuf::from(format!("reproduction-{}", args.paper)));
    if args.paper != "all" {
        let paper = papers::ALL.iter().find(|paper| paper.name == args.paper);
        let statements = one(paper.expect("clap knows the papers"), &out, args)?;
        return print(args.format, &statements);
    }
    let mut statements = Vec::new();
    for paper in papers::ALL {
        statements.extend(one(paper, &out.join(paper.name), args)?);
    }
    print(args.format, &statements)
}

/// Runs the experiment of a paper, and judges its statements.
fn one(paper: &Paper, out: &Path, args: &ReproduceArgs) -> Result<Vec<Statement>, Fault> {
    let text = (paper.experiment)(args.quick);
    let specification = paper.specification(args.quick);
    let logs = Folder { folder: PathBuf::new(), open: Mutex::new(HashMap::new()) };
    let run = Run {
        name: specification.name.clone(),
        fingerprint: specification
            .fingerprint(env!("CARGO_PKG_VERSION"), &logs)
            .map_err(Fault::usage)?,
        paper: Some((paper.name.to_string(), args.quick)),
        shard: "1/1".to_string(),
    };
    let directory = Directory::open(out)?;
    let known = directory.begin(&run, &text, &specification, args.resume)?;
    let whole = Shard::WHOLE;
    let samples =
        experiment::sweep(&specification, known, whole, &logs, &directory, args.threads, out)?;
    let statements = paper.judge(&specification, &samples);
    let command =
        format!("pavior reproduce {}{}", paper.name, if args.quick { " --quick" } else { "" });
    let from = Provenance { version: env!("CARGO_PKG_VERSION").to_string(), command };
    let sections = vec![papers::section(&statements)];
    let mut files = specification.publish(&samples, &from, paper.lead(args.quick), sections)?;
    let mut csv = Vec::new();
    papers::write_statements(&statements, &mut csv)
        .map_err(|error| Fault::Other(error.to_string()))?;
    files.push(Publication { name: "statements.csv".to_string(), bytes: csv });
    directory.finish(&run, &files)?;
    eprintln!("written to {}", out.display());
    Ok(statements)
}

fn print(format: Option<Format>, statements: &[Statement]) -> Result<(), Fault> {
    let number = |value: Option<f64>| value.map(|value| value.to_string()).unwrap_or_default();
    let header = ["id", "paper", "ours", "ci95", "ratio", "verdict", "note"];
    match Format::or_default(format) {
        Format::Json => {
            let one = |one: &Statement| {
                json!({
                    "id": one.id,
                    "paper": one.paper,
                    "ours": one.ours,
                    "ci95": one.ci95,
                    "ratio": one.ratio,
                    "verdict": one.verdict(),
                    "note": one.note,
                })
            };
            output::json(&Value::Array(statements.iter().map(one).collect()))
        }
        Format::Csv => {
            let line = |one: &Statement| {
                let [ours, ci95, ratio] = [one.ours, one.ci95, one.ratio].map(number);
                let verdict = one.verdict().to_string();
                vec![
                    one.id.clone(),
                    one.paper.clone(),
                    ours,
                    ci95,
                    ratio,
                    verdict,
                    one.note.clone(),
                ]
            };
            output::csv(&header, &statements.iter().map(line).collect::<Vec<_>>())
        }
        Format::Table => {
            let mut table = Table::new(&["id", "verdict", "paper", "ours", "ci95", "ratio"], 3);
            let short =
                |value: Option<f64>| value.map_or("-".to_string(), |value| format!("{value:.4}"));
            for one in statements {
                let [ours, ci95, ratio] = [one.ours, one.ci95, one.ratio].map(short);
                let verdict = one.verdict().to_string();
                table.row(vec![one.id.clone(), verdict, one.paper.clone(), ours, ci95, ratio]);
            }
            table.print(output::width())?;
            let holds = statements.iter().filter(|one| one.holds).count();
            output::text(&format!("{holds} of {} rows hold.", statements.len()), output::width())
        }
    }
}
