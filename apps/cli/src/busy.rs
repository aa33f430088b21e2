//! Parsing of running jobs from JSON lines: the `--busy` option of `pavior explain`, `unblock` and
//! `slots`.

use std::collections::HashMap;
use std::fmt;
use std::io::BufRead;
use std::ops::Range;
use std::path::Path;

use pavior::strategies::explain::{Clash, State};
use pavior::text::shown;
use pavior::{BadName, Cuboid, Grid, JobId, Machine, Time, json};
use serde::de::IgnoredAny;
use serde_json::Value;

use crate::failure::{Failure, Place};
use crate::files;
use crate::located::{self, Member};

/// Additional keys, which occur in the answers of `pavior allocate`, in `--placements` lines and in
/// queues. Their values are parsed only when needed.
const OTHER_KEYS: &[&str] =
    &["nodes", "requested", "granted", "submit", "start", "end", "estimate", "user"];

/// Job keys with numeric values.
const NUMBER_KEYS: [&str; 3] = ["start", "end", "user"];

/// The state of a machine, with the job names from the file.
pub(crate) struct Busy {
    pub(crate) state: State,
    names: Vec<Value>,
    /// The values of [`NUMBER_KEYS`] for each job, where the job's line has them.
    times: Vec<[Option<Value>; 3]>,
    by_name: HashMap<Value, (JobId, usize)>,
    /// If set, only jobs running at this time are accepted.
    instant: Option<f64>,
}

/// A job's name from an untrusted file. The displayed name contains only visible characters and has
/// a bounded length.
pub(crate) struct JobName<'b>(&'b Value);

impl<'b> JobName<'b> {
    pub(crate) fn of(name: &'b Value) -> JobName<'b> {
        JobName(name)
    }

    /// Returns the unescaped name, for drawings, which escape their input.
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

/// The end times of jobs, in any unit. Plans only compare end times, so these are replaced by
/// ranks, which start at 1.
pub(crate) struct Ends<'b> {
    by_job: Vec<Option<(f64, &'b Value)>>,
    sorted: Vec<(f64, &'b Value)>,
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

/// An error in a line, with the byte range of the wrong part.
pub(crate) type Wrong = (String, Range<usize>);

/// Reads a file, or standard input if the path is `-`. Without a file, all nodes are free.
pub(crate) fn read(path: Option<&Path>, grid: Grid) -> Result<Busy, Failure> {
    path.map_or_else(|| Ok(Busy::none(grid)), |path| read_at(path, grid, None))
}

/// Reads a file, or standard input if the path is `-`. If a time is given, accepts only jobs
/// running at that time.
pub(crate) fn read_at(path: &Path, grid: Grid, instant: Option<f64>) -> Result<Busy, Failure> {
    let mut busy = Busy { instant, ..Busy::none(grid) };
    each_line(path, |line, number| busy.line(line, number))?;
    Ok(busy)
}

/// Calls `look` with each nonempty line of a file, or of standard input if the path is `-`.
pub(crate) fn each_line(
    path: &Path,
    mut look: impl FnMut(&str, usize) -> Result<(), Wrong>,
) -> Result<(), Failure> {
    let (name, mut reader) = if path == Path::new("-") {
        ("stdin".into(), pavior::files::stdin(files::lines())?)
    } else {
        (files::shown(path), files::open(path)?)
    };
    let mut bytes = Vec::new();
    for number in 1usize.. {
        bytes.clear();
        let read = reader.read_until(b'\n', &mut bytes);
        if read.map_err(|error| Failure::usage(format!("cannot read {name}: {error}")))? == 0 {
            break;
        }
        let line = String::from_utf8_lossy(&bytes);
        let line = line.trim_end();
        if !line.trim_start().is_empty() {
            look(line, number)
                .map_err(|(message, span)| fault(&name, number, line, message, span))?;
        }
    }
    Ok(())
}

/// Creates an error that shows the line. If the line is long, the error shows only the part around
/// the wrong bytes.
fn fault(name: &str, number: usize, line: &str, message: String, span: Range<usize>) -> Failure {
    const CONTEXT_BYTES: usize = 60;
    let column = line[..span.start].chars().count() + 1;
    let boundary = |mut at: usize| {
        while !line.is_char_boundary(at) {
            at -= 1;
        }
        at
    };
    let first = boundary(span.start.saturating_sub(CONTEXT_BYTES));
    let end = boundary(line.len().min(span.end.min(span.start + CONTEXT_BYTES) + CONTEXT_BYTES));
    let prefix = if first > 0 { "…" } else { "" };
    let suffix = if end < line.len() { "…" } else { "" };
    let start = span.start - first + prefix.len();
    let place = Place {
        origin: format!("{name}:{number}:{column}:"),
        line: format!("{prefix}{}{suffix}", &line[first..end]),
        span: start..start + span.end.min(end) - span.start,
    };
    Failure::Usage { message, place: Some(place) }
}

impl Busy {
    /// Creates a state without jobs.
    pub(crate) fn none(grid: Grid) -> Busy {
        let (names, times) = (Vec::new(), Vec::new());
        Busy { state: State::new(grid), names, times, by_name: HashMap::new(), instant: None }
    }

    /// Creates a machine in this state, for questions that do not depend on the strategy. The
    /// machine uses First Fit, which works on all grids.
    pub(crate) fn machine(&self) -> Result<Machine, Failure> {
        let first_fit = "ff".parse().map_err(|bad: BadName| Failure::Other(bad.reason))?;
        self.state.machine(&first_fit, 1).map_err(Failure::usage)
    }

    /// Returns the name of a job as a JSON value.
    pub(crate) fn name(&self, job: JobId) -> &Value {
        &self.names[job.0 as usize]
    }

    /// Returns the name of a job for display, without quotes.
    pub(crate) fn shown_name(&self, job: JobId) -> JobName<'_> {
        JobName(self.name(job))
    }

    pub(crate) fn job_named(&self, name: &Value) -> Option<JobId> {
        self.by_name.get(name).map(|(job, _)| *job)
    }

    /// Returns the `start` of each job.
    ///
    /// # Errors
    /// Returns an error if a start is not a number.
    pub(crate) fn starts(&self) -> Result<Vec<Option<f64>>, Failure> {
        let starts = self.numbers(0)?;
        Ok(starts.into_iter().map(|start| Some(start?.0)).collect())
    }

    /// Returns the `user` of each job. Numbers that cannot be user ids are ignored.
    ///
    /// # Errors
    /// Returns an error if a user is not a number.
    pub(crate) fn users(&self) -> Result<Vec<Option<u64>>, Failure> {
        let users = self.numbers(2)?;
        Ok(users.into_iter().map(|user| user?.1.as_u64()).collect())
    }

    /// Returns the end times of all jobs that have one.
    ///
    /// # Errors
    /// Returns an error if an `end` is not a number.
    pub(crate) fn ends(&self) -> Result<Ends<'_>, Failure> {
        let by_job = self.numbers(1)?;
        let mut sorted: Vec<(f64, &Value)> = by_job.iter().copied().flatten().collect();
        sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
        Ok(Ends { by_job, sorted })
    }

    /// Returns one of the [`NUMBER_KEYS`] for each job, as a number and as written. `null` counts
    /// as missing.
    fn numbers<'b>(&'b self, key: usize) -> Result<Vec<Option<(f64, &'b Value)>>, Failure> {
        let number = |(times, name): (&'b [Option<Value>; 3], &Value)| {
            let Some(value) = times[key].as_ref().filter(|value| !value.is_null()) else {
                return Ok(None);
            };
            let number = value.as_f64().ok_or_else(|| {
                Failure::usage(format!(
                    "\"{}\" of job {} is not a number: {}",
                    NUMBER_KEYS[key],
                    shown(&name.to_string()),
                    shown(&value.to_string())
                ))
            })?;
            Ok(Some((number, value)))
        };
        self.times.iter().zip(&self.names).map(number).collect()
    }

    fn line(&mut self, line: &str, number: usize) -> Result<(), Wrong> {
        let (members, whole) = object(line, "{\"job\",\"parts\"} or {\"node\"}")?;
        let find = |key: &str| members.iter().find(|member| member.key == key);
        match (find("node"), find("parts")) {
            (Some(node), None) => {
                only(&members, &["node", "failed", "job"], &[])?;
                if let Some(failed) = find("failed").filter(|member| at(line, member) != true) {
                    return Err(("only failed nodes are listed".into(), failed.place.clone()));
                }
                self.node(line, node)
            }
            (_, Some(parts)) => {
                only(&members, &["job", "parts"], OTHER_KEYS)?;
                let job =
                    find("job").ok_or_else(|| ("missing \"job\"".to_string(), whole.clone()))?;
                let times = NUMBER_KEYS.map(|key| find(key).map(|member| at(line, member)));
                if let Some(instant) = self.instant {
                    let number = |time: &Option<Value>| time.as_ref().and_then(Value::as_f64);
                    let lacks = || ("--at needs the \"start\" of each job".to_string(), whole);
                    let start = number(&times[0]).ok_or_else(lacks)?;
                    if start > instant || number(&times[1]).is_some_and(|end| end <= instant) {
                        return Ok(());
                    }
                }
                self.job(line, number, job, parts)?;
                self.times.push(times);
                Ok(())
            }
            (None, None) => Err((
                "expected \"parts\" (the boxes of a job) or \"node\" (a failed node)".into(),
                whole,
            )),
        }
    }

    fn node(&mut self, line: &str, node: &Member) -> Result<(), Wrong> {
        let grid = *self.state.grid();
        let point = numbers(line, &node.place, &grid, "\"node\"", 0)?;
        if !grid.contains(point) {
            return Err((format!("the node is outside {grid}"), node.place.clone()));
        }
        self.state.fail(grid.id(point));
        Ok(())
    }

    fn job(
        &mut self,
        line: &str,
        number: usize,
        job: &Member,
        parts: &Member,
    ) -> Result<(), Wrong> {
        let grid = *self.state.grid();
        let name = at(line, job);
        let is_name = name.is_string() || name.is_i64() || name.is_u64();
        if !is_name {
            return Err(("\"job\" must be an integer or a string".into(), job.place.clone()));
        }
        if let Some((_, first)) = self.by_name.get(&name) {
            let name = shown(&name.to_string()).to_string();
            let message = format!("job {name} already holds nodes (line {first})");
            return Err((message, job.place.clone()));
        }
        let places = located::elements(line, &parts.place);
        if places.is_empty() {
            return Err((
                "\"parts\" must be a list of at least one box".into(),
                parts.place.clone(),
            ));
        }
        let cuboids =
            places.iter().map(|place| cuboid(line, place, &grid)).collect::<Result<Vec<_>, _>>()?;
        let id = JobId(self.names.len() as u64);
        self.state.hold(id, &cuboids).map_err(|clash| match clash {
            Clash::Repeated => (clash.to_string(), job.place.clone()),
            Clash::Outside { part } => (format!("the part is not on {grid}"), places[part].clone()),
            Clash::Overlap { part, holder } if holder == id => {
                ("the part overlaps another part of the same job".into(), places[part].clone())
            }
            Clash::Overlap { part, holder } => {
                let holder = &self.names[holder.0 as usize];
                let line = self.by_name[holder].1;
                let holder = shown(&holder.to_string()).to_string();
                let message = format!("the part overlaps a part of job {holder} on line {line}");
                (message, places[part].clone())
            }
        })?;
        self.by_name.insert(name.clone(), (id, number));
        self.names.push(name);
        Ok(())
    }
}

/// Parses the object in a line, in which no key may occur twice. Returns the members and the
/// position of the object.
pub(crate) fn object(line: &str, what: &str) -> Result<(Vec<Member>, Range<usize>), Wrong> {
    let start = line.len() - line.trim_start().len();
    let whole = start..line.len();
    serde_json::from_str::<IgnoredAny>(line).map_err(|error| {
        let at = place(&error, line);
        (format!("not JSON: {}", json::reason(&error)), at..at)
    })?;
    if !line[start..].starts_with('{') {
        return Err((format!("a line must be an object: {what}"), whole));
    }
    let members = located::members(line, &whole);
    for (index, member) in members.iter().enumerate() {
        if members[..index].iter().any(|other| other.key == member.key) {
            let message = format!("\"{}\" appears twice", shown(&member.key));
            return Err((message, member.key_place.clone()));
        }
    }
    // Members of nested objects must also be unique.
    json::check(line.as_bytes()).map_err(|error| {
        let (at, reason) = (place(&error, line), json::reason(&error));
        (reason, at..at)
    })?;
    Ok((members, whole))
}

/// Returns the byte position of a JSON error in its line.
pub(crate) fn place(error: &serde_json::Error, line: &str) -> usize {
    let at = error.column().saturating_sub(1).min(line.len());
    (0..=at).rev().find(|&at| line.is_char_boundary(at)).unwrap_or(0)
}

/// Parses the value of a member.
pub(crate) fn at(line: &str, member: &Member) -> Value {
    serde_json::from_str(&line[member.place.clone()]).unwrap_or_default()
}

/// Checks that an object contains only known keys.
pub(crate) fn only(members: &[Member], known: &[&str], others: &[&str]) -> Result<(), Wrong> {
    let is_unknown = |member: &&Member| !known.iter().chain(others).any(|key| member.key == **key);
    match members.iter().find(is_unknown) {
        None => Ok(()),
        Some(member) => {
            let (key, known) = (shown(&member.key), known.join(", "));
            let message = format!("unknown key \"{key}\"; the keys are {known}");
            Err((message, member.key_place.clone()))
        }
    }
}

fn cuboid(line: &str, place: &Range<usize>, grid: &Grid) -> Result<Cuboid, Wrong> {
    let members = located::members(line, place);
    only(&members, &["base", "sides"], &[])?;
    let read = |key: &str, least: u64| {
        let found = members.iter().find(|member| member.key == key);
        let found = found.ok_or_else(|| {
            ("a part must be {\"base\":[..],\"sides\":[..]}".to_string(), place.clone())
        })?;
        numbers(line, &found.place, grid, &format!("\"{key}\""), least)
    };
    Ok(Cuboid::new(read("base", 0)?, read("sides", 1)?))
}

/// Reads one number per axis of the machine, each at least `least`. Axes that the machine does not
/// have are set to `least`.
fn numbers(
    line: &str,
    place: &Range<usize>,
    grid: &Grid,
    what: &str,
    least: u64,
) -> Result<[u16; 3], Wrong> {
    let axes = grid.axes();
    let places = located::elements(line, place);
    if places.len() != axes {
        return Err((format!("{what} must be a list of {axes} integers"), place.clone()));
    }
    let mut numbers = [least as u16; 3];
    for (number, place) in numbers.iter_mut().zip(places) {
        let read = line[place.clone()].parse::<u64>().ok().filter(|&value| value >= least);
        *number = read.and_then(|value| u16::try_from(value).ok()).ok_or_else(|| {
            (format!("{what} must contain integers from {least} to {}", u16::MAX), place.clone())
        })?;
    }
    Ok(numbers)
}
