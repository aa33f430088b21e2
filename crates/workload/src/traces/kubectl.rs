//! The Jobs and Pods in a Kubernetes cluster: `kubectl get jobs,pods -A -o json`.
//!
//! ```json
//! {"items": [{"kind": "Job", "metadata": {"name": "a", "namespace": "n", "uid": "u1",
//!               "creationTimestamp": "2026-01-05T08:00:00Z",
//!               "annotations": {"pavior.dev/shape": "2x2x1"}},
//!             "status": {"startTime": "2026-01-05T08:10:00Z",
//!                        "completionTime": "2026-01-05T09:10:00Z"}}]}
//! ```
//!
//! Each Job is one job, except that all Jobs in a JobSet form a single job. The submit time is the
//! creation time. The job starts at `status.startTime` or, failing that, when its first Pod starts.
//! It ends at its completion time, at the time in its `Failed` condition or, failing both, when its
//! last container ends. Suspended time counts as waiting, because resuming resets `startTime`. The
//! size is given by `pavior.dev/shape` or, failing that, by the number of distinct nodes that the
//! Pods used. If the Jobs in a JobSet do not share a box (`pavior.dev/box: set`), their shapes
//! count only toward the size. The estimate is `activeDeadlineSeconds`. The queue is the Kueue
//! queue, and the group is the namespace. The status is 1 if the job completed and 0 if it failed.
//!
//! The text may contain lists or individual objects. In a list of a single kind
//! (`"kind": "JobList"`), items may lack `kind`. Each date has a time zone: `Z` or an offset such
//! as `+02:00`.
//!
//! Objects are skipped and counted if they are neither Jobs nor Pods that belong to a Job. Source:
//! the APIs of Kubernetes 1.36 (`batch/v1`), JobSet 0.11 and Kueue 0.17. Cost: one pass, keeping
//! one object's text and an entry per Job and Pod in memory.

use std::collections::{BTreeMap, HashMap};
use std::io::BufRead;

use pavior_mesh::{Sides, volume};
use rustc_hash::FxHashSet;
use serde::Deserialize;
use serde_json::Value;

use super::json_list::{self, Entry};
use super::latest::Latest;
use super::record::{Collector, Draft, wait};
use super::sacct::cells;
use super::{Field, LineError, Names, ReadError, ReadOptions, Tags, Trace};

const MEMBERS: [&str; 4] = ["kind", "metadata", "spec", "status"];

#[derive(Default, Deserialize)]
#[serde(default)]
struct Object {
    kind: Value,
    metadata: Value,
    spec: Value,
    status: Value,
}

/// A single Job, or all Jobs in a JobSet.
struct Unit {
    number: u64,
    line: u64,
    submit: f64,
    start: Option<f64>,
    /// The time when the last Job ended. Valid only if all Jobs have ended.
    end: Option<f64>,
    is_open: bool,
    estimate: f64,
    /// The number of nodes, computed from the Jobs' shapes.
    nodes: u64,
    /// The shape, if there is one for the whole unit.
    shape: Option<Sides>,
    tags: Tags,
    uids: Vec<String>,
}

/// The Pods that belong to a Job.
#[derive(Default)]
struct Pods {
    nodes: FxHashSet<u64>,
    start: Option<f64>,
    end: Option<f64>,
}

/// The objects found in a log.
#[derive(Default)]
struct World {
    /// Units, keyed by namespace, a flag (true for a JobSet), and name.
    units: BTreeMap<(String, bool, String), Unit>,
    /// Pods, keyed by their Job's uid.
    pods: HashMap<String, Pods>,
    /// Node numbers by name.
    nodes: HashMap<String, u64>,
    names: Names,
}

/// Reads a log.
///
/// # Errors
/// Returns an error if the reader fails, if the text is not JSON with a list of items, if an object
/// is invalid (unless lenient), or if there are no Jobs.
pub fn read(reader: impl BufRead, options: &ReadOptions) -> Result<Trace, ReadError> {
    let mut jobs = Collector::new(options);
    let mut world = World::default();
    let read = json_list::each(reader, "items", &MEMBERS, &mut |entry| {
        match world.take(entry) {
            Ok(true) => {}
            Ok(false) => {
                jobs.note("skipped objects other than Jobs and their Pods", entry.line);
            }
            Err(fault) => jobs.malformed(entry.line, || fault)?,
        }
        Ok(true)
    })?;
    let World { units, pods, names, nodes } = world;
    let nodes: HashMap<u64, String> = if options.hosts {
        nodes.into_iter().map(|(name, node)| (node, name)).collect()
    } else {
        HashMap::new()
    };
    jobs.set_names(names)?;
    let mut units: Vec<Unit> = units.into_values().collect();
    units.sort_by_key(|unit| unit.number);
    let mut log = Latest::new();
    // The whole list is read even if the number of jobs is limited, because the Pods come after the
    // Jobs.
    for unit in units {
        if !jobs.wants_more(log.len()) {
            break;
        }
        log.push(unit.number, unit.draft(&pods, &nodes));
    }
    log.offer(&mut jobs, None);
    jobs.finish_document(&read)
}

impl World {
    /// Adds an object. Returns false if the object is irrelevant.
    fn take(&mut self, entry: &Entry<'_>) -> Result<bool, LineError> {
        let object: Object = entry.read()?;
        let of_list = entry.kind.and_then(|kind| kind.trim_matches('"').strip_suffix("List"));
        match object.kind.as_str().or(of_list.filter(|kind| !kind.is_empty())) {
            Some("Job") => self.job(entry, &object).map(|()| true),
            Some("Pod") => self.pod(entry, &object),
            Some(_) => Ok(false),
            None => {
                let reason = "a Kubernetes object must have a kind unless its list has one, such \
                              as JobList, before the items";
                Err(entry.fault(".kind", reason))
            }
        }
    }

    fn job(&mut self, entry: &Entry<'_>, object: &Object) -> Result<(), LineError> {
        let Object { metadata, spec, status, .. } = object;
        let text = |value: &Value| value.as_str().unwrap_or_default().to_string();
        let (label, note) = (&metadata["labels"], &metadata["annotations"]);
        let set = label["jobset.sigs.k8s.io/jobset-name"].as_str();
        let submit = date(entry, ".metadata.creationTimestamp", &metadata["creationTimestamp"])?;
        let start = date(entry, ".status.startTime", &status["startTime"])?;
        let (end, is_complete) = end(entry, status)?;
        let shape = shape(entry, &note["pavior.dev/shape"])?;
        let is_whole = set.is_none() || note["pavior.dev/box"] == "set";
        let nodes = shape.map_or(0, volume);
        let namespace = text(&metadata["namespace"]);
        let queue = label["kueue.x-k8s.io/queue-name"].as_str();
        let tags = Tags {
            status: if is_complete { 1 } else { end.map_or(-1, |_| 0) },
            group: self.names.number(Field::Group, namespace.as_bytes()),
            queue: queue.map_or(-1, |it| self.names.number(Field::Queue, it.as_bytes())),
            ..Tags::UNKNOWN
        };
        let name = set.map_or_else(|| text(&metadata["name"]), str::to_string);
        let number = self.units.len() as u64;
        let unit = self.units.entry((namespace, set.is_some(), name)).or_insert(Unit {
            number,
            line: entry.line,
            submit: -1.0,
            start: None,
            end: None,
            is_open: false,
            estimate: -1.0,
            nodes: 0,
            shape: None,
            tags,
            uids: Vec::new(),
        });
        if unit.submit < 0.0 || submit.is_some_and(|submit| submit < unit.submit) {
            unit.submit = submit.unwrap_or(-1.0);
        }
        unit.start = least(unit.start, start);
        unit.end = greatest(unit.end, end);
        unit.is_open |= end.is_none();
        unit.tags.status = unit.tags.status.min(tags.status);
        unit.estimate = unit.estimate.max(spec["activeDeadlineSeconds"].as_f64().unwrap_or(-1.0));
        unit.nodes = if is_whole { unit.nodes.max(nodes) } else { unit.nodes + nodes };
        unit.shape = unit.shape.or(shape.filter(|_| is_whole));
        unit.uids.push(text(&metadata["uid"]));
        Ok(())
    }

    /// Adds a Pod. Returns false if the Pod does not belong to a Job.
    fn pod(&mut self, entry: &Entry<'_>, object: &Object) -> Result<bool, LineError> {
        let owners = object.metadata["ownerReferences"].as_array();
        let mut owners = owners.into_iter().flatten();
        let owner = owners.find(|owner| owner["kind"] == "Job").and_then(|it| it["uid"].as_str());
        let Some(owner) = owner else { return Ok(false) };
        let status = &object.status;
        let start = date(entry, ".status.startTime", &status["startTime"])?;
        let mut end = None;
        for container in status["containerStatuses"].as_array().into_iter().flatten() {
            let finished = &container["state"]["terminated"]["finishedAt"];
            end = greatest(end, date(entry, ".status.containerStatuses", finished)?);
        }
        let pods = self.pods.entry(owner.to_string()).or_default();
        if let Some(node) = object.spec["nodeName"].as_str().filter(|name| !name.is_empty()) {
            let next = self.nodes.len() as u64;
            pods.nodes.insert(*self.nodes.entry(node.to_string()).or_insert(next));
        }
        pods.start = least(pods.start, start);
        pods.end = greatest(pods.end, end);
        Ok(true)
    }
}

impl Unit {
    /// Creates a job from this unit and its Pods in `pods`. `names` contains node names if
    /// requested.
    fn draft(&self, pods: &HashMap<String, Pods>, names: &HashMap<u64, String>) -> Draft {
        let own = || self.uids.iter().filter_map(|uid| pods.get(uid));
        let nodes: FxHashSet<u64> = own().flat_map(|pods| pods.nodes.iter().copied()).collect();
        let hosts: Option<Vec<&str>> = nodes.iter().map(|node| Some(&**names.get(node)?)).collect();
        let hosts = hosts.map(|names| names.join(","));
        let start = self.start.or(own().fold(None, |start, pods| least(start, pods.start)));
        let last = || own().fold(None, |end, pods| greatest(end, pods.end));
        let end = self.end.filter(|&end| end > 0.0).or_else(last).filter(|_| !self.is_open);
        let run = start.zip(end).map_or(-1.0, |(start, end)| end - start);
        Draft {
            number: self.number as f64,
            line: self.line,
            submit: self.submit,
            run,
            estimate: self.estimate,
            nodes: if self.nodes > 0 { self.nodes as f64 } else { nodes.len() as f64 },
            in_processors: false,
            state: -1,
            shape: self.shape,
            freedom: None,
            tags: self.tags,
            wait: wait(self.submit, start),
            after: Vec::new(),
            hosts: hosts.filter(|names| !names.is_empty()),
        }
    }
}

/// Returns a Job's end time (0 if it ended at an unknown time) and a flag: true if it completed.
fn end(entry: &Entry<'_>, status: &Value) -> Result<(Option<f64>, bool), LineError> {
    if let Some(end) = date(entry, ".status.completionTime", &status["completionTime"])? {
        return Ok((Some(end), true));
    }
    for condition in status["conditions"].as_array().into_iter().flatten() {
        let is_complete = condition["type"] == "Complete";
        if condition["status"] == "True" && (is_complete || condition["type"] == "Failed") {
            let end = date(entry, ".status.conditions", &condition["lastTransitionTime"])?;
            return Ok((Some(end.unwrap_or(0.0)), is_complete));
        }
    }
    Ok((None, false))
}

/// Parses a date. Returns `None` if the field is absent.
fn date(entry: &Entry<'_>, path: &str, value: &Value) -> Result<Option<f64>, LineError> {
    if value.is_null() {
        return Ok(None);
    }
    let has_zone = |text: &&str| {
        let zone = text.get("2026-01-05T08:00:00".len()..);
        zone.is_some_and(|zone| zone.contains(['Z', '+', '-']))
    };
    let date = value.as_str().filter(has_zone).and_then(|text| cells::instant(text.as_bytes()));
    let fault =
        || entry.fault(path, "expected a date with a time zone, such as 2026-01-05T08:00:00Z");
    date.map(|(seconds, _)| Some(seconds)).ok_or_else(fault)
}

/// Parses a shape. Returns `None` if the field is absent.
fn shape(entry: &Entry<'_>, value: &Value) -> Result<Option<Sides>, LineError> {
    if value.is_null() {
        return Ok(None);
    }
    let side = |text: &str| text.parse().ok().filter(|&side: &u16| side > 0);
    let sides = value.as_str().and_then(|text| {
        let sides: Option<Vec<u16>> = text.split('x').map(side).collect();
        sides.filter(|sides| sides.len() <= 3)
    });
    let sides = sides.map(|given| {
        let mut sides = [1; 3];
        sides[..given.len()].copy_from_slice(&given);
        sides
    });
    let reason = "pavior.dev/shape is not a valid shape; use one such as 4x4x2";
    let fault = || entry.fault(".metadata.annotations", reason);
    sides.map(Some).ok_or_else(fault)
}

fn least(one: Option<f64>, other: Option<f64>) -> Option<f64> {
    one.into_iter().chain(other).reduce(f64::min)
}

fn greatest(one: Option<f64>, other: Option<f64>) -> Option<f64> {
    one.into_iter().chain(other).reduce(f64::max)
}
