//! The experiments of the papers, one file a paper, and the one list of them.
//!
//! A paper is an experiment file, as a user would write it, and the statements that its text makes,
//! each judged by the rules of [`Statement`]. Both are data: there is no code path that only papers
//! take.

mod alternatives;
mod claims;
mod evidence;
mod gabl;
mod markdown;
mod mfa;
mod nas;
mod pages;
mod statement;
mod tbl;

use crate::{Samples, Specification};

pub use alternatives::{Alternatives, Closeness, Goal, Reading};
pub use claims::{StatementCount, tally};
pub use evidence::{Estimate, Evidence, Pick};
pub use pages::{Verdicts, files, index, sections};
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
pub const ALL: &[&Paper] = &[&tbl::PAPER, &gabl::PAPER, &nas::PAPER, &mfa::PAPER];

/// The papers that leave things open which were tried.
pub const ALTERNATIVES: &[&Alternatives] =
    &[&gabl::alternatives::ALTERNATIVES, &nas::alternatives::ALTERNATIVES];

/// What a report of a quick run says first.
const QUICK: &str = "A quick run: few loads and few replications. Its intervals are wide, and wide \
    intervals hold much; the full run is what counts.";

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
        lead.extend(quick.then(|| QUICK.to_string()));
        lead
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
