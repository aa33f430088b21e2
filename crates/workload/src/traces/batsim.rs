//! Batsim workloads: JSON documents with jobs and profiles.
//!
//! ```json
//! {"nb_res": 8,
//!  "jobs": [{"id": "1", "subtime": 0, "res": 4, "walltime": 90, "profile": "d60",
//!            "extra_data": {"shape": [2, 2, 1], "freedom": "turned"}}],
//!  "profiles": {"d60": {"type": "delay", "delay": 60}}}
//! ```
//!
//! A job runs for the `delay` in its profile. If the profile is a sequence (`seq`), the run time is
//! `repeat` times the sum of the run times of the sequence's profiles. Profiles without a run time
//! (computation, communication or traces) would require a platform model, which Pavior does not
//! have. It is therefore an error if a job uses such a profile. A positive `walltime` is the job's
//! estimate. In `extra_data`, `shape` has one to three sides and `freedom` names a [`Freedom`]
//! level. `extra_data` is an object or, in version 5, text that contains an object.
//!
//! Different versions use different names for profile types (`delay`, or `DelayProfile` in version
//! 5). The type is ignored, because only delay profiles have a `delay` member.
//!
//! Source: the Batsim documentation, "Workload". Cost: one pass, with the whole text in memory.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, BufRead, Write};
use std::ops::Range;

use pavior_kernel::{json, shown};
use pavior_mesh::{Freedom, Sides, UnknownFreedom, volume};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::record::{Collector, Draft, LONGEST};
use super::{LineError, ReadError, ReadOptions, Record, Tags, Trace};
use crate::TimeUnit;

#[derive(Deserialize)]
struct Workload<'t> {
    nb_res: Option<u64>,
    // Raw JSON, so that an invalid job can be located and skipped.
    #[serde(borrow)]
    jobs: Vec<&'t RawValue>,
    // Raw JSON, so that duplicate names can be detected.
    #[serde(borrow)]
    profiles: &'t RawValue,
}

#[derive(Deserialize)]
struct Profile {
    #[serde(rename = "type")]
    kind: Option<String>,
    delay: Option<f64>,
    /// The names of the profiles in a sequence.
    seq: Option<Vec<Box<RawValue>>>,
    /// The number of times a sequence is repeated, called `nb` in old versions.
    #[serde(alias = "nb")]
    repeat: Option<u64>,
}

/// A job. Names and extra data can have any length, so they are kept as raw JSON. Parsed values
/// would take many times as much memory.
#[derive(Deserialize)]
struct Entry<'t> {
    #[serde(borrow)]
    id: &'t RawValue,
    subtime: f64,
    res: f64,
    #[serde(borrow)]
    profile: &'t RawValue,
    walltime: Option<f64>,
    #[serde(borrow)]
    extra_data: Option<&'t RawValue>,
}

#[derive(Default, Deserialize)]
struct Extra {
    shape: Option<Box<RawValue>>,
    freedom: Option<Box<RawValue>>,
}

/// Reads a workload.
///
/// # Errors
/// Returns an error if the reader fails, if the text is not JSON in this format, if a job is
/// invalid (unless lenient), or if there are no jobs.
pub fn read(mut reader: impl BufRead, options: &ReadOptions) -> Result<Trace, ReadError> {
    let mut text = Vec::new();
    reader.read_to_end(&mut text).map_err(|source| ReadError::Io { line: 0, source })?;
    let mut place = Place { text: &text, offset: 0, line: 1 };
    if text.trim_ascii().is_empty() {
        return Err(ReadError::NoJobs { lines: 0 });
    }
    if !text.trim_ascii_start().starts_with(b"{") {
        return Err(place.fault(0..1, super::json_list::NO_OBJECT.into()).into());
    }
    let workload: Workload<'_> = serde_json::from_slice(&text).map_err(|error| {
        let (at, reason) = place.json_fault(&error);
        place.fault(at, reason)
    })?;
    let profiles = Profiles::read(&text, workload.profiles)?;
    let mut jobs = Collector::new(options);
    let mut numbers = Numbers::of(&workload.jobs);
    for (index, raw) in (0..).zip(&workload.jobs) {
        if !jobs.wants_more(0) {
            break;
        }
        // The raw value is a slice of the text, so its address determines its offset.
        place.advance(raw.get().as_ptr() as usize - text.as_ptr() as usize);
        let number = numbers.number(index, raw);
        let read = job(&place, raw, &profiles);
        match read.map_err(|(at, reason)| (at.clone(), place.with_path(index, &at, reason))) {
            Ok(draft) => jobs.offer(&Draft { number: number as f64, ..draft }),
            Err((at, reason)) => jobs.malformed(place.line, || place.fault(at, reason))?,
        }
    }
    if let Some(nodes) = workload.nb_res {
        jobs.header.push("MaxProcs", &nodes.to_string());
    }
    place.advance(text.len());
    jobs.finish(place.line)
}

/// An error's byte range and reason, before the error's line and column have been determined.
type Misfit = (Range<usize>, String);

/// A position that can only move forward through the text.
struct Place<'t> {
    text: &'t [u8],
    offset: usize,
    line: u64,
}

impl Place<'_> {
    fn advance(&mut self, to: usize) {
        self.line += newlines(&self.text[self.offset..to]);
        self.offset = to;
    }

    /// Locates an error from a JSON parser that started at this position.
    fn json_fault(&self, error: &serde_json::Error) -> Misfit {
        let rest = &self.text[self.offset..];
        let before = rest.split_inclusive(|&byte| byte == b'\n').take(error.line().max(1) - 1);
        let lines: usize = before.map(<[u8]>::len).sum();
        let at = (self.offset + lines + error.column().saturating_sub(1)).min(self.text.len());
        let reason = json::reason(error).replace("expected f64", "expected a number");
        (at..at + 1, reason)
    }

    /// Adds the job's path and byte offset to an error's reason if the line is too long for a line
    /// number to be helpful.
    fn with_path(&self, index: u64, at: &Range<usize>, reason: String) -> String {
        const LONG: usize = 400;
        let start = at.start.min(self.text.len());
        let before = self.text[..start].iter().rev().take(LONG);
        let after = self.text[start..].iter().take(LONG);
        let short = before.chain(after).any(|&byte| byte == b'\n');
        let whole = self.text.len() < LONG;
        if short || whole { reason } else { format!("jobs[{index}] (byte {start}): {reason}") }
    }

    /// Creates an error for a byte range beyond this position. If the range spans several lines,
    /// only the first line is shown.
    fn fault(&self, at: Range<usize>, reason: String) -> LineError {
        let newline = |&byte: &u8| byte == b'\n';
        let start = self.text[..at.start].iter().rposition(newline).map_or(0, |found| found + 1);
        let length = self.text[at.start..].iter().position(newline);
        let end = length.map_or(self.text.len(), |length| at.start + length);
        let line = self.line + newlines(&self.text[self.offset..at.start]);
        let span = at.start - start..at.end.min(end) - start;
        LineError::new(line, &self.text[start..end], span, reason)
    }
}

fn newlines(text: &[u8]) -> u64 {
    text.split(|&byte| byte == b'\n').count() as u64 - 1
}

struct Profiles {
    by_name: BTreeMap<String, Profile>,
    /// Cached run times of sequences, by name.
    sequences: RefCell<BTreeMap<String, f64>>,
}

/// The maximum nesting depth of sequences.
const DEEPEST: usize = 100;

impl Profiles {
    /// Reads the profiles. `raw` must be a slice of `text`.
    fn read(text: &[u8], raw: &RawValue) -> Result<Profiles, LineError> {
        let offset = raw.get().as_ptr() as usize - text.as_ptr() as usize;
        let place = Place { text, offset, line: 1 + newlines(&text[..offset]) };
        let by_name = json::read(raw.get().as_bytes()).map_err(|error| {
            let (at, reason) = place.json_fault(&error);
            place.fault(at, reason)
        })?;
        Ok(Profiles { by_name, sequences: RefCell::default() })
    }

    /// Returns a profile's run time, or the reason why the profile has none.
    fn run(&self, name: &str, depth: usize) -> Result<f64, String> {
        let Some(profile) = self.by_name.get(name) else {
            return Err(format!("unknown profile `{}`", shown(name)));
        };
        if let Some(delay) = profile.delay {
            return Ok(delay);
        }
        let Some(seq) = &profile.seq else {
            let (name, kind) = (shown(name), shown(profile.kind.as_deref().unwrap_or("?")));
            return Err(format!("profile `{name}` of type `{kind}` has no run time"));
        };
        if let Some(&run) = self.sequences.borrow().get(name) {
            return Ok(run);
        }
        if depth == DEEPEST {
            return Err(format!(
                "profile `{}` is a sequence that contains itself, or is nested too deeply",
                shown(name)
            ));
        }
        let once = seq.iter().map(|one| self.run(&word(one), depth + 1)).sum::<Result<f64, _>>()?;
        let run = once * profile.repeat.unwrap_or(1) as f64;
        self.sequences.borrow_mut().insert(name.to_string(), run);
        Ok(run)
    }
}

fn job(place: &Place<'_>, raw: &RawValue, profiles: &Profiles) -> Result<Draft, Misfit> {
    let fault = |reason: String| (place.offset..place.offset + raw.get().len(), reason);
    let entry: Entry<'_> =
        json::read(raw.get().as_bytes()).map_err(|error| place.json_fault(&error))?;
    let (id, name) = (word(entry.id), word(entry.profile));
    let id = shown(&id);
    if !profiles.by_name.contains_key(&name) {
        return Err(fault(format!("job {id} refers to an unknown profile `{}`", shown(&name))));
    }
    let run = profiles.run(&name, 0).map_err(fault)?;
    if entry.subtime > LONGEST || run > LONGEST {
        return Err(fault(format!("job {id} has a time above {LONGEST:e} s")));
    }
    if entry.res.fract() != 0.0 {
        return Err(fault(format!(
            "job {id} has {} nodes, which is not a whole number",
            entry.res
        )));
    }
    let extra = extra(entry.extra_data).map_err(&fault)?;
    let shape = shape(&extra).map_err(&fault)?;
    let freedom = freedom(&extra).map_err(&fault)?;
    if let Some(sides) = shape.filter(|&sides| (volume(sides) as f64) < entry.res) {
        let reason = format!("the shape {sides:?} has fewer than {} nodes", entry.res);
        return Err(fault(reason));
    }
    Ok(Draft {
        // Set once every job's number is known.
        number: -1.0,
        line: place.line,
        submit: entry.subtime,
        run,
        estimate: entry.walltime.map_or(-1.0, |walltime| walltime.min(LONGEST)),
        nodes: entry.res,
        in_processors: shape.is_none(),
        state: -1,
        shape,
        freedom,
        tags: Tags::UNKNOWN,
        wait: -1.0,
        after: Vec::new(),
        hosts: None,
    })
}

/// Returns the number in an id: the whole id, or the part after the last `!`. For example, `w0!17`
/// is job 17 in workload w0. Numbers of 2^63 or more are ignored, to leave space for assigned
/// numbers.
fn number(job: &RawValue) -> Option<u64> {
    #[derive(Deserialize)]
    struct Named<'t> {
        #[serde(borrow)]
        id: &'t RawValue,
    }
    let named: Named<'_> = serde_json::from_str(job.get()).ok()?;
    let number = word(named.id).rsplit('!').next().and_then(|id| id.parse().ok());
    number.filter(|&number: &u64| number < 1 << 63)
}

/// A source of distinct job numbers. A job gets the number in its id. If the id contains no number,
/// the job gets its position or, if that number is taken, the next number above all ids and
/// positions. If two ids contain the same number, all jobs are numbered by position.
///
/// Numbers are assigned in order, one job at a time, so that reading a document with millions of
/// invalid entries fails at the first invalid entry.
struct Numbers {
    /// The numbers already in use, or `None` if jobs are numbered by position.
    taken: Option<BTreeSet<u64>>,
    next: u64,
}

impl Numbers {
    fn of(jobs: &[&RawValue]) -> Numbers {
        let mut taken = BTreeSet::new();
        let all_differ =
            jobs.iter().filter_map(|job| number(job)).all(|number| taken.insert(number));
        let next = taken.last().map_or(0, |most| most.saturating_add(1)).max(jobs.len() as u64);
        Numbers { taken: all_differ.then_some(taken), next }
    }

    fn number(&mut self, place: u64, job: &RawValue) -> u64 {
        let Some(taken) = &mut self.taken else { return place };
        if let Some(own) = number(job) {
            return own;
        }
        if taken.insert(place) {
            return place;
        }
        self.next += 1;
        self.next - 1
    }
}

/// Returns a name given as a JSON string or number.
fn word(value: &RawValue) -> String {
    serde_json::from_str(value.get()).unwrap_or_else(|_| value.get().to_string())
}

/// Reads a job's extra data: an object, or text that contains one. Ignores anything else.
fn extra(given: Option<&RawValue>) -> Result<Extra, String> {
    let Some(given) = given else { return Ok(Extra::default()) };
    let object = |text: &str| {
        // Without this check, a list of two values would be parsed as an object.
        let is_object = text.trim_start().starts_with('{');
        is_object.then(|| serde_json::from_str(text).ok()).flatten().unwrap_or_default()
    };
    let Ok(text) = serde_json::from_str::<String>(given.get()) else {
        return Ok(object(given.get()));
    };
    match json::check(text.as_bytes()) {
        // The text contains an object with a duplicate member.
        Err(error) if error.is_data() => Err(format!("extra_data: {}", json::reason(&error))),
        _ => Ok(object(&text)),
    }
}

fn freedom(extra: &Extra) -> Result<Option<Freedom>, String> {
    let Some(given) = extra.freedom.as_deref() else { return Ok(None) };
    word(given).parse().map(Some).map_err(|unknown: UnknownFreedom| {
        UnknownFreedom(shown(&unknown.0).to_string()).to_string()
    })
}

fn shape(extra: &Extra) -> Result<Option<Sides>, String> {
    let Some(given) = extra.shape.as_deref() else { return Ok(None) };
    // Three sides need few characters, so text of 1000 bytes or more is rejected unparsed.
    let is_short = given.get().len() < 1000;
    let sides: Option<Vec<u16>> =
        is_short.then(|| serde_json::from_str(given.get()).ok()).flatten();
    match sides.as_deref().filter(|sides| !sides.contains(&0)) {
        Some(&[x]) => Ok(Some([x, 1, 1])),
        Some(&[x, y]) => Ok(Some([x, y, 1])),
        Some(&[x, y, z]) => Ok(Some([x, y, z])),
        _ => {
            // The error message shows the shape without whitespace.
            let given = if is_short {
                serde_json::from_str(given.get()).map(|value: Value| value.to_string())
            } else {
                Ok(given.get().to_string())
            };
            let given = given.unwrap_or_default();
            let given = shown(&given);
            Err(format!("a shape must have one to three sides from 1 to 65535, not {given}"))
        }
    }
}

/// A Batsim version, which determines the names used in workloads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Version {
    /// Version 4, which has profiles of type `delay` and stores extra data as an object.
    V4,
    /// Version 5, which has profiles of type `DelayProfile` and stores extra data as text.
    V5,
}

/// Writes a workload for the given number of resources, with one profile for each distinct run
/// time.
///
/// # Errors
/// Returns an error if writing fails.
pub fn write(
    mut to: impl Write,
    records: &[Record],
    resources: u64,
    version: Version,
) -> io::Result<()> {
    let distinct: BTreeSet<u64> = records.iter().map(|record| record.number).collect();
    // Batsim rejects workloads in which an id is repeated.
    let by_number = distinct.len() == records.len();
    let jobs: Vec<Value> = records
        .iter()
        .enumerate()
        .map(|(place, record)| {
            let id = if by_number { record.number } else { place as u64 };
            entry(&id.to_string(), record, version)
        })
        .collect();
    let runs: BTreeSet<_> = records.iter().map(|record| record.run).collect();
    let kind = if version == Version::V4 { "delay" } else { "DelayProfile" };
    let profiles: serde_json::Map<String, Value> = runs
        .into_iter()
        .map(|run| {
            let delay = TimeUnit::SECOND.units(run);
            (profile_name(run), json!({ "type": kind, "delay": delay }))
        })
        .collect();
    let workload = json!({ "nb_res": resources, "jobs": jobs, "profiles": profiles });
    serde_json::to_writer_pretty(&mut to, &workload)?;
    writeln!(to)
}

fn profile_name(run: pavior_kernel::Time) -> String {
    format!("delay-{}", super::seconds(run))
}

fn entry(id: &str, record: &Record, version: Version) -> Value {
    let mut entry = json!({
        "id": id,
        "subtime": TimeUnit::SECOND.units(record.submit),
        "res": record.nodes,
        "profile": profile_name(record.run),
    });
    if let Some(estimate) = record.estimate {
        entry["walltime"] = json!(TimeUnit::SECOND.units(estimate));
    }
    let mut extra = serde_json::Map::new();
    extra.extend(record.shape.map(|shape| ("shape".to_string(), json!(shape))));
    extra.extend(record.freedom.map(|freedom| ("freedom".to_string(), json!(freedom.word()))));
    if !extra.is_empty() {
        let extra = Value::Object(extra);
        entry["extra_data"] =
            if version == Version::V4 { extra } else { Value::String(extra.to_string()) };
    }
    entry
}
