//! What was so, from the audit log alone: which node each pod was bound to, which placements were
//! confirmed when, and whether every Job ran on the nodes of its placement by rank.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use pavior_mesh::{Cuboid, Grid};
use serde_json::Value;

/// What the log says.
#[derive(Debug, Default)]
pub(crate) struct Record {
    /// Confirmed placements that stand, by uid.
    confirmed: HashMap<String, Spec>,
    /// Confirmations that overlapped another one which stood.
    pub(crate) overlaps: usize,
    pub(crate) confirmations: usize,
    /// Those of them that are for several Jobs.
    pub(crate) of_sets: usize,
    /// Pods that were bound, with the node and the rank, by the Job's uid.
    pub(crate) bound: BTreeMap<String, Vec<(usize, String)>>,
    /// Pods bound to another node than the placement of their Job says.
    pub(crate) misplaced: usize,
    spec: HashMap<String, Spec>,
    pods: HashMap<String, (String, usize)>,
    /// How many pods each Job has.
    completions: HashMap<String, usize>,
}

/// What a placement says: the uids of its Jobs, and the nodes, both in the order of the ranks.
#[derive(Clone, Debug)]
struct Spec {
    jobs: Vec<String>,
    nodes: Vec<String>,
}

impl Record {
    pub(crate) fn read(folder: &Path) -> Record {
        let mut record = Record::default();
        for event in &events(folder) {
            record.event(event);
        }
        record
    }

    /// Placements that are no box of a machine, in the order of its ranks. Nodes are named by their
    /// places.
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

    /// The placements that were proposed, and those of them for several Jobs. Who is killed while
    /// it confirms one may have it stored, and the log says that it failed.
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
                // An API server that is killed may have stored what it has not logged.
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
                // Of a deletion the log has the object, or a status with its uid.
                let uids = [&answer["metadata"]["uid"], &answer["details"]["uid"]];
                for uid in uids {
                    self.confirmed.remove(&word(uid));
                }
            }
            ("jobs", ..) => {
                if let Some(pods) = answer["spec"]["completions"].as_u64() {
                    self.completions.insert(word(&answer["metadata"]["uid"]), pods as usize);
                }
            }
            ("pods", "", "create") => {
                let labels = &answer["metadata"]["labels"];
                let rank = word(&labels["batch.kubernetes.io/job-completion-index"]).parse();
                let owner = word(&answer["metadata"]["ownerReferences"][0]["uid"]);
                if let Ok(rank) = rank {
                    self.pods.insert(word(&answer["metadata"]["uid"]), (owner, rank));
                }
            }
            ("pods", "binding", "create") => {
                let node = word(&event["requestObject"]["target"]["name"]);
                let uid = word(&event["requestObject"]["metadata"]["uid"]);
                self.bind(&uid, node);
            }
            _ => {}
        }
    }

    /// Notes what a placement says, which never changes.
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
        // The rank in the box: that of the pod, behind those of the Jobs before its own.
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

/// The changes that the API server made, in their order.
pub(crate) fn events(folder: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(folder.join("audit.log")).expect("the log is there");
    let good = |event: &Value| {
        let code = event["responseStatus"]["code"].as_u64().unwrap_or(0);
        (200..300).contains(&code)
    };
    let events = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let mut events: Vec<Value> = events.filter(good).collect();
    events.sort_by_cached_key(when);
    events
}

/// When a change took place at the earliest, if it is a deletion, else at the latest: what seems to
/// overlap then, does.
pub(crate) fn when(event: &Value) -> String {
    let stamp =
        if event["verb"] == "delete" { "requestReceivedTimestamp" } else { "stageTimestamp" };
    event[stamp].as_str().unwrap_or_default().to_string()
}
