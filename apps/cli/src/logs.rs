//! Logs and lists of failures: files to jobs and events.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use pavior_experiments::{FailureRequest, InputError, InputFiles, LogRequest};
use pavior_workload::traces::{Filter, Format, ReadError, ReadOptions, Trace};
use pavior_workload::{NodeEvent, read_failures};

use crate::args::{OfReading, ParameterArgs};
use crate::failure::{Failure, Place};
use crate::files;

/// Reads a log; its name says its format.
pub(crate) fn read(path: &Path, args: &ParameterArgs<OfReading>) -> Result<Trace, Failure> {
    let filter: Filter = args.value("filter")?.unwrap_or_default();
    let status = args.typed("status").map_or(Ok(Filter::default()), |typed| {
        Filter::of_status(typed).map_err(|bad| Failure::option("--status", typed, 0, &bad))
    })?;
    let options = ReadOptions {
        lenient: args.value("lenient")?.unwrap_or(false),
        first: args.value("first")?,
        filter: filter.and(&status),
    };
    read_with(path, &options)
}

/// Reads a log with options that are read already.
fn read_with(path: &Path, options: &ReadOptions) -> Result<Trace, Failure> {
    let reader = files::open(path)?;
    let Some(format) = Format::of_file(&path.to_string_lossy()) else {
        return Err(Failure::usage(format!(
            "{}: the name does not say the format; logs end in .swf, .sim or .json, or in one of \
             these and .gz",
            path.display()
        )));
    };
    let trace = format.read(reader, options);
    trace.map_err(|error| fault(path, error))
}

fn fault(path: &Path, error: ReadError) -> Failure {
    let name = path.display();
    match error {
        ReadError::Line(fault) | ReadError::AllMalformed { first: fault, .. } => {
            let from = format!("{name}:{}:{}:", fault.line, fault.column);
            Failure::Usage {
                message: fault.reason.clone(),
                place: Some(Place { from, line: fault.text.clone(), span: fault.span.clone() }),
            }
        }
        other => Failure::usage(format!("cannot read {name}: {other}")),
    }
}

/// Logs and lists of failures by their paths from a folder, each read once.
#[derive(Default)]
pub(crate) struct Folder {
    path: PathBuf,
    logs: Mutex<HashMap<String, Arc<Trace>>>,
    failures: Mutex<HashMap<String, Arc<Vec<NodeEvent>>>>,
}

impl Folder {
    /// A folder; the empty path is the one in which the command was typed.
    pub(crate) fn new(path: impl Into<PathBuf>) -> Folder {
        Folder { path: path.into(), ..Folder::default() }
    }
}

impl InputFiles for Folder {
    fn log(&self, request: &LogRequest) -> Result<Arc<Trace>, InputError> {
        once(&self.logs, &request.key, || {
            read_with(&self.path.join(&request.path), &request.options)
        })
    }

    fn failures(&self, request: &FailureRequest) -> Result<Arc<Vec<NodeEvent>>, InputError> {
        let path = self.path.join(&request.path);
        once(&self.failures, &request.key, || {
            read_failures(files::open(&path)?, &request.grid, request.unit)
                .map_err(|error| fault(&path, error))
        })
    }
}

/// What is known by a key, or is read now.
fn once<T>(
    known: &Mutex<HashMap<String, Arc<T>>>,
    key: &str,
    read: impl FnOnce() -> Result<T, Failure>,
) -> Result<Arc<T>, InputError> {
    let mut known = known.lock().map_err(|_| "a reader of files failed")?;
    if let Some(value) = known.get(key) {
        return Ok(value.clone());
    }
    let value = Arc::new(read()?);
    known.insert(key.to_string(), value.clone());
    Ok(value)
}
