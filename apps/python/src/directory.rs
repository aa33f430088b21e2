//! The directory of an experiment, which the command line and the package share.

use std::path::PathBuf;
use std::sync::Mutex;

use pavior_files::{FileError, Resume, Run};
use pyo3::prelude::*;

use crate::errors::other;
use crate::experiment::Specification;
use crate::journal::{Journal, entries};
use crate::results::Results;

/// The experiment's own file.
const EXPERIMENT: &str = "experiment.toml";

/// A directory that this process alone may change; what the command line began, it goes on with.
#[pyclass(frozen, module = "pavior._native")]
pub(crate) struct Directory {
    inner: pavior_files::Directory,
    run: Run,
    text: String,
    journal: Mutex<pavior_files::Journal>,
    known: Py<Journal>,
}

#[pymethods]
impl Directory {
    /// Makes a directory or goes on with one, and locks it until the object goes.
    #[new]
    fn new(py: Python<'_>, path: PathBuf, specification: &Specification) -> PyResult<Directory> {
        let experiment = &specification.shared.experiment;
        let run = Run {
            name: experiment.name.clone(),
            fingerprint: specification.fingerprint.clone(),
            version: env!("CARGO_PKG_VERSION").to_string(),
            paper: None,
            shard: "1/1".to_string(),
            command: "python".to_string(),
        };
        let begun = || -> Result<_, FileError> {
            let inner = pavior_files::Directory::open(&path)?;
            let resume = Resume { resume: true, discard_damaged: false };
            let known = inner.begin(&run, (EXPERIMENT, &specification.text), resume)?;
            let (entries, _) =
                pavior_files::replications(&path, experiment, &known.journal, false)?;
            let journal = inner.journal(&run, &known.journal)?;
            Ok((inner, entries, journal))
        };
        let (inner, entries, journal) =
            py.detach(begun).map_err(|error| other(py, error.to_string()))?;
        let known = Py::new(py, Journal::of(entries))?;
        let (text, journal) = (specification.text.clone(), Mutex::new(journal));
        Ok(Directory { inner, run, text, journal, known })
    }

    /// The replications that the directory held when it was opened.
    #[getter]
    fn journal(&self, py: Python<'_>) -> Py<Journal> {
        self.known.clone_ref(py)
    }

    /// Keeps lines that `replicate` gave: they outlive the process when this returns.
    fn keep(&self, py: Python<'_>, lines: &[u8]) -> PyResult<()> {
        let mut journal =
            self.journal.lock().map_err(|_| other(py, "the journal is not ready".into()))?;
        for entry in entries(lines)? {
            journal.keep(&entry.line())?;
        }
        Ok(())
    }

    /// Writes the files of the results, each whole or not at all; the journal goes when they are
    /// safe.
    fn finish(&self, py: Python<'_>, results: &Results) -> PyResult<()> {
        let publications = results.publications()?;
        let files = publications.iter().map(|file| (file.name.as_str(), file.bytes.as_slice()));
        let files = files.chain([(EXPERIMENT, self.text.as_bytes())]);
        self.inner.finish(&self.run, files).map_err(|error| other(py, error.to_string()))
    }
}
