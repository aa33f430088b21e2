//! Reports on judged statements: sections of a paper's report, the index of papers, and data files.

use super::{
    Paper, Statement, StatementCount, in_words, markdown, statement, write_statements,
    write_summary,
};
use pavior::draw::{Page, Section, SectionTable, html};
use pavior::experiments::{Provenance, Publication};

/// A paper's judged statements.
pub struct Verdicts {
    /// The paper's name in `pavior reproduce`, which is also the name of its directory.
    pub name: String,
    /// The paper's title.
    pub title: String,
    /// The authors and the year.
    pub source: String,
    /// The judged rows.
    pub statements: Vec<Statement>,
    /// The row counts of each statement.
    pub counts: Vec<StatementCount>,
}

impl Verdicts {
    /// Collects the verdicts for a paper, and counts each statement's rows by verdict.
    pub fn of(paper: &Paper, statements: Vec<Statement>) -> Verdicts {
        Verdicts {
            name: paper.name.clone(),
            title: paper.title().to_string(),
            source: paper.source().to_string(),
            counts: paper.counts(&statements),
            statements,
        }
    }
}

/// Creates two report sections: one with each statement's row counts, and one with all rows. The
/// second section is collapsed if it has more than 24 rows.
pub fn sections(verdicts: &Verdicts) -> Vec<Section> {
    let all = &verdicts.statements;
    let summary = Section {
        title: "Statements".into(),
        text: vec![in_words(&verdicts.counts), statement::RULES.to_string()],
        table: Some(summary(&verdicts.counts)),
        ..Section::default()
    };
    vec![summary, Section { folded: all.len() > 24, ..rows(all) }]
}

/// Creates a table of each statement's row counts.
fn summary(counts: &[StatementCount]) -> SectionTable {
    let row = |one: &StatementCount| {
        vec![one.id.clone(), one.verdict().word().to_string(), one.in_words(), one.claim.clone()]
    };
    let header = ["statement", "verdict", "rows", "paper's claim"].map(String::from).to_vec();
    SectionTable { header, rows: counts.iter().map(row).collect(), words: 4 }
}

/// Creates a section with every row.
fn rows(all: &[Statement]) -> Section {
    let header = Statement::COLUMNS.map(String::from).to_vec();
    let rows = all.iter().map(Statement::cells).collect();
    Section {
        title: "Every number".into(),
        table: Some(SectionTable { header, rows, words: 2 }),
        ..Section::default()
    }
}

/// Creates the index of all papers, with row counts and links to the papers' own reports.
pub fn index(papers: &[Verdicts], quick: bool, from: &Provenance) -> Publication {
    let mut sections = Vec::new();
    for paper in papers {
        sections.push(Section {
            title: paper.name.to_uppercase(),
            text: vec![format!("{}: {}.", paper.source, paper.title), in_words(&paper.counts)],
            links: vec![(
                "Figures, results and every replication".to_string(),
                format!("{}/report.html", paper.name),
            )],
            table: Some(summary(&paper.counts)),
            ..Section::default()
        });
        let title = format!("{}: every number", paper.name.to_uppercase());
        sections.push(Section { title, folded: true, ..rows(&paper.statements) });
    }
    let page = Page {
        title: "Reproduced papers".into(),
        lead: quick
            .then_some(super::QUICK)
            .into_iter()
            .chain([statement::RULES])
            .map(Into::into)
            .collect(),
        sections,
        footer: vec![
            format!("Command: {}", from.command),
            format!(
                "Pavior {}. Each paper's own report lists the seed, the replications and the \
                 missed targets. The paper's run.json contains the date and the machine.",
                from.version
            ),
            "Every row is in statements.csv. Verdicts on whole statements are in summary.csv and \
             in statements.md, which also lists the rows that differ."
                .to_string(),
        ],
    };
    Publication { name: "report.html".to_string(), bytes: html(&page).into_bytes() }
}

/// Creates the files to publish: the statements and their summary as CSV, and a Markdown file
/// with the summary and the rows that differ.
///
/// # Errors
/// Returns an error only if a write to memory fails.
pub fn files(papers: &[Verdicts], from: &Provenance) -> Result<Vec<Publication>, csv::Error> {
    let all = papers.iter().flat_map(|paper| paper.statements.iter().cloned());
    let mut csv = Vec::new();
    write_statements(&all.collect::<Vec<_>>(), &mut csv)?;
    let mut summary = Vec::new();
    let counts = papers.iter().flat_map(|paper| paper.counts.iter().cloned());
    write_summary(&counts.collect::<Vec<_>>(), &mut summary)?;
    let mut text = format!("`{}`, Pavior {}\n", from.command, from.version);
    for paper in papers {
        text += &format!(
            "\n### {}\n\n{}: {}. {}\n\n{}",
            paper.name.to_uppercase(),
            paper.source,
            paper.title,
            in_words(&paper.counts),
            markdown::statements(&paper.counts, &paper.statements)
        );
    }
    let file = |name: &str, bytes: Vec<u8>| Publication { name: name.to_string(), bytes };
    Ok(vec![
        file("statements.csv", csv),
        file("summary.csv", summary),
        file("statements.md", text.into_bytes()),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statement::Claim;
    use crate::{Estimate, Verdict};

    fn one(id: &str, paper: f64, ours: f64) -> Statement {
        let ours = Estimate { value: ours, ci95: Some(0.01), sides: None, runs: 7, missed: false };
        Claim::Value(paper).judge(id, Some(ours)).note("a | b < c")
    }

    #[test]
    fn the_report_of_all_papers_leads_to_each() {
        let verdicts = |name: &str, statements: Vec<Statement>| {
            let (id, _) = statements[0].id.split_once('@').unwrap();
            let (id, claim) = (id.to_string(), "a claim".to_string());
            let of = |verdict| statements.iter().filter(|one| one.verdict == verdict).count();
            let stated = [Verdict::Holds, Verdict::Tolerance, Verdict::Differs].map(of);
            Verdicts {
                name: name.to_string(),
                title: "A title".to_string(),
                source: "Somebody 2007".to_string(),
                counts: vec![StatementCount { id, claim, stated, ours: [0; 3] }],
                statements,
            }
        };
        let papers = [
            verdicts("tbl", vec![one("T2@1", 1.0, 1.0), one("T2@2", 1.0, 3.0)]),
            verdicts("gabl", vec![one("G1@ff", 1.0, 1.0)]),
        ];
        let from = Provenance { version: "9.9".into(), command: "pavior reproduce all".into() };
        let page = String::from_utf8(index(&papers, true, &from).bytes).unwrap();
        for part in [
            "<a href=\"tbl/report.html\">",
            "<a href=\"gabl/report.html\">",
            "This is a quick run",
            "1 hold, 1 differ",
            "0 of 1 statements hold",
            "<td class=\"holds\">holds</td>",
            "Command: pavior reproduce all",
            "T2@2",
            "a | b &lt; c",
        ] {
            assert!(page.contains(part), "{part}");
        }
        let files = files(&papers, &from).unwrap();
        let text = |index: usize| String::from_utf8(files[index].bytes.clone()).unwrap();
        assert_eq!(text(0).lines().count(), 4, "a header and three rows");
        assert_eq!(
            text(1),
            "id,verdict,rows,hold,tolerance,differ\nT2,differs,2,1,0,1\nG1,holds,1,1,0,0\n"
        );
        assert!(
            text(2)
                .contains("| T2@2 | 1 | 3.000 ± 0.010 | 3.000 | differs | a \\| b < c; 7 runs |")
        );
        assert!(text(2).contains("### GABL") && !text(2).contains("G1@ff"), "it holds");
    }

    #[test]
    fn every_row_belongs_to_a_statement_and_needs_runs_to_hold() {
        for paper in Paper::built_in() {
            let specification = paper.specification(true).unwrap();
            let nothing = vec![Vec::new(); specification.points.len()];
            let statements = paper.judge(&specification, &nothing, true).unwrap();
            let rows = |count: &StatementCount| count.rows() + count.ours.iter().sum::<usize>();
            let counted: usize = paper.counts(&statements).iter().map(rows).sum();
            assert_eq!(counted, statements.len(), "every row belongs to a statement");
            // Rows that are mere counts need no runs, but every paper also has rows that need runs.
            let run = |one: &&Statement| one.note.contains("no runs");
            assert!(statements.iter().any(|one| run(&one)), "{}", paper.name);
            for one in statements.iter().filter(run) {
                assert!(!one.verdict.is_good(), "without a run nothing holds: {}", one.id);
            }
            let ids: Vec<&str> = statements.iter().map(|one| one.id.as_str()).collect();
            let mut once = ids.clone();
            once.sort_unstable();
            once.dedup();
            assert_eq!(once.len(), ids.len(), "one row a number");
        }
    }
}
