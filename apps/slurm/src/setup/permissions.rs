//! Checks that other users cannot modify a program that root runs.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// The sticky bit. In a directory with this bit, only a file's owner can rename the file.
const STICKY: u32 = 0o1000;
/// Write permission for the group and others.
const WRITABLE: u32 = 0o022;

/// Checks a program and its parent directories. Returns the first path that a user other than
/// `owner` owns or can write to, or `None` if there is no such path or no such program.
pub(super) fn writable_by_others(program: &Path, owner: u32) -> Option<PathBuf> {
    let program = fs::canonicalize(program).ok()?;
    let is_writable = |path: &&Path| {
        fs::metadata(path).is_ok_and(|found| {
            let mode = found.permissions().mode();
            let is_sticky = found.is_dir() && mode & STICKY != 0;
            found.uid() != owner || (mode & WRITABLE != 0 && !is_sticky)
        })
    };
    program.ancestors().find(is_writable).map(Path::to_path_buf)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_writable_folder_or_file_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("pavior");
        fs::write(&program, "").unwrap();
        let owner = fs::metadata(&program).unwrap().uid();
        let mode = |path: &Path, mode| {
            fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
        };
        // The parent directories depend on the host, so the test ignores them.
        let found =
            || writable_by_others(&program, owner).filter(|at| at.starts_with(folder.path()));
        mode(&program, 0o755);
        assert_eq!(found(), None);
        mode(folder.path(), 0o775);
        assert_eq!(found().as_deref(), Some(folder.path()));
        mode(folder.path(), 0o1777);
        assert_eq!(found(), None, "no one else can rename it");
        mode(&program, 0o757);
        assert_eq!(found(), Some(program.clone()));
        mode(&program, 0o755);
        assert_eq!(writable_by_others(&program, owner + 1), Some(program.clone()));
        assert_eq!(writable_by_others(&folder.path().join("none"), owner), None);
    }
}
