//! The directory of an experiment, as commands use it.

use std::path::Path;

use pavior_experiments::directory::{self, Directory, DirectoryError, Note, OpenRun, Resume, Run};
use pavior_experiments::{InputFiles, JournalEntry, Publication, Specification};
use pavior_files::FileError;

use crate::failure::Failure;
use crate::files;

pub(crate) use pavior_experiments::directory::EXPERIMENT;

/// What a run is, as `run.json` has it. A paper that is reproduced is given with whether quickly.
pub(crate) fn run(
    specification: &Specification,
    files: &dyn InputFiles,
    paper: Option<(String, bool)>,
    shard: String,
) -> Result<Run, Failure> {
    Ok(Run {
        name: specification.name.clone(),
        fingerprint: specification.fingerprint(files).map_err(Failure::of_input)?,
        paper,
        shard,
        command: typed(),
    })
}

/// The command that was typed.
pub(crate) fn typed() -> String {
    std::env::args().collect::<Vec<_>>().join(" ")
}

/// Begins a run in a directory, and says what was damaged there. Gives what is known already.
pub(crate) fn begin(
    out: &Path,
    run: &Run,
    text: &str,
    specification: &Specification,
    how: Resume,
) -> Result<(OpenRun, Vec<JournalEntry>), Failure> {
    let (open, known) = Directory::open(out)?.begin(run, text, specification, how)?;
    if known.discarded > 0 {
        eprintln!("{} damaged lines are left out; what they held is run anew", known.discarded);
    }
    Ok((open, known.entries))
}

/// Writes the files of a run that is done.
pub(crate) fn finish(open: &OpenRun, files: &[Publication], out: &Path) -> Result<(), Failure> {
    open.finish(files).map_err(|error| match error {
        DirectoryError::File(FileError::Write { .. }) => Failure::Other(format!(
            "{error}; every replication is kept, and --resume writes what is missing"
        )),
        other => other.into(),
    })?;
    eprintln!("written to {}", files::shown(out));
    Ok(())
}

/// What a directory says that it holds.
pub(crate) fn note(directory: &Path) -> Result<Note, Failure> {
    directory::note(directory)?
        .ok_or_else(|| Failure::usage(format!("{} holds no experiment", files::shown(directory))))
}

impl From<DirectoryError> for Failure {
    fn from(error: DirectoryError) -> Failure {
        if error.is_usage() {
            Failure::usage(error.to_string())
        } else {
            Failure::Other(error.to_string())
        }
    }
}
