//! Logs and lists of experiments, opened by their paths.

use std::collections::HashMap;
use std::io::{BufRead, Read};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use pavior_files::{FileError, Limits, open};
use pavior_mesh::Grid;
use pavior_workload::traces::{Format, LineError, ReadError, ReadOptions, Trace};
use pavior_workload::{FailureEvent, ReservedNodes, TimeUnit, read_failures, read_reservations};
use thiserror::Error;

use crate::{InputError, InputFiles, ListRequest, LogRequest};

/// The files of an experiment by their paths from a folder, each read once. Its errors are
/// [`LogError`]s.
pub struct Folder {
    path: PathBuf,
    limits: Limits,
    logs: Mutex<HashMap<String, Arc<Trace>>>,
    failures: Mutex<HashMap<String, Arc<Vec<FailureEvent>>>>,
    reservations: Mutex<HashMap<String, Arc<Vec<ReservedNodes>>>>,
}

impl Folder {
    /// A folder; the empty path is the one that the program was started in.
    pub fn new(path: impl Into<PathBuf>, limits: Limits) -> Folder {
        Folder {
            path: path.into(),
            limits,
            logs: Mutex::default(),
            failures: Mutex::default(),
            reservations: Mutex::default(),
        }
    }

    /// The logs that were read so far, in no order.
    pub fn logs(&self) -> Vec<Arc<Trace>> {
        self.logs.lock().map_or(Vec::new(), |known| known.values().cloned().collect())
    }
}

impl Folder {
    /// Reads a list.
    fn list<T>(
        &self,
        request: &ListRequest,
        read: impl FnOnce(Box<dyn BufRead>, &Grid, TimeUnit) -> Result<Vec<T>, ReadError>,
    ) -> Result<Vec<T>, LogError> {
        let path = self.path.join(&request.path);
        let reader = open(&path, self.limits)?;
        read(Box::new(reader), &request.grid, request.unit)
            .map_err(|error| LogError::of(&path, error))
    }
}

impl InputFiles for Folder {
    fn log(&self, request: &LogRequest) -> Result<Arc<Trace>, InputError> {
        once(&self.logs, &request.key, || {
            read_log(&self.path.join(&request.path), &request.options, self.limits)
        })
    }

    fn failures(&self, request: &ListRequest) -> Result<Arc<Vec<FailureEvent>>, InputError> {
        once(&self.failures, &request.key, || self.list(request, read_failures))
    }

    fn reservations(&self, request: &ListRequest) -> Result<Arc<Vec<ReservedNodes>>, InputError> {
        once(&self.reservations, &request.key, || self.list(request, read_reservations))
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

/// Why a log is not read.
#[derive(Debug, Error)]
pub enum LogError {
    /// It cannot be opened, or is none.
    #[error(transparent)]
    File(#[from] FileError),
    /// A line breaks the format.
    #[error("{path}:{}:{}: {}", fault.line, fault.column, fault.reason)]
    Line {
        /// The log's name, to be shown.
        path: String,
        /// What is wrong, and where.
        fault: Box<LineError>,
    },
}

impl LogError {
    /// What a reader of logs or of lists of failures says of a file.
    fn of(path: &Path, error: ReadError) -> LogError {
        match error {
            ReadError::Line(fault) | ReadError::AllMalformed { first: fault, .. } => {
                LogError::Line { path: pavior_files::shown(path), fault }
            }
            other => FileError::content(path, pavior_kernel::shown(&other.to_string()).to_string())
                .into(),
        }
    }
}

/// The most bytes of a first line that are looked at to find a format.
const FIRST_LINE: u64 = 1 << 16;

/// Reads a log. Formats of lines are bounded by line and in all, Batsim's one document in all.
///
/// # Errors
/// If neither the name nor the first line says a format; if the log cannot be read, is longer than
/// the limit, or is at fault.
pub fn read_log(path: &Path, options: &ReadOptions, limits: Limits) -> Result<Trace, LogError> {
    let named = Format::of_file(&path.to_string_lossy());
    let limits = if named == Some(Format::Batsim) { limits.without_lines() } else { limits };
    let mut reader = open(path, limits)?;
    let mut begin = Vec::new();
    let format = if let Some(format) = named {
        format
    } else {
        let first = (&mut reader).take(FIRST_LINE).read_until(b'\n', &mut begin);
        first.map_err(|source| LogError::of(path, ReadError::Io { line: 0, source }))?;
        Format::of_line(&begin).ok_or_else(|| {
            let reason = "the name does not say the format; logs end in .swf, .sim, .json or \
                          .sacct, or in one of these and .gz, or begin as sacct's do: JobID|";
            FileError::content(path, reason)
        })?
    };
    format.read(begin.as_slice().chain(reader), options).map_err(|error| LogError::of(path, error))
}
