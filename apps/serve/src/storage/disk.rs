//! The journal's directory: a real one, or a simulated one in tests.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// The name of the lock file in a directory.
const LOCK: &str = "lock";

/// A directory of files. Its methods return errors like those of `std::fs`.
#[expect(clippy::missing_errors_doc, reason = "documented on the trait")]
pub trait Disk: Send + Sync {
    /// Returns the names of the files, in no particular order.
    fn list(&self) -> io::Result<Vec<String>>;

    /// Reads a whole file.
    fn read(&self, name: &str) -> io::Result<Vec<u8>>;

    /// Returns the size of a file in bytes.
    fn length(&self, name: &str) -> io::Result<u64> {
        self.read(name).map(|bytes| bytes.len() as u64)
    }

    /// Opens a file for writing, creating it if it does not exist.
    fn open(&self, name: &str) -> io::Result<Box<dyn DiskFile>>;

    /// Renames a file, replacing any file with the new name.
    fn rename(&self, from: &str, to: &str) -> io::Result<()>;

    /// Removes a file.
    fn remove(&self, name: &str) -> io::Result<()>;

    /// Makes changes to file names durable, so that they survive a power failure.
    fn sync_names(&self) -> io::Result<()>;
}

/// A file open for writing. A failed write may have written part of the data.
#[expect(clippy::missing_errors_doc, reason = "documented on the trait")]
pub trait DiskFile: Send {
    /// Writes bytes at an offset.
    fn write_at(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()>;

    /// Truncates the file to the given size in bytes.
    fn truncate(&mut self, length: u64) -> io::Result<()>;

    /// Makes written data durable, so that it survives a power failure.
    ///
    /// # Errors
    /// Returns an error if the data may not be durable. Data written since the last call may then
    /// be lost, even if a later call succeeds.
    fn sync(&mut self) -> io::Result<()>;

    /// Checks that the file's name in the directory still refers to this file.
    ///
    /// # Errors
    /// Returns an error if the file or its directory was removed or replaced.
    fn in_place(&self) -> io::Result<()>;
}

/// A directory in the file system, locked against other processes for the lifetime of this value.
/// Only its owner can access the directory and its files.
pub struct DiskFolder {
    path: PathBuf,
    /// The directory itself. It is locked because a lock file in it could be removed and recreated.
    /// It is kept open so that names can be made durable even when no more files can be opened.
    folder: File,
    /// The lock file, which is needed on file systems that cannot lock directories.
    _lock: File,
}

impl DiskFolder {
    /// Opens a directory, creating it if it does not exist.
    ///
    /// # Errors
    /// Returns an error if the directory cannot be created or another process has locked it.
    pub fn open(path: &Path) -> io::Result<DiskFolder> {
        let with_path =
            |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", path.display()));
        if !path.is_dir() {
            fs::create_dir_all(path).map_err(with_path)?;
        }
        let folder = File::open(path).map_err(with_path)?;
        set_mode(path, 0o700).map_err(with_path)?;
        let lock = OpenOptions::new().create(true).append(true).mode(0o600).open(path.join(LOCK));
        let lock = lock.map_err(with_path)?;
        set_mode(&path.join(LOCK), 0o600).map_err(with_path)?;
        for file in [&folder, &lock] {
            match file.try_lock() {
                Ok(()) => {}
                Err(fs::TryLockError::WouldBlock) => {
                    return Err(with_path(io::Error::other("another process is using it")));
                }
                Err(fs::TryLockError::Error(error)) => {
                    let folder = path.display();
                    tracing::warn!(%error, %folder, "cannot acquire all locks on the directory");
                }
            }
        }
        let opened = DiskFolder { path: path.to_path_buf(), folder, _lock: lock };
        opened.tighten_files()?;
        Ok(opened)
    }

    /// Revokes other users' access to files.
    fn tighten_files(&self) -> io::Result<()> {
        let mut tightened = 0;
        for entry in fs::read_dir(&self.path)? {
            let entry = entry?;
            if entry.file_type()?.is_file() {
                tightened += u64::from(set_mode(&entry.path(), 0o600)?);
            }
        }
        if tightened > 0 {
            let folder = self.path.display();
            tracing::warn!(files = tightened, %folder, "removed other users' access to files");
        }
        Ok(())
    }
}

impl Disk for DiskFolder {
    fn list(&self) -> io::Result<Vec<String>> {
        let names = fs::read_dir(&self.path)?.map(|entry| Ok(entry?.file_name()));
        let names: io::Result<Vec<_>> = names.collect();
        Ok(names?.into_iter().filter_map(|name| name.into_string().ok()).collect())
    }

    fn read(&self, name: &str) -> io::Result<Vec<u8>> {
        fs::read(self.path.join(name))
    }

    fn length(&self, name: &str) -> io::Result<u64> {
        Ok(fs::metadata(self.path.join(name))?.len())
    }

    fn open(&self, name: &str) -> io::Result<Box<dyn DiskFile>> {
        let path = self.path.join(name);
        let mut options = OpenOptions::new();
        options.create(true).truncate(false).write(true).mode(0o600);
        let file = options.open(&path)?;
        let metadata = file.metadata()?;
        if metadata.permissions().mode() & 0o7777 != 0o600 {
            // Set the permissions explicitly, regardless of the process's umask.
            file.set_permissions(fs::Permissions::from_mode(0o600))?;
        }
        Ok(Box::new(OpenFile { file, path, identity: (metadata.dev(), metadata.ino()) }))
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        fs::rename(self.path.join(from), self.path.join(to))
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        fs::remove_file(self.path.join(name))
    }

    fn sync_names(&self) -> io::Result<()> {
        self.folder.sync_all()
    }
}

/// An open file in a [`DiskFolder`].
struct OpenFile {
    file: File,
    path: PathBuf,
    /// The device and inode numbers.
    identity: (u64, u64),
}

impl DiskFile for OpenFile {
    fn write_at(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.file.write_all_at(bytes, offset)
    }

    fn truncate(&mut self, length: u64) -> io::Result<()> {
        self.file.set_len(length)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.file.sync_data()
    }

    fn in_place(&self) -> io::Result<()> {
        // This check takes about a microsecond, whereas a write takes hundreds of microseconds.
        match fs::symlink_metadata(&self.path) {
            Ok(now) if (now.dev(), now.ino()) == self.identity => Ok(()),
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Err(io::Error::other(
                "the file or its directory was removed or replaced while in use",
            )),
        }
    }
}

/// Sets the permission bits; returns true if they were different.
fn set_mode(path: &Path, mode: u32) -> io::Result<bool> {
    let now = fs::metadata(path)?.permissions().mode() & 0o7777;
    if now != mode {
        fs::set_permissions(path, fs::Permissions::from_mode(mode))?;
    }
    Ok(now != mode)
}
