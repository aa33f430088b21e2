//! `pavior experiment`: runs what a file describes, and `pavior merge`: joins its parts.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use pavior_draw::Section;
use pavior_experiments::directory::{self, OpenRun, Resume, Run};
use pavior_experiments::{
    Environment, InputFiles, JournalEntry, Provenance, Samples, Shard, Span, Specification,
    SweepError, schema,
};
use pavior_files::Limits;

use crate::args::{ExperimentArgs, MergeArgs};
use crate::commands::results;
use crate::failure::Failure;
use crate::files;
use crate::logs;
use crate::output::{self, Format};
use crate::pool;
use crate::progress::Bar;
use crate::store;

pub(crate) fn run(args: &ExperimentArgs) -> Result<(), Failure> {
    let Some(file) = args.file.as_deref().filter(|_| !args.schema) else {
        return output::json(&schema());
    };
    let shard = args.shard.as_deref().map_or(Ok(Shard::WHOLE), read_shard)?;
    let text = read_text(file)?;
    let stem = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let specification = read(file, &text, &stem)?;
    let out = args.out.clone().unwrap_or_else(|| PathBuf::from(format!("{stem}-results")));
    let folder = file.parent().unwrap_or(Path::new("")).to_path_buf();
    let files = logs::folder(folder);
    let run = store::run(&specification, &files, None, format!("{}/{}", shard.index, shard.of))?;
    let (mut open, known) = store::begin(&out, &run, &text, &specification, args.sweep.how())?;
    let threads = args.sweep.threads;
    let samples = sweep(&specification, known, shard, &files, &mut open, threads, &out)?;
    let files =
        specification.publish(&samples, &provenance(), Vec::new(), Vec::<Section>::new())?;
    store::finish(&open, &files, &out)?;
    let same_jobs = results::check_stuck_jobs(&specification, &samples);
    show(args.sweep.format, &specification, &samples, &files)?;
    same_jobs
}

/// The command that makes the same numbers again, whatever was typed to make them here.
fn provenance() -> Provenance {
    Provenance {
        version: env!("CARGO_PKG_VERSION").to_string(),
        command: format!("pavior experiment {}", store::EXPERIMENT),
    }
}

/// Runs what is not known yet.
pub(crate) fn sweep(
    specification: &Specification,
    known: Vec<JournalEntry>,
    shard: Shard,
    files: &dyn InputFiles,
    store: &mut OpenRun,
    threads: Option<usize>,
    out: &Path,
) -> Result<Samples, Failure> {
    let bar = Bar::new(&specification.name);
    let environment = Environment { files, progress: &bar, recording: None, stop: None };
    let samples = pool::install(threads, || specification.run(known, shard, environment, store))?;
    bar.finish();
    samples.map_err(|error| failure(specification, out, error))
}

/// Why a sweep ended early.
pub(crate) fn failure(specification: &Specification, out: &Path, error: SweepError) -> Failure {
    match error {
        SweepError::Input(error) => Failure::of_input(error),
        SweepError::Run { point, replication, error } => Failure::usage(format!(
            "replication {replication} of {}: {error}",
            specification.points[point].key()
        )),
        SweepError::Stopped => Failure::Other("stopped".into()),
        SweepError::Store(error) => Failure::Other(format!(
            "cannot write in {}: {error}; what was finished before is kept, and --resume goes on \
             from there",
            files::shown(out)
        )),
    }
}

/// Prints the results as the files have them.
pub(crate) fn show(
    format: Option<Format>,
    specification: &Specification,
    samples: &Samples,
    files: &[pavior_experiments::Publication],
) -> Result<(), Failure> {
    let file = |name: &str| {
        let file = files.iter().find(|file| file.name == name);
        String::from_utf8_lossy(file.map_or(&[][..], |file| &file.bytes))
    };
    match Format::or_default(format) {
        Format::Json => output::json_text(&file("results.json")),
        Format::Csv => output::plain(&file("results.csv")),
        Format::Table => {
            let table = specification.overview(samples);
            let header: Vec<&str> = table.header.iter().map(String::as_str).collect();
            let mut printed = output::Table::new(&header, table.words);
            table.rows.into_iter().for_each(|row| printed.row(row));
            printed.print(output::width()).map(drop)
        }
    }
}

pub(crate) fn merge(args: &MergeArgs) -> Result<(), Failure> {
    let mut shards = args.shards.iter().map(|path| Part::read(path));
    let first = shards.next().expect("clap asks for one at least")?;
    let mut all: HashMap<(usize, u64), JournalEntry> = HashMap::new();
    for part in std::iter::once(Ok(first.clone())).chain(shards) {
        let part = part?;
        if part.run.fingerprint != first.run.fingerprint || part.text != first.text {
            return Err(Failure::usage(format!(
                "{} and {} are not parts of the same experiment",
                files::shown(&first.path),
                files::shown(&part.path)
            )));
        }
        for entry in part.entries {
            let key = (entry.point, entry.replication);
            match all.get(&key) {
                Some(other) if !other.sample.same(&entry.sample) => {
                    return Err(Failure::usage(format!(
                        "replication {} of point {} is not the same in {} as in an earlier \
                         directory",
                        entry.replication,
                        entry.point,
                        files::shown(&part.path)
                    )));
                }
                Some(_) => {}
                None => drop(all.insert(key, entry)),
            }
        }
    }
    let specification = first.specification;
    let samples = specification.complete(all.into_values().collect()).map_err(|wanted| {
        let mut open: Vec<usize> = wanted.iter().map(|span| span.point).collect();
        open.dedup();
        let missing: u64 = wanted.iter().map(Span::runs).sum();
        Failure::usage(format!(
            "{} of {} points are not finished in any of these directories, the first of them: {}; \
             {missing} replications are wanted next, which `pavior sweep wanted` lists",
            open.len(),
            specification.points.len(),
            specification.points[open[0]].key()
        ))
    })?;
    let run = Run { shard: "1/1".to_string(), command: store::typed(), ..first.run };
    let (open, _) = store::begin(&args.out, &run, &first.text, &specification, Resume::default())?;
    let files =
        specification.publish(&samples, &provenance(), Vec::new(), Vec::<Section>::new())?;
    store::finish(&open, &files, &args.out)?;
    results::check_stuck_jobs(&specification, &samples)
}

/// A directory that is merged.
#[derive(Clone)]
pub(crate) struct Part {
    path: PathBuf,
    run: Run,
    pub(crate) text: String,
    specification: Specification,
    pub(crate) entries: Vec<JournalEntry>,
}

impl Part {
    pub(crate) fn read(path: &Path) -> Result<Part, Failure> {
        let run = store::note(path)?.run;
        let (text, specification) = described(path, &run.name)?;
        let entries = directory::known(path, &specification)?;
        Ok(Part { path: path.to_path_buf(), run, text, specification, entries })
    }
}

/// The experiment of a directory.
pub(crate) fn described(directory: &Path, name: &str) -> Result<(String, Specification), Failure> {
    let file = directory.join(store::EXPERIMENT);
    let text = read_text(&file)?;
    let specification = read(&file, &text, name)?;
    Ok((text, specification))
}

fn read_text(file: &Path) -> Result<String, Failure> {
    Ok(pavior_files::read_text(file, Limits::DOCUMENT)?)
}

/// Reads an experiment; a fault is underlined in its line.
fn read(file: &Path, text: &str, name: &str) -> Result<Specification, Failure> {
    Specification::parse(text, name)
        .map_err(|error| Failure::in_file(file, text, error.reason, &error.span))
}

/// `2/5`.
fn read_shard(typed: &str) -> Result<Shard, Failure> {
    let shard = typed
        .split_once('/')
        .and_then(|(index, of)| Some(Shard { index: index.parse().ok()?, of: of.parse().ok()? }));
    match shard {
        Some(shard) if shard.index >= 1 && shard.index <= shard.of => Ok(shard),
        _ => Err(Failure::usage(format!(
            "--shard {typed}: write 1/4 for the first of four parts, 4/4 for the last"
        ))),
    }
}
