//! `pavior merge`: merges the shards of an experiment.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use pavior::experiments::directory::{Resume, Run};
use pavior::experiments::{JournalEntry, Span};

use crate::args::MergeArgs;
use crate::commands::{experiment, results};
use crate::failure::Failure;
use crate::files;
use crate::run_directory::{self, Part};

pub(crate) fn run(args: &MergeArgs) -> Result<(), Failure> {
    let parts = args.shards.iter().map(|path| Part::read(path));
    let mut parts = parts.collect::<Result<Vec<Part>, Failure>>()?;
    let entries = join(&mut parts)?;
    let Part { run, text, specification, .. } = parts.swap_remove(0);
    let samples = specification.complete(entries).map_err(|wanted| {
        let mut open: Vec<usize> = wanted.iter().map(|span| span.point).collect();
        open.dedup();
        let missing: u64 = wanted.iter().map(Span::runs).sum();
        Failure::usage(format!(
            "{} of {} points are incomplete in these directories combined (the first is {}); \
             `pavior sweep wanted` lists the next {missing} replications to run",
            open.len(),
            specification.points.len(),
            specification.points[open[0]].key()
        ))
    })?;
    experiment::say_left_out(&specification);
    let run = Run { shard: "1/1".to_string(), command: run_directory::command_line(), ..run };
    let resume = Resume::default();
    let (open, _) = run_directory::begin(&args.out, &run, &text, &specification, resume)?;
    experiment::publish(&specification, &samples, &open)?;
    results::check_stuck_jobs(&specification, &samples)
}

/// Combines the replications from all parts so that each one appears exactly once in the result.
///
/// # Errors
/// Returns an error if the parts belong to different experiments, or if two parts disagree about a
/// replication.
fn join(parts: &mut [Part]) -> Result<Vec<JournalEntry>, Failure> {
    let mut all: HashMap<(usize, u64), JournalEntry> = HashMap::new();
    for index in 0..parts.len() {
        let entries = std::mem::take(&mut parts[index].entries);
        let (first, part) = (&parts[0], &parts[index]);
        if part.run.fingerprint != first.run.fingerprint || part.text != first.text {
            return Err(Failure::usage(format!(
                "{} and {} do not belong to the same experiment",
                files::shown(&first.path),
                files::shown(&part.path)
            )));
        }
        for entry in entries {
            match all.entry((entry.point, entry.replication)) {
                Entry::Vacant(place) => drop(place.insert(entry)),
                Entry::Occupied(known) if known.get().sample.same(&entry.sample) => {}
                Entry::Occupied(_) => {
                    return Err(Failure::usage(format!(
                        "replication {} of point {} differs between {} and an earlier directory",
                        entry.replication,
                        entry.point,
                        files::shown(&part.path)
                    )));
                }
            }
        }
    }
    Ok(all.into_values().collect())
}
