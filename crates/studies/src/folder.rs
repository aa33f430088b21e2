//! A paper's folder: its files, built in or a user's own.

use std::ops::Range;

use serde::de::DeserializeOwned;
use thiserror::Error;
use toml::Table;

/// The texts of a paper's files.
#[derive(Clone, Debug)]
pub(super) struct Folder {
    paper: String,
    pub(super) experiment: String,
    quick: String,
    statements: String,
    readings: Option<String>,
}

/// A paper's folder that cannot be read.
#[derive(Debug, Error)]
#[error("{file}: {reason}")]
pub struct PaperError {
    /// The file in the folder.
    pub file: &'static str,
    /// What is wrong.
    pub reason: String,
    /// Its text, and where in it the fault is, if that is known.
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

/// The files of a folder of `papers/`, built into the program.
macro_rules! folder {
    ($name:literal) => {
        folder!($name, part of $name)
    };
    // What a part of a study does not have itself is the study's.
    ($name:literal, part of $study:literal) => {
        Folder::built_in(
            include_str!(concat!("../papers/", $name, "/paper.toml")),
            include_str!(concat!("../papers/", $name, "/experiment.toml")),
            include_str!(concat!("../papers/", $study, "/quick.toml")),
            include_str!(concat!("../papers/", $study, "/statements.toml")),
            None,
        )
    };
    ($name:literal, readings) => {
        Folder::built_in(
            include_str!(concat!("../papers/", $name, "/paper.toml")),
            include_str!(concat!("../papers/", $name, "/experiment.toml")),
            include_str!(concat!("../papers/", $name, "/quick.toml")),
            include_str!(concat!("../papers/", $name, "/statements.toml")),
            Some(include_str!(concat!("../papers/", $name, "/readings.toml"))),
        )
    };
}
pub(super) use folder;

impl Folder {
    pub(super) fn built_in(
        paper: &str,
        experiment: &str,
        quick: &str,
        statements: &str,
        readings: Option<&str>,
    ) -> Folder {
        Folder {
            paper: paper.to_string(),
            experiment: experiment.to_string(),
            quick: quick.to_string(),
            statements: statements.to_string(),
            readings: readings.map(String::from),
        }
    }

    /// Reads a user's folder; `read` gives the text of one of its files, none where there is none.
    pub(super) fn read(
        read: &dyn Fn(&str) -> Result<Option<String>, String>,
    ) -> Result<Folder, PaperError> {
        let file = |name: &'static str| read(name).map_err(|reason| PaperError::new(name, reason));
        let needed = |name: &'static str| {
            file(name)?.ok_or_else(|| {
                PaperError::new(name, "there is no such file in the folder, which a paper needs")
            })
        };
        Ok(Folder {
            paper: needed(PAPER)?,
            experiment: needed(EXPERIMENT)?,
            quick: file(QUICK)?.unwrap_or_default(),
            statements: needed(STATEMENTS)?,
            readings: file(READINGS)?,
        })
    }

    pub(super) fn paper<T: DeserializeOwned>(&self) -> Result<T, PaperError> {
        parse(PAPER, &self.paper)
    }

    pub(super) fn statements<T: DeserializeOwned>(&self) -> Result<T, PaperError> {
        parse(STATEMENTS, &self.statements)
    }

    pub(super) fn readings<T: DeserializeOwned>(&self) -> Result<Option<T>, PaperError> {
        self.readings.as_ref().map(|text| parse(READINGS, text)).transpose()
    }

    /// The quick experiment: every key of `quick.toml` instead of the same key of the experiment.
    pub(super) fn quick(&self) -> Result<String, PaperError> {
        let mut whole: Table = parse(EXPERIMENT, &self.experiment)?;
        let quick: Table = parse(QUICK, &self.quick)?;
        whole.extend(quick);
        toml::to_string(&whole).map_err(|error| PaperError::new(QUICK, error.to_string()))
    }
}

fn parse<T: DeserializeOwned>(file: &'static str, text: &str) -> Result<T, PaperError> {
    toml::from_str(text).map_err(|error| PaperError {
        file,
        reason: error.message().replace('\n', ", "),
        place: error.span().map(|span| (text.to_string(), span)),
    })
}
