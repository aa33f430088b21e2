//! Uses the audit log to check that confirmed placements do not overlap. Also checks that each pod
//! was bound to the node that its Job's placement assigns to the pod's rank.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use pavior::{Cuboid, Grid};
use serde_json::{Value, json};

#[derive(Debug, Default)]
pub(crate) struct Record {
    /// The current confirmed placements, by uid.
    confirmed: HashMap<String, Spec>,
    /// The number of confirmations that overlapped another confirmed placement.
    pub(crate) overlaps: usize,
    pub(crate) confirmations: usize,
    /// The number of confirmed placements that cover several Jobs.
    pub(crate) of_sets: usize,
    /// The number of bound pods of each Job, by the Job's uid.
    pub(crate) bound: BTreeMap<String, usize>,
    /// The number of pods bound to a node other than the one assigned by their Job's placement.
    pub(crate) misplaced: usize,
    /// All placements, by uid.
    placements: HashMap<String, Spec>,
    pods: HashMap<String, PodOfJob>,
    /// The node of each pod, by the pod's uid.
    nodes: HashMap<String, String>,
    /// The number of pods of each Job, by the Job's uid.
    completions: HashMap<String, usize>,
}

/// A pod's Job, identified by uid, and the pod's rank within that Job.
#[derive(Clone, Debug)]
struct PodOfJob {
    job: String,
    rank: usize,
}

/// The Jobs (by uid) and the nodes of a placement, both in rank order.
#[derive(Clone, Debug)]
struct Spec {
    jobs: Vec<String>,
    nodes: Vec<String>,
}

impl Record {
    pub(crate) fn read(folder: &Path) -> Record {
        Record::of(&events(folder))
    }

    fn of(events: &[Value]) -> Record {
        let mut record = Record::default();
        for event in events {
            record.learn(event);
        }
        for event in events {
            record.event(event);
        }
        record
    }

    /// Returns the number of placements whose nodes do not form a box in rank order.
    pub(crate) fn crooked(&self, grid: &Grid) -> usize {
        self.placements.values().filter(|spec| !is_box(grid, &spec.nodes)).count()
    }

    /// Returns the number of proposed placements and the number of those that cover several Jobs.
    /// Ignores confirmations, because a confirmation logged as failed may still have been stored.
    pub(crate) fn proposed(&self) -> (usize, usize) {
        let of_sets = self.placements.values().filter(|spec| spec.jobs.len() > 1).count();
        (self.placements.len(), of_sets)
    }

    fn event(&mut self, event: &Value) {
        let (what, answer) = (&event["objectRef"], &event["responseObject"]);
        match [&what["resource"], &what["subresource"], &event["verb"]].map(word) {
            ["placements", "", "create"] => self.propose(answer),
            ["placements", "status", _] if answer["status"]["confirmed"] == true => {
                // A killed API server may have stored changes that it has not logged.
                self.propose(answer);
                self.confirm(word(&answer["metadata"]["uid"]));
            }
            ["placements", "", "delete"] => {
                // A deletion's response is either the deleted object or a status with the object's
                // uid.
                for uid in [&answer["metadata"]["uid"], &answer["details"]["uid"]] {
                    self.confirmed.remove(word(uid));
                }
            }
            ["pods", "binding", "create"] => {
                let binding = &event["requestObject"];
                self.bind(word(&binding["metadata"]["uid"]), word(&binding["target"]["name"]));
            }
            // A binding may succeed even if the response is a 504.
            ["pods", "" | "status", _] if answer["spec"]["nodeName"].is_string() => {
                self.bind(word(&answer["metadata"]["uid"]), word(&answer["spec"]["nodeName"]));
            }
            _ => {}
        }
    }

    /// Records a confirmation. Placements for the same Job have the same name, so they cannot exist
    /// at the same time and are not counted as overlapping.
    fn confirm(&mut self, uid: &str) {
        let spec = self.placements[uid].clone();
        let same = |other: &Spec| other.jobs.iter().any(|job| spec.jobs.contains(job));
        let mut others = self.confirmed.values().filter(|other| !same(other));
        let overlaps = |other: &Spec| spec.nodes.iter().any(|node| other.nodes.contains(node));
        self.overlaps += usize::from(others.any(overlaps));
        self.confirmations += 1;
        self.of_sets += usize::from(spec.jobs.len() > 1);
        self.confirmed.insert(uid.to_string(), spec);
    }

    /// Records facts that never change: the owner of a pod, and the number of pods of a Job. Any
    /// response may contain them, even a 504, because the creation may still have succeeded.
    fn learn(&mut self, event: &Value) {
        let answer = &event["responseObject"];
        let uid = word(&answer["metadata"]["uid"]).to_string();
        if event["objectRef"]["resource"] == "jobs" {
            if let Some(pods) = answer["spec"]["completions"].as_u64() {
                self.completions.insert(uid, pods as usize);
            }
        } else if event["objectRef"]["resource"] == "pods" {
            let labels = &answer["metadata"]["labels"];
            let job = word(&answer["metadata"]["ownerReferences"][0]["uid"]).to_string();
            if let Ok(rank) = word(&labels["batch.kubernetes.io/job-completion-index"]).parse() {
                self.pods.insert(uid, PodOfJob { job, rank });
            }
        }
    }

    /// Records a placement's specification, which never changes.
    fn propose(&mut self, placement: &Value) {
        let texts = |list: &Value| {
            let list = list.as_array().into_iter().flatten();
            list.map(|text| word(text).to_string()).collect::<Vec<String>>()
        };
        let spec = &placement["spec"];
        let mut jobs = texts(&spec["set"]);
        if jobs.is_empty() {
            jobs.push(word(&spec["jobUid"]).to_string());
        }
        let uid = word(&placement["metadata"]["uid"]).to_string();
        self.placements.insert(uid, Spec { jobs, nodes: texts(&spec["nodes"]) });
    }

    fn bind(&mut self, uid: &str, node: &str) {
        let Some(PodOfJob { job, rank }) = self.pods.get(uid).cloned() else { return };
        if self.nodes.insert(uid.to_string(), node.to_string()).as_deref() == Some(node) {
            return;
        }
        // The rank in the box is the pod's rank plus the number of pods of all earlier Jobs.
        let is_placed = self.placements.values().any(|spec| {
            let Some(at) = spec.jobs.iter().position(|other| *other == job) else { return false };
            let before = spec.jobs[..at].iter().map(|job| self.completions.get(job).copied());
            let before: Option<usize> = before.sum();
            before.is_some_and(|before| spec.nodes.get(before + rank).is_some_and(|at| at == node))
        });
        self.misplaced += usize::from(!is_placed);
        *self.bound.entry(job).or_default() += 1;
    }
}

/// Returns true if the nodes form a box in rank order. Node names contain the coordinates.
fn is_box(grid: &Grid, nodes: &[String]) -> bool {
    let coordinates = |name: &str| {
        let mut axes = name[1..].split('-').map(|axis| axis.parse().unwrap());
        [(); 3].map(|()| axes.next().unwrap_or(0))
    };
    let Some(base) = nodes.first().map(|name| coordinates(name)) else { return false };
    let [x, y, z] = grid.sides();
    let sides = (1..=x).flat_map(|x| (1..=y).flat_map(move |y| (1..=z).map(move |z| [x, y, z])));
    let mut boxes = sides.map(|sides| Cuboid::new(base, sides));
    boxes.any(|cuboid| {
        let points = cuboid.nodes(grid).map(|node| grid.point(node));
        points.eq(nodes.iter().map(|name| coordinates(name)))
    })
}

pub(crate) fn word(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// Reads the API server's changes from the audit log, in chronological order.
pub(crate) fn events(folder: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(folder.join("audit.log")).expect("the log is there");
    // An API server that is killed in the middle of a write leaves an incomplete line.
    let events = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let (mut events, others): (Vec<Value>, Vec<Value>) = events.partition(|event| {
        let code = event["responseStatus"]["code"].as_u64().unwrap_or(0);
        (200..300).contains(&code)
    });
    events.extend(unanswered(&events, &others));
    events.sort_by_cached_key(when);
    events
}

/// Finds placement deletions that took effect but got no success response because the API server or
/// etcd was killed. If a deletion had no effect, its placement appears later in the log, because
/// every placement is deleted by the end of a test.
fn unanswered(good: &[Value], others: &[Value]) -> Vec<Value> {
    let is_ours = |event: &&Value| {
        event["objectRef"]["resource"] == "placements" && !event["objectRef"]["name"].is_null()
    };
    let uid = |event: &Value| {
        let answer = &event["responseObject"];
        let (object, status) = (&answer["metadata"]["uid"], &answer["details"]["uid"]);
        if object.is_null() { status.clone() } else { object.clone() }
    };
    let good: Vec<&Value> = good.iter().filter(is_ours).collect();
    let answered = |event: &Value| good.iter().any(|other| other["auditID"] == event["auditID"]);
    let lost = |event: &Value| {
        // Refused requests have changed nothing.
        let refused = event["responseStatus"]["code"].as_u64().is_some_and(|code| code < 500);
        event["verb"] == "delete" && !refused && !answered(event)
    };
    let mut found = Vec::new();
    for event in others.iter().filter(is_ours).filter(|event| lost(event)) {
        let requested_at = when(event);
        let has_name = |other: &&&Value| {
            let is_same = |key| other["objectRef"][key] == event["objectRef"][key];
            is_same("name") && is_same("namespace")
        };
        let earlier = good.iter().filter(has_name).filter(|other| when(other) <= requested_at);
        let Some(deleted) = earlier.max_by_key(|other| when(other)).map(|other| uid(other)) else {
            continue;
        };
        if !good.iter().any(|other| uid(other) == deleted && when(other) > requested_at) {
            let mut event = event.clone();
            event["responseObject"] = json!({ "metadata": { "uid": deleted } });
            found.push(event);
        }
    }
    found
}

/// Returns the time when a deletion was requested or when any other change completed.
pub(crate) fn when(event: &Value) -> String {
    let stamp =
        if event["verb"] == "delete" { "requestReceivedTimestamp" } else { "stageTimestamp" };
    event[stamp].as_str().unwrap_or_default().to_string()
}

#[test]
fn a_pod_created_and_bound_without_a_response_is_known_from_later_events() {
    let placement = word_on("job", "patch", 1, 200, "n0-0-0");
    let pod = |verb: &str, sub: &str, node: &str| {
        json!({
            "verb": verb, "responseStatus": { "code": 200 },
            "objectRef": { "resource": "pods", "subresource": sub },
            "responseObject": {
                "metadata": {
                    "uid": "pod", "ownerReferences": [{ "uid": "job" }],
                    "labels": { "batch.kubernetes.io/job-completion-index": "0" },
                },
                "spec": if node.is_empty() { json!({}) } else { json!({ "nodeName": node }) },
            },
        })
    };
    let binding = json!({
        "verb": "create", "objectRef": { "resource": "pods", "subresource": "binding" },
        "requestObject": { "metadata": { "uid": "pod" }, "target": { "name": "n0-0-0" } },
    });
    let seen = |events: &[Value]| {
        let record = Record::of(&[std::slice::from_ref(&placement), events].concat());
        (record.bound.values().sum::<usize>(), record.misplaced)
    };
    assert_eq!(seen(std::slice::from_ref(&binding)), (0, 0), "the pod's owner is unknown");
    // If the creation or the binding is missing from the log, other events make up for it.
    assert_eq!(seen(&[pod("patch", "", ""), binding.clone()]), (1, 0));
    assert_eq!(seen(&[binding.clone(), pod("patch", "status", "n0-0-0")]), (1, 0));
    assert_eq!(seen(&[pod("create", "", ""), pod("patch", "status", "n0-0-0")]), (1, 0));
    assert_eq!(seen(&[pod("create", "", ""), pod("patch", "status", "n1-0-0")]), (1, 1));
    assert_eq!(seen(&[pod("create", "", ""), binding, pod("update", "", "n1-0-0")]), (2, 1));
}

/// Returns an audit event about a placement. The code is 0 if there was no response.
fn word_on(name: &str, verb: &str, second: u32, code: u32, node: &str) -> Value {
    let stamp = format!("2026-11-28T00:00:{second:02}.000000Z");
    let mut event = json!({
        "auditID": format!("{name} {verb} {second}"), "verb": verb,
        "requestReceivedTimestamp": stamp, "stageTimestamp": stamp,
        "objectRef": { "resource": "placements", "namespace": "default", "name": name },
    });
    if verb == "patch" {
        event["objectRef"]["subresource"] = json!("status");
    }
    if code != 0 {
        event["responseStatus"]["code"] = json!(code);
        event["responseObject"] = json!({
            "metadata": { "uid": format!("uid of {name}") },
            "spec": { "jobUid": name, "nodes": [node] }, "status": { "confirmed": true },
        });
    }
    event
}

#[test]
fn a_deletion_without_a_response_counts_if_no_event_follows() {
    let folder = tempfile::tempdir().unwrap();
    let overlaps = |events: &[Value]| {
        let lines: Vec<String> = events.iter().map(Value::to_string).collect();
        std::fs::write(folder.path().join("audit.log"), lines.join("\n")).unwrap();
        Record::read(folder.path()).overlaps
    };
    let first = word_on("first", "patch", 1, 200, "n0-0-0");
    let asked = |code| word_on("first", "delete", 2, code, "n0-0-0");
    let second = word_on("second", "patch", 3, 200, "n0-0-0");
    assert_eq!(overlaps(&[first.clone(), second.clone()]), 1, "no deletion was requested");
    for (code, overlapping) in [(0, 0), (500, 0), (200, 0), (409, 1)] {
        let events = [first.clone(), asked(code), second.clone()];
        assert_eq!(overlaps(&events), overlapping, "{code}");
    }
    // The first deletion had no effect, because the placement is deleted again later.
    let later = word_on("first", "delete", 4, 200, "n0-0-0");
    assert_eq!(overlaps(&[first, asked(0), second, later]), 1);
}
