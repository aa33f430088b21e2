//! The yardstick's sets of jobs.

use std::sync::Arc;

use pavior::experiments::{
    InputError, InputFiles, Keys, ListRequest, LogRequest, Scenario, Setting, Specification,
};
use pavior::simulation::Histories;
use pavior::workload::traces::{Format, ReadOptions, Record, Trace, batsim};
use pavior::workload::{FailureEvent, Job, ReservedNodes, TimeUnit};
use pavior::{Checksum, Grid, Time};
use serde::Deserialize;
use thiserror::Error;

use super::Effort;
use super::bounds::Task;
use crate::folder;

/// The error message for jobs that depend on others.
const NO_DEPENDENCIES: &str = "bounds and certificates are valid only for jobs with fixed submit \
                               times, not for jobs submitted only after others end";

/// The reason why a scenario cannot be run.
#[derive(Debug, Error)]
#[error("yardstick, {scenario}: {reason}")]
pub struct YardstickError {
    /// The scenario's name.
    pub scenario: String,
    /// A description of the error.
    pub reason: String,
}

/// The contents of `scenarios.toml`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Yardstick {
    /// The version. Only results from the same version can be compared.
    pub version: u32,
    scenario: Vec<Entry>,
}

/// A description of a scenario.
#[derive(Clone, Copy, Debug)]
pub struct ScenarioInfo<'y> {
    /// The name.
    pub name: &'y str,
    /// The scenario's purpose, as a sentence.
    pub purpose: &'y str,
    /// The log that contains the jobs, or `None` if they are generated.
    pub log: Option<&'y str>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    name: String,
    why: String,
    jobs: usize,
    settings: toml::Table,
    #[serde(default)]
    failures: toml::Table,
    sum: String,
}

/// A scenario and its jobs.
pub struct Instance {
    /// The scenario's name.
    pub name: String,
    /// The machine's grid.
    pub machine: Grid,
    /// The jobs as input for the bounds, in order of submission.
    pub tasks: Vec<Task>,
    /// A CRC-64 checksum of the jobs.
    pub sum: String,
    /// The jobs as a Batsim workload, with times in whole seconds.
    pub workload: Vec<u8>,
    /// True if nodes fail.
    pub fails: bool,
    trace: Arc<Trace>,
    settings: Vec<Setting>,
}

impl Yardstick {
    /// Returns the built-in yardstick.
    pub fn built_in() -> Yardstick {
        let text = include_str!("../../papers/yardstick/scenarios.toml");
        folder::built_in(folder::parse("scenarios.toml", text))
    }

    /// Returns a description of each scenario.
    pub fn scenarios(&self) -> impl Iterator<Item = ScenarioInfo<'_>> {
        self.scenario.iter().map(|entry| ScenarioInfo {
            name: &entry.name,
            purpose: &entry.why,
            log: entry.settings.get("trace").and_then(toml::Value::as_str),
        })
    }

    /// Generates each scenario's jobs. Scenarios based on logs read their jobs from `logs`, and are
    /// skipped if `logs` is `None`.
    ///
    /// # Errors
    /// Returns an error if a log cannot be read, or if the jobs differ from those of this version.
    pub fn draw(
        &self,
        logs: Option<&dyn InputFiles>,
        effort: Effort,
    ) -> Result<Vec<Instance>, YardstickError> {
        let none = pavior::experiments::NoFiles;
        let wanted = self.scenario.iter().take(effort.scenarios);
        let wanted = wanted.filter(|entry| logs.is_some() || !entry.settings.contains_key("trace"));
        wanted.map(|entry| Instance::draw(entry, logs.unwrap_or(&none), effort)).collect()
    }
}

impl Entry {
    /// Returns the machine and all its jobs, with times in whole seconds.
    fn records(&self, files: &dyn InputFiles) -> Result<(Grid, Vec<Record>), YardstickError> {
        let mut drawn = settings(&self.settings);
        drawn.push(Setting::new("strategy", "ff"));
        let drawn = Specification::from_settings(&drawn, &self.name, Keys::Plain);
        let drawn = drawn.map_err(|error| self.fault(&error.reason))?;
        let settings = drawn.points[0].settings();
        let scenario = Scenario::new(settings, false, files, &Histories::default());
        let scenario = scenario.map_err(|error| self.fault(&error))?;
        if scenario.links().is_some() {
            return Err(self.fault(&NO_DEPENDENCIES));
        }
        // The times of synthetic jobs are in hours.
        let seconds = if self.settings.contains_key("trace") { 1 } else { 3600 };
        let jobs = scenario.jobs(0).take(self.jobs).enumerate();
        let records = jobs.map(|(number, job)| record(number, &job, seconds)).collect();
        let records: Option<Vec<Record>> = records;
        Ok((
            settings.machine,
            records.ok_or_else(|| self.fault(&"the jobs have no fixed run times"))?,
        ))
    }

    fn fault(&self, reason: &dyn std::fmt::Display) -> YardstickError {
        YardstickError { scenario: self.name.clone(), reason: reason.to_string() }
    }
}

/// Converts a table of strings and numbers into settings.
fn settings(table: &toml::Table) -> Vec<Setting> {
    let text = |value: &toml::Value| match value.as_str() {
        Some(text) => text.to_string(),
        None => value.to_string(),
    };
    table.iter().map(|(key, value)| Setting::new(key, text(value))).collect()
}

impl Instance {
    fn draw(
        entry: &Entry,
        files: &dyn InputFiles,
        effort: Effort,
    ) -> Result<Instance, YardstickError> {
        let (machine, mut records) = entry.records(files)?;
        let sum = sum(&records);
        if sum != entry.sum {
            let reason = format!("the checksum of the jobs is {sum}; expected {}", entry.sum);
            return Err(entry.fault(&reason));
        }
        records.truncate(effort.jobs);
        Instance::new(&entry.name, machine, &records, settings(&entry.failures))
            .map_err(|reason| entry.fault(&reason))
    }

    /// Creates an instance (for example, a small one for tests) from records whose times are in
    /// whole seconds. Nodes fail according to `failures`.
    ///
    /// # Errors
    /// Returns an error if the records do not form a valid log.
    pub fn new(
        name: &str,
        machine: Grid,
        records: &[Record],
        failures: Vec<Setting>,
    ) -> Result<Instance, String> {
        if records.iter().any(|record| record.dependency.is_some()) {
            return Err(NO_DEPENDENCIES.to_string());
        }
        let (mut workload, nodes) = (Vec::new(), u64::from(machine.nodes()));
        batsim::write(&mut workload, records, nodes, batsim::Version::V4)
            .map_err(|error| error.to_string())?;
        // Users replay the jobs in this format.
        let trace = Format::Batsim.read(&*workload, &ReadOptions::default());
        let trace = Arc::new(trace.map_err(|error| error.to_string())?);
        let task = |record: &Record| Task {
            release: whole(record.submit),
            run: whole(record.run),
            nodes: i64::from(record.nodes),
            weight: 1,
        };
        let mut settings = vec![
            Setting::new("trace", format!("{name}/jobs.json")),
            Setting::new("machine", machine.to_string()),
        ];
        let fails = !failures.is_empty();
        settings.extend(failures);
        Ok(Instance {
            name: name.to_string(),
            machine,
            tasks: records.iter().map(task).collect(),
            sum: sum(records),
            workload,
            fails,
            trace,
            settings,
        })
    }

    /// Returns the specification for running the given strategies and schedulers with additional
    /// settings. Names are looked up in `catalogue`. Unsupported combinations are skipped.
    ///
    /// # Errors
    /// Returns an error if a name is invalid.
    pub(super) fn specification(
        &self,
        strategies: &[String],
        schedulers: &[String],
        more: &[(&str, &str)],
        catalogue: &pavior::experiments::Catalogue,
    ) -> Result<Specification, YardstickError> {
        let mut settings = self.settings.clone();
        settings.push(Setting { key: "strategy".to_string(), values: strategies.to_vec() });
        settings.push(Setting { key: "scheduler".to_string(), values: schedulers.to_vec() });
        settings.push(Setting::new("skip-unsupported", "true"));
        settings.push(Setting::new("timing", "false"));
        settings.extend(more.iter().map(|&(key, value)| Setting::new(key, value)));
        Specification::from_settings_with(&settings, &self.name, Keys::Plain, catalogue)
            .map_err(|error| self.fault(&error.reason))
    }

    pub(super) fn fault(&self, reason: &dyn std::fmt::Display) -> YardstickError {
        YardstickError { scenario: self.name.clone(), reason: reason.to_string() }
    }
}

/// Returns the instance's own log, regardless of the requested name.
impl InputFiles for Instance {
    fn log(&self, _: &LogRequest) -> Result<Arc<Trace>, InputError> {
        Ok(self.trace.clone())
    }

    fn failures(&self, request: &ListRequest) -> Result<Arc<Vec<FailureEvent>>, InputError> {
        Err(format!("{}: the yardstick does not support failure lists", request.path).into())
    }

    fn reservations(&self, request: &ListRequest) -> Result<Arc<Vec<ReservedNodes>>, InputError> {
        Err(format!("{}: the yardstick does not support reservations", request.path).into())
    }
}

/// Converts a job's times to whole seconds, where one time unit is `seconds` seconds. The run time
/// is at least one second.
fn record(number: usize, job: &Job, seconds: u64) -> Option<Record> {
    let tick = TimeUnit::SECOND.ticks;
    let rounded =
        |time: Time, least: u64| Time(((time.0 * seconds + tick / 2) / tick).max(least) * tick);
    let own = Record::of_job(job)?;
    Some(Record {
        number: number as u64,
        submit: rounded(own.submit, 0),
        run: rounded(own.run, 1),
        estimate: own.estimate.map(|estimate| rounded(estimate, 1)),
        ..own
    })
}

fn whole(time: Time) -> i64 {
    (time.0 / TimeUnit::SECOND.ticks) as i64
}

/// Returns a CRC-64 checksum of all data that affects bounds and placements.
fn sum(records: &[Record]) -> String {
    let mut sum = Checksum::default();
    for Record { submit, run, nodes, shape, .. } in records {
        let sides: Vec<String> = shape.iter().flatten().map(ToString::to_string).collect();
        let line = format!("{} {} {nodes} {}\n", whole(*submit), whole(*run), sides.join("x"));
        sum.add(line.as_bytes());
    }
    sum.to_string()
}
