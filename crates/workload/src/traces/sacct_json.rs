//! Output from Slurm's `sacct --json`, in any version of its `data_parser`.
//!
//! ```json
//! {"jobs": [{"job_id": 71, "allocation_nodes": 4, "partition": "gpu", "user": "ann",
//!            "state": {"current": ["COMPLETED"]},
//!            "time": {"submission": 1767600000, "start": 1767600100, "end": 1767603700,
//!                     "elapsed": 3600, "limit": {"set": true, "infinite": false, "number": 9}}}]}
//! ```
//!
//! The state is a word, or a list whose first word is used. A number may be plain, quoted, or in
//! the form `{set, infinite, number}`. In that form, a number that is infinite or not set is
//! unknown. The same `job_id` in different clusters (`cluster`) refers to different jobs. Times are
//! in seconds since 1970, and `limit` is in minutes. The size is `allocation_nodes`, or else the
//! allocated or requested `node` count in the trackable resources (`tres`). Failing that, the size
//! is the `cpu` count in `tres` or `required.CPUs`, divided by a number given in an option. Array
//! tasks and components of heterogeneous jobs are separate jobs, each with its own `job_id`.
//! Repeated job ids, runs without an end, and `--dependency=after*` in `submit_line` are treated as
//! in `sacct` text output. Steps and all other members are ignored.
//!
//! Source: the data parsers in Slurm 21.08 to 25.05. Cost: one pass, keeping one job's text and an
//! entry per job in memory.

use std::io::BufRead;

use serde::Deserialize;
use serde_json::Value;

use super::json_list::{self, Entry};
use super::latest::Latest;
use super::record::{Collector, Draft, LONGEST, wait};
use super::sacct::cells::{self, State};
use super::sacct::{Clusters, MORE_CLUSTERS, dependency};
use super::text;
use super::{Field, LineError, Names, ReadError, ReadOptions, Tags, Trace};

#[derive(Default, Deserialize)]
#[serde(default)]
struct Job {
    #[serde(rename = "job_id")]
    id: Value,
    allocation_nodes: Value,
    tres: Value,
    required: Value,
    state: Value,
    time: Value,
    partition: Value,
    qos: Value,
    user: Value,
    account: Value,
    group: Value,
    submit_line: Value,
    nodes: Value,
    cluster: Value,
}

/// Reads a log.
///
/// # Errors
/// Returns an error if the reader fails, if the text is not JSON with a list of jobs, if a job is
/// invalid (unless lenient), or if there are no jobs.
///
/// ```
/// use pavior_workload::traces::{ReadOptions, sacct_json};
/// let log = r#"{"jobs": [{"job_id": 71, "allocation_nodes": 4, "state": {"current": "FAILED"},
///     "time": {"submission": 1000, "start": 1010, "end": 1070, "elapsed": 60, "limit": 2}}]}"#;
/// let trace = sacct_json::read(log.as_bytes(), &ReadOptions::default())?;
/// assert_eq!((trace.records[0].number, trace.records[0].nodes), (71, 4));
/// assert_eq!(trace.records[0].run.0, 60_000_000);
/// # Ok::<(), pavior_workload::traces::ReadError>(())
/// ```
pub fn read(reader: impl BufRead, options: &ReadOptions) -> Result<Trace, ReadError> {
    let mut jobs = Collector::new(options);
    let (mut log, mut names) = (Latest::new(), Names::default());
    let mut clusters = Clusters::default();
    let read = json_list::each(reader, "jobs", &[], &mut |entry| {
        if !jobs.wants_more(log.len()) {
            return Ok(false);
        }
        match job(entry, options, &mut names, &mut clusters) {
            Ok((key, draft)) => {
                if key.0 > 0 {
                    jobs.note(MORE_CLUSTERS, entry.line);
                }
                log.push(key, draft);
            }
            Err(fault) => jobs.malformed(entry.line, || fault)?,
        }
        Ok(true)
    })?;
    jobs.set_names(names)?;
    log.offer(&mut jobs, None);
    jobs.finish_document(&read)
}

fn job(
    entry: &Entry<'_>,
    options: &ReadOptions,
    names: &mut Names,
    clusters: &mut Clusters,
) -> Result<((u64, u64), Draft), LineError> {
    let job: Job = entry.read()?;
    let base = clusters.base(job.cluster.as_str().unwrap_or_default().as_bytes());
    let at = |path: &str, value: &Value| {
        let reason = "expected a number or an object {set, infinite, number}";
        number(value).map_err(|()| entry.fault(path, reason))
    };
    let id = at(".job_id", &job.id)?.filter(|&id| id >= 0.0 && id.fract() == 0.0);
    let id = id.ok_or_else(|| entry.fault(".job_id", "a job's id must be a whole number"))?;
    let word = match &job.state {
        Value::Object(state) => state.get("current").unwrap_or(&Value::Null),
        other => other,
    };
    let word = word.as_array().map_or(Some(word), |words| words.first()).and_then(Value::as_str);
    let state = word.and_then(|word| cells::state(word.as_bytes()));
    let state =
        state.ok_or_else(|| entry.fault(".state.current", "expected a word such as COMPLETED"))?;
    let time = |name: &str| at(&format!(".time.{name}"), &job.time[name]);
    let submit = time("submission")?.filter(|&at| at > 0.0).unwrap_or(-1.0);
    if submit > LONGEST {
        return Err(entry.fault(".time.submission", format!("above {LONGEST:e} s")));
    }
    let limit = time("limit")?.map_or(-1.0, |minutes| (minutes * 60.0).min(LONGEST));
    let size = size(entry, &job)?;
    if matches!(size, Size::Processors(_)) && options.processors_per_node.is_none() {
        let reason = "the job has a processor count but no node count; use --processors-per-node";
        return Err(entry.fault("", reason));
    }
    let (Size::Nodes(count) | Size::Processors(count)) = size;
    let start = time("start")?;
    let run = run(state, [start, time("end")?, time("elapsed")?], count);
    let state_word = word.map(|word| cells::state_word(word.as_bytes()));
    let state_number = state_word.map_or(-1, |word| names.number(Field::Status, word));
    let mut class = |field, value: &Value| match value.as_str() {
        Some(name) if !name.is_empty() => names.number(field, name.as_bytes()),
        _ => -1,
    };
    let group = if job.group.is_string() { &job.group } else { &job.account };
    let submit_line = job.submit_line.as_str().unwrap_or_default();
    let draft = Draft {
        number: base as f64 + id,
        line: entry.line,
        submit,
        run: run.min(LONGEST),
        estimate: limit,
        nodes: count,
        in_processors: matches!(size, Size::Processors(_)),
        state: state_number,
        shape: None,
        freedom: None,
        tags: Tags {
            status: state.status,
            user: class(Field::User, &job.user),
            group: class(Field::Group, group),
            application: -1,
            queue: class(Field::Queue, &job.qos),
            partition: class(Field::Partition, &job.partition),
        },
        wait: wait(submit, start),
        after: dependency::predecessors(submit_line.as_bytes(), base),
        hosts: job.nodes.as_str().filter(|_| options.hosts).map(String::from),
    };
    Ok(((base, id as u64), draft))
}

#[derive(Clone, Copy)]
enum Size {
    Nodes(f64),
    Processors(f64),
}

/// Returns the first positive size, or 0 nodes if there is none.
fn size(entry: &Entry<'_>, job: &Job) -> Result<Size, LineError> {
    let whole = |path: &str, value: &Value| match number(value) {
        Ok(Some(count)) if count.fract() != 0.0 => Err(entry.fault(path, "not a whole number")),
        Ok(count) => Ok(count.filter(|&count| count > 0.0)),
        Err(()) => Err(entry.fault(path, "not a number")),
    };
    if let Some(nodes) = whole(".allocation_nodes", &job.allocation_nodes)? {
        return Ok(Size::Nodes(nodes));
    }
    let of = |kind: &str| -> Result<Option<f64>, LineError> {
        for list in [&job.tres["allocated"], &job.tres["requested"]] {
            let mut all = list.as_array().into_iter().flatten();
            let found =
                all.find(|one| one["type"] == kind).map_or(&Value::Null, |one| &one["count"]);
            if let Some(count) = whole(".tres", found)? {
                return Ok(Some(count));
            }
        }
        Ok(None)
    };
    if let Some(nodes) = of("node")? {
        return Ok(Size::Nodes(nodes));
    }
    let required = || whole(".required.CPUs", &job.required["CPUs"]);
    let processors = of("cpu")?.map_or_else(required, |count| Ok(Some(count)))?;
    Ok(processors.map_or(Size::Nodes(0.0), Size::Processors))
}

/// Returns the run time in seconds, or -1 if the job never ran or has not ended.
fn run(state: State, [start, end, elapsed]: [Option<f64>; 3], granted: f64) -> f64 {
    let known = |time: Option<f64>| time.filter(|&time| time > 0.0);
    let between = known(start).zip(known(end)).map(|(start, end)| end - start);
    let run = elapsed.or(between).unwrap_or(-1.0);
    let never = known(start).is_none() || run == 0.0 && (state.cancelled || granted == 0.0);
    if !state.over || never { -1.0 } else { run }
}

/// Parses a number, either plain or with flags. Returns `None` if the number is unknown.
fn number(value: &Value) -> Result<Option<f64>, ()> {
    match value {
        Value::Null => Ok(None),
        Value::Number(number) => Ok(number.as_f64()),
        Value::String(text) if text.is_empty() => Ok(None),
        Value::String(text) => text::number(text.as_bytes()).map(Some).ok_or(()),
        Value::Object(flags) => {
            let is = |name: &str| flags.get(name).and_then(Value::as_bool).unwrap_or_default();
            if flags.contains_key("set") && !is("set") || is("infinite") {
                return Ok(None);
            }
            let plain = flags.get("number").filter(|value| !value.is_object());
            plain.map_or(Err(()), number)
        }
        _ => Err(()),
    }
}
