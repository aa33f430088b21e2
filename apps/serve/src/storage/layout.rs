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
use super::files::CUT_INFIX;

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
        if !data.try_exists()? {
            let absolute = std::path::absolute(data)?;
            let missing = absolute.ancestors().take_while(|path| !path.exists());
            let parents: Vec<&Path> = missing.filter_map(Path::parent).collect();
            fs::create_dir_all(data)?;
            // Other users may reach the socket but not write here, regardless of the umask.
            fs::set_permissions(data, Permissions::from_mode(0o755))?;
            parents.into_iter().try_for_each(sync)?;
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
        let (records, is_noted) = (self.data.join(RECORDS), self.data.join(NOTE).try_exists()?);
        if !records.is_dir() {
            self.create_records(&records, is_noted)?;
        }
        // From here on, no other process can open the records.
        let opened = DiskFolder::open(&records)?;
        let is_journal = |name: &String| name.starts_with("journal-") && !name.contains(CUT_INFIX);
        if is_noted && !opened.list()?.iter().any(is_journal) {
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
        sync(&self.data)
    }

    /// Creates the file that shows that records exist.
    ///
    /// # Errors
    /// Returns an error if the file cannot be created.
    pub fn note(&self) -> io::Result<()> {
        File::create(self.data.join(NOTE))?;
        sync(&self.data)
    }
}

/// Makes changes to the names in a directory durable.
fn sync(directory: &Path) -> io::Result<()> {
    File::open(directory)?.sync_all()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn records_that_existed_are_not_replaced_by_new_ones() {
        let folder = tempfile::TempDir::new().unwrap();
        let layout = Layout::new(&folder.path().join("new/data")).unwrap();
        drop(layout.open().unwrap());
        layout.note().unwrap();
        // A saved tail is not a journal.
        let records = layout.data.join(RECORDS);
        fs::write(records.join("journal-00000000000000000001.log.cut-000000000009"), "").unwrap();
        assert!(layout.open().err().unwrap().to_string().contains("no journal in"));
        // Whether records existed cannot be determined.
        fs::remove_dir_all(&records).unwrap();
        fs::remove_file(layout.data.join(NOTE)).unwrap();
        symlink(NOTE, layout.data.join(NOTE)).unwrap();
        assert!(layout.open().is_err() && !records.exists());
    }
}
