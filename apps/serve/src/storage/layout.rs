//! Where things lie in the folder of the data, and how a folder of a former program becomes one.
//!
//! ```text
//! DATA/pavior.sock                           the socket, for every user
//! DATA/journal/                              the records: for the service's own user alone
//! DATA/journal-00000000000000000001.log      a note for former programs, which looked here
//! ```
//!
//! Former programs kept the records in DATA itself. They are moved one step at a time. A step is
//! found from what is there, so that a move that was cut short goes on where it was. The note is a
//! file that former programs read, and refuse; it is in place before anything has left.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use super::disk::{Disk, DiskFolder};
use super::frame::Frame;

/// The folder of the records.
pub const RECORDS: &str = "journal";
/// The first file of a former program's journal, and the note that takes its place.
const FIRST: &str = "journal-00000000000000000001.log";
/// The note before it bears its name.
const UNNAMED: &str = "note.new";
/// The file that former programs lock.
const LOCK: &str = "lock";

/// The folder of the data.
pub struct Layout {
    data: PathBuf,
}

impl Layout {
    /// The folder of the data, which is made if there is none.
    ///
    /// # Errors
    /// If it cannot be made.
    pub fn new(data: &Path) -> io::Result<Layout> {
        if !data.exists() {
            fs::create_dir_all(data)?;
            // Whatever the umask: other users reach the socket, and do not write here.
            fs::set_permissions(data, fs::Permissions::from_mode(0o755))?;
        }
        Ok(Layout { data: data.to_path_buf() })
    }

    /// Whether nothing was ever kept here.
    pub fn is_fresh(data: &Path) -> bool {
        !data.join(RECORDS).exists() && !data.join(LOCK).exists() && !data.join(FIRST).exists()
    }

    /// The folder of the records.
    pub fn records(&self) -> PathBuf {
        self.data.join(RECORDS)
    }

    /// Makes the folder what it is to be, and opens the records.
    ///
    /// # Errors
    /// If another process has them, or they cannot be opened or moved.
    pub fn open(&self) -> io::Result<DiskFolder> {
        let _former = self.lock_former()?;
        self.make()?;
        // From here on no other process has the records.
        let opened = DiskFolder::open(&self.records())?;
        let mut moved = 0;
        while let Some(file) = self.step()? {
            moved += u64::from(file);
        }
        let records = self.records().display().to_string();
        if moved > 0 {
            opened.tighten_files()?;
            tracing::warn!(files = moved, to = records, "records of a former program are moved");
        }
        if self.is_noted()? && !opened.list()?.iter().any(|name| name.starts_with("journal-")) {
            let text = format!("there is no journal in {records}: restore a backup");
            return Err(io::Error::other(text));
        }
        Ok(opened)
    }

    /// Whether the note says that records were kept here.
    ///
    /// # Errors
    /// If that cannot be found out.
    pub fn is_noted(&self) -> io::Result<bool> {
        match fs::read(self.data.join(FIRST)) {
            Ok(bytes) => Ok(bytes == note()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Says to former programs that the records lie elsewhere.
    ///
    /// # Errors
    /// If the note cannot be written.
    pub fn note(&self) -> io::Result<()> {
        if self.is_noted()? {
            return Ok(());
        }
        let unnamed = self.data.join(UNNAMED);
        let mut options = OpenOptions::new();
        let mut file =
            options.write(true).create(true).truncate(true).mode(0o644).open(&unnamed)?;
        file.write_all(&note())?;
        file.sync_all()?;
        fs::rename(&unnamed, self.data.join(FIRST))?;
        self.sync()
    }

    /// Makes the folder of the records, if it was never there.
    ///
    /// # Errors
    /// If it cannot be made, or has gone.
    pub fn make(&self) -> io::Result<()> {
        let records = self.records();
        if records.is_dir() {
            return Ok(());
        }
        if self.is_noted()? {
            let text = format!("{} is missing: restore it from a backup", records.display());
            return Err(io::Error::other(text));
        }
        fs::DirBuilder::new().mode(0o700).create(&records)?;
        fs::set_permissions(&records, fs::Permissions::from_mode(0o700))?;
        self.sync()
    }

    /// Carries out the next step of a move, and makes it durable; whether a file has left. `None`
    /// if there is nothing to move.
    ///
    /// The first file of the journal is given a second name among the records, and the note takes
    /// its place. Then the other files are moved, and the former lock is removed.
    ///
    /// # Errors
    /// If it cannot be done, or a file stands at both places.
    pub fn step(&self) -> io::Result<Option<bool>> {
        let (records, noted) = (self.records(), self.is_noted()?);
        let name = self.former()?.into_iter().next();
        let twice = |name: &str| records.join(name).exists();
        match name {
            None if !noted || !self.data.join(LOCK).exists() => return Ok(None),
            None => fs::remove_file(self.data.join(LOCK))?,
            Some(_) if !noted => {
                let (first, linked) = (self.data.join(FIRST), records.join(FIRST));
                if !first.exists() || same(&first, &linked)? {
                    self.note()?;
                } else if twice(FIRST) {
                    return Err(self.twice(FIRST));
                } else {
                    fs::hard_link(first, linked)?;
                }
            }
            Some(name) if twice(&name) => return Err(self.twice(&name)),
            Some(name) => {
                fs::rename(self.data.join(&name), records.join(&name))?;
                return self.sync().map(|()| Some(true));
            }
        }
        self.sync().map(|()| Some(false))
    }

    fn sync(&self) -> io::Result<()> {
        File::open(self.records())?.sync_all()?;
        File::open(&self.data)?.sync_all()
    }

    /// A file of a former program whose name another one bears among the records.
    fn twice(&self, name: &str) -> io::Error {
        let data = self.data.display();
        io::Error::other(format!("{name} stands in {data} and in {data}/{RECORDS}: remove one"))
    }

    /// The files of a former program that are still here: those of its journal, and its snapshots.
    fn former(&self) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in fs::read_dir(&self.data)? {
            let Ok(name) = entry?.file_name().into_string() else { continue };
            let ours = name.starts_with("journal-") || name.starts_with("snapshot-");
            if ours && !(name == FIRST && self.is_noted()?) {
                names.push(name);
            }
        }
        names.sort_unstable();
        Ok(names)
    }

    /// Locks what a former program locks, if it has been here: it may still run.
    fn lock_former(&self) -> io::Result<Option<File>> {
        let path = self.data.join(LOCK);
        if !path.exists() || self.former()?.is_empty() {
            return Ok(None);
        }
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600))?;
        let lock = OpenOptions::new().append(true).open(&path)?;
        match lock.try_lock() {
            Err(fs::TryLockError::WouldBlock) => {
                let text = format!("{}: another process serves from it", self.data.display());
                Err(io::Error::other(text))
            }
            _ => Ok(Some(lock)),
        }
    }
}

/// Whether two names lead to one file.
fn same(one: &Path, other: &Path) -> io::Result<bool> {
    let one = fs::metadata(one)?;
    match fs::metadata(other) {
        Ok(other) => Ok((one.dev(), one.ino()) == (other.dev(), other.ino())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// The bytes of the note. A former program takes it for its journal, reads the record, and says
/// that it does not know the kind of it, which is the sentence.
fn note() -> Vec<u8> {
    let kind =
        "a newer pavior keeps the records in the folder `journal` beside this file: start it";
    let body = format!("{{\"seq\":1,\"at_ms\":0,\"event\":\"{kind}\"}}\n");
    Frame { first: 1, count: 0, body: body.as_bytes() }.bytes()
}
