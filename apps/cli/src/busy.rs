//! Parses running jobs from JSON lines, for the `--busy` option of `pavior explain`, `forecast`,
//! `slots` and `unblock`.

use std::collections::HashMap;
use std::fmt;
use std::ops::Range;
use std::path::Path;

use pavior::strategies::explain::{Clash, State};
use pavior::text::shown;
use pavior::{BadName, Cuboid, Grid, JobId, Machine, Time};
use serde_json::Value;

use crate::failure::Failure;
use crate::json_lines::{LineError, LineObject, for_each_line};
use crate::located::{self, Member};

/// Additional keys that may occur in answers from `pavior allocate`, in `--placements` lines and in
/// queues. Their values are parsed only when needed.
const OTHER_KEYS: &[&str] =
    &["nodes", "requested", "granted", "submit", "start", "end", "estimate", "user"];
/// Further keys in `--placements` lines, which are ignored.
const PLACEMENT_KEYS: &[&str] = &["unit", "moved", "hops", "link_load"];

/// The state of a machine, with the job names from the file.
pub(crate) struct Busy {
    pub(crate) state: State,
    /// The jobs. A job's id is its index in this list and in `state.held()`.
    jobs: Vec<BusyJob>,
    by_name: HashMap<Value, JobId>,
}

/// The attributes of a job that do not affect the state of the machine. Numbers are validated only
/// when needed.
struct BusyJob {
    name: Value,
    line_number: usize,
    start: Option<Value>,
    end: Option<Value>,
    user: Option<Value>,
}

/// A number together with its JSON value as written in the file.
type WrittenNumber<'b> = (f64, &'b Value);

/// A job name from an untrusted file. When displayed, it has a limited length and contains only
/// visible characters.
pub(crate) struct JobName<'b>(pub(crate) &'b Value);

impl JobName<'_> {
    /// Returns the unescaped name, for use in drawings, which do their own escaping.
    pub(crate) fn raw(&self) -> String {
        match self.0 {
            Value::String(name) => name.clone(),
            other => other.to_string(),
        }
    }
}

impl fmt::Display for JobName<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        shown(&self.raw()).fmt(f)
    }
}

/// The end times of jobs, in any unit. Plans only compare end times, so they use the times' ranks,
/// which start at 1.
pub(crate) struct Ends<'b> {
    by_job: Vec<Option<WrittenNumber<'b>>>,
    sorted: Vec<WrittenNumber<'b>>,
}

impl Ends<'_> {
    pub(crate) fn of(&self, job: JobId) -> Option<f64> {
        Some(self.by_job[job.0 as usize]?.0)
    }

    pub(crate) fn rank(&self, job: JobId) -> Option<Time> {
        let (end, _) = self.by_job[job.0 as usize]?;
        Some(Time(1 + self.sorted.partition_point(|(other, _)| *other < end) as u64))
    }

    /// Returns the rank of a time. A time before all end times has rank 0.
    pub(crate) fn rank_at(&self, at: f64) -> Time {
        Time(self.sorted.partition_point(|(other, _)| *other <= at) as u64)
    }

    /// Returns the end time with the given rank, as written in the file. Rank 0 means now.
    pub(crate) fn at(&self, rank: Time) -> Value {
        match rank {
            Time::ZERO => 0.into(),
            Time(rank) => self.sorted[rank as usize - 1].1.clone(),
        }
    }
}

/// Reads a state from a file, or from standard input if the path is `-`. Without a path, all nodes
/// are free.
pub(crate) fn read(path: Option<&Path>, grid: Grid) -> Result<Busy, Failure> {
    path.map_or_else(|| Ok(Busy::none(grid)), |path| read_at(path, grid, None))
}

/// Reads a state. If a time is given, ignores jobs that are not running at that time.
pub(crate) fn read_at(path: &Path, grid: Grid, at: Option<f64>) -> Result<Busy, Failure> {
    let mut busy = Busy::none(grid);
    for_each_line(path, |line, number| busy.add_line(line, number, at))?;
    Ok(busy)
}

impl Busy {
    /// Creates a state without jobs.
    pub(crate) fn none(grid: Grid) -> Busy {
        Busy { state: State::new(grid), jobs: Vec::new(), by_name: HashMap::new() }
    }

    /// Creates a machine in this state, for answering questions that do not depend on the strategy.
    /// The machine uses First Fit, which works on all grids.
    pub(crate) fn machine(&self) -> Result<Machine, Failure> {
        let first_fit = "ff".parse().map_err(|bad: BadName| Failure::Other(bad.reason))?;
        self.state.machine(&first_fit, 1).map_err(Failure::usage)
    }

    /// Returns the name of a job as a JSON value.
    pub(crate) fn name(&self, job: JobId) -> &Value {
        &self.jobs[job.0 as usize].name
    }

    /// Returns the name of a job for display, without quotes.
    pub(crate) fn shown_name(&self, job: JobId) -> JobName<'_> {
        JobName(self.name(job))
    }

    /// Returns the number of nodes that a job holds.
    pub(crate) fn nodes(&self, job: JobId) -> u32 {
        self.state.held()[job.0 as usize].1.nodes()
    }

    pub(crate) fn job_named(&self, name: &Value) -> Option<JobId> {
        self.by_name.get(name).copied()
    }

    /// Returns the `start` of each job.
    ///
    /// # Errors
    /// Returns an error if a start is not a number.
    pub(crate) fn starts(&self) -> Result<Vec<Option<f64>>, Failure> {
        let starts = self.numbers("start", |job| &job.start)?;
        Ok(starts.into_iter().map(|start| Some(start?.0)).collect())
    }

    /// Returns the `user` of each job, ignoring numbers that cannot be user ids.
    ///
    /// # Errors
    /// Returns an error if a user is not a number.
    pub(crate) fn users(&self) -> Result<Vec<Option<u64>>, Failure> {
        let users = self.numbers("user", |job| &job.user)?;
        Ok(users.into_iter().map(|user| user?.1.as_u64()).collect())
    }

    /// Returns the end time of every job that has one.
    ///
    /// # Errors
    /// Returns an error if an `end` is not a number.
    pub(crate) fn ends(&self) -> Result<Ends<'_>, Failure> {
        let by_job = self.numbers("end", |job| &job.end)?;
        let mut sorted: Vec<WrittenNumber<'_>> = by_job.iter().copied().flatten().collect();
        sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
        Ok(Ends { by_job, sorted })
    }

    /// Returns the value of a key for each job, treating `null` as missing.
    fn numbers<'b>(
        &'b self,
        key: &str,
        value: fn(&BusyJob) -> &Option<Value>,
    ) -> Result<Vec<Option<WrittenNumber<'b>>>, Failure> {
        let number = |job: &'b BusyJob| {
            let Some(value) = value(job).as_ref().filter(|value| !value.is_null()) else {
                return Ok(None);
            };
            let number = value.as_f64().ok_or_else(|| {
                Failure::usage(format!(
                    "\"{key}\" of job {} is not a number: {}",
                    JobName(&job.name),
                    shown(&value.to_string())
                ))
            })?;
            Ok(Some((number, value)))
        };
        self.jobs.iter().map(number).collect()
    }

    /// Adds a job or a failed node. If a time is given, ignores a job that is not running then.
    fn add_line(&mut self, line: &str, number: usize, at: Option<f64>) -> Result<(), LineError> {
        let object = LineObject::parse(line, "{\"job\",\"parts\"} or {\"node\"}")?;
        match (object.find("node"), object.find("parts")) {
            (Some(node), None) => self.add_failed_node(&object, node),
            (_, Some(parts)) => {
                object.check_keys(&["job", "parts"], &[OTHER_KEYS, PLACEMENT_KEYS].concat())?;
                let job = object.require("job")?;
                match at {
                    Some(at) if !is_running(&object, at)? => Ok(()),
                    _ => self.add_job(&object, job, parts, number),
                }
            }
            (None, None) => Err(LineError::new(
                "expected \"parts\" (a job's boxes) or \"node\" (a failed node)",
                object.span,
            )),
        }
    }

    fn add_failed_node(&mut self, object: &LineObject<'_>, node: &Member) -> Result<(), LineError> {
        object.check_keys(&["node", "failed", "job"], &[])?;
        if let Some(failed) = object.find("failed").filter(|failed| object.value(failed) != true) {
            return Err(failed.wrong("\"failed\" must be true; list only failed nodes"));
        }
        let grid = *self.state.grid();
        let point = numbers_per_axis(object.line, node, &grid, 0)?;
        if !grid.contains(point) {
            return Err(node.wrong(format!("the node is outside {grid}")));
        }
        self.state.fail(grid.id(point));
        Ok(())
    }

    fn add_job(
        &mut self,
        object: &LineObject<'_>,
        job: &Member,
        parts: &Member,
        line_number: usize,
    ) -> Result<(), LineError> {
        let name = object.job_name(job)?;
        if let Some(first) = self.by_name.get(&name) {
            let line = self.jobs[first.0 as usize].line_number;
            let message = format!("job {} already holds nodes (line {line})", JobName(&name));
            return Err(job.wrong(message));
        }
        self.hold(object.line, job, parts)?;
        self.by_name.insert(name.clone(), JobId(self.jobs.len() as u64));
        let value = |key: &str| object.find(key).map(|member| object.value(member));
        let (start, end, user) = (value("start"), value("end"), value("user"));
        self.jobs.push(BusyJob { name, line_number, start, end, user });
        Ok(())
    }

    /// Places the next job's parts on the machine.
    fn hold(&mut self, line: &str, job: &Member, parts: &Member) -> Result<(), LineError> {
        let grid = *self.state.grid();
        let places = located::elements(line, &parts.place);
        if places.is_empty() {
            return Err(parts.wrong("\"parts\" must be a list of at least one box"));
        }
        let cuboids =
            places.iter().map(|place| cuboid(line, place, &grid)).collect::<Result<Vec<_>, _>>()?;
        let id = JobId(self.jobs.len() as u64);
        self.state.hold(id, &cuboids).map_err(|clash| match clash {
            Clash::Repeated => job.wrong(clash.to_string()),
            Clash::Outside { part } => {
                LineError::new(format!("the part extends beyond {grid}"), places[part].clone())
            }
            Clash::Overlap { part, holder } if holder == id => {
                let message = "the part overlaps another part of the same job";
                LineError::new(message, places[part].clone())
            }
            Clash::Overlap { part, holder } => {
                let BusyJob { name, line_number, .. } = &self.jobs[holder.0 as usize];
                let message = format!(
                    "the part overlaps a part of job {} on line {line_number}",
                    JobName(name)
                );
                LineError::new(message, places[part].clone())
            }
        })
    }
}

/// Returns true if a job is running at a time.
fn is_running(object: &LineObject<'_>, at: f64) -> Result<bool, LineError> {
    let time = |key: &str| object.optional(key, "must be a number", Value::as_f64);
    let start = time("start")?.ok_or_else(|| {
        LineError::new("--at requires a \"start\" for every job", object.span.clone())
    })?;
    Ok(start <= at && time("end")?.is_none_or(|end| end > at))
}

fn cuboid(line: &str, place: &Range<usize>, grid: &Grid) -> Result<Cuboid, LineError> {
    let part = LineObject::at(line, place.clone());
    part.check_keys(&["base", "sides"], &[])?;
    let read = |key: &str, least: u16| {
        let member = part.find(key).ok_or_else(|| {
            let message = "a part must have the form {\"base\":[..],\"sides\":[..]}";
            LineError::new(message, place.clone())
        })?;
        numbers_per_axis(line, member, grid, least)
    };
    Ok(Cuboid::new(read("base", 0)?, read("sides", 1)?))
}

/// Parses one number per machine axis, each at least `least`. If the machine has fewer than three
/// axes, the remaining values are set to `least`.
fn numbers_per_axis(
    line: &str,
    Member { key, place, .. }: &Member,
    grid: &Grid,
    least: u16,
) -> Result<[u16; 3], LineError> {
    let axes = grid.axes();
    let elements = located::elements(line, place);
    if elements.len() != axes {
        let message = format!("\"{key}\" must be a list of {axes} integers");
        return Err(LineError::new(message, place.clone()));
    }
    let mut numbers = [least; 3];
    for (number, element) in numbers.iter_mut().zip(elements) {
        let value = line[element.clone()].parse().ok().filter(|&value| value >= least);
        *number = value.ok_or_else(|| {
            let message = format!("\"{key}\" must contain integers from {least} to {}", u16::MAX);
            LineError::new(message, element)
        })?;
    }
    Ok(numbers)
}
