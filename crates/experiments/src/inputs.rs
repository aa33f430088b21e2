//! A point's input files: logs, and lists of failures and advance reservations.

use std::error::Error;
use std::sync::Arc;

use pavior_mesh::Grid;
use pavior_workload::traces::{ReadOptions, Trace};
use pavior_workload::{FailureEvent, ReservedNodes, TimeUnit};

/// A log that a point replays, and the options for reading the log.
#[derive(Clone, Debug)]
pub struct LogRequest {
    /// The path, as given in the point.
    pub path: String,
    /// The options, which select the part of the log to read.
    pub options: ReadOptions,
    /// The machine's node count, which [`Trace::for_machine`] may use to scale job sizes. The count
    /// is not part of the key, because the same text is read for every machine.
    pub nodes: u64,
    /// A key that is the same for equal requests.
    pub key: String,
}

/// A list of failures or reservations, the machine's grid, and the unit of time.
#[derive(Clone, Debug)]
pub struct ListRequest {
    /// The path, as given in the point.
    pub path: String,
    /// The machine's grid.
    pub grid: Grid,
    /// The unit of time.
    pub unit: TimeUnit,
    /// A key that is the same for equal requests.
    pub key: String,
}

/// An input file that a point needs, either a log or a list.
#[derive(Clone, Debug)]
pub enum InputRequest {
    /// A log.
    Log(LogRequest),
    /// A list of failures.
    Failures(ListRequest),
    /// A list of advance reservations.
    Reservations(ListRequest),
}

/// An error from reading an input. Each [`InputFiles`] implementation has its own error type.
pub type InputError = Box<dyn Error + Send + Sync>;

/// A source of input files, usually a [`Folder`](crate::Folder).
pub trait InputFiles: Sync {
    /// Reads a log. Requests with the same key get the same log.
    ///
    /// # Errors
    /// Returns an error if the log cannot be read.
    fn log(&self, request: &LogRequest) -> Result<Arc<Trace>, InputError>;

    /// Reads failures and repairs in chronological order. Requests with the same key get the same
    /// list.
    ///
    /// # Errors
    /// Returns an error if the list cannot be read.
    fn failures(&self, request: &ListRequest) -> Result<Arc<Vec<FailureEvent>>, InputError>;

    /// Reads a list of advance reservations. Requests with the same key get the same list.
    ///
    /// # Errors
    /// Returns an error if the list cannot be read.
    fn reservations(&self, request: &ListRequest) -> Result<Arc<Vec<ReservedNodes>>, InputError>;
}

/// A source without any files, for points that need none.
#[derive(Clone, Copy, Debug)]
pub struct NoFiles;

impl InputFiles for NoFiles {
    fn log(&self, request: &LogRequest) -> Result<Arc<Trace>, InputError> {
        Err(format!("{}: reading files is not supported here", request.path).into())
    }

    fn failures(&self, request: &ListRequest) -> Result<Arc<Vec<FailureEvent>>, InputError> {
        Err(format!("{}: reading files is not supported here", request.path).into())
    }

    fn reservations(&self, request: &ListRequest) -> Result<Arc<Vec<ReservedNodes>>, InputError> {
        Err(format!("{}: reading files is not supported here", request.path).into())
    }
}

impl LogRequest {
    pub(crate) fn new(path: &str, options: ReadOptions, nodes: u64) -> LogRequest {
        let ReadOptions { lenient, first, filter, dependencies, .. } = &options;
        let ReadOptions { format, processors_per_node, nodes_from, pieces, hosts, .. } = &options;
        let follows = if *dependencies { " dependencies" } else { "" };
        let mut key = format!("log {path} first={first:?} lenient={lenient} {filter}{follows}");
        let size = (processors_per_node, nodes_from, pieces);
        if format.is_some() || size != (&None, &None, &false) {
            key += &format!(" {format:?} {size:?}");
        }
        if *hosts {
            key += " hosts";
        }
        LogRequest { path: path.to_string(), options, nodes, key }
    }

    /// Reads the log. At least one job must remain after the warm-up.
    pub(crate) fn trace(
        &self,
        files: &dyn InputFiles,
        warmup: u64,
    ) -> Result<Arc<Trace>, InputError> {
        let trace = files.log(self)?.for_machine(self.nodes);
        if trace.records.is_empty() {
            return Err(format!(
                "{}: none of the {} job lines remain ({} filtered out, the rest skipped)",
                self.path, trace.report.job_lines, trace.report.filtered
            )
            .into());
        }
        let jobs = trace.records.len() as u64;
        if warmup >= jobs {
            let path = &self.path;
            return Err(format!(
                "{path}: the warm-up ({warmup} jobs) must be shorter than the log ({jobs} jobs)"
            )
            .into());
        }
        Ok(trace)
    }
}

impl ListRequest {
    /// Creates a request for the list that a parameter specifies, given a machine and a unit of
    /// time.
    pub(crate) fn new(parameter: &str, path: &str, grid: Grid, unit: TimeUnit) -> ListRequest {
        let key = format!("{parameter} {path} {grid} {}", unit.name);
        ListRequest { path: path.to_string(), grid, unit, key }
    }
}

impl InputRequest {
    /// Returns the key, which is the same for equal requests.
    pub fn key(&self) -> &str {
        match self {
            InputRequest::Log(log) => &log.key,
            InputRequest::Failures(list) | InputRequest::Reservations(list) => &list.key,
        }
    }

    /// Reads the input to check that it is readable.
    ///
    /// # Errors
    /// Returns an error if the input cannot be read, or if it is a log that contains no jobs, or no
    /// jobs after the warm-up.
    pub(crate) fn check(&self, files: &dyn InputFiles, warmup: u64) -> Result<(), InputError> {
        match self {
            InputRequest::Log(log) => log.trace(files, warmup).map(drop),
            InputRequest::Failures(failures) => files.failures(failures).map(drop),
            InputRequest::Reservations(list) => files.reservations(list).map(drop),
        }
    }
}
