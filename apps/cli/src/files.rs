//! File access for the command line: wraps `pavior::files`, applying the `--max-input` limit and
//! converting errors to command failures.

use std::path::Path;
use std::sync::OnceLock;

use pavior::files::{Bounded, FileError, FileUses, Limits, Lock};

use crate::failure::Failure;

pub(crate) use pavior::files::{check_writable, shown, write_whole};

/// The value of `--max-input`. It is set once, before any file is opened.
static MAX_INPUT_BYTES: OnceLock<Option<u64>> = OnceLock::new();

/// Sets the maximum number of bytes per input.
pub(crate) fn set_max_input(bytes: Option<u64>) {
    // Only `main` calls this, once.
    let _ = MAX_INPUT_BYTES.set(bytes);
}

/// Returns the limits for line-based inputs.
pub(crate) fn lines() -> Limits {
    Limits::LINES.with_total(MAX_INPUT_BYTES.get().copied().flatten())
}

/// Opens a line-based input, decompressing it if the file name ends in `.gz`.
pub(crate) fn open(path: &Path) -> Result<Bounded, Failure> {
    let is_gzipped = has_extension(path, "gz");
    let plain = if is_gzipped { path.with_extension("") } else { path.to_path_buf() };
    // A Batsim log is a single document, so its lines may have any length.
    let limits = if has_extension(&plain, "json") { lines().without_lines() } else { lines() };
    Ok(pavior::files::open(path, limits)?)
}

/// Checks that an output, if there is one, can be written and is not the same file as one of the
/// inputs.
pub(crate) fn check_output(
    option: &str,
    path: Option<&Path>,
    inputs: &[(&str, Option<&Path>)],
) -> Result<(), Failure> {
    let Some(path) = path else { return Ok(()) };
    let given = inputs.iter().filter_map(|(option, path)| Some((option, (*path)?)));
    let uses = given.fold(FileUses::new(), |uses, (option, path)| uses.reads(option, path));
    uses.writes(option, path).check()?;
    Ok(check_writable(path)?)
}

/// Checks that two inputs are not both standard input, which can be read only once.
pub(crate) fn check_stdin(inputs: [(&str, Option<&Path>); 2]) -> Result<(), Failure> {
    let [(one, _), (other, _)] = inputs;
    if inputs.iter().any(|(_, path)| *path != Some(Path::new("-"))) {
        return Ok(());
    }
    Err(Failure::usage(format!("{one} and {other} cannot both be standard input")))
}

/// Locks a directory to write to, creating it if necessary.
pub(crate) fn lock(folder: &Path) -> Result<Lock, Failure> {
    let in_use = || Failure::usage(format!("{} is in use by another process", shown(folder)));
    Lock::take(folder)?.ok_or_else(in_use)
}

/// Checks that the file extension of a drawing, if there is one, is in `known`.
pub(crate) fn check_drawing(
    option: &str,
    path: Option<&Path>,
    known: &[&str],
) -> Result<(), Failure> {
    let Some(path) = path else { return Ok(()) };
    if known.iter().any(|extension| has_extension(path, extension)) {
        return Ok(());
    }
    let known: Vec<String> = known.iter().map(|extension| format!(".{extension}")).collect();
    Err(Failure::usage(format!(
        "{option} {}: the name must end in {}",
        shown(path),
        known.join(" or ")
    )))
}

/// Returns true if a name ends in an extension, ignoring case.
pub(crate) fn has_extension(path: &Path, extension: &str) -> bool {
    path.extension().is_some_and(|found| found.eq_ignore_ascii_case(extension))
}

impl From<FileError> for Failure {
    fn from(error: FileError) -> Failure {
        Failure::of(&error, error.is_usage())
    }
}
