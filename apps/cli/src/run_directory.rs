//! Wrappers around operations on experiment directories, which convert errors to command failures
//! and report the files written.

use std::path::{Path, PathBuf};

use pavior::BadName;
use pavior::experiments::directory::{
    self, Directory, DirectoryError, Note, OpenRun, Reproduced, Resume, Run,
};
use pavior::experiments::parameters::SKIP_UNSUPPORTED;
use pavior::experiments::{InputFiles, JournalEntry, Publication, Specification};
use pavior::files::{FileError, Limits};

use crate::failure::Failure;
use crate::files;

pub(crate) use pavior::experiments::directory::EXPERIMENT;

/// Returns the description of a run for `run.json`. `shard` is the part of the experiment to run.
pub(crate) fn run(
    specification: &Specification,
    files: &dyn InputFiles,
    reproduced: Option<Reproduced>,
    shard: String,
) -> Result<Run, Failure> {
    Ok(Run {
        name: specification.name.clone(),
        fingerprint: specification.fingerprint(files).map_err(Failure::from_input)?,
        reproduced,
        shard,
        command: command_line(),
    })
}

/// Returns the command line with which the program was started.
pub(crate) fn command_line() -> String {
    let words = std::env::args_os().map(|word| word.to_string_lossy().into_owned());
    words.collect::<Vec<_>>().join(" ")
}

/// Begins a run in a directory, reports damaged lines, and returns the replications already known.
pub(crate) fn begin(
    out: &Path,
    run: &Run,
    text: &str,
    specification: &Specification,
    resume: Resume,
) -> Result<(OpenRun, Vec<JournalEntry>), Failure> {
    let (open, known) = Directory::open(out)?.begin(run, text, specification, resume)?;
    if known.discarded > 0 {
        eprintln!("ignored {} damaged lines; their replications will be rerun", known.discarded);
    }
    Ok((open, known.entries))
}

/// Writes the files of a completed run.
pub(crate) fn finish(open: &OpenRun, files: &[Publication]) -> Result<(), Failure> {
    open.finish(files).map_err(|error| match error {
        DirectoryError::File(FileError::Write { .. }) => Failure::Other(format!(
            "{error}. All replications are kept; use --resume to write the missing files"
        )),
        other => other.into(),
    })?;
    eprintln!("written to {}", files::shown(open.path()));
    Ok(())
}

/// Reads the note that describes a directory's contents.
pub(crate) fn note(directory: &Path) -> Result<Note, Failure> {
    directory::note(directory)?.ok_or_else(|| {
        Failure::usage(format!("{} contains no experiment", files::shown(directory)))
    })
}

/// A directory that contains replications of an experiment.
pub(crate) struct Part {
    pub(crate) path: PathBuf,
    pub(crate) run: Run,
    pub(crate) text: String,
    pub(crate) specification: Specification,
    pub(crate) entries: Vec<JournalEntry>,
}

impl Part {
    pub(crate) fn read(path: &Path) -> Result<Part, Failure> {
        let run = note(path)?.run;
        let (text, specification) = read_in(path, &run.name)?;
        let entries = directory::known(path, &specification)?;
        Ok(Part { path: path.to_path_buf(), run, text, specification, entries })
    }
}

/// Returns the experiment in a directory and the experiment's text.
pub(crate) fn read_in(directory: &Path, name: &str) -> Result<(String, Specification), Failure> {
    read(&directory.join(EXPERIMENT), name)
}

/// Reads an experiment and its text. Error messages underline the invalid part of the line.
pub(crate) fn read(file: &Path, name: &str) -> Result<(String, Specification), Failure> {
    let text = pavior::files::read_text(file, Limits::DOCUMENT)?;
    let specification = Specification::parse(&text, name)
        .map_err(|error| Failure::in_file(file, &text, error.reason, &error.span))?;
    Ok((text, specification))
}

/// Reads an experiment, and skips combinations that do not apply. The returned text is the key that
/// skips these combinations, followed by the file's text, so running that text later skips the same
/// combinations.
pub(crate) fn read_skipping(file: &Path, name: &str) -> Result<(String, Specification), Failure> {
    let text = pavior::files::read_text(file, Limits::DOCUMENT)?;
    let failure = |error: BadName| Failure::in_file(file, &text, error.reason, &error.span);
    let key_line = format!("{SKIP_UNSUPPORTED} = true\n");
    let described = match Specification::states_skipping(&text).map_err(failure)? {
        None => format!("{key_line}{text}"),
        Some(true) => text.clone(),
        Some(false) => {
            return Err(Failure::usage(format!(
                "{} sets {SKIP_UNSUPPORTED} = false; remove that line or omit --{SKIP_UNSUPPORTED}",
                files::shown(file)
            )));
        }
    };
    let added = described.len() - text.len();
    let specification =
        Specification::parse(&described, name).map_err(|BadName { reason, span }| {
            let [start, end] = [span.start, span.end].map(|at| at.saturating_sub(added));
            failure(BadName { reason, span: start..end })
        })?;
    Ok((described, specification))
}

impl From<DirectoryError> for Failure {
    fn from(error: DirectoryError) -> Failure {
        Failure::of(&error, error.is_usage())
    }
}
