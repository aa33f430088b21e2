//! Logs and lists of failures of experiments, opened by their paths.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use pavior_experiments::{FailureRequest, InputError, InputFiles, LogRequest};
use pavior_workload::traces::Trace;
use pavior_workload::{FailureEvent, read_failures};

use crate::{Limits, LogError, open, read_log};

/// The files of an experiment by their paths from a folder, each read once. Its errors are
/// [`LogError`]s.
pub struct Folder {
    path: PathBuf,
    limits: Limits,
    logs: Mutex<HashMap<String, Arc<Trace>>>,
    failures: Mutex<HashMap<String, Arc<Vec<FailureEvent>>>>,
}

impl Folder {
    /// A folder; the empty path is the one that the program was started in.
    pub fn new(path: impl Into<PathBuf>, limits: Limits) -> Folder {
        Folder { path: path.into(), limits, logs: Mutex::default(), failures: Mutex::default() }
    }

    /// The logs that were read so far, in no order.
    pub fn logs(&self) -> Vec<Arc<Trace>> {
        self.logs.lock().map_or(Vec::new(), |known| known.values().cloned().collect())
    }
}

impl InputFiles for Folder {
    fn log(&self, request: &LogRequest) -> Result<Arc<Trace>, InputError> {
        once(&self.logs, &request.key, || {
            read_log(&self.path.join(&request.path), &request.options, self.limits)
        })
    }

    fn failures(&self, request: &FailureRequest) -> Result<Arc<Vec<FailureEvent>>, InputError> {
        let path = self.path.join(&request.path);
        once(&self.failures, &request.key, || {
            let reader = open(&path, self.limits)?;
            read_failures(reader, &request.grid, request.unit)
                .map_err(|error| LogError::of(&path, error))
        })
    }
}

/// What is known by a key, or is read now.
fn once<T>(
    known: &Mutex<HashMap<String, Arc<T>>>,
    key: &str,
    read: impl FnOnce() -> Result<T, LogError>,
) -> Result<Arc<T>, InputError> {
    let mut known = known.lock().map_err(|_| "a reader of files failed")?;
    if let Some(value) = known.get(key) {
        return Ok(value.clone());
    }
    let value = Arc::new(read()?);
    known.insert(key.to_string(), value.clone());
    Ok(value)
}
