//! File and directory operations for building a release. Errors include the path.

use std::fs;
use std::path::Path;

/// Returns the names of the files in a directory, sorted.
pub(super) fn file_names(folder: &Path) -> Result<Vec<String>, String> {
    let entries = fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut names: Vec<String> = entries
        .filter_map(|entry| Some(entry.ok()?.file_name().to_string_lossy().into_owned()))
        .collect();
    names.sort();
    Ok(names)
}

pub(super) fn make_folder(folder: &Path) -> Result<(), String> {
    fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))
}

/// Writes a file, creating its parent directories.
pub(super) fn write(file: &Path, text: &str) -> Result<(), String> {
    make_folder(file.parent().unwrap_or(file))?;
    fs::write(file, text).map_err(|error| format!("{}: {error}", file.display()))
}

/// Copies a file with its permissions into a directory, creating the directory if necessary.
pub(super) fn copy_into(file: &Path, folder: &Path) -> Result<(), String> {
    make_folder(folder)?;
    let copied = fs::copy(file, folder.join(file.file_name().unwrap_or_default()));
    copied.map(drop).map_err(|error| format!("{}: {error}", file.display()))
}
