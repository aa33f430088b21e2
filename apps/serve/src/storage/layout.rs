//! The layout of the data folder.
//!
//! ```text
//! DATA/pavior.sock              the socket, for every user
//! DATA/journal/                 the records, only for the service's user
//! DATA/records-are-in-journal   shows that records existed, in case the folder is lost
//! ```

use std::fs::{self, DirBuilder, File, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};

use super::disk::{Disk, DiskFolder};

/// The folder of the records.
const RECORDS: &str = "journal";
/// The empty file that shows that records exist.
const NOTE: &str = "records-are-in-journal";
/// A file that builds before 0.1.0 created directly in DATA.
const FORMER_LOCK: &str = "lock";

/// The data folder.
pub struct Layout {
    data: PathBuf,
}

impl Layout {
    /// Returns the data folder, creating it if it does not exist.
    ///
    /// # Errors
    /// Returns an error if it cannot be created.
    pub fn new(data: &Path) -> io::Result<Layout> {
        if !data.exists() {
            fs::create_dir_all(data)?;
            // Set regardless of the umask: other users may reach the socket but not write here.
            fs::set_permissions(data, Permissions::from_mode(0o755))?;
        } else if !data.is_dir() {
            return Err(io::Error::other("it is a file, not a folder"));
        }
        Ok(Layout { data: data.to_path_buf() })
    }

    /// Returns true if nothing was ever stored here.
    pub fn is_fresh(data: &Path) -> bool {
        [RECORDS, NOTE, FORMER_LOCK].iter().all(|name| !data.join(name).exists())
    }

    /// Opens the folder of the records, creating it if no records ever existed.
    ///
    /// # Errors
    /// Returns an error if the folder is locked by another process, missing, or cannot be opened,
    /// or if a build before 0.1.0 stored records here.
    pub fn open(&self) -> io::Result<DiskFolder> {
        let (records, noted) = (self.data.join(RECORDS), self.data.join(NOTE).exists());
        let shown = records.display();
        if !records.is_dir() {
            self.make(&records, noted)?;
        }
        // From here on, other processes cannot open the records.
        let opened = DiskFolder::open(&records)?;
        if noted && !opened.list()?.iter().any(|name| name.starts_with("journal-")) {
            let text = format!("there is no journal in {shown}: restore a backup");
            return Err(io::Error::other(text));
        }
        Ok(opened)
    }

    fn make(&self, records: &Path, noted: bool) -> io::Result<()> {
        if noted {
            let text = format!("{} is missing: restore it from a backup", records.display());
            return Err(io::Error::other(text));
        }
        if self.data.join(FORMER_LOCK).exists() {
            let text = format!(
                "{}: records written by builds before 0.1.0 cannot be read: use an empty folder",
                self.data.display()
            );
            return Err(io::Error::other(text));
        }
        DirBuilder::new().mode(0o700).create(records)?;
        fs::set_permissions(records, Permissions::from_mode(0o700))?;
        self.sync()
    }

    /// Notes that records exist.
    ///
    /// # Errors
    /// Returns an error if the note cannot be written.
    pub fn note(&self) -> io::Result<()> {
        File::create(self.data.join(NOTE))?;
        self.sync()
    }

    fn sync(&self) -> io::Result<()> {
        File::open(&self.data)?.sync_all()
    }
}
