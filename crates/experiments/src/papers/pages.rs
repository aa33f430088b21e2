//! Statements on pages: sections of a paper's report, the report of all papers, and the files.

use super::{Statement, markdown, statement, tally, write_statements};
use crate::report::{Page, Section, SectionTable, html};
use crate::{Provenance, Publication};

/// The statements of a paper, judged.
pub struct Verdicts {
    /// The name in `pavior reproduce`, and of its directory.
    pub name: &'static str,
    /// Its title.
    pub title: &'static str,
    /// Authors and year.
    pub source: &'static str,
    /// The rows.
    pub statements: Vec<Statement>,
}

/// Statements as sections of a report: how many rows of each hold, and the rows, which may be folded.
pub fn sections(all: &[Statement], folded: bool) -> Vec<Section> {
    let holds = all.iter().filter(|one| one.holds).count();
    let summary = Section {
        title: "Statements".into(),
        text: vec![format!("{holds} of {} rows hold.", all.len()), statement::RULES.to_string()],
        table: Some(summary(all)),
        ..Section::default()
    };
    vec![summary, Section { folded, ..rows(all) }]
}

/// How many rows of each statement hold.
fn summary(all: &[Statement]) -> SectionTable {
    let rows = tally(all).into_iter().map(|one| {
        let verdict = one.verdict();
        vec![one.id, verdict, one.claim.to_string()]
    });
    let header = ["statement", "rows", "what the paper says"].map(String::from).to_vec();
    SectionTable { header, rows: rows.collect(), words: 3 }
}

/// Every row.
fn rows(all: &[Statement]) -> Section {
    let header = ["id", "paper", "ours", "ratio", "verdict", "note"].map(String::from).to_vec();
    let row = |one: &Statement| {
        vec![
            one.id.clone(),
            one.paper.clone(),
            one.number(),
            one.ratio.map_or(String::new(), |ratio| format!("{ratio:.3}")),
            one.verdict().to_string(),
            one.note.clone(),
        ]
    };
    Section {
        title: "Every number".into(),
        table: Some(SectionTable { header, rows: all.iter().map(row).collect(), words: 2 }),
        ..Section::default()
    }
}

/// The report of all papers: what holds, and where to read on.
pub fn index(papers: &[Verdicts], from: &Provenance) -> Publication {
    let mut sections = Vec::new();
    for paper in papers {
        let holds = paper.statements.iter().filter(|one| one.holds).count();
        sections.push(Section {
            title: paper.name.to_uppercase(),
            text: vec![
                format!("{}: {}.", paper.source, paper.title),
                format!("{holds} of {} rows hold.", paper.statements.len()),
            ],
            links: vec![(
                "Figures, results, every replication".to_string(),
                format!("{}/report.html", paper.name),
            )],
            table: Some(summary(&paper.statements)),
            ..Section::default()
        });
        let title = format!("{}: every number", paper.name.to_uppercase());
        sections.push(Section { title, folded: true, ..rows(&paper.statements) });
    }
    let page = Page {
        title: "The papers reproduced".into(),
        lead: vec![statement::RULES.to_string()],
        sections,
        footer: vec![
            format!("Command: {}", from.command),
            format!(
                "Pavior {}. Seed, replications and missed targets of each paper are in its own report; \
                 date and machine in its run.json.",
                from.version
            ),
            "Every row is in statements.csv, and in statements.md as Markdown.".to_string(),
        ],
    };
    Publication { name: "report.html".to_string(), bytes: html(&page).into_bytes() }
}

/// The statements as CSV and as Markdown.
///
/// # Errors
/// Never, unless memory is no writer.
pub fn files(papers: &[Verdicts], from: &Provenance) -> Result<Vec<Publication>, csv::Error> {
    let all = papers.iter().flat_map(|paper| paper.statements.iter().cloned());
    let mut csv = Vec::new();
    write_statements(&all.collect::<Vec<_>>(), &mut csv)?;
    let mut text = format!("`{}`, Pavior {}\n", from.command, from.version);
    for paper in papers {
        let holds = paper.statements.iter().filter(|one| one.holds).count();
        text += &format!(
            "\n### {}\n\n{}: {}. {holds} of {} rows hold.\n\n{}",
            paper.name.to_uppercase(),
            paper.source,
            paper.title,
            paper.statements.len(),
            markdown::statements(&paper.statements)
        );
    }
    let file = |name: &str, bytes: Vec<u8>| Publication { name: name.to_string(), bytes };
    Ok(vec![file("statements.csv", csv), file("statements.md", text.into_bytes())])
}
