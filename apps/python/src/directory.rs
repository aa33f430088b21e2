//! An experiment's directory, which the command line can also use.

use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard};

use pavior::experiments::Store;
use pavior::experiments::directory::{self, OpenRun, Resume, Run};
use pyo3::prelude::*;

use crate::errors::{directory_error, other};
use crate::experiment::Specification;
use crate::journal::{self, Journal};
use crate::results::Results;

/// An experiment's directory. While this object exists, no other process can change the directory.
/// The command line can resume an experiment that was started from Python, and vice versa.
#[pyclass(frozen, module = "pavior._native")]
pub(crate) struct Directory {
    open: Mutex<OpenRun>,
    known: Py<Journal>,
}

impl Directory {
    fn open(&self) -> PyResult<MutexGuard<'_, OpenRun>> {
        self.open.lock().map_err(|_| other("an earlier call failed while writing the journal"))
    }
}

#[pymethods]
impl Directory {
    /// Creates or resumes a directory, and locks it until the object is deleted.
    #[new]
    fn new(py: Python<'_>, path: PathBuf, specification: &Specification) -> PyResult<Directory> {
        let experiment = &specification.shared.experiment;
        let run = Run {
            name: experiment.name.clone(),
            fingerprint: specification.fingerprint.clone(),
            reproduced: None,
            shard: "1/1".to_string(),
            command: "python".to_string(),
        };
        let resume = Resume { resume: true, discard_damaged: false };
        let begun = || {
            let directory = directory::Directory::open(&path)?;
            directory.begin(&run, &specification.text, experiment, resume)
        };
        let (open, known) = py.detach(begun).map_err(|error| directory_error(py, &error))?;
        let known = Py::new(py, Journal::of(known.entries))?;
        Ok(Directory { open: Mutex::new(open), known })
    }

    /// The replications that were in the directory when it was opened.
    #[getter]
    fn journal(&self, py: Python<'_>) -> Py<Journal> {
        self.known.clone_ref(py)
    }

    /// Stores lines from `replicate`. From then on, they survive if the process is killed.
    fn keep(&self, lines: &[u8]) -> PyResult<()> {
        let mut open = self.open()?;
        for entry in journal::parse(lines)? {
            open.keep(&entry)?;
        }
        Ok(())
    }

    /// Writes the result files atomically, and deletes the journal once they are safely stored.
    fn finish(&self, py: Python<'_>, results: &Results) -> PyResult<()> {
        let files = results.publications()?;
        self.open()?.finish(&files).map_err(|error| directory_error(py, &error))
    }
}
