//! The layout of the data directory.
//!
//! ```text
//! DATA/pavior.sock              the socket, open to every user
//! DATA/journal/                 the records, open only to the service's user
//! DATA/records-are-in-journal   shows that records existed, in case the directory is lost
//! ```

use std::fs::{self, DirBuilder, File, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};

use super::disk::{Disk, DiskFolder};

/// The directory for records.
const RECORDS: &str = "journal";
/// The name of an empty file that shows that records exist.
const NOTE: &str = "records-are-in-journal";

/// The data directory.
pub struct Layout {
    data: PathBuf,
}

impl Layout {
    /// Returns the data directory, creating it if it does not exist.
    ///
    /// # Errors
    /// Returns an error if the directory cannot be created.
    pub fn new(data: &Path) -> io::Result<Layout> {
        if !data.exists() {
            fs::create_dir_all(data)?;
            // Other users may reach the socket but not write here, regardless of the umask.
            fs::set_permissions(data, Permissions::from_mode(0o755))?;
        } else if !data.is_dir() {
            return Err(io::Error::other("it is not a directory"));
        }
        Ok(Layout { data: data.to_path_buf() })
    }

    /// Opens the directory for records, creating it only if no records have ever existed.
    ///
    /// # Errors
    /// Returns an error if the directory is missing, cannot be opened, or is locked by another
    /// process.
    pub fn open(&self) -> io::Result<DiskFolder> {
        let (records, is_noted) = (self.data.join(RECORDS), self.data.join(NOTE).exists());
        if !records.is_dir() {
            self.create_records(&records, is_noted)?;
        }
        // From here on, no other process can open the records.
        let opened = DiskFolder::open(&records)?;
        if is_noted && !opened.list()?.iter().any(|name| name.starts_with("journal-")) {
            let text = format!("no journal in {}; restore a backup", records.display());
            return Err(io::Error::other(text));
        }
        Ok(opened)
    }

    fn create_records(&self, records: &Path, is_noted: bool) -> io::Result<()> {
        if is_noted {
            let text = format!("{} is missing; restore it from a backup", records.display());
            return Err(io::Error::other(text));
        }
        DirBuilder::new().mode(0o700).create(records)?;
        fs::set_permissions(records, Permissions::from_mode(0o700))?;
        self.sync()
    }

    /// Creates the file that shows that records exist.
    ///
    /// # Errors
    /// Returns an error if the file cannot be created.
    pub fn note(&self) -> io::Result<()> {
        File::create(self.data.join(NOTE))?;
        self.sync()
    }

    fn sync(&self) -> io::Result<()> {
        File::open(&self.data)?.sync_all()
    }
}
