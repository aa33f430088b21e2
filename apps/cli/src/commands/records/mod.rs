//! Writes files that describe replication 0: its jobs (`--jobs-csv`, `--schedule`, `--swf`,
//! `--placements`) and the load on its channels (`--channels`, `--heatmap`).

mod batsim;
mod swf;

use std::collections::BTreeSet;
use std::io;
use std::path::PathBuf;

use pavior::Time;
use pavior::answers::json::Place;
use pavior::experiments::{InputRequest, Point, Recording, RunRecord, Specification};
use pavior::files::FileUses;
use pavior::simulation::{JobRecord, Stay};
use serde_json::{Value, json};

use crate::args::ResultArgs;
use crate::failure::Failure;
use crate::files;

/// The parameters of a combination that may occur in file names.
const NAME_PARAMETERS: [&str; 3] = ["strategy", "scheduler", "load"];

/// A function that writes a combination's file.
type WriteFile = fn(&Point, &RunRecord, &mut dyn io::Write) -> io::Result<()>;

/// A file to write for each combination.
struct OutputFile {
    /// The option that specifies the file.
    option: &'static str,
    /// The path, with placeholders for the combination.
    path: PathBuf,
    write: WriteFile,
}

impl OutputFile {
    /// Returns the files specified by the options.
    fn of_options(args: &ResultArgs) -> Vec<OutputFile> {
        let options: [(_, _, WriteFile); 6] = [
            ("--jobs-csv", &args.jobs_csv, batsim::jobs_csv),
            ("--schedule", &args.schedule, batsim::schedule),
            ("--swf", &args.swf, swf::log),
            ("--placements", &args.placements, placements),
            ("--channels", &args.channels, channels),
            ("--heatmap", &args.heatmap, heatmap),
        ];
        let file = |(option, path, write): (_, &Option<PathBuf>, _)| {
            Some(OutputFile { option, path: path.clone()?, write })
        };
        options.into_iter().filter_map(file).collect()
    }

    /// Returns the path for a combination. Colons and slashes cause problems in file names, so they
    /// become underscores.
    fn path_for(&self, point: &Point) -> PathBuf {
        let name = self.path.to_string_lossy().into_owned();
        PathBuf::from(NAME_PARAMETERS.iter().fold(name, |name, parameter| {
            let value = point.get(parameter).unwrap_or_default().replace([':', '/'], "_");
            name.replace(&format!("{{{parameter}}}"), &value)
        }))
    }

    /// Checks that the file can describe the jobs of every combination.
    fn check_jobs(&self, specification: &Specification) -> Result<(), Failure> {
        let option = self.option;
        let is_silent = |point: &Point| {
            let jobs = point.settings().jobs();
            jobs.is_none_or(|jobs| jobs.network.is_none() || jobs.log().is_some())
        };
        let needs_messages = ["--channels", "--heatmap"].contains(&option);
        if needs_messages && specification.points.iter().any(is_silent) {
            return Err(Failure::usage(format!(
                "{option} requires synthetic jobs that send messages: use --service messages or \
                 iterations"
            )));
        }
        let has_moves =
            |point: &Point| point.settings().jobs().is_some_and(|jobs| jobs.migration.is_some());
        if option == "--jobs-csv" && specification.points.iter().any(has_moves) {
            return Err(Failure::usage(format!(
                "{option} records one set of nodes per job, but a job that moves has several; use \
                 --placements"
            )));
        }
        Ok(())
    }

    /// Checks that the file name distinguishes the combinations.
    fn check_name(&self, specification: &Specification) -> Result<(), Failure> {
        let (option, name) = (self.option, self.path.to_string_lossy());
        let mut plain = name.to_string();
        let mut missing = Vec::new();
        for parameter in NAME_PARAMETERS {
            let placeholder = format!("{{{parameter}}}");
            let values: BTreeSet<Option<&str>> =
                specification.points.iter().map(|point| point.get(parameter)).collect();
            if values.len() > 1 && !name.contains(&placeholder) {
                missing.push(format!("{placeholder} ({} values)", values.len()));
            }
            plain = plain.replace(&placeholder, "");
        }
        if !missing.is_empty() {
            return Err(Failure::usage(format!(
                "{option} {name}: the name must contain {}",
                missing.join(" and ")
            )));
        }
        if plain.contains(['{', '}']) {
            return Err(Failure::usage(format!(
                "{option} {name}: braces may contain only strategy, scheduler or load"
            )));
        }
        Ok(())
    }
}

/// The files to write, which are checked before anything runs.
pub(crate) struct Files(Vec<OutputFile>);

impl Files {
    /// Plans the files to write.
    ///
    /// # Errors
    /// Returns an error if a file name does not distinguish the combinations, or if a file cannot
    /// be written.
    pub(crate) fn plan(args: &ResultArgs, specification: &Specification) -> Result<Files, Failure> {
        let files = OutputFile::of_options(args);
        for (index, file) in files.iter().enumerate() {
            if let Some(other) = files[..index].iter().find(|other| other.path == file.path) {
                return Err(Failure::usage(format!(
                    "{} and {} specify the same file: {}",
                    other.option,
                    file.option,
                    files::shown(&file.path)
                )));
            }
            file.check_jobs(specification)?;
            file.check_name(specification)?;
        }
        check_overwrites(&files, specification)?;
        for file in &files {
            for point in &specification.points {
                files::check_writable(&file.path_for(point))?;
            }
        }
        Ok(Files(files))
    }

    /// Returns true if any file is requested.
    pub(crate) fn are_wanted(&self) -> bool {
        !self.0.is_empty()
    }

    pub(crate) fn write(
        &self,
        specification: &Specification,
        recording: Recording,
    ) -> Result<(), Failure> {
        for (index, record) in recording.into_records() {
            let point = &specification.points[index];
            for file in &self.0 {
                files::write_whole(&file.path_for(point), |out| (file.write)(point, &record, out))?;
            }
        }
        Ok(())
    }
}

/// Checks that no file is also an input or another output.
fn check_overwrites(files: &[OutputFile], specification: &Specification) -> Result<(), Failure> {
    let mut plan = FileUses::new();
    let mut seen = BTreeSet::new();
    for point in &specification.points {
        for input in point.settings().inputs() {
            let (option, path) = match input {
                InputRequest::Log(log) => ("--trace", log.path),
                InputRequest::Failures(list) => ("--failures", list.path),
                InputRequest::Reservations(list) => ("--reservations", list.path),
            };
            if seen.insert(path.clone()) {
                plan = plan.reads(option, &path);
            }
        }
    }
    for file in files {
        let paths: BTreeSet<PathBuf> =
            specification.points.iter().map(|point| file.path_for(point)).collect();
        plan = paths.into_iter().fold(plan, |plan, path| plan.writes(file.option, path));
    }
    Ok(plan.check()?)
}

/// Describes a combination by its strategy and scheduler.
fn combination(point: &Point) -> String {
    let value = |name: &str| point.get(name).unwrap_or_default();
    format!("{}, {}", value("strategy"), value("scheduler"))
}

/// Writes the load on every channel as CSV.
fn channels(_: &Point, record: &RunRecord, out: &mut dyn io::Write) -> io::Result<()> {
    let Some((load, cycles)) = &record.channels else { return Ok(()) };
    let mut text = String::new();
    load.write_csv(&mut text, *cycles).map_err(io::Error::other)?;
    out.write_all(text.as_bytes())
}

/// Draws the load on every channel.
fn heatmap(point: &Point, record: &RunRecord, out: &mut dyn io::Write) -> io::Result<()> {
    let Some((load, cycles)) = &record.channels else { return Ok(()) };
    let jobs = point.get("load").map(|load| format!(", load {load}")).unwrap_or_default();
    let title = format!("Channel utilization: {}{jobs}", combination(point));
    out.write_all(pavior::draw::heatmap(load, *cycles, &title).as_bytes())
}

/// Writes the started jobs as JSON lines, in order of start time. A job that moves has one line per
/// placement. Each line after the job's first also states the number of the move, starting at 1.
fn placements(point: &Point, record: &RunRecord, out: &mut dyn io::Write) -> io::Result<()> {
    let (grid, unit) = (point.settings().machine, point.unit());
    let stays = |record| JobRecord::stays(record).enumerate();
    let mut started: Vec<_> = record
        .jobs
        .iter()
        .flat_map(|record| stays(record).map(move |(moved, stay)| (stay, record, moved)))
        .collect();
    started.sort_by_key(|(stay, record, moved)| (stay.start, record.job.id, *moved));
    let units = |at: Time| number(unit.units(at));
    for (Stay { start, end, placement }, JobRecord { job, routes, .. }, moved) in started {
        let mut line = json!({
            "job": job.number,
            "submit": units(job.arrival),
            "start": units(start),
            "end": end.map(units),
            "nodes": placement.nodes(),
            "parts": Place::all(&grid, placement.parts()),
            "unit": unit.name,
        });
        if moved > 0 {
            line["moved"] = json!(moved);
        }
        if let Some(routes) = routes {
            line["hops"] = json!(routes.mean_hops());
            line["link_load"] = json!(routes.link_load);
        }
        writeln!(out, "{line}")?;
    }
    Ok(())
}

/// Converts a number to JSON, writing whole numbers as integers: 7, not 7.0.
fn number(value: f64) -> Value {
    if value.fract() == 0.0 && value.abs() < 1e15 { json!(value as i64) } else { json!(value) }
}
