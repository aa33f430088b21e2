//! `pavior experiment`: runs an experiment file.

use std::path::{Path, PathBuf};

use pavior::experiments::directory::OpenRun;
use pavior::experiments::{
    Environment, InputFiles, JournalEntry, Provenance, Publication, Samples, Shard, Specification,
    SweepError, schema,
};

use crate::args::ExperimentArgs;
use crate::commands::results;
use crate::failure::Failure;
use crate::output::{self, Format};
use crate::progress::Bar;
use crate::run_directory::{self, EXPERIMENT};
use crate::{files, input, logs, pool};

pub(crate) fn run(args: &ExperimentArgs) -> Result<(), Failure> {
    let Some(file) = args.file.as_deref().filter(|_| !args.schema) else {
        return output::json(&schema());
    };
    let shard = args.shard.as_deref().map_or(Ok(Shard::WHOLE), read_shard)?;
    let stem = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let (text, specification) = if args.skip_unsupported {
        run_directory::read_skipping(file, &stem)?
    } else {
        run_directory::read(file, &stem)?
    };
    say_left_out(&specification);
    let out = args.out.clone().unwrap_or_else(|| PathBuf::from(format!("{stem}-results")));
    let inputs = logs::folder(file.parent().unwrap_or(Path::new("")).to_path_buf());
    let part = format!("{}/{}", shard.index, shard.of);
    let run = run_directory::run(&specification, &inputs, None, part)?;
    let resume = args.sweep.resume_options();
    let (mut open, known) = run_directory::begin(&out, &run, &text, &specification, resume)?;
    let threads = args.sweep.pool.threads;
    let samples = sweep(&specification, known, shard, &inputs, &mut open, threads)?;
    let files = publish(&specification, &samples, &open)?;
    let comparable = results::check_stuck_jobs(&specification, &samples);
    show(args.sweep.output.format(), &specification, &samples, &files)?;
    comparable
}

/// Reports the points that were skipped.
pub(crate) fn say_left_out(specification: &Specification) {
    if let Some(sentence) = specification.left_out_in_words() {
        input::say_left_out(&sentence);
    }
}

/// Writes the result files of a finished experiment. The files contain the command that reproduces
/// the numbers, even if the user ran a different command.
pub(crate) fn publish(
    specification: &Specification,
    samples: &Samples,
    open: &OpenRun,
) -> Result<Vec<Publication>, Failure> {
    let from = Provenance {
        version: env!("CARGO_PKG_VERSION").to_string(),
        command: format!("pavior experiment {EXPERIMENT}"),
    };
    let files = specification.publish(samples, &from, Vec::new(), Vec::new())?;
    run_directory::finish(open, &files)?;
    Ok(files)
}

/// Runs the missing replications, storing each one in the open directory as it finishes.
pub(crate) fn sweep(
    specification: &Specification,
    known: Vec<JournalEntry>,
    shard: Shard,
    files: &dyn InputFiles,
    open: &mut OpenRun,
    threads: Option<usize>,
) -> Result<Samples, Failure> {
    let samples = Bar::during(&specification.name, |bar| {
        let environment = Environment { files, progress: bar, ..Environment::PLAIN };
        pool::install(threads, || specification.run(known, shard, environment, open))
    })?;
    samples.map_err(|error| failure(specification, open.path(), error))
}

/// Converts the error that stopped a sweep into a failure.
pub(crate) fn failure(specification: &Specification, out: &Path, error: SweepError) -> Failure {
    match error {
        SweepError::Input(error) => Failure::from_input(error),
        SweepError::Run { point, replication, error } => Failure::usage(format!(
            "replication {replication} of {}: {error}",
            specification.points[point].key()
        )),
        SweepError::Stopped => Failure::Other("stopped".into()),
        SweepError::Store(error) => Failure::Other(format!(
            "cannot write to {}: {error}. Finished replications are kept; to run the rest, repeat \
             `sweep run`, or add --resume to any other command",
            files::shown(out)
        )),
    }
}

/// Prints the same results that the files contain.
pub(crate) fn show(
    format: Format,
    specification: &Specification,
    samples: &Samples,
    files: &[Publication],
) -> Result<(), Failure> {
    let text_of = |name: &str| {
        let file = files.iter().find(|file| file.name == name);
        String::from_utf8_lossy(file.map_or(&[][..], |file| &file.bytes))
    };
    match format {
        Format::Json => output::json_text(&text_of("results.json")),
        Format::Csv => output::plain(&text_of("results.csv")),
        Format::Table => {
            let table = specification.overview(samples);
            let header: Vec<&str> = table.header.iter().map(String::as_str).collect();
            let printed = output::Table::new(&header, table.words).with_rows(table.rows);
            printed.print(output::width())?;
            let overloaded = specification.overloaded_in_words(samples);
            overloaded.map_or(Ok(()), |sentence| output::text(&sentence, output::width()))
        }
    }
}

/// Parses a shard such as `2/5`.
fn read_shard(typed: &str) -> Result<Shard, Failure> {
    let shard = typed
        .split_once('/')
        .and_then(|(index, of)| Some(Shard { index: index.parse().ok()?, of: of.parse().ok()? }));
    match shard {
        Some(shard) if shard.index >= 1 && shard.index <= shard.of => Ok(shard),
        _ => Err(Failure::usage(format!(
            "--shard {typed}: expected I/N with I from 1 to N, such as 1/4 for the first of four \
             shards"
        ))),
    }
}
