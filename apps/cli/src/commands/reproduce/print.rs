//! Prints statements and readings.

use std::path::Path;

use pavior_studies::{self as studies, Closeness, Readings, Statement, StatementCount, Verdicts};
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::files;
use crate::output::{self, Format, Table};

/// Prints the verdicts on the statements. For several papers, a table shows only the counts.
pub(super) fn verdicts(format: Format, papers: &[Verdicts], out: &Path) -> Result<(), Failure> {
    let all: Vec<Statement> =
        papers.iter().flat_map(|paper| paper.statements.iter().cloned()).collect();
    match format {
        Format::Json => output::json(&Value::Array(all.iter().map(object).collect())),
        Format::Csv => csv(|bytes| studies::write_statements(&all, bytes)),
        Format::Table => {
            if papers.len() == 1 {
                rows(&all)?;
            }
            counts(papers.iter().flat_map(|paper| &paper.counts))?;
            let counts: Vec<StatementCount> =
                papers.iter().flat_map(|paper| paper.counts.iter().cloned()).collect();
            let sentence = format!(
                "{} All rows and their notes are in {}.",
                studies::in_words(&counts),
                files::shown(&out.join("report.html"))
            );
            output::text(&sentence, output::width())
        }
    }
}

fn object(one: &Statement) -> Value {
    json!({
        "id": one.id,
        "paper": one.paper,
        "ours": one.ours,
        "ci95": one.ci95,
        "ratio": one.ratio,
        "verdict": one.verdict.word(),
        "stated": one.source(),
        "note": one.note,
    })
}

/// Prints a table exactly as stored in its file.
fn csv(
    write: impl FnOnce(&mut dyn std::io::Write) -> Result<(), csv::Error>,
) -> Result<(), Failure> {
    let mut bytes = Vec::new();
    write(&mut bytes).map_err(Failure::other)?;
    output::plain(&String::from_utf8_lossy(&bytes))
}

fn rows(all: &[Statement]) -> Result<(), Failure> {
    let row = |one: &Statement| {
        let ratio = one.ratio.map_or(String::new(), |ratio| format!("{ratio:.3}"));
        let verdict = one.verdict.word().to_string();
        vec![one.id.clone(), verdict, one.number(), one.paper.clone(), ratio]
    };
    paragraph(Table::new(&["id", "verdict", "ours", "paper", "ratio"], 4), all.iter().map(row))
}

fn counts<'c>(all: impl Iterator<Item = &'c StatementCount>) -> Result<(), Failure> {
    let row = |one: &StatementCount| {
        let verdict = one.verdict().word().to_string();
        vec![one.id.clone(), verdict, one.in_words(), one.claim.clone()]
    };
    paragraph(Table::new(&["statement", "verdict", "rows", "paper's claim"], 4), all.map(row))
}

/// Prints a table followed by an empty line.
fn paragraph(table: Table, rows: impl Iterator<Item = Vec<String>>) -> Result<(), Failure> {
    table.with_rows(rows).print(output::width())?;
    output::plain("\n")
}

/// Prints the alternative readings, closest first.
pub(super) fn alternatives(
    format: Format,
    readings: &Readings,
    ranking: &[Closeness],
) -> Result<(), Failure> {
    match format {
        Format::Json => {
            let statements = readings.statements(ranking);
            output::json(&json!({
                "readings": ranking.iter().map(reading).collect::<Vec<_>>(),
                "conclusions": readings.conclusions(ranking),
                "statements": statements.iter().map(object).collect::<Vec<_>>(),
            }))
        }
        Format::Csv => csv(|bytes| readings.write(ranking, bytes)),
        Format::Table => {
            let (header, lines) = readings.table(ranking);
            // Ratio columns are labeled with just the strategy name, so that the table fits in 80
            // columns.
            let short = |name: &String| match name.split_once('@') {
                Some((_, strategy)) => strategy.to_string(),
                None => name.replace("distance", "dist."),
            };
            let header: Vec<String> = header.iter().map(short).collect();
            let header: Vec<&str> = header.iter().map(String::as_str).collect();
            let table = Table::new(&header, 1).with_words(header.len() - 1).with_rows(lines);
            let hidden = table.print(output::width())?;
            output::plain("\n")?;
            for sentence in readings.conclusions(ranking) {
                output::text(&sentence, output::width())?;
            }
            if hidden > 0 {
                output::text("The remaining columns are in alternatives.csv.", output::width())?;
            }
            Ok(())
        }
    }
}

fn reading(one: &Closeness) -> Value {
    json!({
        "reading": one.reading.name,
        "meaning": one.reading.meaning,
        "distance": one.distance,
        "ratios": one.ratios.iter().map(|ratio| ratio.map(|ratio| ratio.value)).collect::<Vec<_>>(),
    })
}
