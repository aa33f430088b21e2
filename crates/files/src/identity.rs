//! Detects paths that refer to the same file.

use std::ffi::OsString;
use std::fs;
use std::path::{Component, Path, PathBuf};

use crate::{FileError, shown};

/// The files that a command will read and write. If an output is the same file as an input or
/// another output, the command is rejected before it reads anything.
///
/// Two existing paths refer to the same file if they have the same device and inode, even if either
/// path is a link. Two paths that do not exist yet refer to the same file if creating one would
/// also create the other. Devices and pipes are ignored.
///
/// ```
/// # mod pavior { pub use pavior_files as files; }
/// let plan = pavior::files::FileUses::new();
/// let plan = plan.reads("--trace", "log.swf").writes("--swf", "./log.swf");
/// assert!(plan.check().unwrap_err().to_string().contains("--swf ./log.swf would overwrite"));
/// ```
#[derive(Clone, Debug, Default)]
pub struct FileUses {
    inputs: Vec<Place>,
    outputs: Vec<Place>,
}

#[derive(Clone, Debug)]
struct Place {
    option: String,
    path: PathBuf,
}

/// An existing file, or a path at which one could be created.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Identity {
    /// The device and the inode.
    #[cfg(unix)]
    File(u64, u64),
    /// The canonical path of the nearest existing directory, followed by the names below it.
    Below(Box<PathBuf>, Vec<OsString>),
}

impl FileUses {
    /// Creates an empty list of files.
    pub fn new() -> FileUses {
        FileUses::default()
    }

    /// Adds an input. `-` means standard input, which may be redirected from a file.
    #[must_use]
    pub fn reads(mut self, option: &str, path: impl AsRef<Path>) -> FileUses {
        let path = if path.as_ref() == Path::new("-") {
            PathBuf::from("/dev/stdin")
        } else {
            path.as_ref().to_path_buf()
        };
        self.inputs.push(Place { option: option.to_string(), path });
        self
    }

    /// Adds an output.
    #[must_use]
    pub fn writes(mut self, option: &str, path: impl AsRef<Path>) -> FileUses {
        let path = path.as_ref().to_path_buf();
        self.outputs.push(Place { option: option.to_string(), path });
        self
    }

    /// Rejects an output that would overwrite an input or another output.
    ///
    /// # Errors
    /// Returns an error that names the first such output and the file that it would overwrite.
    pub fn check(&self) -> Result<(), FileError> {
        let mut taken: Vec<(&Place, Identity)> = Vec::new();
        for input in &self.inputs {
            taken.extend(identity(&input.path).map(|identity| (input, identity)));
        }
        for output in &self.outputs {
            let Some(identity) = identity(&output.path) else { continue };
            if let Some((input, _)) = taken.iter().find(|(_, other)| *other == identity) {
                return Err(FileError::Overwrites { output: output.shown(), input: input.shown() });
            }
            taken.push((output, identity));
        }
        Ok(())
    }
}

impl Place {
    fn shown(&self) -> String {
        let path = shown(&self.path);
        if self.option.is_empty() { path } else { format!("{} {path}", self.option) }
    }
}

/// Identifies the file at a path. Returns `None` for a device or a pipe.
fn identity(path: &Path) -> Option<Identity> {
    match fs::metadata(path) {
        Ok(metadata) if !metadata.is_file() && !metadata.is_dir() => None,
        Ok(metadata) => Some(of_file(path, &metadata)),
        Err(_) => Some(of_place(path)),
    }
}

#[cfg(unix)]
fn of_file(_: &Path, metadata: &fs::Metadata) -> Identity {
    use std::os::unix::fs::MetadataExt;
    Identity::File(metadata.dev(), metadata.ino())
}

#[cfg(not(unix))]
fn of_file(path: &Path, _: &fs::Metadata) -> Identity {
    Identity::Below(Box::new(fs::canonicalize(path).unwrap_or_default()), Vec::new())
}

/// Resolves a path component by component. Follows links, and keeps missing components as written.
fn of_place(path: &Path) -> Identity {
    let mut here = fs::canonicalize(".").unwrap_or_default();
    let mut missing: Vec<OsString> = Vec::new();
    let mut links = 0;
    let mut rest: Vec<OsString> = names(path);
    rest.reverse();
    if path.is_absolute() {
        here = PathBuf::from("/");
    }
    while let Some(name) = rest.pop() {
        if name == ".." {
            if missing.pop().is_none() {
                here.pop();
            }
            continue;
        }
        let next = here.join(&name);
        let found = if missing.is_empty() { fs::symlink_metadata(&next).ok() } else { None };
        match found {
            None => missing.push(name),
            Some(metadata) if metadata.is_symlink() && links < 40 => {
                links += 1;
                let to = fs::read_link(&next).unwrap_or_default();
                if to.is_absolute() {
                    here = PathBuf::from("/");
                }
                rest.extend(names(&to).into_iter().rev());
            }
            Some(_) => here = next,
        }
    }
    match fs::metadata(&here) {
        // `new/../log` means `log`, even though the path cannot be opened until `new` exists.
        Ok(metadata) if missing.is_empty() => of_file(&here, &metadata),
        _ => Identity::Below(Box::new(here), missing),
    }
}

/// Returns a path's components, except for the root and `.`.
fn names(path: &Path) -> Vec<OsString> {
    let name = |component: Component<'_>| match component {
        Component::Normal(name) => Some(name.to_os_string()),
        Component::ParentDir => Some(OsString::from("..")),
        _ => None,
    };
    path.components().filter_map(name).collect()
}
