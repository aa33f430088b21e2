//! An experiment's logs and lists, opened by path.

use std::collections::HashMap;
use std::io::{self, BufRead, Read};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use pavior_files::{Bounded, FileError, Limits, open, unpacked};
use pavior_mesh::Grid;
use pavior_workload::inspect::LogSummary;
use pavior_workload::traces::{Filter, Format, LineError, ReadError, ReadOptions, Trace};
use pavior_workload::{FailureEvent, ReservedNodes, TimeUnit, read_failures, read_reservations};
use thiserror::Error;

use crate::{InputError, InputFiles, ListRequest, LogRequest};

/// An experiment's files, identified by paths relative to a directory. Each file is read only once.
/// All errors are of type [`LogError`].
pub struct Folder {
    path: PathBuf,
    limits: Limits,
    logs: Mutex<HashMap<String, Arc<Trace>>>,
    failures: Mutex<HashMap<String, Arc<Vec<FailureEvent>>>>,
    reservations: Mutex<HashMap<String, Arc<Vec<ReservedNodes>>>>,
    /// In-memory logs, keyed by the path that experiments use to refer to them.
    memory: HashMap<String, Arc<Trace>>,
}

impl Folder {
    /// Creates a source for the files in a directory. An empty path means the current directory.
    pub fn new(path: impl Into<PathBuf>, limits: Limits) -> Folder {
        Folder {
            path: path.into(),
            limits,
            logs: Mutex::default(),
            failures: Mutex::default(),
            reservations: Mutex::default(),
            memory: HashMap::new(),
        }
    }

    /// Adds an in-memory log, which can then be read from the given path.
    #[must_use]
    pub fn with_log(mut self, path: &str, log: Arc<Trace>) -> Folder {
        self.memory.insert(path.to_string(), log);
        self
    }

    /// Returns the logs read so far, in no particular order.
    pub fn logs(&self) -> Vec<Arc<Trace>> {
        self.logs.lock().map_or(Vec::new(), |known| known.values().cloned().collect())
    }
}

impl Folder {
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
        if let Some(log) = self.memory.get(&request.path) {
            let ReadOptions { first, filter, processors_per_node, nodes_from, .. } =
                &request.options;
            let is_divided = processors_per_node.is_some() || nodes_from.is_some();
            if first.is_none() && !is_divided && *filter == Filter::default() {
                return Ok(log.clone());
            }
            return Err(
                "first, filter, status and similar options apply only to log files; select rows in \
                 the table instead"
                    .into(),
            );
        }
        once(&self.logs, &request.key, || {
            let path =
                if request.path == STDIN { STDIN.into() } else { self.path.join(&request.path) };
            read_log(&path, &request.options, self.limits)
        })
    }

    fn failures(&self, request: &ListRequest) -> Result<Arc<Vec<FailureEvent>>, InputError> {
        once(&self.failures, &request.key, || self.list(request, read_failures))
    }

    fn reservations(&self, request: &ListRequest) -> Result<Arc<Vec<ReservedNodes>>, InputError> {
        once(&self.reservations, &request.key, || self.list(request, read_reservations))
    }
}

/// Returns the value for a key, reading it on first use.
fn once<T>(
    known: &Mutex<HashMap<String, Arc<T>>>,
    key: &str,
    read: impl FnOnce() -> Result<T, LogError>,
) -> Result<Arc<T>, InputError> {
    let mut known = known.lock().map_err(|_| "reading another input file failed unexpectedly")?;
    if let Some(value) = known.get(key) {
        return Ok(value.clone());
    }
    let value = Arc::new(read()?);
    known.insert(key.to_string(), value.clone());
    Ok(value)
}

/// An error from reading a log.
#[derive(Debug, Error)]
pub enum LogError {
    /// The file cannot be opened, or is not a log.
    #[error(transparent)]
    File(#[from] FileError),
    /// A line violates the format.
    #[error("{path}:{}:{}: {}", fault.line, fault.column, fault.reason)]
    Line {
        /// The log's name, as displayed.
        path: String,
        /// The fault and its position.
        fault: Box<LineError>,
    },
}

impl LogError {
    /// Converts a log or list reader's error into a `LogError`.
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

/// The path that means standard input.
const STDIN: &str = "-";

/// The offset and the bytes that identify each type of archive, and the command that unpacks such
/// an archive. Gzip is listed only so that gzip within gzip is detected.
const PACKED: [(usize, &[u8], &str); 6] = [
    (0, b"\x28\xb5\x2f\xfd", "zstd -dc"),
    (0, b"\xfd7zXZ\0", "xz -dc"),
    (0, b"BZh", "bzip2 -dc"),
    (0, b"\x1f\x8b", "gzip -dc"),
    (0, b"PK\x03\x04", "unzip -p"),
    (257, b"ustar", "tar -xOf"),
];

/// The maximum number of leading bytes to examine when detecting a log's format.
const BEGIN: u64 = 1 << 16;

/// Reads a log. The path `-` means standard input. The limits apply to the total size and, in
/// line-based formats, to the length of each line.
///
/// # Errors
/// Returns an error if the format cannot be detected, or if the log cannot be read, exceeds the
/// limits, or violates the format.
pub fn read_log(path: &Path, options: &ReadOptions, limits: Limits) -> Result<Trace, LogError> {
    read(path, opened(path, limits)?, options, limits)
}

/// Summarizes a log for a machine of the given size, with the same limits as [`read_log`].
///
/// # Errors
/// Returns the same errors as [`read_log`].
pub fn summarize_log(
    path: &Path,
    options: &ReadOptions,
    limits: Limits,
    nodes: Option<u64>,
) -> Result<LogSummary, LogError> {
    let (format, mut text) = detected(path, opened(path, limits)?, options, limits)?;
    LogSummary::read(format, &mut text, options, nodes).map_err(|error| LogError::of(path, error))
}

fn opened(path: &Path, limits: Limits) -> Result<Bounded, FileError> {
    let limits = limits.without_lines();
    if path == Path::new(STDIN) { pavior_files::stdin(limits) } else { open(path, limits) }
}

/// Reads a log from any input, applying the same limits as [`read_log`]. The name is used to help
/// detect the format.
///
/// # Errors
/// Returns the same errors as [`read_log`].
pub fn read_log_from(
    name: &Path,
    input: impl Read + 'static,
    options: &ReadOptions,
    limits: Limits,
) -> Result<Trace, LogError> {
    read(name, unpacked(name, input, limits.without_lines())?, options, limits)
}

fn read(
    path: &Path,
    reader: Bounded,
    options: &ReadOptions,
    limits: Limits,
) -> Result<Trace, LogError> {
    let (format, mut text) = detected(path, reader, options, limits)?;
    format.read(&mut text, options).map_err(|error| LogError::of(path, error))
}

/// Detects a log's format and returns it along with the text.
fn detected(
    path: &Path,
    mut reader: Bounded,
    options: &ReadOptions,
    limits: Limits,
) -> Result<(Format, Bounded), LogError> {
    let mut begin = Vec::new();
    let fault = |source| LogError::of(path, ReadError::Io { line: 0, source });
    (&mut reader).take(BEGIN).read_to_end(&mut begin).map_err(fault)?;
    let is_at = |at: usize, magic: &[u8]| begin.get(at..).is_some_and(|it| it.starts_with(magic));
    if let Some((.., program)) = PACKED.iter().find(|(at, magic, _)| is_at(*at, magic)) {
        let reason = format!("it is an archive; read it with `{program} FILE | pavior ... -`");
        return Err(FileError::content(path, reason).into());
    }
    let name = path.to_string_lossy();
    let format = options.format.or_else(|| Format::find(&begin, &name)).ok_or_else(|| {
        let names = Format::ALL.map(Format::name).join(", ");
        let reason = format!(
            "cannot detect the log's format from its contents or name; specify one with \
             --log-format: {names}"
        );
        FileError::content(path, reason)
    })?;
    let text = io::Cursor::new(begin).chain(reader);
    // The readers limit line lengths themselves, because lines may also end with carriage returns.
    Ok((format, Bounded::new(Box::new(text), limits.without_lines())))
}
