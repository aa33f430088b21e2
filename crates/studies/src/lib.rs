//! Papers described as data (experiments and statements), and the code that judges the statements.
//!
//! A paper is a directory of TOML files, either built in from `papers/` or supplied by a user:
//!
//! - `paper.toml`: the title, the source, and remarks on how we interpret the paper.
//! - `experiment.toml`: the paper's experiment, in the usual experiment-file format.
//! - `quick.toml`: keys that override those of the experiment in a quick run.
//! - `statements.toml`: the paper's statements, row by row, with a rule that judges each row.
//! - `readings.toml` (optional): alternative readings of details that the paper leaves open.
//!
//! The rules for judging do not depend on any particular paper. The only strategy mentioned by name
//! is MFA, whose paper contains worked examples. The [`forecasts`] study also runs an experiment,
//! but has goals instead of statements.
#![cfg_attr(not(test), deny(clippy::disallowed_macros, clippy::disallowed_methods))]

mod count;
mod evidence;
mod folder;
pub mod forecasts;
mod judge;
mod markdown;
mod pages;
mod points;
mod readings;
mod statement;
mod statements;
mod worked;
pub mod yardstick;

use std::sync::LazyLock;

use serde::Deserialize;

use folder::{Folder, folder};
use pavior::experiments::{Samples, Specification};
use statements::Statements;

pub use count::{StatementCount, in_words, write_summary};
pub use evidence::Estimate;
use evidence::PointEvidence;
pub use folder::PaperError;
pub use pages::{Verdicts, files, index, sections};
pub use readings::{Closeness, Goal, Reading, Readings};
pub use statement::{Statement, Verdict, write_statements};

/// A paper, with its experiment, its statements and any alternative readings.
pub struct Paper {
    /// The name of the paper's directory.
    pub name: String,
    about: About,
    folder: Folder,
    statements: Statements,
    readings: Option<Readings>,
}

/// The contents of `paper.toml`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct About {
    title: String,
    source: String,
    #[serde(default)]
    reading: Vec<String>,
    /// True if this is one of the project's own studies rather than a published paper.
    #[serde(default)]
    study: bool,
}

/// The names of the built-in papers, which are also the names of their directories.
pub const NAMES: [&str; 7] =
    ["tbl", "gabl", "nas", "mfa", "contiguity", "contiguity-first", "slices"];

static BUILT_IN: LazyLock<Vec<Paper>> = LazyLock::new(|| {
    let folders = [
        folder!("tbl", "tbl", None),
        folder!("gabl", "gabl", Some(include_str!("../papers/gabl/readings.toml"))),
        folder!("nas", "nas", Some(include_str!("../papers/nas/readings.toml"))),
        folder!("mfa", "mfa", None),
        folder!("contiguity", "contiguity", None),
        folder!("contiguity-first", "contiguity", None),
        folder!("slices", "slices", None),
    ];
    let papers = NAMES.iter().zip(folders);
    papers.map(|(name, folder)| folder::built_in(Paper::new(name, folder))).collect()
});

/// The first remark in the report on a quick run.
const QUICK: &str = "This is a quick run with few loads and replications. Its intervals are wide, \
                     so most statements hold. Only full runs count, and measured times are judged \
                     only in full runs.";

impl Paper {
    /// Returns the built-in papers and studies.
    pub fn built_in() -> &'static [Paper] {
        &BUILT_IN
    }

    /// Returns the four built-in published papers, which `reproduce all` runs.
    pub fn published() -> Vec<&'static Paper> {
        BUILT_IN.iter().filter(|paper| !paper.about.study).collect()
    }

    /// Reads a paper with the given name from its directory. `read` must return the text of a file,
    /// or `None` if the file does not exist.
    ///
    /// # Errors
    /// Returns an error if a file is missing or its contents are invalid.
    pub fn open(
        name: &str,
        read: &dyn Fn(&str) -> Result<Option<String>, String>,
    ) -> Result<Paper, PaperError> {
        let paper = Paper::new(name, Folder::read(read)?)?;
        for quick in [false, true] {
            paper.check(quick)?;
        }
        Ok(paper)
    }

    fn new(name: &str, folder: Folder) -> Result<Paper, PaperError> {
        let about = folder::parse(folder::PAPER, &folder.paper)?;
        let statements = folder::parse(folder::STATEMENTS, &folder.statements)?;
        let readings = folder.readings.as_ref().map(|text| folder::parse(folder::READINGS, text));
        let readings = readings.transpose()?.map(Readings::combined).transpose()?;
        Ok(Paper { name: name.to_string(), about, folder, statements, readings })
    }

    /// Checks the experiment, statements and readings for consistency, without running anything.
    fn check(&self, quick: bool) -> Result<(), PaperError> {
        let specification = self.specification(quick)?;
        let nothing = vec![Vec::new(); specification.points.len()];
        self.judge(&specification, &nothing, quick)?;
        match &self.readings {
            Some(readings) => readings.check(quick),
            None => Ok(()),
        }
    }

    /// Returns the title.
    pub fn title(&self) -> &str {
        &self.about.title
    }

    /// Returns the authors and the year.
    pub fn source(&self) -> &str {
        &self.about.source
    }

    /// Returns the alternative readings of details that the paper leaves open, if any.
    pub fn readings(&self) -> Option<&Readings> {
        self.readings.as_ref()
    }

    /// Returns the text of the experiment file. The quick version has fewer loads and runs.
    ///
    /// # Errors
    /// Returns an error if a file is not valid TOML.
    pub fn experiment(&self, quick: bool) -> Result<String, PaperError> {
        if quick { self.folder.quick_experiment() } else { Ok(self.folder.experiment.clone()) }
    }

    /// Reads the experiment.
    ///
    /// # Errors
    /// Returns an error if anything in the file is invalid.
    pub fn specification(&self, quick: bool) -> Result<Specification, PaperError> {
        let file = if quick { folder::QUICK } else { folder::EXPERIMENT };
        folder::specification(file, self.experiment(quick)?, &self.name)
    }

    /// Judges the statements based on the samples. In a quick run, skips rows about measured times,
    /// because other programs on the machine would affect their verdicts.
    ///
    /// # Errors
    /// Returns an error if a row refers to something that is missing from the experiment.
    pub fn judge(
        &self,
        specification: &Specification,
        samples: &Samples,
        quick: bool,
    ) -> Result<Vec<Statement>, PaperError> {
        let evidence = PointEvidence::new(specification, samples);
        let judged = judge::judge(&self.statements, &evidence, quick);
        judged.map_err(|fault| PaperError {
            file: folder::STATEMENTS,
            reason: fault.reason,
            place: Some((self.folder.statements.clone(), fault.span)),
        })
    }

    /// Counts the rows of each statement by verdict.
    pub fn counts(&self, all: &[Statement]) -> Vec<StatementCount> {
        count::counts(&self.statements, all)
    }

    /// Returns the report's introductory paragraphs.
    pub fn lead(&self, quick: bool) -> Vec<String> {
        let mut lead = vec![format!("{}: {}.", self.source(), self.title())];
        lead.extend(self.about.reading.iter().cloned());
        lead.extend(quick.then(|| QUICK.to_string()));
        lead
    }
}

#[cfg(test)]
mod tests {
    use pavior_trials::size;

    use super::*;

    #[test]
    fn every_paper_can_be_read_and_its_statements_fit_its_experiment() {
        for paper in Paper::built_in() {
            // Quick tests skip the full experiments, which are larger but have the same statements.
            for quick in [true, false].into_iter().take(size(1, 2, 2)) {
                let specification = paper.specification(quick).unwrap();
                assert!(!specification.points.is_empty() && !specification.figures.is_empty());
                paper.check(quick).unwrap_or_else(|error| panic!("{}: {error}", paper.name));
            }
        }
    }
}
