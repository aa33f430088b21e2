//! Logs and lists of experiments, opened by their paths.

use std::collections::HashMap;
use std::io::{BufRead, Read};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use pavior_files::{Bounded, FileError, Limits, open, unpacked};
use pavior_mesh::Grid;
use pavior_workload::traces::{Format, LineError, ReadError, ReadOptions, Trace};
use pavior_workload::{FailureEvent, ReservedNodes, TimeUnit, read_failures, read_reservations};
use thiserror::Error;

use crate::{InputError, InputFiles, ListRequest, LogRequest};

/// The files of an experiment by their paths relative to a folder, each read once. Errors are
/// [`LogError`]s.
pub struct Folder {
    path: PathBuf,
    limits: Limits,
    logs: Mutex<HashMap<String, Arc<Trace>>>,
    failures: Mutex<HashMap<String, Arc<Vec<FailureEvent>>>>,
    reservations: Mutex<HashMap<String, Arc<Vec<ReservedNodes>>>>,
}

impl Folder {
    /// Creates a folder. The empty path is the current directory of the program.
    pub fn new(path: impl Into<PathBuf>, limits: Limits) -> Folder {
        Folder {
            path: path.into(),
            limits,
            logs: Mutex::default(),
            failures: Mutex::default(),
            reservations: Mutex::default(),
        }
    }

    /// Returns the logs that were read so far, in no particular order.
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

/// Returns the value with a key, which is read if it is not yet known.
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

/// An error that prevents reading a log.
#[derive(Debug, Error)]
pub enum LogError {
    /// The file cannot be opened, or is not a log.
    #[error(transparent)]
    File(#[from] FileError),
    /// A line violates the format.
    #[error("{path}:{}:{}: {}", fault.line, fault.column, fault.reason)]
    Line {
        /// The displayed name of the log.
        path: String,
        /// The fault and its place.
        fault: Box<LineError>,
    },
}

impl LogError {
    /// Converts an error of a reader of logs or lists.
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

/// Maximum length, in bytes, of a first line that is examined to find the format.
const FIRST_LINE: u64 = 1 << 16;

/// Reads a log from a file, as [`read_log_from`] reads it.
///
/// # Errors
/// If it cannot be opened, or read as a log.
pub fn read_log(path: &Path, options: &ReadOptions, limits: Limits) -> Result<Trace, LogError> {
    let limits = limits_of(path, limits);
    read(path, open(path, limits)?, options)
}

/// Reads a log from any input. Its name shows if it is compressed, and its format. Formats with
/// lines are limited per line and in total; Batsim's single document only in total.
///
/// # Errors
/// If neither the name nor the first line shows the format; if the log cannot be read, exceeds the
/// limits, or violates the format.
pub fn read_log_from(
    name: &Path,
    input: Box<dyn Read>,
    options: &ReadOptions,
    limits: Limits,
) -> Result<Trace, LogError> {
    read(name, unpacked(name, input, limits_of(name, limits)), options)
}

fn limits_of(name: &Path, limits: Limits) -> Limits {
    let is_batsim = Format::of_file(&name.to_string_lossy()) == Some(Format::Batsim);
    if is_batsim { limits.without_lines() } else { limits }
}

fn read(path: &Path, mut reader: Bounded, options: &ReadOptions) -> Result<Trace, LogError> {
    let named = Format::of_file(&path.to_string_lossy());
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
