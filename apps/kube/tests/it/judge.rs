//! Checks, from the audit log alone, pods' nodes, confirmed placements, and whether each Job ran on
//! its placement's nodes in rank order.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use pavior::{Cuboid, Grid};
use serde_json::{Value, json};

#[derive(Debug, Default)]
pub(crate) struct Record {
    /// The current confirmed placements, by uid.
    confirmed: HashMap<String, Spec>,
    /// The number of confirmations that overlapped another current placement.
    pub(crate) overlaps: usize,
    pub(crate) confirmations: usize,
    /// The number of confirmations for several Jobs.
    pub(crate) of_sets: usize,
    /// The rank and node of each bound pod, by its Job's uid.
    pub(crate) bound: BTreeMap<String, Vec<(usize, String)>>,
    /// The number of pods bound to a node that is not in their Job's placement.
    pub(crate) misplaced: usize,
    spec: HashMap<String, Spec>,
    pods: HashMap<String, (String, usize)>,
    /// The node of each pod, by its uid.
    nodes: HashMap<String, String>,
    /// The number of pods per Job.
    completions: HashMap<String, usize>,
}

/// A placement's Jobs, by uid, and its nodes, both in rank order.
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

    /// Counts placements whose nodes do not form a box in rank order. Node names contain the
    /// coordinates.
    pub(crate) fn crooked(&self, grid: &Grid) -> usize {
        let is_box = |nodes: &[String]| {
            let place = |name: &String| {
                let mut sides = name[1..].split('-').map(|side| side.parse().unwrap());
                [(); 3].map(|()| sides.next().unwrap_or(0))
            };
            let first = place(&nodes[0]);
            let sides = (1..=nodes.len() as u16).flat_map(|x| {
                (1..=nodes.len() as u16 / x).map(move |y| [x, y, nodes.len() as u16 / x / y])
            });
            let mut boxes = sides
                .filter(|sides| {
                    sides.iter().map(|&side| usize::from(side)).product::<usize>() == nodes.len()
                })
                .filter(|sides| sides.iter().zip(grid.sides()).all(|(side, most)| *side <= most))
                .map(|sides| Cuboid::new(first, sides));
            boxes.any(|one| {
                let names = one.nodes(grid).map(|node| {
                    let [x, y, z] = grid.point(node);
                    format!("n{x}-{y}-{z}")
                });
                names.eq(nodes.iter().cloned())
            })
        };
        self.spec.values().filter(|spec| !is_box(&spec.nodes)).count()
    }

    /// Returns the number of proposed placements, and of those for several Jobs. A confirmation may
    /// be stored although the log says that it failed, if the replica was killed in the meantime.
    pub(crate) fn proposed(&self) -> (usize, usize) {
        let of_sets = self.spec.values().filter(|spec| spec.jobs.len() > 1).count();
        (self.spec.len(), of_sets)
    }

    fn event(&mut self, event: &Value) {
        let what = &event["objectRef"];
        let answer = &event["responseObject"];
        let word = |value: &Value| value.as_str().unwrap_or_default().to_string();
        let (resource, sub) = (word(&what["resource"]), word(&what["subresource"]));
        let verb = word(&event["verb"]);
        match (resource.as_str(), sub.as_str(), verb.as_str()) {
            ("placements", "", "create") => self.propose(answer),
            ("placements", "status", _) => {
                if answer["status"]["confirmed"] != true {
                    return;
                }
                // A killed API server may have stored changes that it has not logged.
                self.propose(answer);
                let uid = word(&answer["metadata"]["uid"]);
                let Some(spec) = self.spec.get(&uid).cloned() else { return };
                let same = |other: &Spec| other.jobs.iter().any(|job| spec.jobs.contains(job));
                let others = self.confirmed.values().filter(|other| !same(other));
                let taken: Vec<&String> = others.flat_map(|other| &other.nodes).collect();
                self.overlaps += usize::from(spec.nodes.iter().any(|node| taken.contains(&node)));
                self.confirmations += 1;
                self.of_sets += usize::from(spec.jobs.len() > 1);
                self.confirmed.insert(uid, spec);
            }
            ("placements", "", "delete") => {
                // For a deletion, the log contains the object or a status with its uid.
                let uids = [&answer["metadata"]["uid"], &answer["details"]["uid"]];
                for uid in uids {
                    self.confirmed.remove(&word(uid));
                }
            }
            ("pods", "binding", "create") => {
                let node = word(&event["requestObject"]["target"]["name"]);
                let uid = word(&event["requestObject"]["metadata"]["uid"]);
                self.bind(&uid, node);
            }
            // A binding may succeed and still be answered with 504.
            ("pods", "" | "status", _) if answer["spec"]["nodeName"].is_string() => {
                self.bind(&word(&answer["metadata"]["uid"]), word(&answer["spec"]["nodeName"]));
            }
            _ => {}
        }
    }

    /// Records unchanging facts: the owner of a pod, and the number of pods of a Job. Any answer
    /// counts, because a successful creation may be answered with 504.
    fn learn(&mut self, event: &Value) {
        let answer = &event["responseObject"];
        let word = |value: &Value| value.as_str().unwrap_or_default().to_string();
        let uid = word(&answer["metadata"]["uid"]);
        if event["objectRef"]["resource"] == "jobs" {
            if let Some(pods) = answer["spec"]["completions"].as_u64() {
                self.completions.insert(uid, pods as usize);
            }
        } else if event["objectRef"]["resource"] == "pods" {
            let labels = &answer["metadata"]["labels"];
            let rank = word(&labels["batch.kubernetes.io/job-completion-index"]).parse();
            let owner = word(&answer["metadata"]["ownerReferences"][0]["uid"]);
            if let Ok(rank) = rank {
                self.pods.insert(uid, (owner, rank));
            }
        }
    }

    /// Records a placement's specification, which never changes.
    fn propose(&mut self, placement: &Value) {
        let word = |value: &Value| value.as_str().unwrap_or_default().to_string();
        let words = |list: &Value| list.as_array().into_iter().flatten().map(word).collect();
        let spec = &placement["spec"];
        let mut jobs: Vec<String> = words(&spec["set"]);
        if jobs.is_empty() {
            jobs.push(word(&spec["jobUid"]));
        }
        let uid = word(&placement["metadata"]["uid"]);
        self.spec.insert(uid, Spec { jobs, nodes: words(&spec["nodes"]) });
    }

    fn bind(&mut self, uid: &str, node: String) {
        let Some((job, rank)) = self.pods.get(uid).cloned() else { return };
        if self.nodes.get(uid) == Some(&node) {
            return;
        }
        self.nodes.insert(uid.to_string(), node.clone());
        // The rank in the box is the pod's rank plus the number of pods of all earlier Jobs.
        let said = self.spec.values().any(|spec| {
            let Some(at) = spec.jobs.iter().position(|one| *one == job) else { return false };
            let before = spec.jobs[..at].iter().map(|job| self.completions.get(job));
            let before: Option<usize> = before.map(Option::<&usize>::copied).sum();
            before.is_some_and(|before| spec.nodes.get(before + rank) == Some(&node))
        });
        self.misplaced += usize::from(!said);
        self.bound.entry(job).or_default().push((rank, node));
    }
}

/// Reads the changes made by the API server, in order.
pub(crate) fn events(folder: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(folder.join("audit.log")).expect("the log is there");
    let events = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let (mut events, others): (Vec<Value>, Vec<Value>) = events.partition(|event| {
        let code = event["responseStatus"]["code"].as_u64().unwrap_or(0);
        (200..300).contains(&code)
    });
    events.extend(unanswered(&events, &others));
    events.sort_by_cached_key(when);
    events
}

/// Finds deletions of placements that got no successful answer because the API server or etcd was
/// killed first. Placements that remained appear later in the log, because all are deleted by the
/// end.
fn unanswered(good: &[Value], others: &[Value]) -> Vec<Value> {
    let is_ours = |event: &&Value| {
        event["objectRef"]["resource"] == "placements" && !event["objectRef"]["name"].is_null()
    };
    let uid = |event: &Value| {
        let answer = &event["responseObject"];
        let (own, of) = (&answer["metadata"]["uid"], &answer["details"]["uid"]);
        if own.is_null() { of.clone() } else { own.clone() }
    };
    let good: Vec<&Value> = good.iter().filter(is_ours).collect();
    let answered = |event: &Value| good.iter().any(|one| one["auditID"] == event["auditID"]);
    let lost = |event: &Value| {
        // Refused requests have changed nothing.
        let refused = event["responseStatus"]["code"].as_u64().is_some_and(|code| code < 500);
        event["verb"] == "delete" && !refused && !answered(event)
    };
    let mut found = Vec::new();
    for event in others.iter().filter(is_ours).filter(|event| lost(event)) {
        let asked = when(event);
        let of_it = good.iter().filter(|one| {
            ["name", "namespace"].map(|key| one["objectRef"][key] == event["objectRef"][key])
                == [true, true]
        });
        let before = of_it.filter(|one| when(one) <= asked).max_by_key(|one| when(one));
        let Some(of) = before.map(|one| uid(one)) else { continue };
        if !good.iter().any(|one| uid(one) == of && when(one) > asked) {
            let mut event = event.clone();
            event["responseObject"] = json!({ "metadata": { "uid": of } });
            found.push(event);
        }
    }
    found
}

/// Returns the earliest time of a deletion or the latest time of another change.
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
        (record.bound.values().map(Vec::len).sum::<usize>(), record.misplaced)
    };
    assert_eq!(seen(std::slice::from_ref(&binding)), (0, 0), "the pod's owner is unknown");
    // The pod's gate is opened, it is bound, and its state is written.
    assert_eq!(seen(&[pod("patch", "", ""), binding.clone()]), (1, 0));
    assert_eq!(seen(&[binding.clone(), pod("patch", "status", "n0-0-0")]), (1, 0));
    assert_eq!(seen(&[pod("create", "", ""), pod("patch", "status", "n0-0-0")]), (1, 0));
    assert_eq!(seen(&[pod("create", "", ""), pod("patch", "status", "n1-0-0")]), (1, 1));
    assert_eq!(seen(&[pod("create", "", ""), binding, pod("update", "", "n1-0-0")]), (2, 1));
}

/// Returns a log line about a placement; the code is 0 if there was no answer.
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
    // The placement remained and is deleted later.
    let later = word_on("first", "delete", 4, 200, "n0-0-0");
    assert_eq!(overlaps(&[first, asked(0), second, later]), 1);
}
