//! The experiments of the papers, one file a paper, and the one list of them.
//!
//! A paper is an experiment file, as a user would write it, and the statements that its text makes,
//! each judged by the rules of [`Statement`]. Both are data: there is no code path that only papers
//! take.

mod evidence;
mod mfa;
mod nas;
mod statement;
mod tbl;

use crate::report::{Section, SectionTable};
use crate::{Samples, Specification};

pub use evidence::{Estimate, Evidence, Pick};
pub use statement::{Statement, write_statements};

/// A paper.
pub struct Paper {
    /// The name in `pavior reproduce`.
    pub name: &'static str,
    /// Its title.
    pub title: &'static str,
    /// Authors and year.
    pub source: &'static str,
    /// What a reader of the report must know of our reading of it.
    pub reading: &'static [&'static str],
    /// Its experiment as a file; the quick one has fewer loads and runs.
    pub experiment: fn(quick: bool) -> String,
    /// Its statements, judged.
    pub statements: fn(&Evidence<'_>) -> Vec<Statement>,
}

/// Every paper.
pub const ALL: &[&Paper] = &[&tbl::PAPER, &nas::PAPER, &mfa::PAPER];

impl Paper {
    /// The experiment.
    pub fn specification(&self, quick: bool) -> Specification {
        let text = (self.experiment)(quick);
        Specification::parse(&text, self.name).expect("the papers' experiments are written right")
    }

    /// The statements, judged by samples.
    pub fn judge(&self, specification: &Specification, samples: &Samples) -> Vec<Statement> {
        (self.statements)(&Evidence::new(specification, samples))
    }

    /// The paragraphs at the head of the report.
    pub fn lead(&self, quick: bool) -> Vec<String> {
        let mut lead = vec![format!("{}: {}.", self.source, self.title)];
        lead.extend(self.reading.iter().map(ToString::to_string));
        if quick {
            lead.push(
                "A quick run: few loads and few replications. Its intervals are wide; the full run \
                 is what counts."
                    .into(),
            );
        }
        lead
    }
}

/// The statements as a section of a report.
pub fn section(statements: &[Statement]) -> Section {
    let holds = statements.iter().filter(|one| one.holds).count();
    let header = ["id", "paper", "ours", "ratio", "verdict", "note"].map(String::from).to_vec();
    let row = |one: &Statement| {
        let ours = match (one.ours, one.ci95) {
            // A count.
            (Some(whole), None) if whole.fract() == 0.0 => whole.to_string(),
            (mean, ci95) => crate::publish::cell(crate::Summary { mean, ci95 }),
        };
        vec![
            one.id.clone(),
            one.paper.clone(),
            ours,
            one.ratio.map_or(String::new(), |ratio| format!("{ratio:.3}")),
            one.verdict().to_string(),
            one.note.clone(),
        ]
    };
    Section {
        title: "Statements".into(),
        text: vec![
            format!("{holds} of {} rows hold.", statements.len()),
            statement::RULES.to_string(),
        ],
        table: Some(SectionTable { header, rows: statements.iter().map(row).collect(), words: 2 }),
        ..Section::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_experiment_can_be_read() {
        for paper in ALL {
            for quick in [false, true] {
                let specification = paper.specification(quick);
                assert!(!specification.points.is_empty() && !specification.figures.is_empty());
            }
        }
    }
}
