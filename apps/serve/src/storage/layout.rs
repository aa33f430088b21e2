//! The layout of the folder of the data.
//!
//! ```text
//! DATA/pavior.sock              the socket, for every user
//! DATA/journal/                 the records: for the service's own user alone
//! DATA/records-are-in-journal   a note that there were records, should the folder go
//! ```

use std::fs::{self, DirBuilder, File, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};

use super::disk::{Disk, DiskFolder};

/// The folder of the records.
const RECORDS: &str = "journal";
/// The empty file that says that there were records.
const NOTE: &str = "records-are-in-journal";
/// The file that builds from before 0.1.0 made in DATA itself before any other.
const FORMER_LOCK: &str = "lock";

/// The folder of the data.
pub struct Layout {
    data: PathBuf,
}

impl Layout {
    /// Returns the folder of the data, which is made if there is none.
    ///
    /// # Errors
    /// If it cannot be made.
    pub fn new(data: &Path) -> io::Result<Layout> {
        if !data.exists() {
            fs::create_dir_all(data)?;
            // Whatever the umask: other users reach the socket, and do not write here.
            fs::set_permissions(data, Permissions::from_mode(0o755))?;
        } else if !data.is_dir() {
            return Err(io::Error::other("it is a file, and no folder"));
        }
        Ok(Layout { data: data.to_path_buf() })
    }

    /// Returns true if nothing was ever kept here.
    pub fn is_fresh(data: &Path) -> bool {
        [RECORDS, NOTE, FORMER_LOCK].iter().all(|name| !data.join(name).exists())
    }

    /// Opens the records; their folder is made if there never were any.
    ///
    /// # Errors
    /// If another process has them, they have gone, or they cannot be opened; or if a build from
    /// before 0.1.0 kept its records here.
    pub fn open(&self) -> io::Result<DiskFolder> {
        let (records, noted) = (self.data.join(RECORDS), self.data.join(NOTE).exists());
        let shown = records.display();
        if !records.is_dir() {
            self.make(&records, noted)?;
        }
        // From here on no other process has the records.
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
                "{}: the records of a build from before 0.1.0 are not read: name an empty folder",
                self.data.display()
            );
            return Err(io::Error::other(text));
        }
        DirBuilder::new().mode(0o700).create(records)?;
        fs::set_permissions(records, Permissions::from_mode(0o700))?;
        self.sync()
    }

    /// Notes that there are records.
    ///
    /// # Errors
    /// If the note cannot be written.
    pub fn note(&self) -> io::Result<()> {
        File::create(self.data.join(NOTE))?;
        self.sync()
    }

    fn sync(&self) -> io::Result<()> {
        File::open(&self.data)?.sync_all()
    }
}
