//! A folder of files, as the journal needs it: real, or simulated in tests.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// A folder of files.
pub trait Disk: Send + Sync {
    /// The names of the files, in no order.
    ///
    /// # Errors
    /// If the folder cannot be read.
    fn list(&self) -> io::Result<Vec<String>>;

    /// A whole file.
    ///
    /// # Errors
    /// If it cannot be read.
    fn read(&self, name: &str) -> io::Result<Vec<u8>>;

    /// Opens a file for writing; makes an empty one if there is none.
    ///
    /// # Errors
    /// If it cannot be opened.
    fn open(&self, name: &str) -> io::Result<Box<dyn DiskFile>>;

    /// Gives a file another name, in place of the file that bears it.
    ///
    /// # Errors
    /// If it cannot.
    fn rename(&self, from: &str, to: &str) -> io::Result<()>;

    /// Removes a file.
    ///
    /// # Errors
    /// If it cannot.
    fn remove(&self, name: &str) -> io::Result<()>;

    /// Makes the names of files survive the loss of power.
    ///
    /// # Errors
    /// If they may not.
    fn sync_names(&self) -> io::Result<()>;
}

/// A file open for writing.
pub trait DiskFile: Send {
    /// Writes bytes at an offset.
    ///
    /// # Errors
    /// If some of them were not written.
    fn write_at(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()>;

    /// Cuts the file to a length.
    ///
    /// # Errors
    /// If it cannot.
    fn truncate(&mut self, length: u64) -> io::Result<()>;

    /// Makes what was written survive the loss of power.
    ///
    /// # Errors
    /// If it may not: what was written since the last time may be lost, also by a later call.
    fn sync(&mut self) -> io::Result<()>;
}

/// A folder of the file system, locked against other processes for as long as this lives.
pub struct DiskFolder {
    path: PathBuf,
    _lock: File,
}

impl DiskFolder {
    /// Opens a folder, and makes it if there is none.
    ///
    /// # Errors
    /// If it cannot be made, or another process has it.
    pub fn open(path: &Path) -> io::Result<DiskFolder> {
        fs::create_dir_all(path)?;
        let lock = OpenOptions::new().create(true).append(true).open(path.join("lock"))?;
        if let Err(error) = lock.try_lock() {
            let reason = match error {
                fs::TryLockError::WouldBlock => "another process serves from it".to_string(),
                fs::TryLockError::Error(error) => error.to_string(),
            };
            return Err(io::Error::other(format!("{}: {reason}", path.display())));
        }
        Ok(DiskFolder { path: path.to_path_buf(), _lock: lock })
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

    fn open(&self, name: &str) -> io::Result<Box<dyn DiskFile>> {
        let mut options = OpenOptions::new();
        let file = options.create(true).truncate(false).write(true).open(self.path.join(name))?;
        Ok(Box::new(file))
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        fs::rename(self.path.join(from), self.path.join(to))
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        fs::remove_file(self.path.join(name))
    }

    fn sync_names(&self) -> io::Result<()> {
        File::open(&self.path)?.sync_all()
    }
}

impl DiskFile for File {
    fn write_at(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.write_all_at(bytes, offset)
    }

    fn truncate(&mut self, length: u64) -> io::Result<()> {
        self.set_len(length)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.sync_data()
    }
}
