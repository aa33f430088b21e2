//! The directory of an experiment: what it holds of replications, over `pavior_files::Directory`.
//!
//! While an experiment runs, finished replications are lines of `journal`. When it is done they are
//! in `replications.csv` and `timings.csv`, and the journal goes. `run.json` says what the
//! directory holds, from the first moment.

use std::io;
use std::path::Path;
use std::sync::Mutex;

use pavior_experiments::{JournalEntry, Publication, Specification, Store};
use pavior_files::{FileError, Limits, Note, Resume, replications};

use crate::failure::Failure;
use crate::files;

/// The experiment's own file, copied into its directory.
pub(crate) const EXPERIMENT: &str = "experiment.toml";

const REPLICATIONS: &str = "replications.csv";
const TIMINGS: &str = "timings.csv";

/// A directory that this process alone may change.
pub(crate) struct Directory {
    inner: pavior_files::Directory,
    /// What was begun: the run, and the journal's lines.
    begun: Mutex<Option<(pavior_files::Run, Vec<String>)>>,
}

/// What a run is, as `run.json` has it.
#[derive(Clone, Debug)]
pub(crate) struct Run {
    /// The name of the experiment.
    pub(crate) name: String,
    /// The digest of what results depend on.
    pub(crate) fingerprint: String,
    /// The paper that is reproduced, and whether quickly.
    pub(crate) paper: Option<(String, bool)>,
    /// The part of the points.
    pub(crate) shard: String,
}

impl Run {
    fn noted(&self) -> pavior_files::Run {
        let arguments: Vec<String> = std::env::args().collect();
        pavior_files::Run {
            name: self.name.clone(),
            fingerprint: self.fingerprint.clone(),
            version: env!("CARGO_PKG_VERSION").to_string(),
            paper: self.paper.clone(),
            shard: self.shard.clone(),
            command: arguments.join(" "),
        }
    }
}

impl Directory {
    /// Makes a directory where there is none, and locks it.
    pub(crate) fn open(path: &Path) -> Result<Directory, Failure> {
        Ok(Directory::of(pavior_files::Directory::open(path)?))
    }

    /// The same for a directory of directories, whatever it holds.
    pub(crate) fn lock(path: &Path) -> Result<Directory, Failure> {
        Ok(Directory::of(pavior_files::Directory::lock(path)?))
    }

    fn of(inner: pavior_files::Directory) -> Directory {
        Directory { inner, begun: Mutex::new(None) }
    }

    /// Prepares for a run: a new one in an empty directory, or, to resume it, the same one again.
    /// Returns what is known already.
    pub(crate) fn begin(
        &self,
        run: &Run,
        text: &str,
        specification: &Specification,
        how: Resume,
    ) -> Result<Vec<JournalEntry>, Failure> {
        let noted = run.noted();
        let known = self.inner.begin(&noted, (EXPERIMENT, text), how)?;
        let path = self.inner.path();
        let (entries, damaged) =
            replications(path, specification, &known.journal, how.discard_damaged)?;
        let discarded = known.discarded + damaged;
        if discarded > 0 {
            eprintln!("{discarded} damaged lines are left out; what they held is run anew");
        }
        *self.begun.lock().map_err(|_| poisoned())? = Some((noted, known.journal));
        Ok(entries)
    }

    /// The journal, ready for more lines. Lines that were cut are taken out first.
    pub(crate) fn journal(&self) -> Result<Journal, Failure> {
        let begun = self.begun.lock().map_err(|_| poisoned())?;
        let (run, lines) = begun.as_ref().ok_or_else(poisoned)?;
        Ok(Journal(self.inner.journal(run, lines)?))
    }

    /// Writes the results, and takes the journal away when they are safe.
    pub(crate) fn finish(&self, run: &Run, publications: &[Publication]) -> Result<(), Failure> {
        let text = read_if_there(&self.inner.path().join(EXPERIMENT))?;
        let files = publications.iter().map(|file| (file.name.as_str(), file.bytes.as_slice()));
        let files = files.chain([(EXPERIMENT, text.as_bytes())]);
        self.inner.finish(&run.noted(), files).map_err(|error| match error {
            FileError::Write { .. } => Failure::Other(format!(
                "{error}; every replication is kept, and --resume writes what is missing"
            )),
            usage => usage.into(),
        })
    }

    pub(crate) fn write(&self, name: &str, bytes: &[u8]) -> Result<(), Failure> {
        Ok(self.inner.write(name, bytes)?)
    }
}

fn poisoned() -> Failure {
    Failure::Other("the journal is not ready".into())
}

/// The journal of a run.
pub(crate) struct Journal(pavior_files::Journal);

impl Store for Journal {
    /// One write of a whole line: when it returns, the line outlives the process.
    fn keep(&mut self, entry: &JournalEntry) -> io::Result<()> {
        self.0.keep(&entry.line())
    }
}

/// What a directory says that it holds; none if it holds no experiment.
pub(crate) fn read_run(directory: &Path) -> Result<Option<Run>, Failure> {
    let note = pavior_files::note(directory)?;
    Ok(note.map(|Note { run, .. }| Run {
        name: run.name,
        fingerprint: run.fingerprint,
        paper: run.paper,
        shard: run.shard,
    }))
}

/// Refuses a directory one of whose files was changed since it was written.
pub(crate) fn verify(directory: &Path, names: &[&str]) -> Result<(), Failure> {
    let Some(note) = pavior_files::note(directory)? else { return Ok(()) };
    Ok(names.iter().try_for_each(|name| pavior_files::verify(directory, &note, name))?)
}

/// Every replication that a directory holds, finished or not; none of it damaged.
pub(crate) fn known(directory: &Path, spec: &Specification) -> Result<Vec<JournalEntry>, Failure> {
    let Some(note) = pavior_files::note(directory)? else { return Ok(Vec::new()) };
    let journal = pavior_files::known(directory, &note.run.fingerprint, false)?.journal;
    let (entries, _) = replications(directory, spec, &journal, false)?;
    verify(directory, &[EXPERIMENT, REPLICATIONS, TIMINGS])?;
    Ok(entries)
}

/// A file's text; empty where there is no file. Bytes that are no text are replaced: what they
/// stand in is damaged, and is found so.
pub(crate) fn read_if_there(path: &Path) -> Result<String, Failure> {
    if !path.exists() {
        return Ok(String::new());
    }
    let mut bytes = Vec::new();
    let mut reader = pavior_files::open(path, Limits::LINES)?;
    io::Read::read_to_end(&mut reader, &mut bytes)
        .map_err(|error| Failure::usage(format!("cannot read {}: {error}", files::shown(path))))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
