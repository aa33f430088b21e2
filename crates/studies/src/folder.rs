//! A paper's directory, which is either built in or supplied by a user.

use std::ops::Range;

use pavior::experiments::Specification;
use serde::de::DeserializeOwned;
use thiserror::Error;
use toml::Table;

/// The contents of a paper's files.
#[derive(Clone, Debug)]
pub(super) struct Folder {
    pub(super) paper: String,
    pub(super) experiment: String,
    pub(super) quick: String,
    pub(super) statements: String,
    pub(super) readings: Option<String>,
}

/// The reason why a paper's directory cannot be used.
#[derive(Debug, Error)]
#[error("{file}: {reason}")]
pub struct PaperError {
    /// The name of the invalid file.
    pub file: &'static str,
    /// A description of the error.
    pub reason: String,
    /// The file's text and the range in which the error occurred, if known.
    pub place: Option<(String, Range<usize>)>,
}

impl PaperError {
    pub(super) fn new(file: &'static str, reason: impl Into<String>) -> PaperError {
        PaperError { file, reason: reason.into(), place: None }
    }
}

pub(super) const PAPER: &str = "paper.toml";
pub(super) const EXPERIMENT: &str = "experiment.toml";
pub(super) const QUICK: &str = "quick.toml";
pub(super) const STATEMENTS: &str = "statements.toml";
pub(super) const READINGS: &str = "readings.toml";

/// Embeds a directory from `papers/` in the program. All parts of a study share its
/// `statements.toml` and `quick.toml`.
macro_rules! folder {
    ($name:literal, $study:literal, $readings:expr) => {
        Folder {
            paper: include_str!(concat!("../papers/", $name, "/paper.toml")).to_string(),
            experiment: include_str!(concat!("../papers/", $name, "/experiment.toml")).to_string(),
            quick: include_str!(concat!("../papers/", $study, "/quick.toml")).to_string(),
            statements: include_str!(concat!("../papers/", $study, "/statements.toml")).to_string(),
            readings: $readings.map(str::to_string),
        }
    };
}
pub(super) use folder;

impl Folder {
    /// Reads a user's directory. `read` returns the text of a file, or `None` if the file does not
    /// exist.
    pub(super) fn read(
        read: &dyn Fn(&str) -> Result<Option<String>, String>,
    ) -> Result<Folder, PaperError> {
        let file = |name: &'static str| read(name).map_err(|reason| PaperError::new(name, reason));
        let needed = |name: &'static str| {
            file(name)?
                .ok_or_else(|| PaperError::new(name, "a paper's directory must contain this file"))
        };
        Ok(Folder {
            paper: needed(PAPER)?,
            experiment: needed(EXPERIMENT)?,
            quick: file(QUICK)?.unwrap_or_default(),
            statements: needed(STATEMENTS)?,
            readings: file(READINGS)?,
        })
    }

    /// Returns the experiment, with keys in `quick.toml` overriding its own.
    pub(super) fn quick_experiment(&self) -> Result<String, PaperError> {
        replaced(&self.experiment, &self.quick)
    }
}

/// Returns an experiment, with keys in `quick` overriding its own.
pub(super) fn replaced(experiment: &str, quick: &str) -> Result<String, PaperError> {
    let mut whole: Table = parse(EXPERIMENT, experiment)?;
    let quick: Table = parse(QUICK, quick)?;
    whole.extend(quick);
    toml::to_string(&whole).map_err(|error| PaperError::new(QUICK, error.to_string()))
}

/// Unwraps the result of reading a file that is built into the program.
///
/// # Panics
/// Panics if the file is invalid. A test that reads every built-in file rules this out.
pub(super) fn built_in<T>(result: Result<T, PaperError>) -> T {
    result.unwrap_or_else(|error| panic!("built-in file: {error}"))
}

pub(super) fn parse<T: DeserializeOwned>(file: &'static str, text: &str) -> Result<T, PaperError> {
    toml::from_str(text).map_err(|error| PaperError {
        file,
        reason: error.message().replace('\n', ", "),
        place: error.span().map(|span| (text.to_string(), span)),
    })
}

/// Parses an experiment. Any error names the given file.
pub(super) fn specification(
    file: &'static str,
    text: String,
    name: &str,
) -> Result<Specification, PaperError> {
    Specification::parse(&text, name).map_err(|error| PaperError {
        file,
        reason: error.reason,
        place: Some((text, error.span)),
    })
}
