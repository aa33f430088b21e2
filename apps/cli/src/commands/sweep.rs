//! `pavior sweep`: for workflow engines that distribute an experiment's work themselves, lists the
//! replications that are still needed, and runs selected ones.
//!
//! Invariant: the list depends only on the known replications, so neither the workflow engine nor a
//! lost worker can affect the results.

use std::collections::HashSet;
use std::io;
use std::path::Path;
use std::sync::Mutex;

use pavior::experiments::directory::{self, OpenRun, Resume};
use pavior::experiments::{
    InputFiles, JournalEntry, Scenario, Span, Specification, Store, SweepError,
};
use pavior::files::Limits;
use pavior::json;
use pavior::simulation::{Histories, Stop};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::args::{SpansArgs, SweepCommand, SweepCommandArgs, WantedArgs};
use crate::commands::experiment::failure;
use crate::failure::Failure;
use crate::run_directory::{self, Part, read_in};
use crate::{files, logs, output, pool};

/// A range of a point's replications, as JSON. Unlike in a [`Span`], the end is inclusive.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Replications {
    point: usize,
    first: u64,
    last: u64,
}

pub(crate) fn run(args: &SweepCommandArgs) -> Result<(), Failure> {
    match &args.command {
        SweepCommand::Wanted(args) => wanted(args),
        SweepCommand::Run(args) => run_spans(args),
    }
}

/// Reads the experiment in a directory, even if it has not started. Also returns its text.
fn experiment(directory: &Path) -> Result<(String, Specification), Failure> {
    let name = directory::note(directory)?.map(|note| note.run.name);
    read_in(directory, name.as_deref().unwrap_or("experiment"))
}

/// Prints the spans that remain to be run: those that are neither in the directory nor in the parts
/// that were run elsewhere.
fn wanted(args: &WantedArgs) -> Result<(), Failure> {
    let (text, specification) = experiment(&args.directory)?;
    let mut known = directory::known(&args.directory, &specification)?;
    for path in &args.parts {
        let part = Part::read(path)?;
        if part.text != text {
            return Err(Failure::usage(format!(
                "{} does not belong to the experiment in {}",
                files::shown(path),
                files::shown(&args.directory)
            )));
        }
        known.extend(part.entries);
    }
    let spans = cut(&specification.wanted(known), args.most);
    if args.json {
        return output::json(&serde_json::to_value(spans).map_err(io::Error::from)?);
    }
    let rows = spans.iter().map(|&Replications { point, first, last }| {
        let key = specification.points[point].key();
        vec![point.to_string(), first.to_string(), last.to_string(), key]
    });
    let table = output::Table::new(&["point", "first", "last", "parameters"], 4);
    table.with_rows(rows).print(output::width()).map(drop)
}

/// Splits spans into pieces of at most `most` replications.
fn cut(spans: &[Span], most: u64) -> Vec<Replications> {
    let mut all = Vec::new();
    for &Span { point, mut first, end } in spans {
        while first < end {
            let next = end.min(first.saturating_add(most));
            all.push(Replications { point, first, last: next - 1 });
            first = next;
        }
    }
    all
}

/// Runs the replications listed in a file, and stores them as a part of the experiment.
fn run_spans(args: &SpansArgs) -> Result<(), Failure> {
    let (text, specification) = experiment(&args.directory)?;
    let mut spans = read_spans(&args.spans, &specification)?;
    let files = logs::folder(args.directory.clone());
    let run = run_directory::run(&specification, &files, None, "spans".to_string())?;
    let resume = Resume { resume: true, discard_damaged: false };
    let (open, known) = run_directory::begin(&args.out, &run, &text, &specification, resume)?;
    let known: HashSet<(usize, u64)> =
        known.iter().map(|entry| (entry.point, entry.replication)).collect();
    // Spans may overlap, and may include replications that the part already contains.
    spans.sort_unstable_by_key(|span| (span.point, span.first));
    let mut next = (0, 0);
    let places = spans.iter().flat_map(|&Replications { point, first, last }| {
        let (_, first) = next.max((point, first));
        next = next.max((point, last + 1));
        (first..=last).map(move |replication| (point, replication))
    });
    let places: Vec<(usize, u64)> = places.filter(|place| !known.contains(place)).collect();
    let journal = Mutex::new(open);
    pool::install(args.pool.threads, || replicate(&specification, &places, &files, &journal))?
        .map_err(|error| failure(&specification, &args.out, error))
}

/// Reads the spans in a file, and checks that the experiment has these replications.
fn read_spans(path: &Path, specification: &Specification) -> Result<Vec<Replications>, Failure> {
    let text = if path == Path::new("-") {
        io::read_to_string(pavior::files::stdin(Limits::DOCUMENT)?)?
    } else {
        pavior::files::read_text(path, Limits::DOCUMENT)?
    };
    let name = files::shown(path);
    let spans: Vec<Replications> = json::read(text.as_bytes())
        .map_err(|error| Failure::usage(format!("cannot read {name}: {error}")))?;
    let limit = pavior::experiments::Policy::MOST;
    let is_impossible = |span: &&Replications| {
        span.point >= specification.points.len() || span.first > span.last || span.last >= limit
    };
    match spans.iter().find(is_impossible) {
        None => Ok(spans),
        Some(Replications { point, first, last }) => Err(Failure::usage(format!(
            "{name}: replications {first} to {last} of point {point} do not exist; the experiment \
             has {} points with at most {limit} replications each",
            specification.points.len()
        ))),
    }
}

/// Runs replications in parallel, and stores each one as soon as it ends. A replication is
/// identified by its point and number.
fn replicate(
    specification: &Specification,
    places: &[(usize, u64)],
    files: &dyn InputFiles,
    journal: &Mutex<OpenRun>,
) -> Result<(), SweepError> {
    let (histories, stop) = (Histories::default(), Stop::default());
    let points: Vec<&[(usize, u64)]> = places.chunk_by(|a, b| a.0 == b.0).collect();
    points.par_iter().try_for_each(|places| {
        let point = places[0].0;
        let settings = specification.points[point].settings();
        let scenario = Scenario::new(settings, specification.timing, files, &histories)
            .map_err(SweepError::Input)?;
        places.par_iter().try_for_each(|&(point, replication)| {
            let sample = specification
                .replicate(point, &scenario, replication, &stop)
                .map_err(|error| SweepError::Run { point, replication, error })?;
            let mut journal = journal
                .lock()
                .map_err(|_| SweepError::Store(io::Error::other("a thread panicked")))?;
            let entry = JournalEntry { point, replication, sample };
            journal.keep(&entry).map_err(SweepError::Store)
        })
    })
}
