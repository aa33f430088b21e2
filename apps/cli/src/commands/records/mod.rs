//! What became of each job of replication 0: `--jobs-csv`, `--schedule`, `--swf` and `--placements`.

mod batsim;
mod swf;

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use pavior_experiments::{Combination, Comparison, Row};
use pavior_kernel::Time;
use pavior_mesh::Grid;
use pavior_simulation::{Fate, JobRecord};
use pavior_workload::TimeUnit;
use serde_json::{Value, json};

use crate::args::{MessageArgs, ResultArgs};
use crate::commands::allocate;
use crate::failure::Failure;
use crate::files;

/// Whether any file is asked for.
pub(crate) fn are_wanted(results: &ResultArgs, messages: &MessageArgs) -> bool {
    let ResultArgs { jobs_csv, schedule, swf, placements, .. } = results;
    let MessageArgs { channels, heatmap, .. } = messages;
    [jobs_csv, schedule, swf, placements, channels, heatmap].into_iter().any(Option::is_some)
}

/// The files that will be written, checked before anything is run.
pub(crate) struct Files {
    jobs_csv: Option<PathBuf>,
    schedule: Option<PathBuf>,
    swf: Option<PathBuf>,
    placements: Option<PathBuf>,
    channels: Option<PathBuf>,
    heatmap: Option<PathBuf>,
}

impl Files {
    /// # Errors
    /// If a name does not tell the combinations apart, or a file cannot be written.
    pub(crate) fn plan(
        args: &ResultArgs,
        messages: &MessageArgs,
        comparison: &Comparison<'_>,
    ) -> Result<Files, Failure> {
        let files = Files {
            jobs_csv: args.jobs_csv.clone(),
            schedule: args.schedule.clone(),
            swf: args.swf.clone(),
            placements: args.placements.clone(),
            channels: messages.channels.clone(),
            heatmap: messages.heatmap.clone(),
        };
        let lists = [
            ("{strategy}", comparison.strategies.len()),
            ("{scheduler}", comparison.schedulers.len()),
            ("{load}", comparison.loads.len()),
        ];
        let options = [
            ("--jobs-csv", &files.jobs_csv),
            ("--schedule", &files.schedule),
            ("--swf", &files.swf),
            ("--placements", &files.placements),
            ("--channels", &files.channels),
            ("--heatmap", &files.heatmap),
        ];
        for (index, (option, path)) in options.iter().enumerate() {
            let Some(path) = path else { continue };
            if let Some((other, _)) =
                options[..index].iter().find(|(_, other)| other.as_ref() == Some(path))
            {
                return Err(Failure::usage(format!(
                    "{other} and {option} name the same file, {}",
                    path.display()
                )));
            }
            let name = path.to_string_lossy();
            for (mark, count) in lists {
                if count > 1 && !name.contains(mark) {
                    return Err(Failure::usage(format!(
                        "{option} {name}: with {count} of them, the name must contain {mark}"
                    )));
                }
            }
            let plain =
                lists.iter().fold(name.to_string(), |name, (mark, _)| name.replace(mark, ""));
            if plain.contains(['{', '}']) {
                return Err(Failure::usage(format!(
                    "{option} {name}: braces mark {{strategy}}, {{scheduler}} or {{load}}"
                )));
            }
            for combination in comparison.combinations() {
                files::check_writable(&named(path, &combination))?;
            }
        }
        Ok(files)
    }

    pub(crate) fn write(&self, comparison: &Comparison<'_>, rows: &[Row]) -> Result<(), Failure> {
        let (grid, unit) = (&comparison.grid, comparison.source.unit());
        for row in rows {
            let Some(records) = &row.record else { continue };
            if let Some(path) = &self.jobs_csv {
                let path = named(path, &row.combination);
                files::write_whole(&path, |out| batsim::jobs_csv(grid, unit, records, out))?;
            }
            if let Some(path) = &self.schedule {
                let path = named(path, &row.combination);
                files::write_whole(&path, |out| batsim::schedule(grid, unit, records, out))?;
            }
            if let Some(path) = &self.swf {
                let path = named(path, &row.combination);
                let by = &row.combination;
                files::write_whole(&path, |out| swf::log(grid, unit, by, records, out))?;
            }
            if let Some(path) = &self.placements {
                let path = named(path, &row.combination);
                files::write_whole(&path, |out| placements(grid, unit, records, out))?;
            }
            self.write_channels(row)?;
        }
        Ok(())
    }

    fn write_channels(&self, row: &Row) -> Result<(), Failure> {
        let Some((load, cycles)) = &row.channels else { return Ok(()) };
        let text = |write: &dyn Fn(&mut String) -> std::fmt::Result| {
            let mut text = String::new();
            write(&mut text).expect("writing into a string does not fail");
            text
        };
        if let Some(path) = &self.channels {
            let text = text(&|out| load.write_csv(out, *cycles));
            let path = named(path, &row.combination);
            files::write_whole(&path, |out| out.write_all(text.as_bytes()))?;
        }
        if let Some(path) = &self.heatmap {
            let Combination { strategy, scheduler, load: jobs } = &row.combination;
            let jobs = jobs.map(|load| format!(", load {load}")).unwrap_or_default();
            let title = format!("{strategy}, {scheduler}{jobs}");
            let text = pavior_draw::heatmap(load, *cycles, &title);
            let path = named(path, &row.combination);
            files::write_whole(&path, |out| out.write_all(text.as_bytes()))?;
        }
        Ok(())
    }
}

/// The file of a combination. Colons would be awkward in file names; they become underscores.
fn named(path: &Path, combination: &Combination) -> PathBuf {
    let plain = |name: String| name.replace([':', '/'], "_");
    let load = combination.load.map(|load| load.to_string()).unwrap_or_default();
    let name = path.to_string_lossy();
    let name = name.replace("{strategy}", &plain(combination.strategy.to_string()));
    let name = name.replace("{scheduler}", &plain(combination.scheduler.to_string()));
    PathBuf::from(name.replace("{load}", &load))
}

/// JSON lines of the jobs that started, in the order of their starts.
fn placements(
    grid: &Grid,
    unit: TimeUnit,
    records: &[JobRecord],
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut started: Vec<_> = records
        .iter()
        .filter_map(|JobRecord { job, fate }| match fate {
            Fate::Started { start, end, placement } => Some((*start, job, end, placement)),
            _ => None,
        })
        .collect();
    started.sort_by_key(|(start, job, ..)| (*start, job.id));
    let number = |at: Time| number(unit.units(at));
    for (start, job, end, placement) in started {
        let line = json!({
            "job": job.number,
            "submit": number(job.arrival),
            "start": number(start),
            "end": end.map(number),
            "nodes": placement.nodes(),
            "parts": allocate::parts(grid, placement.parts()),
        });
        writeln!(out, "{line}")?;
    }
    Ok(())
}

/// Whole numbers as integers: 7, not 7.0.
fn number(value: f64) -> Value {
    if value.fract() == 0.0 && value.abs() < 1e15 { json!(value as i64) } else { json!(value) }
}
