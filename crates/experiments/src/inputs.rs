//! What a point needs from files: logs, and lists of failures and of reservations ahead.

use std::error::Error;
use std::sync::Arc;

use pavior_mesh::Grid;
use pavior_workload::traces::{ReadOptions, Trace};
use pavior_workload::{FailureEvent, ReservedNodes, TimeUnit};

/// A log that a point replays, and how to read it.
#[derive(Clone, Debug)]
pub struct LogRequest {
    /// The path, as the point has it.
    pub path: String,
    /// What to read of it.
    pub options: ReadOptions,
    /// Equal requests have equal keys.
    pub key: String,
}

/// A list of failures or of reservations, and the machine and unit of time that it is read for.
#[derive(Clone, Debug)]
pub struct ListRequest {
    /// The path, as the point has it.
    pub path: String,
    /// The machine.
    pub grid: Grid,
    /// The unit of time.
    pub unit: TimeUnit,
    /// Equal requests have equal keys.
    pub key: String,
}

/// One of them.
#[derive(Clone, Debug)]
pub enum InputRequest {
    /// A log.
    Log(LogRequest),
    /// A list of failures.
    Failures(ListRequest),
    /// A list of reservations ahead.
    Reservations(ListRequest),
}

/// Why an input cannot be read. The one who opens files says it in a form of its own.
pub type InputError = Box<dyn Error + Send + Sync>;

/// Who opens files: usually a [`Folder`](crate::Folder).
pub trait InputFiles: Sync {
    /// A log; the same one for the same key.
    ///
    /// # Errors
    /// If it cannot be read.
    fn log(&self, request: &LogRequest) -> Result<Arc<Trace>, InputError>;

    /// A list of failures and repairs in the order of time; the same one for the same key.
    ///
    /// # Errors
    /// If it cannot be read.
    fn failures(&self, request: &ListRequest) -> Result<Arc<Vec<FailureEvent>>, InputError>;

    /// A list of reservations ahead; the same one for the same key.
    ///
    /// # Errors
    /// If it cannot be read.
    fn reservations(&self, request: &ListRequest) -> Result<Arc<Vec<ReservedNodes>>, InputError>;
}

/// No files, for points that need none.
#[derive(Clone, Copy, Debug)]
pub struct NoFiles;

impl InputFiles for NoFiles {
    fn log(&self, request: &LogRequest) -> Result<Arc<Trace>, InputError> {
        Err(format!("{}: no files are read here", request.path).into())
    }

    fn failures(&self, request: &ListRequest) -> Result<Arc<Vec<FailureEvent>>, InputError> {
        Err(format!("{}: no files are read here", request.path).into())
    }

    fn reservations(&self, request: &ListRequest) -> Result<Arc<Vec<ReservedNodes>>, InputError> {
        Err(format!("{}: no files are read here", request.path).into())
    }
}

impl LogRequest {
    /// A log, and what to read of it.
    pub(crate) fn new(path: &str, options: ReadOptions) -> LogRequest {
        let ReadOptions { lenient, first, filter } = &options;
        let key = format!("log {path} first={first:?} lenient={lenient} {filter}");
        LogRequest { path: path.to_string(), options, key }
    }

    /// The log, of which at least one job is left behind the warm-up.
    pub(crate) fn trace(
        &self,
        files: &dyn InputFiles,
        warmup: u64,
    ) -> Result<Arc<Trace>, InputError> {
        let trace = files.log(self)?;
        if trace.records.is_empty() {
            return Err(format!(
                "{}: no job is left of {} job lines ({} filtered out, the others skipped)",
                self.path, trace.report.job_lines, trace.report.filtered
            )
            .into());
        }
        let jobs = trace.records.len() as u64;
        if warmup >= jobs {
            let path = &self.path;
            return Err(
                format!("{path}: a warm-up of {warmup} leaves nothing of {jobs} jobs").into()
            );
        }
        Ok(trace)
    }
}

impl ListRequest {
    /// The list of a parameter, for a machine and a unit of time.
    pub(crate) fn new(parameter: &str, path: &str, grid: Grid, unit: TimeUnit) -> ListRequest {
        let key = format!("{parameter} {path} {grid} {}", unit.name);
        ListRequest { path: path.to_string(), grid, unit, key }
    }
}

impl InputRequest {
    /// Equal requests have equal keys.
    pub fn key(&self) -> &str {
        match self {
            InputRequest::Log(log) => &log.key,
            InputRequest::Failures(list) | InputRequest::Reservations(list) => &list.key,
        }
    }

    /// Reads the input, so that it is known that it can be.
    ///
    /// # Errors
    /// If it cannot be read, or no job is left of a log, or none behind the warm-up.
    pub(crate) fn check(&self, files: &dyn InputFiles, warmup: u64) -> Result<(), InputError> {
        match self {
            InputRequest::Log(log) => log.trace(files, warmup).map(drop),
            InputRequest::Failures(failures) => files.failures(failures).map(drop),
            InputRequest::Reservations(list) => files.reservations(list).map(drop),
        }
    }
}
