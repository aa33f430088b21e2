//! The papers: experiments and statements as data, and the one judge of them.
//!
//! A paper is a folder of TOML files, built in from `papers/` or a user's own:
//!
//! - `paper.toml`: what it is, and what a reader must know of how it is read.
//! - `experiment.toml`: its experiment, as any other.
//! - `quick.toml`: keys that replace those of the experiment in a quick run.
//! - `statements.toml`: what the paper states, row by row, with the rule that judges each row.
//! - `readings.toml`: other readings of what the paper leaves open; it may be missing.
//!
//! The judge knows rules, and no paper. The one strategy that it knows is MFA, whose paper has
//! worked examples. The study of [`forecasts`] has an experiment, too, and goals instead of
//! statements.

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
use evidence::Evidence;
pub use folder::PaperError;
pub use pages::{Verdicts, files, index, sections};
pub use readings::{Closeness, Goal, Reading, Readings};
pub use statement::{Statement, Verdict, write_statements};

/// A paper.
pub struct Paper {
    /// The name of its folder.
    pub name: String,
    about: About,
    folder: Folder,
    statements: Statements,
    readings: Option<Readings>,
}

/// `paper.toml`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct About {
    title: String,
    source: String,
    #[serde(default)]
    reading: Vec<String>,
    /// A study of this project, which is none of the published papers.
    #[serde(default)]
    study: bool,
}

/// The papers that are built in, by the names of their folders.
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
    // A test reads every one of them.
    papers.map(|(name, folder)| Paper::new(name, folder).expect("a paper of this crate")).collect()
});

/// What a report of a quick run says first.
const QUICK: &str = "A quick run: few loads and few replications. Its intervals are wide, and wide \
    intervals hold much; the full run is what counts.";

impl Paper {
    /// The papers and studies that are built in.
    pub fn built_in() -> &'static [Paper] {
        &BUILT_IN
    }

    /// The published papers of those that are built in, the four of `reproduce all`.
    pub fn published() -> Vec<&'static Paper> {
        BUILT_IN.iter().filter(|paper| !paper.about.study).collect()
    }

    /// Reads a paper from a folder of this name; `read` gives the text of one of its files, none
    /// where there is none.
    ///
    /// # Errors
    /// If a file is missing or says something that means nothing.
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

    /// Whether experiment and statements go together, found without a run.
    fn check(&self, quick: bool) -> Result<(), PaperError> {
        let specification = self.specification(quick)?;
        let nothing = vec![Vec::new(); specification.points.len()];
        self.judge(&specification, &nothing)?;
        match &self.readings {
            Some(readings) => readings.check(quick),
            None => Ok(()),
        }
    }

    /// Its title.
    pub fn title(&self) -> &str {
        &self.about.title
    }

    /// Authors and year.
    pub fn source(&self) -> &str {
        &self.about.source
    }

    /// Other readings of what it leaves open.
    pub fn readings(&self) -> Option<&Readings> {
        self.readings.as_ref()
    }

    /// The experiment as a file; the quick one has fewer loads and runs.
    ///
    /// # Errors
    /// If a file is no TOML.
    pub fn experiment(&self, quick: bool) -> Result<String, PaperError> {
        if quick { self.folder.quick_experiment() } else { Ok(self.folder.experiment.clone()) }
    }

    /// The experiment.
    ///
    /// # Errors
    /// If something in its file means nothing.
    pub fn specification(&self, quick: bool) -> Result<Specification, PaperError> {
        let file = if quick { folder::QUICK } else { folder::EXPERIMENT };
        folder::specification(file, self.experiment(quick)?, &self.name)
    }

    /// The statements, judged by samples.
    ///
    /// # Errors
    /// If a row names what the experiment does not have.
    pub fn judge(
        &self,
        specification: &Specification,
        samples: &Samples,
    ) -> Result<Vec<Statement>, PaperError> {
        let judged = judge::judge(&self.statements, &Evidence::new(specification, samples));
        judged.map_err(|fault| PaperError {
            file: folder::STATEMENTS,
            reason: fault.reason,
            place: Some((self.folder.statements.clone(), fault.span)),
        })
    }

    /// The rows of each statement, counted.
    pub fn counts(&self, all: &[Statement]) -> Vec<StatementCount> {
        count::counts(&self.statements, all)
    }

    /// The paragraphs at the head of the report.
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
            // The whole form of each is a larger one of the same statements.
            for quick in [true, false].into_iter().take(size(1, 2, 2)) {
                let specification = paper.specification(quick).unwrap();
                assert!(!specification.points.is_empty() && !specification.figures.is_empty());
                paper.check(quick).unwrap_or_else(|error| panic!("{}: {error}", paper.name));
            }
        }
    }
}
